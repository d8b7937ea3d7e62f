//! What can be wrong with the network and what it is given.

use std::ops::Range;

use crate::nn::NnError;

/// A failure of the network. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum PointerError {
    /// Weights, gradients or tensors.
    #[error(transparent)]
    Nn(#[from] NnError),
    /// An operation on tensors failed.
    #[error("a tensor operation failed")]
    Tensor(#[from] candle_core::Error),
    /// A dimension outside its range.
    #[error("shape: expected `{name}` {expected}, found {found}")]
    Shape {
        /// The dimension.
        name: &'static str,
        /// Its range.
        expected: String,
        /// The value.
        found: usize,
    },
    /// More or fewer than a choice, a request or a play can have.
    #[error("{place}: {found} {what}, expected {least} to {most}")]
    Count {
        /// Which choice of which play.
        place: String,
        /// Of what.
        what: &'static str,
        /// How many.
        found: usize,
        /// At least.
        least: usize,
        /// At most.
        most: usize,
    },
    /// A fact that is no number, or beyond its range.
    #[error("{place}: fact {number} of the {of} is {value}, expected a number between -4 and 4")]
    Fact {
        /// Which choice of which play.
        place: String,
        /// Of the question or of an answer.
        of: &'static str,
        /// Its place among the facts.
        number: usize,
        /// It.
        value: f32,
    },
    /// A span that is empty or beyond the request.
    #[error(
        "{place}: answer {answer} points to units {span:?} of a request of {units}, expected a span that is not empty"
    )]
    Span {
        /// Which choice of which play.
        place: String,
        /// The answer.
        answer: usize,
        /// Where it points to.
        span: Range<usize>,
        /// Units of the request.
        units: usize,
    },
    /// A status that does not exist.
    #[error("{place}: an earlier call has status {found}, expected less than {statuses}")]
    Status {
        /// Which choice of which play.
        place: String,
        /// It.
        found: u8,
        /// How many there are.
        statuses: usize,
    },
    /// An answer was taken that the choice does not have.
    #[error("{place}: answer {answer} was taken of {answers}\nhint: store the choice that was sampled from")]
    Taken {
        /// Which choice of which play.
        place: String,
        /// The answer.
        answer: usize,
        /// How many there are.
        answers: usize,
    },
    /// A batch without a choice has no loss.
    #[error("there is no choice in {plays} plays: nothing can be learned from them")]
    NoChoice {
        /// How many plays.
        plays: usize,
    },
    /// Weights that give no probabilities.
    #[error("the log-probabilities of a choice are not finite\nhint: the weights are damaged; go back to a checkpoint")]
    NotFinite,
}
