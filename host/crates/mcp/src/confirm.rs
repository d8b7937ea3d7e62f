//! Asking the user, by way of the client, whether exactly one call may run. An agent has no part in it: there is no tool that confirms.

use loopwright_contract::json::canonical;
use loopwright_contract::name::Lang;
use loopwright_contract::plain;
use loopwright_contract::tool::ToolCall;
use rmcp::model::{BooleanSchema, ElicitRequestParams, ElicitResult, ElicitationAction, ElicitationSchema};
use rmcp::service::ElicitationMode;
use rmcp::{Peer, RoleServer};
use serde_json::Value;

use crate::limits::{CONFIRM_BYTES_MAX, CONFIRM_WAIT};

/// The field of the form that says yes.
const FIELD: &str = "confirm";

/// What became of the question.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Word {
    /// The user said yes to exactly this call.
    Yes,
    /// The user said no.
    No,
    /// There was no word, and why.
    None(String),
}

/// Asks, and waits for at most [`CONFIRM_WAIT`].
pub(crate) async fn ask(peer: &Peer<RoleServer>, call: &ToolCall, lang: &Lang) -> Word {
    if !peer.supported_elicitation_modes().contains(&ElicitationMode::Form) {
        return Word::None(
            "this client cannot ask them, as it offers no elicitation; connect with a client that does".to_owned(),
        );
    }
    let question = match question(call, lang) {
        Ok(question) => question,
        Err(reason) => return Word::None(reason),
    };
    match peer.create_elicitation_with_timeout(question, Some(CONFIRM_WAIT)).await {
        Ok(result) => word(&result),
        Err(error) => {
            tracing::info!(tool = %call.tool, %error, "no word of the user");
            Word::None("the client brought no answer of theirs".to_owned())
        }
    }
}

/// Only an accepted form that says yes is a yes.
fn word(result: &ElicitResult) -> Word {
    let said = result.content.as_ref().and_then(|content| content.get(FIELD));
    match (&result.action, said) {
        (ElicitationAction::Accept, Some(Value::Bool(true))) => Word::Yes,
        (ElicitationAction::Accept | ElicitationAction::Decline, _) => Word::No,
        _ => Word::None("they closed the question without an answer".to_owned()),
    }
}

/// The question: the tool, all of its arguments, and the digest of both. The arguments are the agent's text, so nothing in them acts on a
/// terminal or hides.
fn question(call: &ToolCall, lang: &Lang) -> Result<ElicitRequestParams, String> {
    let arguments = plain::json(&canonical(&call.arguments));
    if arguments.len() > CONFIRM_BYTES_MAX {
        return Err(format!(
            "its arguments have {} bytes, and at most {CONFIRM_BYTES_MAX} can be shown for confirmation; split the call",
            arguments.len()
        ));
    }
    let (tool, digest) = (&call.tool, call.digest());
    let chinese = lang.as_str().starts_with("zh");
    let (message, title) = if chinese {
        (
            format!("助手想执行下面的操作。它可能无法撤销、会产生费用或需要您的许可。\n{tool} {arguments}\n{digest}"),
            "执行这一次操作",
        )
    } else {
        let why = "It cannot be undone, costs money, or asks for your permission.";
        (
            format!("The assistant wants to run this call. {why}\n{tool} {arguments}\n{digest}"),
            "Run exactly this call, once",
        )
    };
    let schema = ElicitationSchema::builder()
        .required_bool_property(FIELD, |_| BooleanSchema::new().title(title).with_default(false))
        .build()
        .map_err(|error| format!("the question could not be put: {error}"))?;
    Ok(ElicitRequestParams::FormElicitationParams { meta: None, message, requested_schema: schema })
}

#[cfg(test)]
mod tests {
    use loopwright_testkit::task::call;
    use serde_json::json;

    use super::*;

    #[test]
    fn only_an_accepted_form_that_says_yes_is_a_yes() {
        let accept = |content| ElicitResult::new(ElicitationAction::Accept).with_content(content);
        for (result, expected) in [
            (accept(json!({"confirm": true})), Word::Yes),
            (accept(json!({"confirm": false})), Word::No),
            (accept(json!({"confirm": "true"})), Word::No),
            (accept(json!({})), Word::No),
            (ElicitResult::new(ElicitationAction::Accept), Word::No),
            (ElicitResult::new(ElicitationAction::Decline).with_content(json!({"confirm": true})), Word::No),
        ] {
            assert_eq!(word(&result), expected, "{result:?}");
        }
        assert!(matches!(word(&ElicitResult::new(ElicitationAction::Cancel)), Word::None(_)));
    }

    #[test]
    fn the_question_shows_the_whole_call_and_nothing_that_hides() {
        let call = call("c", "wipe_notes", json!({"b": "\u{1b}[2J\u{202e}", "a": 1.0}));
        for lang in [Lang::english(), Lang::chinese()] {
            let Ok(ElicitRequestParams::FormElicitationParams { message, requested_schema, .. }) =
                question(&call, &lang)
            else {
                panic!("no form");
            };
            assert!(message.contains("wipe_notes {\"a\":1,\"b\":\"\\u001b[2J\\u202e\"}"), "{message}");
            assert!(message.contains(&call.digest().to_string()), "{message}");
            let schema = serde_json::to_value(&requested_schema).expect("JSON");
            assert_eq!(schema.pointer("/properties/confirm/default"), Some(&json!(false)));
            assert_eq!(schema.get("required"), Some(&json!(["confirm"])));
        }
    }

    #[test]
    fn what_cannot_be_shown_whole_is_not_asked() {
        for (bytes, asked) in [(CONFIRM_BYTES_MAX, true), (CONFIRM_BYTES_MAX + 1, false)] {
            let call = call("c", "wipe_notes", json!({"a": "x".repeat(bytes - r#"{"a":""}"#.len())}));
            assert_eq!(question(&call, &Lang::english()).is_ok(), asked, "{bytes}");
        }
    }
}
