//! What an agent may do to an episode's memory. One function runs every write, for live episodes and for the replay of a gold alike.

use std::collections::BTreeMap;

use serde_json::{Value, json};

use super::{ADDED_MAX, CivilTime, Layer, MemoryRecord, RecordStatus, Role};
use crate::action::{Action, reserved};
use crate::environment::Reply;
use crate::name::{CallId, MemoryId, NameError, ToolName};
use crate::state::StateError;
use crate::tool::{Failure, Success, ToolCall};

/// Reminders that are shown at one moment; the others wait for the next.
pub const REMINDERS_MAX: usize = 16;

/// The records of one world.
pub trait MemoryTable {
    /// All records by id.
    ///
    /// # Errors
    /// [`StateError`] when a document of the memory is no record.
    fn records(&self) -> Result<BTreeMap<MemoryId, MemoryRecord>, StateError>;

    /// Creates or replaces a record.
    ///
    /// # Errors
    /// [`StateError::Limit`] when the world holds too much.
    fn put(&mut self, record: &MemoryRecord) -> Result<(), StateError>;

    /// Removes a record.
    ///
    /// # Errors
    /// [`StateError`] of the world.
    fn remove(&mut self, id: &MemoryId) -> Result<(), StateError>;

    /// An id that no record has. It depends on nothing but what was asked for before.
    ///
    /// # Errors
    /// [`StateError::Limit`] when there are no more.
    fn next_id(&mut self) -> Result<MemoryId, StateError>;

    /// How many ids were issued in this episode.
    fn issued(&self) -> usize;
}

/// A record before it has an id.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NewMemory {
    /// What to keep.
    pub content: String,
    /// A category.
    pub category: Option<String>,
    /// A short name.
    pub title: Option<String>,
    /// Words to find it by.
    pub tags: Vec<String>,
    /// The last moment at which it holds.
    pub valid_until: Option<CivilTime>,
}

/// A change of the memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum MemoryWrite {
    /// Keeps something.
    Add(NewMemory),
    /// Puts a new record in the place of another, which stays, marked.
    Replace {
        /// The other one.
        memory: MemoryId,
        /// What holds now.
        content: String,
    },
    /// Removes a record for good. It needs the user's confirmation of exactly it.
    Remove {
        /// Which.
        memory: MemoryId,
    },
}

impl MemoryWrite {
    /// The write that an action is; none for actions that leave the memory as it is.
    #[must_use]
    pub fn of(action: &Action) -> Option<Self> {
        match action {
            Action::Remember { content, category, title, tags, valid_until } => Some(Self::Add(NewMemory {
                content: content.clone(),
                category: category.clone(),
                title: title.clone(),
                tags: tags.clone(),
                valid_until: valid_until.clone(),
            })),
            Action::Replace { memory, content } => {
                Some(Self::Replace { memory: memory.clone(), content: content.clone() })
            }
            Action::Forget { memory, .. } => Some(Self::Remove { memory: memory.clone() }),
            _ => None,
        }
    }

    /// The removal of a record as the call that a user confirms: `remove_user_memory {memoryId}`.
    ///
    /// # Errors
    /// None: the name is well-formed. The type says it, so that no caller has to believe it.
    pub fn removal(id: CallId, memory: &MemoryId) -> Result<ToolCall, NameError> {
        let tool = ToolName::new(reserved::FORGET)?;
        Ok(ToolCall { id, tool, arguments: json!({"memoryId": memory.as_str()}) })
    }
}

/// Runs a write at a moment. `confirmed`: whether the user agreed to exactly this removal. What the planner did wrong is in the reply; only
/// of [`Reply::Done`] is anything to be kept, since a world may turn out to be full between two documents.
///
/// # Errors
/// [`StateError`] when the world cannot be read or written, limits aside. The caller undoes what was written until then.
pub fn write(
    table: &mut dyn MemoryTable,
    write: &MemoryWrite,
    now: &CivilTime,
    confirmed: bool,
) -> Result<Reply, StateError> {
    let done = match write {
        MemoryWrite::Add(new) => add(table, new, now),
        MemoryWrite::Replace { memory, content } => replace(table, memory, content, now),
        MemoryWrite::Remove { memory } => remove(table, memory, confirmed),
    };
    match done {
        Err(StateError::Limit(what)) => Ok(failed(429, format!("the memory is full: {what}"))),
        done => done,
    }
}

fn failed(code: u16, message: String) -> Reply {
    Reply::Failed(Failure::new(code, message))
}

fn done(message: &str, data: Value) -> Reply {
    Reply::Done(Success { message: message.to_owned(), data })
}

/// Profile facts are served always; what an agent was told of the rest is found by searching.
fn layer_of(category: Option<&str>) -> Layer {
    match category {
        Some("user_profile") => Layer::Profile,
        _ => Layer::LongTerm,
    }
}

fn add(table: &mut dyn MemoryTable, new: &NewMemory, now: &CivilTime) -> Result<Reply, StateError> {
    if new.valid_until.as_ref().is_some_and(|until| until < now) {
        return Ok(failed(400, format!("`validUntil` has passed: it is {now} on the phone")));
    }
    let content = new.content.trim();
    let records = table.records()?;
    // The same thing told twice is one thing.
    let same = records
        .values()
        .find(|record| record.is_current(now) && record.content == content && record.category == new.category);
    if let Some(same) = same {
        return Ok(done("kept already", json!({"memoryId": same.id.as_str(), "changed": false})));
    }
    if let Some(full) = full(table) {
        return Ok(full);
    }
    let record = MemoryRecord {
        // Any id will do for the check; one is drawn only for what is kept.
        id: MemoryId::new("-").map_err(|error| StateError::Other(error.to_string()))?,
        layer: layer_of(new.category.as_deref()),
        category: new.category.clone(),
        content: content.to_owned(),
        title: new.title.clone(),
        tags: new.tags.clone(),
        source: Role::Assistant,
        created: now.clone(),
        updated: now.clone(),
        valid_until: new.valid_until.clone(),
        due: None,
        fired: None,
        completed: false,
        supersedes: None,
        superseded_by: None,
        claim: None,
    };
    if let Err(error) = record.check() {
        return Ok(failed(400, error.to_string()));
    }
    let record = MemoryRecord { id: table.next_id()?, ..record };
    table.put(&record)?;
    Ok(done("kept", json!({"memoryId": record.id.as_str(), "changed": true})))
}

fn full(table: &dyn MemoryTable) -> Option<Reply> {
    (table.issued() >= ADDED_MAX).then(|| failed(429, format!("at most {ADDED_MAX} things are kept in one episode")))
}

fn absent(memory: &MemoryId) -> Reply {
    failed(404, format!("there is no memory `{memory}`; search_user_memory returns the ids of those that there are"))
}

fn replace(
    table: &mut dyn MemoryTable,
    memory: &MemoryId,
    content: &str,
    now: &CivilTime,
) -> Result<Reply, StateError> {
    let records = table.records()?;
    let Some(old) = records.get(memory) else { return Ok(absent(memory)) };
    if let Some(later) = &old.superseded_by {
        return Ok(failed(409, format!("memory `{memory}` was replaced already, by `{later}`")));
    }
    let content = content.trim();
    if old.content == content && old.status(now) == RecordStatus::Current {
        return Ok(done("it says that already", json!({"memoryId": memory.as_str(), "changed": false})));
    }
    if let Some(full) = full(table) {
        return Ok(full);
    }
    let mut new = MemoryRecord {
        content: content.to_owned(),
        source: Role::Assistant,
        created: now.clone(),
        updated: now.clone(),
        // What has passed does not hold for what is said now.
        valid_until: old.valid_until.clone().filter(|until| until >= now),
        due: old.due.clone().filter(|_| old.fired.is_none()),
        fired: None,
        completed: false,
        supersedes: Some(memory.clone()),
        ..old.clone()
    };
    if let Err(error) = new.check() {
        return Ok(failed(400, error.to_string()));
    }
    new.id = table.next_id()?;
    table.put(&new)?;
    table.put(&MemoryRecord { superseded_by: Some(new.id.clone()), updated: now.clone(), ..old.clone() })?;
    let data = json!({"memoryId": new.id.as_str(), "replaced": memory.as_str(), "changed": true});
    Ok(done("replaced", data))
}

fn remove(table: &mut dyn MemoryTable, memory: &MemoryId, confirmed: bool) -> Result<Reply, StateError> {
    let records = table.records()?;
    let Some(record) = records.get(memory) else { return Ok(absent(memory)) };
    if !confirmed {
        let message =
            format!("{} needs the user's confirmation: ask the user, then repeat the same call", reserved::FORGET);
        let data = Some(json!({"confirmation": true, "content": record.content}));
        return Ok(Reply::NeedsConfirmation(Failure { code: 423, message, data }));
    }
    table.remove(memory)?;
    // Nothing points at what is gone, and what it replaced is history still.
    for other in records.values() {
        let mut kept = other.clone();
        if kept.supersedes.as_ref() == Some(memory) {
            kept.supersedes = None;
            table.put(&kept)?;
        }
    }
    Ok(done("forgotten", json!({"memoryId": memory.as_str()})))
}

/// Marks what is due as fired and returns it, earliest first: at most [`REMINDERS_MAX`] records, each once.
///
/// # Errors
/// [`StateError`] when the world cannot be read or written.
pub fn remind(table: &mut dyn MemoryTable, now: &CivilTime) -> Result<Vec<MemoryRecord>, StateError> {
    let is_due = |record: &MemoryRecord| {
        record.fired.is_none() && record.is_current(now) && record.due.as_ref().is_some_and(|due| due <= now)
    };
    let mut due: Vec<MemoryRecord> = table.records()?.into_values().filter(is_due).collect();
    due.sort_by(|left, right| (&left.due, &left.id).cmp(&(&right.due, &right.id)));
    due.truncate(REMINDERS_MAX);
    for record in &mut due {
        record.fired = Some(now.clone());
        record.updated = now.clone();
        table.put(record)?;
    }
    Ok(due)
}

/// The notice that a planner is shown for what became due.
#[must_use]
pub fn reminder(record: &MemoryRecord) -> Value {
    json!({
        "kind": "reminder",
        "memoryId": record.id.as_str(),
        "due": record.due.as_ref().map(CivilTime::as_str),
        "content": record.content,
    })
}
