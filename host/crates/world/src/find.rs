//! Answers queries: candidates from an index or a scan, then clauses, order, cursor, page and projection.

use std::{cmp::Ordering, collections::BTreeSet};

use loopwright_contract::state::{Page, Query, StateError};
use serde_json::{Map, Value};

use crate::{
    Document, GoOn, Key, Pointer, World,
    collection::Collection,
    cursor::Cursor,
    limits::PAGE_BYTES_LIMIT,
    query::{Compiled, CompiledTest, SortKey, compare_fields},
};

/// One page of a query's result.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Found {
    /// Keys and documents, in the order asked for. Whole documents are shared with the world.
    pub documents: Vec<(Key, Document)>,
    /// The cursor of the next page; `None` on the last.
    pub next: Option<String>,
    /// How many documents match in all.
    pub total: u32,
}

impl From<Found> for Page {
    fn from(found: Found) -> Self {
        let documents =
            found.documents.iter().map(|(key, document)| (key.to_string(), document.text().to_owned())).collect();
        Page { documents, next: found.next, total: found.total }
    }
}

type Entry<'a> = (&'a Key, &'a Document);

impl World {
    /// How many documents [`World::find`] would examine: those that an index leaves, or all of the collection. It is known before any of them
    /// is looked at, so that a caller can refuse the work.
    ///
    /// # Errors
    /// As [`World::find`], cursors apart.
    pub fn examined_by(&self, collection: &str, query: &Query) -> Result<usize, StateError> {
        let collection = self.collection(collection)?;
        let compiled = Compiled::new(query)?;
        Ok(indexed_keys(collection, &compiled).map_or_else(|| collection.documents().len(), |keys| keys.len()))
    }

    /// The documents of a collection that pass a query, a page at a time.
    ///
    /// A declared index is used where a clause asks a field of it to equal one or several values; the answer is the same without it.
    /// The order is that of the sort keys, then of the documents' keys; nothing else decides it. A page ends early when it
    /// holds [`PAGE_BYTES_LIMIT`] bytes.
    ///
    /// # Errors
    /// `Invalid` for an unknown collection, a malformed pointer or constant, or a cursor that is malformed or of another query; `Limit`
    /// for a query beyond the limits in [`crate::limits`].
    pub fn find(&self, collection: &str, query: &Query) -> Result<Found, StateError> {
        let found = self.find_while(collection, query, &|| true)?;
        found.ok_or_else(|| StateError::Other("a query was given up".into()))
    }

    /// The same, given up as soon as `go_on` says no: `None`. It is asked before each look at a document's text, of which there are at most
    /// [`crate::limits::DOCUMENT_BYTES_LIMIT`] bytes.
    ///
    /// # Errors
    /// As [`World::find`].
    pub fn find_while(&self, collection: &str, query: &Query, go_on: GoOn<'_>) -> Result<Option<Found>, StateError> {
        let collection = self.collection(collection)?;
        let compiled = Compiled::new(query)?;
        let name = collection.rules().name();
        let cursor = query
            .cursor
            .as_deref()
            .map(|text| Cursor::decode(text, &compiled.fingerprint(name), compiled.order.len()))
            .transpose()?;
        let Some(mut matches) = matching(collection, &compiled, go_on) else { return Ok(None) };
        let total = u32::try_from(matches.len()).unwrap_or(u32::MAX);
        if !compiled.order.is_empty() {
            let Some(sorted) = sorted(matches, &compiled.order, go_on) else { return Ok(None) };
            matches = sorted;
        }
        let start = cursor.map_or(0, |cursor| {
            matches.partition_point(|entry| place(entry, &compiled.order, &cursor) != Ordering::Greater)
        });
        page(name, matches.get(start..).unwrap_or_default(), (&compiled, total), go_on)
    }
}

/// The documents that pass, by key.
fn matching<'a>(collection: &'a Collection, query: &Compiled, go_on: GoOn<'_>) -> Option<Vec<Entry<'a>>> {
    let documents = collection.documents();
    let passing = |entry: Entry<'a>| match query.accepts(entry.1, go_on) {
        Some(true) => Some(Some(entry)),
        Some(false) => None,
        None => Some(None),
    };
    match indexed_keys(collection, query) {
        Some(keys) => {
            let entries = keys.into_iter().filter_map(|key| documents.get_key_value(key.as_str()));
            entries.filter_map(passing).collect()
        }
        None => documents.iter().filter_map(passing).collect(),
    }
}

/// The keys that the first usable index leaves; `None` when no clause can use one.
fn indexed_keys<'a>(collection: &'a Collection, query: &Compiled) -> Option<BTreeSet<&'a Key>> {
    query.clauses.iter().find_map(|clause| {
        let CompiledTest::Among(constants) = &clause.test else { return None };
        let mut keys = BTreeSet::new();
        collection.has_index(&clause.at).then_some(())?;
        for constant in constants {
            keys.extend(collection.indexed(&clause.at, constant)?);
        }
        Some(keys)
    })
}

/// An entry with the texts that it is sorted by.
type Keyed<'a> = (Vec<Option<&'a str>>, Entry<'a>);

/// Sorted by the sort keys; entries come by key, and a stable sort keeps that for ties. Two long texts take a while to compare, so that `go_on`
/// is asked before each two, and the library's own sort cannot be left half-way.
fn sorted<'a>(entries: Vec<Entry<'a>>, order: &[SortKey], go_on: GoOn<'_>) -> Option<Vec<Entry<'a>>> {
    let keyed = entries
        .into_iter()
        .map(|entry| go_on().then(|| (order.iter().map(|key| entry.1.text_at(&key.at)).collect::<Vec<_>>(), entry)));
    let sorted = merge_sorted(keyed.collect::<Option<Vec<_>>>()?, order, go_on)?;
    Some(sorted.into_iter().map(|(_, entry)| entry).collect())
}

/// Halves, sorts and merges; as deep as the logarithm of how many there are.
fn merge_sorted<'a>(mut left: Vec<Keyed<'a>>, order: &[SortKey], go_on: GoOn<'_>) -> Option<Vec<Keyed<'a>>> {
    if left.len() < 2 {
        return Some(left);
    }
    let mut merged = Vec::with_capacity(left.len());
    let right = left.split_off(left.len() / 2);
    let mut left = merge_sorted(left, order, go_on)?.into_iter().peekable();
    let mut right = merge_sorted(right, order, go_on)?.into_iter().peekable();
    while let (Some((ours, _)), Some((theirs, _))) = (left.peek(), right.peek()) {
        if !go_on() {
            return None;
        }
        let right_first = compare_rows(order, ours.iter().copied(), theirs.iter().copied()).is_gt();
        merged.extend(if right_first { right.next() } else { left.next() });
    }
    merged.extend(left.chain(right));
    Some(merged)
}

fn compare_rows<'a>(
    order: &[SortKey],
    a: impl Iterator<Item = Option<&'a str>>,
    b: impl Iterator<Item = Option<&'a str>>,
) -> Ordering {
    for (key, (a, b)) in order.iter().zip(a.zip(b)) {
        let ordering = compare_fields(a, b);
        let ordering = if key.descending { ordering.reverse() } else { ordering };
        if ordering.is_ne() {
            return ordering;
        }
    }
    Ordering::Equal
}

/// Where an entry stands relative to a cursor.
fn place(entry: &Entry<'_>, order: &[SortKey], cursor: &Cursor) -> Ordering {
    let fields = order.iter().map(|key| entry.1.text_at(&key.at));
    let last = cursor.fields.iter().map(|field| field.as_deref());
    compare_rows(order, fields, last).then_with(|| entry.0.as_str().cmp(&cursor.key))
}

fn page(
    collection: &str,
    matches: &[Entry<'_>],
    (query, total): (&Compiled, u32),
    go_on: GoOn<'_>,
) -> Result<Option<Found>, StateError> {
    let mut found = Found { documents: Vec::with_capacity(matches.len().min(query.limit)), next: None, total };
    let mut bytes = 0;
    for (key, document) in matches.iter().take(query.limit) {
        let document = if query.fields.is_empty() {
            (*document).clone()
        } else {
            let Some(projected) = project(document, &query.fields, go_on)? else { return Ok(None) };
            projected
        };
        bytes += document.text().len();
        // One document always fits, so that every page makes progress.
        if bytes > PAGE_BYTES_LIMIT && !found.documents.is_empty() {
            break;
        }
        found.documents.push(((*key).clone(), document));
    }
    let shown = found.documents.len();
    if let Some((key, document)) = matches.get(..shown).and_then(<[_]>::last).filter(|_| shown < matches.len()) {
        let fields = query.order.iter().map(|order| document.text_at(&order.at).map(str::to_owned)).collect();
        found.next =
            Some(Cursor { fingerprint: query.fingerprint(collection), key: key.to_string(), fields }.encode()?);
    }
    Ok(Some(found))
}

/// An object with the named fields at the same nesting; absent fields are left out, and an array on the way becomes an object of its indexes.
fn project(document: &Document, fields: &[Pointer], go_on: GoOn<'_>) -> Result<Option<Document>, StateError> {
    let mut projected = Value::Object(Map::new());
    for pointer in fields {
        if !go_on() {
            return Ok(None);
        }
        let Some(text) = document.text_at(pointer) else { continue };
        let value = serde_json::from_str(text).map_err(|error| StateError::Other(error.to_string()))?;
        if pointer.names().is_empty() {
            return Ok(Some(document.clone()));
        }
        set(&mut projected, pointer.names(), value);
    }
    Document::from_normal(&projected).map(Some)
}

fn set(target: &mut Value, names: &[String], value: Value) {
    let Some((name, rest)) = names.split_first() else {
        *target = value;
        return;
    };
    if let Value::Array(elements) = target {
        let members = elements.drain(..).enumerate().map(|(index, element)| (index.to_string(), element));
        *target = Value::Object(members.collect());
    }
    if let Value::Object(members) = target {
        set(members.entry(name.clone()).or_insert_with(|| Value::Object(Map::new())), rest, value);
    }
}
