//! Digests of states. Every part is written with its length or kind before it, so that no two states give the same bytes.

use loopwright_contract::digest::StateDigest;
use sha2::{Digest as _, Sha256};

use crate::{Document, GoOn, Key, collection::Collection};

/// Stands before the digest of all documents; the number is the version of the form.
const FULL: &[u8] = b"loopwright world 1\n";
/// Stands before the digest of the documents that differ from a base.
const SINCE_BASE: &[u8] = b"loopwright state 1\n";

/// The digest of all documents of collections in the order of their names.
pub(crate) fn full<'a>(collections: impl Iterator<Item = &'a Collection>) -> StateDigest {
    let mut hash = Sha256::new_with_prefix(FULL);
    for collection in collections.filter(|collection| !collection.documents().is_empty()) {
        add_name(&mut hash, collection);
        for (key, document) in collection.documents() {
            add_entry(&mut hash, key, Some(document));
        }
    }
    StateDigest(hash.finalize().into())
}

/// The digest of a base and of the documents that differ from it.
/// `None`: given up.
pub(crate) fn since_base<'a>(
    base: &StateDigest,
    collections: impl Iterator<Item = &'a Collection>,
    go_on: GoOn<'_>,
) -> Option<StateDigest> {
    let mut hash = Sha256::new_with_prefix(SINCE_BASE);
    hash.update(base.0);
    for collection in collections.filter(|collection| !collection.changed().is_empty()) {
        add_name(&mut hash, collection);
        for key in collection.changed() {
            if !go_on() {
                return None;
            }
            add_entry(&mut hash, key, collection.documents().get(key.as_str()));
        }
    }
    Some(StateDigest(hash.finalize().into()))
}

fn add_name(hash: &mut Sha256, collection: &Collection) {
    let name = collection.rules().name();
    hash.update([b'c']);
    hash.update((name.len() as u64).to_le_bytes());
    hash.update(name);
}

fn add_entry(hash: &mut Sha256, key: &Key, document: Option<&Document>) {
    hash.update(if document.is_some() { [b'd'] } else { [b'x'] });
    hash.update((key.as_str().len() as u64).to_le_bytes());
    hash.update(key.as_str());
    if let Some(document) = document {
        hash.update(document.hash());
    }
}
