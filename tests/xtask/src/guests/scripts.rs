//! Guests of tests in Python and JavaScript: scripts beside a guest in Rust that does the same. Those of `tests/guests/echo` export a world
//! of their own; those of `tests/guests/caller` are plugins, which the kit builds as it builds an author's.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use loopwright_kit::{COMPONENTIZE_JS, COMPONENTIZE_PY, Kind, Lang, MANIFEST, REQUEST, Script, Tools};

use super::index::{Entry, Record};
use crate::file;
use crate::tree::Tree;

/// A guest that is a script.
#[derive(Clone, Copy)]
pub(super) struct ScriptGuest {
    /// Its name in the index.
    pub(super) name: &'static str,
    /// The folder of the guest in Rust, under `tests/guests`.
    beside: &'static str,
    /// The script, in that folder.
    source: &'static str,
    language: Language,
    made: Made,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Language {
    Python,
    JavaScript,
}

impl Language {
    /// The SDK, from the top of the tree. Beside the script it is called `loopwright`.
    fn sdk(self) -> &'static str {
        match self {
            Self::Python => "sdk/python/loopwright",
            Self::JavaScript => "sdk/js",
        }
    }

    fn tool(self) -> &'static str {
        match self {
            Self::Python => COMPONENTIZE_PY,
            Self::JavaScript => COMPONENTIZE_JS,
        }
    }

    fn of_kit(self) -> Lang {
        match self {
            Self::Python => Lang::Python,
            Self::JavaScript => Lang::Js,
        }
    }
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum Made {
    /// For this world, in the folder `wit` beside the script.
    World(&'static str),
    /// By the kit, with the request beside the script.
    ToolPlugin,
}

pub(super) const GUESTS: [ScriptGuest; 4] = [
    ScriptGuest {
        name: "echo-python",
        beside: "echo",
        source: "values.py",
        language: Language::Python,
        made: Made::World("echo"),
    },
    ScriptGuest {
        name: "echo-js",
        beside: "echo",
        source: "echo.js",
        language: Language::JavaScript,
        made: Made::World("echo"),
    },
    ScriptGuest {
        name: "caller-python",
        beside: "caller",
        source: "plugin.py",
        language: Language::Python,
        made: Made::ToolPlugin,
    },
    ScriptGuest {
        name: "caller-js",
        beside: "caller",
        source: "plugin.js",
        language: Language::JavaScript,
        made: Made::ToolPlugin,
    },
];

/// Builds a guest, unless it is there and nothing that it is made of changed: the tools do not give the same bytes twice.
pub(super) fn make(tree: &Tree, tools: &Tools, guest: ScriptGuest, known: Option<&Record>) -> Result<(Record, bool)> {
    let stage = tree.products().join("guest-scripts").join(guest.name);
    let key = file::sha256(guest.stage(tree, &stage)?.join("\n").as_bytes());
    let path = tree.plugins().join(format!("{}.wasm", guest.name));
    if let Some(known) = known
        && known.key == key
        && file::sha256_of(&path).is_ok_and(|digest| digest == known.entry.sha256)
    {
        return Ok((known.clone(), false));
    }
    let bytes = guest.build(&stage, tools)?;
    file::write(&path, &bytes)?;
    Ok((Record { key, entry: Entry::of_script(guest.name, &bytes) }, true))
}

impl ScriptGuest {
    /// Puts everything that it is made of into a folder, and says what that is.
    fn stage(self, tree: &Tree, stage: &Path) -> Result<Vec<String>> {
        let folder = tree.root().join("tests/guests").join(self.beside);
        let mut inputs = vec![self.source.to_owned(), self.language.tool().to_owned()];
        let (sdk, contract) = (tree.root().join(self.language.sdk()), tree.root().join("wit"));
        let script = fs::read(folder.join(self.source))?;
        put(&stage.join(self.source), &script, &mut inputs)?;
        copy(&sdk, &stage.join("loopwright"), &mut inputs)?;
        match self.made {
            Made::World(_) => {
                copy(&folder.join("wit"), &stage.join("wit"), &mut inputs)?;
                copy(&contract, &stage.join("wit/deps/afv"), &mut inputs)?;
            }
            Made::ToolPlugin => {
                copy(&contract, &stage.join("loopwright/wit"), &mut inputs)?;
                put(&stage.join(REQUEST), &fs::read(folder.join(REQUEST))?, &mut inputs)?;
                put(&stage.join(MANIFEST), self.manifest().as_bytes(), &mut inputs)?;
            }
        }
        Ok(inputs)
    }

    fn manifest(self) -> String {
        format!("name = \"{}\"\nkind = \"{}\"\nlang = \"{}\"\n", self.name, Kind::Tool, self.language.of_kit())
    }

    fn build(self, stage: &Path, tools: &Tools) -> Result<Vec<u8>> {
        let Made::World(world) = self.made else { return Ok(loopwright_kit::build(stage, tools)?.bytes) };
        let script = Script {
            folder: stage,
            wit: Path::new("wit"),
            world,
            entry: Path::new(self.source),
            output: Path::new("component.wasm"),
        };
        let (bytes, _) = match self.language {
            Language::Python => script.python(tools),
            Language::JavaScript => script.javascript(tools),
        }?;
        Ok(bytes)
    }
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
            put(&target, &fs::read(&path)?, inputs)?;
        }
    }
    Ok(())
}

fn put(target: &Path, bytes: &[u8], inputs: &mut Vec<String>) -> Result<()> {
    inputs.push(format!("{} {}", target.display(), file::sha256(bytes)));
    file::write(target, bytes)
}
