//! What differs between two worlds.

use std::collections::{BTreeMap, BTreeSet};

use imbl::ordmap::DiffItem;

use crate::{Document, Key, Pointer, World, collection::Collection};

/// A document that differs between two states.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Change {
    /// The name of its collection.
    pub collection: String,
    /// Its key.
    pub key: Key,
    /// As it was; `None`: it did not exist.
    pub before: Option<Document>,
    /// As it is; `None`: it is gone.
    pub after: Option<Document>,
}

/// Whether a comparison looks at bookkeeping fields.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Bookkeeping {
    /// Bookkeeping fields count, and documents are returned whole.
    Include,
    /// Bookkeeping fields do not count, and documents are returned without them.
    Ignore,
}

/// The changes from `a` to `b`, ordered by collection and key.
///
/// Where both descend from one sealed base, only documents touched since then are read; else shared parts of the maps are skipped.
#[must_use]
pub fn diff(a: &World, b: &World, bookkeeping: Bookkeeping) -> Vec<Change> {
    let mut changes = Vec::new();
    for (name, (left, right)) in paired(a, b) {
        for key in candidates(left, right) {
            let before = document(left, &key, bookkeeping);
            let after = document(right, &key, bookkeeping);
            if before != after {
                changes.push(Change { collection: name.to_owned(), key, before, after });
            }
        }
    }
    changes
}

type Pair<'a> = (Option<&'a Collection>, Option<&'a Collection>);

/// The collections of both worlds by name, without those that both share.
pub(crate) fn paired<'a>(a: &'a World, b: &'a World) -> BTreeMap<&'a str, Pair<'a>> {
    let mut pairs: BTreeMap<&str, Pair<'a>> = BTreeMap::new();
    for collection in a.all() {
        pairs.insert(collection.rules().name(), (Some(collection), None));
    }
    for collection in b.all() {
        pairs.entry(collection.rules().name()).or_default().1 = Some(collection);
    }
    pairs.retain(|_, (left, right)| match (*left, *right) {
        (Some(left), Some(right)) => !std::ptr::eq(left, right) && !left.documents().ptr_eq(right.documents()),
        _ => true,
    });
    pairs
}

/// Keys among which every difference lies.
pub(crate) fn candidates(left: Option<&Collection>, right: Option<&Collection>) -> BTreeSet<Key> {
    match (left, right) {
        (Some(left), Some(right)) if left.has_base_of(right) => left.changed().iter().chain(right.changed()).cloned().collect(),
        (Some(left), Some(right)) => left.documents().diff(right.documents()).map(changed_key).collect(),
        (Some(only), None) | (None, Some(only)) => only.documents().keys().cloned().collect(),
        (None, None) => BTreeSet::new(),
    }
}

fn changed_key(item: DiffItem<'_, '_, Key, Document>) -> Key {
    match item {
        DiffItem::Add(key, _) | DiffItem::Remove(key, _) | DiffItem::Update { new: (key, _), .. } => key.clone(),
    }
}

fn document(collection: Option<&Collection>, key: &Key, bookkeeping: Bookkeeping) -> Option<Document> {
    let collection = collection?;
    let document = collection.documents().get(key.as_str())?;
    let ignored: &[Pointer] = match bookkeeping {
        Bookkeeping::Include => &[],
        Bookkeeping::Ignore => collection.rules().bookkeeping(),
    };
    Some(document.without(ignored))
}
