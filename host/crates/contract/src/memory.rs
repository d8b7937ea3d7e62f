//! The memory as the harness sees it: a read port and a write port.

use serde::{Deserialize, Serialize};

/// One remembered thing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct MemoryItem {
    /// An opaque id.
    pub id: String,
    /// The text.
    pub content: String,
    /// A category, where there is one.
    pub category: Option<String>,
    /// How well it fits the query, 0 to 1.
    pub score: f64,
}

/// Why the memory did not answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("memory: {0}")]
pub struct MemoryError(pub String);

/// Finds what was remembered.
pub trait Recall: Send + Sync {
    /// The items that fit `query` best, best first, at most `limit`.
    ///
    /// # Errors
    /// [`MemoryError`] when the store cannot be read.
    fn recall(&self, query: &str, limit: u32) -> Result<Vec<MemoryItem>, MemoryError>;
}

/// Keeps things. What an episode remembers is committed after it was verified.
pub trait Remember: Send + Sync {
    /// Keeps one thing and returns its id.
    ///
    /// # Errors
    /// [`MemoryError`] when the store cannot be written.
    fn remember(&self, content: &str, category: Option<&str>) -> Result<String, MemoryError>;
}
