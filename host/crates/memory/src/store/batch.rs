//! A commit in the making: events followed on a copy of the state, so that what cannot be is refused before a byte is written.

use super::error::{FoldError, StoreError, name_of_claim};
use super::event::{
    Captured, Content, Contested, Derived, Event, Exported, Happened, Indexed, Rejected, Replaced, Revised, Verified,
    Withdrawn,
};
use super::fold::Meta;
use super::log::Line;
use super::mark::Mark;
use super::state::{Grave, State};
use super::transaction::{Added, At, Capture, Kept, Of, Step, Transaction};
use crate::id::UnitId;
use crate::moment::Moment;
use crate::unit::Sequence;
use loopwright_contract::memory::Role;

pub(super) struct Batch {
    pub(super) state: State,
    pub(super) lines: Vec<Line>,
    at: i64,
}

impl Batch {
    pub(super) fn new(state: &State, now: &Moment) -> Self {
        Self { state: state.clone(), lines: Vec::new(), at: now.seconds() }
    }

    /// Adds an event, if it follows.
    pub(super) fn push(&mut self, event: Event) -> Result<Sequence, FoldError> {
        self.lines.push(Line::of(&event)?);
        let sequence = self.state.sequence + 1;
        self.state.apply(Meta { sequence, at: self.at, scrubbed: false }, event)?;
        Ok(sequence)
    }

    fn at(&self, ordinal: u64) -> Result<At, FoldError> {
        let id = UnitId::of(&self.state.key, ordinal);
        let slot = self.state.slot(ordinal).ok_or(FoldError::Unknown { id })?;
        Ok(At { id, ordinal, sequence: slot.sequence })
    }

    /// Captures a message, if it is neither known nor purged.
    pub(super) fn capture(&mut self, capture: Capture, index: usize, ingested: &Moment) -> Result<Kept, StoreError> {
        capture.message.check().map_err(|source| StoreError::Message { index, source })?;
        super::check::label("idempotency key", capture.key.as_deref())?;
        let state = &self.state;
        let identity = Mark::of_message(&state.key, &capture.message);
        let key = capture.key.as_ref().map(|key| Mark::of_key(&state.key, key));
        if let Some(ordinal) = key.and_then(|key| state.keys.get(&key)) {
            if state.slot(*ordinal).is_none_or(|slot| slot.identity != identity) {
                return Err(StoreError::KeyReused { index });
            }
            return Ok(Kept::Known(self.at(*ordinal)?));
        }
        if let Some(ordinal) = state.identities.get(&identity) {
            return Ok(Kept::Known(self.at(*ordinal)?));
        }
        let later = |grave: &Grave| capture.message.mentioned.seconds() > grave.at;
        // What was said later than the purge is a new word, also where the old one was said.
        let graves = [state.purged_identities.get(&identity).copied(), state.grave_of_text(&capture.message.text)];
        if let Some(grave) = graves.into_iter().flatten().find(|grave| !later(grave)) {
            return Ok(Kept::Tombstoned { purged: grave.sequence });
        }
        let ordinal = state.ordinals();
        let captured = Captured {
            ordinal,
            message: capture.message,
            ingested: ingested.clone(),
            trust: capture.trust,
            category: capture.category,
            tags: capture.tags,
            identity,
            key,
            working: capture.working,
        };
        self.push(Event::Captured(captured))?;
        Ok(Kept::New(self.at(ordinal)?))
    }

    /// Refuses what was purged, unless the user said it anew: a message after the purge, at a time after the purge.
    fn refuse_purged(&self, content: &Content, identity: Mark) -> Result<(), StoreError> {
        let state = &self.state;
        let graves = [state.grave_of_text(&content.text), state.purged_identities.get(&identity).copied()];
        let Some(grave) = graves.into_iter().flatten().max_by_key(|grave| grave.sequence) else { return Ok(()) };
        let anew = content.evidence.iter().any(|evidence| {
            let capture = state.captured_at(evidence.sequence);
            let said = capture.map(|(_, slot)| slot.unit.mentioned.seconds());
            evidence.role == Role::User
                && evidence.sequence > grave.sequence
                && said.is_some_and(|said| said > grave.at)
        });
        if anew {
            return Ok(());
        }
        Err(StoreError::Tombstoned { of: format!("a unit of {} bytes", content.text.len()), purged: grave.sequence })
    }

    /// Adds a derived unit, if it is neither known nor purged.
    pub(super) fn add(
        &mut self,
        content: Content,
        working: Option<String>,
        ingested: &Moment,
    ) -> Result<Added, StoreError> {
        let identity = Mark::of_content(&self.state.key, &content);
        if let Some(ordinal) = self.state.identities.get(&identity) {
            return Ok(Added { at: self.at(*ordinal)?, new: false });
        }
        self.refuse_purged(&content, identity)?;
        let ordinal = self.state.ordinals();
        self.push(Event::Verified(Verified { ordinal, content, ingested: ingested.clone(), identity, working }))?;
        Ok(Added { at: self.at(ordinal)?, new: true })
    }

    pub(super) fn revise(&mut self, id: UnitId, content: Content) -> Result<(), StoreError> {
        let identity = Mark::of_content(&self.state.key, &content);
        self.refuse_purged(&content, identity)?;
        let old = self.state.unit(self.state.ordinal_of(id)?).and_then(|unit| unit.claim.as_ref());
        let moved = old.map(|claim| &claim.key) != content.claim.as_ref().map(|claim| &claim.key);
        self.push(Event::Revised(Revised { id, content, moved, identity }))?;
        Ok(())
    }

    /// Refuses a transaction that rests on what has changed.
    pub(super) fn refuse_stale(&self, transaction: &Transaction) -> Result<(), StoreError> {
        let prepared = transaction.prepared;
        let stale = |what: String, changed: Sequence| StoreError::Stale { prepared, what, changed };
        if self.state.last_purge > prepared {
            return Err(stale("what was purged".into(), self.state.last_purge));
        }
        for key in &transaction.watched {
            let changed = self.state.claims.get(key).map_or(0, |claims| claims.changed);
            if changed > prepared {
                return Err(stale(name_of_claim(key), changed));
            }
        }
        for id in transaction.steps.iter().flat_map(named) {
            let slot = self.state.ids.get(&id).and_then(|ordinal| self.state.slot(*ordinal));
            if let Some(slot) = slot.filter(|slot| slot.changed > prepared) {
                return Err(stale(format!("unit {id}"), slot.changed));
            }
        }
        Ok(())
    }

    /// Follows the steps of a transaction.
    pub(super) fn follow(&mut self, transaction: Transaction, now: &Moment) -> Result<Vec<Added>, StoreError> {
        let mut added = Vec::new();
        for step in transaction.steps {
            self.step(step, &mut added, now)?;
        }
        Ok(added)
    }

    fn step(&mut self, step: Step, added: &mut Vec<Added>, now: &Moment) -> Result<(), StoreError> {
        let find = |of: Of| match of {
            Of::Unit(id) => Ok(id),
            Of::New(index) => added.get(index).map(|added| added.at.id).ok_or(FoldError::Addition { index }),
        };
        let event = match step {
            Step::Add { content, working } => {
                let addition = self.add(content, working, now)?;
                added.push(addition);
                return Ok(());
            }
            Step::Revise { id, content } => return self.revise(id, content),
            Step::Reject { text, reason, evidence } => Event::Rejected(Rejected { text, reason, evidence }),
            Step::Supersede { old, new } => Event::Superseded(Replaced { old: find(old)?, new: Some(find(new)?) }),
            Step::Merge { duplicate, kept } => {
                Event::Merged(Replaced { old: find(duplicate)?, new: Some(find(kept)?) })
            }
            Step::Contest { left, right } => Event::Contested(Contested { left: find(left)?, right: find(right)? }),
            Step::Fire { id, at } => Event::Fired(Happened { id, at }),
            Step::Complete { id, at } => Event::Completed(Happened { id, at }),
            Step::Expire { id, at } => Event::Expired(Happened { id, at }),
            Step::Indexed { through } => Event::Indexed(Indexed { through }),
            Step::Contribute { contribution, of } => {
                Event::Exported(Exported { units: of.len() as u64, contribution: Some(contribution), of })
            }
            Step::Withdraw { contributions } => Event::Withdrawn(Withdrawn { contributions }),
            Step::Derive { through } => Event::Derived(Derived { through }),
        };
        self.push(event)?;
        Ok(())
    }
}

/// The units that a step changes.
fn named(step: &Step) -> Vec<UnitId> {
    let ids = |ofs: [Of; 2]| {
        let known = ofs.into_iter().filter_map(|of| match of {
            Of::Unit(id) => Some(id),
            Of::New(_) => None,
        });
        known.collect()
    };
    match step {
        Step::Supersede { old, new } => ids([*old, *new]),
        Step::Merge { duplicate, kept } => ids([*duplicate, *kept]),
        Step::Contest { left, right } => ids([*left, *right]),
        Step::Revise { id, .. } | Step::Fire { id, .. } | Step::Complete { id, .. } | Step::Expire { id, .. } => {
            vec![*id]
        }
        Step::Add { .. }
        | Step::Reject { .. }
        | Step::Indexed { .. }
        | Step::Contribute { .. }
        | Step::Withdraw { .. }
        | Step::Derive { .. } => Vec::new(),
    }
}
