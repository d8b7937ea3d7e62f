//! Bytes that a tool plugin keeps from call to call of an episode: capability `scratch`. How many it may keep is the host's to know.

use core::fmt;

use serde::Serialize;
use serde::de::DeserializeOwned;

use crate::failure::{Code, Failure};
use crate::host::Port;
use crate::json::{Json, ShapeError};

/// Why something is not kept, or not read as what it was asked for. Nothing was changed.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ScratchError {
    /// It would go beyond the quota: what is allowed and what was found, in bytes.
    Quota(String),
    /// A malformed key: what was expected.
    Invalid(String),
    /// Bytes that are not JSON of the type that they are read as, or a value without a JSON form.
    Shape {
        /// Its key.
        key: String,
        /// Where and how they differ.
        error: ShapeError,
    },
}

impl fmt::Display for ScratchError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Quota(limit) => write!(formatter, "scratch is full: {limit}"),
            Self::Invalid(what) => write!(formatter, "malformed scratch operation: {what}"),
            Self::Shape { key, error } => {
                write!(formatter, "scratch `{key}` does not fit the type it is read or written as: {error}")
            }
        }
    }
}

impl core::error::Error for ScratchError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Shape { error, .. } => Some(error),
            Self::Quota(_) | Self::Invalid(_) => None,
        }
    }
}

/// A quota that is reached refuses with 429; everything else is a fault of the plugin.
impl From<ScratchError> for Failure {
    fn from(error: ScratchError) -> Self {
        let message = error.to_string();
        match error {
            ScratchError::Quota(_) => Self::from_host(Code::LIMIT, message, None),
            ScratchError::Invalid(_) | ScratchError::Shape { .. } => Self::fault(message),
        }
    }
}

/// What a tool plugin keeps for itself. [`Phone::scratch`](crate::Phone::scratch) hands it out.
///
/// Nobody else reads it, it is no part of the world or its digest, and it is gone with the episode. A call that ends in a failure or a trap
/// leaves no write behind. A key has 1 to 256 bytes; an entry counts its key, its value and 64 bytes against the quota, which
/// `request.json` asks for and the operator grants: `{"capability": "scratch", "bytes": 65536}`.
#[derive(Debug)]
pub struct Scratch<'phone> {
    port: &'phone Port,
}

impl<'phone> Scratch<'phone> {
    pub(crate) fn new(port: &'phone Port) -> Self {
        Self { port }
    }

    /// What is kept under a key.
    pub fn get(&self, key: &str) -> Option<Vec<u8>> {
        self.port.scratch_get(key)
    }

    /// Keeps bytes under a key, in the place of what was there.
    ///
    /// # Errors
    /// [`ScratchError::Quota`] beyond the quota, [`ScratchError::Invalid`] for a malformed key.
    pub fn put(&mut self, key: &str, value: &[u8]) -> Result<(), ScratchError> {
        self.port.scratch_put(key, value)
    }

    /// Removes what is kept under a key; says whether there was something.
    pub fn delete(&mut self, key: &str) -> bool {
        self.port.scratch_delete(key)
    }

    /// The keys, sorted.
    pub fn keys(&self) -> Vec<String> {
        self.port.scratch_keys()
    }

    /// What [`put_json`](Self::put_json) kept under a key.
    ///
    /// # Errors
    /// [`ScratchError::Shape`] when the bytes are not JSON of a `T`.
    pub fn get_json<T: DeserializeOwned>(&self, key: &str) -> Result<Option<T>, ScratchError> {
        let Some(bytes) = self.get(key) else { return Ok(None) };
        let read = Json::from_bytes(bytes).and_then(|text| text.parse());
        read.map(Some).map_err(|error| misfit(key, error))
    }

    /// Keeps a value as JSON text.
    ///
    /// # Errors
    /// As [`put`](Self::put), and [`ScratchError::Shape`] when the value has no JSON form.
    pub fn put_json<T: Serialize + ?Sized>(&mut self, key: &str, value: &T) -> Result<(), ScratchError> {
        let text = Json::of(value).map_err(|error| misfit(key, error))?;
        self.put(key, text.as_str().as_bytes())
    }
}

#[cold]
fn misfit(key: &str, error: ShapeError) -> ScratchError {
    ScratchError::Shape { key: key.to_owned(), error }
}
