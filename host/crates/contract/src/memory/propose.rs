//! The ports of models that work for a memory beside episodes. What they say is data that nobody believes before it was verified.

use serde::{Deserialize, Serialize};

use super::{Layer, MemoryError, Role};

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
