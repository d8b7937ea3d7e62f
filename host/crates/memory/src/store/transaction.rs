//! What is to be written, prepared against a snapshot. It knows no file: [`Store::commit`](super::Store::commit) decides whether it still holds.

use crate::id::UnitId;
use crate::message::Message;
use crate::moment::Moment;
use crate::unit::{Arity, ClaimKey, Evidence, Sequence, Trust};

use super::event::Content;
use super::snapshot::Snapshot;
use crate::corpus::Corpus as _;

/// A message to capture.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Capture {
    /// The message.
    pub message: Message,
    /// How far it can be relied on.
    pub trust: Trust,
    /// A category of the catalogue.
    pub category: Option<String>,
    /// Free labels, at most [`TAGS_MAX`](super::TAGS_MAX).
    pub tags: Vec<String>,
    /// A name under which the caller may capture it again, as after a lost answer, at most [`LABEL_BYTES_MAX`](super::LABEL_BYTES_MAX) bytes.
    pub key: Option<String>,
    /// The task whose sensitive working data it is: it is purged when that ends.
    pub working: Option<String>,
}

impl Capture {
    /// A message without labels, key and task.
    #[must_use]
    pub fn of(message: Message, trust: Trust) -> Self {
        Self { message, trust, category: None, tags: Vec::new(), key: None, working: None }
    }
}

/// Where a unit is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct At {
    /// Its id.
    pub id: UnitId,
    /// Its number.
    pub ordinal: u64,
    /// The record that made it. Of a captured message, what evidence points at.
    pub sequence: Sequence,
}

/// What became of a message that was to be captured.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kept {
    /// It is kept.
    New(At),
    /// It was kept before.
    Known(At),
    /// It was purged, and does not come back.
    Tombstoned {
        /// The record of the purge.
        purged: Sequence,
    },
}

impl Kept {
    /// Where it is.
    #[must_use]
    pub fn at(&self) -> Option<At> {
        match self {
            Self::New(at) | Self::Known(at) => Some(*at),
            Self::Tombstoned { .. } => None,
        }
    }
}

/// A unit that is there, or one that the same transaction adds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Of {
    /// One that is there.
    Unit(UnitId),
    /// The addition with this number, from 0.
    New(usize),
}

impl From<UnitId> for Of {
    fn from(id: UnitId) -> Self {
        Self::Unit(id)
    }
}

#[derive(Debug, Clone)]
pub(super) enum Step {
    Add { content: Content, working: Option<String> },
    Reject { text: String, reason: String, evidence: Vec<Evidence> },
    Supersede { old: Of, new: Of },
    Merge { duplicate: Of, kept: Of },
    Contest { left: Of, right: Of },
    Revise { id: UnitId, content: Content },
    Fire { id: UnitId, at: Moment },
    Complete { id: UnitId, at: Moment },
    Expire { id: UnitId, at: Moment },
    Indexed { through: Sequence },
    Contribute { contribution: String, of: Vec<UnitId> },
    Withdraw { contributions: Vec<String> },
    Derive { through: Sequence },
}

/// Changes that are made together or not at all, if nothing that they rest on has changed since the snapshot.
#[derive(Debug, Clone)]
pub struct Transaction {
    pub(super) prepared: Sequence,
    pub(super) watched: Vec<ClaimKey>,
    pub(super) steps: Vec<Step>,
    additions: usize,
}

impl Transaction {
    /// Begins one that rests on what `snapshot` shows.
    #[must_use]
    pub fn at(snapshot: &Snapshot) -> Self {
        Self { prepared: snapshot.sequence(), watched: Vec::new(), steps: Vec::new(), additions: 0 }
    }

    /// Rests on a claim: the commit fails when a unit of it was added or changed. Claims of one value that the transaction adds to, and units
    /// that it changes, are watched without being asked.
    pub fn watch(&mut self, key: ClaimKey) {
        if !self.watched.contains(&key) {
            self.watched.push(key);
        }
    }

    /// Adds a derived unit that was verified. The same content with the same evidence is the same unit, however often it is added.
    /// `working` names the task whose sensitive working data it is.
    pub fn add(&mut self, content: Content, working: Option<String>) -> Of {
        if let Some(claim) = content.claim.as_ref().filter(|claim| claim.arity == Arity::Single) {
            self.watch(claim.key.clone());
        }
        self.steps.push(Step::Add { content, working });
        self.additions += 1;
        Of::New(self.additions - 1)
    }

    /// Notes that a proposal was not kept, and why.
    pub fn reject(&mut self, text: String, reason: String, evidence: Vec<Evidence>) {
        self.steps.push(Step::Reject { text, reason, evidence });
    }

    /// Lets one unit take the place of another of the same claim.
    pub fn supersede(&mut self, old: impl Into<Of>, new: impl Into<Of>) {
        self.steps.push(Step::Supersede { old: old.into(), new: new.into() });
    }

    /// Shows one unit in place of another that says the same. Only links change.
    pub fn merge(&mut self, duplicate: impl Into<Of>, kept: impl Into<Of>) {
        self.steps.push(Step::Merge { duplicate: duplicate.into(), kept: kept.into() });
    }

    /// Notes that two units of one claim contradict each other.
    pub fn contest(&mut self, left: impl Into<Of>, right: impl Into<Of>) {
        self.steps.push(Step::Contest { left: left.into(), right: right.into() });
    }

    /// Lets a derived unit say something else. What a purge withheld is shown again.
    pub fn revise(&mut self, id: UnitId, content: Content) {
        self.steps.push(Step::Revise { id, content });
    }

    /// Notes that what was to be done became due. Once.
    pub fn fire(&mut self, id: UnitId, at: Moment) {
        self.steps.push(Step::Fire { id, at });
    }

    /// Notes that what was to be done is done.
    pub fn complete(&mut self, id: UnitId, at: Moment) {
        self.steps.push(Step::Complete { id, at });
    }

    /// Notes that a unit's validity is over.
    pub fn expire(&mut self, id: UnitId, at: Moment) {
        self.steps.push(Step::Expire { id, at });
    }

    /// Notes up to where the index shows the log.
    pub fn indexed(&mut self, through: Sequence) {
        self.steps.push(Step::Indexed { through });
    }

    /// Notes a contribution to the pool by its opaque id, and the units that it was made of, so that their purge reaches it.
    pub fn contribute(&mut self, contribution: String, of: Vec<UnitId>) {
        self.steps.push(Step::Contribute { contribution, of });
    }

    /// Notes that contributions were taken out of the pool.
    pub fn withdraw(&mut self, contributions: &[String]) {
        let runs = contributions.chunks(super::LINKS_MAX);
        self.steps.extend(runs.map(|run| Step::Withdraw { contributions: run.to_vec() }));
    }

    /// Notes that everything that was captured up to a record was derived from.
    pub fn derived(&mut self, through: Sequence) {
        self.steps.push(Step::Derive { through });
    }
}

/// A derived unit of a commit.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Added {
    /// Where it is.
    pub at: At,
    /// Whether this commit made it; otherwise it was there.
    pub new: bool,
}

/// What a commit did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Committed {
    /// The last record.
    pub sequence: Sequence,
    /// The additions, in the order of the transaction.
    pub added: Vec<Added>,
}
