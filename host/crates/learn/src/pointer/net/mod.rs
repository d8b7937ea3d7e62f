//! The network that scores the answers of choices. It knows no context, no tool and no decision: tables go in, log-probabilities come out.
//!
//! One set of weights, two passes. *Training* ([`PointerNet`]) takes whole plays, of which it sums each distinct bag and encodes each request
//! once, and gives the log-probability of what was taken as a tensor that gradients flow from. *Acting* ([`Scorer`]) scores a choice at a time and
//! keeps what comes again. Both call the same row functions in the same order: what acting reported is what training recomputes.
//!
//! What carries over to a tool or a word that was never seen: an answer reads the request by its own words alone, in the space of the n-grams
//! ([`Shape`], `answer_overlap`), before any map is learnt between the two.

mod act;
mod batch;
mod error;
mod layers;
mod policy;
mod shape;
#[cfg(test)]
pub(crate) mod tests;
mod train;
mod weights;

pub use act::{ANSWERS_KEPT_MAX, BAGS_KEPT_MAX, Encoded, Scorer};
pub use batch::PART_ANSWERS;
pub use error::PointerError;
pub use shape::{HIDDEN_MAX, JOINT_MAX, LAYERS_MAX, Shape, WIDTH_MAX};
pub use train::PointerNet;
