//! Units: what is known, from which evidence, and how it stands to what else is known.

use loopwright_contract::digest::ContentDigest;
use loopwright_contract::memory::{Layer, Role};
use serde::{Deserialize, Serialize};

use crate::id::UnitId;
use crate::message::{Message, Place};
use crate::moment::{EventTime, Moment};

/// A place in a user's log, counted from 1.
pub type Sequence = u64;

/// Where a unit stands in its life.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Status {
    /// Proposed and not verified. Never retrieved.
    Candidate,
    /// Its evidence was found.
    Verified,
    /// It contradicts another unit of its claim, and neither is known to be later. Both are shown.
    Contested,
    /// A later unit of its claim took its place.
    Superseded,
    /// Its validity is over.
    Expired,
    /// It was to be done, and is done.
    Completed,
    /// Its text was removed, its place kept.
    Redacted,
}

impl Status {
    /// Its name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Candidate => "candidate",
            Self::Verified => "verified",
            Self::Contested => "contested",
            Self::Superseded => "superseded",
            Self::Expired => "expired",
            Self::Completed => "completed",
            Self::Redacted => "redacted",
        }
    }

    /// Whether default retrieval returns it.
    #[must_use]
    pub fn is_current(self) -> bool {
        matches!(self, Self::Verified | Self::Contested)
    }
}

/// How far what was said can be relied on.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Trust {
    /// Other people's words, recalled memory, tool output, system text: never enough for a fact.
    Heard,
    /// Read from a file that the user imported.
    Imported,
    /// Seen in a verified trajectory.
    Observed,
    /// The user's own words.
    Stated,
}

/// What a claim is about: two units that have the same key say something of the same thing.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ClaimKey {
    /// Of whom or what: `user`, or a name, folded.
    pub subject: String,
    /// What is said: `lives_in`, `likes`, `name`.
    pub predicate: String,
    /// What keeps claims of one predicate apart, such as the kind of thing that is liked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub qualifier: Option<String>,
}

/// Whether one value takes the place of another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Arity {
    /// One value at a time.
    Single,
    /// Values add up.
    Set,
}

/// A claim and its value.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Claim {
    /// What it is about.
    pub key: ClaimKey,
    /// The value, as it was said.
    pub value: String,
    /// Whether one value takes the place of another.
    pub arity: Arity,
    /// The claim is that the value does not hold (any more).
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub negated: bool,
}

/// What was said, where: part of one captured message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Evidence {
    /// The capture's place in the log.
    pub sequence: Sequence,
    /// The first byte of the quote in the message's text.
    pub start: u32,
    /// The byte after its last.
    pub end: u32,
    /// Of the quoted bytes.
    pub digest: ContentDigest,
    /// Who said it.
    pub role: Role,
    /// How far that can be relied on.
    pub trust: Trust,
}

/// When something is to be done.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Activation {
    /// When it is due; none: when the condition holds.
    pub due: Option<EventTime>,
    /// What it waits for, in the user's words.
    pub condition: Option<String>,
    /// When it is no longer of use; none: it waits for ever.
    pub valid_until: Option<Moment>,
    /// When it fired: when it was announced. That is once; it is due until it is done or over.
    pub fired: Option<Moment>,
    /// When it was done.
    pub completed: Option<Moment>,
}

/// How sure a unit is, and why.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Confidence {
    /// In thousandths, 0 to 1,000.
    pub thousandths: u16,
    /// Why.
    pub reason: String,
}

/// One thing that is remembered.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Unit {
    /// Its id.
    pub id: UnitId,
    /// Its layer.
    pub layer: Layer,
    /// A category of the catalogue, such as `routines_habits`.
    pub category: Option<String>,
    /// Free labels.
    pub tags: Vec<String>,
    /// The text, in its own language. Of an episodic unit: the message.
    pub text: String,
    /// What it claims, where that was found.
    pub claim: Option<Claim>,
    /// When it happens or holds.
    pub event: Option<EventTime>,
    /// When it was said.
    pub mentioned: Moment,
    /// When it was kept.
    pub ingested: Moment,
    /// Where it was said.
    pub place: Option<Place>,
    /// What it rests on. Never empty.
    pub evidence: Vec<Evidence>,
    /// Where it stands.
    pub status: Status,
    /// Units whose place it took.
    pub supersedes: Vec<UnitId>,
    /// The unit that took its place.
    pub superseded_by: Option<UnitId>,
    /// Units that it contradicts.
    pub conflicts: Vec<UnitId>,
    /// How sure it is.
    pub confidence: Confidence,
    /// When it is to be done: of prospective units.
    pub activation: Option<Activation>,
    /// Units that it was derived from.
    pub derived_from: Vec<UnitId>,
}

impl Unit {
    /// The message that this unit was captured as; none of a unit without a place.
    pub(crate) fn as_message(&self) -> Option<Message> {
        let place = self.place.clone()?;
        Some(Message { place, text: self.text.clone(), mentioned: self.mentioned.clone() })
    }
}
