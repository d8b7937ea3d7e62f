//! Toolchains of guests in Python and JavaScript, under `target/guest-tools`: pinned, with the hashes that pip and npm check.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result};
use loopwright_kit::Tools;

use crate::tree::Tree;
use crate::{file, process};

/// What is installed, beside the task runner.
const PINS: &str = "tests/xtask/guest-tools";

/// The name of its environment.
const MCP_CLIENT: &str = "mcp-client";

/// About 50 MB from PyPI, and 40 MB from npm.
const INSTALL_LIMIT: Duration = Duration::from_secs(600);

/// Where the kit looks for tools.
pub(crate) fn tools(tree: &Tree) -> Tools {
    Tools {
        folder: tree.products().join("guest-tools"),
        path: std::env::var_os("PATH").unwrap_or_default(),
        cargo: std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()).into(),
    }
}

/// Installs both toolchains, where they are not there as they are pinned.
///
/// # Errors
/// When pip or npm is missing or fails; says which and what to do.
pub(crate) fn get(tree: &Tree) -> Result<()> {
    python(tree).context("the Python toolchain of guests is missing\nhint: install Python 3 with venv and pip")?;
    javascript(tree).context("the JavaScript toolchain of guests is missing\nhint: install Node 18 or newer with npm")
}

/// Whether both were installed at some time.
pub(crate) fn are_ready(tree: &Tree) -> bool {
    ["python", "js"].iter().all(|name| mark(tree, name).exists())
}

fn mark(tree: &Tree, name: &str) -> PathBuf {
    tools(tree).folder.join(format!("{name}.installed"))
}

fn python(tree: &Tree) -> Result<()> {
    environment(tree, "python", &tree.root().join(PINS).join("requirements.txt"))
}

/// The MCP client that is not ours, and the Python that has it.
///
/// # Errors
/// When pip is missing or fails.
pub(crate) fn mcp_client(tree: &Tree) -> Result<PathBuf> {
    environment(tree, MCP_CLIENT, &tree.root().join("tests/xtask/mcp-client/requirements.txt"))
        .context("the MCP client of PyPI is missing\nhint: install Python 3 with venv and pip")?;
    Ok(tools(tree).folder.join(MCP_CLIENT).join("bin/python"))
}

/// An environment of Python with exactly what the pins name.
fn environment(tree: &Tree, name: &str, pins: &Path) -> Result<()> {
    let folder = tools(tree).folder.join(name);
    once(tree, name, &[pins], || {
        process::run_within(Command::new("python3").args(["-m", "venv", "--clear"]).arg(&folder), INSTALL_LIMIT)?;
        let mut pip = Command::new(folder.join("bin/python"));
        pip.args([
            "-m",
            "pip",
            "install",
            "--quiet",
            "--disable-pip-version-check",
            "--require-hashes",
            "--requirement",
        ]);
        process::run_within(pip.arg(pins), INSTALL_LIMIT)
    })
}

fn javascript(tree: &Tree) -> Result<()> {
    let pins = tree.root().join(PINS);
    let (package, lock) = (pins.join("package.json"), pins.join("package-lock.json"));
    let folder = tools(tree).folder.join("js");
    once(tree, "js", &[package.as_path(), lock.as_path()], || {
        file::write(&folder.join("package.json"), &fs::read(&package)?)?;
        file::write(&folder.join("package-lock.json"), &fs::read(&lock)?)?;
        let mut npm = Command::new("npm");
        npm.args(["ci", "--silent", "--no-audit", "--no-fund", "--ignore-scripts"]).current_dir(&folder);
        process::run_within(&mut npm, INSTALL_LIMIT)
    })
}

/// Does something unless it was done for the same pins.
fn once(tree: &Tree, name: &str, pins: &[&Path], install: impl FnOnce() -> Result<()>) -> Result<()> {
    let digests = pins.iter().map(|path| file::sha256_of(path)).collect::<Result<Vec<_>>>()?.join(" ");
    let mark = mark(tree, name);
    if fs::read_to_string(&mark).is_ok_and(|known| known == digests) {
        return Ok(());
    }
    eprintln!("setup: installing `{name}` from its registry (about 50 MB, once)");
    install()?;
    file::write(&mark, digests.as_bytes())
}
