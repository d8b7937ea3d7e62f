//! `verifier`: swaps that reach other processes, survive a restart, and leave the old one serving when anything fails.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::binary;

/// A copy of the installed plugins that a test may change, and the compiled code of the original.
struct Desk(tempfile::TempDir);

impl Desk {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        let plugins = folder.path().join("plugins");
        fs::create_dir(&plugins).unwrap();
        for file in fs::read_dir(installed()).unwrap_or_else(|_| panic!("plugins: run `cargo xtask guests`")) {
            let path = file.unwrap().path();
            if path.is_file() {
                fs::copy(&path, plugins.join(path.file_name().unwrap())).unwrap();
            }
        }
        Self(folder)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    /// Another component with the behaviour of an installed one: a custom section more.
    fn twin(&self, of: &str, mark: u8) -> PathBuf {
        let mut bytes = fs::read(installed().join(of)).unwrap();
        bytes.extend([0, 3, 1, b'x', mark]);
        let path = self.path(&format!("twin-{mark}.wasm"));
        fs::write(&path, bytes).unwrap();
        path
    }

    /// The exit code, and the last line of standard output as JSON.
    fn run(&self, arguments: &[&str]) -> (Option<i32>, Value) {
        let mut command = Command::new(binary());
        command.args(["--json", "--plugins"]).arg(self.path("plugins"));
        command.arg("--cache").arg(root().join("target/cache")).args(arguments);
        let output = command.output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout).into_owned();
        let last = text.lines().last().unwrap_or("null");
        (output.status.code(), serde_json::from_str(last).unwrap_or_else(|_| panic!("{arguments:?}: {text}")))
    }

    fn serving(&self) -> String {
        let (code, status) = self.run(&["verifier", "status"]);
        assert_eq!(code, Some(0));
        let found = status.as_array().unwrap().iter().find(|row| row["name"] == "state-assertions").unwrap();
        found["digest"].as_str().unwrap().to_owned()
    }
}

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("..")
}

fn installed() -> PathBuf {
    root().join("target/plugins")
}

fn text(path: &Path) -> &str {
    path.to_str().unwrap()
}

#[test]
fn a_swap_reaches_later_processes_and_can_be_compared_and_undone() {
    let desk = Desk::new();
    let old = desk.serving();
    let twin = desk.twin("state-assertions.wasm", 1);
    let (code, swapped) = desk.run(&["verifier", "swap", "state-assertions", text(&twin)]);
    assert_eq!(
        (code, &swapped["replaced"], &swapped["serves"]),
        (Some(0), &Value::from(old.as_str()), &Value::from(true))
    );
    let new = desk.serving();
    assert_eq!((swapped["digest"].as_str(), new != old), (Some(new.as_str()), true));

    let out = desk.path("out");
    let (code, report) = desk.run(&["run", "--planner", "scripted", "--limit", "4", "--out", text(&out)]);
    assert_eq!((code, &report["pass"]), (Some(0), &Value::from(4)));
    let judged_by = |digest: &str| {
        let files = fs::read_dir(out.join("scripted")).unwrap().map(|file| file.unwrap().path());
        files
            .filter(|file| file.is_file())
            .filter(|file| fs::read_to_string(file).unwrap().contains(&format!("\"verifier_digest\":\"{digest}\"")))
            .count()
    };
    assert!(judged_by(&new) > 0, "the new one judged");
    assert_eq!(judged_by(&old), 0, "and the old one did not");

    let original = installed().join("state-assertions.wasm");
    let (code, compared) =
        desk.run(&["verifier", "compare", text(&out), "--verifier", "state-assertions", "--with", text(&original)]);
    assert_eq!(
        (code, &compared["failed"], &compared["different"]),
        (Some(0), &Value::Array(vec![]), &Value::Array(vec![]))
    );
    assert!(compared["confusion"]["pass_pass"].as_u64().unwrap() > 0);

    let (code, back) = desk.run(&["verifier", "rollback", "state-assertions"]);
    assert_eq!((code, back["digest"].as_str()), (Some(0), Some(old.as_str())));
    assert_eq!(desk.serving(), old);
    assert_eq!(desk.run(&["verifier", "rollback", "state-assertions"]).0, Some(2), "there is nothing further back");
}

#[test]
fn a_swap_that_fails_changes_nothing() {
    let desk = Desk::new();
    let old = desk.serving();
    let twin = desk.twin("state-assertions.wasm", 2);
    let (garbage, other) = (desk.path("garbage.wasm"), desk.twin("tool-calls.wasm", 3));
    fs::write(&garbage, b"no component").unwrap();
    let wrong = format!("sha256:{}", "0".repeat(64));
    for (what, arguments) in [
        ("another digest", vec!["state-assertions", text(&twin), "--digest", wrong.as_str()]),
        ("garbage", vec!["state-assertions", text(&garbage)]),
        ("another verifier", vec!["state-assertions", text(&other)]),
        ("no such verifier", vec!["nobody", text(&twin)]),
        ("a tool", vec!["state-assertions", text(&installed().join("net.wasm"))]),
    ] {
        let (code, _) = desk.run(&[&["verifier", "swap"], &arguments[..]].concat());
        assert_eq!(code, Some(2), "{what}");
    }
    assert_eq!(desk.serving(), old);
    assert!(!desk.path("plugins/verifiers.jsonl").exists(), "nothing was written");
}
