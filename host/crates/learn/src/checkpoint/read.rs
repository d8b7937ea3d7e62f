//! Finding the newest whole checkpoint.

use std::collections::BTreeMap;
use std::io;
use std::path::Path;

use loopwright_contract::digest::BlobDigest;

use super::error::{CheckpointError, Flaw, Skipped};
use super::files::{Entry, Files};
use super::manifest::{MANIFEST, MANIFEST_BYTES_MAX, Manifest, Part};

/// What a checkpoint's folder is called before its step.
const STEP: &str = "step-";
/// What everything is called that is not finished.
pub(super) const UNFINISHED: &str = "tmp-";
/// The file that names the newest checkpoint.
pub(super) const LATEST: &str = "latest";
/// Bytes that are read of it.
const LATEST_BYTES_MAX: u64 = 64;

/// A whole checkpoint.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Checkpoint {
    /// The step after which it was written.
    pub step: u64,
    parts: BTreeMap<String, Vec<u8>>,
}

impl Checkpoint {
    /// The bytes of a part.
    ///
    /// # Errors
    /// A part that it does not have.
    pub fn part(&self, name: &str) -> Result<&[u8], CheckpointError> {
        let found = self.parts.get(name).map(Vec::as_slice);
        found.ok_or_else(|| CheckpointError::NoPart { step: self.step, name: name.to_owned() })
    }

    /// All parts by name.
    #[must_use]
    pub fn parts(&self) -> &BTreeMap<String, Vec<u8>> {
        &self.parts
    }
}

/// What reading found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Found {
    /// The newest whole one.
    pub checkpoint: Checkpoint,
    /// What is newer and not whole, or was not finished.
    pub skipped: Vec<Skipped>,
}

/// The folder of a step.
pub(super) fn folder_name(step: u64) -> String {
    format!("{STEP}{step:012}")
}

/// The step of a folder's name.
pub(super) fn step_of(name: &str) -> Option<u64> {
    let step = name.strip_prefix(STEP)?.parse().ok()?;
    (folder_name(step) == name).then_some(step)
}

/// Steps that have a folder, newest first.
pub(super) fn steps(entries: &[Entry]) -> Vec<u64> {
    let mut steps: Vec<u64> =
        entries.iter().filter(|entry| entry.folder).filter_map(|entry| step_of(&entry.name)).collect();
    steps.sort_unstable_by(|a, b| b.cmp(a));
    steps
}

/// Reads the newest whole checkpoint of a folder; none when there is no checkpoint at all.
///
/// # Errors
/// A folder that cannot be listed; checkpoints of which none is whole.
pub fn read_newest(files: &dyn Files, folder: &Path) -> Result<Option<Found>, CheckpointError> {
    let entries = match files.list(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(CheckpointError::io("list", folder)(error)),
    };
    let unfinished = entries.iter().filter(|entry| entry.folder && entry.name.starts_with(UNFINISHED));
    let unfinished = unfinished.map(|entry| Skipped { name: entry.name.clone(), why: Flaw::Unfinished });
    let mut skipped: Vec<Skipped> = unfinished.collect();
    let steps = steps(&entries);
    if let Some(step) = latest(files, folder).filter(|step| !steps.contains(step)) {
        skipped.push(Skipped { name: folder_name(step), why: Flaw::Gone });
    }
    let broken = !steps.is_empty();
    for step in steps {
        match read_step(files, folder, step) {
            Ok(checkpoint) => return Ok(Some(Found { checkpoint, skipped })),
            Err(why) => skipped.push(Skipped { name: folder_name(step), why }),
        }
    }
    if broken { Err(CheckpointError::NothingWhole { folder: folder.to_owned(), skipped }) } else { Ok(None) }
}

/// The step that `latest` names.
fn latest(files: &dyn Files, folder: &Path) -> Option<u64> {
    let path = folder.join(LATEST);
    if files.length(&path).ok()? > LATEST_BYTES_MAX {
        return None;
    }
    let text = String::from_utf8(files.read(&path).ok()?).ok()?;
    step_of(text.trim_end())
}

/// Reads the checkpoint of a step, all of it checked.
pub(super) fn read_step(files: &dyn Files, folder: &Path, step: u64) -> Result<Checkpoint, Flaw> {
    let folder = folder.join(folder_name(step));
    let manifest = read_manifest(files, &folder, step)?;
    let part = |part: &Part| Ok((part.name.clone(), read_part(files, &folder, part)?));
    let parts = manifest.parts.iter().map(part).collect::<Result<_, _>>()?;
    Ok(Checkpoint { step, parts })
}

pub(super) fn read_manifest(files: &dyn Files, folder: &Path, step: u64) -> Result<Manifest, Flaw> {
    let path = folder.join(MANIFEST);
    let bytes = files.length(&path).and_then(|length| {
        if length > MANIFEST_BYTES_MAX {
            let reason = format!("it is {length} bytes, at most {MANIFEST_BYTES_MAX} are read");
            return Err(io::Error::new(io::ErrorKind::InvalidData, reason));
        }
        files.read(&path)
    });
    let bytes = bytes.map_err(|error| error.to_string());
    let manifest = bytes.and_then(|bytes| Manifest::parse(step, &bytes));
    manifest.map_err(|reason| Flaw::Manifest { reason })
}

fn read_part(files: &dyn Files, folder: &Path, part: &Part) -> Result<Vec<u8>, Flaw> {
    let path = folder.join(&part.name);
    let unreadable = |error: io::Error| Flaw::Unreadable { part: part.name.clone(), reason: error.to_string() };
    let torn = |found: u64| Flaw::Torn { part: part.name.clone(), expected: part.bytes, found };
    // The size first, so that a file that is larger than promised is not read.
    let length = files.length(&path).map_err(unreadable)?;
    if length != part.bytes {
        return Err(torn(length));
    }
    let bytes = files.read(&path).map_err(unreadable)?;
    let found = BlobDigest::of(&bytes);
    if found != part.digest {
        let (expected, found) = (part.digest.to_string(), found.to_string());
        return Err(Flaw::Damaged { part: part.name.clone(), expected, found });
    }
    Ok(bytes)
}
