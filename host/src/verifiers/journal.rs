//! The journal: JSON Lines, one swap a line, with the components beside it by their digest.

use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{Read as _, Seek as _, SeekFrom, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context as _, bail, ensure};
use loopwright_contract::digest::ContentDigest;
use loopwright_contract::json::{self, JsonLimits};
use loopwright_contract::name::PluginName;
use serde::{Deserialize, Serialize};

/// The journal's file name, beside the plugins' index.
const JOURNAL: &str = "verifiers.jsonl";
/// The folder of the components, beside it.
const COMPONENTS: &str = "verifiers";
/// Most bytes of a journal.
const JOURNAL_BYTES_MAX: u64 = 4 * 1024 * 1024;
/// Most bytes of a component.
const COMPONENT_BYTES_MAX: u64 = loopwright_registry::COMPONENT_BYTES_LIMIT;

/// One line.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(tag = "event", rename_all = "snake_case", deny_unknown_fields)]
pub enum Entry {
    /// A component serves from here on.
    Serve {
        /// Whose place.
        verifier: PluginName,
        /// The component.
        digest: ContentDigest,
    },
    /// A component runs as the shadow from here on.
    Shadow {
        /// Whose place.
        verifier: PluginName,
        /// The component.
        digest: ContentDigest,
        /// Verdicts after which it is decided.
        verdicts: u64,
        /// Disagreements among them that are acceptable.
        disagreements_max: u64,
    },
    /// The shadow agreed often enough in some process, and serves.
    Promote {
        /// Whose place.
        verifier: PluginName,
        /// The component.
        digest: ContentDigest,
    },
    /// The shadow disagreed too often in some process, and is gone.
    Reject {
        /// Whose place.
        verifier: PluginName,
        /// The component.
        digest: ContentDigest,
    },
    /// The component failed too often in some process; the one before it serves.
    Quarantine {
        /// Whose place.
        verifier: PluginName,
        /// The component.
        digest: ContentDigest,
    },
    /// The one before serves again.
    Rollback {
        /// Whose place.
        verifier: PluginName,
    },
}

/// What one verifier's place has come to.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Place {
    /// Components that were put in place of the installed one; the last one serves.
    pub stack: Vec<ContentDigest>,
    /// The shadow, with its verdicts and disagreements.
    pub shadow: Option<(ContentDigest, u64, u64)>,
    /// Components that may not come back.
    pub quarantined: Vec<ContentDigest>,
}

/// Every place that the journal names.
pub type Places = BTreeMap<PluginName, Place>;

/// What a journal's lines come to.
fn fold(entries: &[Entry]) -> Places {
    let mut places = Places::new();
    for entry in entries {
        match entry {
            Entry::Serve { verifier, digest } | Entry::Promote { verifier, digest } => {
                let place = places.entry(verifier.clone()).or_default();
                place.shadow = place.shadow.take().filter(|(shadow, ..)| shadow != digest);
                if place.stack.last() != Some(digest) {
                    place.stack.push(*digest);
                }
            }
            Entry::Shadow { verifier, digest, verdicts, disagreements_max } => {
                places.entry(verifier.clone()).or_default().shadow = Some((*digest, *verdicts, *disagreements_max));
            }
            Entry::Reject { verifier, digest } => {
                let place = places.entry(verifier.clone()).or_default();
                place.shadow = place.shadow.take().filter(|(shadow, ..)| shadow != digest);
            }
            Entry::Quarantine { verifier, digest } => {
                let place = places.entry(verifier.clone()).or_default();
                place.shadow = place.shadow.take().filter(|(shadow, ..)| shadow != digest);
                place.stack.retain(|kept| kept != digest);
                place.quarantined.push(*digest);
            }
            Entry::Rollback { verifier } => {
                places.entry(verifier.clone()).or_default().stack.pop();
            }
        }
    }
    places
}

/// The swaps of one folder of plugins.
#[derive(Debug, Clone)]
pub struct Journal {
    folder: PathBuf,
}

impl Journal {
    /// The journal beside the plugins of `folder`. It need not be there yet.
    #[must_use]
    pub fn beside(folder: &Path) -> Self {
        Self { folder: folder.to_owned() }
    }

    fn path(&self) -> PathBuf {
        self.folder.join(JOURNAL)
    }

    fn component(&self, digest: ContentDigest) -> PathBuf {
        self.folder.join(COMPONENTS).join(format!("{}.wasm", hex::encode(digest.0)))
    }

    /// Its whole lines, in order. What stands after the last line end was never finished, and counts for nothing.
    ///
    /// # Errors
    /// A file that cannot be read, is too large, or has a line that is not one of ours.
    pub fn entries(&self) -> anyhow::Result<Vec<Entry>> {
        let path = self.path();
        let text = match File::open(&path) {
            Ok(file) => {
                read(file, JOURNAL_BYTES_MAX).with_context(|| format!("`{}` cannot be read", path.display()))?
            }
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
            Err(error) => return Err(error).with_context(|| format!("`{}` cannot be read", path.display())),
        };
        let whole = text.rfind('\n').map_or("", |end| text.get(..end).unwrap_or_default());
        let lines = whole.lines().enumerate().filter(|(_, line)| !line.is_empty());
        lines.map(|(number, line)| parse(line).with_context(|| place(&path, number))).collect()
    }

    /// What the lines come to.
    ///
    /// # Errors
    /// As [`entries`](Self::entries).
    pub fn places(&self) -> anyhow::Result<Places> {
        Ok(fold(&self.entries()?))
    }

    /// Adds a line: the moment from which it counts. What a crash left behind after the last whole line is cut off first.
    ///
    /// # Errors
    /// A file that cannot be written; nothing counts then.
    pub fn append(&self, entry: &Entry) -> anyhow::Result<()> {
        let path = self.path();
        let write = || -> std::io::Result<()> {
            fs::create_dir_all(&self.folder)?;
            let mut file = OpenOptions::new().read(true).write(true).create(true).truncate(false).open(&path)?;
            file.lock()?;
            let end = whole_lines(&mut file)?;
            file.set_len(end)?;
            file.seek(SeekFrom::Start(end))?;
            file.write_all(format!("{}\n", serde_json::to_string(entry)?).as_bytes())?;
            file.sync_all()
        };
        write().with_context(|| format!("`{}` cannot be written, so nothing is swapped", path.display()))
    }

    /// Keeps a component by its digest: whole or not at all.
    ///
    /// # Errors
    /// A file that cannot be written.
    pub fn keep(&self, bytes: &[u8]) -> anyhow::Result<ContentDigest> {
        let digest = ContentDigest::of(bytes);
        let path = self.component(digest);
        let write = || -> std::io::Result<()> {
            fs::create_dir_all(self.folder.join(COMPONENTS))?;
            let fresh = path.with_extension(format!("{}.new", std::process::id()));
            let mut file = File::create(&fresh)?;
            file.write_all(bytes)?;
            file.sync_all()?;
            fs::rename(&fresh, &path)
        };
        write().with_context(|| format!("`{}` cannot be written", path.display()))?;
        Ok(digest)
    }

    /// Reads a component that was kept. Its digest is computed again: what lies on a disk is not trusted.
    ///
    /// # Errors
    /// One that is missing, too large, or not what its name says.
    pub fn load(&self, digest: ContentDigest) -> anyhow::Result<Vec<u8>> {
        let path = self.component(digest);
        let what = || format!("component `{}`", path.display());
        let file = File::open(&path).with_context(what)?;
        let mut bytes = Vec::new();
        file.take(COMPONENT_BYTES_MAX + 1).read_to_end(&mut bytes).with_context(what)?;
        ensure!(bytes.len() as u64 <= COMPONENT_BYTES_MAX, "{}: more than {COMPONENT_BYTES_MAX} bytes", what());
        let found = ContentDigest::of(&bytes);
        ensure!(found == digest, "{}: expected {digest}, found {found}\nhint: swap it in again", what());
        Ok(bytes)
    }
}

fn place(path: &Path, line: usize) -> String {
    format!(
        "`{}` line {}: not a line of this journal; restore the file, or remove it to serve what is installed",
        path.display(),
        line + 1
    )
}

fn parse(line: &str) -> anyhow::Result<Entry> {
    let value = json::parse(line, &JsonLimits::CONTRACT)?;
    Ok(serde_json::from_value(value)?)
}

fn read(file: File, max: u64) -> anyhow::Result<String> {
    let mut text = String::new();
    file.take(max + 1).read_to_string(&mut text)?;
    if text.len() as u64 > max {
        bail!("more than {max} bytes");
    }
    Ok(text)
}

/// Bytes up to the last line end.
fn whole_lines(file: &mut File) -> std::io::Result<u64> {
    let mut bytes = Vec::new();
    file.take(JOURNAL_BYTES_MAX).read_to_end(&mut bytes)?;
    Ok(bytes.iter().rposition(|byte| *byte == b'\n').map_or(0, |end| end as u64 + 1))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn name() -> PluginName {
        "judge".parse().expect("a name")
    }

    fn digest(byte: u8) -> ContentDigest {
        ContentDigest([byte; 32])
    }

    fn serve(byte: u8) -> Entry {
        Entry::Serve { verifier: name(), digest: digest(byte) }
    }

    #[test]
    fn lines_are_folded_in_their_order() {
        let shadow = Entry::Shadow { verifier: name(), digest: digest(3), verdicts: 9, disagreements_max: 1 };
        let lines = [
            (serve(1), vec![1], None),
            (serve(2), vec![1, 2], None),
            (shadow, vec![1, 2], Some(3)),
            (Entry::Promote { verifier: name(), digest: digest(3) }, vec![1, 2, 3], None),
            (Entry::Quarantine { verifier: name(), digest: digest(2) }, vec![1, 3], None),
            (Entry::Rollback { verifier: name() }, vec![1], None),
            (Entry::Rollback { verifier: name() }, vec![], None),
            (Entry::Rollback { verifier: name() }, vec![], None),
        ];
        let mut so_far = Vec::new();
        for (entry, stack, shadow) in lines {
            so_far.push(entry.clone());
            let places = fold(&so_far);
            let place = places.get("judge").expect("a place");
            assert_eq!(place.stack, stack.into_iter().map(digest).collect::<Vec<_>>(), "after {entry:?}");
            assert_eq!(place.shadow.map(|(shadow, ..)| shadow), shadow.map(digest), "after {entry:?}");
        }
    }

    #[test]
    fn a_line_that_was_cut_off_anywhere_is_no_line() {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = Journal::beside(folder.path());
        assert_eq!(journal.entries().expect("none yet"), []);
        journal.append(&serve(1)).expect("written");
        let first = fs::read(journal.path()).expect("a file");
        journal.append(&serve(2)).expect("written");
        let both = fs::read(journal.path()).expect("a file");
        for end in first.len()..both.len() {
            fs::write(journal.path(), both.get(..end).expect("a part")).expect("written");
            assert_eq!(journal.entries().expect("readable"), [serve(1)], "cut at byte {end}");
            journal.append(&serve(3)).expect("written");
            assert_eq!(journal.entries().expect("readable"), [serve(1), serve(3)], "cut at byte {end}");
        }
    }

    #[test]
    fn damage_before_the_last_line_is_told() {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = Journal::beside(folder.path());
        for line in ["{}", "{\"event\":\"serve\"}", "no", "{\"event\":\"rollback\",\"verifier\":\"judge\",\"more\":1}"]
        {
            fs::write(journal.path(), format!("{line}\n")).expect("written");
            let error = journal.entries().expect_err(line).to_string();
            assert!(error.contains("line 1"), "{error}");
        }
    }

    #[test]
    fn a_component_that_was_changed_on_the_disk_is_refused() {
        let folder = tempfile::tempdir().expect("a folder");
        let journal = Journal::beside(folder.path());
        let digest = journal.keep(b"component").expect("kept");
        assert_eq!(journal.load(digest).expect("read"), b"component");
        fs::write(journal.component(digest), b"changed").expect("written");
        assert!(journal.load(digest).expect_err("changed").to_string().contains("expected sha256:"));
    }
}
