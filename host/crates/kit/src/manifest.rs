//! `plugin.toml`: what the kit has to know of a plugin's folder.

use std::fmt;
use std::fs;
use std::path::Path;
use std::str::FromStr;

use loopwright_contract::episode::PluginKind;
use serde::Deserialize;

use crate::KitError;

/// The manifest's name.
pub const MANIFEST: &str = "plugin.toml";

/// Bytes of a manifest.
const MANIFEST_BYTES_MAX: u64 = 16 * 1024;

/// What a plugin is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// Tools of one app.
    Tool,
    /// The rules of a world.
    Environment,
    /// Judges.
    Verifier,
    /// Advises.
    Skill,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::Tool, Self::Environment, Self::Verifier, Self::Skill];

    /// Its name on the command line, in folders and in the contract.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Environment => "environment",
            Self::Verifier => "verifier",
            Self::Skill => "skill",
        }
    }

    /// Its name as the host has it.
    #[must_use]
    pub fn of_contract(self) -> PluginKind {
        match self {
            Self::Tool => PluginKind::Tool,
            Self::Environment => PluginKind::Environment,
            Self::Verifier => PluginKind::Verifier,
            Self::Skill => PluginKind::Skill,
        }
    }

    /// Its name as a type: a class of Python, the end of a function of JavaScript.
    pub(crate) fn class(self) -> &'static str {
        match self {
            Self::Tool => "Tool",
            Self::Environment => "Environment",
            Self::Verifier => "Verifier",
            Self::Skill => "Skill",
        }
    }
}

/// The language that a plugin is written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Lang {
    /// Through `sdk/` and wit-component.
    Rust,
    /// Through `sdk/python` and componentize-py.
    Python,
    /// Through `sdk/js` and componentize-qjs.
    Js,
}

impl Lang {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Rust, Self::Python, Self::Js];

    /// Its name on the command line and in folders.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Rust => "rust",
            Self::Python => "python",
            Self::Js => "js",
        }
    }
}

macro_rules! named {
    ($type:ty) => {
        impl fmt::Display for $type {
            fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
                formatter.write_str(self.as_str())
            }
        }

        impl FromStr for $type {
            type Err = String;

            fn from_str(text: &str) -> Result<Self, String> {
                Self::ALL.into_iter().find(|each| each.as_str() == text).ok_or_else(|| {
                    let known: Vec<&str> = Self::ALL.into_iter().map(Self::as_str).collect();
                    format!("expected one of {}", known.join(", "))
                })
            }
        }
    };
}
named!(Kind);
named!(Lang);

/// The manifest.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Manifest {
    /// The plugin's name, as its code says it.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// What it is written in.
    pub lang: Lang,
}

impl Manifest {
    /// Reads a folder's manifest.
    ///
    /// # Errors
    /// [`KitError`] when there is none, or it is malformed.
    pub fn read(folder: &Path) -> Result<Self, KitError> {
        let path = folder.join(MANIFEST);
        let size = fs::metadata(&path).map_err(KitError::io("read", &path))?.len();
        if size > MANIFEST_BYTES_MAX {
            let what = format!("expected at most {MANIFEST_BYTES_MAX} bytes, found {size}");
            return Err(KitError::plugin(path, what));
        }
        let text = fs::read_to_string(&path).map_err(KitError::io("read", &path))?;
        let manifest: Self = toml::from_str(&text).map_err(|error| KitError::plugin(&path, error.to_string()))?;
        check_name(&manifest.name)?;
        Ok(manifest)
    }
}

/// Checks a plugin's name: what the contract allows, and what is a crate's and a module's name too.
pub(crate) fn check_name(name: &str) -> Result<(), KitError> {
    let expected = "1 to 48 characters out of `a-z`, `0-9` and `-`, a letter first, no `-` at the end";
    let fine = (1..=48).contains(&name.len())
        && name.starts_with(|letter: char| letter.is_ascii_lowercase())
        && !name.ends_with('-')
        && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-');
    if fine { Ok(()) } else { Err(KitError::Name { name: name.chars().take(80).collect(), expected }) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_those_of_the_contract_that_are_also_crates() {
        for name in ["a", "lamp", "my-lamp-2", &"a".repeat(48)] {
            assert!(check_name(name).is_ok(), "{name}");
        }
        for name in ["", "-a", "a-", "2a", "Lamp", "la mp", "../x", "la_mp", "灯", &"a".repeat(49)] {
            assert!(check_name(name).is_err(), "{name}");
        }
    }

    #[test]
    fn a_manifest_is_read_and_anything_else_refused() {
        let folder = tempfile::tempdir().unwrap();
        let read = |text: &str| {
            fs::write(folder.path().join(MANIFEST), text).unwrap();
            Manifest::read(folder.path())
        };
        let manifest = read("name = \"lamp\"\nkind = \"tool\"\nlang = \"js\"\n").unwrap();
        assert_eq!(manifest, Manifest { name: "lamp".into(), kind: Kind::Tool, lang: Lang::Js });
        for text in [
            "",
            "name = \"lamp\"",
            "name = \"../lamp\"\nkind = \"tool\"\nlang = \"js\"",
            "name = \"lamp\"\nkind = \"gadget\"\nlang = \"js\"",
            "name = \"lamp\"\nkind = \"tool\"\nlang = \"js\"\nmore = 1",
            &"#".repeat(MANIFEST_BYTES_MAX as usize + 1),
        ] {
            assert!(read(text).is_err(), "{:.40}", text);
        }
        assert!(Manifest::read(&folder.path().join("absent")).is_err());
    }
}
