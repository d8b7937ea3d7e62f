//! Writes a pack so that a reader sees the old files or the new ones, and notices a mixture by the hashes of the card.

use std::fs::{self, File};
use std::io::Write as _;
use std::path::Path;

use loopwright_contract::json::canonical;
use serde_json::Value;

use super::card::sha256;
use super::{CARD_FILE, Pack, PackError, WORLDS_FOLDER};

/// Writes `pack` into `folder`, which is made when it is absent. Each file is written beside its place and renamed; the card comes last.
///
/// # Errors
/// [`PackError::Io`] names the file.
pub fn write(pack: &Pack, folder: &Path) -> Result<(), PackError> {
    let io = |attempt: String| move |source| PackError::Io { attempt, source };
    let worlds = if pack.worlds().is_empty() { folder.to_path_buf() } else { folder.join(WORLDS_FOLDER) };
    fs::create_dir_all(&worlds).map_err(io(format!("cannot make the folder `{}`", worlds.display())))?;
    let files = pack.files();
    for (name, text) in &files {
        replace(folder, name, text.as_bytes())?;
    }
    // A pack that was read keeps its card, but what is written here is spelt by this version.
    let mut card = pack.card().clone();
    card.files = files.iter().map(|(name, text)| (name.clone(), sha256(text.as_bytes()))).collect();
    let card = serde_json::to_value(&card).unwrap_or(Value::Null);
    replace(folder, CARD_FILE, format!("{}\n", canonical(&card)).as_bytes())
}

fn replace(folder: &Path, name: &str, bytes: &[u8]) -> Result<(), PackError> {
    let path = folder.join(name);
    let temporary = folder.join(format!("{name}.partial"));
    let written = File::create(&temporary).and_then(|mut file| {
        file.write_all(bytes)?;
        file.sync_all()
    });
    written.and_then(|()| fs::rename(&temporary, &path)).map_err(|source| {
        let _ = fs::remove_file(&temporary);
        PackError::Io { attempt: format!("cannot write `{}`", path.display()), source }
    })
}
