//! What other tools make of what is published here: `wkg`, and the Python client of ORAS. Each is the real program, found by name or by a variable of
//! the environment; where it is missing, the test says so and passes.

use std::{
    ffi::OsString,
    path::Path,
    process::{Command, Output, Stdio},
};

use loopwright_registry::{
    name::Release,
    place::{self, HttpLimits, Place, Plain},
    publish::{self, Published, Signer},
};

use crate::{
    docker::Docker,
    releases::{LOGS, component, key, now},
};

/// A program under the name that a variable gives it, when it answers.
fn program(variable: &str, name: &str, answers: &[&str]) -> Option<OsString> {
    let program = std::env::var_os(variable).unwrap_or_else(|| name.into());
    let mut command = Command::new(&program);
    let status = command.args(answers).stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).status();
    if status.is_ok_and(|status| status.success()) {
        return Some(program);
    }
    eprintln!("NOT TESTED with `{name}`: it is not here or does not answer {answers:?}; {variable} names it");
    None
}

fn wkg() -> Option<OsString> {
    program("LOOPWRIGHT_TEST_WKG", "wkg", &["--version"])
}

/// A Python that has the package `oras`.
fn oras() -> Option<OsString> {
    program("LOOPWRIGHT_TEST_ORAS_PYTHON", "python3", &["-c", "import oras.client, oras.layout"])
}

/// Runs a tool in a folder, with nothing of the user's own settings.
fn run(program: &OsString, folder: &Path, args: &[&str]) -> Output {
    let mut command = Command::new(program);
    command.current_dir(folder).args(args).stdin(Stdio::null());
    for home in ["HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME", "DOCKER_CONFIG"] {
        command.env(home, folder);
    }
    let output = command.output().unwrap();
    assert!(output.status.success(), "{args:?}: {}", String::from_utf8_lossy(&output.stderr));
    output
}

fn publish(place: &dyn Place) -> (Published, Vec<u8>) {
    let wanted: Release = "acme:notes@1.0.0".parse().unwrap();
    let bytes = component(LOGS, "a");
    (publish::push(place, &wanted, &bytes, Signer { key: &key(), now: now() }).unwrap(), bytes)
}

fn mirror(folder: &Path) -> Box<dyn Place> {
    let address = format!("oci:{}", folder.join("mirror").display()).parse().unwrap();
    place::open(&address, HttpLimits::default(), Plain::Loopback).unwrap()
}

#[test]
fn wkg_pulls_what_is_published() {
    let (Some(wkg), Some(docker)) = (wkg(), Docker::start()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let (_, bytes) = publish(docker.place().as_ref());
    let address = &docker.address;
    let reference = format!("{address}/acme/notes:1.0.0");
    run(&wkg, folder.path(), &["oci", "pull", "--insecure", address, &reference, "--output", "pulled.wasm"]);
    assert_eq!(std::fs::read(folder.path().join("pulled.wasm")).unwrap(), bytes);
}

/// By the package's name. The namespace is mapped in `wkg`'s own configuration: it asks `https://HOST/.well-known/wasm-pkg/registry.json` where there
/// is no mapping, which no registry server answers.
#[test]
fn wkg_gets_a_package_by_its_name() {
    let (Some(wkg), Some(docker)) = (wkg(), Docker::start()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let (_, bytes) = publish(docker.place().as_ref());
    let address = &docker.address;
    let config = format!(
        "[namespace_registries]\nacme = {{ registry = \"{address}\", metadata = {{ preferredProtocol = \"oci\", oci = {{ registry = \"{address}\" }} }} }}\n\
         [registry.\"{address}\"]\ndefault = \"oci\"\n[registry.\"{address}\".oci]\nprotocol = \"http\"\n"
    );
    std::fs::write(folder.path().join("wkg.toml"), config).unwrap();
    for (package, file) in [("acme:notes@1.0.0", "./named.wasm"), ("acme:notes", "./newest.wasm")] {
        run(&wkg, folder.path(), &["get", "--config", "wkg.toml", "--cache", "cache", package, "--output", file]);
        assert_eq!(std::fs::read(folder.path().join(file)).unwrap(), bytes, "{package}");
    }
}

const ORAS_PULL: &str = "
import sys, oras.client
address, = sys.argv[1:]
client = oras.client.OrasClient(hostname=address, insecure=True)
print(client.pull(target=f'{address}/acme/notes:1.0.0', outdir='out'))
";

#[test]
fn oras_pulls_what_is_published() {
    let (Some(python), Some(docker)) = (oras(), Docker::start()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let (_, bytes) = publish(docker.place().as_ref());
    run(&python, folder.path(), &["-c", ORAS_PULL, &docker.address]);
    // The layer's title is the file's name.
    assert_eq!(std::fs::read(folder.path().join("out/notes.wasm")).unwrap(), bytes);
}

const ORAS_COPY: &str = "
import sys, oras.client, oras.layout
address, = sys.argv[1:]
client = oras.client.OrasClient(hostname=address, insecure=True)
layout = oras.layout.NewLayout('mirror/acme/notes')
layout.push_to_registry(client, f'{address}/acme/notes:1.0.0', tag='1.0.0')
";

#[test]
fn oras_copies_a_layout_to_a_server() {
    let (Some(python), Some(docker)) = (oras(), Docker::start()) else { return };
    let folder = tempfile::tempdir().unwrap();
    let (published, bytes) = publish(mirror(folder.path()).as_ref());
    run(&python, folder.path(), &["-c", ORAS_COPY, &docker.address]);
    let place = docker.place();
    let repository = place.address().repository(&published.release.package).unwrap();
    let there = place.resolve(&repository, &"1.0.0".parse().unwrap()).unwrap().unwrap();
    assert_eq!(there.digest, published.manifest);
    run(&python, folder.path(), &["-c", ORAS_PULL, &docker.address]);
    assert_eq!(std::fs::read(folder.path().join("out/notes.wasm")).unwrap(), bytes);
}
