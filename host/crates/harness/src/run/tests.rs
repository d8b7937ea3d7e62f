use std::sync::Mutex;
use std::sync::atomic::Ordering;

use loopwright_contract::verdict::Outcome;
use loopwright_testkit::host::FakeHost;
use loopwright_testkit::planner::FakePlanner;
use loopwright_testkit::task::{mixed_tasks, torch_task};
use proptest::prelude::*;

use super::*;
use crate::planners::{Random, Scripted};
use crate::result::Tally;
use crate::settings::Settings;
use crate::testing::{harness, harness_on, options, options_in, word};

proptest! {
    #![proptest_config(ProptestConfig::with_cases(16))]
    #[test]
    fn results_do_not_depend_on_jobs_or_batch(jobs in 1..5_usize, batch in 1..9_usize, seed: u64) {
        let tasks = mixed_tasks(9);
        let harness = harness(Settings::default());
        let one = run_tasks(&harness, &Random, &tasks, &RunOptions { batch: 1, seed, ..options() }, &|_| {});
        let many = run_tasks(&harness, &Random, &tasks, &RunOptions { jobs, batch, seed, ..options() }, &|_| {});
        prop_assert_eq!(one, many);
    }
}

#[test]
fn files_do_not_depend_on_jobs() {
    let tasks = mixed_tasks(8);
    let harness = harness(Settings::default());
    let content = |jobs: usize, batch: usize| {
        let folder = tempfile::tempdir().expect("a folder");
        run_tasks(
            &harness,
            &Scripted::new(&tasks),
            &tasks,
            &RunOptions { jobs, batch, ..options_in(folder.path()) },
            &|_| {},
        );
        let mut paths: Vec<_> = [folder.path().to_owned(), folder.path().join("worlds")]
            .iter()
            .flat_map(|folder| fs::read_dir(folder).expect("a folder").filter_map(Result::ok))
            .map(|entry| entry.path())
            .filter(|path| path.is_file())
            .map(|path| {
                (path.strip_prefix(folder.path()).expect("inside").to_owned(), fs::read(&path).expect("a file"))
            })
            .collect();
        paths.sort();
        paths
    };
    let one = content(1, 1);
    assert_eq!(one.len(), 8 + 5);
    assert!(one == content(2, 3), "two jobs wrote other bytes");
}

#[test]
fn a_fault_is_that_episode_s_alone() {
    let tasks = mixed_tasks(6);
    let scripted = Scripted::new(&tasks);
    let planner = FakePlanner::new("partly", move |context, seed| {
        if context.task == "fake-2" {
            return Err(PlannerFault::Failed("gone".to_owned()));
        }
        scripted.decide_batch(&[DecisionRequest { context, seed }]).pop().expect("one")
    });
    let results = run_tasks(&harness(Settings::default()), &planner, &tasks, &options(), &|_| {});
    assert_eq!(
        results.iter().map(|result| word(&result.outcome)).collect::<Vec<_>>(),
        ["pass", "pass", "void", "pass", "pass", "pass"]
    );
    let tally = Tally::of(&results);
    assert_eq!((tally.tasks, tally.pass, tally.fail, tally.invalid, tally.void), (6, 5, 0, 0, 1));
}

#[test]
fn a_task_that_stands_twice_is_run_with_two_seeds() {
    let tasks = [torch_task("t"), torch_task("t"), torch_task("t")];
    let results = run_tasks(&harness(Settings::default()), &Random, &tasks, &options(), &|_| {});
    let episodes: Vec<&str> = results.iter().map(|result| result.episode.as_str()).collect();
    assert_eq!(episodes, ["t:s0", "t:s0:r1", "t:s0:r2"]);
    let seeds: std::collections::BTreeSet<u64> = singles(&tasks, 0, Noise::Task).iter().map(|item| item.seed).collect();
    assert_eq!(seeds.len(), 3);
    let longest = torch_task(&"x".repeat(128));
    assert_eq!(singles(&vec![longest; 3], u64::MAX, Noise::Task).len(), 3);
}

#[test]
fn progress_is_told_and_a_cancelled_run_drops_nothing() {
    let tasks = mixed_tasks(7);
    let harness = harness(Settings::default());
    let options = RunOptions { batch: 2, ..options() };
    let told = Mutex::new(Vec::new());
    let results = run_tasks(&harness, &Scripted::new(&tasks), &tasks, &options, &|progress| {
        if let Progress::Done { done, total, .. } = progress {
            told.lock().expect("no panic before").push((done, total));
            if done == 2 {
                options.cancel.store(true, Ordering::Relaxed);
            }
        }
    });
    assert_eq!(results.len(), 7);
    assert!(told.lock().expect("no panic before").starts_with(&[(1, 7), (2, 7)]));
    let void: Vec<&str> = results
        .iter()
        .filter_map(|result| if let Outcome::Void(reason) = &result.outcome { Some(reason.as_str()) } else { None })
        .collect();
    assert!(
        void.contains(&"the run was cancelled before it began")
            && void.iter().all(|reason| reason.starts_with("the run was cancelled")),
        "{void:?}"
    );
    assert_eq!(Tally::of(&results).tasks, 7);
}

#[test]
fn a_fork_in_the_middle_goes_on_alike() {
    let tasks = mixed_tasks(4);
    let harness = harness_on(FakeHost::new(), Settings::default());
    for task in &tasks {
        for fork_at in 0..5 {
            let (first, second) = run_forked(&harness, &Random, task, 5, fork_at).expect("runs");
            assert!(!first.is_empty() && first == second, "{} forked at {fork_at}", task.id);
        }
    }
}
