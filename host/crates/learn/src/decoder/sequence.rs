//! Sequences as they were sampled, with the choices that are scored.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::error::DecoderError;
use super::shape::Shape;
use crate::nn::{Allowed, Segments};

/// Symbols that are scored at once.
pub const BATCH_SYMBOLS_MAX: usize = 1 << 20;

/// Values of the largest tensor of a part: candle spreads larger ones over threads that wait for each other actively, and smaller ones
/// stay in the cache.
pub(super) const PART_VALUES: usize = 60 << 10;

/// A symbol of a sequence that the policy chose, or that a teacher shows.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Choice {
    /// Its place in the sequence; at least 1, because the first symbol is given.
    pub at: usize,
    /// What could have been chosen.
    pub allowed: Allowed,
}

/// One sequence: exactly the symbols that were fed and chosen, never encoded again.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sequence {
    /// Given and chosen symbols, in order.
    pub symbols: Vec<u8>,
    /// The choices, in ascending order of their places.
    pub choices: Vec<Choice>,
}

/// Sequences laid end to end as the training pass reads them.
pub(super) struct Batch {
    /// The symbols up to each sequence's last choice.
    pub(super) inputs: Vec<u32>,
    pub(super) segments: Segments,
    /// For each choice, the row that it was chosen from.
    pub(super) rows: Vec<u32>,
    pub(super) chosen: Vec<u32>,
    pub(super) masks: Arc<[Allowed]>,
}

impl Batch {
    pub(super) fn new(shape: &Shape, sequences: &[Sequence]) -> Result<Self, DecoderError> {
        let (mut inputs, mut lengths, mut rows) = (Vec::new(), Vec::new(), Vec::new());
        let (mut chosen, mut masks) = (Vec::new(), Vec::new());
        for (number, sequence) in sequences.iter().enumerate() {
            check(shape, number, sequence)?;
            let start = inputs.len();
            let read = sequence.choices.last().map_or(0, |choice| choice.at);
            inputs.extend(sequence.symbols.iter().take(read).map(|symbol| u32::from(*symbol)));
            lengths.push(read);
            if inputs.len() > BATCH_SYMBOLS_MAX {
                return Err(DecoderError::TooMany { what: "symbols", found: inputs.len(), limit: BATCH_SYMBOLS_MAX });
            }
            for choice in &sequence.choices {
                #[expect(clippy::cast_possible_truncation, reason = "within `BATCH_SYMBOLS_MAX`")]
                rows.push((start + choice.at - 1) as u32);
                chosen.extend(sequence.symbols.get(choice.at).map(|symbol| u32::from(*symbol)));
                masks.push(choice.allowed);
            }
        }
        if rows.is_empty() {
            return Err(DecoderError::NoChoice { sequences: sequences.len() });
        }
        Ok(Self { inputs, segments: Segments::new(&lengths), rows, chosen, masks: masks.into() })
    }
}

/// Cuts a batch into parts that are quick to score: at least one sequence, and as many as fit [`PART_VALUES`].
pub(super) fn parts<'a>(shape: &Shape, sequences: &'a [Sequence]) -> Result<Vec<&'a [Sequence]>, DecoderError> {
    for (number, sequence) in sequences.iter().enumerate() {
        check(shape, number, sequence)?;
    }
    let rows_max = PART_VALUES / (2 * shape.hidden).max(3 * shape.width).max(1);
    let (mut parts, mut start, mut rows) = (Vec::new(), 0, 0);
    for (number, sequence) in sequences.iter().enumerate() {
        let read = sequence.choices.last().map_or(0, |choice| choice.at);
        if rows > 0 && rows + read > rows_max {
            parts.extend(sequences.get(start..number));
            (start, rows) = (number, 0);
        }
        rows += read;
    }
    if rows == 0 && parts.is_empty() {
        return Err(DecoderError::NoChoice { sequences: sequences.len() });
    }
    parts.extend(sequences.get(start..).filter(|_| rows > 0));
    Ok(parts)
}

fn check(shape: &Shape, number: usize, sequence: &Sequence) -> Result<(), DecoderError> {
    let vocabulary = shape.vocabulary;
    let in_sequence = || format!("sequence {number}");
    if let Some(symbol) = sequence.symbols.iter().find(|symbol| usize::from(**symbol) >= vocabulary) {
        return Err(DecoderError::Symbol { place: in_sequence(), found: usize::from(*symbol), vocabulary });
    }
    let mut before = 0;
    for (count, choice) in sequence.choices.iter().enumerate() {
        let place = || format!("choice {count} of sequence {number}");
        let Some(symbol) = sequence.symbols.get(choice.at).filter(|_| choice.at > before) else {
            return Err(DecoderError::Place { place: place(), at: choice.at, length: sequence.symbols.len() });
        };
        before = choice.at;
        check_mask(shape, choice.allowed, place)?;
        if !choice.allowed.contains(usize::from(*symbol)) {
            return Err(DecoderError::Forbidden { place: place(), symbol: *symbol });
        }
    }
    if before > shape.positions {
        return Err(DecoderError::TooLong { place: in_sequence(), found: before, limit: shape.positions });
    }
    Ok(())
}

pub(super) fn check_mask(shape: &Shape, mask: Allowed, place: impl Fn() -> String) -> Result<(), DecoderError> {
    if mask.is_empty() || mask.span() > shape.vocabulary {
        let (found, last) = (mask.len(), mask.span());
        return Err(DecoderError::Mask { place: place(), found, last, vocabulary: shape.vocabulary });
    }
    Ok(())
}
