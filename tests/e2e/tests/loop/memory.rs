//! Memory in the loop on real components: the paper's case and its near misses, and what a memory must not change.

use std::sync::Arc;

use loopwright::cli::ReplayArgs;
use loopwright::commands;
use loopwright::exit::Exit;
use loopwright::wire::MachineStopwatch;
use loopwright_contract::action::Action;
use loopwright_contract::digest::MemoryDigest;
use loopwright_contract::episode::EpisodeHost as _;
use loopwright_contract::memory::{COLLECTION, MemorySnapshot, record_of};
use loopwright_contract::name::{CallId, MemoryId};
use loopwright_contract::task::{DocumentEdit, Task};
use loopwright_contract::tool::ToolCall;
use loopwright_contract::verdict::Outcome;
use loopwright_harness::planners::Scripted;
use loopwright_harness::trajectory::read_bytes;
use loopwright_harness::{EpisodeResult, Output, Replayer, RunOptions, run_forked, run_tasks};
use serde_json::{Value, json};

use crate::{harness, host, host_that_drops, lines, run, shared, tasks};

/// The tasks whose world begins with something remembered, or whose gold changes the memory.
fn remembering() -> Vec<Task> {
    let remembers = |task: &Task| {
        task.edits.iter().any(|edit| matches!(edit, DocumentEdit::Put { collection, .. } if collection == COLLECTION))
    };
    tasks().into_iter().filter(remembers).collect()
}

fn family(name: &str) -> Vec<Task> {
    let found: Vec<Task> = tasks().into_iter().filter(|task| task.family == name).collect();
    assert!(found.len() >= 2, "{name}: {} tasks", found.len());
    found
}

/// What comes of other decisions than a task's gold.
fn instead(task: &Task, decisions: Vec<Vec<Action>>) -> EpisodeResult {
    let planner = Scripted::default().with_decisions(task, decisions);
    run(host(), &planner, std::slice::from_ref(task), 1, Output::Nowhere).pop().expect("a result")
}

fn call(id: &str, tool: &str, arguments: Value) -> Action {
    let call = ToolCall { id: CallId::new(id).expect("an id"), tool: tool.parse().expect("a name"), arguments };
    Action::Call(call)
}

fn finish() -> Vec<Action> {
    vec![Action::Finish { answer: "done".to_owned(), data: None }]
}

/// The record that a task's memory begins with and whose text has a part.
fn recorded(task: &Task, part: &str) -> MemoryId {
    let found = task.edits.iter().find_map(|edit| match edit {
        DocumentEdit::Put { collection, key, value }
            if collection == COLLECTION && value.to_string().contains(part) =>
        {
            Some(key.clone())
        }
        _ => None,
    });
    MemoryId::new(found.unwrap_or_else(|| panic!("{}: nothing remembered has `{part}`", task.id))).expect("an id")
}

#[test]
fn there_are_twenty_tasks_and_more_in_each_language() {
    for lang in ["en", "zh"] {
        let count = remembering().iter().filter(|task| task.lang.as_str() == lang).count();
        assert!(count >= 21, "{count} tasks in {lang}");
    }
}

/// A stored trip lists two cities and one is watched already: only the other is added.
#[test]
fn only_the_city_that_is_not_watched_is_added() {
    for task in family("trip-watch") {
        let gold = Scripted::new(std::slice::from_ref(&task));
        let passed = run(host(), &gold, std::slice::from_ref(&task), 1, Output::Memory).pop().expect("a result");
        assert_eq!(passed.outcome, Outcome::Pass, "{}", task.id);
        let lines = passed.lines.expect("lines");
        assert!(lines.iter().any(|line| line.contains("\"nothingAboveThreshold\":false")), "the trip was found");
        let covered = task.edits.iter().find_map(|edit| match edit {
            DocumentEdit::Put { collection, value, .. } if collection == "flight_watches" => Some(value.clone()),
            _ => None,
        });
        let covered = covered.expect("a monitor");
        let add = |id: &str, to: &Value| {
            call(id, "manage_flight_watch", json!({"action": "add", "route": {"from": covered["from"], "to": to}}))
        };
        let missing = task.gold.iter().flatten().find_map(|action| match action {
            Action::Call(call) => call.arguments.pointer("/route/to").cloned(),
            _ => None,
        });
        let missing = missing.expect("a city");
        let remove = json!({"action": "remove", "route": {"from": covered["from"], "to": covered["to"]}});
        for (what, calls) in [
            ("both cities", vec![add("c1", &missing), add("c2", &covered["to"])]),
            ("the covered city alone", vec![add("c1", &covered["to"])]),
            ("a third city", vec![add("c1", &missing), add("c2", &json!("Paris"))]),
            (
                "the missing one in the place of the other",
                vec![add("c1", &missing), call("c2", "manage_flight_watch", remove)],
            ),
        ] {
            let result = instead(&task, vec![calls, finish()]);
            assert_eq!(result.outcome, Outcome::Fail, "{}: {what}", task.id);
        }
        let alone = instead(&task, vec![vec![add("c1", &missing)], finish()]);
        assert_eq!(alone.outcome, Outcome::Pass, "{}: the missing city, without looking", task.id);
    }
}

#[test]
fn near_misses_on_the_memory_fail() {
    for task in family("forget-code") {
        let removed = task.gold.iter().flatten().find_map(|action| match action {
            Action::Forget { memory, .. } => Some(memory.clone()),
            _ => None,
        });
        let removed = removed.expect("a removal");
        let other = task.edits.iter().find_map(|edit| match edit {
            DocumentEdit::Put { key, .. } if removed != *key.as_str() => MemoryId::new(key).ok(),
            _ => None,
        });
        let mut both = task.clone();
        let other = other.expect("another record");
        // The user of this task agrees to one removal only; one who agrees to more than was asked must not make it right.
        let consent = both.user.consents[0].clone();
        both.user.consents.push(loopwright_contract::task::Consent {
            arguments: Some(json!({"memoryId": other.as_str()})),
            ..consent
        });
        let remove = |memory: &MemoryId, id: &str| {
            let forget = |id: &str| vec![Action::Forget { memory: memory.clone(), call: CallId::new(id).ok() }];
            let ask = vec![Action::Ask { question: "Forget it?".to_owned(), pending: CallId::new(id).ok() }];
            [forget(id), ask, forget(&format!("{id}-again"))]
        };
        let decisions = [remove(&removed, "a").to_vec(), remove(&other, "b").to_vec(), vec![finish()]].concat();
        assert_eq!(instead(&both, decisions).outcome, Outcome::Fail, "{}: more than was asked", task.id);
        let unasked = Action::Forget { memory: removed.clone(), call: CallId::new("a").ok() };
        assert_eq!(instead(&task, vec![vec![unasked], finish()]).outcome, Outcome::Fail, "{}: unasked", task.id);
    }
    for task in family("changed-code") {
        let content = task.gold.iter().flatten().find_map(|action| match action {
            Action::Replace { content, .. } => Some(content.clone()),
            _ => None,
        });
        let content = content.expect("a replacement");
        let add = Action::Remember {
            content: content.clone(),
            category: None,
            title: None,
            tags: Vec::new(),
            valid_until: None,
        };
        assert_eq!(instead(&task, vec![vec![add], finish()]).outcome, Outcome::Fail, "{}: beside the old one", task.id);
        let other = recorded(&task, "important_info");
        let wrong = task.edits.iter().find_map(|edit| match edit {
            DocumentEdit::Put { key, .. } if other != *key.as_str() => MemoryId::new(key).ok(),
            _ => None,
        });
        let wrong = Action::Replace { memory: wrong.expect("another record"), content };
        assert_eq!(instead(&task, vec![vec![wrong], finish()]).outcome, Outcome::Fail, "{}: the other one", task.id);
    }
}

#[test]
fn what_has_expired_contradicts_itself_or_has_not_come_up_is_not_acted_on() {
    for task in family("expired-space").into_iter().filter(|task| task.category == "missing_information") {
        let note = task.gold.iter().flatten().find_map(|action| match action {
            Action::Call(call) => Some(call.clone()),
            _ => None,
        });
        let mut note = note.expect("a note");
        let held = task.edits.iter().find_map(|edit| match edit {
            DocumentEdit::Put { value, .. } if value.get("valid_until").is_some() => {
                value["content"].as_str().map(str::to_owned)
            }
            _ => None,
        });
        let held = held.expect("what has expired");
        let expired: String = held.chars().skip_while(|character| *character != 'P').collect();
        let expired = expired.split_whitespace().last().expect("a space").to_owned();
        note.arguments["content"] = json!(expired);
        let result = instead(&task, vec![vec![Action::Call(note)], finish()]);
        assert_eq!(result.outcome, Outcome::Fail, "{}: the expired space", task.id);
    }
    for task in family("contested-number").into_iter().filter(|task| task.category == "missing_information") {
        let unasked: Vec<Vec<Action>> =
            task.gold.iter().filter(|turn| !matches!(turn.first(), Some(Action::Ask { .. }))).cloned().collect();
        assert_eq!(instead(&task, unasked).outcome, Outcome::Fail, "{}: without asking", task.id);
    }
    for task in family("due-meanwhile") {
        let early: Vec<Vec<Action>> = vec![task.gold[0].clone(), finish()];
        assert_eq!(instead(&task, early).outcome, Outcome::Fail, "{}: before the reminder", task.id);
    }
}

#[test]
fn a_memory_replays_to_the_byte_with_and_without_instances() {
    let folder = tempfile::tempdir().expect("a folder");
    let tasks = remembering();
    let planner = Scripted::new(&tasks);
    let results = run(host(), &planner, &tasks, 2, Output::Folder(folder.path().to_owned()));
    assert!(results.iter().all(|result| result.outcome == Outcome::Pass));
    for drop_instances in [false, true] {
        let args = ReplayArgs { dir: folder.path().to_owned(), jobs: 2, drop_instances };
        assert_eq!(commands::replay::replay(&shared(), &args).expect("a replay"), Exit::Good);
    }
    let kept = lines(&run(host(), &planner, &tasks, 2, Output::Memory));
    assert!(kept == lines(&run(host_that_drops(), &planner, &tasks, 2, Output::Memory)), "instances left a trace");
}

#[test]
fn a_fork_goes_on_with_a_memory_of_its_own() {
    let harness = harness(host());
    for task in family("forget-code").iter().chain(&family("changed-code")).chain(&family("due-meanwhile")) {
        let planner = Scripted::new(std::slice::from_ref(task));
        let (original, fork) =
            run_forked(&harness, &planner, task, 7, 1).unwrap_or_else(|error| panic!("{}: {error}", task.id));
        assert_eq!(original, fork, "{}", task.id);
    }
}

#[test]
fn a_users_memory_lies_over_the_world_and_the_header_says_so() {
    let record = |key: &str, layer: &str, content: &str| {
        let document = json!({"id": key, "layer": layer, "content": content, "source": "user",
            "created": "2026-02-01T08:00:00", "updated": "2026-02-01T08:00:00"});
        record_of(key, document).expect("a record")
    };
    let records =
        vec![record("u0a1b2c3d", "profile", "Likes quiet mornings"), record("u4e5f6a7b", "long_term", "Has a dog")];
    let snapshot = Arc::new(MemorySnapshot { digest: MemoryDigest::of(b"a store"), records, left_out: 5 });
    let tasks: Vec<Task> = family("keep-code").into_iter().chain(family("trip-watch")).collect();
    let folder = tempfile::tempdir().expect("a folder");
    let mut options = RunOptions::new(MachineStopwatch::start());
    options.output = Output::Folder(folder.path().to_owned());
    let with = harness(host()).with_snapshot(snapshot);
    let results = run_tasks(&with, &Scripted::new(&tasks), &tasks, &options, &|_| {});
    let replayer = Replayer::new(Arc::new(host()), Vec::new());
    let worlds = loopwright_harness::trajectory::WorldStore::beside(folder.path());
    for result in &results {
        assert_eq!(result.outcome, Outcome::Pass, "{}", result.task);
        let bytes = std::fs::read(result.path.as_ref().expect("a path")).expect("a file");
        let stored = read_bytes(&bytes).expect("a trajectory");
        let memory = stored.trajectory.header.memory.clone().expect("it had a memory");
        assert_eq!(memory.snapshot.map(|laid_in| (laid_in.loaded, laid_in.left_out)), Some((2, 5)));
        let initial = worlds.get(stored.trajectory.header.initial).expect("the world");
        assert!(initial.text.contains("Has a dog"));
        // No store is needed for this.
        let report = replayer.replay(&stored, &worlds).expect("it runs");
        assert_eq!((report.difference, report.notes), (None, Vec::new()), "{}", result.task);
    }
}

#[test]
fn no_plugin_may_touch_the_memory() {
    for plugin in host().plugins() {
        let grant = serde_json::to_value(&plugin.grant).expect("JSON").to_string();
        assert!(!grant.contains("\"memory\""), "{}: {grant}", plugin.name);
    }
}
