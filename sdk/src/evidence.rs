//! What a verifier sees: state at several moments, and what was done.

use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::call::{Actor, ToolCall};
use crate::host::{EvidencePort, SnapshotPort};
use crate::json::Json;
use crate::phone::{Level, read, typed_page};
use crate::query::Query;
use crate::state::{Doc, Page, StateError};
use crate::time::Instant;

/// How many changes or steps one request to the host asks for.
const PAGE: u32 = 256;

/// What happened, as the host recorded it. Read-only, and the only thing that a verifier can see.
#[derive(Debug)]
pub struct Evidence {
    port: EvidencePort,
}

impl Evidence {
    pub(crate) fn new(port: EvidencePort) -> Self {
        Self { port }
    }

    /// State when the episode began.
    pub fn initial(&self) -> Snapshot {
        Snapshot(self.port.initial())
    }

    /// State after the first `count` steps; 0 is the initial state. None when there were fewer.
    pub fn after(&self, count: u32) -> Option<Snapshot> {
        self.port.after(count).map(Snapshot)
    }

    /// State that the task's gold actions lead to, where the task has gold.
    pub fn target(&self) -> Option<Snapshot> {
        self.port.target().map(Snapshot)
    }

    /// All documents that differ from `a` to `b`, ordered by collection and key.
    pub fn changes(&self, a: &Snapshot, b: &Snapshot, bookkeeping: Bookkeeping) -> Vec<Change> {
        let (mut changes, mut cursor) = (Vec::new(), Some(0));
        while let Some(from) = cursor {
            let (mut page, next) = self.port.changes(&a.0, &b.0, bookkeeping, from, PAGE);
            changes.append(&mut page);
            cursor = next;
        }
        changes
    }

    /// Why `a` and `b` are not the same, at most 16 lines; empty when they are. Same: equal up to a renaming of ids that the host issued
    /// in the episode, without bookkeeping fields, leaving out whole collections named in `except`.
    pub fn differences(&self, a: &Snapshot, b: &Snapshot, except: &[String]) -> Vec<String> {
        self.port.differences(&a.0, &b.0, except)
    }

    /// How many steps there are.
    pub fn step_count(&self) -> u32 {
        self.port.step_count()
    }

    /// At most `limit` steps from `start`. The host answers at most 256 at once; this asks as often as needed.
    pub fn steps(&self, start: u32, limit: u32) -> Vec<Step> {
        let mut steps = Vec::new();
        let (mut from, mut left) = (start, limit);
        while left > 0 {
            let mut page = self.port.steps(from, left.min(PAGE));
            let Some(count) = u32::try_from(page.len()).ok().filter(|count| *count > 0) else {
                break;
            };
            steps.append(&mut page);
            from = from.saturating_add(count);
            left = left.saturating_sub(count);
        }
        steps
    }

    /// Writes one line to the host's trace.
    pub fn log(&self, level: Level, message: &str) {
        self.port.log(level, message);
    }
}

/// All state at one moment.
#[derive(Debug)]
pub struct Snapshot(SnapshotPort);

impl Snapshot {
    /// One document, or none.
    ///
    /// # Errors
    /// When a name is malformed or the document does not fit `T`.
    pub fn get<T: DeserializeOwned>(&self, collection: &str, key: &str) -> Result<Option<T>, StateError> {
        let found = self.0.get(collection, key)?;
        found.map(|text| read(collection, key, &text)).transpose()
    }

    /// One page of the documents that match.
    ///
    /// # Errors
    /// As [`get`](Self::get), and when the query breaks a limit.
    pub fn find<T: DeserializeOwned>(&self, collection: &str, query: &Query) -> Result<Page<T>, StateError> {
        typed_page(collection, self.0.find(collection, query)?)
    }

    /// All documents that match, page by page.
    ///
    /// # Errors
    /// As [`find`](Self::find).
    pub fn find_all<T: DeserializeOwned>(&self, collection: &str, query: &Query) -> Result<Vec<Doc<T>>, StateError> {
        let mut page = self.find(collection, query)?;
        let mut docs = page.docs;
        while let Some(cursor) = page.next {
            page = self.find(collection, &query.clone().after(cursor))?;
            docs.append(&mut page.docs);
        }
        Ok(docs)
    }

    /// The names of all collections, sorted.
    pub fn collections(&self) -> Vec<String> {
        self.0.collections()
    }

    /// The digest of the state, 32 bytes: equal digests mean equal documents.
    pub fn digest(&self) -> Vec<u8> {
        self.0.digest()
    }
}

/// Whether fields that record who touched a document and when count as changes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Bookkeeping {
    /// They count.
    Included,
    /// They do not.
    Ignored,
}

/// A document that differs between two snapshots.
#[derive(Clone, Debug)]
pub struct Change {
    /// Its collection.
    pub collection: String,
    /// Its key.
    pub key: String,
    /// As it was; none: it did not exist.
    pub before: Option<Json>,
    /// As it is; none: it is gone.
    pub after: Option<Json>,
}

/// What was done in a step.
#[derive(Clone, Debug)]
pub enum Action {
    /// A tool was called.
    Call(ToolCall),
    /// The user was asked this.
    Ask(String),
    /// The agent refused, for this reason.
    Refuse(String),
    /// The agent finished, with this claim: `{"answer": text, ...}`.
    Finish(Json),
    /// Another action: its name, such as `load-skill`, and what it carried.
    Other(String, Json),
}

/// One thing that was done, with what came of it.
#[derive(Clone, Debug)]
pub struct Step {
    /// From 0, without gaps.
    pub index: u32,
    /// The turn it belongs to, from 0.
    pub turn: u32,
    /// When.
    pub at: Instant,
    /// By whom.
    pub by: Actor,
    /// What.
    pub action: Action,
    /// Whether it did what was asked.
    pub ok: bool,
    /// What the planner was told: for calls the one result envelope.
    pub answer: Json,
}

impl Step {
    /// The call, where the step is one.
    pub fn call(&self) -> Option<&ToolCall> {
        match &self.action {
            Action::Call(call) => Some(call),
            _ => None,
        }
    }

    /// The claimed answer, where the step is the finish and claims one in words.
    pub fn claim(&self) -> Option<String> {
        match &self.action {
            Action::Finish(claim) => match claim.parse::<Value>().ok()?.get("answer")? {
                Value::String(answer) => Some(answer.clone()),
                _ => None,
            },
            _ => None,
        }
    }
}
