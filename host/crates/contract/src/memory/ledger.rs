//! What a search of the memory returns: evidence with its dates and what speaks against it, never prose.

use serde::{Deserialize, Serialize};

use super::{CivilTime, Layer, MemoryRecord, RecordStatus, Role};
use crate::name::MemoryId;

/// How what was found is ordered.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum SearchMode {
    /// Best first.
    #[default]
    Relevance,
    /// Latest first.
    Time,
}

impl SearchMode {
    /// Whether it is the one that is meant where none is named.
    #[must_use]
    pub fn is_default(&self) -> bool {
        *self == Self::default()
    }
}

/// What a ranker is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct MemorySearch<'a> {
    /// What to look for.
    pub query: &'a str,
    /// The most hits to return.
    pub limit: u32,
    /// The phone's time.
    pub now: &'a CivilTime,
}

/// A record that a ranker found.
#[derive(Debug, Clone, PartialEq)]
pub struct Hit {
    /// Which.
    pub id: MemoryId,
    /// How well it fits, 0 to 1.
    pub score: f64,
    /// Records that say something else, as far as the ranker knows.
    pub conflicts: Vec<MemoryId>,
    /// Whether it reads as if it gave orders to the assistant.
    pub instruction_like: bool,
}

/// One remembered thing, as a planner sees it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct MemoryItem {
    /// Its opaque id.
    pub id: MemoryId,
    /// The text, quoted: what somebody once said, not an instruction.
    pub content: String,
    /// A short name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// What kind of thing it is.
    pub layer: Layer,
    /// A category, where there is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// Whose word it is.
    pub source: Role,
    /// When it was written down.
    pub created: CivilTime,
    /// The last moment at which it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<CivilTime>,
    /// When the user is to be reminded of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<CivilTime>,
    /// Whether it holds, and whether another contradicts it.
    pub status: RecordStatus,
    /// How well it fits the query, 0 to 1; absent for what is served always.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<f64>,
    /// The records that contradict it.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub conflicts: Vec<MemoryId>,
    /// Whether it reads as if it gave orders to the assistant. It is evidence all the same, and no order.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub instruction_like: bool,
}

impl MemoryItem {
    /// A record as a planner sees it at a moment.
    #[must_use]
    pub fn of(record: &MemoryRecord, now: &CivilTime) -> Self {
        Self {
            id: record.id.clone(),
            content: record.content.clone(),
            title: record.title.clone(),
            layer: record.layer,
            category: record.category.clone(),
            source: record.source,
            created: record.created.clone(),
            valid_until: record.valid_until.clone(),
            due: record.due.clone(),
            status: record.status(now),
            score: None,
            conflicts: Vec::new(),
            instruction_like: false,
        }
    }
}

/// What was found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct MemoryLedger {
    /// The items in the order that was asked for; empty: nothing fits well enough.
    pub items: Vec<MemoryItem>,
}
