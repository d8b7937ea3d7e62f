//! From what came of a call to what a client is told: the one envelope, as data and as text.

use loopwright_contract::environment::Reply;
use loopwright_contract::fault::GuestFault;
use loopwright_contract::plain;
use loopwright_contract::tool::Failure;
use rmcp::model::{CallToolResult, ContentBlock};
use serde_json::Value;

use crate::port::Answer;

/// Why a call did not do what was asked. It stands as `kind` in the envelope of a failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    /// The tool or a rule of the world refused it.
    Refused,
    /// The arguments break the tool's schema; nothing ran.
    Malformed,
    /// It runs only after the user confirms exactly this call.
    NeedsConfirmation,
    /// The user was asked and said no.
    Declined,
    /// The tool's code failed.
    Trapped,
    /// The tool's code spent a budget.
    Budget,
    /// The host refused the tool something by policy.
    Denied,
    /// The tool's code answered what the contract does not allow.
    Contract,
    /// A limit of the session is reached; nothing ran.
    Limit,
}

impl Kind {
    /// All kinds.
    pub const ALL: [Self; 9] = [
        Self::Refused,
        Self::Malformed,
        Self::NeedsConfirmation,
        Self::Declined,
        Self::Trapped,
        Self::Budget,
        Self::Denied,
        Self::Contract,
        Self::Limit,
    ];

    /// As it stands in the envelope.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Refused => "refused",
            Self::Malformed => "malformed",
            Self::NeedsConfirmation => "needs-confirmation",
            Self::Declined => "declined",
            Self::Trapped => "trapped",
            Self::Budget => "budget",
            Self::Denied => "denied",
            Self::Contract => "contract",
            Self::Limit => "limit",
        }
    }

    /// The kind of a tool's own fault.
    fn of(fault: &GuestFault) -> Self {
        match fault {
            GuestFault::Trapped { .. } => Self::Trapped,
            GuestFault::Budget { .. } => Self::Budget,
            GuestFault::Denied { .. } => Self::Denied,
            GuestFault::Contract { .. } => Self::Contract,
        }
    }
}

/// What a client is told of a call that the world took.
pub(crate) fn answered(answer: &Answer) -> CallToolResult {
    let kind = match (&answer.feedback.reply, &answer.fault) {
        (Reply::Done(_), _) => None,
        (Reply::NeedsConfirmation(_), _) => Some(Kind::NeedsConfirmation),
        (Reply::Failed(_), Some(fault)) => Some(Kind::of(fault)),
        (Reply::Failed(_), None) => Some(Kind::Refused),
    };
    let mut envelope = answer.feedback.reply.envelope();
    for (key, list) in [("effects", &answer.feedback.effects), ("notices", &answer.notices)] {
        // An effect that is no object would break the schema that clients check results with.
        let list: Vec<Value> = list.iter().filter(|value| value.is_object()).cloned().collect();
        if !list.is_empty() {
            set(&mut envelope, key, Value::Array(list));
        }
    }
    told(envelope, kind)
}

/// What a client is told of a call that failed before or beside the world.
pub(crate) fn failed(kind: Kind, failure: &Failure) -> CallToolResult {
    told(failure.envelope(), Some(kind))
}

/// The envelope as structured content, and as text in which nothing acts on a terminal.
fn told(mut envelope: Value, kind: Option<Kind>) -> CallToolResult {
    if let Some(kind) = kind {
        set(&mut envelope, "kind", Value::from(kind.as_str()));
    }
    let text = ContentBlock::text(plain::json(&envelope.to_string()));
    let mut result =
        if kind.is_some() { CallToolResult::error(vec![text]) } else { CallToolResult::success(vec![text]) };
    result.structured_content = Some(envelope);
    result
}

fn set(envelope: &mut Value, key: &str, value: Value) {
    if let Value::Object(map) = envelope {
        map.insert(key.to_owned(), value);
    }
}

#[cfg(test)]
mod tests {
    use loopwright_contract::environment::Feedback;
    use loopwright_contract::fault::Budget;
    use loopwright_contract::name::CallId;
    use loopwright_contract::tool::Success;
    use serde_json::json;

    use super::*;

    fn answer(reply: Reply, fault: Option<GuestFault>) -> Answer {
        let feedback = Feedback { call_id: CallId::new("c").expect("an id"), reply, effects: Vec::new() };
        Answer { feedback, fault, notices: Vec::new() }
    }

    #[test]
    fn families_of_failures_are_told_apart() {
        let failed = || Reply::Failed(Failure::new(503, "it failed"));
        for (reply, fault, kind) in [
            (failed(), None, "refused"),
            (Reply::NeedsConfirmation(Failure::new(423, "ask")), None, "needs-confirmation"),
            (failed(), Some(GuestFault::Trapped { reason: "a secret".to_owned() }), "trapped"),
            (failed(), Some(GuestFault::Budget { budget: Budget::Fuel, limit: 7 }), "budget"),
            (failed(), Some(GuestFault::Denied { what: "a secret".to_owned() }), "denied"),
            (failed(), Some(GuestFault::Contract { what: "a secret".to_owned() }), "contract"),
        ] {
            let result = answered(&answer(reply, fault));
            assert_eq!(result.is_error, Some(true));
            let structured = result.structured_content.expect("an envelope");
            assert_eq!(structured.get("kind"), Some(&json!(kind)));
            assert!(!structured.to_string().contains("secret"), "{structured}");
        }
    }

    #[test]
    fn text_and_data_are_the_same_json_and_the_text_acts_on_nothing() {
        let data = json!({"text": "\u{1b}]52;c;eA==\u{7}\u{202e}\u{e0041}"});
        let mut answer = answer(Reply::Done(Success { message: "m\u{9b}".to_owned(), data }), None);
        answer.feedback.effects = vec![json!({"kind": "muted"}), json!("no object")];
        let result = answered(&answer);
        let text =
            result.content.first().and_then(|block| block.as_text()).map(|text| text.text.clone()).expect("a text");
        assert!(!text.chars().any(plain::is_unsafe), "{text:?}");
        let structured = result.structured_content.expect("an envelope");
        assert_eq!(serde_json::from_str::<Value>(&text).ok().as_ref(), Some(&structured));
        assert_eq!(structured.get("effects"), Some(&json!([{"kind": "muted"}])));
        assert_eq!(structured.get("notices"), None);
    }
}
