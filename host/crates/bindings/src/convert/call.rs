//! Calls and what comes of them.

use loopwright_contract::{
    environment::Actor,
    fault::GuestFault,
    json::canonical,
    tool::{Effect, Failure, Success, ToolCall},
};

use super::{json_in, message, named};
use crate::{
    Violation,
    afv::{tools, types},
};

/// Reads a call. Whether its arguments conform to the tool's schema is not decided here.
///
/// # Errors
/// [`Violation`] for a malformed id or name, or arguments that are no JSON object.
pub fn call_in(call: types::ToolCall) -> Result<ToolCall, Violation> {
    let arguments = json_in("arguments", &call.arguments)?;
    if !arguments.is_object() {
        return Err(Violation::new("arguments", "expected a JSON object"));
    }
    Ok(ToolCall { id: named("id", call.id.parse())?, tool: named("tool", call.tool.parse())?, arguments })
}

/// A call as a guest gets it; arguments in canonical form.
#[must_use]
pub fn call_out(call: &ToolCall) -> types::ToolCall {
    types::ToolCall {
        id: call.id.as_str().to_owned(),
        tool: call.tool.as_str().to_owned(),
        arguments: canonical(&call.arguments),
    }
}

/// Reads a success.
///
/// # Errors
/// [`Violation`] for data outside the contract's JSON.
pub fn success_in(success: types::Success) -> Result<Success, Violation> {
    Ok(Success { data: json_in("data", &success.data)?, message: message("message", success.message)? })
}

/// Reads a failure.
///
/// # Errors
/// [`Violation`] for a code outside 400 to 599 or data outside the contract's JSON.
pub fn failure_in(failure: types::Failure) -> Result<Failure, Violation> {
    if !(400..600).contains(&failure.code) {
        return Err(Violation::new("code", format_args!("expected 400 to 599, found {}", failure.code)));
    }
    let data = failure.data.map(|text| json_in("data", &text)).transpose()?;
    Ok(Failure { code: failure.code, message: message("message", failure.message)?, data })
}

/// A success as a guest gets it.
#[must_use]
pub fn success_out(success: &Success) -> types::Success {
    types::Success { message: success.message.clone(), data: canonical(&success.data) }
}

/// A failure as a guest gets it.
#[must_use]
pub fn failure_out(failure: &Failure) -> types::Failure {
    types::Failure { code: failure.code, message: failure.message.clone(), data: failure.data.as_ref().map(canonical) }
}

/// A tool's fault as its environment gets it.
#[must_use]
pub fn fault_out(fault: &GuestFault) -> tools::Fault {
    match fault {
        GuestFault::Trapped { .. } => tools::Fault::Trapped,
        GuestFault::Budget { budget, .. } => tools::Fault::Budget(budget.to_string()),
        GuestFault::Denied { what } => tools::Fault::Denied(what.clone()),
        GuestFault::Contract { what } => tools::Fault::Other(what.clone()),
    }
}

/// Reads an actor.
#[must_use]
pub fn actor_in(actor: types::Actor) -> Actor {
    match actor {
        types::Actor::Agent => Actor::Agent,
        types::Actor::User => Actor::User,
        types::Actor::Automation => Actor::Automation,
    }
}

/// An actor as a guest gets it.
#[must_use]
pub fn actor_out(actor: Actor) -> types::Actor {
    match actor {
        Actor::Agent => types::Actor::Agent,
        Actor::User => types::Actor::User,
        Actor::Automation => types::Actor::Automation,
    }
}

/// Reads an effect.
#[must_use]
pub fn effect_in(effect: types::Effect) -> Effect {
    match effect {
        types::Effect::Read => Effect::Read,
        types::Effect::Write => Effect::Write,
        types::Effect::Destructive => Effect::Destructive,
    }
}

/// An effect as a guest gets it.
#[must_use]
pub fn effect_out(effect: Effect) -> types::Effect {
    match effect {
        Effect::Read => types::Effect::Read,
        Effect::Write => types::Effect::Write,
        Effect::Destructive => types::Effect::Destructive,
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn call(id: &str, tool: &str, arguments: &str) -> types::ToolCall {
        types::ToolCall { id: id.into(), tool: tool.into(), arguments: arguments.into() }
    }

    #[test]
    fn a_call_goes_out_and_comes_back() {
        let read = call_in(call("c1", "manage_note", r#"{"b": 1.0, "a": "x"}"#)).unwrap();
        assert_eq!(read.arguments, json!({"a": "x", "b": 1}));
        assert_eq!(call_out(&read).arguments, r#"{"a":"x","b":1}"#);
        assert_eq!(call_in(call_out(&read)), Ok(read));
    }

    #[test]
    fn a_bad_call_is_refused_with_its_place() {
        for (bad, at) in [
            (call("", "t", "{}"), "id"),
            (call("c", "no tool", "{}"), "tool"),
            (call("c", "t", "[]"), "arguments"),
            (call("c", "t", "{\"a\":1,\"a\":1}"), "arguments"),
            (call("c", "t", "{"), "arguments"),
        ] {
            assert_eq!(call_in(bad.clone()).map_err(|error| error.at), Err(at.to_owned()), "{bad:?}");
        }
    }

    #[test]
    fn a_failure_has_a_code_of_the_table() {
        let failure = |code| types::Failure { code, message: "m".into(), data: None };
        assert!(failure_in(failure(404)).is_ok());
        assert!(failure_in(failure(200)).is_err() && failure_in(failure(600)).is_err());
    }
}
