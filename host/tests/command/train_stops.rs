//! Runs that are stopped from outside and go on: what was written stays whole, and what comes of them is what would have come without a stop.

use std::process::Stdio;

use serde_json::json;

use crate::train::{Runs, command, done, ended, good, plugins_without, signal, until, until_said};

#[test]
fn a_run_that_is_under_way_is_left_alone_by_a_second_one() {
    let runs = Runs::new();
    runs.cold_start();
    for (name, mut begun) in [("rl", runs.improve("rl")), ("fit", runs.teach("fit", 4, 2))] {
        let mut child = begun.stdout(Stdio::piped()).stderr(Stdio::null()).spawn().unwrap();
        let rest = until(&mut child, 2);
        // The first run stands still while the second one looks at its folder.
        signal(&child, "-STOP");
        let (code, lines, errors) = done(command(&["train", "resume", &runs.path(name)]));
        signal(&child, "-CONT");
        rest.for_each(drop);
        assert!(child.wait().unwrap().success(), "{name}");
        assert_eq!((code, lines.len()), (Some(2), 0), "{name}: {errors}");
        assert!(errors.contains("another process writes checkpoints") && errors.contains("hint:"), "{errors}");
        let steps: Vec<u64> = runs.metrics(name).iter().map(|line| line["step"].as_u64().unwrap()).collect();
        assert!(steps.len() >= 6 && steps.iter().copied().eq(1..=steps.len() as u64), "{name}: {steps:?}");
    }
}

/// Passes of a cold start that is not over before a signal is heard.
const PASSES: u32 = 60;

#[test]
fn a_cold_start_that_was_killed_or_interrupted_and_resumed_equals_one_that_was_left_alone() {
    let runs = Runs::new();
    let (code, _, errors) = done(runs.teach("whole", 4, PASSES));
    assert_eq!(code, Some(0), "{errors}");
    let whole = runs.metrics("whole").len();
    let same = |name: &str| {
        assert_eq!(runs.metrics("whole"), runs.metrics(name), "{name}");
        assert!(runs.bytes("whole", "policy.safetensors") == runs.bytes(name, "policy.safetensors"), "{name}");
    };
    let begin = |name: &str, members| {
        runs.teach(name, members, PASSES).stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap()
    };

    // Killed: at the end of a pass, here of four steps, there always is a checkpoint.
    let mut child = begin("killed", 4);
    let _rest = until(&mut child, 5);
    child.kill().unwrap();
    child.wait().unwrap();
    let status = good(&["train", "status", &runs.path("killed")]).remove(0);
    let checkpoint = status["checkpoint"].as_u64().unwrap();
    assert!((4..whole as u64).contains(&checkpoint), "{status}");
    good(&["train", "resume", &runs.path("killed")]);
    same("killed");

    // Ctrl-C once: the step in flight is the last one that is written, as a line and as a checkpoint.
    let mut child = begin("once", 4);
    let rest = until(&mut child, 5);
    signal(&child, "-INT");
    rest.for_each(drop);
    let (code, errors) = ended(child);
    assert_eq!(code, Some(1), "{errors}");
    assert!(errors.contains("ending after this step") && errors.contains("train resume"), "{errors}");
    assert!(!errors.contains("dropping"), "{errors}");
    let status = good(&["train", "status", &runs.path("once")]).remove(0);
    let last = runs.metrics("once").len();
    assert!((5..whole).contains(&last) && status["checkpoint"] == json!(last), "{status}");
    good(&["train", "resume", &runs.path("once")]);
    same("once");

    // Twice, while a teacher plays who would play for minutes: at once, and that episodes were cancelled is no fault.
    let mut child = begin("twice", 512);
    until_said(&mut child, "the teacher plays 16 tasks");
    signal(&child, "-INT");
    until_said(&mut child, "ending after this step");
    signal(&child, "-INT");
    let (code, errors) = ended(child);
    assert_eq!(code, Some(1), "{errors}");
    assert!(errors.contains("dropping this step") && errors.contains("train resume"), "{errors}");
    assert!(!errors.contains("void") && !errors.contains("error"), "{errors}");
    assert!(!runs.file("twice", "metrics.jsonl").exists(), "no step was taken");
    let state = runs.file("twice", "run.json");
    let text = std::fs::read_to_string(&state).unwrap();
    std::fs::write(&state, text.replace("\"teacher_members\": 512", "\"teacher_members\": 4")).unwrap();
    good(&["train", "resume", &runs.path("twice")]);
    same("twice");
}

#[test]
fn a_cold_start_says_which_checkpoint_it_leaves_out_and_goes_on_with_its_own_plugins_alone() {
    let runs = Runs::new();
    runs.cold_start();
    let weights = runs.bytes("sft", "policy.safetensors");
    let newest = runs.metrics("sft").len();
    let torn = runs.file("sft", &format!("checkpoints/step-{newest:012}/weights.safetensors"));
    let bytes = std::fs::read(&torn).unwrap();
    std::fs::write(&torn, &bytes[..bytes.len() - 7]).unwrap();
    let others = plugins_without(&runs, "calc");
    let (code, _, errors) = done(command(&["--plugins", &others, "train", "resume", &runs.path("sft")]));
    assert_eq!(code, Some(2), "{errors}");
    assert!(errors.contains("plugin `calc` has changed") && errors.contains("no such plugin"), "{errors}");
    assert!(!errors.contains("the teacher plays"), "plugins are compared before anything is played: {errors}");
    let (code, _, errors) = done(command(&["train", "resume", &runs.path("sft")]));
    assert_eq!(code, Some(0), "{errors}");
    assert!(errors.contains(&format!("step-{newest:012}")) && errors.contains("left out"), "{errors}");
    assert!(runs.bytes("sft", "policy.safetensors") == weights, "it came to the same");
    // The teacher plays less, and so there are other demonstrations.
    let state = runs.file("sft", "run.json");
    let text = std::fs::read_to_string(&state).unwrap();
    std::fs::write(&state, text.replace("\"teacher_members\": 4", "\"teacher_members\": 3")).unwrap();
    let shown = runs.bytes("sft", "demonstrations.json");
    let (code, _, errors) = done(command(&["train", "resume", &runs.path("sft")]));
    assert_eq!(code, Some(2), "{errors}");
    assert!(runs.bytes("sft", "demonstrations.json") == shown, "what is refused leaves the run as it was");
    assert!(errors.contains("the demonstrations have changed, in their"), "{errors}");
}
