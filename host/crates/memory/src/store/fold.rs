//! One event after another: how each changes the state, and what it must not say. A log is hostile until it is folded.

use loopwright_contract::digest::ContentDigest;
use loopwright_contract::memory::Layer;

use super::check;
use super::error::FoldError;
use super::event::{
    Captured, Content, Contested, Event, Exported, Happened, Outcome, Purged, Replaced, Revised, Verified,
};
use super::limits::SEQUENCE_MAX;
use super::mark::Mark;
use super::state::{Grave, Slot, State, put_content};
use crate::id::UnitId;
use crate::moment::Moment;
use crate::unit::{Confidence, Evidence, Sequence, Status, Unit};

/// What a record says of itself.
#[derive(Debug, Clone, Copy)]
pub(super) struct Meta {
    pub(super) sequence: Sequence,
    /// Seconds since 1970.
    pub(super) at: i64,
    /// A purge rewrote it: it may lack text and evidence.
    pub(super) scrubbed: bool,
}

/// Why a unit of a captured message is as sure as it is.
const AS_SAID: &str = "as it was said";

impl State {
    /// Follows one event. After an error the state is to be thrown away.
    pub(super) fn apply(&mut self, meta: Meta, event: Event) -> Result<(), FoldError> {
        let expected = self.sequence + 1;
        if meta.sequence != expected || expected > SEQUENCE_MAX {
            return Err(FoldError::Order { expected, found: meta.sequence });
        }
        self.sequence = meta.sequence;
        match event {
            Event::Captured(captured) => self.captured(meta, captured),
            Event::Verified(verified) => self.verified(meta, verified),
            Event::Rejected(rejected) => {
                check::rejected(self, &rejected, meta.scrubbed)?;
                self.rejected += 1;
                Ok(())
            }
            Event::Indexed(indexed) => {
                self.indexed = indexed.through.min(meta.sequence);
                Ok(())
            }
            Event::Merged(Replaced { old, new }) => self.replaced(meta.sequence, old, new, "merged"),
            Event::Superseded(Replaced { old, new }) => {
                check::same_claim(self, old, new)?;
                self.replaced(meta.sequence, old, new, "superseded")
            }
            Event::Contested(contested) => self.contested(meta.sequence, contested),
            Event::Revised(revised) => self.revised(meta, revised),
            Event::Fired(happened) => self.happened(meta.sequence, happened, "fired"),
            Event::Completed(happened) => self.happened(meta.sequence, happened, "completed"),
            Event::Expired(happened) => self.happened(meta.sequence, happened, "expired"),
            Event::Exported(exported) => self.exported(exported),
            Event::Redacted(happened) => self.redacted(meta.sequence, happened.id),
            Event::Purged(purged) => self.purged(meta, purged),
            Event::Withdrawn(withdrawn) => {
                FoldError::limit("contributions", withdrawn.contributions.len(), super::limits::LINKS_MAX)?;
                for contribution in &withdrawn.contributions {
                    check::label("contribution", Some(contribution))?;
                    self.contributions.remove(contribution);
                }
                Ok(())
            }
            Event::Derived(derived) => {
                self.derived = self.derived.max(derived.through.min(meta.sequence));
                Ok(())
            }
            Event::Void(void) => {
                if void.through < meta.sequence || void.through > SEQUENCE_MAX {
                    return Err(FoldError::Order { expected, found: void.through });
                }
                self.sequence = void.through;
                Ok(())
            }
        }
    }

    fn captured(&mut self, meta: Meta, captured: Captured) -> Result<(), FoldError> {
        check::captured(&captured, meta.scrubbed)?;
        let slot = slot_of_capture(UnitId::of(&self.key, captured.ordinal), meta.sequence, &captured);
        self.insert(captured.ordinal, slot)
    }

    fn verified(&mut self, meta: Meta, verified: Verified) -> Result<(), FoldError> {
        check::content(self, &verified.content, meta.scrubbed)?;
        check::label("name of the task", verified.working.as_deref())?;
        let id = UnitId::of(&self.key, verified.ordinal);
        let unit = unit_of(id, verified.content, verified.ingested, Status::Verified);
        let slot = Slot {
            unit,
            identity: verified.identity,
            key: None,
            sequence: meta.sequence,
            changed: meta.sequence,
            captured: false,
            working: verified.working,
        };
        self.insert(verified.ordinal, slot)
    }

    fn current(&self, id: UnitId, verb: &'static str) -> Result<u64, FoldError> {
        let ordinal = self.ordinal_of(id)?;
        match self.unit(ordinal) {
            Some(unit) if unit.status.is_current() => Ok(ordinal),
            Some(unit) => Err(FoldError::Status { id, status: unit.status, verb }),
            None => Err(FoldError::Unknown { id }),
        }
    }

    fn replaced(
        &mut self,
        sequence: Sequence,
        old: UnitId,
        new: Option<UnitId>,
        verb: &'static str,
    ) -> Result<(), FoldError> {
        let ordinal = self.current(old, verb)?;
        if let Some(new) = new {
            let successor = self.ordinal_of(new)?;
            self.refuse_circle(old, new)?;
            if let Some(slot) = self.slot_mut(successor) {
                check::link(&mut slot.unit.supersedes, old)?;
            }
            self.touch(successor, sequence);
        }
        self.leave_conflicts(ordinal, sequence);
        if let Some(slot) = self.slot_mut(ordinal) {
            slot.unit.status = Status::Superseded;
            slot.unit.superseded_by = new;
        }
        self.touch(ordinal, sequence);
        Ok(())
    }

    /// Refuses that `new`, or what took its place, is `old`.
    fn refuse_circle(&self, old: UnitId, new: UnitId) -> Result<(), FoldError> {
        let mut next = Some(new);
        for _ in 0..=self.live {
            let Some(id) = next else { return Ok(()) };
            if id == old {
                break;
            }
            next = self.unit(self.ordinal_of(id)?).and_then(|unit| unit.superseded_by);
        }
        Err(FoldError::Circle { id: old })
    }

    /// Ends all contradictions of a unit. What was contested by it alone stands verified.
    pub(super) fn leave_conflicts(&mut self, ordinal: u64, sequence: Sequence) {
        let Some(slot) = self.slot_mut(ordinal) else { return };
        let id = slot.unit.id;
        for other in std::mem::take(&mut slot.unit.conflicts) {
            let Ok(other) = self.ordinal_of(other) else { continue };
            if let Some(slot) = self.slot_mut(other) {
                slot.unit.conflicts.retain(|conflict| *conflict != id);
                if slot.unit.conflicts.is_empty() && slot.unit.status == Status::Contested {
                    slot.unit.status = Status::Verified;
                }
            }
            self.touch(other, sequence);
        }
        if let Some(slot) = self.slot_mut(ordinal).filter(|slot| slot.unit.status == Status::Contested) {
            slot.unit.status = Status::Verified;
        }
    }

    fn contested(&mut self, sequence: Sequence, Contested { left, right }: Contested) -> Result<(), FoldError> {
        if left == right {
            return Err(FoldError::Circle { id: left });
        }
        check::same_claim(self, left, Some(right))?;
        let pair = [(self.current(left, "contested")?, right), (self.current(right, "contested")?, left)];
        for (ordinal, other) in pair {
            if let Some(slot) = self.slot_mut(ordinal) {
                check::link(&mut slot.unit.conflicts, other)?;
                slot.unit.status = Status::Contested;
            }
            self.touch(ordinal, sequence);
        }
        Ok(())
    }

    fn revised(&mut self, meta: Meta, Revised { id, content, moved, identity }: Revised) -> Result<(), FoldError> {
        let ordinal = self.ordinal_of(id)?;
        let slot = self.slot(ordinal).ok_or(FoldError::Unknown { id })?;
        let status = slot.unit.status;
        // What was superseded may rest on more, and says the same as before.
        let superseded = status == Status::Superseded && !moved;
        if slot.captured || !(status.is_current() || status == Status::Candidate || superseded) {
            return Err(FoldError::Status { id, status, verb: "revised" });
        }
        check::content(self, &content, meta.scrubbed)?;
        if content.derived_from.contains(&id) {
            return Err(FoldError::Circle { id });
        }
        if moved {
            self.leave_conflicts(ordinal, meta.sequence);
        }
        self.touch(ordinal, meta.sequence);
        self.replace_content(ordinal, content, identity, meta.sequence);
        // What a purge withheld is said again.
        if let Some(slot) = self.slot_mut(ordinal).filter(|slot| slot.unit.status == Status::Candidate) {
            slot.unit.status = Status::Verified;
        }
        Ok(())
    }

    fn happened(
        &mut self,
        sequence: Sequence,
        Happened { id, at }: Happened,
        verb: &'static str,
    ) -> Result<(), FoldError> {
        let ordinal = self.current(id, verb)?;
        let slot = self.slot_mut(ordinal).ok_or(FoldError::Unknown { id })?;
        let refused = FoldError::Status { id, status: slot.unit.status, verb };
        match (verb, &mut slot.unit.activation) {
            ("fired", Some(activation)) if activation.fired.is_none() => activation.fired = Some(at),
            ("completed", Some(activation)) => {
                activation.completed = Some(at);
                slot.unit.status = Status::Completed;
            }
            ("expired", _) => slot.unit.status = Status::Expired,
            _ => return Err(refused),
        }
        if verb != "fired" {
            let status = self.unit(ordinal).map(|unit| unit.status);
            self.leave_conflicts(ordinal, sequence);
            if let (Some(slot), Some(status)) = (self.slot_mut(ordinal), status) {
                slot.unit.status = status;
            }
        }
        self.touch(ordinal, sequence);
        Ok(())
    }

    fn exported(&mut self, exported: Exported) -> Result<(), FoldError> {
        check::label("contribution", exported.contribution.as_deref())?;
        FoldError::limit("units of a contribution", exported.of.len(), super::limits::LINKS_MAX)?;
        exported.of.iter().try_for_each(|id| self.ordinal_of(*id).map(|_| ()))?;
        if let Some(contribution) = exported.contribution {
            self.contributions.insert(contribution, exported.of);
        }
        Ok(())
    }

    fn redacted(&mut self, sequence: Sequence, id: UnitId) -> Result<(), FoldError> {
        let ordinal = self.ordinal_of(id)?;
        let slot = self.slot(ordinal).ok_or(FoldError::Unknown { id })?;
        if !slot.captured {
            return Err(FoldError::Status { id, status: slot.unit.status, verb: "redacted" });
        }
        self.leave_conflicts(ordinal, sequence);
        if let Some(slot) = self.slot_mut(ordinal) {
            let unit = &mut slot.unit;
            unit.status = Status::Redacted;
            unit.text.clear();
            unit.category = None;
            unit.tags.clear();
            for evidence in &mut unit.evidence {
                *evidence = Evidence { start: 0, end: 0, digest: ContentDigest::of(b""), ..evidence.clone() };
            }
        }
        self.touch(ordinal, sequence);
        self.last_purge = sequence;
        Ok(())
    }

    fn purged(&mut self, meta: Meta, purged: Purged) -> Result<(), FoldError> {
        FoldError::limit("tombstones", purged.tombstones.len(), super::limits::PURGED_PER_RECORD_MAX)?;
        FoldError::limit("outcomes", purged.outcomes.len(), super::limits::PURGED_PER_RECORD_MAX)?;
        self.reserve(purged.ordinals)?;
        for tombstone in purged.tombstones {
            let at = tombstone.until.map_or(meta.at, |until| until.max(meta.at));
            let grave = Grave { sequence: meta.sequence, at };
            self.purged_texts.insert(tombstone.text, grave);
            self.purged_identities.insert(tombstone.identity, grave);
        }
        for outcome in purged.outcomes {
            self.outcome(meta.sequence, outcome)?;
        }
        self.last_purge = meta.sequence;
        Ok(())
    }

    fn outcome(&mut self, sequence: Sequence, outcome: Outcome) -> Result<(), FoldError> {
        check::links(self, &outcome)?;
        let id = UnitId::of(&self.key, outcome.ordinal);
        let slot = self.slot_mut(outcome.ordinal).ok_or(FoldError::Unknown { id })?;
        slot.unit.status = outcome.status;
        slot.unit.supersedes = outcome.supersedes;
        slot.unit.superseded_by = outcome.superseded_by;
        slot.unit.conflicts = outcome.conflicts;
        self.touch(outcome.ordinal, sequence);
        Ok(())
    }
}

/// The unit of a captured message: the message, which is its own evidence.
pub(super) fn slot_of_capture(id: UnitId, sequence: Sequence, captured: &Captured) -> Slot {
    let message = &captured.message;
    let evidence = Evidence {
        sequence,
        start: 0,
        end: u32::try_from(message.text.len()).unwrap_or(u32::MAX),
        digest: ContentDigest::of(message.text.as_bytes()),
        role: message.place.role,
        trust: captured.trust,
    };
    let content = Content {
        layer: Layer::Episodic,
        category: captured.category.clone(),
        tags: captured.tags.clone(),
        text: message.text.clone(),
        claim: None,
        event: None,
        mentioned: message.mentioned.clone(),
        place: Some(message.place.clone()),
        evidence: vec![evidence],
        confidence: Confidence { thousandths: 1_000, reason: AS_SAID.to_owned() },
        activation: None,
        derived_from: Vec::new(),
    };
    Slot {
        unit: unit_of(id, content, captured.ingested.clone(), Status::Verified),
        identity: captured.identity,
        key: captured.key,
        sequence,
        changed: sequence,
        captured: true,
        working: captured.working.clone(),
    }
}

fn unit_of(id: UnitId, content: Content, ingested: Moment, status: Status) -> Unit {
    let mut unit = Unit {
        id,
        layer: content.layer,
        category: None,
        tags: Vec::new(),
        text: String::new(),
        claim: None,
        event: None,
        mentioned: content.mentioned.clone(),
        ingested,
        place: None,
        evidence: Vec::new(),
        status,
        supersedes: Vec::new(),
        superseded_by: None,
        conflicts: Vec::new(),
        confidence: content.confidence.clone(),
        activation: None,
        derived_from: Vec::new(),
    };
    put_content(&mut unit, content);
    unit
}

impl State {
    /// Whether what a text says was purged.
    pub(super) fn grave_of_text(&self, text: &str) -> Option<Grave> {
        self.purged_texts.get(&Mark::of_text(&self.key, text)).copied()
    }
}
