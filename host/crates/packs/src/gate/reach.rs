//! Ids that a gold uses must have been told: by the user, by what the phone shows, or by an earlier result.

use loopwright_contract::action::{Action, reserved};
use loopwright_contract::task::Task;
use loopwright_contract::trajectory::{Kept, Trajectory};
use serde_json::Value;

/// The ids in calls and in changes of the memory of an executed gold that nothing told before: each as a sentence. A trajectory that keeps digests only tells nothing.
#[must_use]
pub fn unreachable_ids(task: &Task, trajectory: &Trajectory) -> Vec<String> {
    let mut told = vec![task.request.clone()];
    trajectory.header.observation.notices.iter().for_each(|notice| collect(notice, &mut told));
    let mut unreachable = Vec::new();
    for turn in &trajectory.turns {
        for action in &turn.actions {
            let (name, used) = match action {
                Action::Call(call) => (call.tool.as_str(), ids(&call.arguments)),
                Action::Replace { memory, .. } => (reserved::REPLACE, vec![memory.to_string()]),
                Action::Forget { memory, .. } => (reserved::FORGET, vec![memory.to_string()]),
                _ => continue,
            };
            for id in used {
                if !told.iter().any(|text| text.contains(&id)) {
                    unreachable.push(format!(
                        "`{name}` uses the id `{id}`, which neither the user nor an earlier result told"
                    ));
                }
            }
        }
        turn.answers.iter().for_each(|answer| collect(answer, &mut told));
        if let Some(Kept::Full(result)) = &turn.result {
            for feedback in &result.feedback {
                collect(&feedback.reply.envelope(), &mut told);
                feedback.effects.iter().for_each(|effect| collect(effect, &mut told));
            }
            result.observation.notices.iter().for_each(|notice| collect(notice, &mut told));
        }
    }
    unreachable
}

/// All texts in a value, keys included: a listing may be keyed by id.
fn collect(value: &Value, texts: &mut Vec<String>) {
    match value {
        Value::String(text) => texts.push(text.clone()),
        Value::Number(number) => texts.push(number.to_string()),
        Value::Array(items) => items.iter().for_each(|item| collect(item, texts)),
        Value::Object(map) => {
            for (key, value) in map {
                texts.push(key.clone());
                collect(value, texts);
            }
        }
        Value::Null | Value::Bool(_) => {}
    }
}

/// The ids in arguments, by the names that ids have.
fn ids(arguments: &Value) -> Vec<String> {
    let mut found = Vec::new();
    search(arguments, false, &mut found);
    found
}

fn search(value: &Value, named: bool, found: &mut Vec<String>) {
    match value {
        Value::String(text) if named => found.push(text.clone()),
        Value::Array(items) => items.iter().for_each(|item| search(item, named, found)),
        Value::Object(map) => map.iter().for_each(|(name, value)| search(value, is_id(name), found)),
        _ => {}
    }
}

fn is_id(name: &str) -> bool {
    name == "id" || name == "ids" || ["Id", "Ids", "_id", "_ids"].iter().any(|end| name.ends_with(end))
}
