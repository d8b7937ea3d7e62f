//! The ports behind which a memory across episodes stands.

use serde::{Deserialize, Serialize};

use super::{CivilTime, Hit, MemoryError, MemoryRecord, MemorySearch};
use crate::digest::MemoryDigest;
use crate::name::{EpisodeId, Lang, MemoryId, TaskId};
use crate::tool::ToolCall;

/// Finds records of an episode's memory.
pub trait Ranker: Send + Sync {
    /// What the ranking depends on: method, version, models. Trajectories name it, and a replay ranks anew only with an equal one.
    fn fingerprint(&self) -> &str;

    /// Those of `records` that fit, best first; empty when nothing fits well enough. All of them hold at the moment of the search, and are
    /// sorted by id. The answer depends on the arguments alone.
    ///
    /// # Errors
    /// [`MemoryError`] when a model fails. The planner is told that the memory does not answer.
    fn rank(&self, search: &MemorySearch<'_>, records: &[MemoryRecord]) -> Result<Vec<Hit>, MemoryError>;
}

/// A user's memory as it was at one moment, to be laid over a task's world.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemorySnapshot {
    /// Of the store's content that the records were taken from.
    pub digest: MemoryDigest,
    /// The records, at most [`RECORDS_MAX`](super::RECORDS_MAX).
    pub records: Vec<MemoryRecord>,
    /// Records of the store that are not among them.
    pub left_out: u32,
}

/// A snapshot that an episode began with, as its header names it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LaidIn {
    /// Of the store's content.
    pub digest: MemoryDigest,
    /// Records that were laid in.
    pub loaded: u32,
    /// Records that were left out.
    pub left_out: u32,
}

/// What an episode had of memory beyond its task.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MemoryUse {
    /// The snapshot, where there was one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot: Option<LaidIn>,
    /// What ranked, where it was not the harness itself.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ranker: Option<String>,
}

/// What an episode did to one record.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MemoryChange {
    /// Which.
    pub id: MemoryId,
    /// As it was when the episode began; absent: the episode added it.
    pub before: Option<MemoryRecord>,
    /// As it is now; absent: it was removed. Its `superseded_by` may name a record that was removed since: it is history all the same.
    pub after: Option<MemoryRecord>,
}

/// A verified trajectory in short, to be remembered as something that was done.
#[derive(Debug, Clone, PartialEq)]
pub struct Captured {
    /// The episode: the same one is kept once.
    pub episode: EpisodeId,
    /// Its task.
    pub task: TaskId,
    /// The language of the request.
    pub lang: Lang,
    /// What the user said.
    pub request: String,
    /// The calls that succeeded and changed something, in order.
    pub done: Vec<ToolCall>,
    /// What the user was told at the end.
    pub answer: String,
    /// Nanoseconds since 1970 on the episode's clock when the request was made.
    pub at_ns: u64,
    /// The phone's zone.
    pub zone: String,
}

/// Keeps what episodes remember. It is handed verified episodes that passed, and never a replay or a member of a group.
pub trait Remember: Send + Sync {
    /// Carries one change over. Changes come in the order in which their records were made, removals last; a change that was carried over
    /// before, as a removal that [`Forget`] already made, is no error.
    ///
    /// # Errors
    /// [`MemoryError`] when the store cannot be written.
    fn change(&self, change: &MemoryChange) -> Result<(), MemoryError>;

    /// Keeps what was done.
    ///
    /// # Errors
    /// [`MemoryError`] when the store cannot be written.
    fn capture(&self, captured: &Captured) -> Result<(), MemoryError>;
}

/// Removes a record of the user's memory for good, at once: the user said so and does not wait for a verdict.
pub trait Forget: Send + Sync {
    /// Removes it with everything that was derived from it. One that is gone already is no error.
    ///
    /// # Errors
    /// [`MemoryError`] when the store cannot be written; the episode is void then, because the user was promised something.
    fn forget(&self, id: &MemoryId, at: &CivilTime) -> Result<(), MemoryError>;
}
