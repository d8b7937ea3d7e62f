//! `target/plugins/index.json`: what was built, for programs that look components up by name.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::discover::Guest;
use crate::file;

/// The index: a JSON array of entries in the order of their names.
const INDEX: &str = "index.json";

/// What only the next run needs: the module that each component was made from.
const RECORDS: &str = "records.json";

/// One component, as the index shows it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Entry {
    /// The guest's folder name.
    pub(super) name: String,
    /// The package's version.
    pub(super) version: String,
    /// `tool`, `environment`, `verifier`, `skill` or `guest`.
    pub(super) kind: String,
    /// The file's name, beside the index.
    pub(super) file: String,
    /// The digest of the file, in lower-case hex.
    pub(super) sha256: String,
    /// The size of the file, in bytes.
    pub(super) size: u64,
    /// What is built from this tree is the operator's own: the host compiles it in its own process.
    #[serde(default)]
    pub(super) first_party: bool,
}

impl Entry {
    /// Describes a component that is about to be written.
    pub(super) fn new(guest: &Guest, component: &[u8]) -> Self {
        Self {
            name: guest.name.clone(),
            version: guest.version.clone(),
            kind: guest.kind.to_owned(),
            file: format!("{}.wasm", guest.name),
            sha256: file::sha256(component),
            size: component.len() as u64,
            first_party: true,
        }
    }
}

impl Entry {
    /// Describes a guest of the tests that is a script.
    pub(super) fn of_script(name: &str, component: &[u8]) -> Self {
        Self {
            name: name.to_owned(),
            version: env!("CARGO_PKG_VERSION").to_owned(),
            kind: "guest".to_owned(),
            file: format!("{name}.wasm"),
            sha256: file::sha256(component),
            size: component.len() as u64,
            first_party: true,
        }
    }
}

/// An entry, and what it was made from.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Record {
    /// Names the module and the encoding.
    pub(super) key: String,
    /// The component.
    pub(super) entry: Entry,
}

impl Record {
    /// Whether the component is there, whole, and what encoding this module for this guest would give.
    pub(super) fn still(&self, key: &str, folder: &Path, guest: &Guest) -> bool {
        let marked = self.entry.first_party;
        let same = marked && self.key == key && self.entry.version == guest.version && self.entry.kind == guest.kind;
        let digest = file::sha256_of(&folder.join(&self.entry.file));
        same && digest.is_ok_and(|digest| digest == self.entry.sha256)
    }
}

/// Keeps other runs of the task runner out of the folder until the answer is dropped.
pub(super) fn lock(folder: &Path) -> Result<fs::File> {
    fs::create_dir_all(folder)?;
    let file = fs::File::create(folder.join("lock"))?;
    file.lock().with_context(|| format!("cannot lock `{}`", folder.display()))?;
    Ok(file)
}

/// What earlier runs left; nothing, when it cannot be read.
pub(super) fn read_records(folder: &Path) -> BTreeMap<String, Record> {
    fs::read(folder.join(RECORDS)).ok().and_then(|bytes| serde_json::from_slice(&bytes).ok()).unwrap_or_default()
}

/// The index as it stands on disk.
pub(super) fn read_text(folder: &Path) -> Result<String> {
    let path = folder.join(INDEX);
    fs::read_to_string(&path).with_context(|| format!("cannot read `{}`", path.display()))
}

/// What `loopwright registry pull` put into the index: entries that name their package. One whose name a guest has gives way to the guest.
fn pulled(folder: &Path, records: &BTreeMap<String, Record>) -> Vec<Value> {
    let entries: Vec<Value> =
        read_text(folder).ok().and_then(|text| serde_json::from_str(&text).ok()).unwrap_or_default();
    let stays = |entry: &Value| {
        entry.get("package").is_some()
            && entry.get("name").and_then(Value::as_str).is_some_and(|name| !records.contains_key(name))
    };
    entries.into_iter().filter(stays).collect()
}

/// Writes the index, then removes components that are not in it: nobody shall load an old one by mistake.
pub(super) fn write(folder: &Path, records: &BTreeMap<String, Record>) -> Result<()> {
    let mut entries = pulled(folder, records);
    for record in records.values() {
        entries.push(serde_json::to_value(&record.entry)?);
    }
    let field = |entry: &Value, name: &str| entry.get(name).and_then(Value::as_str).unwrap_or_default().to_owned();
    entries.sort_by_key(|entry| field(entry, "name"));
    let mut text = serde_json::to_string_pretty(&entries)?;
    text.push('\n');
    file::write(&folder.join(RECORDS), &serde_json::to_vec_pretty(records)?)?;
    file::write(&folder.join(INDEX), text.as_bytes())?;
    for item in fs::read_dir(folder)? {
        let path = item?.path();
        let stale = path.extension().is_some_and(|extension| extension == "wasm")
            && !entries.iter().any(|entry| path.file_name() == Some(field(entry, "file").as_ref()));
        if stale {
            fs::remove_file(&path).with_context(|| format!("cannot remove `{}`", path.display()))?;
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use cargo_metadata::PackageId;

    fn guest(name: &str) -> Guest {
        Guest {
            folder: std::path::PathBuf::new(),
            name: name.into(),
            kind: "tool",
            package: PackageId { repr: name.into() },
            package_name: name.into(),
            version: "0.1.0".into(),
        }
    }

    #[test]
    fn the_index_is_an_array_in_the_order_of_names_and_old_components_go() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let mut records = BTreeMap::new();
        for name in ["b", "a"] {
            let entry = Entry::new(&guest(name), name.as_bytes());
            file::write(&folder.join(&entry.file), name.as_bytes()).unwrap();
            records.insert(name.to_owned(), Record { key: "k".into(), entry });
        }
        file::write(&folder.join("gone.wasm"), b"old").unwrap();
        write(folder, &records).unwrap();

        let index: serde_json::Value = serde_json::from_str(&read_text(folder).unwrap()).unwrap();
        assert_eq!(
            index[0],
            serde_json::json!({
                "name": "a", "version": "0.1.0", "kind": "tool", "file": "a.wasm", "size": 1,
                "first_party": true,
                // The sha256 of the one byte `a`.
                "sha256": "ca978112ca1bbdcafac231b39a23dc4da786eff8147c4e72b9807785afee48bb",
            })
        );
        assert_eq!(index.as_array().unwrap().len(), 2);
        assert!(!folder.join("gone.wasm").exists());
        assert!(folder.join("a.wasm").exists());
        assert_eq!(read_records(folder).len(), 2);
    }

    #[test]
    fn what_a_registry_brought_stays() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let pulled = |name: &str| serde_json::json!({"name": name, "file": format!("{name}_0.wasm"), "package": format!("acme:{name}")});
        let index = serde_json::json!([pulled("a"), pulled("z"), {"name": "old", "file": "old.wasm"}]);
        file::write(&folder.join(INDEX), index.to_string().as_bytes()).unwrap();
        for name in ["a_0", "z_0", "old"] {
            file::write(&folder.join(format!("{name}.wasm")), b"component").unwrap();
        }
        let entry = Entry::new(&guest("a"), b"component");
        write(folder, &BTreeMap::from([("a".to_owned(), Record { key: "k".into(), entry })])).unwrap();
        let index: Vec<Value> = serde_json::from_str(&read_text(folder).unwrap()).unwrap();
        assert_eq!(index.len(), 2);
        assert_eq!((&index[0]["file"], &index[1]), (&"a.wasm".into(), &pulled("z")));
        assert!(folder.join("z_0.wasm").exists());
        assert!(!folder.join("a_0.wasm").exists() && !folder.join("old.wasm").exists());
    }

    #[test]
    fn a_component_is_kept_only_while_nothing_about_it_changed() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        let entry = Entry::new(&guest("a"), b"component");
        let record = Record { key: "k".into(), entry };
        assert!(!record.still("k", folder, &guest("a")), "the file is missing");
        file::write(&folder.join("a.wasm"), b"component").unwrap();
        assert!(record.still("k", folder, &guest("a")));
        assert!(!record.still("other", folder, &guest("a")), "another module");
        let newer = Guest { version: "0.2.0".into(), ..guest("a") };
        assert!(!record.still("k", folder, &newer), "another version");
        let unmarked = Record { entry: Entry { first_party: false, ..record.entry.clone() }, ..record.clone() };
        assert!(!unmarked.still("k", folder, &guest("a")), "an index from before there were marks");
        file::write(&folder.join("a.wasm"), b"tampered").unwrap();
        assert!(!record.still("k", folder, &guest("a")), "other bytes");
    }
}
