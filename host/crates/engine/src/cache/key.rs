//! The key that authenticates compiled code.

use std::{
    fmt,
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::Path,
};

use sha2::{Digest as _, Sha256};

/// Bytes of a block of SHA-256.
const BLOCK: usize = 64;

/// A secret of this host. Whoever has it can have any code run.
#[derive(Clone)]
pub struct CacheKey([u8; 32]);

impl fmt::Debug for CacheKey {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("CacheKey(..)")
    }
}

impl CacheKey {
    /// A key out of 32 random bytes.
    #[must_use]
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// The key in a file, which is made with `fresh` random bytes when it is missing, readable by its owner only.
    ///
    /// # Errors
    /// Whatever reading or writing the file gives, and `InvalidData` for a file that does not hold 32 bytes.
    pub fn load_or_create(path: &Path, fresh: impl FnOnce() -> io::Result<[u8; 32]>) -> io::Result<Self> {
        match Self::load(path) {
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                let bytes = fresh()?;
                match create_private(path, &bytes) {
                    // Another process was first.
                    Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Self::load(path),
                    made => made.map(|()| Self(bytes)),
                }
            }
            loaded => loaded,
        }
    }

    fn load(path: &Path) -> io::Result<Self> {
        let bytes = fs::read(path)?;
        bytes.try_into().map(Self).map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "expected a key of 32 bytes"))
    }

    /// HMAC-SHA256 (RFC 2104) over the parts in order.
    pub(super) fn tag(&self, parts: &[&[u8]]) -> [u8; 32] {
        let pad = |byte: u8| {
            let mut block = [byte; BLOCK];
            block.iter_mut().zip(self.0).for_each(|(to, from)| *to ^= from);
            block
        };
        let mut inner = Sha256::new_with_prefix(pad(0x36));
        parts.iter().for_each(|part| inner.update(part));
        Sha256::new_with_prefix(pad(0x5c)).chain_update(inner.finalize()).finalize().into()
    }
}

/// Writes the whole file beside its place and links it there, so that nobody reads half a key and nobody's key is replaced.
fn create_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let temporary = path.with_extension(format!("{}", std::process::id()));
    write_private(&temporary, bytes)?;
    let linked = fs::hard_link(&temporary, path);
    fs::remove_file(&temporary)?;
    linked
}

fn write_private(path: &Path, bytes: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(bytes)?;
    file.sync_all()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_tag_is_hmac_sha256() {
        // RFC 4231, test case 1, whose key of 20 bytes is padded with zeros by definition.
        let mut key = [0; 32];
        key.iter_mut().take(20).for_each(|byte| *byte = 0x0b);
        let tag = CacheKey::new(key).tag(&[b"Hi ", b"There"]);
        assert_eq!(hex::encode(tag), "b0344c61d8db38535ca8afceaf0bf12b881dc200c9833da726e9376c2e32cff7");
    }

    #[test]
    fn a_key_is_made_once() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("key");
        let made = CacheKey::load_or_create(&path, || Ok([7; 32])).unwrap();
        let read = CacheKey::load_or_create(&path, || Ok([8; 32])).unwrap();
        assert_eq!(made.0, read.0);
        fs::write(&path, b"short").unwrap();
        assert!(CacheKey::load_or_create(&path, || Ok([8; 32])).is_err());
    }
}
