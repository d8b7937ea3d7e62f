//! The rollout path on real components: groups of the ablation task, their noise, their record, and that nothing of them stays.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use loopwright::cli::ReplayArgs;
use loopwright::commands;
use loopwright::exit::Exit;
use loopwright::wire::{self, Engine, MachineStopwatch, Worlds};
use loopwright_contract::action::Proposed;
use loopwright_contract::planner::{Decision, DecisionRequest, Planner, PlannerFault, PolicyVersion};
use loopwright_contract::task::{Split, Task};
use loopwright_contract::trajectory::Record;
use loopwright_contract::verdict::Outcome;
use loopwright_engine::PluginHost;
use loopwright_harness::groups::{Group, Members, run_groups};
use loopwright_harness::planners::{Idle, Tabular, ablation as tables};
use loopwright_harness::{Harness, Noise, Output, Progress, RunOptions, Settings};
use loopwright_packs::ablation::{self, Kind};

use crate::shared;

fn host(engine: Engine) -> PluginHost {
    wire::host(&shared(), engine, Worlds::of(&ablation::worlds())).expect("installed plugins: run `cargo xtask guests`")
}

fn harness(host: &PluginHost) -> Harness {
    let settings = Settings { memory: false, ..Settings::default() };
    Harness::new(Arc::new(host.clone()), settings, Vec::new()).expect("a harness")
}

fn tasks(instances: u32) -> Vec<Task> {
    ablation::builtin(20_261_130, instances, Split::Test).expect("a pack").tasks().to_vec()
}

fn options() -> RunOptions {
    RunOptions {
        batch: 128,
        seed: 3,
        noise: Noise::Member,
        record: Record::Digest,
        ..RunOptions::new(MachineStopwatch::start())
    }
}

fn run(host: &PluginHost, planner: &dyn Planner, tasks: &[Task], members: u32, options: &RunOptions) -> Vec<Group> {
    run_groups(&harness(host), planner, tasks, Members::new(members).expect("members"), options, &|_| {})
        .expect("groups")
}

fn best() -> Tabular {
    tables::best(&[&Kind::Fragile.request()])
}

/// Mean tokens and share of successes.
fn outcome(groups: &[Group]) -> (f64, f64) {
    let members: Vec<_> = groups.iter().flat_map(|group| &group.members).collect();
    let count = members.len() as f64;
    let tokens: u64 = members.iter().map(|member| member.result.usage.tokens_out).sum();
    let passed = members.iter().filter(|member| member.score.is_some_and(|score| score.success)).count();
    assert!(members.iter().all(|member| member.score.is_some()), "some are void");
    (tokens as f64 / count, passed as f64 / count)
}

#[test]
fn the_best_way_comes_to_what_the_chances_say_and_doing_nothing_scores_nothing() {
    let host = host(Engine::default());
    let groups = run(&host, &best(), &tasks(32), 8, &options());
    let (tokens, success) = outcome(&groups);
    let expected = ablation::optimum();
    // 512 episodes: a calls' mean has a standard error of 0.06 (fragile writes), a success of 0.4 points.
    assert!((tokens - expected.tokens).abs() < 0.3, "{tokens}, expected {}", expected.tokens);
    assert!((success - expected.success).abs() < 0.02, "{success}, expected {}", expected.success);
    let idle = run(&host, &Idle, &tasks(1), 2, &options());
    let scores: Vec<_> = idle.iter().flat_map(|group| &group.members).filter_map(|member| member.score).collect();
    assert!(scores.len() == 4 && scores.iter().all(|score| !score.success && score.progress == 0.0), "{scores:?}");
}

#[test]
fn the_teacher_is_verbose_and_errs_in_the_real_world_too() {
    let host = host(Engine::default());
    let (tokens, success) = outcome(&run(&host, &tables::teacher(), &tasks(32), 8, &options()));
    // 512 episodes: a standard error of 0.2 tokens and of 1.1 points.
    assert!((tokens - 18.95).abs() < 1.0 && (success - 0.939).abs() < 0.05, "{tokens} {success}");
}

#[test]
fn members_meet_the_group_s_noise_or_their_own() {
    let host = host(Engine::default());
    // Always verified until it took: the calls tell what the noise was.
    let calls = |noise: Noise| -> Vec<Vec<u64>> {
        let fragile: Vec<Task> = tasks(4).into_iter().filter(|task| task.family == "fragile").collect();
        let options = RunOptions { noise, ..options() };
        let groups = run(&host, &best(), &fragile, 16, &options);
        groups.iter().map(|group| group.members.iter().map(|member| member.result.usage.tokens_out).collect()).collect()
    };
    for noise in [Noise::Task, Noise::Group] {
        assert!(calls(noise).iter().all(|group| group.iter().all(|calls| *calls == group[0])), "{noise:?}");
    }
    assert!(calls(Noise::Member).iter().any(|group| group.iter().any(|calls| *calls != group[0])));
    assert_eq!(calls(Noise::Member), calls(Noise::Member));
}

#[test]
fn records_of_members_replay_to_the_byte_and_dropped_instances_change_none() {
    let folder = tempfile::tempdir().expect("a folder");
    let host_that_keeps = host(Engine::default());
    let options = RunOptions { output: Output::Folder(folder.path().to_owned()), ..options() };
    run(&host_that_keeps, &tables::teacher(), &tasks(2), 3, &options);
    for drop_instances in [false, true] {
        let args = ReplayArgs { dir: folder.path().to_owned(), jobs: 2, drop_instances };
        assert_eq!(commands::replay::replay(&shared(), &args).expect("a replay"), Exit::Good);
    }
    let lines = |host: &PluginHost, jobs: usize| -> Vec<_> {
        let options = RunOptions { output: Output::Memory, jobs, ..self::options() };
        let groups = run(host, &tables::teacher(), &tasks(2), 3, &options);
        groups.into_iter().flat_map(|group| group.members).map(|member| member.result.lines).collect()
    };
    assert!(lines(&host_that_keeps, 1) == lines(&host(Engine { drop_instances: true }), 2));
}

/// Acts like the teacher, and panics when it was asked so often.
struct Panicking(Tabular, AtomicUsize);

impl Planner for Panicking {
    fn version(&self) -> PolicyVersion {
        self.0.version()
    }

    fn decide_batch(&self, requests: &[DecisionRequest<'_>]) -> Vec<Result<Decision, PlannerFault>> {
        assert!(self.1.fetch_add(1, Ordering::Relaxed) < 5, "the planner breaks here");
        self.0.decide_batch(requests)
    }
}

#[test]
fn no_instance_outlives_a_run_a_cancel_or_a_panic() {
    let host = host(Engine::default());
    let live = || host.engines().pool_use().expect("a pool").component_instances;
    let before = live();
    run(&host, &tables::teacher(), &tasks(2), 4, &options());
    assert_eq!(live(), before, "after a run");

    let options = options();
    let most = AtomicUsize::new(0);
    let watched = |progress: Progress<'_>| {
        if let Progress::Turn { turns: 3, .. } = progress {
            most.fetch_max(usize::try_from(live() - before).expect("a count"), Ordering::Relaxed);
            options.cancel.store(true, Ordering::Relaxed);
        }
    };
    let members = Members::new(4).expect("four");
    let groups =
        run_groups(&harness(&host), &tables::teacher(), &tasks(2), members, &options, &watched).expect("groups");
    assert!(groups.iter().flat_map(|group| &group.members).all(|member| member.score.is_none()), "cancelled is void");
    assert!(most.into_inner() >= 16, "an environment and a tool for each of 16 episodes would have been live");
    assert_eq!(live(), before, "after a cancel");

    for jobs in [1, 2] {
        let planner = Panicking(tables::teacher(), AtomicUsize::new(0));
        let options = RunOptions { jobs, batch: 4, ..self::options() };
        let ended = catch_unwind(AssertUnwindSafe(|| run(&host, &planner, &tasks(8), 4, &options)));
        assert!(ended.is_err(), "a panic is not swallowed");
        assert_eq!(live(), before, "after a panic of the planner, {jobs} jobs");
    }
}

/// Whatever a policy calls, with whatever arguments, is an outcome of its own.
#[test]
fn nothing_that_a_policy_can_do_makes_an_episode_void() {
    struct Wild;
    impl Planner for Wild {
        fn version(&self) -> PolicyVersion {
            Idle.version()
        }

        fn decide_batch(&self, requests: &[DecisionRequest<'_>]) -> Vec<Result<Decision, PlannerFault>> {
            let call = |name: &str, arguments: String| Proposed::Call { id: None, name: name.to_owned(), arguments };
            let names = ["set_setting", "next_setting", "launch_rocket", "manage_wifi", "verify_setting"];
            let decide = |request: &DecisionRequest<'_>| {
                let turn = request.context.turn as usize;
                let arguments =
                    ["{}".to_owned(), "{".to_owned(), format!("{{\"x\":{}}}", "[".repeat(40)), "x".repeat(300_000)];
                let proposed =
                    (0..20).map(|at| call(names[(turn + at) % 5], arguments[(turn * at) % 4].clone())).collect();
                Ok(Decision { proposed, ..Decision::default() })
            };
            requests.iter().map(decide).collect()
        }
    }
    let groups = run(&host(Engine::default()), &Wild, &tasks(1), 2, &options());
    for member in groups.iter().flat_map(|group| &group.members) {
        assert!(matches!(member.result.outcome, Outcome::Invalid(_)), "{:?}", member.result.outcome);
        assert!(member.score.is_some_and(|score| !score.success));
    }
}
