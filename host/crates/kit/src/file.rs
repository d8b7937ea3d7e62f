//! Writing a file in one step.

use std::fs;
use std::path::Path;

use crate::KitError;

/// Writes a file so that a reader sees the old bytes or the new ones, never a part.
pub(crate) fn write(path: &Path, bytes: &[u8]) -> Result<(), KitError> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder).map_err(KitError::io("create", folder))?;
    }
    let mut name = path.file_name().unwrap_or_default().to_os_string();
    name.push(format!(".{}.part", std::process::id()));
    let part = path.with_file_name(name);
    fs::write(&part, bytes).map_err(KitError::io("write", &part))?;
    fs::rename(&part, path).map_err(KitError::io("write", path))
}
