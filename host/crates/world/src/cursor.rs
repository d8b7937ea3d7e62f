//! Cursors: where a page ended, in a form that nobody outside needs to read.

use loopwright_contract::state::StateError;
use serde_json::{Value, json};

use crate::{error::over, limits::CURSOR_BYTES_LIMIT};

/// The place of the last document of a page in the order of its query. The next page starts after it, also when the document itself
/// has changed or gone in between.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Cursor {
    pub(crate) fingerprint: [u8; 8],
    pub(crate) key: String,
    /// The canonical text of each sort key's field; `None`: absent.
    pub(crate) fields: Vec<Option<String>>,
}

impl Cursor {
    pub(crate) fn encode(&self) -> Result<String, StateError> {
        let text = hex::encode(json!([hex::encode(self.fingerprint), self.key, self.fields]).to_string());
        if text.len() > CURSOR_BYTES_LIMIT {
            return Err(over(
                "bytes of a cursor (sort by a shorter field, or read fewer documents)",
                CURSOR_BYTES_LIMIT,
                text.len(),
            ));
        }
        Ok(text)
    }

    /// Reads a cursor of the query that the fingerprint names.
    pub(crate) fn decode(text: &str, fingerprint: &[u8; 8], sort_keys: usize) -> Result<Self, StateError> {
        if text.len() > CURSOR_BYTES_LIMIT {
            return Err(over("bytes of a cursor", CURSOR_BYTES_LIMIT, text.len()));
        }
        let malformed =
            || StateError::Invalid("cursor: expected the `next` of an earlier page, found something else".into());
        let bytes = hex::decode(text).map_err(|_| malformed())?;
        let value: Value = serde_json::from_slice(&bytes).map_err(|_| malformed())?;
        let (found, key, fields): (String, String, Vec<Option<String>>) =
            serde_json::from_value(value).map_err(|_| malformed())?;
        if found != hex::encode(fingerprint) || fields.len() != sort_keys {
            return Err(StateError::Invalid(
                "cursor: it belongs to another query; a cursor continues only the query that gave it".into(),
            ));
        }
        Ok(Self { fingerprint: *fingerprint, key, fields })
    }
}
