//! A memory that is a list, for tests.

use std::collections::BTreeMap;

use loopwright_contract::digest::ContentDigest;
use loopwright_contract::memory::{Layer, Role};

use crate::corpus::Corpus;
use crate::id::{RootKey, UnitId};
use crate::message::Place;
use crate::moment::{Moment, Zone};
use crate::unit::{Confidence, Evidence, Sequence, Status, Trust, Unit};

/// Noon of 1 May 2023 in UTC, and `days` later.
pub(crate) fn day(days: i64) -> Moment {
    Moment::new(1_682_942_400 + days * 86_400, Zone::utc()).expect("in range")
}

pub(crate) fn id(ordinal: u64) -> UnitId {
    UnitId::of(&RootKey::new([7; 32]), ordinal)
}

/// A message of session 1, said on the day of its ordinal.
pub(crate) fn message(ordinal: u64, text: &str, speaker: &str) -> Unit {
    let mentioned = day(i64::try_from(ordinal).expect("small"));
    Unit {
        id: id(ordinal),
        layer: Layer::Episodic,
        category: None,
        tags: Vec::new(),
        text: text.to_owned(),
        claim: None,
        event: None,
        ingested: mentioned.clone(),
        mentioned,
        place: Some(Place {
            dialogue: "d".to_owned(),
            session: "1".to_owned(),
            position: u32::try_from(ordinal).expect("small"),
            speaker: speaker.to_owned(),
            role: Role::User,
        }),
        evidence: vec![Evidence {
            sequence: ordinal + 1,
            start: 0,
            end: u32::try_from(text.len()).expect("small"),
            digest: ContentDigest::of(text.as_bytes()),
            role: Role::User,
            trust: Trust::Stated,
        }],
        status: Status::Verified,
        supersedes: Vec::new(),
        superseded_by: None,
        conflicts: Vec::new(),
        confidence: Confidence { thousandths: 1_000, reason: "said".to_owned() },
        activation: None,
        derived_from: Vec::new(),
    }
}

/// A memory in a map.
#[derive(Debug, Clone, Default)]
pub(crate) struct Memory {
    units: Vec<Option<Unit>>,
    by_id: BTreeMap<UnitId, u64>,
}

impl Memory {
    /// Messages of Ann in one session.
    pub(crate) fn of(texts: &[&str]) -> Self {
        let mut memory = Self::default();
        for (text, ordinal) in texts.iter().zip(0..) {
            memory.push(message(ordinal, text, "Ann"));
        }
        memory
    }

    pub(crate) fn push(&mut self, unit: Unit) {
        self.by_id.insert(unit.id, self.units.len() as u64);
        self.units.push(Some(unit));
    }

    pub(crate) fn change(&mut self, ordinal: u64, change: impl FnOnce(&mut Unit)) {
        change(self.units[usize::try_from(ordinal).expect("small")].as_mut().expect("a unit"));
    }

    pub(crate) fn remove(&mut self, ordinal: u64) {
        self.units[usize::try_from(ordinal).expect("small")] = None;
    }

    fn beside(&self, ordinal: u64, step: i64) -> Option<u64> {
        let place = self.unit(ordinal)?.place.as_ref()?;
        (0..self.ordinals()).find(|other| {
            self.unit(*other).and_then(|unit| unit.place.as_ref()).is_some_and(|other| {
                other.session == place.session && i64::from(other.position) == i64::from(place.position) + step
            })
        })
    }
}

impl Corpus for Memory {
    fn sequence(&self) -> Sequence {
        self.units.len() as u64
    }

    fn ordinals(&self) -> u64 {
        self.units.len() as u64
    }

    fn unit(&self, ordinal: u64) -> Option<&Unit> {
        self.units.get(usize::try_from(ordinal).ok()?)?.as_ref()
    }

    fn ordinal(&self, id: &UnitId) -> Option<u64> {
        self.by_id.get(id).copied()
    }

    fn previous(&self, ordinal: u64) -> Option<u64> {
        self.beside(ordinal, -1)
    }

    fn next(&self, ordinal: u64) -> Option<u64> {
        self.beside(ordinal, 1)
    }
}
