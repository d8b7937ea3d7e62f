//! Rust plugins: a compiler for the guest target, found and never installed here, and what cargo makes with it.

use std::env;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::io::{BufRead as _, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::str::FromStr;

use serde::{Deserialize, Serialize};

use crate::tools::Tools;
use crate::{KitError, component, process};

/// What guests are compiled for.
pub const TARGET: &str = "wasm32-unknown-unknown";

/// Linkers for Wasm by name, newest first: an old one does not read what a new compiler writes.
const LINKERS: [&str; 3] = ["wasm-ld-22", "wasm-ld-19", "wasm-ld"];

/// Where Debian puts its compiler; a rustup proxy of the same name may stand earlier in `PATH`.
const DEBIAN_RUSTC: &str = "/usr/bin/rustc";

const HINT: &str = "`rustup target add wasm32-unknown-unknown`, or on Debian `apt-get install rustc-web rust-web-src`";

/// A way to the guest toolchain.
#[derive(Clone, Copy, PartialEq, Eq, Debug, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Way {
    /// The active toolchain already has the target.
    Installed,
    /// `rustup target add`.
    Rustup,
    /// Debian's compiler, and the library built from its sources.
    Debian,
}

impl Way {
    /// The name on the command line and in folder names.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Installed => "installed",
            Self::Rustup => "rustup",
            Self::Debian => "debian",
        }
    }
}

impl FromStr for Way {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        [Self::Installed, Self::Rustup, Self::Debian]
            .into_iter()
            .find(|way| way.name() == text)
            .ok_or_else(|| "expected installed, rustup or debian".to_owned())
    }
}

/// A guest toolchain that is ready.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Toolchain {
    /// The way that led to it.
    pub way: Way,
    /// The compiler, as it names itself.
    pub rustc: String,
    /// The linker to name to cargo, where the compiler does not know its own.
    pub linker: Option<PathBuf>,
}

impl Toolchain {
    /// Makes a cargo command compile for the guest target with this toolchain.
    pub fn apply(&self, command: &mut Command) {
        command.args(["--target", TARGET]);
        if self.way == Way::Debian {
            command.arg("-Zbuild-std=std,panic_abort");
            command.env("RUSTC", DEBIAN_RUSTC).env("RUSTC_BOOTSTRAP", "1");
        }
        if let Some(linker) = &self.linker {
            command.env("CARGO_TARGET_WASM32_UNKNOWN_UNKNOWN_LINKER", linker);
        }
    }
}

/// The toolchain at hand: the active one where it has the target, else Debian's.
///
/// # Errors
/// [`KitError::Missing`] when there is neither.
pub fn find(path: &OsStr) -> Result<Toolchain, KitError> {
    let missing = |active: KitError| {
        debian(path).map_err(|debian| KitError::Missing {
            what: "a Rust compiler for wasm32-unknown-unknown",
            looked: format!("the active toolchain ({active}) and Debian's ({debian})"),
            hint: HINT.to_owned(),
        })
    };
    installed().or_else(missing)
}

/// The active toolchain, where it has the target.
///
/// # Errors
/// [`KitError`] when it has not.
pub fn installed() -> Result<Toolchain, KitError> {
    let libraries = process::capture(Command::new("rustc").args(["--print", "target-libdir", "--target", TARGET]))?;
    let found = fs::read_dir(&libraries)
        .is_ok_and(|entries| entries.flatten().any(|entry| entry.file_name().to_string_lossy().starts_with("libstd-")));
    if !found {
        return Err(KitError::plugin(libraries, format!("no standard library for {TARGET}")));
    }
    Ok(Toolchain { way: Way::Installed, rustc: version_line("rustc")?, linker: None })
}

/// The Debian toolchain, when everything that it needs is there.
///
/// # Errors
/// [`KitError`] with what is missing.
pub fn debian(path: &OsStr) -> Result<Toolchain, KitError> {
    let rustc = version_line(DEBIAN_RUSTC)?;
    let sources = sysroot(DEBIAN_RUSTC)?.join("lib/rustlib/src/rust/library/Cargo.toml");
    if !sources.exists() {
        return Err(KitError::plugin(sources, "no library sources; install rust-web-src"));
    }
    Ok(Toolchain { way: Way::Debian, rustc, linker: Some(linker(path)?) })
}

/// `rust-lld` of the active toolchain, or a linker for Wasm in `path`.
///
/// # Errors
/// [`KitError`] when there is neither.
pub fn linker(path: &OsStr) -> Result<PathBuf, KitError> {
    let platform = process::capture(Command::new("rustc").args(["--print", "host-tuple"]))?;
    let own = sysroot("rustc")?.join(format!("lib/rustlib/{platform}/bin/rust-lld"));
    if own.exists() {
        return Ok(own);
    }
    let in_path = |name: &&str| env::split_paths(path).map(|folder| folder.join(name)).find(|path| path.exists());
    LINKERS.iter().find_map(in_path).ok_or_else(|| {
        KitError::plugin(&own, format!("no linker for {TARGET}: neither it nor {} in PATH", LINKERS.join(" nor ")))
    })
}

fn sysroot(rustc: &str) -> Result<PathBuf, KitError> {
    process::capture(Command::new(rustc).args(["--print", "sysroot"])).map(PathBuf::from)
}

/// What a compiler says of its version.
///
/// # Errors
/// [`KitError`] when it is not there.
pub fn version_line(rustc: &str) -> Result<String, KitError> {
    process::capture(Command::new(rustc).arg("--version"))
}

/// Takes the machine out of the bytes: paths in panic messages, and flags that belong to native builds.
pub fn reproducible(command: &mut Command, root: &Path, cargo_home: Option<PathBuf>) {
    let mut flags = OsString::new();
    for (from, to) in [(Some(root.to_owned()), "/loopwright"), (cargo_home, "/cargo")] {
        if let Some(from) = from {
            if !flags.is_empty() {
                // Cargo's separator for flags that may hold blanks.
                flags.push("\u{1f}");
            }
            flags.push("--remap-path-prefix=");
            flags.push(from);
            flags.push("=");
            flags.push(to);
        }
    }
    command.env_remove("RUSTFLAGS").env("CARGO_ENCODED_RUSTFLAGS", flags);
}

/// Where cargo keeps what it fetched.
#[must_use]
pub fn cargo_home() -> Option<PathBuf> {
    let named = env::var_os("CARGO_HOME").map(PathBuf::from);
    named.or_else(|| env::home_dir().map(|home| home.join(".cargo")))
}

/// A component of the crate in a folder, and what made it.
pub(crate) fn build(folder: &Path, tools: &Tools) -> Result<(Vec<u8>, String), KitError> {
    let toolchain = find(&tools.path)?;
    let mut command = Command::new(&tools.cargo);
    command.current_dir(folder).args(["build", "--release", "--lib", "--message-format", "json-render-diagnostics"]);
    toolchain.apply(&mut command);
    let root = folder.canonicalize().map_err(KitError::io("read", folder))?;
    reproducible(&mut command, &root, cargo_home());
    let started = command.stdin(Stdio::null()).stdout(Stdio::piped()).spawn();
    let mut child = started.map_err(|source| process::not_started(&command, source))?;
    let mut module = None;
    if let Some(output) = child.stdout.take() {
        for line in BufReader::new(output).lines() {
            let line = line.map_err(KitError::io("read the output of", &tools.cargo))?;
            module = artifact(&line, &root).or(module);
        }
    }
    let status = child.wait().map_err(KitError::io("wait for", &tools.cargo))?;
    if !status.success() {
        let output = "its messages are above".to_owned();
        return Err(KitError::Program { program: process::line(&command), status: status.to_string(), output });
    }
    let module = module.ok_or_else(|| {
        KitError::plugin(
            root.join("Cargo.toml"),
            "cargo built no Wasm module: expected `crate-type = [\"cdylib\", \"rlib\"]`",
        )
    })?;
    let bytes = fs::read(&module).map_err(KitError::io("read", &module))?;
    Ok((component(&bytes)?, toolchain.rustc))
}

/// The Wasm module that a line of cargo's output names, where it is that of the crate in `root`.
fn artifact(line: &str, root: &Path) -> Option<PathBuf> {
    #[derive(Deserialize)]
    struct Artifact {
        manifest_path: PathBuf,
        filenames: Vec<PathBuf>,
    }
    let artifact: Artifact = serde_json::from_str(line).ok()?;
    let ours = artifact.manifest_path == root.join("Cargo.toml");
    artifact.filenames.into_iter().find(|path| ours && path.extension() == Some(OsStr::new("wasm")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_debians_compiler_builds_its_own_library() {
        let arguments = |way, linker: Option<&str>| {
            let mut command = Command::new("cargo");
            let linker = linker.map(PathBuf::from);
            Toolchain { way, rustc: String::new(), linker }.apply(&mut command);
            (process::line(&command), command.get_envs().count())
        };
        let plain = ("`cargo --target wasm32-unknown-unknown`".to_owned(), 0);
        assert_eq!(arguments(Way::Installed, None), plain);
        assert_eq!(arguments(Way::Rustup, None), plain);
        let (line, environment) = arguments(Way::Debian, Some("rust-lld"));
        assert_eq!(line, "`cargo --target wasm32-unknown-unknown -Zbuild-std=std,panic_abort`");
        assert_eq!(environment, 3);
    }

    #[test]
    fn flags_of_native_builds_stay_out_and_paths_are_mapped() {
        let mut command = Command::new("cargo");
        command.env("RUSTFLAGS", "-Ctarget-cpu=native");
        reproducible(&mut command, Path::new("checkout"), Some("cargo-home".into()));
        let value = |name: &str| {
            let mut found = command.get_envs().filter(|(key, _)| *key == name);
            found.next().and_then(|(_, value)| value).map(|value| value.to_string_lossy().into_owned())
        };
        assert_eq!(value("RUSTFLAGS"), None);
        let expected = "--remap-path-prefix=checkout=/loopwright\u{1f}--remap-path-prefix=cargo-home=/cargo";
        assert_eq!(value("CARGO_ENCODED_RUSTFLAGS").as_deref(), Some(expected));
    }

    #[test]
    fn the_module_of_the_crate_itself_is_taken() {
        let line = |manifest: &str, file: &str| {
            format!(
                "{{\"reason\":\"compiler-artifact\",\"manifest_path\":\"{manifest}\",\"filenames\":[\"a.rlib\",\"{file}\"]}}"
            )
        };
        let root = Path::new("lamp");
        assert_eq!(artifact(&line("lamp/Cargo.toml", "lamp.wasm"), root), Some("lamp.wasm".into()));
        assert_eq!(artifact(&line("lamp/loopwright/sdk/Cargo.toml", "sdk.wasm"), root), None);
        assert_eq!(artifact(&line("lamp/Cargo.toml", "lamp.so"), root), None);
        assert_eq!(artifact("{\"reason\":\"build-finished\",\"success\":true}", root), None);
    }
}
