//! Puts a verified component into a folder of plugins, where [`crate::Index`] finds it.

use std::{fs, path::Path};

use serde::Serialize;

use crate::{
    Entry, INDEX_FILE, Index, RegistryError,
    crash::point,
    fetch::Fetched,
    file::{self, Hold},
    refusal::Refusal,
};

/// What an installation did.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Installed {
    /// The plugin's name in the folder.
    pub name: String,
    /// The file beside the index.
    pub file: String,
    /// The version that was there before.
    pub replaced: Option<String>,
}

/// Adds a component to a folder's index, in the place of another release of the same package.
///
/// The component gets a file of its own first, then the index is replaced whole, and only then the old file goes: a reader finds the old release
/// or the new one, never half of each. What an installation left behind that was stopped in between goes with the next one of the same package.
///
/// # Errors
/// `Malformed` when the index is full or not what it should be, and nothing is changed then. `Refused` for a component that is no plugin, and for a name that another package or a plugin of this repository has, unless `replace` says so.
pub fn install(folder: &Path, fetched: &Fetched, replace: bool) -> Result<Installed, RegistryError> {
    let _hold = Hold::take(folder, false)?;
    let mut index = match Index::open(folder) {
        Err(RegistryError::Missing { .. }) => Index::empty(folder),
        other => other?,
    };
    let package = &fetched.locked.release.package;
    let taken =
        index.entries().iter().find(|entry| entry.name == package.name && entry.package.as_ref() != Some(package));
    if let Some(taken) = taken.filter(|_| !replace) {
        let other = taken.package.as_ref().map_or_else(|| "this machine's own build".to_owned(), ToString::to_string);
        return Err(Refusal::NameTaken { name: package.name.to_string(), other, package: package.to_string() }.into());
    }
    let Some(kind) = fetched.inspection.kind else {
        let reason =
            "it exports none of the plugin interfaces `loopwright:afv/{tool,environment,verifier,skill}`, or several";
        return Err(Refusal::Component { reason: reason.to_owned() }.into());
    };
    let digest = fetched.locked.content;
    let short: String = hex::encode(digest.0).chars().take(16).collect();
    let entry = Entry {
        name: package.name.clone(),
        version: fetched.locked.release.version.clone(),
        kind: Some(kind),
        digest,
        size_bytes: fetched.component.len() as u64,
        first_party: false,
        package: Some(package.clone()),
        file: format!("{}_{short}.wasm", package.name),
    };
    let file = entry.file.clone();
    let gone = index.set(entry);
    // What cannot be named is not written either.
    let text = index.text()?;
    // The index is written into the same folder, and its name reaches the disk after the component's.
    file::replace_unsynced(&folder.join(&file), &fetched.component, 0o644)?;
    point("a component that no index names");
    file::replace(&folder.join(INDEX_FILE), &text, 0o644)?;
    point("an index that names the new component, and the old one still there");
    if let Some(gone) = gone.as_ref().filter(|gone| gone.file != file) {
        // Nothing names it any more; one that stays costs space only.
        let _ = fs::remove_file(folder.join(&gone.file));
    }
    sweep(folder, &package.name.to_string(), &file);
    point("an installation that the lock file does not know");
    Ok(Installed { name: package.name.to_string(), file, replaced: gone.map(|gone| gone.version.to_string()) })
}

/// Removes what stopped installations left: parts of files that were to be components or the index, and components of this package that no index
/// names. Only files whose names are made here are touched, and nobody else writes them while the folder is held. One that stays costs space only.
fn sweep(folder: &Path, package: &str, installed: &str) {
    let is_digest = |text: &str| text.len() == 16 && text.bytes().all(|byte| byte.is_ascii_hexdigit());
    let is_ours = |name: &str| {
        let digest = name.strip_prefix(package).and_then(|rest| rest.strip_prefix('_'));
        digest.and_then(|rest| rest.strip_suffix(".wasm")).is_some_and(is_digest)
    };
    let is_part = |name: &str| file::is_part_of(name, |wanted| wanted == INDEX_FILE || wanted.ends_with(".wasm"));
    let is_left = |name: &str| is_part(name) || (is_ours(name) && name != installed);
    let Ok(entries) = fs::read_dir(folder) else { return };
    for entry in entries.flatten().filter(|entry| entry.file_name().to_str().is_some_and(is_left)) {
        let _ = fs::remove_file(entry.path());
    }
}
