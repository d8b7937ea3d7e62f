//! What checkpoints need of a file system, and no more, so that tests can put one in its place that fails. It knows no checkpoint.

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

/// A lock that is released when this is dropped.
pub trait Lock: Send + Sync {}

/// A file system. Its errors are passed on.
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

    /// What is in a folder, by name; `NotFound` when there is none. Names that are no UTF-8 are left out: nobody here gives them.
    ///
    /// # Errors
    /// That of the file system.
    fn list(&self, folder: &Path) -> io::Result<Vec<Entry>>;

    /// Makes one folder; a folder that is there already is fine.
    ///
    /// # Errors
    /// That of the file system.
    fn create_folder(&self, folder: &Path) -> io::Result<()>;

    /// Makes a file of these bytes, in place of one that was there, and returns when they are on the disk; its name may not be. After an
    /// error, any part of
    /// the file may be there.
    ///
    /// # Errors
    /// That of the file system, such as a full disk.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()>;

    /// Gives a file or folder another name in the same folder; a file that had it is replaced: the one or the other, never neither.
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

/// Removes a folder and all that is in it, or a file. What is already gone is fine, so that it can be called again after a crash.
pub(super) fn remove_all(files: &dyn Files, path: &Path, folder: bool) -> io::Result<()> {
    let gone = |result: io::Result<()>| match result {
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(()),
        other => other,
    };
    if !folder {
        return gone(files.remove(path));
    }
    match files.list(path) {
        Ok(entries) => {
            for entry in entries {
                remove_all(files, &path.join(&entry.name), entry.folder)?;
            }
            gone(files.remove_folder(path))
        }
        Err(error) => gone(Err(error)),
    }
}

/// The machine's own file system.
#[derive(Debug, Clone, Copy, Default)]
pub struct Disk;

struct Locked {
    _file: File,
}

impl Lock for Locked {}

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

    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let mut file = OpenOptions::new().create(true).write(true).truncate(true).open(path)?;
        file.write_all(bytes)?;
        file.sync_all()
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
        let file = OpenOptions::new().create(true).append(true).open(path)?;
        match file.try_lock() {
            Ok(()) => Ok(Box::new(Locked { _file: file })),
            Err(TryLockError::WouldBlock) => Err(io::ErrorKind::WouldBlock.into()),
            Err(TryLockError::Error(error)) => Err(error),
        }
    }
}
