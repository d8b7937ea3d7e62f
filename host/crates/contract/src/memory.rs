//! The memory as the harness sees it: a read port and a write port.

use serde::{Deserialize, Serialize};

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

/// A language model as text in, text out: for work beside episodes, such as proposing what is worth remembering.
pub trait TextModel: Send + Sync {
    /// What decides its answers: the model, where it runs and how it samples.
    fn fingerprint(&self) -> String;

    /// The answer to one request.
    ///
    /// # Errors
    /// [`MemoryError`] when there is no answer.
    fn complete(&self, system: &str, request: &str, seed: u64) -> Result<String, MemoryError>;
}

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

/// What a model would claim.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProposedClaim {
    /// Of whom or what: `user`, or a name.
    pub subject: String,
    /// What is said, such as `lives_in`.
    pub predicate: String,
    /// What keeps claims of one predicate apart.
    #[serde(default)]
    pub qualifier: Option<String>,
    /// The value, as the quote has it.
    pub value: String,
    /// Whether values add up.
    #[serde(default)]
    pub set: bool,
    /// The claim is that the value does not hold (any more).
    #[serde(default)]
    pub negated: bool,
}

/// What a model would remember of a message: data that nobody believes before it was verified.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ProposedMemory {
    /// Where it would belong.
    pub layer: Layer,
    /// A category, where the model names one.
    #[serde(default)]
    pub category: Option<String>,
    /// The words of the message that it rests on, byte for byte.
    pub quote: String,
    /// What it claims.
    #[serde(default)]
    pub claim: Option<ProposedClaim>,
    /// Whether it is a plan: "Friday" is then the next one.
    #[serde(default)]
    pub future: bool,
}

/// Proposes what to remember of a message: a model.
pub trait Proposer: Send + Sync {
    /// What is worth keeping of what somebody in that role said.
    ///
    /// # Errors
    /// [`MemoryError`] when the model fails.
    fn propose(&self, text: &str, role: Role) -> Result<Vec<ProposedMemory>, MemoryError>;
}
