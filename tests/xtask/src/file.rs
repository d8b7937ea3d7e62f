//! Files: digests, and writing in one step.

use std::fs;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result};
use sha2::{Digest, Sha256};

/// The sha256 of some bytes, in lower-case hex.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}

/// The sha256 of a file, read in pieces, in lower-case hex.
pub(crate) fn sha256_of(path: &Path) -> Result<String> {
    let mut file = fs::File::open(path).with_context(|| format!("cannot open `{}`", path.display()))?;
    let mut digest = Sha256::new();
    let mut piece = vec![0_u8; 1 << 16];
    loop {
        let read = file.read(&mut piece)?;
        let Some(bytes) = piece.get(..read).filter(|bytes| !bytes.is_empty()) else {
            return Ok(hex::encode(digest.finalize()));
        };
        digest.update(bytes);
    }
}

/// Writes a file so that a reader sees the old bytes or the new ones, never a part: a temporary name, then a rename.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    fs::create_dir_all(folder).with_context(|| format!("cannot create the folder `{}`", folder.display()))?;
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    fs::write(&part, bytes).with_context(|| format!("cannot write `{}`", part.display()))?;
    fs::rename(&part, path).with_context(|| format!("cannot write `{}`", path.display()))
}

/// The size of a file for people: `412 B`, `58.1 kB`, `98.4 MB`.
pub(crate) fn size(bytes: u64) -> String {
    const KILO: f64 = 1000.0;
    // Sizes here are far below 2^52 bytes, so the conversion loses nothing that is shown.
    #[expect(clippy::cast_precision_loss, reason = "shown with one digit after the point")]
    let value = bytes as f64;
    if value < KILO {
        format!("{bytes} B")
    } else if value < KILO * KILO {
        format!("{:.1} kB", value / KILO)
    } else {
        format!("{:.1} MB", value / KILO / KILO)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn digests_agree_with_the_published_vector() {
        // FIPS 180-2, appendix B.1.
        let expected = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("abc");
        write(&path, b"abc").unwrap();
        assert_eq!(sha256(b"abc"), expected);
        assert_eq!(sha256_of(&path).unwrap(), expected);
    }

    #[test]
    fn a_write_leaves_one_file() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("deep/er/file");
        write(&path, b"one").unwrap();
        write(&path, b"two").unwrap();
        assert_eq!(fs::read(&path).unwrap(), b"two");
        assert_eq!(fs::read_dir(path.parent().unwrap()).unwrap().count(), 1);
    }

    #[test]
    fn sizes_are_short() {
        for (bytes, expected) in [(0, "0 B"), (999, "999 B"), (58_100, "58.1 kB"), (98_362_432, "98.4 MB")] {
            assert_eq!(size(bytes), expected);
        }
    }
}
