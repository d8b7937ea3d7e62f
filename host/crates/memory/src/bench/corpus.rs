//! A memory that is a list of messages, for measuring.

use std::collections::HashMap;

use loopwright_contract::digest::ContentDigest;
use loopwright_contract::memory::{Layer, Role};

use crate::corpus::Corpus;
use crate::id::{RootKey, UnitId};
use crate::message::Message;
use crate::unit::{Confidence, Evidence, Sequence, Status, Trust, Unit};

/// Messages as verified episodic units, in their order, without a log.
#[derive(Debug, Clone)]
pub struct Listed {
    units: Vec<Unit>,
    by_id: HashMap<UnitId, u64>,
}

impl Listed {
    /// Makes a unit of each message.
    #[must_use]
    pub fn of(messages: &[Message]) -> Self {
        let key = RootKey::new([0; 32]);
        let units: Vec<Unit> =
            messages.iter().zip(0..).map(|(message, ordinal)| unit(&key, ordinal, message)).collect();
        let by_id = units.iter().zip(0..).map(|(unit, ordinal)| (unit.id, ordinal)).collect();
        Self { units, by_id }
    }

    fn beside(&self, ordinal: u64, other: u64) -> Option<u64> {
        let place = |ordinal| self.unit(ordinal).and_then(|unit| unit.place.as_ref());
        let same = |left: &crate::message::Place, right: &crate::message::Place| {
            left.dialogue == right.dialogue && left.session == right.session
        };
        same(place(ordinal)?, place(other)?).then_some(other)
    }
}

fn unit(key: &RootKey, ordinal: u64, message: &Message) -> Unit {
    let evidence = Evidence {
        sequence: ordinal + 1,
        start: 0,
        end: u32::try_from(message.text.len()).unwrap_or(u32::MAX),
        digest: ContentDigest::of(message.text.as_bytes()),
        role: Role::User,
        trust: Trust::Imported,
    };
    Unit {
        id: UnitId::of(key, ordinal),
        layer: Layer::Episodic,
        category: None,
        tags: Vec::new(),
        text: message.text.clone(),
        claim: None,
        event: None,
        mentioned: message.mentioned.clone(),
        ingested: message.mentioned.clone(),
        place: Some(message.place.clone()),
        evidence: vec![evidence],
        status: Status::Verified,
        supersedes: Vec::new(),
        superseded_by: None,
        conflicts: Vec::new(),
        confidence: Confidence { thousandths: 1_000, reason: "the message itself".to_owned() },
        activation: None,
        derived_from: Vec::new(),
    }
}

impl Corpus for Listed {
    fn sequence(&self) -> Sequence {
        self.units.len() as u64
    }

    fn ordinals(&self) -> u64 {
        self.units.len() as u64
    }

    fn unit(&self, ordinal: u64) -> Option<&Unit> {
        self.units.get(usize::try_from(ordinal).ok()?)
    }

    fn ordinal(&self, id: &UnitId) -> Option<u64> {
        self.by_id.get(id).copied()
    }

    fn previous(&self, ordinal: u64) -> Option<u64> {
        self.beside(ordinal, ordinal.checked_sub(1)?)
    }

    fn next(&self, ordinal: u64) -> Option<u64> {
        self.beside(ordinal, ordinal.checked_add(1)?)
    }
}
