//! One collection: its documents, what differs from the base, and its indexes, kept in step by every write.

use std::sync::Arc;

use imbl::{OrdMap, OrdSet};

use crate::{CollectionRules, Document, Key, Pointer, limits::INDEX_VALUE_BYTES};

/// A document's place in an index: the beginning of the indexed value's canonical text, then the key.
type IndexEntry = (Arc<str>, Key);

/// The documents of one collection, in persistent maps: a clone shares all of them.
#[derive(Clone)]
pub(crate) struct Collection {
    rules: Arc<CollectionRules>,
    documents: OrdMap<Key, Document>,
    /// The documents when the world became the base of its episodes.
    base: OrdMap<Key, Document>,
    /// Exactly the keys whose document differs from the base.
    changed: OrdSet<Key>,
    /// One set for each of the rules' indexes, in the same order.
    indexes: Vec<OrdSet<IndexEntry>>,
}

impl Collection {
    pub(crate) fn new(rules: CollectionRules) -> Self {
        let indexes = rules.indexes().iter().map(|_| OrdSet::new()).collect();
        Self { rules: Arc::new(rules), documents: OrdMap::new(), base: OrdMap::new(), changed: OrdSet::new(), indexes }
    }

    pub(crate) fn rules(&self) -> &CollectionRules {
        &self.rules
    }

    pub(crate) fn documents(&self) -> &OrdMap<Key, Document> {
        &self.documents
    }

    /// The keys whose document differs from the base, sorted.
    pub(crate) fn changed(&self) -> &OrdSet<Key> {
        &self.changed
    }

    /// Whether both started from the same base, so that only keys changed in one of them can differ.
    pub(crate) fn has_base_of(&self, other: &Self) -> bool {
        (self.base.is_empty() && other.base.is_empty()) || self.base.ptr_eq(&other.base)
    }

    /// Makes the present documents the base.
    pub(crate) fn seal(&mut self) {
        self.base = self.documents.clone();
        self.changed = OrdSet::new();
    }

    /// Sets or removes a document and returns what was there.
    pub(crate) fn replace(&mut self, key: &Key, document: Option<Document>) -> Option<Document> {
        let before = match &document {
            Some(document) => self.documents.insert(key.clone(), document.clone()),
            None => self.documents.remove(key.as_str()),
        };
        if before != document {
            self.reindex(key, before.as_ref(), document.as_ref());
            self.note_change(key, document.as_ref());
        }
        before
    }

    /// Keeps `changed` exact after a write that changed something: the first makes a difference to the base, a later one may undo it.
    fn note_change(&mut self, key: &Key, document: Option<&Document>) {
        if !self.changed.contains(key.as_str()) {
            self.changed.insert(key.clone());
        } else if self.base.get(key.as_str()) == document {
            self.changed.remove(key.as_str());
        }
    }

    fn reindex(&mut self, key: &Key, before: Option<&Document>, after: Option<&Document>) {
        for (pointer, index) in self.rules.indexes().iter().zip(&mut self.indexes) {
            let old = before.and_then(|document| document.text_at(pointer)).map(beginning);
            let new = after.and_then(|document| document.text_at(pointer)).map(beginning);
            if old == new {
                continue;
            }
            if let Some(old) = old {
                index.remove(&(Arc::from(old), key.clone()));
            }
            if let Some(new) = new {
                index.insert((Arc::from(new), key.clone()));
            }
        }
    }

    /// Whether the field has an index.
    pub(crate) fn has_index(&self, pointer: &Pointer) -> bool {
        self.rules.indexes().binary_search(pointer).is_ok()
    }

    /// The keys whose indexed value begins as `value` does, sorted; they hold all whose value is equal. `None` without such an index.
    pub(crate) fn indexed(&self, pointer: &Pointer, value: &str) -> Option<impl Iterator<Item = &Key>> {
        let position = self.rules.indexes().binary_search(pointer).ok()?;
        let wanted: Arc<str> = Arc::from(beginning(value));
        // No key is empty, so that this entry sorts before all entries of the value.
        let start = (wanted.clone(), Key::lowest());
        let entries = self.indexes.get(position)?.range(start..);
        Some(entries.take_while(move |(found, _)| *found == wanted).map(|(_, key)| key))
    }
}

/// The part of a value's text that an index keeps.
fn beginning(text: &str) -> &str {
    text.get(..text.floor_char_boundary(INDEX_VALUE_BYTES)).unwrap_or(text)
}

#[cfg(test)]
mod tests {
    use loopwright_contract::{name::CollectionName, tool::CollectionSpec};

    use super::*;

    #[test]
    fn an_index_holds_one_entry_for_each_document_with_the_field_and_forgets_the_rest() {
        let spec = CollectionSpec {
            name: CollectionName::new("notes").unwrap(),
            schema: None,
            bookkeeping: Vec::new(),
            indexes: vec!["/folder".into()],
            initial: Vec::new(),
        };
        let mut collection = Collection::new(CollectionRules::new(&spec).unwrap());
        let writes = [
            ("a", Some(r#"{"folder":"x"}"#), 1),
            ("a", Some(r#"{"folder":"y"}"#), 1),
            ("b", Some(r#"{"folder":"y"}"#), 2),
            ("a", Some(r#"{"size":1}"#), 1),
            ("b", None, 0),
        ];
        for (key, text, entries) in writes {
            collection.replace(&Key::new(key).unwrap(), text.map(|text| Document::parse(text).unwrap()));
            let found: usize = collection.indexes.iter().map(OrdSet::len).sum();
            assert_eq!(found, entries, "after {key} became {text:?}");
        }
    }
}
