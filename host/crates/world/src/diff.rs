//! What differs between two worlds.

use std::{cmp::Ordering, collections::BTreeSet, sync::Arc};

use imbl::ordmap::DiffItem;

use crate::{Document, GoOn, Key, Pointer, World, collection::Collection};

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
    diff_while(a, b, bookkeeping, &|| true).unwrap_or_default()
}

/// The same, given up as soon as `go_on` says no: `None`. It is asked before each document.
#[must_use]
pub fn diff_while(a: &World, b: &World, bookkeeping: Bookkeeping, go_on: GoOn<'_>) -> Option<Vec<Change>> {
    let mut changes = Vec::new();
    for pair in paired(a, b) {
        let (left, right) = (pair.left.map(AsRef::as_ref), pair.right.map(AsRef::as_ref));
        // A collection that nobody wrote to is the same pointer in both.
        if pair.is_shared() || left.zip(right).is_some_and(|(left, right)| left.documents().ptr_eq(right.documents())) {
            continue;
        }
        for key in candidates(left, right, go_on)? {
            if !go_on() {
                return None;
            }
            let before = document(left, &key, bookkeeping);
            let after = document(right, &key, bookkeeping);
            if before != after {
                changes.push(Change { collection: pair.name().to_owned(), key, before, after });
            }
        }
    }
    Some(changes)
}

/// A collection of one name in two worlds; at least one has it.
#[derive(Clone, Copy)]
pub(crate) struct Pair<'a> {
    pub(crate) left: Option<&'a Arc<Collection>>,
    pub(crate) right: Option<&'a Arc<Collection>>,
}

impl<'a> Pair<'a> {
    pub(crate) fn name(&self) -> &'a str {
        self.left.or(self.right).map_or("", |collection| collection.rules().name())
    }

    /// Whether both worlds share the collection, so that it has no differences.
    pub(crate) fn is_shared(&self) -> bool {
        self.left.zip(self.right).is_some_and(|(left, right)| Arc::ptr_eq(left, right))
    }
}

/// The collections of both worlds by name, in order.
pub(crate) fn paired<'a>(a: &'a World, b: &'a World) -> impl Iterator<Item = Pair<'a>> {
    let (mut ours, mut theirs) = (a.all().peekable(), b.all().peekable());
    std::iter::from_fn(move || {
        let order = match (ours.peek(), theirs.peek()) {
            (Some(left), Some(right)) if Arc::ptr_eq(left, right) => Ordering::Equal,
            (Some(left), Some(right)) => left.rules().name().cmp(right.rules().name()),
            (Some(_), None) => Ordering::Less,
            (None, Some(_)) => Ordering::Greater,
            (None, None) => return None,
        };
        let left = if order.is_le() { ours.next() } else { None };
        let right = if order.is_ge() { theirs.next() } else { None };
        Some(Pair { left, right })
    })
}

/// Keys among which every difference lies; `None`: given up.
pub(crate) fn candidates(
    left: Option<&Collection>,
    right: Option<&Collection>,
    go_on: GoOn<'_>,
) -> Option<BTreeSet<Key>> {
    let while_asked = |key| go_on().then_some(key);
    match (left, right) {
        (Some(left), Some(right)) if left.has_base_of(right) => {
            left.changed().iter().chain(right.changed()).cloned().map(while_asked).collect()
        }
        (Some(left), Some(right)) => {
            left.documents().diff(right.documents()).map(changed_key).map(while_asked).collect()
        }
        (Some(only), None) | (None, Some(only)) => only.documents().keys().cloned().map(while_asked).collect(),
        (None, None) => Some(BTreeSet::new()),
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
