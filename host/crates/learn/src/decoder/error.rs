//! What can be wrong with a decoder and what it is given.

use crate::nn::NnError;

/// A failure of the decoder. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum DecoderError {
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
    /// A symbol that the vocabulary does not have.
    #[error("{place}: symbol {found} is beyond the vocabulary of {vocabulary}")]
    Symbol {
        /// Which sequence or row.
        place: String,
        /// The symbol.
        found: usize,
        /// Symbols of the vocabulary.
        vocabulary: usize,
    },
    /// A mask that allows nothing, or more than the vocabulary.
    #[error(
        "{place}: the mask allows {found} symbols up to {last}, expected at least one of the vocabulary of {vocabulary}"
    )]
    Mask {
        /// Which sequence or row.
        place: String,
        /// How many symbols it allows.
        found: usize,
        /// One more than the largest of them.
        last: usize,
        /// Symbols of the vocabulary.
        vocabulary: usize,
    },
    /// A choice that its own mask forbids.
    #[error(
        "{place}: symbol {symbol} was chosen and its mask does not allow it\nhint: store the mask that was sampled under"
    )]
    Forbidden {
        /// Which choice of which sequence.
        place: String,
        /// The symbol.
        symbol: u8,
    },
    /// A choice that is nowhere, or not after the one before.
    #[error(
        "{place}: a choice at {at} of {length} symbols, expected choices in ascending order between 1 and {length}"
    )]
    Place {
        /// Which choice of which sequence.
        place: String,
        /// The place.
        at: usize,
        /// Symbols of the sequence.
        length: usize,
    },
    /// More symbols than there are positions.
    #[error("{place}: {found} symbols, the decoder has {limit} positions")]
    TooLong {
        /// Which sequence or row.
        place: String,
        /// How many there would be.
        found: usize,
        /// Positions of the decoder.
        limit: usize,
    },
    /// More than is computed at once.
    #[error("{found} {what}, at most {limit} are taken at once\nhint: split the batch and add the gradients")]
    TooMany {
        /// Of what.
        what: &'static str,
        /// How many.
        found: usize,
        /// The limit.
        limit: usize,
    },
    /// A batch without a choice has no loss.
    #[error("there is no choice in {sequences} sequences: nothing can be learned from them")]
    NoChoice {
        /// How many sequences.
        sequences: usize,
    },
    /// A row that the session does not have.
    #[error("row {row} is not one of the session's {rows}")]
    Row {
        /// The row.
        row: usize,
        /// Rows of the session.
        rows: usize,
    },
    /// A choice before the first symbol.
    #[error("row {row} was fed nothing, so that nothing can be chosen")]
    NothingFed {
        /// The row.
        row: usize,
    },
    /// Weights that give no probabilities.
    #[error("row {row}: the log-probabilities are not finite\nhint: the weights are damaged; go back to a checkpoint")]
    NotFinite {
        /// The row.
        row: usize,
    },
}
