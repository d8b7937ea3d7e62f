//! What was done so far, and what came of it.

use std::sync::Arc;

use loopwright_contract::action::{Action, reserved};
use loopwright_contract::context::{Context, Event};
use loopwright_contract::name::CallId;
use loopwright_contract::tool::ToolCall;
use serde_json::{Value, json};

use crate::pointer::choice::{PAST_MAX, Past};
use crate::pointer::glossary::pieces;
use crate::pointer::grams::Grams;
use crate::pointer::kept::Kept;

/// What became of an action.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::pointer) enum Status {
    /// It ran.
    Done,
    /// It waits for the user's word.
    Waits,
    /// Something was not found, or more than one thing was.
    Absent,
    /// Its arguments were refused.
    Wrong,
    /// It is not allowed.
    Forbidden,
    /// The state does not let it run now.
    Blocked,
    /// It was no action that is allowed.
    Malformed,
    /// It has no answer.
    Silent,
}

impl Status {
    /// Its number in the tables, below [`crate::pointer::STATUSES`].
    pub(in crate::pointer) fn number(self) -> u8 {
        match self {
            Self::Done => 0,
            Self::Waits => 1,
            Self::Absent => 2,
            Self::Wrong => 3,
            Self::Forbidden => 4,
            Self::Blocked => 5,
            Self::Malformed => 6,
            Self::Silent => 7,
        }
    }

    /// What an answer says, by its envelope.
    pub(in crate::pointer) fn of(envelope: &Value) -> Self {
        if envelope.get("success").and_then(Value::as_bool) == Some(true) {
            return Self::Done;
        }
        let confirms = envelope.pointer("/data/confirmation").and_then(Value::as_bool) == Some(true);
        match envelope.get("code").and_then(Value::as_u64) {
            Some(423) if confirms => Self::Waits,
            Some(404 | 422) => Self::Absent,
            Some(400) => Self::Wrong,
            Some(403) => Self::Forbidden,
            _ => Self::Blocked,
        }
    }
}

/// An earlier action.
#[derive(Debug, Clone)]
pub(in crate::pointer) struct Earlier {
    /// The tool or the reserved name.
    pub(in crate::pointer) name: String,
    /// Its arguments.
    pub(in crate::pointer) arguments: Value,
    /// The words of its arguments.
    pub(in crate::pointer) said: String,
    /// What became of it.
    pub(in crate::pointer) status: Status,
}

/// A call that waits for the user's word.
#[derive(Debug, Clone)]
pub(in crate::pointer) struct Pending {
    /// The call's id.
    pub(in crate::pointer) id: CallId,
    /// The call.
    pub(in crate::pointer) call: ToolCall,
    /// Whether the user was asked for it already.
    pub(in crate::pointer) asked: bool,
}

/// What was done so far.
#[derive(Debug, Clone, Default)]
pub(in crate::pointer) struct History {
    /// Earlier actions, oldest first.
    pub(in crate::pointer) calls: Vec<Earlier>,
    /// The calls that wait, the latest first.
    pub(in crate::pointer) pending: Vec<Pending>,
    /// The last of them, as the tables hold it.
    pub(in crate::pointer) past: Arc<[Past]>,
    /// What the last answer that was no success said.
    pub(in crate::pointer) trouble: Option<(Status, String)>,
    /// Whether the user spoke last.
    pub(in crate::pointer) user_spoke: bool,
}

impl History {
    pub(super) fn new(kept: &Kept, context: &Context) -> Self {
        let mut history = Self::default();
        let mut decided: &[Action] = &[];
        for event in &context.history {
            history.user_spoke = matches!(event, Event::User { .. });
            match event {
                Event::Decided { actions, .. } => {
                    decided = actions;
                    history.note_silent(actions);
                }
                Event::Answered { call_id, name, envelope, .. } => history.answered(decided, call_id, name, envelope),
                Event::Malformed { reason } => history.push("", Value::Null, Status::Malformed, reason),
                _ => {}
            }
        }
        let skip = history.calls.len().saturating_sub(PAST_MAX);
        history.past = history.calls.iter().skip(skip).map(|call| past(kept, call, context)).collect();
        history
    }

    /// Questions have no envelope: they are noted when they are decided.
    fn note_silent(&mut self, actions: &[Action]) {
        for action in actions {
            if let Action::Ask { question, pending } = action {
                for waits in self.pending.iter_mut().filter(|waits| Some(&waits.id) == pending.as_ref()) {
                    waits.asked = true;
                }
                self.push(reserved::ASK_USER, json!({"question": question}), Status::Silent, "");
            }
        }
    }

    fn answered(&mut self, decided: &[Action], id: &CallId, name: &str, envelope: &Value) {
        let status = Status::of(envelope);
        let action = decided.iter().find(|action| match action {
            Action::Call(call) => call.id == *id,
            Action::Forget { call, .. } => call.as_ref() == Some(id),
            _ => true,
        });
        let arguments = action.map(arguments).unwrap_or_default();
        if let Some(call) = action.and_then(Action::confirmable) {
            if matches!(status, Status::Done | Status::Waits) && !self.pending.is_empty() {
                let digest = call.digest();
                self.pending.retain(|waits| waits.call.digest() != digest);
            }
            if status == Status::Waits {
                self.pending.insert(0, Pending { id: id.clone(), call, asked: false });
            }
        }
        let trouble = envelope.get("error").and_then(Value::as_str).unwrap_or_default();
        self.push(name, arguments, status, trouble);
    }

    fn push(&mut self, name: &str, arguments: Value, status: Status, trouble: &str) {
        match status {
            Status::Done => self.trouble = None,
            Status::Silent => {}
            _ => self.trouble = Some((status, trouble.to_owned())),
        }
        let said = said(&arguments);
        self.calls.push(Earlier { name: reserved::full(name).to_owned(), arguments, said, status });
    }
}

/// An action's arguments, in the form of its reserved name where it is no call.
pub(in crate::pointer) fn arguments(action: &Action) -> Value {
    match action {
        Action::Call(call) => call.arguments.clone(),
        Action::Recall { query, .. } => json!({"query": query}),
        Action::Remember { content, category, .. } => json!({"content": content, "memoryCategory": category}),
        Action::Replace { memory, content } => json!({"memoryId": memory.as_str(), "content": content}),
        Action::Forget { memory, .. } => json!({"memoryId": memory.as_str()}),
        Action::LoadSkill { skill } => json!({"skill": skill.as_str()}),
        _ => Value::Null,
    }
}

/// The texts and numbers of some arguments.
fn said(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        Value::Number(number) => number.to_string(),
        Value::Array(items) => items.iter().map(said).collect::<Vec<_>>().join(" "),
        Value::Object(fields) => fields.values().map(said).collect::<Vec<_>>().join(" "),
        _ => String::new(),
    }
}

fn past(kept: &Kept, call: &Earlier, context: &Context) -> Past {
    let spec = context.space.tools.iter().find(|spec| spec.name.as_str() == call.name);
    let writes = spec
        .and_then(|spec| spec.access_rule(&call.arguments))
        .is_some_and(|rule| rule.effect != loopwright_contract::tool::Effect::Read);
    let remembers = [reserved::REMEMBER, reserved::REPLACE, reserved::FORGET].contains(&call.name.as_str());
    let closed = |name: &str| {
        spec.is_some_and(|spec| spec.arguments_schema.pointer(&format!("/properties/{name}/enum")).is_some())
    };
    let fields = call.arguments.as_object().into_iter().flatten();
    let chosen: Vec<&str> = fields.filter(|(name, _)| closed(name)).filter_map(|(_, value)| value.as_str()).collect();
    let chosen = chosen.join(" ");
    let words = |text: &str| pieces(text).join(" ");
    Past {
        bag: kept.bag(&["past", &call.name, &chosen], || {
            Grams::default().text(&words(&call.name)).text(&words(&chosen)).bag()
        }),
        status: call.status.number(),
        changed: (writes || remembers) && call.status == Status::Done,
    }
}
