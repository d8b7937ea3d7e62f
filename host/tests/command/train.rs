//! Training from outside: runs that are killed, interrupted and resumed equal runs that were left alone, and the ablation's signs are right.

use std::io::{BufRead as _, BufReader, Read as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

use serde_json::{Value, json};

use crate::binary;

/// More steps than any test waits for.
const LONG: u32 = 100_000;

pub(crate) fn command(arguments: &[&str]) -> Command {
    let mut command = Command::new(binary());
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).args(arguments).arg("--json");
    command
}

/// The exit code, the lines of standard output as JSON, and standard error.
pub(crate) fn done(mut command: Command) -> (Option<i32>, Vec<Value>, String) {
    let output = command.output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(!errors.contains("panicked"), "{errors}");
    let lines = String::from_utf8(output.stdout).unwrap();
    (output.status.code(), lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect(), errors)
}

pub(crate) fn good(arguments: &[&str]) -> Vec<Value> {
    let (code, lines, errors) = done(command(arguments));
    assert_eq!(code, Some(0), "{arguments:?}: {errors}");
    lines
}

pub(crate) struct Runs(tempfile::TempDir);

impl Runs {
    pub(crate) fn new() -> Self {
        Self(tempfile::tempdir().unwrap())
    }

    pub(crate) fn path(&self, name: &str) -> String {
        self.0.path().join(name).to_str().unwrap().to_owned()
    }

    pub(crate) fn file(&self, run: &str, name: &str) -> PathBuf {
        self.0.path().join(run).join(name)
    }

    pub(crate) fn bytes(&self, run: &str, name: &str) -> Vec<u8> {
        std::fs::read(self.file(run, name)).unwrap()
    }

    /// The lines of a run's metrics, without what depends on the machine.
    pub(crate) fn metrics(&self, run: &str) -> Vec<Value> {
        let text = String::from_utf8(self.bytes(run, "metrics.jsonl")).unwrap();
        let line = |line: &str| {
            let mut value: Value = serde_json::from_str(line).unwrap();
            value.as_object_mut().unwrap().remove("timing");
            value
        };
        text.lines().map(line).collect()
    }

    /// A cold start of so many passes over what a teacher shows who plays each task so often.
    pub(crate) fn teach(&self, name: &str, members: u32, epochs: u32) -> Command {
        let (out, members, epochs) = (self.path(name), members.to_string(), epochs.to_string());
        command(&[
            "train",
            "sft",
            "--course",
            "ablation",
            "--out",
            &out,
            "--teacher-members",
            &members,
            "--batch",
            "16",
            "--epochs",
            &epochs,
        ])
    }

    pub(crate) fn cold_start(&self) {
        let (code, lines, errors) = done(self.teach("sft", 4, 2));
        assert_eq!(code, Some(0), "{errors}");
        let last = lines.last().unwrap();
        assert_eq!(last["over"], true, "{last}");
        let shown: Value = serde_json::from_slice(&self.bytes("sft", "demonstrations.json")).unwrap();
        assert!(shown["demonstrations"].as_u64().unwrap() > 40, "{shown}");
    }

    /// Eight steps, of which the second and every other measures dev and asks the controller.
    pub(crate) fn improve(&self, name: &str) -> Command {
        self.improve_for(name, 8, 2)
    }

    /// So many steps, with so many episodes of each task on dev.
    fn improve_for(&self, name: &str, steps: u32, dev_members: u32) -> Command {
        let (from, out) = (self.path("sft"), self.path(name));
        let (steps, dev_members) = (steps.to_string(), dev_members.to_string());
        command(&[
            "train",
            "rl",
            "--course",
            "ablation",
            "--from",
            &from,
            "--out",
            &out,
            "--steps",
            &steps,
            "--groups",
            "4",
            "--group-size",
            "4",
            "--dev-every",
            "2",
            "--dev-members",
            &dev_members,
            "--controller",
            "0.5",
        ])
    }

    pub(crate) fn assert_same(&self, left: &str, right: &str) {
        assert_eq!(self.metrics(left), self.metrics(right), "{left} and {right}");
        for name in ["policy.safetensors", "best.safetensors", "best.json"] {
            assert!(self.bytes(left, name) == self.bytes(right, name), "{name} of {left} and {right}");
        }
    }
}

/// Reads lines until one is of this step.
pub(crate) fn until(child: &mut Child, step: u64) -> impl Iterator<Item = String> + use<> {
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines().map(Result::unwrap);
    let found = lines.by_ref().find(|line| serde_json::from_str::<Value>(line).unwrap()["step"] == json!(step));
    assert!(found.is_some(), "no step {step}");
    lines
}

/// Reads what is told beside the results until it says this. What comes later stays to be read.
pub(crate) fn until_said(child: &mut Child, text: &str) {
    let (mut said, mut byte) = (Vec::new(), [0]);
    let errors = child.stderr.as_mut().unwrap();
    while !String::from_utf8_lossy(&said).contains(text) {
        assert_eq!(errors.read(&mut byte).unwrap(), 1, "not said: {text}, but {}", String::from_utf8_lossy(&said));
        said.extend(byte);
    }
}

/// The exit code of a command that ends by itself, and what it told that was not read yet.
pub(crate) fn ended(child: Child) -> (Option<i32>, String) {
    let output = child.wait_with_output().unwrap();
    (output.status.code(), String::from_utf8(output.stderr).unwrap())
}

pub(crate) fn signal(child: &Child, name: &str) {
    assert!(Command::new("kill").args([name, &child.id().to_string()]).status().unwrap().success());
}

#[test]
fn a_run_that_was_killed_or_interrupted_and_resumed_equals_one_that_was_left_alone() {
    let runs = Runs::new();
    runs.cold_start();
    let (code, lines, errors) = done(runs.improve("whole"));
    assert_eq!(code, Some(0), "{errors}");
    let last = lines.last().unwrap();
    assert_eq!((&last["steps"], &last["checkpoint"], &last["over"]), (&json!(8), &json!(8), &json!(true)), "{last}");
    assert_eq!(last["decisions"].as_array().unwrap().len(), 4, "{last}");
    assert!(runs.metrics("whole").iter().all(|line| line["episodes"] == 16 && line["counters"]["void"] == 0));
    for file in [
        "chart.svg",
        "run.json",
        "start.safetensors",
        "policy.json",
        "tensorboard/events.out.tfevents.0000000000.loopwright",
    ] {
        assert!(runs.file("whole", file).exists(), "{file}");
    }

    // Killed in some step after the third: at most the one in flight is lost.
    let mut child = runs.improve("killed").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let _rest = until(&mut child, 3);
    child.kill().unwrap();
    child.wait().unwrap();
    let lines = good(&["train", "status", &runs.path("killed")]);
    let checkpoint = lines[0]["checkpoint"].as_u64().unwrap();
    assert!((3..=8).contains(&checkpoint), "{lines:?}");
    good(&["train", "resume", &runs.path("killed")]);
    runs.assert_same("whole", "killed");

    // Ctrl-C once: it ends after the step in flight, and says how to go on. It has so many steps before it that it is not over by itself.
    let mut child = runs.improve_for("once", LONG, 2).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let rest = until(&mut child, 2);
    signal(&child, "-INT");
    let told: Vec<String> = rest.collect();
    let (code, errors) = ended(child);
    assert_eq!(code, Some(1), "{errors}");
    assert!(errors.contains("ending after this step") && errors.contains("train resume"), "{errors}");
    assert!(!errors.contains("dropping"), "it was asked once: {errors}");
    let status: Value = serde_json::from_str(told.last().unwrap()).unwrap();
    let last = runs.metrics("once").len();
    assert_eq!((&status["steps"], &status["checkpoint"]), (&json!(last), &json!(last)), "each step has a checkpoint");
    assert!((2..8).contains(&last), "{last} steps");

    // Twice: the step in flight is dropped, at once. That is the second one, whose dev would take minutes.
    let mut child = runs.improve_for("twice", LONG, 512).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let rest = until(&mut child, 1);
    signal(&child, "-INT");
    until_said(&mut child, "ending after this step");
    signal(&child, "-INT");
    rest.for_each(drop);
    let (code, errors) = ended(child);
    assert_eq!(code, Some(1), "{errors}");
    assert!(errors.contains("dropping this step") && errors.contains("train resume"), "{errors}");
    let status = good(&["train", "status", &runs.path("twice")]);
    assert_eq!((&status[0]["steps"], &status[0]["checkpoint"]), (&json!(1), &json!(1)), "{status:?}");

    for name in ["once", "twice"] {
        let state = runs.file(name, "run.json");
        let text = std::fs::read_to_string(&state).unwrap();
        let text =
            text.replace(&format!("\"steps\": {LONG}"), "\"steps\": 8").replace("\"members\": 512", "\"members\": 2");
        std::fs::write(&state, text).unwrap();
        good(&["train", "resume", &runs.path(name)]);
        runs.assert_same("whole", name);
    }
}

#[test]
fn what_cannot_be_trained_is_said_with_what_to_do() {
    let runs = Runs::new();
    runs.cold_start();
    let refused = |arguments: &[&str], expected: &str| {
        let (code, _, errors) = done(command(arguments));
        assert_eq!(code, Some(2), "{arguments:?}: {errors}");
        assert!(errors.contains(expected), "{expected} is not in {errors}");
    };
    let (sft, out) = (runs.path("sft"), runs.path("out"));
    refused(&["train", "sft", "--course", "ablation", "--out", &sft], "holds a run already");
    refused(&["train", "resume", &out], "no run in");
    refused(&["train", "rl", "--course", "ablation", "--from", &runs.path("nowhere"), "--out", &out], "no policy at");
    refused(&["train", "rl", "--course", "ablation", "--out", &out, "--group-size", "1"], "2 to");
    refused(
        &["train", "rl", "--course", "ablation", "--out", &out, "--p-low", "0.9", "--p-high", "0.6"],
        "`p_low` must not exceed `p_high`",
    );
    refused(&["train", "rl", "--course", "ablation", "--out", &out, "--p-high", "0.99"], "`p_high` must be within");
    refused(&["train", "rl", "--course", "ablation", "--out", &out, "--learning-rate", "NaN"], "peak");
    refused(&["train", "rl", "--course", "ablation", "--out", &out, "--controller", "1.5"], "target");
    for beta in ["-0.1", "NaN", "inf", "1.5"] {
        refused(&["train", "rl", "--out", &out, &format!("--kl={beta}")], "`beta` must be within 0 to 1");
    }
    for share in ["0.95", "-0.1", "NaN"] {
        refused(&["train", "sft", &format!("--plant={share}"), "--out", &out], "--plant is a share, 0 to 0.9");
    }
    refused(&["train", "sft", "--course", "ablation", "--plant", "0.3", "--out", &out], "nothing is planted");
    assert!(!Path::new(&runs.path("out")).exists(), "nothing was begun");

    // Weights of another architecture, and weights that were torn.
    let weights = runs.bytes("sft", "policy.safetensors");
    let torn = runs.path("torn.safetensors");
    std::fs::write(&torn, &weights[..weights.len() / 2]).unwrap();
    refused(&["train", "rl", "--course", "ablation", "--from", &torn, "--out", &runs.path("o1")], "the weights of");
    std::fs::write(&torn, b"not weights").unwrap();
    refused(&["train", "rl", "--course", "ablation", "--from", &torn, "--out", &runs.path("o2")], "the weights of");

    // A run file that was changed to what no run begins with.
    let text = std::fs::read_to_string(runs.file("sft", "run.json")).unwrap();
    std::fs::write(runs.file("sft", "run.json"), text.replace("\"plant\": 0.0", "\"plant\": 0.3")).unwrap();
    refused(&["train", "resume", &sft], "nothing is planted");

    // A run file from elsewhere, and one whose start was changed.
    let (code, _, errors) = done(runs.improve("run"));
    assert_eq!(code, Some(0), "{errors}");
    std::fs::write(runs.file("run", "start.safetensors"), runs.bytes("run", "policy.safetensors")).unwrap();
    refused(&["train", "resume", &runs.path("run")], "the run began with");
    std::fs::write(runs.file("run", "run.json"), r#"{"format": "other/1", "kind": "rl"}"#).unwrap();
    refused(&["train", "resume", &runs.path("run")], "expected `loopwright-run/1`");
}

#[test]
fn a_checkpoint_that_is_torn_is_left_out_and_one_of_other_plugins_is_refused() {
    let runs = Runs::new();
    runs.cold_start();
    let (code, _, errors) = done(runs.improve("whole"));
    assert_eq!(code, Some(0), "{errors}");
    let (code, _, errors) = done(runs.improve("torn"));
    assert_eq!(code, Some(0), "{errors}");
    let newest = runs.file("torn", "checkpoints/step-000000000008/weights.safetensors");
    let bytes = std::fs::read(&newest).unwrap();
    std::fs::write(&newest, &bytes[..bytes.len() - 7]).unwrap();
    let (code, _, errors) = done(command(&["train", "resume", &runs.path("torn")]));
    assert_eq!(code, Some(0), "{errors}");
    assert!(errors.contains("step-000000000008") && errors.contains("left out"), "{errors}");
    runs.assert_same("whole", "torn");

    // One step more, and from an older checkpoint: what was the best stays it.
    let state = runs.file("torn", "run.json");
    let text = std::fs::read_to_string(&state).unwrap().replace("\"steps\": 8", "\"steps\": 9");
    std::fs::write(&state, text).unwrap();
    let others = plugins_without(&runs, "calc");
    let (code, _, errors) = done(command(&["--plugins", &others, "train", "resume", &runs.path("torn")]));
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("plugin `calc` has changed") && errors.contains("no such plugin"), "{errors}");
    std::fs::remove_dir_all(runs.file("torn", "checkpoints/step-000000000008")).unwrap();
    good(&["train", "resume", &runs.path("torn")]);
    assert_eq!(runs.metrics("torn").len(), 9);
    assert_eq!(runs.metrics("torn")[..8], runs.metrics("whole")[..]);
    let step = |run: &str| serde_json::from_slice::<Value>(&runs.bytes(run, "best.json")).unwrap()["step"].as_u64();
    assert!(step("torn") == step("whole") || step("torn") == Some(9), "{:?}, {:?}", step("torn"), step("whole"));
}

/// A run does not follow the operator's swaps: it never hears of this one, and what is checked is that, and that a later process which does hear of it
/// refuses to go on. That a run keeps to its verifiers where its own host swaps one is tested from within, in `tests/e2e/tests/loop/training.rs`.
#[test]
fn a_verifier_that_an_operator_swaps_does_not_reach_a_run_and_is_refused_when_it_is_resumed() {
    let runs = Runs::new();
    runs.cold_start();
    let (code, _, errors) = done(runs.improve("whole"));
    assert_eq!(code, Some(0), "{errors}");
    let plugins = plugins_without(&runs, "");
    // The same behaviour, and another digest: a custom section more.
    let mut twin = std::fs::read(Path::new(&plugins).join("ablation-verdict.wasm")).unwrap();
    twin.extend([0, 3, 1, b'x', 1]);
    std::fs::write(runs.path("twin.wasm"), twin).unwrap();
    let mut running = runs.improve("swapped");
    running.args(["--plugins", &plugins]).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = running.spawn().unwrap();
    let rest = until(&mut child, 1);
    good(&["--plugins", &plugins, "verifier", "swap", "ablation-verdict", &runs.path("twin.wasm")]);
    rest.for_each(drop);
    assert!(child.wait().unwrap().success());
    runs.assert_same("whole", "swapped");

    let state = runs.file("swapped", "run.json");
    let text = std::fs::read_to_string(&state).unwrap().replace("\"steps\": 8", "\"steps\": 9");
    std::fs::write(&state, text).unwrap();
    let (code, _, errors) = done(command(&["--plugins", &plugins, "train", "resume", &runs.path("swapped")]));
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("plugin `ablation-verdict` has changed"), "{errors}");
    good(&["--plugins", &plugins, "verifier", "rollback", "ablation-verdict"]);
    good(&["--plugins", &plugins, "train", "resume", &runs.path("swapped")]);
    assert_eq!(runs.metrics("swapped").len(), 9);
}

/// The installed plugins but one.
pub(crate) fn plugins_without(runs: &Runs, name: &str) -> String {
    let (from, to) = (Path::new(env!("CARGO_MANIFEST_DIR")).join("../target/plugins"), runs.path("plugins"));
    std::fs::create_dir(&to).unwrap();
    for entry in std::fs::read_dir(&from).unwrap().map(Result::unwrap).filter(|entry| entry.path().is_file()) {
        std::fs::copy(entry.path(), Path::new(&to).join(entry.file_name())).unwrap();
    }
    let index = Path::new(&to).join("index.json");
    let mut entries: Vec<Value> = serde_json::from_slice(&std::fs::read(&index).unwrap()).unwrap();
    entries.retain(|entry| entry["name"] != name);
    std::fs::write(&index, serde_json::to_vec(&entries).unwrap()).unwrap();
    to
}

#[test]
fn gold_can_be_pointed_to_in_both_languages_and_in_words_that_are_kept_for_test() {
    for more in [&[][..], &["--unseen"]] {
        let mut arguments = vec!["pack", "reach"];
        arguments.extend(more);
        let lines = good(&arguments);
        let share = |part: &Value| part["reached"].as_f64().unwrap() / part["arguments"].as_f64().unwrap();
        let least = if more.is_empty() { 0.99 } else { 0.98 };
        assert!(lines[0]["share"].as_f64().unwrap() >= least, "{}", lines[0]["missed"]);
        for language in ["en", "zh"] {
            assert!(share(&lines[0]["languages"][language]) >= 0.97, "{language}: {}", lines[0]["missed"]);
        }
    }
}

#[test]
fn a_policy_is_measured_on_a_split_as_run_prints_it() {
    let out = Runs::new();
    for (policy, least) in [("shipped", 0.1), ("lexical", 0.1), ("random", 0.0)] {
        let lines = good(&["eval", "--policy", policy, "--split", "dev", "--out", &out.path(policy)]);
        let [found, row] = &lines[..] else { panic!("{lines:?}") };
        assert_eq!((&row["planner"], &row["void"]), (&json!(policy), &json!(0)), "{row}");
        let [tasks, pass, fail, invalid] = ["tasks", "pass", "fail", "invalid"].map(|key| row[key].as_u64().unwrap());
        assert!(tasks > 100 && pass + fail + invalid == tasks, "{row}");
        assert!(found["all"]["success"].as_f64().unwrap() >= least, "{}", found["all"]);
        assert!(found["families"].as_object().unwrap().len() >= 20 && found["success_low"].is_number(), "{found}");
    }
}

#[test]
fn the_ablation_has_the_signs_that_the_mathematics_says() {
    let out = Runs::new();
    let (code, lines, errors) =
        done(command(&["bench", "care", "--quick", "--steps", "20", "--episodes", "320", "--out", &out.path("care")]));
    assert_eq!(code, Some(0), "{errors}");
    let rows = lines.last().unwrap().as_array().unwrap();
    let of = |arm: &str| rows.iter().find(|row| row["arm"] == arm).unwrap_or_else(|| panic!("no {arm} in {rows:?}"));
    let number = |arm: &str, key: &str| of(arm)[key].as_f64().unwrap();
    assert!(number("care", "tokens") < number("vanilla", "tokens"), "{rows:?}");
    assert!(number("care_uncalibrated", "tokens") < number("care", "tokens"), "{rows:?}");
    assert!(number("care_uncalibrated", "success") < number("care", "success") - 0.02, "{rows:?}");
    assert!(rows.iter().all(|row| row["void"] == 0 && row["seed"] == 100), "{rows:?}");
    // The cold start is the verbose teacher's: 18.95 tokens and 93.9 % by its table.
    let start = &lines[0]["starts"][0];
    assert!((start["tokens"].as_f64().unwrap() - 18.95).abs() < 1.5, "{start}");
    assert!((start["success"].as_f64().unwrap() - 0.939).abs() < 0.04, "{start}");
    // The same rows lie in the folder, in the form of those that are kept.
    let kept = include_str!("../../../examples/care/runs.jsonl");
    let names = |line: &str| -> Vec<String> {
        line.split('"').skip(1).step_by(2).filter(|text| !text.starts_with("sha256:")).map(str::to_owned).collect()
    };
    let text = String::from_utf8(out.bytes("care", "runs.jsonl")).unwrap();
    assert_eq!(text.lines().count(), rows.len());
    for (line, row) in text.lines().zip(rows) {
        let found: Value = serde_json::from_str(line).unwrap();
        assert!(found.as_object().unwrap().iter().all(|(key, value)| row[key] == *value), "{line} of {row}");
        let like = kept.lines().find(|kept| kept.contains(&format!("\"arm\": {},", found["arm"]))).unwrap();
        assert_eq!(names(line), names(like));
    }
}
