//! Small files that are replaced whole: temporary file, fsync, rename, fsync of the folder.

use std::io;
use std::path::{Path, PathBuf};

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::error::StoreError;
use super::files::Files;
use super::frame::{self, BadHeader, LAST, NOTE_MAGIC, Record};

/// The end of a temporary file's name. One that is found at opening is removed.
pub(super) const TEMPORARY: &str = ".new";

/// What a failed replacement left.
pub(super) enum Replace {
    /// The old file, if there was one.
    Old(StoreError),
    /// Perhaps the old file, perhaps the new one.
    Doubt(StoreError),
}

impl From<Replace> for StoreError {
    fn from(replace: Replace) -> Self {
        match replace {
            Replace::Old(error) | Replace::Doubt(error) => error,
        }
    }
}

pub(super) fn temporary(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(TEMPORARY);
    path.with_file_name(name)
}

/// Puts `bytes` in the place of the file, whole or not at all.
pub(super) fn replace(files: &dyn Files, path: &Path, bytes: &[u8]) -> Result<(), Replace> {
    let new = temporary(path);
    let written = (|| {
        let mut file = files.create(&new)?;
        file.append(bytes)?;
        file.sync()
    })();
    let renamed = written.and_then(|()| files.rename(&new, path));
    if let Err(error) = renamed {
        // What cannot be removed now is removed at the next opening.
        files.remove(&new).ok();
        return Err(Replace::Old(StoreError::io("write", path, error)));
    }
    let folder = path.parent().unwrap_or(path);
    files.sync_folder(folder).map_err(|error| Replace::Doubt(StoreError::io("write", path, error)))
}

/// A note's bytes: a header and one record.
pub(super) fn encode(note: &impl Serialize) -> Vec<u8> {
    let payload = serde_json::to_vec(note).unwrap_or_default();
    let mut bytes = frame::header(NOTE_MAGIC, 0);
    frame::write(&mut bytes, &Record { sequence: 1, batch: 1, at: 0, kind: 0, flags: LAST, payload: &payload });
    bytes
}

/// Reads a note; none when there is no file.
pub(super) fn read<T: DeserializeOwned>(files: &dyn Files, path: &Path) -> Result<Option<T>, StoreError> {
    let bytes = match files.read(path) {
        Ok(bytes) => bytes,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(StoreError::io("read", path, error)),
    };
    frame::read_header(&bytes, NOTE_MAGIC).map_err(|error| header_error(path, error))?;
    let damaged = |expected: String, found: String| StoreError::Damaged {
        file: path.to_path_buf(),
        offset: frame::HEADER_BYTES as u64,
        expected,
        found,
    };
    let record = frame::read(&bytes, frame::HEADER_BYTES).map_err(|bad| damaged(bad.expected, bad.found))?;
    let Some((record, _)) = record else { return Err(damaged("a record".into(), "the end of the file".into())) };
    let note = serde_json::from_slice(record.payload);
    note.map(Some).map_err(|error| damaged("a note of this format".into(), format!("{:?} error", error.classify())))
}

pub(super) fn header_error(path: &Path, error: BadHeader) -> StoreError {
    match error {
        BadHeader::Bad(bad) => {
            StoreError::Damaged { file: path.to_path_buf(), offset: 0, expected: bad.expected, found: bad.found }
        }
        BadHeader::Version(found) => {
            StoreError::Version { file: path.to_path_buf(), found, expected: frame::FORMAT_VERSION }
        }
    }
}
