//! One record of an episode's memory, and how it lies in its document.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::{CivilTime, Layer, Role};
use crate::limits::MESSAGE_BYTES_MAX;
use crate::name::MemoryId;

/// Bytes of a category.
pub const CATEGORY_BYTES_MAX: usize = 64;
/// Bytes of a title.
pub const TITLE_BYTES_MAX: usize = 256;
/// Tags of one record.
pub const TAGS_MAX: usize = 16;
/// Bytes of a tag.
pub const TAG_BYTES_MAX: usize = 64;

/// Why a document is no record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum RecordError {
    /// It does not have a record's form.
    #[error("document `{key}` of the memory is not a record: {reason}")]
    Form {
        /// Its key.
        key: String,
        /// What was found.
        reason: String,
    },
    /// It says that it is another one.
    #[error("document `{key}` of the memory says that its id is `{id}`: expected its key")]
    Key {
        /// Its key.
        key: String,
        /// The id in it.
        id: MemoryId,
    },
    /// A field is too long.
    #[error("`{field}` has {found} {unit}: expected 1 to {limit}")]
    Length {
        /// Which field.
        field: &'static str,
        /// How long it is.
        found: usize,
        /// Bytes or tags.
        unit: &'static str,
        /// The most it may have.
        limit: usize,
    },
}

/// Whether a record still holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RecordStatus {
    /// It holds.
    Current,
    /// Another one of the same claim holds too, and says something else.
    Contested,
    /// A later one took its place.
    Superseded,
    /// Its time is over.
    Expired,
    /// It was to be done, and is done.
    Completed,
}

/// One remembered thing. Times are the phone's.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct MemoryRecord {
    /// Opaque: it says nothing of what it stands for.
    pub id: MemoryId,
    /// What kind of thing it is.
    pub layer: Layer,
    /// A category, such as `routines_habits`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub category: Option<String>,
    /// What is remembered, in its own language.
    pub content: String,
    /// A short name.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub title: Option<String>,
    /// Words to find it by.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub tags: Vec<String>,
    /// Whose word it is.
    pub source: Role,
    /// When it was written down.
    pub created: CivilTime,
    /// When it was last changed.
    pub updated: CivilTime,
    /// The last moment at which it holds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub valid_until: Option<CivilTime>,
    /// When the user is to be reminded of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub due: Option<CivilTime>,
    /// When the user was reminded of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub fired: Option<CivilTime>,
    /// Whether what was to be done is done.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub completed: bool,
    /// The one whose place it took.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub supersedes: Option<MemoryId>,
    /// The one that took its place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub superseded_by: Option<MemoryId>,
    /// What it is a statement about, where that is known. Two current records of one claim contradict each other unless they say the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub claim: Option<String>,
}

impl MemoryRecord {
    /// Whether it holds at a moment.
    #[must_use]
    pub fn status(&self, now: &CivilTime) -> RecordStatus {
        if self.superseded_by.is_some() {
            RecordStatus::Superseded
        } else if self.completed {
            RecordStatus::Completed
        } else if self.valid_until.as_ref().is_some_and(|until| until < now) {
            RecordStatus::Expired
        } else {
            RecordStatus::Current
        }
    }

    /// Whether it is found by a search that does not ask for history.
    #[must_use]
    pub fn is_current(&self, now: &CivilTime) -> bool {
        self.status(now) == RecordStatus::Current
    }

    /// Whether both are statements about the same thing that differ.
    #[must_use]
    pub fn contradicts(&self, other: &Self) -> bool {
        self.id != other.id && self.claim.is_some() && self.claim == other.claim && self.content != other.content
    }

    /// The document that it is in the world.
    #[must_use]
    pub fn document(&self) -> Value {
        // No field of a record is unwritable.
        serde_json::to_value(self).unwrap_or(Value::Null)
    }

    /// Checks the lengths that its form does not.
    ///
    /// # Errors
    /// [`RecordError::Length`] with the first field that is too long or empty.
    pub fn check(&self) -> Result<(), RecordError> {
        let text = |field, text: &str, limit| length(field, text.len(), "bytes", limit);
        text("content", &self.content, MESSAGE_BYTES_MAX)?;
        let optional = |field, value: &Option<String>, limit| match value {
            Some(value) => text(field, value, limit),
            None => Ok(()),
        };
        optional("memoryCategory", &self.category, CATEGORY_BYTES_MAX)?;
        optional("title", &self.title, TITLE_BYTES_MAX)?;
        optional("claim", &self.claim, TITLE_BYTES_MAX)?;
        if !self.tags.is_empty() {
            length("tags", self.tags.len(), "tags", TAGS_MAX)?;
        }
        self.tags.iter().try_for_each(|tag| text("tags", tag, TAG_BYTES_MAX))
    }
}

fn length(field: &'static str, found: usize, unit: &'static str, limit: usize) -> Result<(), RecordError> {
    if (1..=limit).contains(&found) { Ok(()) } else { Err(RecordError::Length { field, found, unit, limit }) }
}

/// Reads the record that a document of the memory is.
///
/// # Errors
/// [`RecordError`] when it has another form, another id than its key, or a field that is too long.
pub fn record_of(key: &str, document: Value) -> Result<MemoryRecord, RecordError> {
    let record: MemoryRecord = serde_json::from_value(document)
        .map_err(|error| RecordError::Form { key: key.to_owned(), reason: error.to_string() })?;
    if record.id != *key {
        return Err(RecordError::Key { key: key.to_owned(), id: record.id });
    }
    record.check()?;
    Ok(record)
}
