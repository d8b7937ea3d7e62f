//! Differentiable blocks, their optimiser and seeded randomness. It knows no policy.
//!
//! The blocks are operations of candle with gradients written by hand: `candle-nn`'s fast ones cut gradients without a word, and the slow
//! ones
//! spend most of a small model's time in copies. Each is tested against a slow twin in f64, in values and by finite differences. All of it
//! runs on
//! the thread that calls, with sums in one fixed order: the bits do not depend on how many threads there are. They may differ between
//! instruction
//! sets, because one rounds a multiplication and an addition once and another twice.

mod adamw;
mod attention;
mod error;
mod gate;
mod gradients;
pub(crate) mod kernel;
mod linear;
mod lists;
mod log_softmax;
mod mask;
mod norm;
mod parameters;
pub(crate) mod random;
mod read;
mod rope;
mod schedule;
mod segment_softmax;
mod segments;
mod slices;
mod tensors;
#[cfg(test)]
pub(crate) mod tests;

pub use adamw::{AdamW, AdamWConfig, Stepped};
pub use attention::{Heads, attention, full_attention};
pub use error::NnError;
pub use gate::silu_gate;
pub use gradients::Gradients;
pub use linear::linear;
pub use lists::{Lists, Share, list_sums};
pub use log_softmax::{FORBIDDEN, masked_log_softmax, negative_log_likelihood, pick};
pub use mask::{Allowed, BeyondVocabulary, VOCABULARY_MAX};
pub use norm::rms_norm;
pub use parameters::{Init, Parameters, Slot};
pub use read::read;
pub use rope::rope;
pub use schedule::{Decay, Schedule};
pub use segment_softmax::segment_log_softmax;
pub use segments::Segments;
pub use tensors::TENSOR_BYTES_MAX;

pub(crate) use attention::{Past, full_attention_rows, mix, weigh};
pub(crate) use gate::forward as silu_gate_rows;
pub(crate) use lists::sum_rows;
pub(crate) use log_softmax::log_softmax_row;
pub(crate) use norm::forward as rms_norm_rows;
pub(crate) use read::forward as read_rows;
pub(crate) use rope::Angles;
pub(crate) use segment_softmax::log_softmax_of;

use candle_core::{Result, Tensor};

/// The rows of a table for some symbols: `[symbols, width]`.
///
/// # Errors
/// A symbol that the table does not have.
pub fn embedding(table: &Tensor, symbols: &Tensor) -> Result<Tensor> {
    table.index_select(symbols, 0)
}
