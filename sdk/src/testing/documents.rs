//! Collections of documents in memory.

use std::collections::BTreeMap;

use serde_json::Value;

use super::values::{canonical, depth, merge, same};
use crate::json::Json;
use crate::query::Query;
use crate::state::{Doc, Page, StateError};

const NAME_BYTES_MAX: usize = 64;
const KEY_BYTES_MAX: usize = 256;
const DOCUMENT_BYTES_MAX: usize = 262_144;
const DEPTH_MAX: usize = 32;

/// All state at one moment: documents by collection and key.
#[derive(Clone, Debug, Default)]
pub(crate) struct Documents(BTreeMap<String, BTreeMap<String, Value>>);

impl Documents {
    /// State given as `{"collection": {"key": document}}`.
    pub(crate) fn from_value(state: Value) -> Self {
        let mut documents = Self::default();
        documents.lay(state);
        documents
    }

    /// Lays documents, given as `{"collection": {"key": document}}`, over those that are there.
    pub(crate) fn lay(&mut self, state: Value) {
        let Value::Object(collections) = state else {
            assert!(state.is_object(), "expected {{\"collection\": {{\"key\": document}}}}, found {state}");
            return;
        };
        for (name, documents) in collections {
            assert!(documents.is_object(), "expected documents by key in `{name}`, found {documents}");
            let collection = self.0.entry(name).or_default();
            if let Value::Object(documents) = documents {
                collection.extend(documents);
            }
        }
    }

    pub(crate) fn value(&self, collection: &str, key: &str) -> Option<&Value> {
        self.0.get(collection)?.get(key)
    }

    pub(crate) fn collection(&self, collection: &str) -> impl Iterator<Item = (&String, &Value)> {
        self.0.get(collection).into_iter().flatten()
    }

    pub(crate) fn collections(&self) -> Vec<String> {
        self.0.keys().cloned().collect()
    }

    /// Sets a document without checks, as a fresh world does.
    pub(crate) fn set(&mut self, collection: &str, key: &str, value: Value) {
        self.0.entry(collection.to_owned()).or_default().insert(key.to_owned(), value);
    }

    /// Makes a collection known that may stay empty.
    pub(crate) fn declare(&mut self, collection: &str) {
        self.0.entry(collection.to_owned()).or_default();
    }

    pub(crate) fn get(&self, collection: &str, key: &str) -> Result<Option<Json>, StateError> {
        check_names(collection, key)?;
        Ok(self.value(collection, key).map(Json::from))
    }

    pub(crate) fn find(&self, collection: &str, query: &Query) -> Result<Page<Json>, StateError> {
        check_names(collection, "any")?;
        let page = super::find::find(self.collection(collection), query)?;
        let docs = page.docs.into_iter().map(|doc| Doc { key: doc.key, value: doc.value.into() });
        Ok(Page { docs: docs.collect(), next: page.next, total: page.total })
    }

    pub(crate) fn put(&mut self, collection: &str, key: &str, value: &Json) -> Result<(), StateError> {
        check_names(collection, key)?;
        let value = document(value)?;
        self.set(collection, key, value);
        Ok(())
    }

    pub(crate) fn patch(&mut self, collection: &str, key: &str, patch: &Json) -> Result<(), StateError> {
        check_names(collection, key)?;
        let patch = document(patch)?;
        let found = self.value(collection, key).cloned();
        let Some(mut value) = found else {
            return Err(StateError::NotFound { collection: collection.to_owned(), key: key.to_owned() });
        };
        merge(&mut value, patch);
        self.put(collection, key, &value.into())
    }

    pub(crate) fn delete(&mut self, collection: &str, key: &str) -> Result<bool, StateError> {
        check_names(collection, key)?;
        Ok(self.0.get_mut(collection).is_some_and(|documents| documents.remove(key).is_some()))
    }

    /// Whether two states hold the same documents.
    pub(crate) fn same_document(a: Option<&Value>, b: Option<&Value>) -> bool {
        match (a, b) {
            (Some(a), Some(b)) => same(a, b),
            (a, b) => a.is_none() && b.is_none(),
        }
    }

    /// 32 bytes that are equal for equal documents. Enough to tell test states apart, and no protection against anybody.
    pub(crate) fn digest(&self) -> Vec<u8> {
        let mut text = String::new();
        for (collection, documents) in self.0.iter().filter(|(_, documents)| !documents.is_empty()) {
            for (key, value) in documents {
                canonical(&serde_json::json!([collection, key, value]), &mut text);
            }
        }
        (0_u64..4).flat_map(|lane| fnv(lane, text.as_bytes()).to_le_bytes()).collect()
    }
}

/// The 64-bit FNV-1a hash (Fowler, Noll and Vo), begun with a lane number.
fn fnv(lane: u64, bytes: &[u8]) -> u64 {
    let lane = lane.to_le_bytes();
    lane.iter()
        .chain(bytes)
        .fold(0xcbf2_9ce4_8422_2325, |hash, byte| (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3))
}

fn check_names(collection: &str, key: &str) -> Result<(), StateError> {
    let letters = |byte: u8| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'_' || byte == b'-';
    if collection.is_empty() || collection.len() > NAME_BYTES_MAX || !collection.bytes().all(letters) {
        return Err(StateError::Invalid(format!(
            "`{collection}` is no name of a collection: expected 1 to {NAME_BYTES_MAX} of `a-z`, `0-9`, `_` and `-`"
        )));
    }
    if key.is_empty() || key.len() > KEY_BYTES_MAX || key.contains('\0') {
        return Err(StateError::Invalid(format!(
            "a key has 1 to {KEY_BYTES_MAX} bytes and no NUL, found {} bytes",
            key.len()
        )));
    }
    Ok(())
}

fn document(text: &Json) -> Result<Value, StateError> {
    let bytes = text.as_str().len();
    if bytes > DOCUMENT_BYTES_MAX {
        return Err(StateError::Limit(format!("a document has at most {DOCUMENT_BYTES_MAX} bytes, found {bytes}")));
    }
    let value: Value = text.parse().map_err(|error| StateError::Invalid(error.to_string()))?;
    let levels = depth(&value);
    if levels > DEPTH_MAX {
        return Err(StateError::Invalid(format!("a document is at most {DEPTH_MAX} levels deep, found {levels}")));
    }
    Ok(value)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_and_documents_outside_their_limits_are_refused() {
        let mut documents = Documents::default();
        for (collection, key) in [("", "k"), ("Notes", "k"), ("notes", ""), ("notes", "a\0b")] {
            let error = documents.put(collection, key, &json!({}).into()).unwrap_err();
            assert!(matches!(error, StateError::Invalid(_)), "{error}");
        }
        let long = "k".repeat(257);
        assert!(documents.get("notes", &long).is_err());
        let large = json!("x".repeat(DOCUMENT_BYTES_MAX));
        assert!(matches!(documents.put("notes", "k", &large.into()), Err(StateError::Limit(_))));
        let deep = (0..33).fold(json!(1), |value, _| json!([value]));
        assert!(matches!(documents.put("notes", "k", &deep.into()), Err(StateError::Invalid(_))));
        assert_eq!(documents.collection("notes").count(), 0);
    }

    #[test]
    fn a_patch_needs_a_document() {
        let mut documents = Documents::from_value(json!({"notes": {"a": {"x": 1, "y": 2}}}));
        documents.patch("notes", "a", &json!({"x": null, "z": 3}).into()).unwrap();
        assert_eq!(documents.value("notes", "a"), Some(&json!({"y": 2, "z": 3})));
        assert!(matches!(documents.patch("notes", "b", &json!({}).into()), Err(StateError::NotFound { .. })));
    }

    #[test]
    fn equal_documents_have_equal_digests() {
        let a = Documents::from_value(json!({"n": {"k": {"a": 1, "b": 2}}, "empty": {}}));
        let b = Documents::from_value(json!({"n": {"k": {"b": 2.0, "a": 1}}}));
        let c = Documents::from_value(json!({"n": {"k": {"a": 1, "b": 3}}}));
        assert_eq!(a.digest(), b.digest());
        assert_ne!(a.digest(), c.digest());
        assert_eq!(a.digest().len(), 32);
    }
}
