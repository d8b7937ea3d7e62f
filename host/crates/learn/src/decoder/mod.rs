//! A small sequence decoder over a closed vocabulary. It knows no task.
//!
//! One set of weights, two passes. *Training* ([`Decoder::score`]) takes whole sequences, end to end without padding, and gives the
//! log-probability
//! of each choice as a tensor that gradients flow from. *Acting* ([`Actor`]) takes a few symbols at a time for many rows, keeps keys and
//! values, and
//! samples. Both call the same row functions in the same order, and the mask of what may be chosen is part of the policy in both: what
//! acting
//! reported is what training recomputes.

mod act;
mod error;
mod sequence;
mod shape;
#[cfg(test)]
mod tests;
mod train;

pub use act::{Actor, Ask, Chosen, Feed, Pick, ROWS_MAX, Session};
pub use error::DecoderError;
pub use sequence::{BATCH_SYMBOLS_MAX, Choice, Sequence};
pub use shape::{HIDDEN_MAX, LAYERS_MAX, POSITIONS_MAX, Shape, WIDTH_MAX};
pub use train::{Decoder, Scores};
