//! The key of a document in its collection.

use std::{borrow::Borrow, fmt, sync::Arc};

use loopwright_contract::state::StateError;

use crate::{error::over, limits::KEY_BYTES_LIMIT};

/// The key of a document: 1 to 256 bytes of UTF-8 without control characters, ordered by its bytes.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(Arc<str>);

impl Key {
    /// Checks a key and makes a shared copy.
    ///
    /// # Errors
    /// `Invalid` when it is empty or has control characters, `Limit` above [`KEY_BYTES_LIMIT`] bytes.
    pub fn new(text: &str) -> Result<Self, StateError> {
        check(text)?;
        Ok(Self(text.into()))
    }

    /// A value that sorts before every key.
    pub(crate) fn lowest() -> Self {
        Self("".into())
    }

    /// The key as text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

/// Checks a key without keeping it.
pub(crate) fn check(text: &str) -> Result<(), StateError> {
    if text.len() > KEY_BYTES_LIMIT {
        return Err(over("bytes of a key", KEY_BYTES_LIMIT, text.len()));
    }
    if text.is_empty() {
        return Err(StateError::Invalid("key: expected 1 to 256 bytes, found none".into()));
    }
    if text.chars().any(char::is_control) {
        return Err(StateError::Invalid(format!("key {text:?}: control characters are not allowed")));
    }
    Ok(())
}

impl Borrow<str> for Key {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl fmt::Display for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Debug for Key {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Debug::fmt(&*self.0, formatter)
    }
}

impl PartialEq<str> for Key {
    fn eq(&self, other: &str) -> bool {
        &*self.0 == other
    }
}

impl PartialEq<&str> for Key {
    fn eq(&self, other: &&str) -> bool {
        &*self.0 == *other
    }
}
