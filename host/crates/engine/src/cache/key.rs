//! The key that authenticates compiled code.

use std::{
    fmt,
    fs::{self, OpenOptions},
    io::{self, Write as _},
    path::Path,
};

use loopwright_contract::digest::keyed;

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
        secret_file(path, fresh).map(Self)
    }

    /// HMAC-SHA256 (RFC 2104) over the parts in order.
    pub(super) fn tag(&self, parts: &[&[u8]]) -> [u8; 32] {
        keyed(&self.0, parts)
    }
}

/// The secret in a file, which is made with `fresh` random bytes when it is missing, readable by its owner only.
///
/// # Errors
/// Whatever reading or writing the file gives, and `InvalidData` for a file that does not hold 32 bytes.
pub fn secret_file(path: &Path, fresh: impl FnOnce() -> io::Result<[u8; 32]>) -> io::Result<[u8; 32]> {
    match load(path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {
            let bytes = fresh()?;
            match create_private(path, &bytes) {
                // Another process was first.
                Err(error) if error.kind() == io::ErrorKind::AlreadyExists => load(path),
                made => made.map(|()| bytes),
            }
        }
        loaded => loaded,
    }
}

fn load(path: &Path) -> io::Result<[u8; 32]> {
    let bytes = fs::read(path)?;
    bytes.try_into().map_err(|_| io::Error::new(io::ErrorKind::InvalidData, "expected a key of 32 bytes"))
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
