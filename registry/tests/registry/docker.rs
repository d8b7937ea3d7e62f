//! The registry server of Debian's package `docker-registry` (2.8.2, which has no referrers API), on a free port of the loopback.

use std::{
    io::{BufRead as _, BufReader},
    path::Path,
    process::{Child, Command, Stdio},
};

use loopwright_registry::{
    credentials::{Credentials, Login},
    place::{self, HttpLimits, Place, Plain},
    reference::Address,
};

/// Where the set-up puts it; otherwise wherever it is installed.
fn program() -> &'static str {
    const UNPACKED: &str =
        concat!(env!("CARGO_MANIFEST_DIR"), "/../target/tools/docker-registry/usr/bin/docker-registry");
    if Path::new(UNPACKED).exists() { UNPACKED } else { "docker-registry" }
}

/// A running server; it ends when it is dropped.
pub(crate) struct Docker {
    child: Child,
    _folder: tempfile::TempDir,
    pub(crate) address: String,
}

impl Docker {
    /// Starts one. None, with a notice, where the program is not installed.
    pub(crate) fn start() -> Option<Self> {
        Self::start_with(tempfile::tempdir().unwrap(), "")
    }

    /// Starts one that lets in `alice` with `open sesame`.
    #[allow(dead_code, reason = "the bench of this crate has this file too, and needs no password")]
    pub(crate) fn start_private() -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let users = folder.path().join("htpasswd");
        std::fs::write(&users, "alice:$2y$05$abcdefghijklmnopqrstuupx2xBUC4954936wVIjyyPHmUBFu0wCW\n").unwrap();
        let auth = format!("auth:\n  htpasswd:\n    realm: tests\n    path: {}\n", users.display());
        Self::start_with(folder, &auth)
    }

    fn start_with(folder: tempfile::TempDir, more: &str) -> Option<Self> {
        let config = folder.path().join("config.yml");
        let root = folder.path().join("data");
        let text = format!(
            "version: 0.1\nstorage:\n  filesystem:\n    rootdirectory: {}\nhttp:\n  addr: 127.0.0.1:0\n{more}",
            root.display()
        );
        std::fs::write(&config, text).unwrap();
        let mut command = Command::new(program());
        command.arg("serve").arg(&config).stdout(Stdio::null()).stderr(Stdio::piped());
        let mut child = match command.spawn() {
            Ok(child) => child,
            Err(error) => {
                eprintln!(
                    "NOT TESTED against a real registry: `docker-registry` cannot be started ({error}); `cargo xtask setup` fetches it"
                );
                return None;
            }
        };
        let mut lines = BufReader::new(child.stderr.take().unwrap()).lines();
        let port = lines.by_ref().find_map(|line| {
            let line = line.unwrap();
            let (_, rest) = line.split_once("listening on 127.0.0.1:")?;
            Some(rest.chars().take_while(char::is_ascii_digit).collect::<String>())
        });
        // Nobody reads what it logs from now on, and it must not block on that.
        std::thread::spawn(move || lines.for_each(drop));
        let address = format!("127.0.0.1:{}", port.expect("the server says where it listens"));
        Some(Self { child, _folder: folder, address })
    }

    pub(crate) fn place(&self) -> Box<dyn Place> {
        place::open(&self.address.parse().unwrap(), HttpLimits::default(), Plain::Loopback).unwrap()
    }

    #[allow(dead_code, reason = "the bench of this crate has this file too, and needs no password")]
    pub(crate) fn place_as(&self, credentials: &Credentials) -> Box<dyn Place> {
        let address = self.address.parse().unwrap();
        let login = match &address {
            Address::Server { server, .. } => credentials.login(server).unwrap(),
            Address::Folder(_) => Login::default(),
        };
        place::open_as(&address, HttpLimits::default(), Plain::Loopback, login).unwrap()
    }
}

impl Drop for Docker {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
