//! What stands for a memory that its user had forgotten whole: keyed marks, beside the folder that is gone, so that an import or a capture of
//! what was said before does not bring it back. They say nothing to who lacks the key. The user's next memory begins with them in its log.

use std::io;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::batch::Batch;
use super::error::{FoldError, StoreError};
use super::event::{self, Event, Purged, Tombstone};
use super::files::Files;
use super::frame::{self, HEADER_BYTES, LAST, NOTE_MAGIC, Record};
use super::handle::Shared;
use super::limits::PURGED_PER_RECORD_MAX;
use super::mark::Mark;
use super::note;
use super::state::{Grave, State};
use crate::moment::{Moment, Zone};

/// One record of the file.
#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Forgotten {
    /// Numbers that were given to units, and that are not given again.
    ordinals: u64,
    /// When all was forgotten, in seconds since 1970.
    at: i64,
    tombstones: Vec<Tombstone>,
}

/// Marks of all that a memory knows, and of all that it had forgotten before.
fn tombstones(state: &State, now: i64) -> Vec<Tombstone> {
    let future = |at: i64| Some(at).filter(|at| *at > now);
    let live = state.slots().map(|(_, slot)| Tombstone {
        text: if slot.unit.text.is_empty() { slot.identity } else { Mark::of_text(&state.key, &slot.unit.text) },
        identity: slot.identity,
        until: future(slot.unit.mentioned.seconds()),
    });
    let of = |(mark, grave): (&Mark, &Grave)| Tombstone { text: *mark, identity: *mark, until: future(grave.at) };
    let texts = state.purged_texts.iter().map(of);
    let identities = state.purged_identities.iter().map(of);
    let mut all: Vec<Tombstone> = live.chain(texts).chain(identities).collect();
    all.sort_unstable_by_key(|tombstone| (tombstone.text, tombstone.identity));
    all.dedup();
    all
}

fn encode(state: &State, at: i64) -> Result<Vec<u8>, FoldError> {
    let all = tombstones(state, at);
    let mut bytes = frame::header(NOTE_MAGIC, 0);
    // One that is empty keeps the numbers all the same.
    let runs: Vec<&[Tombstone]> = if all.is_empty() { vec![&[]] } else { all.chunks(PURGED_PER_RECORD_MAX).collect() };
    // Numbers are not given again, unless so many were that few are left.
    let ordinals = Some(state.ordinals()).filter(|given| *given <= state.units_max / 2).unwrap_or_default();
    for (sequence, run) in (1_u64..).zip(&runs) {
        let payload = event::write("forgotten", &Forgotten { ordinals, at, tombstones: run.to_vec() })?;
        let flags = if sequence == runs.len() as u64 { LAST } else { 0 };
        frame::write(&mut bytes, &Record { sequence, batch: 1, at, kind: 0, flags, payload: &payload });
    }
    Ok(bytes)
}

/// Reads all records; none when the file is not whole.
fn decode(bytes: &[u8]) -> Option<Vec<Forgotten>> {
    frame::read_header(bytes, NOTE_MAGIC).ok()?;
    let (mut at, mut found) = (HEADER_BYTES, Vec::new());
    loop {
        let (record, next) = frame::read(bytes, at).ok()??;
        if record.sequence != found.len() as u64 + 1 {
            return None;
        }
        found.push(serde_json::from_slice(record.payload).ok()?);
        if record.is_last() {
            return (next == bytes.len()).then_some(found);
        }
        at = next;
    }
}

/// Writes the marks of a memory that is about to go.
pub(super) fn write(files: &dyn Files, path: &Path, state: &State, now: &Moment) -> Result<(), StoreError> {
    Ok(note::replace(files, path, &encode(state, now.seconds())?)?)
}

impl Shared {
    /// Begins an empty memory with the marks of the one that was there before, if there was one.
    pub(super) fn begin(&self, path: &Path) -> Result<(), StoreError> {
        let bytes = match self.files.read(path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
            Err(error) => return Err(StoreError::io("read", path, error)),
        };
        let unread = || StoreError::Forgotten { file: path.to_path_buf() };
        let found = decode(&bytes).ok_or_else(unread)?;
        let at = found.first().map(|first| first.at).unwrap_or_default();
        let at = Moment::new(at, Zone::utc()).map_err(|_| unread())?;
        self.write(|writer| {
            let mut batch = Batch::new(&writer.state, &at);
            for Forgotten { ordinals, tombstones, .. } in found {
                batch.push(Event::Purged(Purged { ordinals, tombstones, outcomes: Vec::new() }))?;
            }
            self.commit(writer, batch, &at)
        })
    }
}
