//! Guests of tests in Python and JavaScript: scripts beside `tests/guests/echo`, which export the same world.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use loopwright_kit::{COMPONENTIZE_JS, COMPONENTIZE_PY, Script, Tools};

use super::index::{Entry, Record};
use crate::file;
use crate::tree::Tree;

/// A guest that is a script.
#[derive(Clone, Copy)]
pub(super) struct ScriptGuest {
    /// Its name in the index.
    pub(super) name: &'static str,
    /// The script, in the guest's folder.
    source: &'static str,
    /// The SDK that it imports, from the top of the tree, and its place beside the script.
    sdk: (&'static str, &'static str),
    python: bool,
}

pub(super) const GUESTS: [ScriptGuest; 2] = [
    ScriptGuest {
        name: "echo-python",
        source: "values.py",
        sdk: ("sdk/python/loopwright", "loopwright"),
        python: true,
    },
    ScriptGuest { name: "echo-js", source: "echo.js", sdk: ("sdk/js", "loopwright"), python: false },
];

/// The folder of the scripts and of the world that they export.
const FOLDER: &str = "tests/guests/echo";

/// Builds a guest, unless it is there and nothing that it is made of changed: the tools do not give the same bytes twice.
pub(super) fn make(tree: &Tree, tools: &Tools, guest: ScriptGuest, known: Option<&Record>) -> Result<(Record, bool)> {
    let stage = tree.products().join("guest-scripts").join(guest.name);
    let mut inputs =
        vec![guest.source.to_owned(), if guest.python { COMPONENTIZE_PY } else { COMPONENTIZE_JS }.to_owned()];
    for (from, to) in [
        (tree.root().join(FOLDER).join("wit"), "wit"),
        (tree.root().join("wit"), "wit/deps/afv"),
        (tree.root().join(guest.sdk.0), guest.sdk.1),
    ] {
        copy(&from, &stage.join(to), &mut inputs)?;
    }
    let script = fs::read(tree.root().join(FOLDER).join(guest.source))?;
    file::write(&stage.join(guest.source), &script)?;
    inputs.push(file::sha256(&script));
    let key = file::sha256(inputs.join("\n").as_bytes());
    let path = tree.plugins().join(format!("{}.wasm", guest.name));
    if let Some(known) = known
        && known.key == key
        && file::sha256_of(&path).is_ok_and(|digest| digest == known.entry.sha256)
    {
        return Ok((known.clone(), false));
    }
    let script = Script {
        folder: &stage,
        wit: Path::new("wit"),
        world: "echo",
        entry: Path::new(guest.source),
        output: Path::new("component.wasm"),
    };
    let (bytes, _) = if guest.python { script.python(tools) } else { script.javascript(tools) }?;
    file::write(&path, &bytes)?;
    Ok((Record { key, entry: Entry::of_script(guest.name, &bytes) }, true))
}

/// Copies a folder's text files, and notes what they are.
fn copy(from: &Path, to: &Path, inputs: &mut Vec<String>) -> Result<()> {
    let mut paths: Vec<PathBuf> = fs::read_dir(from)
        .with_context(|| format!("cannot read `{}`", from.display()))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    paths.sort();
    for path in paths {
        let target = to.join(path.file_name().unwrap_or_default());
        if path.is_dir() {
            if path.file_name().is_some_and(|name| name != "__pycache__") {
                copy(&path, &target, inputs)?;
            }
        } else {
            let bytes = fs::read(&path)?;
            inputs.push(format!("{} {}", target.display(), file::sha256(&bytes)));
            file::write(&target, &bytes)?;
        }
    }
    Ok(())
}
