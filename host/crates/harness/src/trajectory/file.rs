//! A trajectory's file while it is written.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use loopwright_contract::name::EpisodeId;

/// A finished file with more bytes is compressed.
pub const COMPRESS_ABOVE_BYTES: u64 = 256 * 1024;
/// A fixed level, so that the same lines give the same bytes.
const ZSTD_LEVEL: i32 = 3;

/// The name of an episode's file without folder: `EPISODE.jsonl`, where characters that some file systems refuse are written `%XX`.
#[must_use]
pub fn file_name(episode: &EpisodeId) -> String {
    use std::fmt::Write as _;
    let mut name = String::new();
    for character in episode.as_str().chars() {
        match character {
            ':' | '#' => {
                let _ = write!(name, "%{:02x}", u32::from(character));
            }
            other => name.push(other),
        }
    }
    name.push_str(".jsonl");
    name
}

/// A file that lines are appended to, whole and flushed.
#[derive(Debug)]
pub struct TrajectoryFile {
    path: PathBuf,
    file: File,
    bytes: u64,
}

impl TrajectoryFile {
    /// Begins a file, in place of an older one of that name. The folder must exist.
    ///
    /// # Errors
    /// Those of the file system.
    pub fn create(path: &Path) -> io::Result<Self> {
        let compressed = compressed_path(path);
        match fs::remove_file(&compressed) {
            Err(error) if error.kind() != io::ErrorKind::NotFound => return Err(error),
            _ => {}
        }
        Ok(Self { path: path.to_owned(), file: File::create(path)?, bytes: 0 })
    }

    /// Appends one line, in one write, so that a kill leaves whole lines and at most one torn one.
    ///
    /// # Errors
    /// Those of the file system, such as a full disk.
    pub fn append(&mut self, line: &str) -> io::Result<()> {
        let mut text = String::with_capacity(line.len() + 1);
        text.push_str(line);
        text.push('\n');
        self.file.write_all(text.as_bytes())?;
        self.bytes += text.len() as u64;
        Ok(())
    }

    /// Ends the file, compresses it when it is large, and returns where it is.
    ///
    /// # Errors
    /// Those of the file system; the uncompressed file is then still whole.
    pub fn finish(mut self) -> io::Result<PathBuf> {
        self.file.flush()?;
        drop(self.file);
        if self.bytes <= COMPRESS_ABOVE_BYTES {
            return Ok(self.path);
        }
        let target = compressed_path(&self.path);
        let text = fs::read(&self.path)?;
        write_whole(&target, &zstd::encode_all(text.as_slice(), ZSTD_LEVEL)?)?;
        fs::remove_file(&self.path)?;
        Ok(target)
    }
}

fn compressed_path(path: &Path) -> PathBuf {
    let mut name = path.as_os_str().to_owned();
    name.push(".zst");
    PathBuf::from(name)
}

/// Writes a file under another name first, so that under its own it is whole or absent.
pub(crate) fn write_whole(path: &Path, bytes: &[u8]) -> io::Result<()> {
    use std::sync::atomic::{AtomicU64, Ordering};
    static WRITTEN: AtomicU64 = AtomicU64::new(0);
    let mut name = path.as_os_str().to_owned();
    // Process and count: two writers of one file, here or elsewhere, never share a temporary file.
    name.push(format!(".{}-{}.tmp", std::process::id(), WRITTEN.fetch_add(1, Ordering::Relaxed)));
    let temporary = PathBuf::from(name);
    let written = fs::write(&temporary, bytes).and_then(|()| fs::rename(&temporary, path));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written
}

/// Compresses at the level of all our files.
pub(crate) fn compress(bytes: &[u8]) -> io::Result<Vec<u8>> {
    zstd::encode_all(bytes, ZSTD_LEVEL)
}
