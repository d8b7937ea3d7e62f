//! Components from scripts: what componentize-py and componentize-qjs are told. WASI imports become stubs: a guest that reaches for one
//! traps, and the host links none.

use std::fs;
use std::path::Path;
use std::process::Command;

use crate::tools::{COMPONENTIZE_JS, COMPONENTIZE_PY, Program, Tools};
use crate::{KitError, process};

const PYTHON: Program = Program {
    name: "componentize-py",
    own: ".venv/bin",
    set_up: "python/bin",
    hint: "in `FOLDER`, run `python3 -m venv .venv && .venv/bin/pip install -r requirements.txt`",
};

const JAVASCRIPT: Program = Program {
    name: "componentize-qjs",
    own: "node_modules/.bin",
    set_up: "js/node_modules/.bin",
    hint: "in `FOLDER`, run `npm install` (Node 18 or newer)",
};

/// A script to make a component of. Paths are relative to `folder`.
#[derive(Debug, Clone, Copy)]
pub struct Script<'a> {
    /// Where the tools run: what lies in it may be imported.
    pub folder: &'a Path,
    /// The folder of the WIT package.
    pub wit: &'a Path,
    /// The world in it.
    pub world: &'a str,
    /// The script that exports the world's interfaces.
    pub entry: &'a Path,
    /// Where the component goes.
    pub output: &'a Path,
}

impl Script<'_> {
    /// Through componentize-py: a component with the interpreter in it, 19 MB. Returns its bytes and what made them.
    ///
    /// # Errors
    /// [`KitError`] when the tool is missing or refuses the script.
    pub fn python(&self, tools: &Tools) -> Result<(Vec<u8>, String), KitError> {
        let module = self.entry.file_stem().unwrap_or_default();
        let mut command = Command::new(tools.find(&PYTHON, self.folder)?);
        command.arg("--quiet").arg("--wit-path").arg(self.wit).args(["--world", self.world]);
        command.args(["componentize", "--stub-wasi", "--python-path", "."]);
        if let Some(beside) = self.entry.parent().filter(|folder| !folder.as_os_str().is_empty()) {
            command.arg("--python-path").arg(beside);
        }
        command.arg(module).arg("--output").arg(self.output);
        // A virtual environment's packages would come in by themselves: a plugin has what lies in its folder.
        command.env_remove("VIRTUAL_ENV").env("PYTHONHASHSEED", "0");
        self.run(command, COMPONENTIZE_PY)
    }

    /// Through componentize-qjs: a component with QuickJS in it, 1.2 MB. Returns its bytes and what made them.
    ///
    /// # Errors
    /// As [`Script::python`].
    pub fn javascript(&self, tools: &Tools) -> Result<(Vec<u8>, String), KitError> {
        let mut command = Command::new(tools.find(&JAVASCRIPT, self.folder)?);
        command.arg("--wit").arg(self.wit).args(["--world", self.world, "--module-root", "."]);
        command.args(["--sync", "--stub-wasi", "--opt-size", "--js"]).arg(self.entry).arg("--output").arg(self.output);
        self.run(command, COMPONENTIZE_JS)
    }

    fn run(&self, mut command: Command, with: &str) -> Result<(Vec<u8>, String), KitError> {
        process::capture(command.current_dir(self.folder))?;
        let path = self.folder.join(self.output);
        let bytes = fs::read(&path).map_err(KitError::io("read", &path))?;
        Ok((bytes, with.to_owned()))
    }
}
