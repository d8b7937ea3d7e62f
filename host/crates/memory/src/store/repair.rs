//! What is done with a log that does not read: what still does is kept, and said what does not.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::{FoldError, StoreError};
use super::event::{Event, Void};
use super::files::{Files, remove_tree};
use super::fold::Meta;
use super::frame::{self, LAST, LOG_MAGIC, Record, Resumed, SCRUBBED};
use super::handle::{ASIDE, INDEX, LOG, VECTORS, remove_image};
use super::limits::{SALVAGE_READS_MAX, SEQUENCE_MAX, Sizes};
use super::log::{LIST, List, Listed};
use super::note::{self, TEMPORARY};
use super::segment;
use super::state::State;
use crate::id::RootKey;
use crate::unit::Sequence;

/// A record that reads but no longer follows, since it needs one that is lost.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// Its place.
    pub sequence: Sequence,
    /// Why it does not follow.
    pub reason: String,
}

/// What a repair did. The old files lie in `aside/`, with all that was in them, until something of this memory is purged.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Repair {
    /// Records that are kept.
    pub kept: u64,
    /// Ranges of records that do not read any more, both ends included.
    pub lost: Vec<(Sequence, Sequence)>,
    /// Records that read but do not follow.
    pub dropped: Vec<Dropped>,
    /// Bytes that are no record.
    pub bytes_lost: u64,
    /// Where the old files are.
    pub aside: Vec<PathBuf>,
}

/// The log as it is written anew.
struct Salvage<'a> {
    state: State,
    log: Vec<u8>,
    repair: Repair,
    folder: &'a Path,
}

impl Salvage<'_> {
    fn void(&mut self, from: Sequence, through: Sequence) -> Result<(), FoldError> {
        let event = Event::Void(Void { through });
        let payload = event.payload()?;
        let flags = LAST | SCRUBBED;
        let record = Record { sequence: from, batch: from, at: 0, kind: event.kind(), flags, payload: &payload };
        self.state.apply(Meta { sequence: from, at: 0, scrubbed: true }, event)?;
        frame::write(&mut self.log, &record);
        Ok(())
    }

    /// Keeps a record, if it still follows.
    fn put(&mut self, record: &Record<'_>) -> Result<(), FoldError> {
        let expected = self.state.sequence + 1;
        let Some(through) =
            segment::through(record).filter(|through| record.sequence >= expected && *through <= SEQUENCE_MAX)
        else {
            return Ok(());
        };
        if record.sequence > expected {
            self.void(expected, record.sequence - 1)?;
            self.repair.lost.push((expected, record.sequence - 1));
        }
        let mut state = self.state.clone();
        let meta = Meta { sequence: record.sequence, at: record.at, scrubbed: true };
        let followed = Event::read(record.kind, record.payload).and_then(|event| state.apply(meta, event));
        match followed {
            Ok(()) => {
                self.state = state;
                // Each is a batch of its own: what was one may have lost a part.
                let flags = record.flags | LAST | SCRUBBED;
                frame::write(&mut self.log, &Record { batch: record.sequence, flags, ..*record });
                self.repair.kept += 1;
                Ok(())
            }
            Err(error) => {
                self.repair.dropped.push(Dropped { sequence: record.sequence, reason: error.to_string() });
                self.void(record.sequence, through)
            }
        }
    }

    /// Reads all records of a file that can still be read.
    fn file(&mut self, bytes: &[u8]) -> Result<(), StoreError> {
        let folder = self.folder.to_path_buf();
        let mut at = if frame::read_header(bytes, LOG_MAGIC).is_ok() { frame::HEADER_BYTES } else { 0 };
        let mut budget = bytes.len().saturating_mul(SALVAGE_READS_MAX);
        loop {
            match frame::read(bytes, at) {
                Ok(None) => return Ok(()),
                Ok(Some((record, next))) => {
                    let refuse =
                        |source| StoreError::Record { folder: folder.clone(), sequence: record.sequence, source };
                    self.put(&record).map_err(refuse)?;
                    at = next;
                }
                Err(_) => {
                    let end = match frame::resume(bytes, at, self.state.sequence, &mut budget) {
                        Resumed::At(next) => next,
                        Resumed::Nowhere | Resumed::GivenUp => bytes.len(),
                    };
                    self.repair.bytes_lost += (end - at) as u64;
                    at = end;
                }
            }
        }
    }
}

/// The files of a log, as its list says; without one, of each segment the one that was written last.
fn files_of(files: &dyn Files, logs: &Path) -> Result<(Vec<String>, Vec<String>, u64), StoreError> {
    let entries = files.list(logs).map_err(|error| StoreError::io("list", logs, error))?;
    let all: Vec<String> = entries.into_iter().filter(|entry| !entry.folder).map(|entry| entry.name).collect();
    if let Ok(Some(list)) = note::read::<List>(files, &logs.join(LIST)) {
        let listed = list.segments.iter().map(Listed::name).filter(|name| all.contains(name)).collect();
        return Ok((listed, all, list.generation));
    }
    let number = |text: &str| text.parse::<u64>().ok();
    let mut found: Vec<(u64, u64, String)> = all
        .iter()
        .filter(|name| !name.ends_with(TEMPORARY))
        .filter_map(|name| {
            let (index, generation) = name.strip_suffix(".log")?.split_once('-')?;
            Some((number(index)?, number(generation)?, name.clone()))
        })
        .collect();
    found.sort_unstable_by(|a, b| (a.0, b.1).cmp(&(b.0, a.1)));
    let generation = found.iter().map(|(_, generation, _)| *generation).max().unwrap_or_default();
    found.dedup_by_key(|(index, ..)| *index);
    Ok((found.into_iter().map(|(.., name)| name).collect(), all, generation))
}

/// What can still be read of a log, as a state; nothing is changed.
pub(super) fn readable(files: &dyn Files, folder: &Path, key: &RootKey, sizes: Sizes) -> Result<State, StoreError> {
    let logs = folder.join(LOG);
    let (names, ..) = files_of(files, &logs)?;
    let state = State::new(key.clone(), sizes.units_max);
    let mut salvage = Salvage { state, log: Vec::new(), repair: Repair::default(), folder: &logs };
    for name in &names {
        let path = logs.join(name);
        salvage.file(&files.read(&path).map_err(|error| StoreError::io("read", &path, error))?)?;
    }
    Ok(salvage.state)
}

/// Writes the log anew from what can still be read of it, as one segment. The old files are put aside.
pub(super) fn repair(files: &Arc<dyn Files>, folder: &Path, key: &RootKey, sizes: Sizes) -> Result<Repair, StoreError> {
    let logs = folder.join(LOG);
    let (names, all, generation) = files_of(files.as_ref(), &logs)?;
    let state = State::new(key.clone(), sizes.units_max);
    let log = frame::header(LOG_MAGIC, 1);
    let mut salvage = Salvage { state, log, repair: Repair::default(), folder: &logs };
    for name in &names {
        let path = logs.join(name);
        salvage.file(&files.read(&path).map_err(|error| StoreError::io("read", &path, error))?)?;
    }
    let Salvage { log, mut repair, .. } = settle(salvage)?;
    let generation = generation.saturating_add(1);
    let listed = Listed { index: 1, generation, first: 1 };
    set_aside(files.as_ref(), folder, &logs, &all, &mut repair)?;
    note::replace(files.as_ref(), &logs.join(listed.name()), &log)?;
    note::replace(files.as_ref(), &logs.join(LIST), &note::encode(&List { generation, segments: vec![listed] }))?;
    remove_image(files.as_ref(), folder)?;
    remove_followers(files.as_ref(), folder)?;
    for name in all.iter().filter(|name| *name != LIST && **name != listed.name()) {
        let path = logs.join(name);
        files.remove(&path).map_err(|source| StoreError::Leftover { path, source })?;
    }
    files.sync_folder(&logs).map_err(|source| StoreError::Leftover { path: logs.clone(), source })?;
    Ok(repair)
}

/// Removes what followed the log that was: it may show what is lost, and is made anew.
fn remove_followers(files: &dyn Files, folder: &Path) -> Result<(), StoreError> {
    let leftover = |path: PathBuf| move |source| StoreError::Leftover { path, source };
    for entry in files.list(folder).map_err(leftover(folder.to_path_buf()))? {
        let path = folder.join(&entry.name);
        let follows =
            |name: &str| entry.name.strip_prefix(name).is_some_and(|end| end.is_empty() || end.starts_with('.'));
        let removed = match entry.folder {
            true if follows(INDEX) => remove_tree(files, &path),
            false if follows(VECTORS) => files.remove(&path),
            _ => Ok(()),
        };
        removed.map_err(leftover(path))?;
    }
    files.sync_folder(folder).map_err(leftover(folder.to_path_buf()))
}

/// Drops records that made a unit which nothing completed: one that a purge rewrote and whose purge is lost.
fn settle(mut salvage: Salvage<'_>) -> Result<Salvage<'_>, StoreError> {
    while let Err((sequence, error)) = salvage.state.settled() {
        let old = std::mem::replace(&mut salvage.log, frame::header(LOG_MAGIC, 1));
        let key = salvage.state.key.clone();
        let units_max = salvage.state.units_max;
        salvage.state = State::new(key, units_max);
        salvage.repair.kept = 0;
        salvage.repair.dropped.push(Dropped { sequence, reason: error.to_string() });
        let mut at = frame::HEADER_BYTES;
        while let Ok(Some((record, next))) = frame::read(&old, at) {
            let refuse =
                |source| StoreError::Record { folder: salvage.folder.to_path_buf(), sequence: record.sequence, source };
            if record.sequence == sequence {
                salvage.void(sequence, sequence).map_err(refuse)?;
            } else {
                salvage.put(&record).map_err(refuse)?;
            }
            at = next;
        }
    }
    Ok(salvage)
}

/// Copies the old files, so that nothing is lost that somebody may still read by hand.
fn set_aside(
    files: &dyn Files,
    folder: &Path,
    logs: &Path,
    names: &[String],
    repair: &mut Repair,
) -> Result<(), StoreError> {
    let aside = folder.join(ASIDE);
    files.create_folder(&aside).map_err(|error| StoreError::io("create", &aside, error))?;
    files.sync_folder(folder).map_err(|error| StoreError::io("create", &aside, error))?;
    let taken = files.list(&aside).map_err(|error| StoreError::io("list", &aside, error))?;
    for name in names {
        let path = logs.join(name);
        let bytes = files.read(&path).map_err(|error| StoreError::io("read", &path, error))?;
        let free = |number: &usize| taken.iter().all(|entry| entry.name != format!("{number:04}-{name}"));
        let number = (0..=taken.len()).find(free).unwrap_or_default();
        let to = aside.join(format!("{number:04}-{name}"));
        note::replace(files, &to, &bytes)?;
        repair.aside.push(to);
    }
    Ok(())
}
