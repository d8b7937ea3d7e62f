//! The guest toolchain: a compiler that has a standard library for `wasm32-unknown-unknown`.
//!
//! Three ways, tried in order of cost: what is installed; `rustup target add`; on Debian, a compiler package that
//! brings the library's sources, from which cargo builds the library together with the guests.

use std::env;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};
use loopwright_kit::KitError;
use loopwright_kit::rust;
pub(crate) use loopwright_kit::rust::{TARGET, Toolchain, Way};
use semver::Version;

use crate::tree::Tree;
use crate::{file, process};

/// The oldest compiler that builds the workspace.
const RUST_OLDEST: Version = Version::new(1, 95, 0);

/// `rustup target add` takes seconds where the release server answers, and can wait for ever where nothing does.
const RUSTUP_LIMIT: Duration = Duration::from_secs(90);

/// Two packages of about 150 MB in all.
const APT_LIMIT: Duration = Duration::from_secs(900);

/// Debian's compiler with the sources of its library.
const DEBIAN_PACKAGES: [&str; 2] = ["rustc-web", "rust-web-src"];

/// Debian's linker, for machines without rustup.
const LINKER_PACKAGE: &str = "lld-19";

/// Whether what was remembered still holds.
fn holds(known: &Toolchain) -> bool {
    let now = match known.way {
        Way::Installed | Way::Rustup => rust::installed(),
        Way::Debian => debian_ready(),
    };
    now.is_ok_and(|toolchain| toolchain.rustc == known.rustc)
}

/// Finds the guest toolchain, or gets one. Remembers the way under `target/`, so that the next time is quick.
pub(crate) fn get(tree: &Tree, forced: Option<Way>) -> Result<Toolchain> {
    let memory = tree.products().join("guest-toolchain.json");
    if let Some(known) = remembered(&memory, forced) {
        eprintln!("setup: guest toolchain as before ({}): {}", known.way.name(), known.rustc);
        return Ok(known);
    }
    let toolchain = match forced {
        Some(way) => take(way)?,
        None => first_that_works()?,
    };
    eprintln!("setup: guest toolchain ({}): {}", toolchain.way.name(), toolchain.rustc);
    file::write(&memory, &serde_json::to_vec_pretty(&toolchain)?)?;
    Ok(toolchain)
}

fn remembered(memory: &Path, forced: Option<Way>) -> Option<Toolchain> {
    let known: Toolchain = serde_json::from_slice(&fs::read(memory).ok()?).ok()?;
    let wanted = forced.is_none_or(|way| way == known.way);
    (wanted && holds(&known)).then_some(known)
}

fn first_that_works() -> Result<Toolchain> {
    let mut refusals = String::new();
    for way in [Way::Installed, Way::Rustup, Way::Debian] {
        match take(way) {
            Ok(toolchain) => return Ok(toolchain),
            Err(error) => {
                eprintln!("setup: way `{}` does not work here: {error:#}", way.name());
                refusals.push_str(&format!("\n  {}: {error:#}", way.name()));
            }
        }
    }
    bail!(
        "no way to a compiler for {TARGET} works here:{refusals}\n\
         hint: install one with `rustup target add {TARGET}`, then run `cargo xtask setup` again"
    )
}

fn take(way: Way) -> Result<Toolchain> {
    match way {
        Way::Installed => Ok(rust::installed()?),
        Way::Rustup => rustup(),
        Way::Debian => debian(),
    }
}

fn rustup() -> Result<Toolchain> {
    eprintln!(
        "setup: running `rustup target add {TARGET}` (seconds where the release server answers; given up after {} s)",
        RUSTUP_LIMIT.as_secs()
    );
    process::run_within(Command::new("rustup").args(["target", "add", TARGET]), RUSTUP_LIMIT)?;
    Ok(Toolchain { way: Way::Rustup, ..rust::installed()? })
}

fn debian() -> Result<Toolchain> {
    if let Ok(ready) = debian_ready() {
        return Ok(ready);
    }
    eprintln!("setup: installing {} with apt-get (about 150 MB; a minute or two)", DEBIAN_PACKAGES.join(" and "));
    install_debian_packages(&DEBIAN_PACKAGES)?;
    if rust::linker(&path()).is_err() {
        eprintln!("setup: no linker for Wasm here; installing {LINKER_PACKAGE} with apt-get");
        install_debian_packages(&[LINKER_PACKAGE])?;
    }
    Ok(debian_ready()?)
}

/// Installs Debian packages without asking anything.
pub(super) fn install_debian_packages(packages: &[&str]) -> Result<()> {
    let update = process::run_within(apt_get()?.arg("update"), APT_LIMIT);
    let mut install = apt_get()?;
    install.args(["install", "--yes", "--no-install-recommends"]).args(packages);
    let installed = process::run_within(&mut install, APT_LIMIT);
    match (installed, update) {
        (Ok(()), _) => Ok(()),
        (Err(error), Ok(())) => Err(error),
        (Err(error), Err(update)) => Err(error.context(format!("the package lists are old: {update:#}"))),
    }
}

/// `apt-get`, through `sudo` for those who may use it without a password.
fn apt_get() -> Result<Command> {
    let root = process::capture(Command::new("id").arg("-u")).is_ok_and(|id| id == "0");
    let mut command = if root {
        Command::new("apt-get")
    } else if process::answers("sudo", &["-n", "true"]) {
        let mut command = Command::new("sudo");
        command.args(["-n", "apt-get"]);
        command
    } else {
        bail!("installing packages needs root; run `cargo xtask setup` once as root")
    };
    command.env("DEBIAN_FRONTEND", "noninteractive");
    Ok(command)
}

/// The Debian toolchain, when everything that it needs is there and new enough.
fn debian_ready() -> Result<Toolchain, KitError> {
    let toolchain = rust::debian(&path())?;
    match version_in(&toolchain.rustc) {
        Ok(version) if version >= RUST_OLDEST => Ok(toolchain),
        _ => Err(KitError::Plugin {
            path: "rustc".into(),
            what: format!("Debian's compiler is too old: expected {RUST_OLDEST} or newer, found {}", toolchain.rustc),
        }),
    }
}

fn path() -> OsString {
    env::var_os("PATH").unwrap_or_default()
}

/// The version in a line such as `rustc 1.95.0 (0123abcd 2026-04-14)`.
fn version_in(line: &str) -> Result<Version> {
    let word = line.split_whitespace().nth(1).unwrap_or_default();
    Version::parse(word).with_context(|| format!("expected `rustc VERSION ...`, found `{line}`"))
}

/// Fails when the compiler of the workspace is too old for it.
pub(super) fn check_rust() -> Result<String> {
    let line = rust::version_line("rustc")?;
    let version = version_in(&line)?;
    if version < RUST_OLDEST {
        bail!("rust {RUST_OLDEST} or newer is needed, found {version}\nhint: `rustup update`");
    }
    Ok(line)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn versions_are_read_from_the_compilers_own_line() {
        assert_eq!(version_in("rustc 1.95.0 (59807616e 2026-04-14)").unwrap(), RUST_OLDEST);
        assert!(version_in("rustc 1.94.9 (0 2026-01-01)").unwrap() < RUST_OLDEST);
        for line in ["", "rustc", "clang version 14"] {
            assert!(version_in(line).is_err(), "{line}");
        }
    }

    #[test]
    fn what_is_remembered_for_another_compiler_or_way_is_forgotten() {
        let folder = tempfile::tempdir().unwrap();
        let memory = folder.path().join("memory.json");
        assert!(remembered(&memory, None).is_none());
        let other = Toolchain { way: Way::Installed, rustc: "rustc 0.1.0".into(), linker: None };
        file::write(&memory, &serde_json::to_vec(&other).unwrap()).unwrap();
        assert!(remembered(&memory, None).is_none());
        assert!(remembered(&memory, Some(Way::Debian)).is_none());
        file::write(&memory, b"{").unwrap();
        assert!(remembered(&memory, None).is_none());
    }
}
