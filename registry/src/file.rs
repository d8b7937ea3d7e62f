//! Files that are read within limits, replaced whole, and kept from other processes.

use std::{
    fs::{self, File},
    io::{ErrorKind, Read as _, Write as _},
    path::Path,
};

use crate::{RegistryError, crash::point};

/// What other processes that change a folder wait for.
const LOCK_FILE: &str = "lock";
/// What stands in the name of a file that is being written, after the name that it is to have. One that stays is what a stopped process left.
const PART: &str = ".part-";

/// Reads a file whole, and stops at the limit whatever the file's size says.
pub(crate) fn read(path: &Path, limit: u64) -> Result<Vec<u8>, RegistryError> {
    let failed = |source: std::io::Error| match source.kind() {
        ErrorKind::NotFound => RegistryError::Missing { path: path.to_owned() },
        _ => RegistryError::Io { path: path.to_owned(), source },
    };
    let file = File::open(path).map_err(failed)?;
    let mut bytes = Vec::new();
    file.take(limit + 1).read_to_end(&mut bytes).map_err(failed)?;
    let found = bytes.len() as u64;
    if found > limit {
        return Err(RegistryError::TooLarge { path: path.to_owned(), limit, found });
    }
    Ok(bytes)
}

/// The same for text; none where there is no file.
pub(crate) fn read_text(what: &'static str, path: &Path, limit: u64) -> Result<Option<String>, RegistryError> {
    let bytes = match read(path, limit) {
        Ok(bytes) => bytes,
        Err(RegistryError::Missing { .. }) => return Ok(None),
        Err(error) => return Err(error),
    };
    String::from_utf8(bytes).map(Some).map_err(|error| RegistryError::BadFile {
        what,
        path: path.to_owned(),
        reason: format!("not UTF-8 after {} bytes", error.utf8_error().valid_up_to()),
    })
}

/// Refuses to write what would not be read.
pub(crate) fn readable(path: &Path, text: &str, limit: u64) -> Result<(), RegistryError> {
    let found = text.len() as u64;
    if found > limit {
        return Err(RegistryError::TooLarge { path: path.to_owned(), limit, found });
    }
    Ok(())
}

/// Puts a file in the place of another: a reader sees the old one or the new one whole, also after the machine stopped in between.
pub(crate) fn replace(path: &Path, bytes: &[u8], mode: u32) -> Result<(), RegistryError> {
    replace_unsynced(path, bytes, mode)?;
    sync_folder_of(path)
}

/// The same, but the new name is on disk only when its folder is: for a caller that changes more there and then syncs it once.
pub(crate) fn replace_unsynced(path: &Path, bytes: &[u8], mode: u32) -> Result<(), RegistryError> {
    let folder = path.parent().unwrap_or_else(|| Path::new("."));
    let folder = if folder.as_os_str().is_empty() { Path::new(".") } else { folder };
    fs::create_dir_all(folder).map_err(RegistryError::io(folder))?;
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let prefix = format!(".{name}{PART}");
    let part = tempfile::Builder::new().prefix(&prefix).tempfile_in(folder);
    let mut part = part.map_err(RegistryError::io(folder))?;
    point("an empty part");
    let (half, rest) = bytes.split_at(bytes.len() / 2);
    part.write_all(half).map_err(RegistryError::io(part.path().to_owned()))?;
    point("half a part");
    part.write_all(rest).map_err(RegistryError::io(part.path().to_owned()))?;
    settle(part, path, mode)
}

/// Removes what stopped writers of a file left. One that stays costs space only.
fn sweep_parts(path: &Path) {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    let (Some(name), Ok(entries)) = (path.file_name().and_then(|name| name.to_str()), fs::read_dir(folder)) else {
        return;
    };
    let is_left = |entry: &fs::DirEntry| {
        entry.file_name().to_str().is_some_and(|found| is_part_of(found, |wanted| wanted == name))
    };
    for entry in entries.flatten().filter(is_left) {
        let _ = fs::remove_file(entry.path());
    }
}

/// Whether a file's name is one that [`replace`] writes under before a file of the wanted name is there.
pub(crate) fn is_part_of(name: &str, wanted: impl Fn(&str) -> bool) -> bool {
    name.strip_prefix('.').and_then(|name| name.rsplit_once(PART)).is_some_and(|(name, _)| wanted(name))
}

/// Gives a file its name once its bytes are on disk.
pub(crate) fn settle(part: tempfile::NamedTempFile, path: &Path, mode: u32) -> Result<(), RegistryError> {
    set_mode(part.as_file(), mode).map_err(RegistryError::io(path))?;
    part.as_file().sync_all().map_err(RegistryError::io(path))?;
    point("a part on disk");
    part.persist(path).map_err(|error| RegistryError::Io { path: path.to_owned(), source: error.error })?;
    point("a file under its name");
    Ok(())
}

/// Brings the names of a file's folder to disk.
pub(crate) fn sync_folder_of(path: &Path) -> Result<(), RegistryError> {
    let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty()).unwrap_or_else(|| Path::new("."));
    File::open(folder).and_then(|folder| folder.sync_all()).map_err(RegistryError::io(folder))
}

#[cfg(unix)]
fn set_mode(file: &File, mode: u32) -> std::io::Result<()> {
    use std::os::unix::fs::PermissionsExt as _;
    file.set_permissions(fs::Permissions::from_mode(mode))
}

#[cfg(not(unix))]
fn set_mode(_: &File, _: u32) -> std::io::Result<()> {
    Ok(())
}

/// Keeps other processes out of a folder until it is dropped.
#[derive(Debug)]
pub struct Hold(#[expect(dead_code, reason = "the lock lives as long as the file is open")] File);

impl Hold {
    /// Waits until nobody else has the folder, or only others who share it.
    pub(crate) fn take(folder: &Path, shared: bool) -> Result<Self, RegistryError> {
        fs::create_dir_all(folder).map_err(RegistryError::io(folder))?;
        Self::at(&folder.join(LOCK_FILE), shared)
    }

    /// The same for one file, by a file beside it: the one itself is replaced, and a lock on it would go with the old one. What somebody left who
    /// was stopped while writing the file is removed: whoever writes it holds this.
    pub(crate) fn beside(path: &Path) -> Result<Self, RegistryError> {
        if let Some(folder) = path.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            fs::create_dir_all(folder).map_err(RegistryError::io(folder))?;
        }
        let mut guard = path.as_os_str().to_owned();
        guard.push(".guard");
        let hold = Self::at(Path::new(&guard), false)?;
        sweep_parts(path);
        Ok(hold)
    }

    fn at(path: &Path, shared: bool) -> Result<Self, RegistryError> {
        let file = File::options().create(true).append(true).open(path).map_err(RegistryError::io(path))?;
        let taken = if shared { file.lock_shared() } else { file.lock() };
        taken.map_err(RegistryError::io(path))?;
        Ok(Self(file))
    }
}
