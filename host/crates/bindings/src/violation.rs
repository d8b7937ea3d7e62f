//! What is wrong with a value that crossed the contract.

/// A value that the contract does not allow: where it stood, what was expected and what was found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{at}: {what}")]
pub struct Violation {
    /// Where, such as `tools[2].arguments-schema`.
    pub at: String,
    /// What was expected and what was found.
    pub what: String,
}

impl Violation {
    /// A violation at a place.
    pub fn new(at: impl Into<String>, what: impl std::fmt::Display) -> Self {
        Self { at: at.into(), what: what.to_string() }
    }

    /// The same violation, seen from one level up.
    #[must_use]
    pub fn within(self, outer: impl std::fmt::Display) -> Self {
        Self { at: format!("{outer}.{}", self.at), ..self }
    }
}
