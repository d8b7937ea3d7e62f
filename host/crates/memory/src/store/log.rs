//! The log of one user: segments of records, and the list of them, which is replaced whole. It knows framing and files, and no state.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use serde::{Deserialize, Serialize};

use super::error::{FoldError, StoreError};
use super::event::Event;
use super::files::{Appender, Files};
use super::frame::{self, HEADER_BYTES, LAST, LOG_MAGIC, Record};
use super::limits::{RECORD_BYTES_MAX, Sizes};
use super::note::{self, Replace, TEMPORARY};
use super::segment;
use crate::unit::Sequence;

/// The file that lists the segments.
pub(super) const LIST: &str = "segments";

/// The segments of a log, in order. A file that is not listed is not part of the log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct List {
    /// How often the log was rewritten. A snapshot of another generation says what is no longer so.
    pub(super) generation: u64,
    pub(super) segments: Vec<Listed>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Listed {
    /// From 1.
    pub(super) index: u64,
    /// The generation that wrote it.
    pub(super) generation: u64,
    /// The first sequence in it.
    pub(super) first: Sequence,
}

impl Listed {
    pub(super) fn name(&self) -> String {
        format!("{:08}-{:06}.log", self.index, self.generation)
    }
}

/// What was cut from the end of a log when it was opened: a commit that never returned.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TornTail {
    /// The file.
    pub file: PathBuf,
    /// Where it was cut, in bytes from its beginning.
    pub offset: u64,
    /// How many bytes were cut.
    pub bytes: u64,
}

/// What opening found.
pub(super) struct Opened {
    pub(super) torn: Option<TornTail>,
    pub(super) removed: usize,
}

pub(super) struct Log {
    pub(super) files: Arc<dyn Files>,
    pub(super) folder: PathBuf,
    pub(super) list: List,
    pub(super) sizes: Sizes,
    file: Box<dyn Appender>,
    /// Bytes of the last segment that are committed.
    pub(super) length: u64,
    /// The last segment may have more bytes than that.
    dirty: bool,
    /// Nobody knows what is on the disk.
    pub(super) doubt: bool,
    /// The last sequence.
    pub(super) last: Sequence,
}

fn damaged(file: &Path, offset: usize, bad: frame::Bad) -> StoreError {
    StoreError::Damaged { file: file.to_path_buf(), offset: offset as u64, expected: bad.expected, found: bad.found }
}

/// Reads the list of a log; an empty log is begun where there is none.
pub(super) fn list(files: &dyn Files, folder: &Path) -> Result<List, StoreError> {
    let path = folder.join(LIST);
    if let Some(list) = note::read::<List>(files, &path)? {
        let ordered = list.segments.is_sorted_by(|a, b| a.index < b.index && a.first <= b.first);
        if list.segments.is_empty() || !ordered {
            let bad = frame::Bad::new("segments in order", format!("{} segments", list.segments.len()));
            return Err(damaged(&path, HEADER_BYTES, bad));
        }
        return Ok(list);
    }
    for entry in files.list(folder).map_err(|error| StoreError::io("list", folder, error))? {
        let file = folder.join(&entry.name);
        let length = if entry.folder || entry.name.ends_with(TEMPORARY) {
            0
        } else {
            files.length(&file).map_err(|error| StoreError::io("read", &file, error))?
        };
        if length > HEADER_BYTES as u64 {
            return Err(damaged(&path, 0, frame::Bad::new("a list of segments", "no such file")));
        }
    }
    let first = Listed { index: 1, generation: 1, first: 1 };
    note::replace(files, &folder.join(first.name()), &frame::header(LOG_MAGIC, 1))?;
    let list = List { generation: 1, segments: vec![first] };
    note::replace(files, &path, &note::encode(&list))?;
    Ok(list)
}

/// Reads all records after `after` and opens the log for writing. `each` is called with whole batches only.
pub(super) fn open(
    files: Arc<dyn Files>,
    folder: &Path,
    list: List,
    sizes: Sizes,
    after: Sequence,
    each: &mut dyn FnMut(&Record<'_>) -> Result<(), StoreError>,
) -> Result<(Log, Opened), StoreError> {
    let mut torn = None;
    let (mut last, mut length) = (0, HEADER_BYTES as u64);
    for (number, listed) in list.segments.iter().enumerate() {
        let following = list.segments.get(number + 1);
        if following.is_some_and(|next| next.first <= after.saturating_add(1)) {
            continue;
        }
        let path = folder.join(listed.name());
        let bytes = files.read(&path).map_err(|error| StoreError::io("read", &path, error))?;
        let segment = segment::cut(&path, &bytes, listed.first)?;
        (last, length) = (segment.last, segment.end as u64);
        if let Some(stop) = &segment.stop {
            if following.is_some() || !segment.is_torn_tail(&bytes) {
                return Err(damaged(&path, stop.offset, stop.bad.clone()));
            }
            let bytes = (bytes.len() as u64).saturating_sub(length);
            torn = Some(TornTail { file: path.clone(), offset: length, bytes });
        }
        if let Some(next) = following.filter(|next| next.first != last.saturating_add(1)) {
            let bad = frame::Bad::new(format!("records up to {}", next.first.saturating_sub(1)), last.to_string());
            return Err(damaged(&path, segment.end, bad));
        }
        let covers = |record: &&Record<'_>| segment::through(record).is_some_and(|through| through > after);
        segment.records.iter().filter(covers).try_for_each(&mut *each)?;
    }
    if last < after {
        // Before a tail is cut that may have been a part of it.
        return Err(StoreError::Lost { folder: folder.to_path_buf(), last, shown: after, by: "the snapshot" });
    }
    let path = list.segments.last().map(|listed| folder.join(listed.name())).unwrap_or_default();
    let mut file = files.append(&path).map_err(|error| StoreError::io("open", &path, error))?;
    // What a process wrote that ended before its fsync is taken as committed: so it must last, and the list of segments with it.
    let cut = if torn.is_some() { file.truncate(length) } else { Ok(()) };
    let lasts = cut.and_then(|()| file.sync()).and_then(|()| files.sync_folder(folder));
    lasts.map_err(|error| StoreError::io("make sure of", &path, error))?;
    let mut log =
        Log { files, folder: folder.to_path_buf(), list, sizes, file, length, dirty: false, doubt: false, last };
    let removed = log.sweep()?;
    Ok((log, Opened { torn, removed }))
}

/// Gives the new bytes of a segment, or none when it stays as it is; told whether it is the last one.
pub(super) type Rewriting<'a> = dyn FnMut(&Listed, &[u8], bool) -> Result<Option<Vec<u8>>, StoreError> + 'a;

/// One event that is to be written.
pub(super) struct Line {
    pub(super) kind: u8,
    pub(super) payload: Vec<u8>,
}

impl Line {
    pub(super) fn of(event: &Event) -> Result<Self, FoldError> {
        let payload = event.payload()?;
        FoldError::limit("bytes of a record", payload.len(), RECORD_BYTES_MAX)?;
        Ok(Self { kind: event.kind(), payload })
    }
}

/// The bytes of a batch that begins with the sequence `first`.
pub(super) fn encode(lines: &[Line], first: Sequence, at: i64, limit: usize) -> Result<Vec<u8>, FoldError> {
    let mut bytes = Vec::new();
    for (sequence, line) in (first..).zip(lines) {
        let last = sequence + 1 == first + lines.len() as u64;
        let flags = if last { LAST } else { 0 };
        let record = Record { sequence, batch: first, at, kind: line.kind, flags, payload: &line.payload };
        frame::write(&mut bytes, &record);
        FoldError::limit("bytes of a commit", bytes.len(), limit)?;
    }
    Ok(bytes)
}

impl Log {
    fn in_doubt(&self) -> StoreError {
        StoreError::Doubt { folder: self.folder.clone() }
    }

    pub(super) fn path(&self, listed: &Listed) -> PathBuf {
        self.folder.join(listed.name())
    }

    fn last_path(&self) -> PathBuf {
        self.list.segments.last().map(|listed| self.path(listed)).unwrap_or_default()
    }

    pub(super) fn read(&self, listed: &Listed) -> Result<Vec<u8>, StoreError> {
        let path = self.path(listed);
        self.files.read(&path).map_err(|error| StoreError::io("read", &path, error))
    }

    /// Removes files of the folder that are not part of the log: a crash left them.
    pub(super) fn sweep(&mut self) -> Result<usize, StoreError> {
        let listed: Vec<String> = self.list.segments.iter().map(Listed::name).collect();
        let entries = self.files.list(&self.folder).map_err(|error| StoreError::io("list", &self.folder, error))?;
        let mut removed = 0;
        for entry in entries {
            if entry.folder || entry.name == LIST || listed.contains(&entry.name) {
                continue;
            }
            let path = self.folder.join(&entry.name);
            self.files.remove(&path).map_err(|source| StoreError::Leftover { path, source })?;
            removed += 1;
        }
        if removed > 0 {
            let folder = &self.folder;
            self.files.sync_folder(folder).map_err(|source| StoreError::Leftover { path: folder.clone(), source })?;
        }
        Ok(removed)
    }

    /// Commits lines as one batch: all of them or none. After an error, none.
    pub(super) fn append(&mut self, lines: &[Line], at: i64) -> Result<(), StoreError> {
        if lines.is_empty() {
            return Ok(());
        }
        self.clean()?;
        let bytes = encode(lines, self.last + 1, at, self.sizes.batch_bytes_max)?;
        if self.length >= self.sizes.segment_bytes {
            self.roll()?;
        }
        let path = self.last_path();
        let written = self.file.append(&bytes).and_then(|()| self.file.sync());
        if let Err(error) = written {
            self.dirty = true;
            // If this fails too, the next commit tries again; if the process ends first, opening cuts the tail.
            self.clean().ok();
            return Err(StoreError::io("write", &path, error));
        }
        self.length += bytes.len() as u64;
        self.last += lines.len() as u64;
        Ok(())
    }

    /// Takes away what a failed commit left.
    fn clean(&mut self) -> Result<(), StoreError> {
        if self.doubt {
            return Err(self.in_doubt());
        }
        if self.dirty {
            let path = self.last_path();
            let cut = self.file.truncate(self.length).and_then(|()| self.file.sync());
            cut.map_err(|error| StoreError::io("cut", &path, error))?;
            self.dirty = false;
        }
        Ok(())
    }

    fn roll(&mut self) -> Result<(), StoreError> {
        let index = self.list.segments.last().map_or(1, |listed| listed.index.saturating_add(1));
        let next = Listed { index, generation: self.list.generation, first: self.last + 1 };
        let path = self.path(&next);
        note::replace(self.files.as_ref(), &path, &frame::header(LOG_MAGIC, next.first))?;
        let file = self.files.append(&path).map_err(|error| StoreError::io("open", &path, error))?;
        let mut list = self.list.clone();
        list.segments.push(next);
        self.adopt(list, file, HEADER_BYTES as u64)
    }

    /// Makes another list of segments that of the log.
    fn adopt(&mut self, list: List, file: Box<dyn Appender>, length: u64) -> Result<(), StoreError> {
        match note::replace(self.files.as_ref(), &self.folder.join(LIST), &note::encode(&list)) {
            Ok(()) => {
                (self.list, self.file, self.length) = (list, file, length);
                Ok(())
            }
            Err(Replace::Old(error)) => Err(error),
            Err(Replace::Doubt(error)) => {
                self.doubt = true;
                Err(error)
            }
        }
    }

    /// Writes segments anew and makes them the log, all of them or none. `edit` gives the new bytes of a segment, or none when it stays.
    fn rewrite(&mut self, edit: &mut Rewriting<'_>) -> Result<(), StoreError> {
        self.clean()?;
        let mut list = self.list.clone();
        list.generation = list.generation.saturating_add(1);
        let (generation, count) = (list.generation, list.segments.len());
        let mut length = self.length;
        for (number, listed) in list.segments.iter_mut().enumerate() {
            let last = number + 1 == count;
            let old = self.read(listed)?;
            let Some(new) = edit(listed, &old, last)? else { continue };
            listed.generation = generation;
            note::replace(self.files.as_ref(), &self.path(listed), &new)?;
            if last {
                length = new.len() as u64;
            }
        }
        let path = list.segments.last().map(|listed| self.path(listed)).unwrap_or_default();
        let file = self.files.append(&path).map_err(|error| StoreError::io("open", &path, error))?;
        self.adopt(list, file, length)
    }

    /// [`Log::rewrite`], and after an error none of the new files is left, as far as that can be done.
    pub(super) fn rewrite_or_sweep(&mut self, edit: &mut Rewriting<'_>) -> Result<(), StoreError> {
        let done = self.rewrite(edit);
        if done.is_err() && !self.doubt {
            self.sweep().ok();
        }
        done
    }

    /// Calls `each` with every record after `after`, from the files.
    pub(super) fn replay(
        &self,
        after: Sequence,
        each: &mut dyn FnMut(&Record<'_>) -> Result<(), StoreError>,
    ) -> Result<u64, StoreError> {
        let mut total = 0;
        for (number, listed) in self.list.segments.iter().enumerate() {
            let following = self.list.segments.get(number + 1);
            if following.is_some_and(|next| next.first <= after.saturating_add(1)) {
                continue;
            }
            let mut bytes = self.read(listed)?;
            if following.is_none() {
                bytes.truncate(usize::try_from(self.length).unwrap_or(usize::MAX));
            }
            total += bytes.len() as u64;
            let path = self.path(listed);
            let segment = segment::cut(&path, &bytes, listed.first)?;
            if let Some(stop) = segment.stop {
                return Err(damaged(&path, stop.offset, stop.bad));
            }
            let covers = |record: &&Record<'_>| segment::through(record).is_some_and(|through| through > after);
            segment.records.iter().filter(covers).try_for_each(&mut *each)?;
        }
        Ok(total)
    }

    /// Bytes of the segments.
    pub(super) fn bytes(&self) -> Result<u64, StoreError> {
        self.list
            .segments
            .iter()
            .map(|listed| {
                let path = self.path(listed);
                self.files.length(&path).map_err(|error| StoreError::io("read", &path, error))
            })
            .sum()
    }
}
