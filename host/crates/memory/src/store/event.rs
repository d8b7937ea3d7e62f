//! What a log says: its events, and how they are written. It knows no state.

use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::error::FoldError;
use super::mark::Mark;
use crate::id::UnitId;
use crate::message::{Message, Place};
use crate::moment::{EventTime, Moment};
use crate::unit::{Activation, Claim, Confidence, Evidence, Sequence, Status, Trust};
use loopwright_contract::memory::Layer;

/// A message was kept, as one episodic unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Captured {
    /// The unit's number.
    pub ordinal: u64,
    /// The message.
    pub message: Message,
    /// When it was kept.
    pub ingested: Moment,
    /// How far it can be relied on.
    pub trust: Trust,
    /// A category of the catalogue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Free labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Of the message at its place.
    pub identity: Mark,
    /// Of the idempotency key that it came with.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub key: Option<Mark>,
    /// The task whose sensitive working data it is: it is purged when that ends.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working: Option<String>,
}

/// What a derived unit says, and what it rests on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Content {
    /// Its layer.
    pub layer: Layer,
    /// A category of the catalogue.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Free labels.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// The text, in its own language.
    pub text: String,
    /// What it claims, where that was found.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<Claim>,
    /// When it happens or holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub event: Option<EventTime>,
    /// When it was said.
    pub mentioned: Moment,
    /// Where it was said.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub place: Option<Place>,
    /// What it rests on. Never empty, but in a record that a purge rewrote.
    pub evidence: Vec<Evidence>,
    /// How sure it is.
    pub confidence: Confidence,
    /// When it is to be done: of prospective units.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub activation: Option<Activation>,
    /// Units that it was derived from.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub derived_from: Vec<UnitId>,
}

/// A derived unit was verified against its evidence, and kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Verified {
    /// The unit's number.
    pub ordinal: u64,
    /// What it says.
    pub content: Content,
    /// When it was kept.
    pub ingested: Moment,
    /// Of the content.
    pub identity: Mark,
    /// The task whose sensitive working data it is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub working: Option<String>,
}

/// What was proposed was not kept.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rejected {
    /// What was proposed.
    pub text: String,
    /// Why not.
    pub reason: String,
    /// The evidence that was named and that exists.
    pub evidence: Vec<Evidence>,
}

/// A unit took the place of another, or says the same.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replaced {
    /// The unit that is no longer current.
    pub old: UnitId,
    /// The unit that is; none: what took its place is no longer known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub new: Option<UnitId>,
}

/// Two units contradict each other.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Contested {
    /// One.
    pub left: UnitId,
    /// The other.
    pub right: UnitId,
}

/// A derived unit says something else from now on.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Revised {
    /// Which.
    pub id: UnitId,
    /// What it says now.
    pub content: Content,
    /// Whether it is about something else than before: it then contradicts nothing any more.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub moved: bool,
    /// Of the new content.
    pub identity: Mark,
}

/// Something happened to a unit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Happened {
    /// To which.
    pub id: UnitId,
    /// When.
    pub at: Moment,
}

/// Units left the memory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Exported {
    /// How many.
    pub units: u64,
    /// The opaque id of a contribution to the pool; none: an export to a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub contribution: Option<String>,
    /// Of a contribution: the units that it was made of.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub of: Vec<UnitId>,
}

/// Contributions were taken out of the pool.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Withdrawn {
    /// Their opaque ids.
    pub contributions: Vec<String>,
}

/// Everything that was captured up to a place of the log was derived from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Derived {
    /// The place.
    pub through: Sequence,
}

/// Everything up to a place of the log is in the index.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Indexed {
    /// The place.
    pub through: Sequence,
}

/// Stands for one purged unit and says nothing of it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tombstone {
    /// Of the text.
    pub text: Mark,
    /// Of the message at its place, or of the derived content.
    pub identity: Mark,
    /// Seconds since 1970; only of what was said later than the purge: until then it is no new word.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub until: Option<i64>,
}

/// How a unit stands after a purge of others.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Outcome {
    /// The unit's number.
    pub ordinal: u64,
    /// Where it stands.
    pub status: Status,
    /// Units whose place it took.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub supersedes: Vec<UnitId>,
    /// The unit that took its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<UnitId>,
    /// Units that it contradicts.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<UnitId>,
}

/// Units were purged. The log before this record no longer has their content.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Purged {
    /// One more than the largest number that was ever given.
    pub ordinals: u64,
    /// What stands for the purged units.
    pub tombstones: Vec<Tombstone>,
    /// How units stand that were linked to them.
    pub outcomes: Vec<Outcome>,
}

/// Records that a purge emptied, or that were lost: up to this place, this one included.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Void {
    /// The last of them.
    pub through: Sequence,
}

macro_rules! events {
    ($($(#[$doc:meta])* $name:ident($payload:ty) = $code:literal, $label:literal;)*) => {
        /// One event of a user's memory.
        #[derive(Debug, Clone, PartialEq, Eq)]
        pub enum Event {
            $($(#[$doc])* $name($payload),)*
        }

        impl Event {
            /// Its kind, as a byte.
            #[must_use]
            pub fn kind(&self) -> u8 {
                match self { $(Self::$name(_) => $code,)* }
            }

            /// Its kind, as a word.
            #[must_use]
            pub fn name(&self) -> &'static str {
                match self { $(Self::$name(_) => $label,)* }
            }

            /// Its payload, as JSON.
            pub(super) fn payload(&self) -> Result<Vec<u8>, FoldError> {
                match self { $(Self::$name(payload) => write($label, payload),)* }
            }

            /// Reads an event.
            pub(super) fn read(kind: u8, payload: &[u8]) -> Result<Self, FoldError> {
                match kind {
                    $($code => parse($label, payload).map(Self::$name),)*
                    found => Err(FoldError::Kind { found }),
                }
            }
        }
    };
}

events! {
    /// A message was kept.
    Captured(Captured) = 1, "captured";
    /// A derived unit was kept.
    Verified(Verified) = 2, "verified";
    /// A proposal was not kept.
    Rejected(Rejected) = 3, "rejected";
    /// The index shows what came before.
    Indexed(Indexed) = 4, "indexed";
    /// A unit says the same as another, which is shown in its place. Only links change.
    Merged(Replaced) = 5, "merged";
    /// A unit took the place of another of its claim.
    Superseded(Replaced) = 6, "superseded";
    /// Two units of a claim contradict each other.
    Contested(Contested) = 7, "contested";
    /// A derived unit says something else.
    Revised(Revised) = 8, "revised";
    /// A unit that was to be done became due.
    Fired(Happened) = 9, "fired";
    /// A unit that was to be done is done.
    Completed(Happened) = 10, "completed";
    /// A unit's validity is over.
    Expired(Happened) = 11, "expired";
    /// Units left the memory.
    Exported(Exported) = 12, "exported";
    /// A message's text was removed, its place kept.
    Redacted(Happened) = 13, "redacted";
    /// Units were purged.
    Purged(Purged) = 14, "purged";
    /// Nothing any more.
    Void(Void) = 15, "void";
    /// Contributions left the pool.
    Withdrawn(Withdrawn) = 16, "withdrawn";
    /// What was captured was derived from.
    Derived(Derived) = 17, "derived";
}

pub(super) fn write(kind: &'static str, payload: &impl Serialize) -> Result<Vec<u8>, FoldError> {
    serde_json::to_vec(payload).map_err(|error| FoldError::Payload { kind, reason: error.to_string() })
}

pub(super) fn parse<T: DeserializeOwned>(kind: &'static str, payload: &[u8]) -> Result<T, FoldError> {
    // The message may quote the payload, which is the user's: only its place is told.
    let told = |error: serde_json::Error| format!("{:?} error at column {}", error.classify(), error.column());
    serde_json::from_slice(payload).map_err(|error| FoldError::Payload { kind, reason: told(error) })
}
