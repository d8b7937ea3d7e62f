//! From what was said to what is known: capture, propose, verify, reconcile, index.

use std::io::BufRead;

use loopwright_contract::memory::{Layer, Role};

use super::{Memory, MemoryFault};
use crate::corpus::Corpus as _;
use crate::extract::{Proposal, ProposalKind, extract, from_model};
use crate::id::UnitId;
use crate::message::Message;
use crate::moment::Moment;
use crate::names::KnownNames;
use crate::prospective::completed_by;
use crate::reconcile::{Decision, Standing, absorb, reconcile};
use crate::store::{At, Capture, Imported, Kept, Of, Snapshot, StoreError, Transaction, content_of};
use crate::unit::{Sequence, Trust, Unit};
use crate::verify::{Captures, Verified, verify};

/// How often a commit is tried again when its claim has changed under it.
const TRIES_MAX: u32 = 8;
/// The most messages that are derived from in one go, of those that a process left which ended before it had.
const PENDING_MAX: usize = 10_000;

/// What was understood from one message.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Understood {
    /// What became of the message itself.
    pub message: Kept,
    /// Units that were derived from it, and how each stands to what was known.
    pub derived: Vec<(UnitId, Decision)>,
    /// To-dos that it says are done.
    pub completed: Vec<UnitId>,
    /// What was proposed and not believed, with the reason.
    pub rejected: Vec<(String, String)>,
}

/// The captured messages of a snapshot, as verification reads them.
struct Said<'a> {
    message: &'a Message,
    sequence: Sequence,
}

impl Captures for Said<'_> {
    fn message(&self, sequence: Sequence) -> Option<&Message> {
        (sequence == self.sequence).then_some(self.message)
    }
}

impl Memory {
    /// Captures messages, derives what they say and brings index and vectors up to it. A message that was captured before, or that was
    /// purged, changes nothing.
    ///
    /// # Errors
    /// [`MemoryFault`] when a message breaks a limit (none of them is kept then) or when a disk or model fails. What was kept before stays
    /// kept, and is derived from at the next capture; if the model fails then too, by the rules alone.
    pub fn capture(&self, captures: Vec<Capture>, now: &Moment) -> Result<Vec<Understood>, MemoryFault> {
        let _writing = self.writing();
        let before = self.store.snapshot().sequence();
        self.derive_pending(now)?;
        let names = self.derived().names.clone();
        let messages: Vec<(Message, Option<String>)> =
            captures.iter().map(|capture| (capture.message.clone(), capture.working.clone())).collect();
        let kept = self.store.capture(captures, now)?;
        let mut understood = Vec::with_capacity(kept.len());
        for (kept, (message, working)) in kept.into_iter().zip(messages) {
            let mut found =
                Understood { message: kept, derived: Vec::new(), completed: Vec::new(), rejected: Vec::new() };
            // What was kept before is derived from again: the process may have ended between the two. The same unit is added once.
            if let Some(at) = kept.at() {
                self.derive(&names, &message, working.as_deref(), at, now, &mut found)?;
            }
            understood.push(found);
        }
        if understood.iter().any(|found| matches!(found.message, Kept::New(_))) {
            self.note_derived(self.store.snapshot().sequence(), now)?;
        }
        self.keep_step(before)?;
        Ok(understood)
    }

    /// Notes up to where messages were derived from.
    fn note_derived(&self, through: Sequence, now: &Moment) -> Result<(), MemoryFault> {
        let mut transaction = Transaction::at(&self.store.snapshot());
        transaction.derived(through);
        self.store.commit(transaction, now)?;
        Ok(())
    }

    /// Derives from messages that were kept by a process which ended before it derived from them.
    pub(super) fn derive_pending(&self, now: &Moment) -> Result<(), MemoryFault> {
        let snapshot = self.store.snapshot();
        if snapshot.underived().next().is_none() {
            return Ok(());
        }
        let mut through = None;
        let names = self.derived().names.clone();
        for (ordinal, sequence, working) in snapshot.underived().take(PENDING_MAX) {
            through = Some(sequence);
            let Some(unit) = snapshot.unit(ordinal).filter(|unit| !unit.text.is_empty()) else { continue };
            let Some(place) = unit.place.clone() else { continue };
            let message = Message { place, text: unit.text.clone(), mentioned: unit.mentioned.clone() };
            let at = At { id: unit.id, ordinal, sequence };
            let mut found = Understood {
                message: Kept::Known(at),
                derived: Vec::new(),
                completed: Vec::new(),
                rejected: Vec::new(),
            };
            self.derive(&names, &message, working, at, now, &mut found)?;
        }
        through.map_or(Ok(()), |through| self.note_derived(through, now))
    }

    /// Keeps the units of an export; see [`Store::import`](crate::store::Store::import).
    ///
    /// # Errors
    /// [`MemoryFault::Store`] for the first line that is refused; nothing is kept then.
    pub fn import(&self, from: &mut dyn BufRead, now: &Moment) -> Result<Imported, MemoryFault> {
        let _writing = self.writing();
        let before = self.store.snapshot().sequence();
        self.derive_pending(now)?;
        let imported = self.store.import(from, now)?;
        self.keep_step(before)?;
        Ok(imported)
    }

    fn derive(
        &self,
        names: &KnownNames,
        message: &Message,
        working: Option<&str>,
        at: At,
        now: &Moment,
        found: &mut Understood,
    ) -> Result<(), MemoryFault> {
        let proposals = self.proposals(message, names, found)?;
        for proposal in proposals {
            match proposal.kind {
                ProposalKind::Done => self.complete(message, &proposal, found, now)?,
                // What it corrects is not known from the message alone: it stays what was said.
                ProposalKind::Correction if proposal.claim.is_none() => {}
                _ => self.believe(message, working, proposal, at, now, found)?,
            }
        }
        self.note_rejected(found, now)
    }

    /// What was not believed is an event too, once.
    fn note_rejected(&self, found: &Understood, now: &Moment) -> Result<(), MemoryFault> {
        if found.rejected.is_empty() || !matches!(found.message, Kept::New(_)) {
            return Ok(());
        }
        let mut transaction = Transaction::at(&self.store.snapshot());
        for (text, reason) in &found.rejected {
            transaction.reject(text.clone(), reason.clone(), Vec::new());
        }
        self.store.commit(transaction, now)?;
        Ok(())
    }

    fn proposals(
        &self,
        message: &Message,
        names: &KnownNames,
        found: &mut Understood,
    ) -> Result<Vec<Proposal>, MemoryFault> {
        let mut proposals = extract(message, names);
        if let Some(proposer) = &self.helpers.proposer
            && matches!(message.place.role, Role::User | Role::Other)
        {
            let proposed = match proposer.propose(&message.text, message.place.role) {
                // A message that the model cannot be asked about holds up no later one.
                Err(error) if matches!(found.message, Kept::Known(_)) => {
                    tracing::warn!(error = &error as &dyn std::error::Error, "a message is read by the rules alone");
                    Vec::new()
                }
                proposed => proposed?,
            };
            let (more, errors) = from_model(message, &proposed);
            // What the rules found is not said again.
            let known = |proposal: &Proposal| {
                proposals.iter().any(|other| other.quote == proposal.quote && other.claim == proposal.claim)
            };
            let new: Vec<Proposal> = more.into_iter().filter(|proposal| !known(proposal)).collect();
            proposals.extend(new);
            found.rejected.extend(errors.into_iter().map(|error| ("a model's proposal".to_owned(), error.to_string())));
        }
        Ok(proposals)
    }

    /// Closes the to-do that a message says is done.
    fn complete(
        &self,
        message: &Message,
        proposal: &Proposal,
        found: &mut Understood,
        now: &Moment,
    ) -> Result<(), MemoryFault> {
        if message.place.role != Role::User {
            return Ok(());
        }
        let snapshot = self.store.snapshot();
        let open: Vec<&Unit> =
            snapshot.units().map(|(_, unit)| unit).filter(|unit| unit.layer == Layer::Prospective).collect();
        if let Some(id) = completed_by(&proposal.text, &open) {
            let mut transaction = Transaction::at(&snapshot);
            transaction.complete(id, message.mentioned.clone());
            self.store.commit(transaction, now)?;
            found.completed.push(id);
        }
        Ok(())
    }

    /// Verifies a proposal, and keeps it where it belongs.
    fn believe(
        &self,
        message: &Message,
        working: Option<&str>,
        proposal: Proposal,
        at: At,
        now: &Moment,
        found: &mut Understood,
    ) -> Result<(), MemoryFault> {
        let text = proposal.text.clone();
        match verify(proposal, at.sequence, &Said { message, sequence: at.sequence }) {
            Ok(verified) => {
                if let Some(kept) = self.place(&verified, message, working, at, now)? {
                    found.derived.push(kept);
                }
            }
            Err(rejection) => found.rejected.push((text, rejection.to_string())),
        }
        Ok(())
    }

    /// Keeps what was verified, beside, before, after or against what is known. None when it was purged, or is known.
    fn place(
        &self,
        verified: &Verified,
        message: &Message,
        working: Option<&str>,
        at: At,
        now: &Moment,
    ) -> Result<Option<(UnitId, Decision)>, MemoryFault> {
        for _ in 0..TRIES_MAX {
            let snapshot = self.store.snapshot();
            // The id that it will have, if nothing is kept in between; then the commit fails, or the id is of no consequence.
            let id = UnitId::of(self.store.key(), snapshot.ordinals());
            let unit = verified.clone().into_unit(id, message, now.clone(), Some(at.id));
            match self.try_place(&snapshot, &unit, working, now) {
                Err(MemoryFault::Store(StoreError::Stale { .. })) => {}
                Err(MemoryFault::Store(StoreError::Tombstoned { .. })) => return Ok(None),
                placed => return placed,
            }
        }
        Err(MemoryFault::Busy { tries: TRIES_MAX })
    }

    fn try_place(
        &self,
        snapshot: &Snapshot,
        unit: &Unit,
        working: Option<&str>,
        now: &Moment,
    ) -> Result<Option<(UnitId, Decision)>, MemoryFault> {
        let same_claim: Vec<&Unit> = match &unit.claim {
            Some(claim) => snapshot.claimed(&claim.key).map(|(_, unit)| unit).collect(),
            None => Vec::new(),
        };
        let reconciled = reconcile(unit, &same_claim);
        let mut transaction = Transaction::at(snapshot);
        if let Some(claim) = &unit.claim {
            transaction.watch(claim.key.clone());
        }
        let current =
            |id: &UnitId| *id == unit.id || same_claim.iter().any(|known| known.id == *id && known.status.is_current());
        if let Decision::Same { unit: known } = reconciled.decision {
            let Some(old) = same_claim.iter().find(|old| old.id == known) else { return Ok(None) };
            let merged = absorb(old, unit);
            // What was superseded gets the evidence too, and stays superseded: a purge of the claim takes that message with it.
            if merged == **old {
                return Ok(None);
            }
            transaction.revise(known, content_of(&merged));
            // A later mention may order what was contested.
            link(&mut transaction, reconciled.changes.iter(), &current, &Of::Unit);
            self.store.commit(transaction, now)?;
            return Ok(Some((known, reconciled.decision)));
        }
        let new = transaction.add(content_of(unit), working.map(str::to_owned));
        let find = |id: UnitId| if id == unit.id { new } else { Of::Unit(id) };
        let standings =
            reconciled.changes.iter().chain(reconciled.standing.as_ref().map(|standing| (&unit.id, standing)));
        link(&mut transaction, standings, &current, &find);
        let committed = self.store.commit(transaction, now)?;
        let added = committed.added.first().filter(|added| added.new);
        Ok(added.map(|added| (added.at.id, reconciled.decision)))
    }
}

/// Writes the links that standings ask for, each pair once. What is no longer current keeps the links that it has.
fn link<'a>(
    transaction: &mut Transaction,
    standings: impl Iterator<Item = (&'a UnitId, &'a Standing)>,
    current: &dyn Fn(&UnitId) -> bool,
    find: &dyn Fn(UnitId) -> Of,
) {
    let standings: Vec<(&UnitId, &Standing)> = standings.filter(|(id, _)| current(id)).collect();
    for (id, standing) in &standings {
        for other in standing.conflicts.iter().filter(|other| *id < other && current(other)) {
            transaction.contest(find(**id), find(*other));
        }
    }
    for (id, standing) in &standings {
        if let Some(by) = standing.superseded_by {
            transaction.supersede(find(**id), find(by));
        }
    }
}

/// How far a speaker's words can be relied on.
#[must_use]
pub fn trust_of(role: Role) -> Trust {
    match role {
        Role::User => Trust::Stated,
        Role::Other | Role::Assistant | Role::Tool | Role::System | Role::Memory => Trust::Heard,
    }
}
