//! Writing checkpoints, and removing old ones.

use std::io;
use std::num::NonZeroUsize;
use std::path::{Path, PathBuf};
use std::sync::Arc;

use super::error::CheckpointError;
use super::files::{Files, Lock, remove_all};
use super::manifest::{MANIFEST, Manifest};
use super::read::{LATEST, UNFINISHED, folder_name, read_manifest, read_step, steps};
use super::state::Finite;

/// The file that is locked while somebody writes here.
const LOCK: &str = "lock";
/// What a damaged checkpoint is called before it is removed, before its step.
const ASIDE: &str = "tmp-old-";

/// A folder of checkpoints, for one process to write to.
pub struct Checkpoints {
    files: Arc<dyn Files>,
    folder: PathBuf,
    keep: NonZeroUsize,
    _lock: Box<dyn Lock>,
}

/// What writing did.
#[derive(Debug)]
pub struct Written {
    /// Steps whose checkpoints were removed, because newer ones are enough.
    pub removed: Vec<u64>,
    /// Why something old could not be removed. The new checkpoint is there; the next one tries again.
    pub not_removed: Option<CheckpointError>,
}

impl Checkpoints {
    /// Takes a folder, which is made when it is not there, and removes what was not finished in it. The last `keep` checkpoints will be
    /// kept.
    ///
    /// # Errors
    /// A file system that fails; another process that writes here.
    pub fn open(files: Arc<dyn Files>, folder: PathBuf, keep: NonZeroUsize) -> Result<Self, CheckpointError> {
        files.create_folder(&folder).map_err(CheckpointError::io("make", &folder))?;
        if let Some(parent) = folder.parent() {
            files.sync_folder(parent).map_err(CheckpointError::io("sync", parent))?;
        }
        let path = folder.join(LOCK);
        let lock = files.lock(&path).map_err(|error| match error.kind() {
            io::ErrorKind::WouldBlock => CheckpointError::Busy { folder: folder.clone() },
            _ => CheckpointError::io("lock", &path)(error),
        })?;
        let checkpoints = Self { files, folder, keep, _lock: lock };
        checkpoints.remove_unfinished()?;
        Ok(checkpoints)
    }

    /// Writes the checkpoint of a step and returns when it is on the disk. A checkpoint of the same step that is damaged is replaced; one
    /// that is whole and
    /// has the same bytes is left as it is.
    ///
    /// # Errors
    /// A file system that fails, such as a full disk: older checkpoints are as they were, and what was begun is removed. A whole
    /// checkpoint of this step with
    /// other bytes.
    pub fn write(&mut self, step: u64, state: &Finite) -> Result<Written, CheckpointError> {
        let manifest = Manifest::of(step, state.parts());
        let name = folder_name(step);
        let place = self.folder.join(&name);
        let there = self.files.list(&place).is_ok();
        let whole = if there { read_step(&*self.files, &self.folder, step).ok() } else { None };
        match whole {
            Some(found) if found.parts() == state.parts() => {}
            Some(_) => return Err(CheckpointError::Taken { step, folder: self.folder.clone() }),
            None => {
                let unfinished = self.folder.join(format!("{UNFINISHED}{name}"));
                let written = self.fill(&unfinished, &manifest, state);
                let written = written.and_then(|()| self.put(&unfinished, &place, there.then_some(step)));
                self.or_remove(written, &unfinished, true)?;
            }
        }
        let unfinished = self.folder.join(format!("{UNFINISHED}{LATEST}"));
        let pointed = self.point(&unfinished, &name);
        self.or_remove(pointed, &unfinished, false)?;
        let mut removed = Vec::new();
        let not_removed = self.remove_old(step, &mut removed).and_then(|()| self.remove_unfinished()).err();
        Ok(Written { removed, not_removed })
    }

    /// Writes all files of a checkpoint under another name.
    fn fill(&self, unfinished: &Path, manifest: &Manifest, state: &Finite) -> Result<(), CheckpointError> {
        let files = &*self.files;
        remove_all(files, unfinished, true).map_err(CheckpointError::io("remove", unfinished))?;
        files.create_folder(unfinished).map_err(CheckpointError::io("make", unfinished))?;
        for (name, bytes) in state.parts() {
            let path = unfinished.join(name);
            files.write(&path, bytes).map_err(CheckpointError::io("write", &path))?;
        }
        let path = unfinished.join(MANIFEST);
        let written = manifest.to_bytes().map_err(io::Error::from).and_then(|bytes| files.write(&path, &bytes));
        written.map_err(CheckpointError::io("write", &path))?;
        files.sync_folder(unfinished).map_err(CheckpointError::io("sync", unfinished))
    }

    /// Gives a written checkpoint its name; a damaged one that has it makes way.
    fn put(&self, unfinished: &Path, place: &Path, damaged: Option<u64>) -> Result<(), CheckpointError> {
        let files = &*self.files;
        if let Some(step) = damaged {
            let aside = self.folder.join(format!("{ASIDE}{step}"));
            remove_all(files, &aside, true).map_err(CheckpointError::io("remove", &aside))?;
            files.rename(place, &aside).map_err(CheckpointError::io("rename", place))?;
        }
        files.rename(unfinished, place).map_err(CheckpointError::io("rename", unfinished))?;
        self.sync()
    }

    fn point(&self, unfinished: &Path, name: &str) -> Result<(), CheckpointError> {
        let latest = self.folder.join(LATEST);
        self.files
            .write(unfinished, format!("{name}\n").as_bytes())
            .map_err(CheckpointError::io("write", unfinished))?;
        self.files.rename(unfinished, &latest).map_err(CheckpointError::io("rename", unfinished))?;
        self.sync()
    }

    /// Passes a result on; after a failure, removes what was begun. That this fails too is not the news.
    fn or_remove(&self, result: Result<(), CheckpointError>, path: &Path, folder: bool) -> Result<(), CheckpointError> {
        if result.is_err() {
            let _ = remove_all(&*self.files, path, folder);
        }
        result
    }

    /// Removes what is older than the checkpoints to keep, newest first kept: this step's, and older ones that have all their files. A
    /// damaged one counts for
    /// none, so that it does not push out a whole one.
    fn remove_old(&self, step: u64, removed: &mut Vec<u64>) -> Result<(), CheckpointError> {
        let entries = self.files.list(&self.folder).map_err(CheckpointError::io("list", &self.folder))?;
        let mut left = self.keep.get();
        for old in steps(&entries).into_iter().filter(|old| *old <= step) {
            if left > 0 {
                left -= usize::from(old == step || self.has_all_files(old));
                continue;
            }
            // Under another name first: half a checkpoint never has a checkpoint's name.
            let (place, aside) = (self.folder.join(folder_name(old)), self.folder.join(format!("{ASIDE}{old}")));
            remove_all(&*self.files, &aside, true).map_err(CheckpointError::io("remove", &aside))?;
            self.files.rename(&place, &aside).map_err(CheckpointError::io("rename", &place))?;
            self.sync()?;
            removed.push(old);
        }
        Ok(())
    }

    fn has_all_files(&self, step: u64) -> bool {
        let folder = self.folder.join(folder_name(step));
        let whole = |part: &super::manifest::Part| {
            self.files.length(&folder.join(&part.name)).is_ok_and(|length| length == part.bytes)
        };
        read_manifest(&*self.files, &folder, step).is_ok_and(|manifest| manifest.parts.iter().all(whole))
    }

    fn remove_unfinished(&self) -> Result<(), CheckpointError> {
        let entries = self.files.list(&self.folder).map_err(CheckpointError::io("list", &self.folder))?;
        for entry in entries.iter().filter(|entry| entry.name.starts_with(UNFINISHED)) {
            let path = self.folder.join(&entry.name);
            remove_all(&*self.files, &path, entry.folder).map_err(CheckpointError::io("remove", &path))?;
        }
        Ok(())
    }

    fn sync(&self) -> Result<(), CheckpointError> {
        self.files.sync_folder(&self.folder).map_err(CheckpointError::io("sync", &self.folder))
    }
}
