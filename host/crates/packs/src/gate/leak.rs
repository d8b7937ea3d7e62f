//! What the agent sees must not give the gold away beyond what the user said.

use loopwright_contract::action::Action;
use loopwright_contract::json::canonical;
use loopwright_contract::task::Task;
use loopwright_contract::tool::ToolCall;
use loopwright_contract::trajectory::{Kept, Trajectory};
use serde_json::Value;

/// Parts of an id that label a record for the author of a task.
const LABELS: [&str; 8] = ["gold", "golden", "groundtruth", "neighbor", "neighbour", "distractor", "decoy", "solution"];

/// What gives the gold of a task away, as a sentence; nothing when nothing does. `trajectory` is the gold's.
#[must_use]
pub fn leaks(task: &Task, trajectory: &Trajectory) -> Option<String> {
    let mut shown: Vec<(String, String)> = vec![("the request".to_owned(), task.request.clone())];
    shown.extend(trajectory.header.observation.notices.iter().map(|notice| ("a notice".to_owned(), canonical(notice))));
    let calls: Vec<&ToolCall> = task
        .gold
        .iter()
        .flatten()
        .filter_map(|action| if let Action::Call(call) = action { Some(call) } else { None })
        .collect();
    let said = shown.iter().find_map(|(place, text)| {
        let what = gives_calls(text, &calls).or_else(|| gives_family(text, task))?;
        Some(format!("{place} {what}"))
    });
    shown.extend(results(trajectory));
    said.or_else(|| {
        shown.iter().find_map(|(place, text)| gives_label(text, task).map(|what| format!("{place} {what}")))
    })
    .or_else(|| unsaid_answer(task, trajectory))
}

fn results(trajectory: &Trajectory) -> Vec<(String, String)> {
    let mut shown = Vec::new();
    for turn in &trajectory.turns {
        if let Some(Kept::Full(result)) = &turn.result {
            for feedback in &result.feedback {
                shown.push((
                    format!("the result of call `{}`", feedback.call_id),
                    canonical(&feedback.reply.envelope()),
                ));
            }
        }
    }
    shown
}

/// A tool's name or whole arguments: people ask for things, not for calls.
fn gives_calls(text: &str, calls: &[&ToolCall]) -> Option<String> {
    calls.iter().find_map(|call| {
        if call.tool.as_str().contains('_') && text.contains(call.tool.as_str()) {
            return Some(format!("names the tool `{}`", call.tool));
        }
        let arguments = canonical(&call.arguments);
        (arguments.len() > 2 && text.contains(&arguments)).then(|| format!("holds the arguments of `{}`", call.tool))
    })
}

/// The task's family. Results are not searched for it: a tool may say `auto-rotate` by itself.
fn gives_family(text: &str, task: &Task) -> Option<String> {
    let named = task.family.contains(['-', '_']) && text.contains(&task.family);
    named.then(|| format!("holds the task's family `{}`", task.family))
}

/// The task's id, or an id with a label in it.
fn gives_label(text: &str, task: &Task) -> Option<String> {
    if text.contains(task.id.as_str()) && task.id.as_str().len() > 4 {
        return Some(format!("holds the task's id `{}`", task.id));
    }
    let word = |character: char| character.is_ascii_alphanumeric() || matches!(character, '-' | '_');
    let labelled = |token: &str| {
        token.contains(['-', '_'])
            && token.split(['-', '_']).any(|part| LABELS.contains(&part.to_ascii_lowercase().as_str()))
    };
    text.split(|character| !word(character))
        .find(|token| labelled(token))
        .map(|token| format!("holds the labelled id `{token}`"))
}

/// An answer that a notice tells before anything was asked.
fn unsaid_answer(task: &Task, trajectory: &Trajectory) -> Option<String> {
    let rows = task.checks.iter().filter_map(|check| check.check.get("rows")).filter_map(Value::as_array).flatten();
    let parts: Vec<&str> = rows
        .filter_map(|row| row.get("answer_contains"))
        .filter_map(Value::as_array)
        .flatten()
        .filter_map(Value::as_str)
        .collect();
    let notices: Vec<String> = trajectory.header.observation.notices.iter().map(canonical).collect();
    let told = |part: &&str| notices.iter().any(|notice| notice.contains(*part));
    (!parts.is_empty() && parts.iter().all(told)).then(|| format!("the notices hold the whole answer {parts:?}"))
}
