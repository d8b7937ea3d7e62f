//! Legal reorderings of a gold.

use std::collections::BTreeSet;

use loopwright_contract::action::Action;
use loopwright_contract::task::Task;
use loopwright_contract::tool::ToolCall;
use serde_json::Value;

/// The reorderings of a task's gold, each with what was done: the calls of a turn in other orders, one after the other instead of together,
/// and neighbouring turns swapped where a check declares a partial order that leaves them free.
pub(super) fn reorderings(task: &Task) -> Vec<(String, Vec<Vec<Action>>)> {
    let mut all = Vec::new();
    for (number, turn) in task.gold.iter().enumerate() {
        if turn.len() < 2 {
            continue;
        }
        let with = |actions: Vec<Vec<Action>>| -> Vec<Vec<Action>> {
            task.gold
                .iter()
                .enumerate()
                .flat_map(|(other, turn)| if other == number { actions.clone() } else { vec![turn.clone()] })
                .collect()
        };
        let reversed: Vec<Action> = turn.iter().rev().cloned().collect();
        all.push((format!("the gold with turn {number} reversed"), with(vec![reversed])));
        if turn.len() > 2 {
            let mut rotated = turn.clone();
            rotated.rotate_left(1);
            all.push((format!("the gold with turn {number} rotated"), with(vec![rotated])));
        }
        let apart = turn.iter().map(|action| vec![action.clone()]).collect();
        all.push((format!("the gold with the calls of turn {number} one after the other"), with(apart)));
    }
    if let Some(order) = PartialOrder::of(task) {
        for (number, pair) in task.gold.windows(2).enumerate() {
            let [first, second] = pair else { continue };
            if order.leaves_free(first, second) {
                let mut swapped = task.gold.clone();
                swapped.swap(number, number.saturating_add(1));
                all.push((format!("the gold with turns {number} and {} swapped", number.saturating_add(1)), swapped));
            }
        }
    }
    all
}

/// The order that a `tool-calls` check declares.
struct PartialOrder<'a> {
    entries: Vec<Entry<'a>>,
}

struct Entry<'a> {
    id: Option<&'a str>,
    tool: &'a str,
    arguments: &'a Value,
    after: BTreeSet<&'a str>,
}

impl<'a> PartialOrder<'a> {
    fn of(task: &'a Task) -> Option<Self> {
        let check = task.checks.iter().find(|check| {
            check.verifier == *"tool-calls" && check.check.get("order") == Some(&Value::from("partial"))
        })?;
        let entries = check.check.get("calls")?.as_array()?.iter().filter_map(Entry::of).collect();
        Some(Self { entries })
    }

    /// Whether both turns hold calls that the check lists, and none of the second must come after one of the first.
    fn leaves_free(&self, first: &[Action], second: &[Action]) -> bool {
        let listed = |turn: &[Action]| -> Option<Vec<&Entry<'a>>> {
            turn.iter().map(|action| if let Action::Call(call) = action { self.entry(call) } else { None }).collect()
        };
        let (Some(first), Some(second)) = (listed(first), listed(second)) else { return false };
        let earlier: BTreeSet<&str> = first.iter().filter_map(|entry| entry.id).collect();
        second.iter().all(|entry| self.ancestors(entry).is_disjoint(&earlier))
    }

    fn entry(&self, call: &ToolCall) -> Option<&Entry<'a>> {
        self.entries.iter().find(|entry| call.tool == *entry.tool && call.arguments == *entry.arguments)
    }

    fn ancestors(&self, entry: &Entry<'a>) -> BTreeSet<&'a str> {
        let mut found = entry.after.clone();
        // Each round adds at least one of the check's ids or is the last.
        for _ in 0..self.entries.len() {
            let further: BTreeSet<&str> = self
                .entries
                .iter()
                .filter(|other| other.id.is_some_and(|id| found.contains(id)))
                .flat_map(|other| other.after.iter().copied())
                .collect();
            found.extend(further);
        }
        found
    }
}

impl<'a> Entry<'a> {
    fn of(value: &'a Value) -> Option<Self> {
        let after = value
            .get("after")
            .and_then(Value::as_array)
            .map(|ids| ids.iter().filter_map(Value::as_str).collect())
            .unwrap_or_default();
        Some(Self {
            id: value.get("id").and_then(Value::as_str),
            tool: value.get("tool")?.as_str()?,
            arguments: value.get("arguments")?,
            after,
        })
    }
}
