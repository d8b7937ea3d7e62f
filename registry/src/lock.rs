//! The lock file: exactly which release of each package is installed, who signed it, and which releases were seen withdrawn.
//!
//! What the lock knows, a registry cannot take back: a release that is locked to one manifest is refused under another, and a yank that was
//! seen once holds when the registry stops showing it. What no lock of this machine has seen, a registry can still withhold: an older index
//! (rollback), a newer release (freeze) or a yank. That takes the signed append-only index of a later round; its counter will stand here.

use std::{collections::BTreeSet, path::Path};

use loopwright_contract::digest::{BlobDigest, ContentDigest, ManifestDigest, RequestDigest};
use serde::{Deserialize, Serialize};

use crate::{
    RegistryError,
    file::{self, Hold},
    key::KeyId,
    moment::Moment,
    name::{Package, Release},
    statement::Reason,
};

/// The lock file's name, beside the installed components.
pub const LOCK_FILE: &str = "loopwright.lock";
/// Most bytes of a lock file.
pub const LOCK_BYTES_LIMIT: u64 = 4 * 1024 * 1024;
const WHAT: &str = "lock file";
const HEAD: &str = "# Written by `loopwright registry`; keep it under version control, and do not edit it.\n";

/// A release that was verified and installed.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Locked {
    /// The release.
    pub release: Release,
    /// Its manifest.
    pub manifest: ManifestDigest,
    /// Its component.
    pub content: ContentDigest,
    /// What it asks for.
    pub request: RequestDigest,
    /// Whose signature counted.
    pub signer: KeyId,
    /// When the signer says it was issued.
    pub issued: Moment,
    /// The signature's envelope, in the store.
    pub envelope: BlobDigest,
    /// Where it came from.
    pub source: String,
}

/// A release whose publisher withdrew it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Yanked {
    /// The release.
    pub release: Release,
    /// Its manifest.
    pub manifest: ManifestDigest,
    /// Why.
    pub reason: String,
    /// Who says so.
    pub signer: KeyId,
    /// When.
    pub issued: Moment,
}

/// What the lock file says.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Lock {
    locked: Vec<Locked>,
    yanked: Vec<Yanked>,
}

#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Raw {
    version: u32,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    locked: Vec<Locked>,
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    yanked: Vec<Yanked>,
}

impl Lock {
    /// Reads a lock file; where there is none, nothing is locked.
    ///
    /// # Errors
    /// `BadFile` when it is not what it should be.
    pub fn read(path: &Path) -> Result<Self, RegistryError> {
        match file::read_text(WHAT, path, LOCK_BYTES_LIMIT)? {
            None => Ok(Self::default()),
            Some(text) => Self::parse(&text).map_err(|reason| RegistryError::BadFile {
                what: WHAT,
                path: path.to_owned(),
                reason,
            }),
        }
    }

    /// Keeps other processes from changing a lock file between reading and writing it.
    ///
    /// # Errors
    /// `Io` when the lock cannot be taken.
    pub fn guard(path: &Path) -> Result<Hold, RegistryError> {
        Hold::beside(path)
    }

    /// Reads a lock file's text.
    ///
    /// # Errors
    /// What is wrong, and where.
    pub fn parse(text: &str) -> Result<Self, String> {
        let raw: Raw = toml::from_str(text).map_err(|error| error.to_string())?;
        if raw.version != 1 {
            return Err(format!("expected version 1, found {}", raw.version));
        }
        let mut packages = BTreeSet::new();
        if let Some(twice) = raw.locked.iter().find(|locked| !packages.insert(&locked.release.package)) {
            return Err(format!("package `{}` stands there twice", twice.release.package));
        }
        if let Some(bad) = raw.yanked.iter().find(|yanked| yanked.reason.parse::<Reason>().is_err()) {
            return Err(format!("the reason why `{}` was yanked is not one line of text", bad.release));
        }
        let mut lock = Self { locked: raw.locked, yanked: raw.yanked };
        lock.sort();
        Ok(lock)
    }

    /// The lock file's text; the same lock has the same text.
    ///
    /// # Errors
    /// Never in practice: every value has a form in TOML.
    pub fn write_text(&self) -> Result<String, String> {
        let raw = Raw { version: 1, locked: self.locked.clone(), yanked: self.yanked.clone() };
        toml::to_string(&raw).map(|text| format!("{HEAD}{text}")).map_err(|error| error.to_string())
    }

    /// Puts the lock in the place of the file, whole.
    ///
    /// # Errors
    /// `Io` when it cannot be written, `TooLarge` for more than a lock file is read of; the old one is whole then.
    pub fn write(&self, path: &Path) -> Result<(), RegistryError> {
        let text =
            self.write_text().map_err(|reason| RegistryError::BadFile { what: WHAT, path: path.to_owned(), reason })?;
        file::readable(path, &text, LOCK_BYTES_LIMIT)?;
        file::replace(path, text.as_bytes(), 0o644)
    }

    fn sort(&mut self) {
        self.locked.sort_by(|a, b| a.release.cmp(&b.release));
        self.yanked.sort_by(|a, b| (&a.release, a.manifest).cmp(&(&b.release, b.manifest)));
        self.yanked.dedup_by(|a, b| (&a.release, a.manifest) == (&b.release, b.manifest));
    }

    /// What is installed.
    #[must_use]
    pub fn locked(&self) -> &[Locked] {
        &self.locked
    }

    /// What was seen withdrawn.
    #[must_use]
    pub fn yanked(&self) -> &[Yanked] {
        &self.yanked
    }

    /// The installed release of a package.
    #[must_use]
    pub fn of_package(&self, package: &Package) -> Option<&Locked> {
        self.locked.iter().find(|locked| locked.release.package == *package)
    }

    /// Exactly this release, when it is installed.
    #[must_use]
    pub fn of_release(&self, release: &Release) -> Option<&Locked> {
        self.of_package(&release.package).filter(|locked| locked.release == *release)
    }

    /// The yank of a release, when one was seen.
    #[must_use]
    pub fn yank_of(&self, release: &Release) -> Option<&Yanked> {
        self.yanked.iter().find(|yanked| yanked.release == *release)
    }

    /// Notes an installed release, in the place of another of its package.
    pub fn set(&mut self, locked: Locked) {
        self.locked.retain(|other| other.release.package != locked.release.package);
        self.locked.push(locked);
        self.sort();
    }

    /// Notes a yank. There is no way to take one back.
    pub fn note_yank(&mut self, yanked: Yanked) {
        self.yanked.push(yanked);
        self.sort();
    }

    /// Every blob that the lock names.
    #[must_use]
    pub fn blobs(&self) -> BTreeSet<BlobDigest> {
        self.locked.iter().flat_map(|locked| [locked.content.into(), locked.manifest.into(), locked.envelope]).collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::key::SecretKey;

    fn locked(release: &str) -> Locked {
        Locked {
            release: release.parse().unwrap(),
            manifest: ManifestDigest::of(b"manifest"),
            content: ContentDigest::of(b"component"),
            request: RequestDigest::of(b""),
            signer: SecretKey::from_random(&[7; 32]).id(),
            issued: Moment::from_seconds(1_796_000_000).unwrap(),
            envelope: BlobDigest::of(b"envelope"),
            source: "127.0.0.1:5000/acme/notes".to_owned(),
        }
    }

    fn yanked(release: &str) -> Yanked {
        let Locked { release, manifest, signer, issued, .. } = locked(release);
        Yanked { release, manifest, reason: "wrong".to_owned(), signer, issued }
    }

    #[test]
    fn the_form_is_golden_and_reads_back() {
        let mut lock = Lock::default();
        lock.set(locked("acme:notes@1.2.0"));
        lock.note_yank(yanked("acme:notes@1.1.0"));
        let text = lock.write_text().unwrap();
        assert_eq!(text, include_str!("../tests/golden/loopwright.lock"));
        assert_eq!(Lock::parse(&text), Ok(lock));
    }

    #[test]
    fn what_could_not_be_read_back_is_not_written() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LOCK_FILE);
        let mut lock = Lock::default();
        let with_source = |bytes: usize| Locked { source: "x".repeat(bytes), ..locked("acme:notes@1.2.0") };
        lock.set(with_source(0));
        let room = usize::try_from(LOCK_BYTES_LIMIT).unwrap() - lock.write_text().unwrap().len();
        lock.set(with_source(room));
        lock.write(&path).unwrap();
        lock.set(with_source(room + 1));
        assert!(matches!(lock.write(&path), Err(RegistryError::TooLarge { .. })));
        assert_eq!(Lock::read(&path).unwrap().locked()[0].source.len(), room, "the old one is whole");
    }

    #[test]
    fn one_release_of_a_package_and_no_way_to_unyank() {
        let mut lock = Lock::default();
        lock.set(locked("acme:notes@1.2.0"));
        lock.set(locked("acme:notes@1.3.0"));
        lock.set(locked("acme:clock@1.0.0"));
        assert_eq!(lock.locked().len(), 2);
        assert!(lock.of_release(&"acme:notes@1.2.0".parse().unwrap()).is_none());
        for _ in 0..2 {
            lock.note_yank(yanked("acme:notes@1.2.0"));
        }
        assert_eq!(lock.yanked().len(), 1);
        lock.set(locked("acme:notes@1.2.0"));
        assert!(lock.yank_of(&"acme:notes@1.2.0".parse().unwrap()).is_some());
        assert_eq!(lock.blobs().len(), 3);
    }

    #[test]
    fn a_file_is_replaced_whole_and_read_strictly() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join(LOCK_FILE);
        assert_eq!(Lock::read(&path).unwrap(), Lock::default());
        let mut lock = Lock::default();
        lock.set(locked("acme:notes@1.2.0"));
        lock.write(&path).unwrap();
        assert_eq!(Lock::read(&path).unwrap(), lock);
        let good = lock.write_text().unwrap();
        let entry = good.split_once("[[locked]]").unwrap().1;
        for (text, part) in [
            (good.replace("version = 1", "version = 2"), "version 1"),
            (good.replace("content = \"sha256:", "content = \"sha256:../"), "digest"),
            (good.replace("signer", "singer"), "singer"),
            (format!("{good}[[locked]]{entry}"), "twice"),
            (good.replace("source =", "source = \"\"\nsource ="), "duplicate"),
            ("\u{0}".to_owned(), "TOML"),
        ] {
            std::fs::write(&path, &text).unwrap();
            let error = Lock::read(&path).unwrap_err().to_string();
            assert!(error.contains(part) && error.contains(LOCK_FILE), "{part}: {error}");
        }
        std::fs::write(&path, "#".repeat(LOCK_BYTES_LIMIT as usize + 1)).unwrap();
        assert!(matches!(Lock::read(&path), Err(RegistryError::TooLarge { .. })));
    }
}
