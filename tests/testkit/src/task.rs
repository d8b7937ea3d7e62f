//! Tasks on the fake phone.

use loopwright_contract::action::Action;
use loopwright_contract::limits::EpisodeBudget;
use loopwright_contract::name::{CallId, Lang, PluginName, TaskId, ToolName};
use loopwright_contract::task::{Check, Consent, DocumentEdit, Provenance, Slot, Split, Start, Task, UserScript};
use loopwright_contract::tool::ToolCall;
use serde_json::{Value, json};

use crate::tool::{NOTE, TORCH, WIPE};

/// A call with an id, a tool and arguments.
///
/// # Panics
/// When id or tool is not a name.
#[must_use]
pub fn call(id: &str, tool: &str, arguments: Value) -> ToolCall {
    ToolCall { id: CallId::new(id).expect("a call id"), tool: ToolName::new(tool).expect("a tool name"), arguments }
}

/// The action that finishes with an answer.
#[must_use]
pub fn finish(answer: &str) -> Action {
    Action::Finish { answer: answer.to_owned(), data: None }
}

/// A check of the fake verifier: these documents (`collection/key`) have these values; `null`: they are absent.
#[must_use]
pub fn state_check(rows: Value) -> Check {
    Check { verifier: PluginName::new(crate::host::VERIFIER).expect("a constant name"), check: rows }
}

/// A task with request, gold and checks on the fake phone.
///
/// # Panics
/// When `id` is not a task id.
#[must_use]
pub fn task(id: &str, request: &str, gold: Vec<Vec<Action>>, checks: Vec<Check>) -> Task {
    Task {
        id: TaskId::new(id).expect("a task id"),
        family: "fake".to_owned(),
        category: "single".to_owned(),
        split: Split::Train,
        lang: if request.is_ascii() { Lang::english() } else { Lang::chinese() },
        request: request.to_owned(),
        environment: PluginName::new(crate::host::ENVIRONMENT).expect("a constant name"),
        setup: json!({}),
        start: Start { now_ns: 1_767_225_600_000_000_001, zone: "UTC".to_owned(), seed: u64::MAX },
        world: None,
        edits: vec![DocumentEdit::Put {
            collection: "notes".to_owned(),
            key: "milk".to_owned(),
            value: json!({"text": "buy milk"}),
        }],
        user: UserScript::default(),
        gold,
        checks,
        budget: EpisodeBudget::default(),
        provenance: Provenance::default(),
    }
}

/// "Turn on the torch."
#[must_use]
pub fn torch_task(id: &str) -> Task {
    let gold = vec![vec![Action::Call(call("c1", TORCH, json!({"on": true})))], vec![finish("the torch is on")]];
    task(id, "Turn on the torch.", gold, vec![state_check(json!({"torch/main": {"on": true, "level": 3}}))])
}

/// Two calls in one turn, in Chinese.
#[must_use]
pub fn parallel_task(id: &str) -> Task {
    let gold = vec![
        vec![
            Action::Call(call("c1", TORCH, json!({"on": false}))),
            Action::Call(call("c2", NOTE, json!({"action": "put", "key": "door", "text": "关门"}))),
        ],
        vec![finish("好了")],
    ];
    task(
        id,
        "关掉手电筒，并写一条备忘录“关门”。",
        gold,
        vec![state_check(json!({"torch/main": {"on": false, "level": 3}, "notes/door": {"text": "关门"}}))],
    )
}

/// A destructive call that the user confirms.
#[must_use]
pub fn wipe_task(id: &str) -> Task {
    let wipe = |id: &str| Action::Call(call(id, WIPE, json!({})));
    let ask = Action::Ask {
        question: "Remove all notes for good?".to_owned(),
        pending: Some(CallId::new("c1").expect("a call id")),
    };
    let gold = vec![vec![wipe("c1")], vec![ask], vec![wipe("c2")], vec![finish("all notes are gone")]];
    let mut task = task(id, "Remove all my notes.", gold, vec![state_check(json!({"notes/milk": null}))]);
    task.user
        .consents
        .push(Consent { tool: ToolName::new(WIPE).expect("a constant name"), arguments: Some(json!({})) });
    task
}

/// Something is missing, and the user knows it.
#[must_use]
pub fn ask_task(id: &str) -> Task {
    let gold = vec![
        vec![Action::Ask { question: "What TITLE should it have?".to_owned(), pending: None }],
        vec![Action::Call(call("c1", NOTE, json!({"action": "put", "key": "ideas", "text": "fly"})))],
        vec![finish("written")],
    ];
    let mut task = task(id, "Write down: fly.", gold, vec![state_check(json!({"notes/ideas": {"text": "fly"}}))]);
    task.user.slots.push(Slot {
        name: "title".to_owned(),
        asked_by: vec!["Title".to_owned(), "标题".to_owned()],
        answer: "Call it ideas.".to_owned(),
    });
    task
}

/// One of each, `count` in all, with different ids.
#[must_use]
pub fn mixed_tasks(count: usize) -> Vec<Task> {
    let makers: [fn(&str) -> Task; 4] = [torch_task, parallel_task, wipe_task, ask_task];
    makers.iter().cycle().take(count).enumerate().map(|(index, make)| make(&format!("fake-{index}"))).collect()
}
