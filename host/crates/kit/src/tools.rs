//! Where guest toolchains are looked for.

use std::env;
use std::ffi::OsString;
use std::path::{Path, PathBuf};

use crate::KitError;

/// The version of componentize-py that the contract and the SDK are tested with, as pip names it.
pub const COMPONENTIZE_PY: &str = "componentize-py==0.25.1";

/// The version of componentize-qjs that the contract and the SDK are tested with, as npm names it.
pub const COMPONENTIZE_JS: &str = "componentize-qjs@0.4.5";

/// Where tools are looked for.
#[derive(Debug, Clone)]
pub struct Tools {
    /// What a set-up put aside: `python/bin` of a virtual environment, `js/node_modules/.bin` of an npm install.
    pub folder: PathBuf,
    /// Folders of programs, as in `PATH`.
    pub path: OsString,
    /// Cargo.
    pub cargo: PathBuf,
}

impl Tools {
    /// The first of a plugin's own programs, those of the set-up, and those in `PATH`.
    pub(crate) fn find(&self, program: &Program, folder: &Path) -> Result<PathBuf, KitError> {
        let own = folder.join(program.own).join(program.name);
        let set_up = self.folder.join(program.set_up).join(program.name);
        let in_path = env::split_paths(&self.path).map(|folder| folder.join(program.name));
        let found = [own.clone(), set_up.clone()].into_iter().chain(in_path).find(|path| path.is_file());
        // The program runs in the plugin's folder, so that a path of this process's folder would lead elsewhere.
        let found = found.map(|path| std::path::absolute(&path).unwrap_or(path));
        found.ok_or_else(|| KitError::Missing {
            what: program.name,
            looked: format!("`{}`, `{}` and PATH", own.display(), set_up.display()),
            hint: program.hint.replace("FOLDER", &folder.display().to_string()),
        })
    }
}

/// A program, and where it may be.
pub(crate) struct Program {
    pub(crate) name: &'static str,
    /// In a plugin's folder.
    pub(crate) own: &'static str,
    /// In the folder of the set-up.
    pub(crate) set_up: &'static str,
    /// How to get it; `FOLDER` stands for the plugin's.
    pub(crate) hint: &'static str,
}

#[cfg(test)]
mod tests {
    use std::fs;

    use super::*;

    const PROGRAM: Program = Program { name: "tool", own: ".venv/bin", set_up: "python/bin", hint: "in FOLDER" };

    #[test]
    fn a_plugins_own_tool_comes_before_the_set_ups_and_the_paths() {
        let folder = tempfile::tempdir().unwrap();
        let at = |name: &str| folder.path().join(name);
        let tools = Tools { folder: at("tools"), path: at("path").into(), cargo: "cargo".into() };
        let error = tools.find(&PROGRAM, &at("plugin")).unwrap_err().to_string();
        assert!(error.contains("python/bin/tool") && error.contains("hint: in "), "{error}");
        for file in ["path/tool", "tools/python/bin/tool", "plugin/.venv/bin/tool"] {
            fs::create_dir_all(at(file).parent().unwrap()).unwrap();
            fs::write(at(file), "").unwrap();
            assert_eq!(tools.find(&PROGRAM, &at("plugin")).unwrap(), at(file));
        }
    }
}
