//! From what a planner proposed to actions that are allowed. Nothing that a planner writes is an error of ours: what cannot be taken
//! becomes a message that says which part was wrong, what was found and what is allowed.

mod arguments;
mod check;
mod coerce;
mod problem;
mod proposal;
mod schema;

#[cfg(test)]
mod tests;

use std::collections::{BTreeMap, BTreeSet};

use loopwright_contract::action::{Action, ActionSpace, Proposed, reserved};
use loopwright_contract::context::LoadedSkill;
use loopwright_contract::limits::CALLS_PER_TURN_MAX;
use loopwright_contract::name::{CallId, ToolName};
use loopwright_contract::tool::ToolCall;
use loopwright_contract::trajectory::Coercion;

pub use check::ToolArguments;
pub(crate) use problem::cut;
pub(crate) use schema::SchemaCache;
pub use schema::{PATTERN_BYTES_MAX, SCHEMA_DEPTH_MAX, SCHEMA_NODES_MAX, reserved_schema};

/// What a decision is read against.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Grounds<'a> {
    pub(crate) schemas: &'a SchemaCache,
    pub(crate) space: &'a ActionSpace,
    /// Calls that wait for the user's confirmation.
    pub(crate) pending: &'a BTreeMap<CallId, ToolCall>,
    pub(crate) loaded: &'a [LoadedSkill],
    /// Repairs nothing.
    pub(crate) strict: bool,
    pub(crate) turn: u32,
}

/// An action that may be taken.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Taken {
    pub(crate) id: CallId,
    /// The tool or the reserved name.
    pub(crate) name: String,
    pub(crate) action: Action,
}

/// A decision after reading: several calls, or at most one other action.
#[derive(Debug, Default)]
pub(crate) struct Decoded {
    pub(crate) taken: Vec<Taken>,
    pub(crate) coercions: Vec<Coercion>,
    pub(crate) malformed: Vec<String>,
}

/// Reads a decision.
pub(crate) fn decode(proposed: &[Proposed], grounds: Grounds<'_>) -> Decoded {
    let mut decoded = Decoded::default();
    if let Some(reason) = refused_as_a_whole(proposed) {
        decoded.malformed.push(reason);
        return decoded;
    }
    let mut ids = BTreeSet::new();
    for (position, proposal) in proposed.iter().enumerate() {
        match proposal::read(proposal, grounds) {
            Ok(read) => {
                let Some(id) =
                    read.id.or_else(|| generated_id(grounds.turn, position)).and_then(|id| unique_id(id, &mut ids))
                else {
                    decoded.malformed.push(format!("`{}` has no usable call id", read.name));
                    continue;
                };
                decoded.coercions.extend(read.coercions);
                decoded.taken.push(proposal::taken(id, read.name, read.action));
            }
            Err(reason) => decoded.malformed.push(reason),
        }
    }
    decoded
}

/// The rules on a decision as a whole: something in it, not too many calls, and nothing beside an action that is no call.
fn refused_as_a_whole(proposed: &[Proposed]) -> Option<String> {
    if proposed.is_empty() {
        return Some(format!("the decision holds no action; call a tool, or `{}` when you are done", reserved::FINISH));
    }
    if proposed.len() > CALLS_PER_TURN_MAX {
        return Some(format!("a decision holds at most {CALLS_PER_TURN_MAX} calls, found more; none was run"));
    }
    let other = proposed.iter().find_map(other_action)?;
    (proposed.len() > 1).then(|| {
        let beside: Vec<String> = proposed.iter().map(proposal_name).filter(|name| *name != other).map(|name| format!("`{}`", cut(&name, 64))).collect();
        let beside = if beside.is_empty() { "another of its kind".to_owned() } else { beside.join(", ") };
        format!("a decision holds several tool calls, or exactly one other action: found `{}` beside {beside}; none was run, send one of them alone", cut(&other, 64))
    })
}

/// The name of a proposal that is an action and no call of a tool.
fn other_action(proposal: &Proposed) -> Option<String> {
    let name = proposal_name(proposal);
    let reserved = reserved::NAMES.contains(&name.as_str()) || name.starts_with(reserved::SKILL_PREFIX);
    match proposal {
        Proposed::Action { value: Action::Call(_) } | Proposed::Unreadable { .. } => None,
        Proposed::Action { .. } => Some(name),
        Proposed::Call { .. } => reserved.then_some(name),
    }
}

fn proposal_name(proposal: &Proposed) -> String {
    match proposal {
        Proposed::Action { value } => action_name(value),
        Proposed::Call { name, .. } => reserved::full(name).to_owned(),
        Proposed::Unreadable { .. } => "text without an action".to_owned(),
    }
}

/// The tool or the reserved name of an action.
pub(crate) fn action_name(action: &Action) -> String {
    match action {
        Action::Call(call) => call.tool.as_str().to_owned(),
        Action::Recall { .. } => reserved::RECALL.to_owned(),
        Action::Remember { .. } => reserved::REMEMBER.to_owned(),
        Action::Replace { .. } => reserved::REPLACE.to_owned(),
        Action::Forget { .. } => reserved::FORGET.to_owned(),
        Action::LoadSkill { skill } => skill.action_name(),
        Action::Ask { .. } => reserved::ASK_USER.to_owned(),
        Action::Refuse { .. } => reserved::REFUSE.to_owned(),
        Action::Delegate { .. } => reserved::DELEGATE.to_owned(),
        Action::Finish { .. } => reserved::FINISH.to_owned(),
    }
}

/// The names of all that may be called now, for messages.
pub(crate) fn offered(space: &ActionSpace) -> String {
    let mut names: Vec<&str> = space.tools.iter().map(|spec| spec.name.as_str()).collect();
    let skills: Vec<String> = space.skills.iter().map(|card| card.name.action_name()).collect();
    names.extend(skills.iter().map(String::as_str));
    if space.ask {
        names.push(reserved::ASK_USER);
    }
    if space.memory {
        names.extend([reserved::RECALL, reserved::REMEMBER, reserved::REPLACE, reserved::FORGET]);
    }
    names.extend([reserved::REFUSE, reserved::FINISH]);
    names.join(", ")
}

fn generated_id(turn: u32, position: usize) -> Option<CallId> {
    CallId::new(format!("call-{turn}-{position}")).ok()
}

/// `wanted`, or with a number appended when a call of the turn already has that id.
fn unique_id(wanted: CallId, ids: &mut BTreeSet<CallId>) -> Option<CallId> {
    if ids.insert(wanted.clone()) {
        return Some(wanted);
    }
    let base: String = wanted.as_str().chars().take(56).collect();
    let free = (2..=CALLS_PER_TURN_MAX + 1)
        .filter_map(|number| CallId::new(format!("{base}~{number}")).ok())
        .find(|id| !ids.contains(id))?;
    ids.insert(free.clone());
    Some(free)
}

/// Whether a tool is offered.
fn is_offered(space: &ActionSpace, name: &str) -> Option<ToolName> {
    space.tools.iter().find(|spec| spec.name == *name).map(|spec| spec.name.clone())
}
