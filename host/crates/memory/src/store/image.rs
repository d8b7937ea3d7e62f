//! The snapshot file: a state in the framing of the log, so that opening need not follow the whole log. It can be thrown away.

use serde::{Deserialize, Serialize};

use super::error::FoldError;
use super::event::{self, Captured};
use super::fold::slot_of_capture;
use super::frame::{self, HEADER_BYTES, LAST, Record, SNAPSHOT_MAGIC};
use super::limits::RECORD_BYTES_MAX;
use super::mark::Mark;
use super::state::{Grave, Slot, State};
use crate::id::{RootKey, UnitId};
use crate::message::Message;
use crate::unit::{Sequence, Unit};

const HEAD: u8 = 1;
const CAPTURED: u8 = 2;
const UNIT: u8 = 3;
const GRAVES: u8 = 4;
const CONTRIBUTION: u8 = 5;
const END: u8 = 6;

/// Graves in one record.
const GRAVES_PER_RECORD: usize = 2_000;

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Head {
    sequence: Sequence,
    generation: u64,
    last_purge: Sequence,
    indexed: Sequence,
    #[serde(default, skip_serializing_if = "is_zero")]
    derived: Sequence,
    rejected: u64,
    ordinals: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "as serde calls it")]
fn is_zero(sequence: &Sequence) -> bool {
    *sequence == 0
}

/// A message that nothing happened to.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Plain {
    sequence: Sequence,
    changed: Sequence,
    captured: Captured,
}

/// Any other unit.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Whole {
    ordinal: u64,
    sequence: Sequence,
    changed: Sequence,
    captured: bool,
    identity: Mark,
    key: Option<Mark>,
    working: Option<String>,
    unit: Unit,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Graves {
    /// Of texts; otherwise of identities.
    texts: bool,
    graves: Vec<(Mark, Sequence, i64)>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Contribution {
    id: String,
    of: Vec<UnitId>,
}

struct Writer {
    bytes: Vec<u8>,
    records: u64,
}

impl Writer {
    fn put(&mut self, kind: u8, flags: u8, payload: &impl Serialize) -> Result<(), FoldError> {
        let payload = event::write("snapshot", payload)?;
        FoldError::limit("bytes of a record", payload.len(), RECORD_BYTES_MAX)?;
        self.records += 1;
        let record = Record { sequence: self.records, batch: 1, at: 0, kind, flags, payload: &payload };
        frame::write(&mut self.bytes, &record);
        Ok(())
    }
}

fn plain(ordinal: u64, slot: &Slot) -> Option<Captured> {
    let unit = &slot.unit;
    let captured = Captured {
        ordinal,
        message: Message {
            place: unit.place.clone().filter(|_| slot.captured)?,
            text: unit.text.clone(),
            mentioned: unit.mentioned.clone(),
        },
        ingested: unit.ingested.clone(),
        trust: unit.evidence.first()?.trust,
        category: unit.category.clone(),
        tags: unit.tags.clone(),
        identity: slot.identity,
        key: slot.key,
        working: slot.working.clone(),
    };
    let made = slot_of_capture(unit.id, slot.sequence, &captured);
    (made.unit == *unit).then_some(captured)
}

/// The bytes of a snapshot.
pub(super) fn encode(state: &State, generation: u64) -> Result<Vec<u8>, FoldError> {
    let mut writer = Writer { bytes: frame::header(SNAPSHOT_MAGIC, state.sequence), records: 0 };
    let head = Head {
        sequence: state.sequence,
        generation,
        last_purge: state.last_purge,
        indexed: state.indexed,
        derived: state.derived,
        rejected: state.rejected,
        ordinals: state.ordinals(),
    };
    writer.put(HEAD, 0, &head)?;
    for (ordinal, slot) in state.slots() {
        let (sequence, changed) = (slot.sequence, slot.changed);
        if let Some(captured) = plain(ordinal, slot) {
            writer.put(CAPTURED, 0, &Plain { sequence, changed, captured })?;
        } else {
            let Slot { identity, key, captured, ref working, ref unit, .. } = **slot;
            let (working, unit) = (working.clone(), unit.clone());
            writer.put(UNIT, 0, &Whole { ordinal, sequence, changed, captured, identity, key, working, unit })?;
        }
    }
    for (texts, graves) in [(true, &state.purged_texts), (false, &state.purged_identities)] {
        let mut graves: Vec<_> = graves.iter().map(|(mark, grave)| (*mark, grave.sequence, grave.at)).collect();
        graves.sort_unstable();
        for chunk in graves.chunks(GRAVES_PER_RECORD) {
            writer.put(GRAVES, 0, &Graves { texts, graves: chunk.to_vec() })?;
        }
    }
    for (id, of) in &state.contributions {
        writer.put(CONTRIBUTION, 0, &Contribution { id: id.clone(), of: of.clone() })?;
    }
    let records = writer.records;
    writer.put(END, LAST, &records)?;
    Ok(writer.bytes)
}

/// The generation and the last record of a snapshot, as far as they can be read.
pub(super) fn shown(bytes: &[u8]) -> Option<(u64, Sequence)> {
    frame::read_header(bytes, SNAPSHOT_MAGIC).ok()?;
    let (record, _) = frame::read(bytes, HEADER_BYTES).ok()??;
    let head: Head = (record.kind == HEAD).then(|| serde_json::from_slice(record.payload).ok())??;
    Some((head.generation, head.sequence))
}

/// Reads a snapshot; none when it is not whole, of another version, of another generation, or says what cannot be. The log has it all.
pub(super) fn decode(bytes: &[u8], key: &RootKey, units_max: u64, generation: u64) -> Option<State> {
    let first = frame::read_header(bytes, SNAPSHOT_MAGIC).ok()?;
    let mut state = State::new(key.clone(), units_max);
    let (mut at, mut records) = (HEADER_BYTES, 0_u64);
    let mut ordinals = 0;
    loop {
        let (record, next) = frame::read(bytes, at).ok()??;
        let payload = record.payload;
        if record.sequence != records + 1 || (record.kind == HEAD) != (records == 0) {
            return None;
        }
        match record.kind {
            HEAD => {
                let head: Head = serde_json::from_slice(payload).ok()?;
                if head.generation != generation || head.sequence != first {
                    return None;
                }
                (state.sequence, state.last_purge, state.indexed) = (head.sequence, head.last_purge, head.indexed);
                (state.derived, state.rejected, ordinals) = (head.derived, head.rejected, head.ordinals);
            }
            CAPTURED => {
                let plain: Plain = serde_json::from_slice(payload).ok()?;
                let id = UnitId::of(key, plain.captured.ordinal);
                let slot = slot_of_capture(id, plain.sequence, &plain.captured);
                state.insert(plain.captured.ordinal, Slot { changed: plain.changed, ..slot }).ok()?;
            }
            UNIT => put_whole(&mut state, serde_json::from_slice(payload).ok()?)?,
            GRAVES => {
                let Graves { texts, graves } = serde_json::from_slice(payload).ok()?;
                let to = if texts { &mut state.purged_texts } else { &mut state.purged_identities };
                to.extend(graves.into_iter().map(|(mark, sequence, at)| (mark, Grave { sequence, at })));
            }
            CONTRIBUTION => {
                let Contribution { id, of } = serde_json::from_slice(payload).ok()?;
                state.contributions.insert(id, of);
            }
            END => {
                let whole = record.is_last() && serde_json::from_slice::<u64>(payload).ok()? == records;
                state.reserve(ordinals).ok()?;
                return (whole && next == bytes.len() && links_are_known(&state)).then_some(state);
            }
            _ => return None,
        }
        (at, records) = (next, records + 1);
    }
}

fn put_whole(state: &mut State, whole: Whole) -> Option<()> {
    if whole.unit.id != UnitId::of(&state.key, whole.ordinal) {
        return None;
    }
    let slot = Slot {
        unit: whole.unit,
        identity: whole.identity,
        key: whole.key,
        sequence: whole.sequence,
        changed: whole.changed,
        captured: whole.captured,
        working: whole.working,
    };
    state.insert(whole.ordinal, slot).ok()
}

/// Whether every link and all evidence lead to something.
pub(super) fn links_are_known(state: &State) -> bool {
    state.slots().all(|(_, slot)| {
        let unit = &slot.unit;
        let links = unit.supersedes.iter().chain(&unit.conflicts).chain(&unit.superseded_by).chain(&unit.derived_from);
        links.into_iter().all(|id| state.ids.contains_key(id))
            && unit.evidence.iter().all(|evidence| state.captures.contains_key(&evidence.sequence))
    }) && state.settled().is_ok()
        && state.contributions.values().flatten().all(|id| state.ids.contains_key(id))
}
