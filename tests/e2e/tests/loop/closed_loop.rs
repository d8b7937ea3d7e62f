//! The built-in pack under the planners that need no model, and what must not change the bytes.

use std::sync::Arc;

use loopwright::cli::{ReplayArgs, VerifyArgs};
use loopwright::commands;
use loopwright::exit::Exit;
use loopwright_contract::verdict::Outcome;
use loopwright_harness::planners::{Idle, Random, Scripted};
use loopwright_harness::{Output, Tally, run_forked};

use crate::{harness, host, host_that_drops, lines, run, shared, tasks};

#[test]
fn gold_passes_everywhere_and_idleness_nowhere() {
    let tasks = tasks();
    let scripted = run(host(), &Scripted::new(&tasks), &tasks, 2, Output::Nowhere);
    let failed: Vec<String> = scripted
        .iter()
        .filter(|result| result.outcome != Outcome::Pass)
        .map(|result| format!("{} {:?}", result.task, result.outcome))
        .collect();
    assert!(failed.is_empty(), "{} of {} golds do not pass: {failed:#?}", failed.len(), tasks.len());
    let idle = Tally::of(&run(host(), &Idle, &tasks, 2, Output::Nowhere));
    assert_eq!((idle.pass, idle.void), (0, 0), "{idle:?}");
}

#[test]
fn the_number_of_jobs_and_dropped_instances_change_no_byte() {
    let tasks = tasks();
    let gold = lines(&run(host(), &Scripted::new(&tasks), &tasks, 1, Output::Memory));
    assert!(gold.iter().all(|lines| lines.len() > 2));
    assert!(
        gold == lines(&run(host(), &Scripted::new(&tasks), &tasks, 2, Output::Memory)),
        "two jobs changed a trajectory"
    );
    assert!(
        gold == lines(&run(host_that_drops(), &Scripted::new(&tasks), &tasks, 2, Output::Memory)),
        "dropping instances changed a trajectory"
    );
    let random = lines(&run(host(), &Random, &tasks, 1, Output::Memory));
    assert!(
        random == lines(&run(host_that_drops(), &Random, &tasks, 2, Output::Memory)),
        "a random planner's trajectories changed"
    );
}

#[test]
fn stored_trajectories_replay_to_the_byte_and_are_judged_again_without_their_pack() {
    let folder = tempfile::tempdir().expect("a folder");
    let tasks: Vec<_> = tasks().into_iter().step_by(4).collect();
    for (name, results) in [
        ("gold", run(host(), &Scripted::new(&tasks), &tasks, 2, Output::Folder(folder.path().join("gold")))),
        ("random", run(host(), &Random, &tasks, 2, Output::Folder(folder.path().join("random")))),
    ] {
        assert_eq!(Tally::of(&results).void, 0, "{name}");
    }
    for drop_instances in [false, true] {
        let args = ReplayArgs { dir: folder.path().to_owned(), jobs: 2, drop_instances };
        assert_eq!(
            commands::replay::replay(&shared(), &args).expect("a replay"),
            Exit::Good,
            "instances dropped: {drop_instances}"
        );
    }
    let args = VerifyArgs { dir: folder.path().to_owned(), verifier: None, jobs: 2 };
    assert_eq!(commands::verify::verify(&shared(), &args).expect("verdicts"), Exit::Good);
}

#[test]
fn a_changed_byte_is_found() {
    let folder = tempfile::tempdir().expect("a folder");
    let tasks: Vec<_> = tasks().into_iter().take(1).collect();
    let results = run(host(), &Scripted::new(&tasks), &tasks, 1, Output::Folder(folder.path().to_owned()));
    let path = results.first().and_then(|result| result.path.clone()).expect("a file");
    let text = std::fs::read_to_string(&path).expect("plain JSON lines");
    std::fs::write(&path, text.replacen("\"turn\":0", "\"turn\":1", 1)).expect("written");
    let args = ReplayArgs { dir: folder.path().to_owned(), jobs: 1, drop_instances: false };
    assert_eq!(commands::replay::replay(&shared(), &args).expect("a report"), Exit::Differs);
}

#[test]
fn a_fork_in_the_middle_goes_on_as_the_original() {
    let tasks: Vec<_> = tasks().into_iter().filter(|task| task.gold.len() >= 3).step_by(3).collect();
    assert!(tasks.len() >= 10, "{} tasks have three turns or more", tasks.len());
    let harness = Arc::new(harness(host()));
    for task in &tasks {
        let planner = Scripted::new(std::slice::from_ref(task));
        let (original, fork) =
            run_forked(&harness, &planner, task, 7, 1).unwrap_or_else(|error| panic!("{}: {error}", task.id));
        assert!(original.len() > 2, "{}", task.id);
        assert_eq!(original, fork, "{}", task.id);
    }
}
