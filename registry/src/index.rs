//! A folder of components with its index.

use std::path::PathBuf;

use loopwright_contract::{digest::ContentDigest, episode::PluginKind};

use crate::{
    COMPONENT_BYTES_LIMIT, ENTRIES_LIMIT, Entry, INDEX_BYTES_LIMIT, INDEX_FILE, RegistryError, entry::RawEntry,
    file::read,
};

/// The components of one folder.
#[derive(Debug, Clone)]
pub struct Index {
    folder: PathBuf,
    entries: Vec<Entry>,
}

/// A component whose bytes are the ones that the index names.
#[derive(Debug, Clone)]
pub struct Package {
    /// What the index says of it.
    pub entry: Entry,
    /// The component.
    pub bytes: Vec<u8>,
}

impl Index {
    /// Reads a folder's index. The components are not read yet.
    ///
    /// # Errors
    /// [`RegistryError`] when there is no index, or it is not JSON of the expected form, names something twice or breaks a limit.
    pub fn open(folder: impl Into<PathBuf>) -> Result<Self, RegistryError> {
        let folder = folder.into();
        let path = folder.join(INDEX_FILE);
        let text = read(&path, INDEX_BYTES_LIMIT)?;
        match parse(&text) {
            Ok(entries) => Ok(Self { folder, entries }),
            Err(reason) => Err(RegistryError::Malformed { path, reason }),
        }
    }

    /// An index of nothing, for a folder that has none yet.
    pub(crate) fn empty(folder: impl Into<PathBuf>) -> Self {
        Self { folder: folder.into(), entries: Vec::new() }
    }

    /// Puts an entry in the place of the one of its name, or beside the others; returns the one that went.
    pub(crate) fn set(&mut self, entry: Entry) -> Option<Entry> {
        let gone = self.entries.iter().position(|other| other.name == entry.name).map(|at| self.entries.remove(at));
        self.entries.push(entry);
        self.entries.sort_by(|a, b| a.name.cmp(&b.name));
        gone
    }

    /// The index's file as it is to be.
    pub(crate) fn text(&self) -> Result<Vec<u8>, RegistryError> {
        let bad = |reason| RegistryError::Malformed { path: self.folder.join(INDEX_FILE), reason };
        if self.entries.len() > ENTRIES_LIMIT {
            return Err(bad(format!("expected at most {ENTRIES_LIMIT} entries, found {}", self.entries.len())));
        }
        let raw: Vec<RawEntry> = self.entries.iter().map(RawEntry::from).collect();
        let mut text = serde_json::to_vec_pretty(&raw).map_err(|error| bad(error.to_string()))?;
        text.push(b'\n');
        Ok(text)
    }

    /// Every component, sorted by name.
    #[must_use]
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// The components of the product: all but those of the test suite.
    pub fn plugins(&self) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(|entry| entry.kind.is_some())
    }

    /// The components of one kind.
    pub fn of_kind(&self, kind: PluginKind) -> impl Iterator<Item = &Entry> {
        self.entries.iter().filter(move |entry| entry.kind == Some(kind))
    }

    /// The component of that name.
    ///
    /// # Errors
    /// `Unknown` with the names that there are.
    pub fn find(&self, name: &str) -> Result<&Entry, RegistryError> {
        self.entries.iter().find(|entry| entry.name == *name).ok_or_else(|| {
            let installed: Vec<&str> = self.plugins().map(|entry| entry.name.as_str()).collect();
            RegistryError::Unknown { name: name.chars().take(80).collect(), installed: installed.join(", ") }
        })
    }

    /// Reads a component and compares its bytes with the index.
    ///
    /// # Errors
    /// `Missing`, `Io` or `TooLarge` when it cannot be read, `Changed` when its bytes are others.
    pub fn load(&self, entry: &Entry) -> Result<Package, RegistryError> {
        let bytes = read(&self.folder.join(&entry.file), COMPONENT_BYTES_LIMIT)?;
        let found = ContentDigest::of(&bytes);
        let found_bytes = bytes.len() as u64;
        if found != entry.digest || found_bytes != entry.size_bytes {
            let (name, expected, expected_bytes) = (entry.name.to_string(), entry.digest, entry.size_bytes);
            return Err(RegistryError::Changed { name, expected, expected_bytes, found, found_bytes });
        }
        Ok(Package { entry: entry.clone(), bytes })
    }
}

fn parse(text: &[u8]) -> Result<Vec<Entry>, String> {
    let raw: Vec<RawEntry> = serde_json::from_slice(text).map_err(|error| error.to_string())?;
    if raw.len() > ENTRIES_LIMIT {
        return Err(format!("expected at most {ENTRIES_LIMIT} entries, found {}", raw.len()));
    }
    let mut entries = raw.into_iter().map(RawEntry::check).collect::<Result<Vec<_>, _>>()?;
    entries.sort_by(|a, b| a.name.cmp(&b.name));
    match entries.iter().zip(entries.iter().skip(1)).find(|(a, b)| a.name == b.name) {
        Some((twice, _)) => Err(format!("`{}` stands there twice", twice.name)),
        None => Ok(entries),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const BYTES: &[u8] = b"component";

    fn entry(name: &str, file: &str) -> String {
        let digest = ContentDigest::of(BYTES).to_string();
        let hex = digest.trim_start_matches("sha256:");
        format!(
            r#"{{"name":"{name}","version":"0.1.0","kind":"tool","file":"{file}","sha256":"{hex}","size":{}}}"#,
            BYTES.len()
        )
    }

    fn folder(index: &str) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        fs::write(folder.path().join(INDEX_FILE), index).unwrap();
        fs::write(folder.path().join("notes.wasm"), BYTES).unwrap();
        folder
    }

    #[test]
    fn a_component_comes_with_the_bytes_of_the_index() {
        let folder = folder(&format!("[{},{}]", entry("z", "z.wasm"), entry("notes", "notes.wasm")));
        let index = Index::open(folder.path()).unwrap();
        let names: Vec<&str> = index.entries().iter().map(|entry| entry.name.as_str()).collect();
        assert_eq!(names, ["notes", "z"]);
        assert_eq!(index.load(index.find("notes").unwrap()).unwrap().bytes, BYTES);
    }

    #[test]
    fn only_what_the_index_marks_is_first_party() {
        let marked = entry("own", "own.wasm").replace("\"size\"", "\"first_party\":true,\"size\"");
        let folder = folder(&format!("[{marked},{}]", entry("strange", "strange.wasm")));
        let index = Index::open(folder.path()).unwrap();
        let marks: Vec<bool> = index.entries().iter().map(|entry| entry.first_party).collect();
        assert_eq!(marks, [true, false]);
    }

    #[test]
    fn changed_bytes_are_never_handed_out_also_at_the_second_try() {
        let folder = folder(&format!("[{}]", entry("notes", "notes.wasm")));
        let index = Index::open(folder.path()).unwrap();
        let entry = index.find("notes").unwrap();
        for bytes in [b"componen!".as_slice(), b"comp", b""] {
            fs::write(folder.path().join("notes.wasm"), bytes).unwrap();
            for _ in 0..2 {
                assert!(matches!(index.load(entry), Err(RegistryError::Changed { .. })), "{bytes:?}");
            }
        }
    }

    #[test]
    fn a_bad_index_says_which_entry_and_what_to_do() {
        let good = entry("notes", "notes.wasm");
        for (index, part) in [
            ("[".to_owned(), "EOF"),
            (format!("[{good},{good}]"), "twice"),
            (format!("[{}]", entry("notes", "../notes.wasm")), "file `../notes.wasm`"),
            (format!("[{}]", entry("notes", "/etc/x.wasm")), "file"),
            (format!("[{}]", entry("No", "notes.wasm")), "plugin name"),
            (format!("[{}]", good.replace("0.1.0", "one")), "version `one`"),
            (format!("[{}]", good.replace("\"tool\"", "\"toy\"")), "kind `toy`"),
            (format!("[{}]", good.replace("\"sha256\":\"", "\"sha256\":\"..")), "digest"),
            (format!("[{}]", good.replace("\"size\"", "\"more\":1,\"size\"")), "more"),
            (format!("[{}]", good.replace("\"size\"", "\"size\":1,\"size\"")), "duplicate"),
            (format!("[{}]", good.replace("\"size\"", "\"package\":\"x\",\"size\"")), "package"),
        ] {
            let error = Index::open(folder(&index).path()).unwrap_err().to_string();
            assert!(error.contains(part) && error.contains("cargo xtask guests"), "{index}: {error}");
        }
    }

    #[test]
    fn a_missing_index_or_plugin_says_what_to_do() {
        let empty = tempfile::tempdir().unwrap();
        assert!(Index::open(empty.path()).unwrap_err().to_string().contains("cargo xtask guests"));
        let folder = folder(&format!("[{}]", entry("notes", "gone.wasm")));
        let index = Index::open(folder.path()).unwrap();
        assert!(matches!(index.load(index.find("notes").unwrap()), Err(RegistryError::Missing { .. })));
        assert!(index.find("note").unwrap_err().to_string().contains("installed are: notes"));
    }

    #[test]
    fn a_file_beyond_the_limit_is_not_read_whole() {
        let folder = folder(&format!("[{}]", entry("notes", "notes.wasm")));
        let path = folder.path().join("notes.wasm");
        assert!(matches!(read(&path, 3), Err(RegistryError::TooLarge { limit: 3, found: 4, .. })));
    }
}
