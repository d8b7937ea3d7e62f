//! What a log amounts to: units by number, id, place, claim and mark. It knows no file.
//!
//! All collections share structure between clones, so that a snapshot costs nothing and a writer never waits for a reader.

use std::sync::Arc;

use imbl::{HashMap, OrdMap, OrdSet, Vector};

use super::error::FoldError;
use super::event::Content;
use super::mark::Mark;
use crate::id::{RootKey, UnitId};
use crate::unit::{ClaimKey, Sequence, Status, Unit};

/// A unit and what the store knows of it besides.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Slot {
    pub(super) unit: Unit,
    /// Of the message at its place, or of the derived content.
    pub(super) identity: Mark,
    /// Of the idempotency key.
    pub(super) key: Option<Mark>,
    /// The record that made it.
    pub(super) sequence: Sequence,
    /// The last record that changed it.
    pub(super) changed: Sequence,
    /// Whether it is a message as it was said.
    pub(super) captured: bool,
    /// The task whose sensitive working data it is.
    pub(super) working: Option<String>,
}

/// What is known of one claim key.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) struct Claims {
    /// The numbers of the units that claim something of it, whatever their status.
    pub(super) members: OrdSet<u64>,
    /// The last record that changed one of them.
    pub(super) changed: Sequence,
}

/// When a text was purged.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Grave {
    /// The record of the purge.
    pub(super) sequence: Sequence,
    /// Seconds since 1970.
    pub(super) at: i64,
}

/// A position in a session, and the number of the unit there.
type Spot = (u32, u64);
/// A dialogue and a session of it.
type Session = Arc<(String, String)>;

#[derive(Debug, Clone)]
pub(super) struct State {
    pub(super) key: RootKey,
    pub(super) units_max: u64,
    /// The last record.
    pub(super) sequence: Sequence,
    /// The last record that purged or redacted.
    pub(super) last_purge: Sequence,
    /// Up to where the index said that it shows the log.
    pub(super) indexed: Sequence,
    /// Up to where what was captured was derived from.
    pub(super) derived: Sequence,
    /// How many proposals were rejected.
    pub(super) rejected: u64,
    pub(super) slots: Vector<Option<Arc<Slot>>>,
    pub(super) live: u64,
    pub(super) ids: HashMap<UnitId, u64>,
    pub(super) captures: OrdMap<Sequence, u64>,
    sessions: HashMap<Session, OrdSet<Spot>>,
    pub(super) claims: HashMap<Arc<ClaimKey>, Claims>,
    pub(super) identities: HashMap<Mark, u64>,
    pub(super) keys: HashMap<Mark, u64>,
    pub(super) purged_texts: HashMap<Mark, Grave>,
    pub(super) purged_identities: HashMap<Mark, Grave>,
    /// Contributions to the pool, and the units that each was made of; none of what was purged since: it is still to be taken out.
    pub(super) contributions: OrdMap<String, Vec<UnitId>>,
}

impl State {
    pub(super) fn new(key: RootKey, units_max: u64) -> Self {
        Self {
            key,
            units_max,
            sequence: 0,
            last_purge: 0,
            indexed: 0,
            derived: 0,
            rejected: 0,
            slots: Vector::new(),
            live: 0,
            ids: HashMap::new(),
            captures: OrdMap::new(),
            sessions: HashMap::new(),
            claims: HashMap::new(),
            identities: HashMap::new(),
            keys: HashMap::new(),
            purged_texts: HashMap::new(),
            purged_identities: HashMap::new(),
            contributions: OrdMap::new(),
        }
    }

    /// One more than the largest number that was ever given.
    pub(super) fn ordinals(&self) -> u64 {
        self.slots.len() as u64
    }

    pub(super) fn slot(&self, ordinal: u64) -> Option<&Arc<Slot>> {
        self.slots.get(usize::try_from(ordinal).ok()?)?.as_ref()
    }

    pub(super) fn unit(&self, ordinal: u64) -> Option<&Unit> {
        self.slot(ordinal).map(|slot| &slot.unit)
    }

    pub(super) fn ordinal_of(&self, id: UnitId) -> Result<u64, FoldError> {
        self.ids.get(&id).copied().ok_or(FoldError::Unknown { id })
    }

    /// The unit, for changing it; the copy is made when a snapshot still has the old one.
    pub(super) fn slot_mut(&mut self, ordinal: u64) -> Option<&mut Slot> {
        let index = usize::try_from(ordinal).ok()?;
        self.slots.get_mut(index)?.as_mut().map(Arc::make_mut)
    }

    pub(super) fn slots(&self) -> impl Iterator<Item = (u64, &Arc<Slot>)> {
        (0..).zip(self.slots.iter()).filter_map(|(ordinal, slot)| slot.as_ref().map(|slot| (ordinal, slot)))
    }

    /// The unit of the message that was captured as this record.
    pub(super) fn captured_at(&self, sequence: Sequence) -> Option<(u64, &Arc<Slot>)> {
        let ordinal = *self.captures.get(&sequence)?;
        self.slot(ordinal).map(|slot| (ordinal, slot))
    }

    fn line(&self, ordinal: u64) -> Option<(&OrdSet<Spot>, Spot)> {
        let slot = self.slot(ordinal).filter(|slot| slot.captured)?;
        let place = slot.unit.place.as_ref()?;
        let line = self.sessions.get(&(place.dialogue.clone(), place.session.clone()))?;
        Some((line, (place.position, ordinal)))
    }

    /// The numbers of the messages of a session, in order.
    pub(super) fn session(&self, dialogue: &str, session: &str) -> impl Iterator<Item = u64> {
        let line = self.sessions.get(&(dialogue.to_owned(), session.to_owned()));
        line.into_iter().flatten().map(|(_, ordinal)| *ordinal)
    }

    pub(super) fn previous(&self, ordinal: u64) -> Option<u64> {
        let (line, here) = self.line(ordinal)?;
        line.range(..here).next_back().map(|(_, ordinal)| *ordinal)
    }

    pub(super) fn next(&self, ordinal: u64) -> Option<u64> {
        let (line, (position, ordinal)) = self.line(ordinal)?;
        line.range((position, ordinal.checked_add(1)?)..).next().map(|(_, ordinal)| *ordinal)
    }

    /// Leaves holes before `ordinals`, for numbers that were given and purged.
    pub(super) fn reserve(&mut self, ordinals: u64) -> Result<(), FoldError> {
        let expected = self.ordinals();
        if ordinals > self.units_max {
            return Err(FoldError::Ordinal { expected, found: ordinals, limit: self.units_max });
        }
        for _ in expected..ordinals {
            self.slots.push_back(None);
        }
        Ok(())
    }

    /// Keeps a new unit under its number.
    pub(super) fn insert(&mut self, ordinal: u64, slot: Slot) -> Result<(), FoldError> {
        let expected = self.ordinals();
        if ordinal < expected || ordinal >= self.units_max {
            return Err(FoldError::Ordinal { expected, found: ordinal, limit: self.units_max });
        }
        self.reserve(ordinal)?;
        self.ids.insert(slot.unit.id, ordinal);
        if slot.captured {
            self.captures.insert(slot.sequence, ordinal);
            if let Some(place) = &slot.unit.place {
                let session = Arc::new((place.dialogue.clone(), place.session.clone()));
                self.sessions.entry(session).or_default().insert((place.position, ordinal));
            }
        }
        self.identities.entry(slot.identity).or_insert(ordinal);
        if let Some(key) = slot.key {
            self.keys.entry(key).or_insert(ordinal);
        }
        self.join_claim(ordinal, &slot.unit, slot.changed);
        self.slots.push_back(Some(Arc::new(slot)));
        self.live += 1;
        Ok(())
    }

    pub(super) fn join_claim(&mut self, ordinal: u64, unit: &Unit, sequence: Sequence) {
        if let Some(claim) = &unit.claim {
            let claims = match self.claims.get_mut(&claim.key) {
                Some(claims) => claims,
                None => self.claims.entry(Arc::new(claim.key.clone())).or_default(),
            };
            claims.members.insert(ordinal);
            claims.changed = claims.changed.max(sequence);
        }
    }

    pub(super) fn leave_claim(&mut self, ordinal: u64, key: &ClaimKey) {
        if let Some(claims) = self.claims.get_mut(key) {
            claims.members.remove(&ordinal);
            if claims.members.is_empty() {
                self.claims.remove(key);
            }
        }
    }

    /// Notes that a record changed a unit, and with it its claim.
    pub(super) fn touch(&mut self, ordinal: u64, sequence: Sequence) {
        let Some(slot) = self.slot_mut(ordinal) else { return };
        slot.changed = sequence;
        let Some(key) = slot.unit.claim.as_ref().map(|claim| claim.key.clone()) else { return };
        if let Some(claims) = self.claims.get_mut(&key) {
            claims.changed = sequence;
        }
    }

    /// Takes a unit out and leaves a hole. Links of others to it stay; see [`Outcome`](super::event::Outcome).
    pub(super) fn remove(&mut self, ordinal: u64) -> Option<Arc<Slot>> {
        let slot = self.slots.get_mut(usize::try_from(ordinal).ok()?)?.take()?;
        self.live = self.live.saturating_sub(1);
        self.ids.remove(&slot.unit.id);
        if slot.captured {
            self.captures.remove(&slot.sequence);
            if let Some(place) = &slot.unit.place {
                let session = (place.dialogue.clone(), place.session.clone());
                if let Some(line) = self.sessions.get_mut(&session) {
                    line.remove(&(place.position, ordinal));
                    if line.is_empty() {
                        self.sessions.remove(&session);
                    }
                }
            }
        }
        self.forget_mark(slot.identity, ordinal);
        if let Some(key) = slot.key.filter(|key| self.keys.get(key) == Some(&ordinal)) {
            self.keys.remove(&key);
        }
        if let Some(claim) = &slot.unit.claim {
            self.leave_claim(ordinal, &claim.key);
        }
        Some(slot)
    }

    fn forget_mark(&mut self, identity: Mark, ordinal: u64) {
        if self.identities.get(&identity) == Some(&ordinal) {
            self.identities.remove(&identity);
        }
    }

    /// Puts other content into a derived unit.
    pub(super) fn replace_content(&mut self, ordinal: u64, content: Content, identity: Mark, sequence: Sequence) {
        let Some(slot) = self.slot_mut(ordinal) else { return };
        let old_identity = std::mem::replace(&mut slot.identity, identity);
        let old_claim = slot.unit.claim.clone();
        put_content(&mut slot.unit, content);
        slot.changed = sequence;
        let unit = slot.unit.clone();
        if let Some(claim) = old_claim {
            self.leave_claim(ordinal, &claim.key);
        }
        self.join_claim(ordinal, &unit, sequence);
        self.forget_mark(old_identity, ordinal);
        self.identities.entry(identity).or_insert(ordinal);
    }

    /// Where the two states differ, in words; none when they do not. How marks are shared by equal units, and when claims changed, is left out.
    pub(super) fn difference(&self, other: &Self) -> Option<String> {
        if self.sequence != other.sequence || self.last_purge != other.last_purge {
            let here = (self.sequence, self.last_purge);
            return Some(format!("record and last purge {here:?} against {:?}", (other.sequence, other.last_purge)));
        }
        if self.ordinals() != other.ordinals() {
            return Some(format!("{} numbers given against {}", self.ordinals(), other.ordinals()));
        }
        for (ordinal, (left, right)) in (0_u64..).zip(self.slots.iter().zip(other.slots.iter())) {
            if left != right {
                return Some(format!("unit number {ordinal} differs"));
            }
        }
        let members = |state: &Self| -> OrdMap<ClaimKey, OrdSet<u64>> {
            state.claims.iter().map(|(key, claims)| (key.as_ref().clone(), claims.members.clone())).collect()
        };
        let parts = [
            ("claims", members(self) == members(other)),
            ("captures", self.captures == other.captures),
            ("sessions", self.sessions == other.sessions),
            ("ids", self.ids == other.ids),
            ("idempotency keys", self.keys == other.keys),
            ("purged texts", self.purged_texts == other.purged_texts),
            ("purged identities", self.purged_identities == other.purged_identities),
            ("contributions", self.contributions == other.contributions),
        ];
        parts.iter().find(|(_, same)| !same).map(|(what, _)| format!("the {what} differ"))
    }

    /// Checks what only holds once all records are read: what is current has a text and evidence.
    pub(super) fn settled(&self) -> Result<(), (Sequence, FoldError)> {
        for (_, slot) in self.slots() {
            let unit = &slot.unit;
            let gone = if unit.text.is_empty() {
                "text"
            } else if unit.evidence.is_empty() {
                "evidence"
            } else {
                continue;
            };
            if !matches!(unit.status, Status::Candidate | Status::Redacted) {
                return Err((slot.sequence, FoldError::Empty { what: gone }));
            }
        }
        Ok(())
    }
}

/// What a unit says.
pub(crate) fn content_of(unit: &Unit) -> Content {
    Content {
        layer: unit.layer,
        category: unit.category.clone(),
        tags: unit.tags.clone(),
        text: unit.text.clone(),
        claim: unit.claim.clone(),
        event: unit.event.clone(),
        mentioned: unit.mentioned.clone(),
        place: unit.place.clone(),
        evidence: unit.evidence.clone(),
        confidence: unit.confidence.clone(),
        activation: unit.activation.clone(),
        derived_from: unit.derived_from.clone(),
    }
}

/// Makes a unit say it.
pub(super) fn put_content(unit: &mut Unit, content: Content) {
    unit.layer = content.layer;
    unit.category = content.category;
    unit.tags = content.tags;
    unit.text = content.text;
    unit.claim = content.claim;
    unit.event = content.event;
    unit.mentioned = content.mentioned;
    unit.place = content.place;
    unit.evidence = content.evidence;
    unit.confidence = content.confidence;
    unit.activation = content.activation;
    unit.derived_from = content.derived_from;
}
