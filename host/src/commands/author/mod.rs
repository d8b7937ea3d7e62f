//! What an author does with a plugin before it is published: make, build, check, test, compare.

mod case;
mod check;
mod diff;
mod golden;

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use loopwright_engine::{Candidate, EngineConfig, Engines, Inspected, InstallError, inspect};
use loopwright_kit::{BUILD_FOLDER, Lang, MANIFEST, Manifest, NewPlugin, Tools};
use serde_json::json;

pub use check::check;
pub use diff::diff;
pub use golden::{Which, test};

use crate::cli::Shared;
use crate::exit::Exit;
use crate::output;

/// Bytes of a component. A Python plugin with its interpreter has about 19 MB, a JavaScript one 1.2 MB, a Rust one 0.1 MB.
const COMPONENT_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Makes a new plugin.
///
/// # Errors
/// A bad name, a folder that exists, or one that cannot be written.
pub fn new(shared: &Shared, within: &Path, plugin: &NewPlugin) -> anyhow::Result<Exit> {
    let folder = loopwright_kit::create(within, plugin)?;
    if shared.json {
        output::json(
            &json!({"folder": folder, "name": plugin.name, "kind": plugin.kind.as_str(), "lang": plugin.lang.as_str()}),
        );
        return Ok(Exit::Good);
    }
    let (tools, test) = match plugin.lang {
        Lang::Rust => (None, "cargo test"),
        Lang::Python => {
            (Some("python3 -m venv .venv && .venv/bin/pip install -r requirements.txt"), "python3 -m unittest")
        }
        Lang::Js => (Some("npm install"), "node --test"),
    };
    output::line(format_args!("made {}, a {} plugin in {}\n\nnext:", folder.display(), plugin.kind, plugin.lang));
    output::line(format_args!("  cd {}", folder.display()));
    for line in
        tools.into_iter().chain([test, "loopwright plugin build", "loopwright plugin check", "loopwright plugin test"])
    {
        output::line(format_args!("  {line}"));
    }
    Ok(Exit::Good)
}

/// Builds the plugin of a folder.
///
/// # Errors
/// What is missing or wrong; a compiler's own messages come before.
pub fn build(shared: &Shared, folder: &Path, tools: &Path) -> anyhow::Result<Exit> {
    let tools = Tools {
        folder: tools.to_owned(),
        path: std::env::var_os("PATH").unwrap_or_default(),
        cargo: std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()).into(),
    };
    let built = loopwright_kit::build(folder, &tools)?;
    let candidate = Candidate::new("built".parse()?, built.bytes);
    if shared.json {
        output::json(
            &json!({"path": built.path, "bytes": candidate.bytes.len(), "digest": candidate.digest, "with": built.with}),
        );
    } else {
        let kilobytes = candidate.bytes.len().div_ceil(1000);
        output::line(format_args!(
            "built {} ({kilobytes} kB) with {}\n{}",
            built.path.display(),
            built.with,
            candidate.digest
        ));
    }
    Ok(Exit::Good)
}

/// A component to look at, with where it came from.
struct Subject {
    path: PathBuf,
    manifest: Option<Manifest>,
    bytes: Vec<u8>,
}

impl Subject {
    /// A component's file, or what was built in a plugin's folder.
    fn read(path: &Path) -> anyhow::Result<Self> {
        let (path, manifest) = if path.is_dir() {
            if !path.join(MANIFEST).is_file() {
                anyhow::bail!(
                    "`{}` is no plugin's folder: no {MANIFEST}\nhint: make one with `loopwright plugin new`",
                    path.display()
                );
            }
            let manifest = Manifest::read(path)?;
            (path.join(BUILD_FOLDER).join(format!("{}.wasm", manifest.name)), Some(manifest))
        } else {
            (path.to_owned(), None)
        };
        let size = std::fs::metadata(&path)
            .with_context(|| {
                format!("no component at `{}`\nhint: build it with `loopwright plugin build`", path.display())
            })?
            .len();
        if size > COMPONENT_BYTES_MAX {
            anyhow::bail!("`{}` has {size} bytes, expected at most {COMPONENT_BYTES_MAX}", path.display());
        }
        let bytes = std::fs::read(&path).with_context(|| format!("`{}` cannot be read", path.display()))?;
        Ok(Self { path, manifest, bytes })
    }

    /// As something to install: under the name of its folder, or whatever name its own says.
    fn candidate(&self) -> anyhow::Result<Candidate> {
        let stem = self.path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
        let name = self.manifest.as_ref().map_or(stem, |manifest| manifest.name.as_str());
        let mut candidate = Candidate::new(
            name.parse().with_context(|| {
                format!("`{name}` is no plugin's name\nhint: a component's file has the plugin's name")
            })?,
            self.bytes.clone(),
        );
        candidate.kind = self.manifest.as_ref().map(|manifest| manifest.kind.of_contract());
        Ok(candidate)
    }
}

/// Engines for one command.
struct Workbench {
    engines: std::sync::Arc<Engines>,
    config: EngineConfig,
}

impl Workbench {
    fn new(config: EngineConfig) -> anyhow::Result<Self> {
        Ok(Self { engines: std::sync::Arc::new(Engines::new(&config)?), config })
    }

    fn inspect(&self, candidate: &Candidate) -> Result<Inspected, InstallError> {
        inspect(&self.engines, &self.config, candidate)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_folder_without_a_plugin_and_a_file_that_is_too_large_are_named() {
        let folder = tempfile::tempdir().unwrap();
        let error = Subject::read(folder.path()).err().unwrap().to_string();
        assert!(error.contains("no plugin.toml") && error.contains("plugin new"), "{error}");
        let large = folder.path().join("large.wasm");
        std::fs::File::create(&large).unwrap().set_len(COMPONENT_BYTES_MAX + 1).unwrap();
        let error = Subject::read(&large).err().unwrap().to_string();
        assert!(error.contains("67108865 bytes"), "{error}");
        assert!(Subject::read(&folder.path().join("absent.wasm")).is_err());
    }
}
