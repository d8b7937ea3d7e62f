//! What can be said of a task without running it.

use loopwright_contract::action::Action;
use loopwright_contract::limits::CALLS_PER_TURN_MAX;
use loopwright_contract::task::Task;
use loopwright_contract::tool::InstalledTool;

/// Why a task is not well-formed; nothing when it is.
#[must_use]
pub fn malformed(task: &Task, tools: &[InstalledTool]) -> Option<String> {
    if task.request.trim().is_empty() {
        return Some("the request is empty".to_owned());
    }
    if task.checks.is_empty() {
        return Some("it has no check, so nothing would be asked".to_owned());
    }
    if task.gold.is_empty() {
        return Some("it has no gold, so nothing shows that it can be solved".to_owned());
    }
    let steps = usize::try_from(task.budget.steps).unwrap_or(usize::MAX);
    if task.gold.len() > steps {
        return Some(format!("the gold takes {} decisions, the budget allows {steps}", task.gold.len()));
    }
    let last = task.gold.len().saturating_sub(1);
    task.gold.iter().enumerate().find_map(|(position, turn)| {
        wrong_turn(turn, position == last, tools).map(|reason| format!("gold turn {position}: {reason}"))
    })
}

fn wrong_turn(turn: &[Action], last: bool, tools: &[InstalledTool]) -> Option<String> {
    if turn.is_empty() {
        return Some("it is empty".to_owned());
    }
    if turn.len() > CALLS_PER_TURN_MAX {
        return Some(format!("{} actions, at most {CALLS_PER_TURN_MAX} are allowed", turn.len()));
    }
    if turn.len() > 1 && turn.iter().any(|action| !matches!(action, Action::Call(_))) {
        return Some("several actions that are not all calls".to_owned());
    }
    let ends = turn.iter().any(|action| matches!(action, Action::Finish { .. } | Action::Refuse { .. }));
    if ends != last {
        return Some(
            if last { "the last one does not finish or refuse" } else { "it ends the episode before the last turn" }
                .to_owned(),
        );
    }
    turn.iter().find_map(|action| match action {
        Action::Call(call) if !tools.iter().any(|tool| tool.spec.name == call.tool) => {
            Some(format!("the tool `{}` is not installed", call.tool))
        }
        Action::Call(call) if !call.arguments.is_object() => {
            Some(format!("the arguments of `{}` are not an object", call.tool))
        }
        _ => None,
    })
}
