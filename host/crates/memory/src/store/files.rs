//! The file layer: what the store needs of a file system, and no more, so that tests can put one in its place that fails.
//!
//! It knows nothing of records. Nothing written is durable before [`Appender::sync`], and no name before [`Files::sync_folder`].

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io::{self, Write as _};
use std::path::Path;

/// Something in a folder.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct Entry {
    /// Its name.
    pub name: String,
    /// Whether it is a folder.
    pub folder: bool,
}

/// A file that grows at its end.
pub trait Appender: Send {
    /// Writes at the end. After an error, any part of `bytes` may be there.
    ///
    /// # Errors
    /// That of the file system, such as a full disk.
    fn append(&mut self, bytes: &[u8]) -> io::Result<()>;

    /// Cuts the file to `length` bytes.
    ///
    /// # Errors
    /// That of the file system.
    fn truncate(&mut self, length: u64) -> io::Result<()>;

    /// Returns when what was written is on the disk.
    ///
    /// # Errors
    /// That of the file system; what is on the disk is then unknown.
    fn sync(&mut self) -> io::Result<()>;
}

/// A lock that is released when this is dropped.
pub trait Lock: Send + Sync {}

/// A file system.
pub trait Files: Send + Sync {
    /// A whole file; `NotFound` when there is none.
    ///
    /// # Errors
    /// That of the file system.
    fn read(&self, path: &Path) -> io::Result<Vec<u8>>;

    /// The bytes of a file.
    ///
    /// # Errors
    /// That of the file system.
    fn length(&self, path: &Path) -> io::Result<u64>;

    /// What is in a folder, by name; `NotFound` when there is none. Names that are no UTF-8 are left out: the store gives none.
    ///
    /// # Errors
    /// That of the file system.
    fn list(&self, folder: &Path) -> io::Result<Vec<Entry>>;

    /// Makes one folder; a folder that is there already is fine.
    ///
    /// # Errors
    /// That of the file system.
    fn create_folder(&self, folder: &Path) -> io::Result<()>;

    /// A new, empty file, or an old one emptied.
    ///
    /// # Errors
    /// That of the file system.
    fn create(&self, path: &Path) -> io::Result<Box<dyn Appender>>;

    /// A file that is there.
    ///
    /// # Errors
    /// That of the file system.
    fn append(&self, path: &Path) -> io::Result<Box<dyn Appender>>;

    /// Gives a file or folder another name in the same folder, in place of a file that had it: the one or the other, never neither.
    ///
    /// # Errors
    /// That of the file system.
    fn rename(&self, from: &Path, to: &Path) -> io::Result<()>;

    /// Removes a file.
    ///
    /// # Errors
    /// That of the file system.
    fn remove(&self, path: &Path) -> io::Result<()>;

    /// Removes an empty folder.
    ///
    /// # Errors
    /// That of the file system.
    fn remove_folder(&self, folder: &Path) -> io::Result<()>;

    /// Returns when the names in a folder are on the disk.
    ///
    /// # Errors
    /// That of the file system.
    fn sync_folder(&self, folder: &Path) -> io::Result<()>;

    /// Locks a file, which is made when it is not there; `WouldBlock` when somebody else has the lock.
    ///
    /// # Errors
    /// That of the file system.
    fn lock(&self, path: &Path) -> io::Result<Box<dyn Lock>>;
}

/// Removes a folder and all that is in it. What is already gone is fine, so that it can be called again after a crash.
///
/// # Errors
/// That of the file system.
pub fn remove_tree(files: &dyn Files, folder: &Path) -> io::Result<()> {
    let entries = match files.list(folder) {
        Ok(entries) => entries,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    };
    for entry in entries {
        let path = folder.join(&entry.name);
        if entry.folder {
            remove_tree(files, &path)?;
        } else {
            gone(files.remove(&path))?;
        }
    }
    gone(files.remove_folder(folder))
}

/// Another process may remove the same.
fn gone(removed: io::Result<()>) -> io::Result<()> {
    removed.or_else(|error| if error.kind() == io::ErrorKind::NotFound { Ok(()) } else { Err(error) })
}

/// The machine's own file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

struct Locked {
    _file: File,
}

impl Lock for Locked {}

/// A file that can only be read: it opens, and every write to it is refused.
struct Unwritable(io::ErrorKind);

impl Appender for Unwritable {
    fn append(&mut self, _: &[u8]) -> io::Result<()> {
        Err(self.0.into())
    }

    fn truncate(&mut self, _: u64) -> io::Result<()> {
        Err(self.0.into())
    }

    fn sync(&mut self) -> io::Result<()> {
        Ok(())
    }
}

/// Opens for reading what cannot be opened for writing, as on a disk that is mounted so.
fn read_only(error: io::Error, path: &Path) -> io::Result<File> {
    match error.kind() {
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => File::open(path).map_err(|_| error),
        _ => Err(error),
    }
}

impl Appender for File {
    fn append(&mut self, bytes: &[u8]) -> io::Result<()> {
        self.write_all(bytes)
    }

    fn truncate(&mut self, length: u64) -> io::Result<()> {
        self.set_len(length)
    }

    fn sync(&mut self) -> io::Result<()> {
        self.sync_all()
    }
}

impl Files for Disk {
    fn read(&self, path: &Path) -> io::Result<Vec<u8>> {
        fs::read(path)
    }

    fn length(&self, path: &Path) -> io::Result<u64> {
        fs::metadata(path).map(|metadata| metadata.len())
    }

    fn list(&self, folder: &Path) -> io::Result<Vec<Entry>> {
        let mut entries = Vec::new();
        for entry in fs::read_dir(folder)? {
            let entry = entry?;
            if let Ok(name) = entry.file_name().into_string() {
                entries.push(Entry { name, folder: entry.file_type()?.is_dir() });
            }
        }
        entries.sort();
        Ok(entries)
    }

    fn create_folder(&self, folder: &Path) -> io::Result<()> {
        match fs::create_dir(folder) {
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && folder.is_dir() => Ok(()),
            other => other,
        }
    }

    fn create(&self, path: &Path) -> io::Result<Box<dyn Appender>> {
        let file = OpenOptions::new().create(true).write(true).truncate(true).open(path)?;
        drop(file);
        self.append(path)
    }

    fn append(&self, path: &Path) -> io::Result<Box<dyn Appender>> {
        match OpenOptions::new().append(true).open(path) {
            Ok(file) => Ok(Box::new(file)),
            Err(error) => {
                let kind = error.kind();
                read_only(error, path)?;
                Ok(Box::new(Unwritable(kind)))
            }
        }
    }

    fn rename(&self, from: &Path, to: &Path) -> io::Result<()> {
        fs::rename(from, to)
    }

    fn remove(&self, path: &Path) -> io::Result<()> {
        fs::remove_file(path)
    }

    fn remove_folder(&self, folder: &Path) -> io::Result<()> {
        fs::remove_dir(folder)
    }

    fn sync_folder(&self, folder: &Path) -> io::Result<()> {
        // The parent of a bare name.
        let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
        File::open(folder)?.sync_all()
    }

    fn lock(&self, path: &Path) -> io::Result<Box<dyn Lock>> {
        let file = OpenOptions::new().create(true).append(true).open(path).or_else(|error| read_only(error, path))?;
        match file.try_lock() {
            Ok(()) => Ok(Box::new(Locked { _file: file })),
            Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_cannot_be_written_opens_for_reading_and_refuses_writes() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("log");
        fs::write(&path, "log").expect("written");
        for kind in [io::ErrorKind::ReadOnlyFilesystem, io::ErrorKind::PermissionDenied] {
            assert!(read_only(kind.into(), &path).is_ok());
            let missing = read_only(kind.into(), &folder.path().join("none")).expect_err("not there");
            assert_eq!(missing.kind(), kind, "the reason is that it cannot be made");
            let mut file = Unwritable(kind);
            assert!(file.sync().is_ok());
            assert_eq!(file.append(b"x").map_err(|error| error.kind()), Err(kind));
            assert_eq!(file.truncate(0).map_err(|error| error.kind()), Err(kind));
        }
        let full = read_only(io::ErrorKind::StorageFull.into(), &path).expect_err("another reason");
        assert_eq!(full.kind(), io::ErrorKind::StorageFull);
    }
}
