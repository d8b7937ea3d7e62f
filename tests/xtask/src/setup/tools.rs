//! Programs that the tests and the checks use: found, or installed when a command needs them.

use std::process::Command;
use std::time::Instant;

use anyhow::{Context, Result, bail};

use crate::process;
use crate::tree::Tree;

/// A program that cargo can install and run as a sub-command.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Tool {
    /// The test runner.
    Nextest,
    /// Licences, bans, sources and advisories of dependencies.
    Deny,
}

impl Tool {
    /// Cargo's sub-command.
    fn subcommand(self) -> &'static str {
        match self {
            Self::Nextest => "nextest",
            Self::Deny => "deny",
        }
    }

    /// The package that brings it, at a version that the oldest supported compiler builds.
    fn package(self) -> &'static str {
        match self {
            Self::Nextest => "cargo-nextest@0.9.143",
            Self::Deny => "cargo-deny@0.20.2",
        }
    }

    /// What to leave out of it: the test runner needs no means to replace itself.
    fn features(self) -> &'static [&'static str] {
        match self {
            Self::Nextest => &["--no-default-features", "--features", "default-no-update"],
            Self::Deny => &[],
        }
    }

    /// Its version, when it is installed.
    pub(super) fn version(self, tree: &Tree) -> Option<String> {
        let text = process::capture(tree.cargo().args([self.subcommand(), "--version"])).ok()?;
        text.lines().next().map(str::to_owned)
    }

    /// Makes sure that it is there: installs it into cargo's own folder of programs, once, when it is not.
    pub(crate) fn get(self, tree: &Tree) -> Result<()> {
        if self.version(tree).is_some() {
            return Ok(());
        }
        let package = self.package();
        eprintln!("setup: installing {package} from source, once (some minutes on two cores)");
        let start = Instant::now();
        // These programs run for seconds: an optimised build would cost more time than it ever saves.
        let mut command = tree.cargo();
        command.args(["install", "--locked", "--quiet", "--debug", package]).args(self.features());
        command.env("CARGO_PROFILE_DEV_DEBUG", "0").env_remove("CARGO_TARGET_DIR");
        process::run(&mut command).with_context(|| format!("cannot install {package}"))?;
        eprintln!("setup: installed {package} in {} s", start.elapsed().as_secs());
        Ok(())
    }
}

/// Fails when there is no C compiler: some dependencies are written in C.
pub(super) fn check_c_compiler() -> Result<&'static str> {
    for program in ["cc", "gcc", "clang"] {
        if process::answers(program, &["--version"]) {
            return Ok(program);
        }
    }
    bail!("no C compiler (tried cc, gcc, clang)\nhint: on Debian, `apt-get install build-essential`")
}

/// One line about each program that is not needed by every command.
pub(super) fn report(tree: &Tree) {
    for tool in [Tool::Nextest, Tool::Deny] {
        match tool.version(tree) {
            Some(version) => eprintln!("setup: {version}"),
            None => eprintln!("setup: {} is missing; the commands that need it install it", tool.package()),
        }
    }
    if Command::new("git").arg("--version").output().is_err() {
        eprintln!("setup: git is missing; `cargo xtask tidy` needs it");
    }
}
