//! Blobs on this machine, by digest. It does not know what a blob means.
//!
//! A blob comes in through [`Ingest`]: into a temporary file, hashed on the way; only when length and digest are the expected ones it is
//! synced and gets its name. So a name in the store never stood for other bytes, and a failed download leaves nothing that a second attempt
//! could find. The digest is computed again at every [`Store::load`], because disks and people change files.

use std::{
    collections::BTreeSet,
    fs,
    io::{ErrorKind, Write as _},
    path::{Path, PathBuf},
};

use loopwright_contract::digest::BlobDigest;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use tempfile::NamedTempFile;

use crate::{
    RegistryError,
    crash::point,
    file::{self, Hold},
    refusal::Refusal,
};

/// Blobs by digest, in a folder.
#[derive(Debug, Clone)]
pub struct Store {
    folder: PathBuf,
}

/// What a blob has to be before it is kept.
#[derive(Debug, Clone, Copy)]
pub struct Expected {
    /// What it is, for messages.
    pub what: &'static str,
    /// Its digest.
    pub digest: BlobDigest,
    /// Exactly so many bytes.
    pub size_bytes: u64,
}

/// What [`Store::collect`] removed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize)]
pub struct Collected {
    /// Blobs that stayed.
    pub kept: usize,
    /// Blobs and unfinished downloads that went.
    pub removed: usize,
    /// Their bytes.
    pub removed_bytes: u64,
}

impl Store {
    /// Opens a store, and makes it where there is none.
    ///
    /// # Errors
    /// `Io` when the folder cannot be made.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, RegistryError> {
        let store = Self { folder: folder.into() };
        for folder in [store.blobs(), store.parts()] {
            fs::create_dir_all(&folder).map_err(RegistryError::io(folder))?;
        }
        Ok(store)
    }

    fn blobs(&self) -> PathBuf {
        self.folder.join("blobs").join("sha256")
    }

    fn parts(&self) -> PathBuf {
        self.folder.join("parts")
    }

    /// A digest's own text is the only thing that becomes a path, and it is hexadecimal.
    fn path(&self, digest: &BlobDigest) -> PathBuf {
        self.blobs().join(hex::encode(digest.0))
    }

    /// Keeps [`Store::collect`] out while blobs come in that nothing names yet.
    ///
    /// # Errors
    /// `Io` when the lock cannot be taken.
    pub fn hold(&self) -> Result<Hold, RegistryError> {
        Hold::take(&self.folder, true)
    }

    /// Starts to take a blob in.
    ///
    /// # Errors
    /// `Io` when there is no room for it.
    pub fn ingest(&self, expected: Expected) -> Result<Ingest, RegistryError> {
        let parts = self.parts();
        let part = NamedTempFile::new_in(&parts).map_err(RegistryError::io(parts))?;
        Ok(Ingest { part, hash: Sha256::new(), found: 0, path: self.path(&expected.digest), expected })
    }

    /// Keeps bytes that are in memory.
    ///
    /// # Errors
    /// `Io` when they cannot be written.
    pub fn put(&self, what: &'static str, bytes: &[u8]) -> Result<BlobDigest, RegistryError> {
        let digest = self.put_unsynced(what, bytes)?;
        self.sync(&digest)?;
        Ok(digest)
    }

    /// The same for one of several blobs, after which [`Store::sync`] is called once.
    pub(crate) fn put_unsynced(&self, what: &'static str, bytes: &[u8]) -> Result<BlobDigest, RegistryError> {
        let digest = BlobDigest::of(bytes);
        let mut ingest = self.ingest(Expected { what, digest, size_bytes: bytes.len() as u64 })?;
        ingest.write(bytes)?;
        ingest.finish_unsynced()?;
        Ok(digest)
    }

    /// Brings the names of all blobs to disk that have come in.
    pub(crate) fn sync(&self, any: &BlobDigest) -> Result<(), RegistryError> {
        file::sync_folder_of(&self.path(any))
    }

    /// A blob's bytes, hashed again; none when it is not there.
    ///
    /// # Errors
    /// `Refused` when the bytes on disk are others; it stays refused until the blob is taken in anew.
    pub fn load(&self, what: &'static str, digest: &BlobDigest, limit: u64) -> Result<Option<Vec<u8>>, RegistryError> {
        let bytes = match file::read(&self.path(digest), limit) {
            Ok(bytes) => bytes,
            Err(RegistryError::Missing { .. }) => return Ok(None),
            Err(error) => return Err(error),
        };
        check_digest(what, digest, &BlobDigest::of(&bytes))?;
        Ok(Some(bytes))
    }

    /// Removes every blob that is not among those to keep, and what unfinished downloads left. Waits until no download is under way, and asks
    /// what to keep only then: before, another process may still have been about to name something.
    ///
    /// # Errors
    /// `Io` when the folder cannot be read or a file not be removed, and whatever `keep` says; nothing is removed then.
    pub fn collect(
        &self,
        keep: impl FnOnce() -> Result<BTreeSet<BlobDigest>, RegistryError>,
        dry_run: bool,
    ) -> Result<Collected, RegistryError> {
        let _hold = Hold::take(&self.folder, false)?;
        let keep = keep()?;
        let keep: BTreeSet<String> = keep.iter().map(|digest| hex::encode(digest.0)).collect();
        let mut collected = Collected::default();
        for folder in [self.blobs(), self.parts()] {
            for entry in fs::read_dir(&folder).map_err(RegistryError::io(&folder))? {
                let path = entry.map_err(RegistryError::io(&folder))?.path();
                let named = path.file_name().is_some_and(|name| keep.contains(&*name.to_string_lossy()));
                if named && folder == self.blobs() {
                    collected.kept += 1;
                    continue;
                }
                collected.removed_bytes += fs::metadata(&path).map_err(RegistryError::io(&path))?.len();
                collected.removed += 1;
                if !dry_run {
                    remove(&path)?;
                }
            }
        }
        Ok(collected)
    }
}

fn remove(path: &Path) -> Result<(), RegistryError> {
    match fs::remove_file(path) {
        Err(source) if source.kind() != ErrorKind::NotFound => Err(RegistryError::Io { path: path.to_owned(), source }),
        _ => Ok(()),
    }
}

/// Compares what came with what was asked for.
pub(crate) fn check_digest(what: &'static str, expected: &BlobDigest, found: &BlobDigest) -> Result<(), Refusal> {
    if expected == found {
        return Ok(());
    }
    Err(Refusal::Digest { what, expected: expected.to_string(), found: found.to_string() })
}

/// A blob on its way in. Dropped before [`Ingest::finish`], it leaves nothing.
#[derive(Debug)]
pub struct Ingest {
    part: NamedTempFile,
    hash: Sha256,
    found: u64,
    expected: Expected,
    path: PathBuf,
}

impl Ingest {
    /// Takes the next bytes.
    ///
    /// # Errors
    /// `Refused` as soon as there are more than declared; `Io` when they cannot be written.
    pub fn write(&mut self, bytes: &[u8]) -> Result<(), RegistryError> {
        self.found += bytes.len() as u64;
        if self.found > self.expected.size_bytes {
            return Err(self.wrong_length().into());
        }
        self.hash.update(bytes);
        self.part.write_all(bytes).map_err(RegistryError::io(self.part.path()))?;
        point("part of a blob");
        Ok(())
    }

    /// Compares length and digest, and only then gives the blob its name.
    ///
    /// # Errors
    /// `Refused` when either differs; nothing is kept then.
    pub fn finish(self) -> Result<(), RegistryError> {
        let path = self.path.clone();
        self.finish_unsynced()?;
        file::sync_folder_of(&path)
    }

    /// The same for one of several blobs, after which [`Store::sync`] is called once.
    pub(crate) fn finish_unsynced(self) -> Result<(), RegistryError> {
        if self.found != self.expected.size_bytes {
            return Err(self.wrong_length().into());
        }
        check_digest(self.expected.what, &self.expected.digest, &BlobDigest(self.hash.finalize().into()))?;
        file::settle(self.part, &self.path, 0o444)
    }

    fn wrong_length(&self) -> Refusal {
        Refusal::Length {
            what: self.expected.what,
            digest: self.expected.digest.to_string(),
            expected: self.expected.size_bytes,
            found: self.found,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT: u64 = 1 << 20;

    fn expected(bytes: &[u8]) -> Expected {
        Expected { what: "blob", digest: BlobDigest::of(bytes), size_bytes: bytes.len() as u64 }
    }

    fn try_in(store: &Store, expected: Expected, chunks: &[&[u8]]) -> Result<(), RegistryError> {
        let mut ingest = store.ingest(expected)?;
        for chunk in chunks {
            ingest.write(chunk)?;
        }
        ingest.finish()
    }

    #[test]
    fn what_went_in_comes_out() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        try_in(&store, expected(b"component"), &[b"comp", b"", b"onent"]).unwrap();
        let digest = BlobDigest::of(b"component");
        assert_eq!(store.load("blob", &digest, LIMIT).unwrap().unwrap(), b"component");
        assert_eq!(store.load("blob", &BlobDigest::of(b"other"), LIMIT).unwrap(), None);
        assert!(matches!(store.load("blob", &digest, 3), Err(RegistryError::TooLarge { .. })));
    }

    #[test]
    fn what_is_not_expected_leaves_nothing_also_at_the_second_try() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        for bytes in [b"componenT".as_slice(), b"comp", b"component!"] {
            for _ in 0..2 {
                let error = try_in(&store, expected(b"component"), &[bytes]).unwrap_err();
                assert!(
                    matches!(error, RegistryError::Refused(Refusal::Digest { .. } | Refusal::Length { .. })),
                    "{error}"
                );
                assert_eq!(store.load("blob", &BlobDigest::of(b"component"), LIMIT).unwrap(), None);
            }
        }
        assert_eq!(fs::read_dir(store.parts()).unwrap().count(), 0);
    }

    #[test]
    fn bytes_that_changed_on_disk_are_refused_until_they_are_taken_in_anew() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let digest = store.put("blob", b"component").unwrap();
        fs::remove_file(store.path(&digest)).unwrap();
        fs::write(store.path(&digest), b"tampered!").unwrap();
        for _ in 0..2 {
            assert!(matches!(store.load("blob", &digest, LIMIT), Err(RegistryError::Refused(Refusal::Digest { .. }))));
        }
        store.put("blob", b"component").unwrap();
        assert_eq!(store.load("blob", &digest, LIMIT).unwrap().unwrap(), b"component");
    }

    #[test]
    fn collection_keeps_what_is_named() {
        let folder = tempfile::tempdir().unwrap();
        let store = Store::open(folder.path()).unwrap();
        let kept = store.put("blob", b"kept").unwrap();
        let gone = store.put("blob", b"gone").unwrap();
        fs::write(store.parts().join("cut-off"), b"12").unwrap();
        let keep = BTreeSet::from([kept]);
        let expected = Collected { kept: 1, removed: 2, removed_bytes: 6 };
        assert_eq!(store.collect(|| Ok(keep.clone()), true).unwrap(), expected);
        assert!(store.load("blob", &gone, LIMIT).unwrap().is_some(), "a dry run removes nothing");
        assert_eq!(store.collect(|| Ok(keep.clone()), false).unwrap(), expected);
        assert!(store.load("blob", &gone, LIMIT).unwrap().is_none());
        assert!(store.load("blob", &kept, LIMIT).unwrap().is_some());
        assert_eq!(fs::read_dir(store.parts()).unwrap().count(), 0);
    }
}
