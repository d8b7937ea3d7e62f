//! One JSON document: immutable, shared, canonical.

use std::sync::{Arc, OnceLock};

use loopwright_contract::{
    json::{self, JsonError, JsonLimits},
    state::StateError,
};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{
    Pointer, canonical,
    error::over,
    limits::{DOCUMENT_BYTES_LIMIT, DOCUMENT_DEPTH_LIMIT},
    slice,
};

/// The profile of every document and every value of a query.
pub(crate) const JSON_LIMITS: JsonLimits =
    JsonLimits { bytes_max: DOCUMENT_BYTES_LIMIT, depth_max: DOCUMENT_DEPTH_LIMIT };

/// A JSON document: canonical text (RFC 8785) behind a shared pointer.
///
/// Cloning copies the pointer. The value and the hash are computed when somebody asks, and then kept: most documents of
/// a world are never changed, never hashed one by one and only ever handed out as text.
#[derive(Clone)]
pub struct Document(Arc<Inner>);

struct Inner {
    text: Box<str>,
    value: OnceLock<Value>,
    hash: OnceLock<[u8; 32]>,
}

impl Document {
    /// Takes JSON text from outside.
    ///
    /// # Errors
    /// `Limit` for text of more than [`DOCUMENT_BYTES_LIMIT`] bytes, `Invalid` for text that is no I-JSON: the message says where.
    pub fn parse(text: &str) -> Result<Self, StateError> {
        if canonical::is_canonical(text) {
            return Ok(Self::trusted(text.into()));
        }
        Self::of_canonical(json::canonical_text(text, &JSON_LIMITS).map_err(refused)?)
    }

    /// Takes a value that was built in memory.
    ///
    /// # Errors
    /// As [`Document::parse`]: a value can hold numbers or nesting that the profile refuses.
    pub fn from_value(value: &Value) -> Result<Self, StateError> {
        Self::parse(&value.to_string())
    }

    /// Takes a value whose numbers are normal already.
    pub(crate) fn from_normal(value: &Value) -> Result<Self, StateError> {
        Self::of_canonical(json::canonical(value))
    }

    fn of_canonical(text: String) -> Result<Self, StateError> {
        if text.len() > DOCUMENT_BYTES_LIMIT {
            return Err(over("bytes of a document", DOCUMENT_BYTES_LIMIT, text.len()));
        }
        Ok(Self::trusted(text.into()))
    }

    fn trusted(text: Box<str>) -> Self {
        Self(Arc::new(Inner { text, value: OnceLock::new(), hash: OnceLock::new() }))
    }

    /// The canonical text; at most [`DOCUMENT_BYTES_LIMIT`] bytes.
    #[must_use]
    pub fn text(&self) -> &str {
        &self.0.text
    }

    /// The document as a value, parsed at the first call and kept.
    #[must_use]
    pub fn value(&self) -> &Value {
        self.0.value.get_or_init(|| parsed(self.text()))
    }

    /// The document as a value of the caller's own.
    pub(crate) fn to_value(&self) -> Value {
        self.0.value.get().cloned().unwrap_or_else(|| parsed(self.text()))
    }

    /// The canonical text of the field that the pointer names, without parsing; `None` when there is no such field.
    #[must_use]
    pub fn text_at(&self, pointer: &Pointer) -> Option<&str> {
        pointer.slice(self.text())
    }

    /// SHA-256 of the canonical text, computed at the first call.
    #[must_use]
    pub fn hash(&self) -> &[u8; 32] {
        self.0.hash.get_or_init(|| Sha256::digest(self.0.text.as_bytes()).into())
    }

    /// Whether both are the same allocation: then they are equal, and nothing need be read to know it.
    #[must_use]
    pub fn is_shared_with(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0)
    }

    /// The document without the named fields; itself when it has none of them.
    #[must_use]
    pub fn without(&self, pointers: &[Pointer]) -> Self {
        let mut cut: Option<String> = None;
        for pointer in pointers {
            if let Some(shorter) = slice::without(cut.as_deref().unwrap_or(self.text()), pointer.names()) {
                cut = Some(shorter);
            }
        }
        cut.map_or_else(|| self.clone(), |text| Self::trusted(text.into()))
    }
}

fn parsed(text: &str) -> Value {
    // Canonical text always parses; null would stand for a fault of this crate, and the property tests would see it.
    serde_json::from_str(text).unwrap_or(Value::Null)
}

/// Turns a refusal of the parser into the state's own error.
pub(crate) fn refused(error: JsonError) -> StateError {
    match error {
        JsonError::TooLong { limit, found } => over("bytes of a document", limit, found),
        other => StateError::Invalid(other.to_string()),
    }
}

impl PartialEq for Document {
    fn eq(&self, other: &Self) -> bool {
        self.is_shared_with(other) || self.text() == other.text()
    }
}

impl Eq for Document {}

impl std::fmt::Debug for Document {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.text())
    }
}

impl std::fmt::Display for Document {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(self.text())
    }
}

impl serde::Serialize for Document {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value().serialize(serializer)
    }
}
