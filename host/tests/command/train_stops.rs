//! Runs that are stopped from outside and go on: what was written stays whole, and what comes of them is what would have come without a stop.

use std::process::Stdio;

use crate::train::{Runs, command, done, signal, until};

#[test]
fn a_run_that_is_under_way_is_left_alone_by_a_second_one() {
    let runs = Runs::new();
    runs.cold_start();
    for (name, mut begun) in [("rl", runs.improve("rl")), ("fit", runs.teach("fit", 2))] {
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
