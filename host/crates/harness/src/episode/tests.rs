use std::sync::Arc;
use std::time::Duration;

use loopwright_contract::action::{Action, Proposed};
use loopwright_contract::context::{Context, Event};
use loopwright_contract::limits::EpisodeBudget;
use loopwright_contract::name::{CallId, SkillName};
use loopwright_contract::planner::{Planner, PlannerFault, Usage};
use loopwright_contract::task::{Check, Task};
use loopwright_contract::verdict::{Ending, Outcome};
use loopwright_testkit::host::{FakeHost, Faults, SKILL, TRAPPING};
use loopwright_testkit::planner::{FakePlanner, ShortPlanner, action, raw};
use loopwright_testkit::stopwatch::CountingStopwatch;
use loopwright_testkit::task::{ask_task, call, mixed_tasks, torch_task, wipe_task};
use proptest::prelude::*;
use serde_json::json;

use crate::planners::{Idle, Scripted};
use crate::run::{RunOptions, run_tasks};
use crate::settings::{Offer, Prefixes, Settings};
use crate::testing::{Watching, harness, harness_on, options, run_one, word};

fn last_context(planner: FakePlanner, task: &Task) -> Context {
    let watching = Watching::new(planner);
    run_one(&harness(Settings::default()), &watching, task);
    watching.into_seen().pop().expect("a decision")
}

fn events(context: &Context) -> Vec<String> {
    context.history.iter().map(|event| serde_json::to_value(event).expect("JSON").to_string()).collect()
}

#[test]
fn gold_passes_and_idleness_fails_on_every_kind_of_task() {
    let tasks = mixed_tasks(4);
    let scripted = Scripted::new(&tasks);
    for task in &tasks {
        let passed = run_one(&harness(Settings::default()), &scripted, task);
        assert_eq!((passed.outcome, passed.ending), (Outcome::Pass, Ending::Terminated), "{}", task.request);
        let idle = run_one(&harness(Settings::default()), &Idle, task);
        assert_eq!((idle.outcome, idle.turns, idle.steps), (Outcome::Fail, 1, 1), "{}", task.request);
    }
}

/// A harness, a planner, a task, the outcome's word and a part of its reason.
type Row<'a> = (crate::Harness, Box<dyn Planner>, &'a Task, &'a str, &'a str);

#[test]
fn the_four_outcomes() {
    let task = torch_task("t");
    let trapped = Task {
        checks: vec![Check {
            verifier: loopwright_contract::name::PluginName::new(TRAPPING).expect("a name"),
            check: json!({}),
        }],
        ..task.clone()
    };
    let unchecked = Task { checks: Vec::new(), ..task.clone() };
    let settings = Settings::default();
    let on = |faults: Faults| harness_on(FakeHost::with_faults(faults), settings);
    let works = || on(Faults::default());
    let failed = || PlannerFault::Failed("no answer".to_owned());
    let scripted =
        || -> Box<dyn Planner> { Box::new(Scripted::new(&[torch_task("t"), trapped.clone(), unchecked.clone()])) };
    let rows: Vec<Row<'_>> = vec![
        (works(), scripted(), &task, "pass", ""),
        (works(), Box::new(Idle), &task, "fail", ""),
        (
            works(),
            Box::new(FakePlanner::playing(vec![vec![action(Action::Refuse { reason: "no".to_owned() })]])),
            &task,
            "fail",
            "",
        ),
        (works(), Box::new(FakePlanner::prose()), &task, "invalid", "step budget of 15 spent"),
        (works(), Box::new(FakePlanner::same_call_forever()), &task, "invalid", "step budget of 15 spent"),
        (
            works(),
            Box::new(FakePlanner::spending(Usage { tokens_in: 90_000, ..Usage::default() })),
            &task,
            "invalid",
            "token budget of 200000 spent",
        ),
        (
            works(),
            Box::new(FakePlanner::spending(Usage { cost_micros: 600_000, ..Usage::default() })),
            &task,
            "invalid",
            "cost budget of 1000000 millionths spent",
        ),
        (
            works(),
            Box::new(FakePlanner::faulty(1, PlannerFault::ContextTooLong { found: 9, limit: 4 })),
            &task,
            "invalid",
            "context of 9 tokens, the model takes 4",
        ),
        (works(), Box::new(FakePlanner::faulty(1, failed())), &task, "void", "planner failed: no answer"),
        (works(), Box::new(ShortPlanner), &task, "void", "it answered 0 of 1 requests"),
        (works(), scripted(), &trapped, "void", "plugin `fake-trap` failed: trapped: unreachable"),
        (works(), scripted(), &unchecked, "void", "the task has no checks"),
        (on(Faults { step_at: Some(0), ..Faults::default() }), scripted(), &task, "void", "plugin `fake-phone` failed"),
        (on(Faults { prepare: true, ..Faults::default() }), scripted(), &task, "void", "is not installed"),
        (on(Faults { reset: true, ..Faults::default() }), scripted(), &task, "void", "trapped: unreachable"),
    ];
    for (harness, planner, task, expected, reason) in rows {
        let result = run_one(&harness, planner.as_ref(), task);
        assert_eq!(word(&result.outcome), expected, "{} gave {:?}", planner.version().name, result.outcome);
        match &result.outcome {
            Outcome::Invalid(found) | Outcome::Void(found) => {
                assert!(found.contains(reason), "`{found}` does not say `{reason}`")
            }
            Outcome::Pass | Outcome::Fail => assert_eq!(result.ending, Ending::Terminated),
        }
        assert_eq!(result.verdicts.is_empty(), expected == "void", "{}", planner.version().name);
    }
}

#[test]
fn wall_time_makes_an_episode_void_and_never_invalid() {
    let mut task = torch_task("t");
    task.budget.wall = Duration::from_millis(35);
    let options = RunOptions { stopwatch: Arc::new(CountingStopwatch::new(10)), ..options() };
    let results = run_tasks(&harness(Settings::default()), &FakePlanner::prose(), &[task], &options, &|_| {});
    let outcomes: Vec<&Outcome> = results.iter().map(|result| &result.outcome).collect();
    assert_eq!(outcomes, [&Outcome::Void("wall time of 35 ms passed".to_owned())]);
}

#[test]
fn a_planner_that_repeats_itself_is_told_to_stop_guessing() {
    for planner in [
        FakePlanner::same_call_forever(),
        FakePlanner::unknown_tool(),
        FakePlanner::prose(),
        FakePlanner::half_json(),
        FakePlanner::silent(),
    ] {
        let events = events(&last_context(planner, &torch_task("t")));
        let told: Vec<usize> = (0..events.len()).filter(|index| events[*index].contains("stop_guessing")).collect();
        // Decided and answered in the first turn; decided, answered and told in the second.
        assert_eq!(told.first(), Some(&4), "{events:?}");
    }
    let events = events(&last_context(
        FakePlanner::forever(vec![raw("manage_note", r#"{"action":"query","key":"milk"}"#)]),
        &torch_task("t"),
    ));
    assert!(!events.iter().any(|event| event.contains("stop_guessing")), "a call that works may be repeated");
}

#[test]
fn exactly_the_pending_call_is_confirmed() {
    let wipe = |id: &str| action(Action::Call(call(id, "wipe_notes", json!({}))));
    let ask = |id: &str| action(Action::Ask { question: "Sure?".to_owned(), pending: CallId::new(id).ok() });
    let plan = vec![vec![wipe("c1")], vec![ask("c7")], vec![ask("c1")], vec![wipe("c2")], vec![ask("c1")]];
    let agreed = events(&last_context(FakePlanner::playing(plan.clone()), &wipe_task("t"))).join("\n");
    for part in [
        "\"code\":403",
        "no call `c7` waits for confirmation; waiting: `c1`",
        "Yes, do it.",
        "all notes removed",
        "no call `c1` waits for confirmation; waiting: none",
    ] {
        assert!(agreed.contains(part), "`{part}` is not in\n{agreed}");
    }
    let mut declining = wipe_task("t");
    declining.user.consents.clear();
    let declined = events(&last_context(FakePlanner::playing(plan), &declining)).join("\n");
    assert!(declined.contains("No, do not do it.") && !declined.contains("all notes removed"), "{declined}");
}

#[test]
fn the_user_tells_what_is_asked_for() {
    let ask = |question: &str| action(Action::Ask { question: question.to_owned(), pending: None });
    let events =
        events(&last_context(FakePlanner::playing(vec![vec![ask("which TITLE?")], vec![ask("why?")]]), &ask_task("t")))
            .join("\n");
    assert!(events.contains("Call it ideas.") && events.contains("I don't know."), "{events}");
}

#[test]
fn a_loaded_skill_offers_tools_guides_and_checks() {
    let load = action(Action::LoadSkill { skill: SkillName::new(SKILL).expect("a name") });
    let note =
        |key: &str| action(Action::Call(call("c", "manage_note", json!({"action": "put", "key": key, "text": "x"}))));
    let broken = action(Action::LoadSkill { skill: SkillName::new("broken-skill").expect("a name") });
    let planner = FakePlanner::playing(vec![
        vec![broken],
        vec![note("secret")],
        vec![load],
        vec![note("secret"), note("draft"), note("trap")],
    ]);
    let context = last_context(planner, &torch_task("t"));
    let events = events(&context);
    let expected = [
        "skill `broken-skill` cannot be loaded: plugin `broken-skill` failed: trapped: unreachable",
        "note written",
        "skill `note-keeper` is loaded",
        r#""blocked":true,"event":"advised","skill":"note-keeper","text":"notes named `secret` are not touched""#,
        r#""blocked":false,"event":"advised","skill":"note-keeper","text":"drafts are removed at night""#,
        "not run: skill `note-keeper` blocks it",
    ];
    for part in expected {
        assert!(events.iter().any(|event| event.contains(part)), "`{part}` is not in\n{}", events.join("\n"));
    }
    // Written before the skill was loaded, the draft, and the one whose check failed.
    assert_eq!(events.iter().filter(|event| event.contains("note written")).count(), 3);
    assert_eq!(
        context.skills.iter().map(|skill| skill.guidance.as_str()).collect::<Vec<_>>(),
        ["note-keeper (en): set_torch, manage_note, wipe_notes"]
    );
    assert_eq!(context.space.skills.len(), 1);
}

#[test]
fn guidance_is_rendered_anew_when_the_offered_tools_change_and_only_then() {
    let host = FakeHost::with_faults(Faults { late_wipe: true, ..Faults::default() });
    let load = action(Action::LoadSkill { skill: SkillName::new(SKILL).expect("a name") });
    let torch = || vec![raw("set_torch", r#"{"on":true}"#)];
    let watching = Watching::new(FakePlanner::playing(vec![vec![load], torch(), torch()]));
    run_one(&harness_on(host, Settings::default()), &watching, &torch_task("t"));
    let guidance: Vec<String> =
        watching.into_seen().into_iter().flat_map(|context| context.skills).map(|skill| skill.guidance).collect();
    let (before, after) =
        ("note-keeper (en): set_torch, manage_note", "note-keeper (en): set_torch, manage_note, wipe_notes");
    assert_eq!(guidance, [before, after, after]);
}

#[test]
fn recall_offers_candidates_and_never_the_gold() {
    // More tools than are offered, all alike; the gold tool shares no word with the request.
    let mut tools = loopwright_testkit::tool::installed();
    let template = tools.first().expect("a tool").clone();
    for number in 0..30 {
        let mut tool = template.clone();
        tool.spec.name = call("c", &format!("lamp_{number:02}"), json!({})).tool;
        tool.spec.description[0].text = "Turn on the torch lamp.".to_owned();
        tools.push(tool);
    }
    tools.sort_by(|left, right| left.spec.name.cmp(&right.spec.name));
    let host = FakeHost::new().with_tools(tools);
    let watching = Watching::new(Idle);
    run_one(&harness_on(host.clone(), Settings::default()), &watching, &torch_task("t"));
    let offered: Vec<String> = watching
        .into_seen()
        .pop()
        .expect("a context")
        .space
        .tools
        .iter()
        .map(|spec| spec.name.as_str().to_owned())
        .collect();
    // Of the lamps the environment exposes none; the list is filled up to what it does expose.
    assert_eq!(offered, ["set_torch", "manage_note", "wipe_notes"]);
    let everything = Settings { offer: Offer::Exposed, ..Settings::default() };
    let watching = Watching::new(Idle);
    run_one(&harness_on(host, everything), &watching, &torch_task("t"));
    let offered: Vec<String> = watching
        .into_seen()
        .pop()
        .expect("a context")
        .space
        .tools
        .iter()
        .map(|spec| spec.name.as_str().to_owned())
        .collect();
    assert_eq!(offered, ["manage_note", "set_torch", "wipe_notes"]);
}

#[test]
fn all_prefixes_are_judged_on_request() {
    let settings = Settings { prefixes: Prefixes::All, ..Settings::default() };
    let task = wipe_task("t");
    let judged = |settings: Settings| -> Vec<(u32, bool)> {
        let result = run_one(&harness(settings), &Scripted::new(std::slice::from_ref(&task)), &task);
        result.verdicts.iter().map(|judged| (judged.upto, judged.verdict.passed())).collect()
    };
    assert_eq!(judged(settings), [(1, false), (2, false), (3, true), (4, true)]);
    assert_eq!(judged(Settings::default()), [(4, true)]);
}

#[test]
fn coercions_and_malformed_proposals_are_counted() {
    let plan = vec![vec![raw("set_torch", r#"{"on":"true","level":"2"}"#), raw("set_torch", "{")]];
    let counts = |settings: Settings| {
        let result = run_one(&harness(settings), &FakePlanner::playing(plan.clone()), &torch_task("t"));
        (result.coercions, result.malformed)
    };
    assert_eq!(counts(Settings::default()), (2, 1));
    assert_eq!(counts(Settings { strict: true, ..Settings::default() }), (0, 2));
}

#[test]
fn the_history_only_grows() {
    let tasks = mixed_tasks(4);
    for task in &tasks {
        let watching = Watching::new(Scripted::new(&tasks));
        run_one(&harness(Settings::default()), &watching, task);
        let seen = watching.into_seen();
        for pair in seen.windows(2) {
            assert!(pair[1].history.starts_with(&pair[0].history) && pair[1].turn == pair[0].turn + 1);
            assert_eq!(
                (&pair[1].rules, &pair[1].request, &pair[1].now),
                (&pair[0].rules, &pair[0].request, &pair[0].now)
            );
        }
    }
}

fn any_proposal() -> impl Strategy<Value = Proposed> {
    let named = |name: &'static str, arguments: &'static str| Just(raw(name, arguments));
    prop_oneof![
        named("set_torch", r#"{"on":true}"#),
        named("set_torch", r#"{"on":"false"}"#),
        named("manage_note", r#"{"action":"delete","key":"milk"}"#),
        named("manage_note", r#"{"action":"query","key":"none"}"#),
        named("wipe_notes", "{}"),
        named("ask_user", r#"{"question":"title?","pending_call":"call-0-0"}"#),
        named("skill__note_keeper", ""),
        named("search_user_memory", r#"{"query":"milk"}"#),
        named("add_user_memory", r#"{"content":"milk"}"#),
        named("finish", r#"{"answer":"x"}"#),
        named("launch_rocket", "{}"),
        Just(Proposed::Unreadable { reason: "prose".to_owned() }),
    ]
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn budgets_always_hold(
        plan in proptest::collection::vec(proptest::collection::vec(any_proposal(), 0..4), 0..12),
        steps in 0..6_u32, tokens in 0..100_u64, cost in 0..100_u64, each in 0..40_u64,
    ) {
        let mut task = wipe_task("t");
        task.budget = EpisodeBudget { steps, tokens, cost_micros: cost, ..EpisodeBudget::default() };
        let plan = Arc::new(plan);
        let planner = FakePlanner::new("any", move |context, _| {
            prop_assert_context(context, steps);
            let proposed = plan.get(context.turn as usize).cloned().unwrap_or_default();
            Ok(loopwright_contract::planner::Decision { proposed, usage: Usage { tokens_out: each, cost_micros: each, ..Usage::default() }, ..Default::default() })
        });
        let result = run_one(&harness(Settings::default()), &planner, &task);
        prop_assert!(result.turns <= steps);
        // At most the decision that overdraws goes beyond a budget, and it is not run.
        prop_assert!(result.usage.tokens_out <= tokens + each && result.usage.cost_micros <= cost + each);
        let over = result.usage.tokens_out > tokens || result.usage.cost_micros > cost;
        prop_assert!(!over || matches!(result.outcome, Outcome::Invalid(_)), "{:?}", result.outcome);
        prop_assert!(!matches!(result.outcome, Outcome::Void(_)), "{:?}", result.outcome);
        prop_assert_eq!(matches!(result.outcome, Outcome::Invalid(_)), result.ending == Ending::Truncated);
    }
}

fn prop_assert_context(context: &Context, steps: u32) {
    assert!(context.turn < steps && context.remaining.steps == steps - context.turn);
    assert!(
        context.history.iter().filter(|event| matches!(event, Event::Decided { .. })).count() == context.turn as usize
    );
}
