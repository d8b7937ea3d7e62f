//! What readers see: one immutable state of a user's memory.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};

use super::state::State;
use crate::corpus::Corpus;
use crate::id::UnitId;
use crate::unit::{ClaimKey, Sequence, Unit};

/// One immutable state of a user's memory. It costs nothing to keep, and no writer waits for it.
///
/// Whoever keeps one for longer than a query asks [`Snapshot::is_withdrawn`] before using it again: after a purge it still has what was
/// purged.
#[derive(Debug)]
pub struct Snapshot {
    pub(super) state: State,
    pub(super) purges: Arc<AtomicU64>,
}

impl Snapshot {
    /// Whether something was purged or redacted since. What this snapshot shows is then not to be shown any more.
    #[must_use]
    pub fn is_withdrawn(&self) -> bool {
        self.purges.load(Ordering::Acquire) > self.state.sequence
    }

    /// How many units there are, whatever their status.
    #[must_use]
    pub fn len(&self) -> u64 {
        self.state.live
    }

    /// Whether there is none.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.state.live == 0
    }

    /// All units with their numbers, in the order in which they were kept.
    pub fn units(&self) -> impl Iterator<Item = (u64, &Unit)> {
        self.state.slots().map(|(ordinal, slot)| (ordinal, &slot.unit))
    }

    /// The units that say something of a claim, whatever their status, in the order in which they were kept.
    pub fn claimed(&self, key: &ClaimKey) -> impl Iterator<Item = (u64, &Unit)> {
        let members = self.state.claims.get(key).into_iter().flat_map(|claims| claims.members.iter());
        members.filter_map(|ordinal| self.state.unit(*ordinal).map(|unit| (*ordinal, unit)))
    }

    /// The units of a claim that are current: one, none, those of a set, or those that contradict each other.
    pub fn heads(&self, key: &ClaimKey) -> impl Iterator<Item = (u64, &Unit)> {
        self.claimed(key).filter(|(_, unit)| unit.status.is_current())
    }

    /// All claims that are made, in no order.
    pub fn claims(&self) -> impl Iterator<Item = &ClaimKey> {
        self.state.claims.keys().map(Arc::as_ref)
    }

    /// The message that was captured as this record, to which evidence points.
    #[must_use]
    pub fn captured_at(&self, sequence: Sequence) -> Option<(u64, &Unit)> {
        self.state.captured_at(sequence).map(|(ordinal, slot)| (ordinal, &slot.unit))
    }

    /// The record that made a unit.
    #[must_use]
    pub fn made_at(&self, ordinal: u64) -> Option<Sequence> {
        self.state.slot(ordinal).map(|slot| slot.sequence)
    }

    /// Whether a unit is a message as it was said.
    #[must_use]
    pub fn is_captured(&self, ordinal: u64) -> bool {
        self.state.slot(ordinal).is_some_and(|slot| slot.captured)
    }

    /// The numbers of the units that were made or changed after a record, in order; none when something was purged or redacted since: what
    /// an index of that time holds is then unknown, and it is to be rebuilt.
    #[must_use]
    pub fn changed_since(&self, sequence: Sequence) -> Option<Vec<u64>> {
        (self.state.last_purge <= sequence).then(|| {
            let changed = self.state.slots().filter(|(_, slot)| slot.changed > sequence);
            changed.map(|(ordinal, _)| ordinal).collect()
        })
    }

    /// Up to where the index last said that it shows the log.
    #[must_use]
    pub fn indexed(&self) -> Sequence {
        self.state.indexed
    }

    /// The ids of the contributions to the pool, in order.
    pub fn contributions(&self) -> impl Iterator<Item = &str> {
        self.state.contributions.keys().map(String::as_str)
    }

    /// The ids of the contributions whose source was purged, and that were not yet taken out of the pool, in order.
    pub fn withdrawals(&self) -> impl Iterator<Item = &str> {
        self.state.contributions.iter().filter(|(_, of)| of.is_empty()).map(|(id, _)| id.as_str())
    }

    /// The messages after the last that was derived from, in order: number, record, and the task whose working data it is.
    pub(crate) fn underived(&self) -> impl Iterator<Item = (u64, Sequence, Option<&str>)> {
        let captures = self.state.captures.range(self.state.derived.saturating_add(1)..);
        captures.filter_map(|(sequence, ordinal)| {
            let slot = self.state.slot(*ordinal)?;
            Some((*ordinal, *sequence, slot.working.as_deref()))
        })
    }

    /// The messages of a session that are kept, in order.
    pub fn session(&self, dialogue: &str, session: &str) -> impl Iterator<Item = &Unit> {
        self.state.session(dialogue, session).filter_map(|ordinal| self.state.unit(ordinal))
    }

    /// A position after all that are, or ever were, in a session: what was purged leaves its place empty. A position that a caller made up
    /// beyond the count of all messages is the exception.
    #[must_use]
    pub fn next_position(&self, dialogue: &str, session: &str) -> u32 {
        let places = self.session(dialogue, session).filter_map(|unit| unit.place.as_ref());
        let after = places.map(|place| place.position.saturating_add(1)).max().unwrap_or_default();
        after.max(u32::try_from(self.state.ordinals()).unwrap_or(u32::MAX))
    }
}

impl Corpus for Snapshot {
    fn sequence(&self) -> Sequence {
        self.state.sequence
    }

    fn ordinals(&self) -> u64 {
        self.state.ordinals()
    }

    fn unit(&self, ordinal: u64) -> Option<&Unit> {
        self.state.unit(ordinal)
    }

    fn ordinal(&self, id: &UnitId) -> Option<u64> {
        self.state.ids.get(id).copied()
    }

    fn previous(&self, ordinal: u64) -> Option<u64> {
        self.state.previous(ordinal)
    }

    fn next(&self, ordinal: u64) -> Option<u64> {
        self.state.next(ordinal)
    }
}
