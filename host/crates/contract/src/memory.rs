//! Memory inside an episode: records that are documents of the world's collection [`COLLECTION`], what writes them, and the ports behind
//! which a memory across episodes stands. It knows no store, no index and no clock: the moment is passed in.
//!
//! The collection is the host's. No plugin owns it and none is granted it, so that tools cannot write what the user is taken to have said;
//! verifiers see it as they see any collection. Because it is part of the world, a fork has its own, a replay needs no store, and what an
//! episode remembers reaches a store only when somebody hands it over ([`Remember`]).

mod civil;
mod ledger;
mod port;
mod propose;
mod record;
mod table;

#[cfg(test)]
mod tests;

use serde::{Deserialize, Serialize};

pub use civil::{CivilError, CivilTime};
pub use ledger::{Hit, MemoryItem, MemoryLedger, MemorySearch, SearchMode};
pub use port::{Captured, Forget, LaidIn, MemoryChange, MemorySnapshot, MemoryUse, Ranker, Remember};
pub use propose::{ProposedClaim, ProposedMemory, Proposer, TextModel};
pub use record::{
    CATEGORY_BYTES_MAX, MemoryRecord, RecordError, RecordStatus, TAG_BYTES_MAX, TAGS_MAX, TITLE_BYTES_MAX, record_of,
};
pub use table::{MemoryTable, MemoryWrite, NewMemory, REMINDERS_MAX, remind, reminder, write};

/// The collection of an episode's world that holds its memory, one document for each record, under the record's id.
pub const COLLECTION: &str = "memory";
/// The fields of a record that say when something was done to it: they decide no verdict.
pub const BOOKKEEPING: [&str; 3] = ["/created", "/fired", "/updated"];
/// Records that an episode's memory may begin with. What a snapshot has more is left out, and counted.
pub const RECORDS_MAX: usize = 4_096;
/// Records that one episode may add to its memory.
pub const ADDED_MAX: usize = 64;
/// The most items that one search returns.
pub const SEARCH_LIMIT_MAX: u32 = 20;
/// The items that a search returns when it does not say how many.
pub const SEARCH_LIMIT_DEFAULT: u32 = 5;

/// What kind of thing is remembered.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Layer {
    /// Stable preferences and standing instructions of the user. Always served.
    Profile,
    /// What was said and done.
    Episodic,
    /// Facts and decisions, distilled.
    LongTerm,
    /// What is to be done, and when. Served when it is due.
    Prospective,
}

/// What a speaker is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Role {
    /// The user whose memory it is.
    User,
    /// Another person.
    Other,
    /// The assistant.
    Assistant,
    /// A tool's result.
    Tool,
    /// Instructions of the system.
    System,
    /// Something that was recalled from this memory.
    Memory,
}

/// Turns texts into vectors.
pub trait Embedder: Send + Sync {
    /// The model and its digest: vectors of different fingerprints are not compared.
    fn fingerprint(&self) -> &str;

    /// Numbers in a vector.
    fn width(&self) -> usize;

    /// Whether the model knows the language of the text. Vectors of texts that it does not know mean nothing.
    fn covers(&self, text: &str) -> bool;

    /// One vector of unit length for each text.
    ///
    /// # Errors
    /// [`MemoryError`] when the model fails.
    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, MemoryError>;
}

/// Why the memory did not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("memory: {0}")]
pub struct MemoryError(pub String);
