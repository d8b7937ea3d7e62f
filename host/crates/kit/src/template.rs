//! `plugin new`: a folder with everything that a plugin of a kind and language needs, the SDK and the contract included.
//!
//! The SDK is copied beside the plugin, because no registry carries it: so the plugin builds wherever cargo, pip or npm reach theirs, and it
//! is built against the contract that it was written for.

use std::fs;
use std::path::{Path, PathBuf};

use crate::manifest::check_name;
use crate::{Kind, KitError, Lang, file};

include!(concat!(env!("OUT_DIR"), "/files.rs"));

/// The folder of the copies in a plugin's own.
const COPIES: &str = "loopwright";

/// Where a Rust plugin's SDK comes from.
#[derive(Debug, Clone, Default)]
pub enum Sdk {
    /// A copy beside the plugin.
    #[default]
    Copied,
    /// A folder that holds the crate, such as `sdk/` of a checkout. Rust only.
    At(PathBuf),
}

/// What to make.
#[derive(Debug, Clone)]
pub struct NewPlugin {
    /// Its name, and its folder's.
    pub name: String,
    /// What it is.
    pub kind: Kind,
    /// What it is written in.
    pub lang: Lang,
    /// Where its SDK comes from.
    pub sdk: Sdk,
}

/// Makes the folder `NAME` in another one, and returns its path.
///
/// # Errors
/// [`KitError`] for a name that is none, a folder that exists, or one that cannot be written. What was written before stays.
pub fn create(within: &Path, new: &NewPlugin) -> Result<PathBuf, KitError> {
    check_name(&new.name)?;
    let folder = within.join(&new.name);
    if let Sdk::At(path) = &new.sdk
        && new.lang != Lang::Rust
    {
        return Err(KitError::plugin(
            path,
            format!("an SDK elsewhere is for Rust alone; {} plugins carry theirs", new.lang),
        ));
    }
    fs::create_dir_all(within).map_err(KitError::io("create", within))?;
    match fs::create_dir(&folder) {
        Err(error) if error.kind() == std::io::ErrorKind::AlreadyExists => return Err(KitError::Exists(folder)),
        made => made.map_err(KitError::io("create", &folder))?,
    }
    for (path, text) in files(new)? {
        file::write(&folder.join(path), text.as_bytes())?;
    }
    Ok(folder)
}

/// Every file by its path in the plugin's folder.
fn files(new: &NewPlugin) -> Result<Vec<(String, String)>, KitError> {
    let (lang, kind) = (new.lang.as_str(), new.kind.as_str());
    let sdk = sdk_dependency(&new.sdk)?;
    let fill = |text: &str| {
        // The templates are whole programs under a name of their own, so that tools of their languages read them.
        text.replace("plugin-name", &new.name)
            .replace("plugin_name", &new.name.replace('-', "_"))
            .replace("PluginName", &camel(&new.name))
            .replace("{{kind}}", kind)
            .replace("{{lang}}", lang)
            .replace("{{sdk}}", &sdk)
    };
    let mut files = Vec::new();
    for within in ["templates/all".to_owned(), format!("templates/{lang}/all"), format!("templates/{lang}/{kind}")] {
        // A dot-file would be ignored in our own tree, so it lies there under another name.
        files.extend(under(&within).map(|(path, text)| (path.replace("dot-", "."), fill(text))));
    }
    files.extend(
        under(&format!("templates/{lang}/{kind}.golden.json"))
            .map(|(_, text)| ("golden/cases.json".to_owned(), fill(text))),
    );
    files.extend(copies(new));
    Ok(files)
}

fn copies(new: &NewPlugin) -> Vec<(String, String)> {
    let at = |from: &str, to: &str| -> Vec<(String, String)> {
        under(from).map(|(path, text)| (format!("{COPIES}/{to}{path}"), text.to_owned())).collect()
    };
    let mut copies = match new.lang {
        Lang::Rust if matches!(new.sdk, Sdk::At(_)) => return Vec::new(),
        Lang::Rust => [at("sdk/rust", "sdk/src/"), at("templates/sdk", "sdk/")].concat(),
        Lang::Python => at("sdk/python", ""),
        Lang::Js => at("sdk/js", ""),
    };
    copies.extend(at("wit", "wit/"));
    copies
}

/// The files of a folder, by their paths in it.
fn under(folder: &str) -> impl Iterator<Item = (String, &'static str)> {
    let prefix = format!("{folder}/");
    let exact = folder.to_owned();
    FILES.iter().filter_map(move |(path, text)| {
        if *path == exact {
            return Some((String::new(), *text));
        }
        path.strip_prefix(&prefix).map(|inside| (inside.to_owned(), *text))
    })
}

fn sdk_dependency(sdk: &Sdk) -> Result<String, KitError> {
    let path = match sdk {
        Sdk::Copied => PathBuf::from(format!("{COPIES}/sdk")),
        Sdk::At(path) => path.canonicalize().map_err(KitError::io("read", path))?,
    };
    if matches!(sdk, Sdk::At(_)) && !path.join("Cargo.toml").is_file() {
        return Err(KitError::plugin(path, "expected the folder of the crate loopwright-sdk, found no Cargo.toml"));
    }
    Ok(format!("{:?}", path.display().to_string()))
}

/// `my-lamp` as `MyLamp`.
pub(crate) fn camel(name: &str) -> String {
    name.split('-')
        .flat_map(|part| {
            let mut letters = part.chars();
            letters.next().map(|first| first.to_ascii_uppercase()).into_iter().chain(letters)
        })
        .collect()
}

/// Whether a file is among those that are copied.
#[cfg(test)]
pub(crate) fn has(path: &str) -> bool {
    FILES.iter().any(|(found, _)| *found == path)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn new(name: &str, kind: Kind, lang: Lang) -> NewPlugin {
        NewPlugin { name: name.into(), kind, lang, sdk: Sdk::Copied }
    }

    #[test]
    fn every_kind_and_language_has_sources_tests_golden_cases_and_a_request() {
        for kind in Kind::ALL {
            for lang in Lang::ALL {
                let files = files(&new("my-lamp", kind, lang)).unwrap();
                let (source, test) = match lang {
                    Lang::Rust => ("src/lib.rs", "tests/plugin.rs"),
                    Lang::Python => ("plugin.py", "tests/test_plugin.py"),
                    Lang::Js => ("plugin.js", "plugin.test.js"),
                };
                for expected in [
                    source,
                    test,
                    "plugin.toml",
                    "request.json",
                    "golden/cases.json",
                    ".gitignore",
                    "README.md",
                    "loopwright/wit/tool.wit",
                ] {
                    assert!(files.iter().any(|(path, _)| path == expected), "{lang} {kind}: no {expected}");
                }
                for (path, text) in &files {
                    assert!(
                        path.starts_with("loopwright/")
                            || !["{{", "plugin-name", "plugin_name", "PluginName"]
                                .iter()
                                .any(|place| text.contains(place)),
                        "{lang} {kind}: {path} has an unfilled place"
                    );
                }
                let mut paths: Vec<_> = files.iter().map(|(path, _)| path).collect();
                paths.sort();
                assert!(paths.windows(2).all(|pair| pair[0] != pair[1]), "{lang} {kind}: a path stands twice");
            }
        }
    }

    #[test]
    fn what_exists_is_not_written_over_and_bad_names_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        let made = create(folder.path(), &new("lamp", Kind::Tool, Lang::Js)).unwrap();
        assert_eq!(crate::Manifest::read(&made).unwrap().name, "lamp");
        assert!(crate::read_request(&made).unwrap().is_some());
        let error = create(folder.path(), &new("lamp", Kind::Tool, Lang::Js)).unwrap_err();
        assert!(matches!(error, KitError::Exists(_)), "{error}");
        for name in ["", "../lamp", "Lamp", "a/b"] {
            assert!(create(folder.path(), &new(name, Kind::Tool, Lang::Js)).is_err(), "{name}");
        }
        let elsewhere = NewPlugin { sdk: Sdk::At("sdk".into()), ..new("other", Kind::Tool, Lang::Python) };
        assert!(create(folder.path(), &elsewhere).is_err() && !folder.path().join("other").exists());
    }

    #[test]
    fn the_copied_sdk_has_the_dependencies_of_ours() {
        let dependencies = |text: &str| toml::from_str::<toml::Table>(text).unwrap();
        let copied = under("templates/sdk").find(|(path, _)| path == "Cargo.toml").unwrap().1;
        let (copied, root) = (dependencies(copied), dependencies(include_str!("../../../../Cargo.toml")));
        let ours = &root["workspace"]["dependencies"];
        for (name, dependency) in copied["dependencies"].as_table().unwrap() {
            let version = |value: &toml::Value| value.get("version").unwrap_or(value).clone();
            assert_eq!(version(dependency), version(&ours[name]), "{name}");
        }
        let wasm = &copied["target"]["cfg(target_family = \"wasm\")"]["dependencies"];
        assert_eq!(wasm["wit-bindgen"], ours["wit-bindgen"]);
    }

    #[test]
    fn names_become_types() {
        assert_eq!((camel("lamp"), camel("my-lamp-2")), ("Lamp".into(), "MyLamp2".into()));
    }
}
