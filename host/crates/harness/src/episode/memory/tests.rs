use std::sync::{Arc, Mutex};
use std::time::Duration;

use loopwright_contract::action::{Action, Proposed};
use loopwright_contract::context::{Context, Event};
use loopwright_contract::digest::MemoryDigest;
use loopwright_contract::memory::{
    COLLECTION, Captured, CivilTime, Forget, MemoryChange, MemoryError, MemoryRecord, MemorySnapshot, Remember,
    record_of,
};
use loopwright_contract::name::{CallId, EpisodeId, MemoryId, ToolName};
use loopwright_contract::planner::{Decision, Planner};
use loopwright_contract::task::{Consent, DocumentEdit, Task};
use loopwright_contract::trajectory::{Record, VerifiedTrajectory};
use loopwright_contract::verdict::Outcome;
use loopwright_testkit::host::FakeHost;
use loopwright_testkit::planner::{FakePlanner, action, raw};
use loopwright_testkit::task::{call, finish, state_check, torch_task};
use proptest::prelude::*;
use serde_json::{Value, json};

use super::*;
use crate::episode::Plan;
use crate::harness::Harness;
use crate::memory::{Committed, EpisodeMemory, commit};
use crate::planners::{Idle, Scripted};
use crate::result::EpisodeResult;
use crate::run::{RunOptions, run_tasks};
use crate::settings::Settings;
use crate::testing::{Watching, harness, harness_on, options, run_one};
use crate::trajectory::{Journal, read_bytes};

fn document(key: &str, layer: &str, content: &str, more: Value) -> Value {
    let mut document = json!({"id": key, "layer": layer, "content": content, "source": "user",
        "created": "2025-12-01T08:00:00", "updated": "2025-12-01T08:00:00"});
    document.as_object_mut().expect("an object").extend(more.as_object().expect("an object").clone());
    document
}

fn with(mut task: Task, documents: Vec<Value>) -> Task {
    task.edits.extend(documents.into_iter().map(|value| DocumentEdit::Put {
        collection: COLLECTION.to_owned(),
        key: value["id"].as_str().expect("an id").to_owned(),
        value,
    }));
    task
}

fn record(key: &str, content: &str) -> MemoryRecord {
    record_of(key, document(key, "long_term", content, json!({}))).expect("a record")
}

fn events(context: &Context) -> String {
    context
        .history
        .iter()
        .map(|event| serde_json::to_value(event).expect("JSON").to_string())
        .collect::<Vec<_>>()
        .join("\n")
}

fn agrees_to(mut task: Task, memory: &str) -> Task {
    let tool = ToolName::new("remove_user_memory").expect("a name");
    task.user.consents.push(Consent { tool, arguments: Some(json!({"memoryId": memory})) });
    task
}

fn forget(memory: &str) -> Proposed {
    Proposed::Call {
        id: Some("f1".to_owned()),
        name: "remove_user_memory".to_owned(),
        arguments: json!({"memoryId": memory}).to_string(),
    }
}

fn ask() -> Proposed {
    raw("ask_user", r#"{"question":"Sure?","pending_call":"f1"}"#)
}

/// A torch that is on, and what an episode did to its memory.
fn outcome(result: &EpisodeResult) -> Vec<(&str, bool, bool)> {
    result.memory.iter().map(|change| (change.id.as_str(), change.before.is_some(), change.after.is_some())).collect()
}

#[test]
fn memory_is_served_searched_added_to_replaced_and_forgotten() {
    let documents = vec![
        document("m-1", "profile", "likes the torch bright", json!({})),
        document("m-2", "long_term", "sleeps at nine", json!({"category": "routines_habits"})),
        document("m-3", "long_term", "the code is 77", json!({"valid_until": "2025-12-31T23:59:59"})),
    ];
    let task = agrees_to(with(torch_task("t"), documents), "memory-0001");
    let plan = vec![
        vec![raw("add_user_memory", r#"{"content":"reads at ten","memoryCategory":"routines_habits"}"#)],
        vec![raw("search_memory", r#"{"query":"when does she sleep or read the code"}"#)],
        vec![raw("replace_user_memory", r#"{"memoryId":"m-2","content":"sleeps at eleven"}"#)],
        vec![forget("memory-0001")],
        vec![ask()],
        vec![forget("memory-0001")],
        vec![raw("search_user_memory", r#"{"query":"sleep read code"}"#)],
    ];
    let watching = Watching::new(FakePlanner::playing(plan));
    let result = run_one(&harness(Settings::default()), &watching, &task);
    assert_eq!(outcome(&result), [("memory-0002", false, true), ("m-2", true, true)]);
    let context = watching.into_seen().pop().expect("a context");
    assert_eq!(context.memory.iter().map(|item| item.id.as_str()).collect::<Vec<_>>(), ["m-1"]);
    let events = events(&context);
    for part in [
        r#""memoryId":"memory-0001""#,
        r#""content":"reads at ten","#,
        r#""replaced":"m-2""#,
        r#""code":423"#,
        r#""text":"Yes, do it.""#,
        r#""message":"forgotten""#,
    ] {
        assert!(events.contains(part), "no `{part}` in\n{events}");
    }
    assert!(!events.contains("the code is 77"), "what has expired was found:\n{events}");
    let last = context.history.iter().rev().find_map(|event| match event {
        Event::Answered { envelope, .. } => envelope.pointer("/data/items/0/content").cloned(),
        _ => None,
    });
    assert_eq!(last, Some(json!("sleeps at eleven")));
}

#[test]
fn a_removal_that_the_user_does_not_want_leaves_everything() {
    let task = with(torch_task("t"), vec![document("m-1", "long_term", "x", json!({}))]);
    let planner = FakePlanner::playing(vec![vec![forget("m-1")], vec![ask()], vec![forget("m-1")]]);
    assert_eq!(outcome(&run_one(&harness(Settings::default()), &planner, &task)), []);
    // Another record than the one that was agreed to.
    let other = agrees_to(with(task, vec![document("m-2", "long_term", "y", json!({}))]), "m-1");
    let planner = FakePlanner::playing(vec![vec![forget("m-1")], vec![ask()], vec![forget("m-2")]]);
    assert_eq!(outcome(&run_one(&harness(Settings::default()), &planner, &other)), []);
}

#[test]
fn gold_on_the_memory_reaches_its_target_and_the_state_is_checked() {
    let memory = |id: &str| MemoryId::new(id).expect("an id");
    let remove = |id: &str| Action::Forget { memory: memory("m-1"), call: CallId::new(id).ok() };
    let mut task = agrees_to(
        with(
            torch_task("t"),
            vec![document("m-1", "long_term", "x", json!({})), document("m-2", "long_term", "y", json!({}))],
        ),
        "m-1",
    );
    task.gold = vec![
        vec![remove("c1")],
        vec![Action::Ask { question: "Forget x?".to_owned(), pending: CallId::new("c1").ok() }],
        vec![remove("c2")],
        vec![finish("forgotten")],
    ];
    task.checks = vec![state_check(json!({
        "memory/m-1": null, "memory/m-2": document("m-2", "long_term", "y", json!({})),
    }))];
    let result = run_one(&harness(Settings::default()), &Scripted::new(std::slice::from_ref(&task)), &task);
    assert_eq!(result.outcome, Outcome::Pass);
    assert_eq!(run_one(&harness(Settings::default()), &Idle, &task).outcome, Outcome::Fail);
    let prepared = harness(Settings::default()).prepare(&task).expect("a world");
    assert!(!prepared.target().expect("a target").text.contains("m-1"));
}

#[test]
fn what_becomes_due_is_shown_once_and_never_to_nobody() {
    let documents = vec![
        document("m-1", "prospective", "call Ann", json!({"due": "2026-01-01T00:00:00"})),
        document("m-2", "prospective", "call Bob", json!({"due": "2026-01-01T00:00:02"})),
        document("m-3", "prospective", "call Cid", json!({"due": "2026-01-01T00:00:04"})),
        document(
            "m-4",
            "prospective",
            "call Dan",
            json!({"due": "2025-12-01T00:00:00", "valid_until": "2025-12-02T00:00:00"}),
        ),
    ];
    let task = with(torch_task("t"), documents);
    let read = || vec![raw("manage_note", r#"{"action":"query","key":"milk"}"#)];
    let watching = Watching::new(FakePlanner::playing(vec![read(), read(), read()]));
    let result = run_one(&harness(Settings::default()), &watching, &task);
    let shown: Vec<usize> = watching
        .into_seen()
        .iter()
        .map(|context| {
            context
                .history
                .iter()
                .filter(|event| matches!(event, Event::Notice { value } if value["kind"] == "reminder"))
                .count()
        })
        .collect();
    // The episode ends in the fourth turn, after which the third reminder would have been due.
    assert_eq!(shown, [1, 1, 2, 2]);
    assert_eq!(outcome(&result), [("m-1", true, true), ("m-2", true, true)]);
    let silent = Settings { memory: false, ..Settings::default() };
    let watching = Watching::new(Idle);
    assert_eq!(outcome(&run_one(&harness(silent), &watching, &task)), []);
    assert!(watching.into_seen().iter().all(|context| context.memory.is_empty() && context.history.is_empty()));
}

#[test]
fn a_document_that_is_no_record_makes_the_episode_void() {
    let mut task = torch_task("t");
    task.edits.push(DocumentEdit::Put {
        collection: COLLECTION.to_owned(),
        key: "m-1".to_owned(),
        value: json!({"id": "m-1"}),
    });
    let result = run_one(&harness(Settings::default()), &Idle, &task);
    assert!(
        matches!(&result.outcome, Outcome::Void(reason) if reason.contains("`m-1` of the memory is not a record")),
        "{:?}",
        result.outcome
    );
}

/// A store that writes down what it was told.
#[derive(Default)]
struct Book {
    lines: Mutex<Vec<String>>,
    broken: bool,
}

impl Book {
    fn write(&self, line: String) -> Result<(), MemoryError> {
        if self.broken {
            return Err(MemoryError("the disk is full".to_owned()));
        }
        self.lines.lock().expect("no panic before").push(line);
        Ok(())
    }

    fn lines(&self) -> Vec<String> {
        self.lines.lock().expect("no panic before").clone()
    }
}

impl Remember for Book {
    fn change(&self, change: &MemoryChange) -> Result<(), MemoryError> {
        self.write(format!("change {}", change.id))
    }

    fn capture(&self, captured: &Captured) -> Result<(), MemoryError> {
        let done: Vec<&str> = captured.done.iter().map(|call| call.tool.as_str()).collect();
        self.write(format!("capture `{}`: {} -> {}", captured.request, done.join(" "), captured.answer))
    }
}

impl Forget for Book {
    fn forget(&self, id: &MemoryId, at: &CivilTime) -> Result<(), MemoryError> {
        self.write(format!("forget {id} at {at}"))
    }
}

fn snapshot(records: Vec<MemoryRecord>) -> Arc<MemorySnapshot> {
    Arc::new(MemorySnapshot { digest: MemoryDigest::of(b"store"), records, left_out: 0 })
}

fn forgetful(book: &Arc<Book>, tasks: &[Task], memory: &str) -> Vec<EpisodeResult> {
    let planner =
        FakePlanner::playing(vec![vec![forget(memory)], vec![ask()], vec![forget(memory)], vec![forget(memory)]]);
    let harness = harness(Settings::default()).with_snapshot(snapshot(vec![record("m-1", "x"), record("m-2", "y")]));
    let forget: Option<Arc<dyn Forget>> = Some(Arc::clone(book) as Arc<dyn Forget>);
    run_tasks(&harness, &planner, tasks, &RunOptions { forget, ..options() }, &|_| {})
}

#[test]
fn a_users_word_to_forget_acts_at_once_and_once_and_for_no_group() {
    let book = Arc::new(Book::default());
    let task = agrees_to(torch_task("t"), "m-1");
    forgetful(&book, std::slice::from_ref(&task), "m-1");
    assert_eq!(book.lines(), ["forget m-1 at 2026-01-01T00:00:02"]);
    // Not agreed to.
    forgetful(&book, std::slice::from_ref(&task), "m-2");
    // Members of a group, which are several tries of one task.
    forgetful(&book, &[task.clone(), task.clone()], "m-1");
    assert_eq!(book.lines().len(), 1);
    // What only the task brought is none of the store's.
    let own = agrees_to(with(torch_task("t"), vec![document("own-1", "long_term", "z", json!({}))]), "own-1");
    let results = forgetful(&book, std::slice::from_ref(&own), "own-1");
    assert_eq!((book.lines().len(), outcome(&results[0])), (1, vec![("own-1", true, false)]));
    let broken = Arc::new(Book { broken: true, ..Book::default() });
    let results = forgetful(&broken, std::slice::from_ref(&task), "m-1");
    assert!(
        matches!(&results[0].outcome, Outcome::Void(reason) if reason.contains("forgetting `m-1`") && reason.contains("the disk is full")),
        "{:?}",
        results[0].outcome
    );
}

fn verified(result: &EpisodeResult) -> VerifiedTrajectory {
    let lines = result.lines.as_ref().expect("lines").join("\n") + "\n";
    VerifiedTrajectory::new(read_bytes(lines.as_bytes()).expect("a trajectory").trajectory).expect("it is verified")
}

#[test]
fn only_a_verified_episode_that_passed_leaves_anything() {
    let task = torch_task("t");
    let torch = || action(Action::Call(call("c1", "set_torch", json!({"on": true}))));
    let keep = || vec![raw("add_user_memory", r#"{"content":"likes light"}"#)];
    let harness = harness(Settings::default()).with_snapshot(snapshot(vec![record("m-1", "x")]));
    let passed = run_one(&harness, &FakePlanner::playing(vec![keep(), vec![torch()]]), &task);
    let failed = run_one(&harness, &FakePlanner::playing(vec![keep()]), &task);
    assert_eq!((&passed.outcome, &failed.outcome), (&Outcome::Pass, &Outcome::Fail));
    let book = Book::default();
    assert_eq!(commit(&verified(&failed), &failed.memory, &book), Ok(Committed::default()));
    assert_eq!(book.lines(), Vec::<String>::new());
    assert_eq!(commit(&verified(&passed), &passed.memory, &book), Ok(Committed { changes: 1, captured: true }));
    assert_eq!(book.lines(), ["change memory-0001", "capture `Turn on the torch.`: set_torch -> done"]);
    let broken = Book { broken: true, ..Book::default() };
    assert!(commit(&verified(&passed), &passed.memory, &broken).is_err());
}

/// An episode of a task with two things in its memory.
fn open<'a>(harness: &'a Harness, task: &'a Task) -> LiveEpisode<'a> {
    let plan = Plan {
        id: EpisodeId::new("e").expect("an id"),
        task,
        task_digest: task.digest(),
        policy: Idle.version(),
        seed: 1,
        world_seed: None,
        record: Record::Full,
        memory: EpisodeMemory::new(None),
        memory_use: None,
        forget: None,
        journal: Journal::nowhere(),
        started: Duration::ZERO,
        worlds: None,
        recorded: None,
    };
    let prepared = harness.prepare(task).expect("a world");
    match LiveEpisode::open(harness, prepared.as_ref(), plan) {
        Ok(live) => live,
        Err(unopened) => panic!("{:?}", unopened.conclude(harness).outcome),
    }
}

fn play(episode: &mut LiveEpisode<'_>, proposals: &[Proposed]) {
    for proposed in proposals {
        if episode.due(Duration::ZERO).is_some() {
            episode.advance(Ok(Decision { proposed: vec![proposed.clone()], ..Decision::default() }), Duration::ZERO);
        }
    }
}

fn contents(episode: &LiveEpisode<'_>) -> Vec<String> {
    episode.episode.memory().expect("records").iter().map(|record| record.document().to_string()).collect()
}

/// Writes of one member, each with a text that no other member has.
fn any_writes(member: &'static str) -> impl Strategy<Value = Vec<Proposed>> {
    let one = (0..3_u8, 0..100_u32).prop_map(move |(kind, number)| match kind {
        0 => raw("add_memory", &json!({"content": format!("{member} tea {number}")}).to_string()),
        1 => raw("update_memory", &json!({"memoryId": "m-1", "content": format!("{member} tea {number}")}).to_string()),
        _ => raw("search_memory", r#"{"query":"tea","maxResults":20}"#),
    });
    proptest::collection::vec(one, 1..6)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn members_of_a_group_do_not_see_each_other(before in any_writes("shared"), left in any_writes("left"), right in any_writes("right")) {
        let harness = harness_on(FakeHost::new(), Settings::default());
        let task = with(torch_task("t"), vec![document("m-1", "long_term", "tea at five", json!({})), document("m-2", "long_term", "tea", json!({}))]);
        let mut first = open(&harness, &task);
        play(&mut first, &before);
        let mut second = first.fork().expect("a fork");
        let shared = contents(&first);
        prop_assert_eq!(&shared, &contents(&second));
        // Interleaved, as two members of a group run.
        for turn in 0..left.len().max(right.len()) {
            play(&mut first, left.get(turn..=turn).unwrap_or_default());
            play(&mut second, right.get(turn..=turn).unwrap_or_default());
        }
        let search = [raw("search_memory", r#"{"query":"tea","maxResults":20}"#)];
        play(&mut first, &search);
        play(&mut second, &search);
        for (episode, others) in [(&first, "right tea"), (&second, "left tea")] {
            prop_assert!(contents(episode).iter().all(|text| !text.contains(others)));
            prop_assert!(!events(episode.context()).contains(others));
        }
        // The same writes alone come to the same.
        let mut alone = open(&harness, &task);
        play(&mut alone, &before);
        play(&mut alone, &right);
        play(&mut alone, &search);
        prop_assert_eq!(contents(&alone), contents(&second));
    }
}
