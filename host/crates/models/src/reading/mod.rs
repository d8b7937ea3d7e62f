//! Reads what servers and models really send. Anything that holds a call becomes a call; anything else becomes an `Unreadable` that says
//! what was expected, so that the planner can mend it. Whether a call is allowed is for the harness to say.

pub(crate) mod body;
pub(crate) mod embedded;
mod usage;

use loopwright_contract::action::Proposed;
use loopwright_contract::json::canonical;
use serde_json::Value;

/// Characters of an output that a reason quotes.
const QUOTED_CHARACTERS: usize = 80;

/// The reason for output without a call.
pub(crate) fn unreadable(found: &str) -> Proposed {
    let shown: String = found.trim().chars().take(QUOTED_CHARACTERS).collect();
    let reason = if shown.is_empty() {
        "expected a call of one of the offered functions, found nothing".to_owned()
    } else {
        format!("expected a call of one of the offered functions, found text `{shown}`; to end, call `finish`")
    };
    Proposed::Unreadable { reason }
}

/// The reason for output that ended inside a call.
pub(crate) fn cut_off() -> Proposed {
    Proposed::Unreadable { reason: "the call was cut off before it was complete; write a shorter one".to_owned() }
}

/// Arguments as JSON text, whatever form they came in: an object, text, text inside text, or nothing.
pub(crate) fn arguments_text(arguments: Option<&Value>) -> String {
    match arguments {
        None | Some(Value::Null) => "{}".to_owned(),
        Some(Value::String(text)) => {
            let text = text.trim();
            if text.is_empty() || text == "null" {
                return "{}".to_owned();
            }
            match serde_json::from_str::<Value>(text) {
                Ok(Value::String(inner)) => inner,
                // Left as it is: the harness parses it strictly and names the fault.
                _ => text.to_owned(),
            }
        }
        Some(value) => canonical(value),
    }
}

/// Whether the arguments end before the JSON does.
pub(crate) fn is_cut(arguments: &str) -> bool {
    serde_json::from_str::<Value>(arguments).is_err_and(|error| error.is_eof())
}
