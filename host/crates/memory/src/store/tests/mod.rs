//! Tests of the store as a whole, on a file system that can be ended anywhere.

mod basics;
mod crash;
mod damage;
mod exchange;
mod faulty;
mod format;
mod isolation;
mod limits;
mod purge;

use std::path::Path;
use std::sync::Arc;

use loopwright_contract::digest::ContentDigest;
use loopwright_contract::memory::{Layer, Role};

use super::*;
use crate::corpus::Corpus as _;
use crate::id::{RootKey, UnitId, UserId, WorkspaceId};
use crate::message::{Message, Place};
use crate::moment::{Moment, Zone};
use crate::unit::{Arity, Claim, ClaimKey, Confidence, Evidence, Status, Trust, Unit};
use faulty::Faulty;

/// Numbers that look random and are the same for the same seed (Steele, Lea and Flood 2014).
pub(super) struct Random(u64);

impl Random {
    pub(super) fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9E37_79B9_7F4A_7C15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
        mixed ^ (mixed >> 31)
    }

    /// Less than `limit`.
    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.next() % limit.max(1)
    }
}

const SMALL: Sizes = Sizes {
    segment_bytes: 900,
    batch_bytes_max: 1 << 20,
    units_max: 1 << 16,
    snapshot_records_min: 12,
    import_bytes_max: 1 << 20,
};

fn key() -> RootKey {
    RootKey::new([9; 32])
}

fn root_of(files: &Faulty) -> Result<Root, StoreError> {
    Root::open_sized(Arc::new(files.clone()), Path::new("/m"), key(), SMALL)
}

fn names() -> (WorkspaceId, UserId) {
    (WorkspaceId::new("w").expect("an id"), UserId::new("ann").expect("an id"))
}

fn open(files: &Faulty) -> Store {
    try_open(files).expect("it opens")
}

fn try_open(files: &Faulty) -> Result<Store, StoreError> {
    let (workspace, user) = names();
    root_of(files)?.user(&workspace, &user)
}

fn when(seconds: i64) -> Moment {
    Moment::new(seconds, Zone::utc()).expect("in range")
}

fn message(position: u32, text: &str) -> Message {
    let place = Place {
        dialogue: "d".into(),
        session: format!("s{}", position / 8),
        position,
        speaker: "Ann".into(),
        role: Role::User,
    };
    Message { place, text: text.into(), mentioned: when(1_000 + i64::from(position)) }
}

fn capture(position: u32, text: &str) -> Capture {
    Capture::of(message(position, text), Trust::Stated)
}

fn keep(store: &Store, position: u32, text: &str) -> At {
    let kept = store.capture(vec![capture(position, text)], &when(5_000)).expect("kept");
    kept[0].at().expect("not purged")
}

fn quote(snapshot: &Snapshot, sequence: u64) -> Evidence {
    let (_, unit) = snapshot.captured_at(sequence).expect("a message");
    let own = unit.evidence[0].clone();
    Evidence { digest: ContentDigest::of(unit.text.as_bytes()), ..own }
}

fn key_of(predicate: &str) -> ClaimKey {
    ClaimKey { subject: "user".into(), predicate: predicate.into(), qualifier: None }
}

fn content(snapshot: &Snapshot, predicate: &str, value: &str, sequences: &[u64]) -> Content {
    Content {
        layer: Layer::Profile,
        category: None,
        tags: Vec::new(),
        text: format!("{predicate} {value}"),
        claim: Some(Claim { key: key_of(predicate), value: value.into(), arity: Arity::Single, negated: false }),
        event: None,
        mentioned: when(2_000),
        place: None,
        evidence: sequences.iter().map(|sequence| quote(snapshot, *sequence)).collect(),
        confidence: Confidence { thousandths: 900, reason: "a rule".into() },
        activation: None,
        derived_from: Vec::new(),
    }
}

/// Adds a claim that rests on messages, in place of `old`.
fn claim(store: &Store, predicate: &str, value: &str, sequences: &[u64], old: Option<UnitId>) -> At {
    let snapshot = store.snapshot();
    let mut transaction = Transaction::at(&snapshot);
    let new = transaction.add(content(&snapshot, predicate, value, sequences), None);
    if let Some(old) = old {
        transaction.supersede(old, new);
    }
    store.commit(transaction, &when(6_000)).expect("committed").added[0].at
}

fn unit(store: &Store, id: UnitId) -> Unit {
    let snapshot = store.snapshot();
    snapshot.unit(snapshot.ordinal(&id).expect("known")).expect("there").clone()
}

fn status(store: &Store, id: UnitId) -> Status {
    unit(store, id).status
}

/// All causes of an error, as one text.
fn told(error: &StoreError) -> String {
    let mut text = error.to_string();
    let mut cause = std::error::Error::source(error);
    while let Some(error) = cause {
        text = format!("{text}: {error}");
        cause = error.source();
    }
    text
}
