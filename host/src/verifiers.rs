//! Which verifiers serve instead of the ones that came with the plugins: the operator's swaps, so that they survive a restart and reach
//! processes that run already.
//!
//! A swap is a transaction. Its component is read, checked, compiled, linked and tried out by the process that swaps; then it is kept by its
//! digest beside the plugins; and only a whole line of the journal, written to the disk, makes it count. Whatever fails before that leaves
//! the old verifier serving, and a line that a crash cut off is no line. It decides nothing about verdicts: the engine does.

mod follow;
mod journal;

pub use follow::Follower;
pub use journal::{Entry, Journal, Places};
