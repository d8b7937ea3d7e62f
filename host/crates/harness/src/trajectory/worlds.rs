//! Worlds beside trajectories, once each, named by their digest.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};

use loopwright_contract::digest::StateDigest;
use loopwright_contract::episode::StoredWorld;

use super::file::{compress, write_whole};

/// Bytes of one world's text.
pub const WORLD_BYTES_MAX: u64 = 256 * 1024 * 1024;

/// Why a world is not there.
#[derive(Debug, thiserror::Error)]
pub enum WorldError {
    /// A file cannot be read or written.
    #[error("cannot {attempt} `{}`", path.display())]
    Io {
        /// `read` or `write`.
        attempt: &'static str,
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// Not acceptable as a world.
    #[error("`{}` is no world: {reason}", path.display())]
    Content {
        /// Which.
        path: PathBuf,
        /// What is wrong.
        reason: String,
    },
}

/// The folder `worlds` beside trajectories.
#[derive(Debug, Clone)]
pub struct WorldStore {
    folder: PathBuf,
}

impl WorldStore {
    /// The worlds of trajectories in `folder`.
    #[must_use]
    pub fn beside(folder: &Path) -> Self {
        Self { folder: folder.join("worlds") }
    }

    /// Where a world lies.
    #[must_use]
    pub fn path(&self, digest: StateDigest) -> PathBuf {
        self.folder.join(format!("{}.json.zst", hex::encode(digest.0)))
    }

    /// Keeps the world of this digest. One that is there already is neither made nor written again.
    ///
    /// # Errors
    /// [`WorldError::Io`].
    pub fn put(&self, digest: StateDigest, world: impl FnOnce() -> Option<StoredWorld>) -> Result<(), WorldError> {
        let path = self.path(digest);
        if path.exists() {
            return Ok(());
        }
        let Some(world) = world() else { return Ok(()) };
        let write = |()| write_whole(&path, &compress(world.text.as_bytes())?);
        fs::create_dir_all(&self.folder).and_then(write).map_err(|source| WorldError::Io {
            attempt: "write",
            path,
            source,
        })
    }

    /// Reads a world. Whether the text has the digest is for the host to say, which knows the form.
    ///
    /// # Errors
    /// [`WorldError`].
    pub fn get(&self, digest: StateDigest) -> Result<StoredWorld, WorldError> {
        let path = self.path(digest);
        let failed = |source| WorldError::Io { attempt: "read", path: path.clone(), source };
        let decoder = fs::File::open(&path).and_then(zstd::Decoder::new).map_err(failed)?;
        let mut text = String::new();
        decoder.take(WORLD_BYTES_MAX + 1).read_to_string(&mut text).map_err(failed)?;
        if text.len() as u64 > WORLD_BYTES_MAX {
            return Err(WorldError::Content { path, reason: format!("more than {WORLD_BYTES_MAX} bytes") });
        }
        Ok(StoredWorld { digest, text })
    }
}
