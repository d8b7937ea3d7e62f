//! Tasks: a request, the world it is made in, the gold actions and the checks.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::action::Action;
use crate::digest::TaskDigest;
use crate::json::canonical_of;
use crate::limits::EpisodeBudget;
use crate::name::{Lang, PluginName, TaskId, ToolName};

/// A change to a world's documents before an episode begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "edit")]
pub enum DocumentEdit {
    /// Creates or replaces a document.
    Put {
        /// Its collection.
        collection: String,
        /// Its key.
        key: String,
        /// The document.
        value: Value,
    },
    /// Merges into an existing document (RFC 7396).
    Patch {
        /// Its collection.
        collection: String,
        /// Its key.
        key: String,
        /// What to merge.
        value: Value,
    },
    /// Removes a document.
    Delete {
        /// Its collection.
        collection: String,
        /// Its key.
        key: String,
    },
}

/// Where and when an episode begins.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Start {
    /// Nanoseconds since 1970-01-01T00:00:00Z.
    #[serde(with = "crate::wide")]
    pub now_ns: u64,
    /// An IANA zone name.
    pub zone: String,
    /// Seeds the world's random streams.
    #[serde(with = "crate::wide")]
    pub seed: u64,
}

/// Something that the user knows and tells when asked.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Slot {
    /// Its name.
    pub name: String,
    /// A question that contains one of these, after case folding, is a question for this slot.
    pub asked_by: Vec<String>,
    /// What the user then says.
    pub answer: String,
}

/// A call that the user agrees to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Consent {
    /// The tool.
    pub tool: ToolName,
    /// Equal arguments by JSON value; absent: any.
    pub arguments: Option<Value>,
}

/// The scripted user.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct UserScript {
    /// Revealed on request.
    pub slots: Vec<Slot>,
    /// The calls that the user confirms; every other one is declined.
    pub consents: Vec<Consent>,
}

/// A check: a verifier and what it should check.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Check {
    /// The verifier plugin.
    pub verifier: PluginName,
    /// In the verifier's own form.
    pub check: Value,
}

/// Which part of a pack a task belongs to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Split {
    /// For training.
    Train,
    /// For choosing.
    Dev,
    /// For reporting.
    Test,
}

/// Where a task comes from.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Provenance {
    /// The pack or project.
    pub source: String,
    /// Its licence (SPDX).
    pub licence: String,
    /// The digest of the source, where it was a file.
    pub source_hash: Option<String>,
    /// What was done to it.
    pub transform: String,
}

/// One task.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Task {
    /// Unique in its pack.
    pub id: TaskId,
    /// Instances of one family differ in parameters only.
    pub family: String,
    /// What kind of task it is, such as `conditional` or `must_refuse`.
    pub category: String,
    /// Its part of the pack.
    pub split: Split,
    /// The language of the request.
    pub lang: Lang,
    /// What the user says.
    pub request: String,
    /// The environment plugin.
    pub environment: PluginName,
    /// The environment's own configuration.
    #[serde(default)]
    pub setup: Value,
    /// Where and when it begins.
    pub start: Start,
    /// A world of the pack, by name, that the edits are laid over; absent: the installed plugins' initial documents.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<String>,
    /// Laid over the initial documents, in this order.
    #[serde(default)]
    pub edits: Vec<DocumentEdit>,
    /// The scripted user.
    #[serde(default)]
    pub user: UserScript,
    /// Decisions that solve the task, one inner list for each. Never visible to an agent.
    #[serde(default)]
    pub gold: Vec<Vec<Action>>,
    /// All must pass.
    pub checks: Vec<Check>,
    /// What the episode may use.
    #[serde(default)]
    pub budget: EpisodeBudget,
    /// Where it comes from.
    #[serde(default)]
    pub provenance: Provenance,
}

impl Task {
    /// The digest of the task's canonical text.
    #[must_use]
    pub fn digest(&self) -> TaskDigest {
        // No field of a task is unwritable.
        let text = canonical_of(self).unwrap_or_else(|_| "null".to_owned());
        TaskDigest::of(text.as_bytes())
    }
}
