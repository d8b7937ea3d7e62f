use std::collections::BTreeSet;
use std::sync::atomic::{AtomicUsize, Ordering};

use loopwright_contract::action::Action;
use loopwright_contract::limits::EpisodeBudget;
use loopwright_contract::name::PluginName;
use loopwright_contract::planner::PlannerFault;
use loopwright_contract::task::Check;
use loopwright_contract::trajectory::Record;
use loopwright_testkit::host::{FakeHost, Faults, TRAPPING};
use loopwright_testkit::planner::{FakePlanner, action, raw};
use loopwright_testkit::task::{call, mixed_tasks, torch_task};
use proptest::prelude::*;
use serde_json::json;

use super::*;
use crate::planners::{Idle, Random, Scripted};
use crate::run::{Item, Noise};
use crate::settings::Settings;
use crate::testing::{Watching, harness, harness_on, options};

fn two() -> Members {
    Members::new(2).expect("two")
}

/// One group of two with a planner, on a host.
fn group_on(host: FakeHost, planner: &dyn Planner, task: &Task) -> Group {
    let harness = harness_on(host, Settings::default());
    let groups = run_groups(&harness, planner, std::slice::from_ref(task), two(), &options(), &|_| {});
    groups.expect("one group").pop().expect("one group")
}

#[test]
fn members_come_in_their_order_and_are_asked_for_in_it() {
    let tasks = mixed_tasks(3);
    let watching = Watching::new(Scripted::new(&tasks));
    let options = RunOptions { batch: 6, ..options() };
    let groups =
        run_groups(&harness(Settings::default()), &watching, &tasks, two(), &options, &|_| {}).expect("groups");
    let ids: Vec<Vec<&str>> = groups
        .iter()
        .map(|group| group.members.iter().map(|member| member.result.episode.as_str()).collect())
        .collect();
    assert_eq!(
        ids,
        [["fake-0:s0:0.0", "fake-0:s0:0.1"], ["fake-1:s0:0.0", "fake-1:s0:0.1"], ["fake-2:s0:0.0", "fake-2:s0:0.1"]]
    );
    assert_eq!(groups.iter().map(|group| group.id.index()).collect::<Vec<_>>(), [0, 1, 2]);
    let asked: Vec<String> = watching.into_seen().iter().take(6).map(|context| context.episode.to_string()).collect();
    assert_eq!(asked, ids.concat(), "the first batch holds every member, in the order (group, member)");
    let all = groups.iter().flat_map(|group| &group.members);
    assert!(all.into_iter().all(|member| member.score == Some(Score { success: true, progress: 1.0 })));
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(12))]
    #[test]
    fn groups_do_not_depend_on_jobs_or_batch(jobs in 1..4_usize, batch in 1..9_usize, members in 2..4_u32, seed: u64) {
        let mut tasks = mixed_tasks(3);
        tasks.push(torch_task("fake-0"));
        let harness = harness(Settings::default());
        let run = |jobs, batch| {
            let options = RunOptions { jobs, batch, seed, record: Record::Digest, noise: Noise::Member, ..options() };
            run_groups(&harness, &Random, &tasks, Members::new(members).expect("members"), &options, &|_| {})
        };
        prop_assert_eq!(run(1, 1), run(jobs, batch));
    }
}

#[test]
fn the_world_s_noise_is_the_task_s_the_group_s_or_the_member_s() {
    let opened = |noise: Noise, seed: u64| {
        let host = FakeHost::new();
        let tasks = [torch_task("a"), torch_task("b"), torch_task("a")];
        let options = RunOptions { noise, seed, batch: 8, ..options() };
        let harness = harness_on(host.clone(), Settings::default());
        let groups = run_groups(&harness, &Idle, &tasks, two(), &options, &|_| {}).expect("groups");
        let seeds = host.opened.lock().expect("no panic before").clone();
        let headers: Vec<_> = groups
            .iter()
            .flat_map(|group| &group.members)
            .map(|member| member.result.lines.as_ref().expect("lines").first().expect("a header").clone())
            .collect();
        assert_eq!(headers.len(), 6);
        for (header, seed) in headers.iter().zip(&seeds) {
            assert!(header.contains(&format!("\"world_seed\":\"{seed}\"")), "the header names the seed");
        }
        (seeds, headers)
    };
    let (none, headers) = opened(Noise::Task, 1);
    assert!(none.is_empty() && headers.iter().all(|header| !header.contains("world_seed")));
    let (group, _) = opened(Noise::Group, 1);
    let pairs: Vec<&[u64]> = group.chunks(2).collect();
    assert!(pairs.iter().all(|pair| pair[0] == pair[1]));
    assert_eq!(group.iter().collect::<BTreeSet<_>>().len(), 3, "two groups of one task differ");
    let (member, _) = opened(Noise::Member, 1);
    assert_eq!(member.iter().collect::<BTreeSet<_>>().len(), 6);
    assert_eq!(member, opened(Noise::Member, 1).0);
    assert_ne!(member, opened(Noise::Member, 2).0);
}

#[test]
fn sampling_seeds_differ_whatever_the_noise() {
    for noise in [Noise::Task, Noise::Group, Noise::Member] {
        let tasks = [torch_task("a"), torch_task("a"), torch_task("a")];
        let items: Vec<u64> = grouped(&tasks[..2], 3, 5, noise).iter().map(Item::seed).collect();
        assert_eq!(items.iter().collect::<BTreeSet<_>>().len(), 6, "{noise:?}");
        // A third group of the same task changes nothing for the first two.
        let more = grouped(&tasks, 3, 5, noise);
        assert!(more.iter().map(Item::seed).take(6).eq(items), "{noise:?}");
    }
}

#[test]
fn a_group_is_made_ready_once() {
    // The fake host fails to prepare; all members say so, each in its place.
    let group = group_on(FakeHost::with_faults(Faults { prepare: true, ..Faults::default() }), &Idle, &torch_task("t"));
    assert_eq!(group.members.len(), 2);
    assert!(group.members.iter().all(|member| member.score.is_none()));
    let items = [torch_task("a"), torch_task("b")];
    let items = grouped(&items, 3, 0, Noise::Member);
    assert!(items[0].shares_start(&items[2]) && !items[2].shares_start(&items[3]));
}

/// What happens, on which host, by which planner, on which task, and what it counts as.
type Case = (&'static str, FakeHost, Box<dyn Planner>, Task, Option<Score>);

/// What the agent can cause counts; what it cannot is void.
#[test]
fn case_by_case_whose_doing_it_was() {
    let task = torch_task("t");
    let with_check = |verifier: &str, check: serde_json::Value| Task {
        checks: vec![Check { verifier: PluginName::new(verifier).expect("a name"), check }],
        ..task.clone()
    };
    let short = Task { budget: EpisodeBudget { steps: 2, ..task.budget }, ..task.clone() };
    let unwise = Usage { tokens_out: 300_000, ..Usage::default() };
    let fails = || PlannerFault::Failed("no answer".to_owned());
    let too_long = || PlannerFault::ContextTooLong { found: 9, limit: 4 };
    let scripted = || -> Box<dyn Planner> {
        let lights = action(Action::Call(call("c1", "set_torch", json!({"on": true}))));
        Box::new(FakePlanner::playing(vec![vec![lights]]))
    };
    let on = |faults: Faults| FakeHost::with_faults(faults);
    let works = || on(Faults::default());
    let zero = |progress: f64| Some(Score { success: false, progress });
    let rows: Vec<Case> = vec![
        ("it succeeds", works(), scripted(), task.clone(), Some(Score { success: true, progress: 1.0 })),
        ("it does nothing", works(), Box::new(Idle), task.clone(), zero(0.0)),
        ("its step budget", works(), Box::new(FakePlanner::prose()), short, zero(0.0)),
        ("its token budget", works(), Box::new(FakePlanner::spending(unwise)), task.clone(), zero(0.0)),
        ("a context too long", works(), Box::new(FakePlanner::faulty(0, too_long())), task.clone(), zero(0.0)),
        (
            "malformed arguments",
            works(),
            Box::new(FakePlanner::playing(vec![vec![raw("set_torch", "{")]])),
            task.clone(),
            zero(0.0),
        ),
        (
            "the environment traps in its turn",
            on(Faults { step_at: Some(0), ..Faults::default() }),
            scripted(),
            task.clone(),
            zero(0.0),
        ),
        ("the verifier traps on its evidence", works(), scripted(), with_check(TRAPPING, json!({})), zero(0.0)),
        ("a task without checks", works(), scripted(), Task { checks: Vec::new(), ..task.clone() }, None),
        (
            "the environment traps at reset",
            on(Faults { reset: true, ..Faults::default() }),
            scripted(),
            task.clone(),
            None,
        ),
        (
            "a world that cannot be made",
            on(Faults { prepare: true, ..Faults::default() }),
            scripted(),
            task.clone(),
            None,
        ),
        ("the planner fails", works(), Box::new(FakePlanner::faulty(1, fails())), task.clone(), None),
        (
            "the planner answers too few",
            works(),
            Box::new(loopwright_testkit::planner::ShortPlanner),
            task.clone(),
            None,
        ),
    ];
    for (what, host, planner, task, expected) in rows {
        let group = group_on(host, planner.as_ref(), &task);
        for member in &group.members {
            assert_eq!(member.score, expected, "{what}: {:?}", member.result.outcome);
            let void = matches!(member.result.outcome, Outcome::Void(_));
            assert_eq!(void, member.result.void_cause.is_some(), "{what}");
        }
    }
}

#[test]
fn one_void_member_keeps_its_place_and_leaves_the_others_alone() {
    let task = torch_task("t");
    let asked = AtomicUsize::new(0);
    let planner = FakePlanner::new("second-fails", move |_, _| match asked.fetch_add(1, Ordering::Relaxed) {
        1 => Err(PlannerFault::Failed("gone".to_owned())),
        _ => Ok(loopwright_contract::planner::Decision {
            proposed: vec![action(loopwright_testkit::task::finish("done"))],
            ..Default::default()
        }),
    });
    let harness = harness(Settings::default());
    let options = RunOptions { batch: 4, ..options() };
    let groups = run_groups(&harness, &planner, &[task], Members::new(4).expect("four"), &options, &|_| {});
    let groups = groups.expect("a group");
    let void: Vec<bool> = groups[0].members.iter().map(|member| member.score.is_none()).collect();
    assert_eq!(void, [false, true, false, false]);
}

#[test]
fn wall_time_and_a_cancelled_run_are_void() {
    let mut task = torch_task("t");
    task.budget.wall = std::time::Duration::ZERO;
    let options = RunOptions {
        stopwatch: std::sync::Arc::new(loopwright_testkit::stopwatch::CountingStopwatch::new(10)),
        ..options()
    };
    let cancelled = RunOptions::new(std::sync::Arc::clone(&options.stopwatch));
    cancelled.cancel.store(true, Ordering::Relaxed);
    for options in [options, cancelled] {
        let harness = harness(Settings::default());
        let groups =
            run_groups(&harness, &Idle, std::slice::from_ref(&task), two(), &options, &|_| {}).expect("a group");
        assert!(groups[0].members.iter().all(|member| member.score.is_none()), "{:?}", groups[0].members);
    }
}

#[test]
fn sizes_that_make_no_sense_are_refused() {
    for members in [0, 1, MEMBERS_MAX + 1] {
        assert_eq!(Members::new(members), Err(GroupError::Members(members)));
    }
    assert_eq!(Members::new(MEMBERS_MAX).map(Members::get), Ok(MEMBERS_MAX));
    let many = vec![torch_task("t"); GROUPS_MAX + 1];
    let refused = run_groups(&harness(Settings::default()), &Idle, &many, two(), &options(), &|_| {});
    assert_eq!(refused.err(), Some(GroupError::Groups(GROUPS_MAX + 1)));
    // The longest names still are names.
    let longest = torch_task(&"x".repeat(128));
    assert_eq!(grouped(&vec![longest; 2], MEMBERS_MAX, u64::MAX, Noise::Member).len(), 2 * MEMBERS_MAX as usize);
}

#[test]
fn the_cost_is_of_written_tokens_against_a_fixed_budget() {
    let budget = NonZeroU64::new(48).expect("not zero");
    let of = |tokens_in, tokens_out| cost(&Usage { tokens_in, tokens_out, ..Usage::default() }, budget);
    assert_eq!([of(0, 0), of(9_999, 12), of(0, 48), of(0, u64::MAX)], [0.0, 0.25, 1.0, 1.0]);
}
