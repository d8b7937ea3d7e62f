//! The phone policy from outside: the cold start, reinforcement learning with renumbered words, and going on with a run that was killed. Little of
//! each, on the real course.

use std::process::Stdio;

use loopwright_contract::task::Split;
use loopwright_packs::phone::split_of;
use serde_json::{Value, json};

use crate::train::{Runs, command, done, good, until};

/// Two steps from the policy that ships, which act and learn under other numbers in each; after the last one dev is measured and the controller asked.
fn improve(runs: &Runs, name: &str) -> std::process::Command {
    let out = runs.path(name);
    command(&[
        "train",
        "rl",
        "--course",
        "phone",
        "--from",
        "host/assets/phone-policy.safetensors",
        "--out",
        &out,
        "--renumber",
        "1",
        "--steps",
        "2",
        "--groups",
        "4",
        "--group-size",
        "4",
        "--refills",
        "0",
        "--dev-members",
        "2",
        "--controller",
        "0.5",
    ])
}

#[test]
fn the_phone_policy_is_taught_from_all_the_gold_of_its_training_split() {
    let runs = Runs::new();
    // All demonstrations in one step of one pass; what is slow is that the teacher plays them, nearly three thousand.
    let sft = runs.path("sft");
    let lines = good(&["train", "sft", "--course", "phone", "--out", &sft, "--batch", "4096", "--epochs", "1"]);
    let last = lines.last().unwrap();
    assert_eq!((&last["over"], &last["steps"], &last["run"]["course"]), (&json!(true), &json!(1), &json!("phone")));
    let shown: Value = serde_json::from_slice(&runs.bytes("sft", "demonstrations.json")).unwrap();
    assert!(shown["demonstrations"].as_u64().unwrap() > 2_500, "{shown}");
    let card: Value = serde_json::from_slice(&runs.bytes("sft", "policy.json")).unwrap();
    assert_eq!((&card["course"], &card["architecture"]["kind"]), (&json!("phone"), &json!("pointer")), "{card}");

    // What came of it acts, and is begun with by its folder.
    let file = runs.path("groups.jsonl");
    good(&["export", "--policy", &sft, "--trajectories", &file, "--groups", "1", "--group-size", "2"]);
    let text = std::fs::read_to_string(file).unwrap();
    let members: Vec<Value> = text.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
    assert_eq!(members.len(), 2, "{text}");
    assert!(members.iter().all(|member| member["policy"] == card["digest"]), "{text}");
}

#[test]
fn the_phone_policy_is_improved_and_a_killed_run_goes_on_to_the_same_bits() {
    let runs = Runs::new();
    let (code, lines, errors) = done(improve(&runs, "whole"));
    assert_eq!(code, Some(0), "{errors}");
    let last = lines.last().unwrap();
    assert_eq!((&last["steps"], &last["checkpoint"], &last["over"]), (&json!(2), &json!(2), &json!(true)), "{last}");
    assert_eq!(last["run"]["renumber"], 1.0, "{last}");
    let metrics = runs.metrics("whole");
    for line in &metrics {
        assert_eq!((&line["episodes"], &line["counters"]["void"]), (&json!(16), &json!(0)), "{line}");
        assert_eq!(line["outcome"], "updated", "{line}");
    }
    assert!(
        runs.bytes("whole", "policy.safetensors") != runs.bytes("whole", "start.safetensors"),
        "nothing was learnt"
    );
    dev_decides(&runs, &metrics);

    // Killed in its second step; should it have been quicker than that, the step is taken away again.
    let mut child = improve(&runs, "killed").stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
    let _rest = until(&mut child, 1);
    child.kill().unwrap();
    child.wait().unwrap();
    let _ = std::fs::remove_dir_all(runs.file("killed", "checkpoints/step-000000000002"));
    let lines = good(&["train", "status", &runs.path("killed")]);
    assert_eq!(lines[0]["checkpoint"], 1, "{lines:?}");
    let lines = good(&["train", "resume", &runs.path("killed")]);
    assert_eq!(lines[0]["step"], 2, "{lines:?}");
    runs.assert_same("whole", "killed");
}

/// What the controller hears of and what the best policy is chosen by is dev: families that are trained on are not among them.
fn dev_decides(runs: &Runs, metrics: &[Value]) {
    assert!(metrics[0]["dev"].is_null() && metrics[0]["decision"].is_null(), "{}", metrics[0]);
    let (dev, decision) = (&metrics[1]["dev"], &metrics[1]["decision"]);
    let families = dev["families"].as_object().unwrap();
    assert!(families.len() >= 15, "{dev}");
    let other: Vec<&String> = families.keys().filter(|family| split_of(family) != Split::Dev).collect();
    assert!(other.is_empty(), "dev is measured on {other:?}");
    let told = &decision["statistics"]["dev"]["success"];
    assert_eq!((&told["successes"], &told["trials"]), (&dev["all"]["passed"], &dev["all"]["episodes"]), "{decision}");
    let best: Value = serde_json::from_slice(&runs.bytes("whole", "best.json")).unwrap();
    assert_eq!((&best["step"], &best["dev_success"]), (&json!(2), &dev["success"]), "{best}");
}
