//! Memory in the loop: what is served before the first step, what a search returns, what becomes due, and what is handed over afterwards.
//!
//! The records themselves are documents of the episode's world; this module only reads them through the engine port. So a fork has its own,
//! members of a group cannot see each other, and a replay needs no store. It knows no store and no index: a
//! [`Ranker`](loopwright_contract::memory::Ranker) that is better than the built-in one, the stores behind
//! [`Remember`](loopwright_contract::memory::Remember) and [`Forget`](loopwright_contract::memory::Forget), and snapshots come in as ports.

mod commit;
mod order;
mod rank;
mod search;

#[cfg(test)]
mod tests;

pub use commit::{Committed, capture, changes, commit};
pub use order::instruction_like;
pub use rank::{SCORE_MIN, WORD_OVERLAP, WordOverlap};
pub(crate) use search::EpisodeMemory;
pub use search::{DUE_SERVED_MAX, FITTING_SERVED_MAX, PROFILE_SERVED_MAX, SERVED_BYTES_MAX};
