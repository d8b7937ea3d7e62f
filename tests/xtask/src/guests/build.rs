//! Compiles guests to core modules, all of them in one run of cargo.

use std::collections::BTreeMap;
use std::io::BufReader;
use std::path::PathBuf;
use std::process::Stdio;

use anyhow::{Context, Result, bail};
use cargo_metadata::diagnostic::DiagnosticLevel;
use cargo_metadata::{Message, PackageId};
use loopwright_kit::rust;

use super::discover::Guest;
use crate::process;
use crate::setup::Toolchain;
use crate::tree::Tree;

/// What became of a package.
#[derive(Debug, PartialEq, Eq)]
pub(super) enum Built {
    /// The core module is here.
    Module(PathBuf),
    /// The compiler's errors.
    Failed(String),
}

/// Compiles the guests. A guest without an entry in the answer was not reached, because a dependency failed.
pub(super) fn compile(tree: &Tree, toolchain: &Toolchain, guests: &[&Guest]) -> Result<BTreeMap<PackageId, Built>> {
    let mut command = tree.cargo();
    // Guests of one toolchain share a folder, so that a library built from source is built once.
    let folder = tree.build_folder().join("guests").join(toolchain.way.name());
    command.args(["build", "--profile", "guest", "--lib", "--keep-going"]);
    command.args(["--message-format", "json"]).arg("--target-dir").arg(folder);
    for guest in guests {
        command.args(["--package", &guest.package_name]);
    }
    toolchain.apply(&mut command);
    rust::reproducible(&mut command, tree.root(), rust::cargo_home());
    let mut child = command
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .spawn()
        .with_context(|| format!("cannot start {}", process::line(&command)))?;
    let output = child.stdout.take().context("cargo's output was asked for")?;
    let messages = Message::parse_stream(BufReader::new(output)).collect::<Result<Vec<_>, _>>()?;
    let status = child.wait()?;
    let built = sort(messages, guests);
    if !status.success() && built.values().all(|built| matches!(built, Built::Module(_))) {
        bail!("cargo could not build the guests ({status}); its messages are above");
    }
    Ok(built)
}

/// Sorts cargo's messages by guest. Errors of a package that is no guest are put down to every guest that is missing.
fn sort(messages: Vec<Message>, guests: &[&Guest]) -> BTreeMap<PackageId, Built> {
    let mut modules = BTreeMap::new();
    let mut errors: BTreeMap<PackageId, String> = BTreeMap::new();
    for message in messages {
        match message {
            Message::CompilerArtifact(artifact) => {
                let wasm = artifact.filenames.iter().find(|path| path.extension() == Some("wasm"));
                if let Some(path) = wasm {
                    modules.insert(artifact.package_id, path.clone().into_std_path_buf());
                }
            }
            Message::CompilerMessage(message) if message.message.level == DiagnosticLevel::Error => {
                let text = message.message.rendered.unwrap_or(message.message.message);
                errors.entry(message.package_id).or_default().push_str(&text);
            }
            _ => {}
        }
    }
    let shared: String = errors
        .iter()
        .filter(|(package, _)| !guests.iter().any(|guest| guest.package == **package))
        .map(|(package, text)| format!("in {package}:\n{text}"))
        .collect();
    let mut built = BTreeMap::new();
    for guest in guests {
        if let Some(text) = errors.remove(&guest.package) {
            built.insert(guest.package.clone(), Built::Failed(text));
        } else if let Some(path) = modules.remove(&guest.package) {
            built.insert(guest.package.clone(), Built::Module(path));
        } else if !shared.is_empty() {
            built.insert(guest.package.clone(), Built::Failed(shared.clone()));
        }
    }
    built
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn guest(name: &str) -> Guest {
        Guest {
            name: name.into(),
            kind: "tool",
            folder: std::path::PathBuf::new(),
            package: id(name),
            package_name: name.into(),
            version: "0.1.0".into(),
        }
    }

    fn id(name: &str) -> PackageId {
        PackageId { repr: name.into() }
    }

    fn target(name: &str) -> serde_json::Value {
        json!({"name": name, "kind": ["cdylib"], "crate_types": ["cdylib"], "src_path": "lib.rs",
               "edition": "2024", "doctest": false, "test": true, "doc": true})
    }

    /// Cargo's line for a library that was built.
    fn artifact(name: &str, file: &str) -> Message {
        message(&json!({
            "reason": "compiler-artifact", "package_id": name, "manifest_path": "Cargo.toml", "target": target(name),
            "profile": {"opt_level": "s", "debug_assertions": false, "overflow_checks": false, "test": false},
            "features": [], "filenames": [file], "executable": null, "fresh": false,
        }))
    }

    /// Cargo's line for what the compiler said.
    fn said(name: &str, level: &str, text: &str) -> Message {
        message(&json!({
            "reason": "compiler-message", "package_id": name, "manifest_path": "Cargo.toml", "target": target(name),
            "message": {"message": text, "code": null, "level": level, "spans": [], "children": [], "rendered": text},
        }))
    }

    fn message(line: &serde_json::Value) -> Message {
        let mut messages = Message::parse_stream(std::io::Cursor::new(line.to_string()));
        let message = messages.next().unwrap().unwrap();
        assert!(!matches!(message, Message::TextLine(_)), "{line}");
        message
    }

    #[test]
    fn each_guest_gets_its_own_errors() {
        let (good, bad) = (guest("good"), guest("bad"));
        let messages = vec![
            said("bad", "warning", "unused"),
            said("bad", "error", "wrong type; "),
            artifact("good", "target/good.rlib"),
            artifact("good", "target/good.wasm"),
            said("bad", "error", "aborting"),
        ];
        let built = sort(messages, &[&good, &bad]);
        assert_eq!(built.get(&id("good")), Some(&Built::Module("target/good.wasm".into())));
        assert_eq!(built.get(&id("bad")), Some(&Built::Failed("wrong type; aborting".into())));
    }

    #[test]
    fn a_broken_dependency_is_named_for_the_guests_that_it_stops() {
        let (early, late) = (guest("early"), guest("late"));
        let messages = vec![artifact("early", "target/early.wasm"), said("sdk", "error", "wrong type")];
        let built = sort(messages, &[&early, &late]);
        assert_eq!(built.get(&id("early")), Some(&Built::Module("target/early.wasm".into())));
        assert_eq!(built.get(&id("late")), Some(&Built::Failed("in sdk:\nwrong type".into())));
    }
}
