//! What is told of a run while it goes and afterwards, for people.

use std::path::Path;
use std::process::Command;

use serde_json::Value;

use crate::binary;
use crate::train::{Runs, good};

/// The exit code, standard output and standard error, as text.
pub(super) fn text(arguments: &[&str]) -> (Option<i32>, String, String) {
    let mut command = Command::new(binary());
    command.current_dir(Path::new(env!("CARGO_MANIFEST_DIR")).join("..")).args(arguments);
    let output = command.output().unwrap();
    let [out, errors] = [output.stdout, output.stderr].map(|bytes| String::from_utf8(bytes).unwrap());
    assert!(!errors.contains("panicked"), "{errors}");
    (output.status.code(), out, errors)
}

/// A run of two small steps, of which each measures dev and asks the controller.
pub(super) const SMALL: [&str; 14] = [
    "train",
    "rl",
    "--course",
    "ablation",
    "--steps",
    "2",
    "--groups",
    "2",
    "--group-size",
    "2",
    "--dev-every",
    "1",
    "--dev-members",
    "2",
];

#[test]
fn a_decision_of_the_controller_is_told_at_once_and_whole_in_the_status() {
    let runs = Runs::new();
    let run = runs.path("run");
    // Fresh weights pass nothing: dev success is below the target, and the weight of the cost is taken back by what a step may do.
    let (code, out, errors) = text(&[&SMALL[..], &["--out", &run, "--controller", "0.5"]].concat());
    assert_eq!(code, Some(0), "{errors}");
    let metrics = runs.metrics("run");
    for (step, line) in (1..).zip(&metrics) {
        let decision = &line["decision"];
        let (before, after) = (&decision["before"], &decision["after"]);
        assert_eq!((&decision["outcome"], &decision["gate"]["open"]), (&"applied".into(), &false.into()), "{decision}");
        let number = |of: &Value, key: &str| of[key].as_f64().unwrap();
        let changed = |key: &str| format!("{key} {:.4} -> {:.4}", number(before, key), number(after, key));
        let headline = format!("controller `rule` at step {step}: applied: ");
        let told: Vec<&str> = errors.lines().filter(|line| line.starts_with(&headline)).collect();
        assert_eq!(told.len(), 1, "{errors}");
        assert!(told[0].contains(&changed("lambda_eff")) && told[0].contains(&changed("p_high")), "{told:?}");
        // The status has the same line, and below it what led to it.
        let rest = out.split_once(told[0]).unwrap_or_else(|| panic!("{out}")).1;
        let below: Vec<&str> = rest.lines().skip(1).take_while(|line| line.starts_with("  ")).collect();
        let [proposed, .., gate] = &below[..] else { panic!("{below:?}") };
        let said = &decision["answer"]["proposal"];
        let of = |key: &str| format!("{key} {:.4}", number(said, key));
        let [prog, eff, low, high] = ["lambda_prog", "lambda_eff", "p_low", "p_high"].map(of);
        let reason = said["reason"].as_str().unwrap();
        assert_eq!(*proposed, format!("  proposed {prog}, {eff}, {low}, {high}: {reason}"));
        assert!(reason.contains("below the target"), "{reason}");
        let lower = number(&decision["gate"], "lower");
        let closed = format!("  gate closed: dev success is surely at least {lower:.4}, the target is 0.5000");
        assert_eq!(*gate, closed);
        assert_eq!(below.len() - 2, usize::from(!decision["clamps"].as_array().unwrap().is_empty()), "{below:?}");
    }
    assert_eq!(metrics.len(), 2);
    assert_eq!(text(&["train", "status", &run]), (Some(0), out, String::new() + debug_note(&errors)));

    // Without a controller nothing is told of one.
    let plain = runs.path("plain");
    let (code, out, errors) = text(&[&SMALL[..], &["--out", &plain]].concat());
    assert_eq!(code, Some(0), "{errors}");
    assert!(!out.contains("controller") && !errors.contains("controller"), "{out}{errors}");
    let lines = good(&["train", "status", &plain]);
    assert!(lines[0]["decisions"].as_array().unwrap().is_empty(), "{lines:?}");
}

/// The line that a debug build says first, as far as there is one.
fn debug_note(errors: &str) -> &str {
    let line = errors.split_inclusive('\n').next().unwrap_or_default();
    if line.contains("debug build") { line } else { "" }
}

#[test]
fn a_decision_that_keeps_what_was_in_force_says_why_and_one_that_is_no_decision_says_so() {
    let runs = Runs::new();
    let run = runs.path("run");
    let (code, _, errors) = text(&[&SMALL[..], &["--out", &run, "--controller", "0.5"]].concat());
    assert_eq!(code, Some(0), "{errors}");
    // As a controller that was late, one that had nothing left of its proposal, and one of another version would have left it.
    let file = runs.file("run", "metrics.jsonl");
    let mut lines: Vec<Value> = runs.metrics("run");
    let before = lines[0]["decision"]["before"].clone();
    for line in &mut lines {
        line["decision"]["after"] = before.clone();
        line["decision"]["before"] = before.clone();
        line["decision"]["clamps"] = Value::Array(Vec::new());
    }
    lines[0]["decision"]["answer"] = "late".into();
    lines[0]["decision"]["outcome"] = serde_json::json!({"kept": "late"});
    lines[1]["decision"]["clamps"] =
        serde_json::json!([{"parameter": "lambda_eff", "cause": "gate", "from": 0.25, "to": 0.2}]);
    lines[1]["decision"]["outcome"] = serde_json::json!({"kept": "no_change"});
    let mut other = lines[1].clone();
    other["step"] = 3.into();
    other["decision"]["outcome"] = "postponed".into();
    lines.push(other);
    let written: String = lines.iter().map(|line| format!("{line}\n")).collect();
    std::fs::write(file, written).unwrap();
    let (code, out, errors) = text(&["train", "status", &run]);
    assert_eq!(code, Some(0), "{errors}");
    for expected in [
        "controller `rule` at step 1: kept, because no answer came in time\n  nothing proposed in time\n  gate closed",
        "controller `rule` at step 2: kept, because nothing is left of the proposal\n  proposed lambda_prog",
        "\n  corrected lambda_eff 0.2500 -> 0.2000 by the gate\n  gate closed",
        "controller: a decision that cannot be read: ",
    ] {
        assert!(out.contains(expected), "{expected} is not in {out}");
    }
}
