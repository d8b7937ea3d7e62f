//! How an episode becomes a sequence: the same for what is sampled and for what a teacher shows. It knows no policy.

use super::vocabulary::{Code, Mark, Tool};
use crate::decoder::{Choice, Sequence};
use crate::nn::Allowed;

/// A sequence that is being written.
#[derive(Debug, Clone)]
pub(super) struct Writer {
    sequence: Sequence,
    /// The tool whose answer is awaited.
    asked: Option<Tool>,
}

impl Writer {
    pub(super) fn new(mark: Mark) -> Self {
        Self { sequence: Sequence { symbols: vec![mark.symbol()], choices: Vec::new() }, asked: None }
    }

    /// A tool that was chosen under a mask. `None` as a mask: it is part of the past, and nothing is to be learnt from it.
    pub(super) fn tool(&mut self, tool: Tool, allowed: Option<Allowed>) {
        let at = self.sequence.symbols.len();
        self.sequence.choices.extend(allowed.map(|allowed| Choice { at, allowed }));
        self.sequence.symbols.push(tool.symbol());
        self.asked = Some(tool);
    }

    /// The answer to the last tool.
    pub(super) fn answer(&mut self, code: Code) {
        if self.asked.take().is_some_and(|tool| tool.usual() != Some(code)) {
            self.sequence.symbols.push(code.symbol());
        }
    }

    /// The symbols from a place on.
    pub(super) fn since(&self, place: usize) -> &[u8] {
        self.sequence.symbols.get(place..).unwrap_or_default()
    }

    pub(super) fn into_sequence(self) -> Sequence {
        self.sequence
    }
}
