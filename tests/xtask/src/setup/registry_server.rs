//! A registry server that the tests publish to: Debian's `docker-registry`, unpacked under `target/tools` and not installed, because its package
//! would start a service on the machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::process;
use crate::tree::Tree;

const PACKAGE: &str = "docker-registry";

/// Where the program is inside the package.
const PROGRAM: &str = "usr/bin/docker-registry";

/// Time for 5 MB over a slow line.
const DOWNLOAD_LIMIT: Duration = Duration::from_secs(120);

/// Makes sure that the server is there, or says that the tests against it are left out.
pub(super) fn get(tree: &Tree) {
    let folder = tree.products().join("tools").join(PACKAGE);
    let here = folder.join(PROGRAM);
    if here.exists() || process::answers(PACKAGE, &["--version"]) {
        eprintln!("setup: registry server is there: {PACKAGE}");
        return;
    }
    match fetch(&folder) {
        Ok(()) => eprintln!("setup: registry server fetched: {}", here.display()),
        Err(error) => eprintln!(
            "setup: NO REGISTRY SERVER: {error:#}\n\
             setup: going on without it: tests of publishing and pulling use folders and our own server, and say so\n\
             hint: on Debian or Ubuntu, `apt-get install {PACKAGE}`"
        ),
    }
}

fn fetch(folder: &Path) -> Result<()> {
    let download = folder.join("download");
    if download.exists() {
        fs::remove_dir_all(&download)?;
    }
    fs::create_dir_all(&download)?;
    // Neither root nor the package database is needed for this.
    let mut command = Command::new("apt-get");
    process::run_within(command.current_dir(&download).args(["download", PACKAGE]), DOWNLOAD_LIMIT)
        .with_context(|| format!("`apt-get download {PACKAGE}` does not work here"))?;
    let package = only_file(&download)?;
    let mut command = Command::new("dpkg-deb");
    process::run_within(command.arg("--extract").arg(&package).arg(folder), DOWNLOAD_LIMIT)?;
    // A left-over download only costs space, and the next one replaces it.
    let _ = fs::remove_dir_all(&download);
    if !folder.join(PROGRAM).exists() {
        bail!("the package has no `{PROGRAM}`");
    }
    Ok(())
}

fn only_file(folder: &Path) -> Result<PathBuf> {
    let mut files = fs::read_dir(folder)?;
    Ok(files.next().context("apt-get downloaded nothing")??.path())
}
