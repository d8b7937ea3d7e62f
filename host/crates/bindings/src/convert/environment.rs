//! Turns, observations and feedback.

use loopwright_contract::{
    environment::{Feedback, Observation, Reply, Turn, TurnResult},
    limits::LIST_LENGTH_MAX,
    name::ToolName,
};
use serde_json::Value;

use super::{
    call::{actor_out, call_out, failure_in, success_in},
    json_in, list, named,
};
use crate::{Violation, environment::exports::loopwright::afv::environment as wit};

/// A turn as an environment gets it.
#[must_use]
pub fn turn_out(turn: &Turn) -> wit::Turn {
    wit::Turn { actor: actor_out(turn.actor), calls: turn.calls.iter().map(call_out).collect() }
}

/// Reads an observation; the exposed tools come out sorted and without duplicates.
///
/// # Errors
/// [`Violation`] for a malformed name, or a notice that is no object with a `kind`.
pub fn observation_in(observation: wit::Observation) -> Result<Observation, Violation> {
    let tools = |names| list("exposed", names, LIST_LENGTH_MAX, |name: String| named("name", name.parse()));
    let mut exposed: Option<Vec<ToolName>> = observation.exposed.map(tools).transpose()?;
    if let Some(exposed) = &mut exposed {
        exposed.sort();
        exposed.dedup();
    }
    let notices = list("notices", observation.notices, LIST_LENGTH_MAX, |text| {
        let notice = json_in("notice", &text)?;
        if notice.get("kind").is_some_and(Value::is_string) {
            Ok(notice)
        } else {
            Err(Violation::new("notice", "expected an object with a `kind`"))
        }
    })?;
    Ok(Observation { exposed, notices })
}

/// Reads what came of a turn: exactly one feedback for each call, in the calls' order.
///
/// # Errors
/// [`Violation`] for missing, surplus or swapped feedback, and for anything malformed in it.
pub fn turn_result_in(result: wit::TurnResult, turn: &Turn) -> Result<TurnResult, Violation> {
    if result.feedback.len() != turn.calls.len() {
        let what = format!("expected one for each of {} calls, found {}", turn.calls.len(), result.feedback.len());
        return Err(Violation::new("feedback", what));
    }
    let feedback = list("feedback", result.feedback, LIST_LENGTH_MAX, feedback_in)?;
    for (position, (found, call)) in feedback.iter().zip(&turn.calls).enumerate() {
        if found.call_id != call.id {
            return Err(Violation::new(
                format!("feedback[{position}].call-id"),
                format_args!("expected `{}`, found `{}`", call.id, found.call_id),
            ));
        }
    }
    let observation = observation_in(result.observation).map_err(|error| error.within("observation"))?;
    Ok(TurnResult { feedback, observation })
}

fn feedback_in(feedback: wit::Feedback) -> Result<Feedback, Violation> {
    let reply = match feedback.reply {
        wit::Reply::Done(success) => Reply::Done(success_in(success)?),
        wit::Reply::Failed(failure) => Reply::Failed(failure_in(failure)?),
        wit::Reply::NeedsConfirmation(failure) => Reply::NeedsConfirmation(failure_in(failure)?),
    };
    Ok(Feedback {
        call_id: named("call-id", feedback.call_id.parse())?,
        reply,
        effects: list("effects", feedback.effects, LIST_LENGTH_MAX, |text| json_in("effect", &text))?,
    })
}

#[cfg(test)]
mod tests {
    use loopwright_contract::{environment::Actor, tool::ToolCall};
    use serde_json::json;

    use super::*;
    use crate::afv::types;

    fn result(ids: &[&str]) -> wit::TurnResult {
        let feedback = |id: &&str| wit::Feedback {
            call_id: (*id).into(),
            reply: wit::Reply::Done(types::Success { message: String::new(), data: "null".into() }),
            effects: Vec::new(),
        };
        let observation = wit::Observation {
            exposed: Some(vec!["b".into(), "a".into(), "b".into()]),
            notices: vec![r#"{"kind":"x"}"#.into()],
        };
        wit::TurnResult { feedback: ids.iter().map(feedback).collect(), observation }
    }

    #[test]
    fn each_call_gets_its_own_feedback_in_order() {
        let call = |id: &str| ToolCall { id: id.parse().unwrap(), tool: "t".parse().unwrap(), arguments: json!({}) };
        let turn = Turn { actor: Actor::Agent, calls: vec![call("c1"), call("c2")] };
        let read = turn_result_in(result(&["c1", "c2"]), &turn).unwrap();
        assert_eq!(read.observation.exposed.unwrap(), ["a", "b"]);
        for (ids, at) in
            [(vec!["c1"], "feedback"), (vec!["c2", "c1"], "feedback[0].call-id"), (vec!["c1", "c2", "c3"], "feedback")]
        {
            assert_eq!(turn_result_in(result(&ids), &turn).map_err(|error| error.at), Err(at.to_owned()));
        }
    }

    #[test]
    fn a_notice_has_a_kind() {
        for text in ["{}", "1", r#"{"kind":1}"#, "{"] {
            let observation = wit::Observation { exposed: None, notices: vec![text.into()] };
            assert!(observation_in(observation).is_err(), "{text}");
        }
    }
}
