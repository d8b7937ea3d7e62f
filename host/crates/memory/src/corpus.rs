//! What retrieval reads of a user's memory.

use crate::id::UnitId;
use crate::unit::{Sequence, Unit};

/// One immutable snapshot of a user's memory.
///
/// A unit's ordinal is its number in the memory, from 0, given at its creation and never given again. A purged unit leaves a hole.
pub trait Corpus: Send + Sync {
    /// The place in the log that this shows.
    fn sequence(&self) -> Sequence;

    /// One more than the largest ordinal that was ever given.
    fn ordinals(&self) -> u64;

    /// The unit, whatever its status; none for a hole.
    fn unit(&self, ordinal: u64) -> Option<&Unit>;

    /// Where a unit is.
    fn ordinal(&self, id: &UnitId) -> Option<u64>;

    /// The episodic unit of the message before this one in the same session.
    fn previous(&self, ordinal: u64) -> Option<u64>;

    /// The episodic unit of the message after this one in the same session.
    fn next(&self, ordinal: u64) -> Option<u64>;
}
