//! A text as units - Latin words, numbers, Han characters - and the typed spans that are found in it. It knows no schema.

mod runs;

use std::ops::Range;
use std::sync::Arc;

use jiff::civil::DateTime;

use self::runs::{digits_before, latin_runs, measures, sums};
use super::candidates::moment::{Moment, of_expression};
use super::choice::{UNITS_MAX, Unit};
use super::grams::{Grams, hash, is_han};

/// Typed spans of one text; what is found later is left out.
pub(super) const FOUND_MAX: usize = 48;
/// Bytes of a text that are read; a request that says more is cut for pointing, as it is for the units.
pub(super) const TEXT_BYTES_MAX: usize = 2_048;

/// Units before and after a part that say what it is.
const AROUND_UNITS: usize = 4;

/// Type bits of a unit. The lowest sixteen; see [`super::TYPE_BITS`].
pub(super) mod bits {
    /// Begins with a Latin letter.
    pub(crate) const LATIN: u32 = 1;
    /// A Han, kana or hangul character.
    pub(crate) const HAN: u32 = 1 << 1;
    /// Begins with a digit.
    pub(crate) const DIGIT: u32 = 1 << 2;
    /// Begins with a capital letter.
    pub(crate) const CAPITAL: u32 = 1 << 3;
    /// In a number.
    pub(crate) const NUMBER: u32 = 1 << 4;
    /// In a percentage.
    pub(crate) const PERCENT: u32 = 1 << 5;
    /// In a time of day.
    pub(crate) const CLOCK: u32 = 1 << 6;
    /// In a date.
    pub(crate) const DATE: u32 = 1 << 7;
    /// In a length of time or a distance from now.
    pub(crate) const LENGTH: u32 = 1 << 8;
    /// In a quotation.
    pub(crate) const QUOTE: u32 = 1 << 9;
    /// In a run that mixes letters and digits, or of three digits and more.
    pub(crate) const CODE: u32 = 1 << 10;
    /// In a run of capitalised words, or of Latin words among Han.
    pub(crate) const NAME: u32 = 1 << 11;
    /// Begins a clause.
    pub(crate) const CLAUSE: u32 = 1 << 12;
    /// Names a measure or a currency.
    pub(crate) const MEASURE: u32 = 1 << 13;
    /// A word that carries no subject.
    pub(crate) const STOP: u32 = 1 << 14;
    /// In a sum.
    pub(crate) const SUM: u32 = 1 << 15;
    /// Of candidates alone: the whole of a text.
    pub(crate) const WHOLE: u32 = 1 << 16;
    /// Of candidates alone: out of the moment of the request.
    pub(crate) const NOW: u32 = 1 << 17;
}

/// One unit of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Piece {
    /// Its bytes.
    pub(super) bytes: Range<usize>,
    /// Its type bits.
    pub(super) types: u32,
}

/// What a typed span says.
#[derive(Debug, Clone, PartialEq)]
pub(super) enum Meaning {
    /// This text.
    Text(String),
    /// A number, as JSON writes it.
    Number(serde_json::Number),
    /// A time of day, a date or both.
    Moment(Moment),
    /// Months, days and seconds.
    Length(i32, i32, i64),
}

/// A typed span.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Found {
    /// Its bytes.
    pub(super) bytes: Range<usize>,
    /// The bit of its type.
    pub(super) bit: u32,
    /// What it says.
    pub(super) meaning: Meaning,
}

/// What some bytes of a text say, with what stands beside them.
#[derive(Debug, Clone, PartialEq)]
pub(super) struct Part {
    /// Their text.
    pub(super) words: Arc<str>,
    /// The terms of the units that they touch.
    pub(super) terms: Arc<[u64]>,
    /// Those units.
    pub(super) span: Option<Range<usize>>,
    /// What stands beside them.
    pub(super) near: Near,
}

/// What stands beside a part of a text; nothing where it touches no unit.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Near {
    /// The terms before it, of [`AROUND_UNITS`] units.
    pub(super) before: Vec<u64>,
    /// The terms after it.
    pub(super) after: Vec<u64>,
    /// The unit right before it.
    pub(super) last: String,
    /// The unit right after it.
    pub(super) next: String,
}

/// A text with its units and typed spans.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct Reading {
    /// What was read: at most [`TEXT_BYTES_MAX`].
    pub(super) text: String,
    /// At most [`UNITS_MAX`].
    pub(super) pieces: Vec<Piece>,
    /// At most [`FOUND_MAX`], in the order of their types and places.
    pub(super) found: Vec<Found>,
    /// The clauses that the text falls into.
    pub(super) clauses: Vec<Range<usize>>,
    /// Terms that carry a subject, each with its first and last unit.
    terms: Vec<(usize, usize, u64)>,
}

impl Reading {
    /// Reads a text that was said at a moment.
    pub(super) fn new(text: &str, now: Option<DateTime>) -> Self {
        let text = text.get(..floor(text, TEXT_BYTES_MAX)).unwrap_or_default().to_owned();
        let clauses = loopwright_text::clauses(&text);
        let pieces = pieces(&text);
        let terms = unit_terms(&text, &pieces);
        let mut reading = Self { pieces, text, found: Vec::new(), clauses, terms };
        reading.find(now);
        reading.mark();
        reading
    }

    /// The text of some bytes.
    pub(super) fn slice(&self, bytes: &Range<usize>) -> &str {
        self.text.get(bytes.clone()).unwrap_or_default()
    }

    /// The units that some bytes touch; none where they touch none.
    pub(super) fn span(&self, bytes: &Range<usize>) -> Option<Range<usize>> {
        let start = self.pieces.iter().position(|piece| piece.bytes.end > bytes.start)?;
        let end = self.pieces.iter().rposition(|piece| piece.bytes.start < bytes.end)?;
        (start <= end).then_some(start..end + 1)
    }

    /// The terms of some units, sorted and each once. A single Han character counts where it stands alone.
    pub(super) fn terms(&self, units: &Range<usize>) -> Vec<u64> {
        let inside = |(first, last, _): &&(usize, usize, u64)| *first >= units.start && *last < units.end;
        let alone = units.len() == 1;
        let han = |unit: usize| self.pieces.get(unit).is_some_and(|piece| piece.types & bits::HAN != 0);
        let counts = |(first, last, _): &&(usize, usize, u64)| alone || first != last || !han(*first);
        let mut terms: Vec<u64> = self.terms.iter().filter(inside).filter(counts).map(|(.., term)| *term).collect();
        terms.sort_unstable();
        terms.dedup();
        terms
    }

    /// What some bytes say, with what stands beside them.
    pub(super) fn part(&self, bytes: &Range<usize>) -> Part {
        let span = self.span(bytes);
        Part {
            words: self.slice(bytes).into(),
            terms: span.as_ref().map(|span| self.terms(span)).unwrap_or_default().into(),
            near: span.as_ref().map(|span| self.near(span)).unwrap_or_default(),
            span,
        }
    }

    fn near(&self, span: &Range<usize>) -> Near {
        let (before, after) = self.around(span, AROUND_UNITS);
        Near {
            last: self.unit(before.end.checked_sub(1).filter(|unit| before.contains(unit))).to_owned(),
            next: self.unit(Some(after.start).filter(|unit| after.contains(unit))).to_owned(),
            before: self.terms(&before),
            after: self.terms(&after),
        }
    }

    /// The bytes from the beginning of a unit to the end of another.
    pub(super) fn between(&self, first: usize, last: usize) -> Option<Range<usize>> {
        let (first, last) = (self.pieces.get(first)?, self.pieces.get(last)?);
        (first.bytes.start <= last.bytes.start).then_some(first.bytes.start..last.bytes.end)
    }

    /// The units before and after some units.
    fn around(&self, span: &Range<usize>, units: usize) -> (Range<usize>, Range<usize>) {
        let end = span.end.saturating_add(units).min(self.pieces.len());
        (span.start.saturating_sub(units)..span.start, span.end.min(end)..end)
    }

    /// The text of one unit; none has none.
    fn unit(&self, unit: Option<usize>) -> &str {
        unit.and_then(|unit| self.pieces.get(unit)).map(|piece| self.slice(&piece.bytes)).unwrap_or_default()
    }

    /// The units as the tables hold them.
    pub(super) fn units(&self) -> Vec<Unit> {
        let unit = |piece: &Piece| Unit {
            bag: Grams::default().text(self.slice(&piece.bytes)).bag(),
            types: piece.types & ((1 << super::TYPE_BITS) - 1),
        };
        self.pieces.iter().map(unit).collect()
    }

    fn add(&mut self, bytes: Range<usize>, bit: u32, meaning: Meaning) {
        if self.found.len() < FOUND_MAX && !bytes.is_empty() {
            self.found.push(Found { bytes, bit, meaning });
        }
    }

    fn add_text(&mut self, bytes: Range<usize>, bit: u32) {
        let text = self.slice(&bytes).trim().to_owned();
        if !text.is_empty() {
            self.add(bytes, bit, Meaning::Text(text));
        }
    }

    fn find(&mut self, now: Option<DateTime>) {
        for bytes in loopwright_text::quotations(&self.text) {
            self.add_text(bytes, bits::QUOTE);
        }
        for found in loopwright_text::find_times(&self.text) {
            self.add_time(found, now);
        }
        for found in loopwright_text::find_numbers(&self.text) {
            let percent = found.kind == loopwright_text::NumberKind::Percent;
            if let Some(number) = json_number(found.value) {
                self.add(found.range, if percent { bits::PERCENT } else { bits::NUMBER }, Meaning::Number(number));
            }
        }
        for (bytes, bit) in latin_runs(&self.text) {
            self.add_text(bytes, bit);
        }
        for (bytes, name) in measures(&self.text) {
            // In 13千克 the number is 13, and not 13千.
            if let Some((digits, number)) = digits_before(&self.text, bytes.start) {
                self.add(digits, bits::NUMBER, Meaning::Number(number));
            }
            self.add(bytes, bits::MEASURE, Meaning::Text(name.to_owned()));
        }
        for (bytes, sum) in sums(&self.text) {
            self.add(bytes, bits::SUM, Meaning::Text(sum));
        }
    }

    fn add_time(&mut self, found: loopwright_text::TimeMatch, now: Option<DateTime>) {
        use loopwright_text::TimeExpression;
        match found.expression {
            TimeExpression::Length(span) => {
                self.add(found.range, bits::LENGTH, Meaning::Length(span.months(), span.days(), span.seconds()));
            }
            expression => {
                if let TimeExpression::Offset { span, .. } = expression {
                    let meaning = Meaning::Length(span.months(), span.days(), span.seconds());
                    self.add(found.range.clone(), bits::LENGTH, meaning);
                }
                if let Some(moment) = now.and_then(|now| of_expression(&expression, now)) {
                    let bit = if moment.time.is_some() { bits::CLOCK } else { bits::DATE };
                    self.add(found.range, bit, Meaning::Moment(moment));
                }
            }
        }
    }

    /// Gives the units the types of the spans that they are in.
    fn mark(&mut self) {
        let spans: Vec<(Range<usize>, u32)> = self.found.iter().map(|found| (found.bytes.clone(), found.bit)).collect();
        let starts: Vec<usize> = self.clauses.iter().map(|clause| clause.start).collect();
        for piece in &mut self.pieces {
            for (bytes, bit) in &spans {
                if piece.bytes.start < bytes.end && bytes.start < piece.bytes.end {
                    piece.types |= bit;
                }
            }
            if starts.contains(&piece.bytes.start) {
                piece.types |= bits::CLAUSE;
            }
        }
    }
}

/// The last place at or before `limit` between two characters.
pub(super) fn floor(text: &str, limit: usize) -> usize {
    (0..=limit.min(text.len())).rev().find(|at| text.is_char_boundary(*at)).unwrap_or(0)
}

fn json_number(value: loopwright_text::Number) -> Option<serde_json::Number> {
    value.as_integer().map(serde_json::Number::from).or_else(|| serde_json::Number::from_f64(value.as_f64()))
}

fn pieces(text: &str) -> Vec<Piece> {
    let mut pieces: Vec<Piece> = Vec::new();
    let mut open = false;
    let mut characters = text.char_indices().peekable();
    while let Some((at, character)) = characters.next() {
        let end = at + character.len_utf8();
        let joins = open
            && matches!(character, '\'' | '\u{2019}')
            && !is_possessive(text.get(end..).unwrap_or_default())
            && characters.peek().is_some_and(|(_, next)| next.is_alphabetic() && !is_han(*next));
        if !character.is_alphanumeric() && !joins {
            open = false;
            continue;
        }
        let han = is_han(character);
        if open && !han {
            if let Some(piece) = pieces.last_mut() {
                piece.bytes.end = end;
            }
            continue;
        }
        if pieces.len() == UNITS_MAX {
            break;
        }
        let types = match character {
            _ if han => bits::HAN,
            _ if character.is_numeric() => bits::DIGIT,
            _ if character.is_uppercase() => bits::LATIN | bits::CAPITAL,
            _ => bits::LATIN,
        };
        pieces.push(Piece { bytes: at..end, types });
        open = !han;
    }
    for piece in &mut pieces {
        if text.get(piece.bytes.clone()).is_some_and(is_stop) {
            piece.types |= bits::STOP;
        }
    }
    pieces
}

/// The terms of a text with the units that they span.
fn unit_terms(text: &str, pieces: &[Piece]) -> Vec<(usize, usize, u64)> {
    let tokens = loopwright_text::tokenize(text);
    let term = |token: &loopwright_text::Token| {
        let first = pieces.partition_point(|piece| piece.bytes.end <= token.range.start);
        let last = pieces.partition_point(|piece| piece.bytes.start < token.range.end).checked_sub(1)?;
        (first <= last && last < pieces.len()).then(|| (first, last, hash("t", token.text.chars())))
    };
    tokens.iter().filter(|token| !token.stop).filter_map(term).collect()
}

/// Whether what follows an apostrophe is an English possessive, which belongs to no name.
fn is_possessive(rest: &str) -> bool {
    rest.strip_prefix(['s', 'S']).is_some_and(|rest| !rest.starts_with(char::is_alphanumeric))
}

fn is_stop(word: &str) -> bool {
    loopwright_text::STOP_WORDS_CHINESE.contains(&word)
        || loopwright_text::STOP_WORDS_ENGLISH.contains(&word.to_lowercase().as_str())
}

#[cfg(test)]
mod tests;
