//! Decisions as they can be recorded: a planner may answer with numbers, characters and sizes that no record holds.

use loopwright_contract::action::{Action, Proposed};
use loopwright_contract::json::{INTEGER_MAX, JsonLimits, normalize};
use loopwright_contract::planner::{Decision, PlannerFault, SampledToken, Usage};
use serde_json::Value;

/// Proposals that are kept of one decision; more than a turn may hold, so that too many are still seen as too many.
const PROPOSALS_MAX: usize = 64;
/// Bytes of one text that is kept; more than arguments may have, so that too long is still seen as too long.
const TEXT_BYTES_MAX: usize = 512 * 1024;
/// Tokens that are kept of one decision.
const TOKENS_MAX: usize = 65_536;

/// The decision with everything cut or replaced that a record cannot hold. What was recorded is also what is acted on.
pub(crate) fn recordable(decision: Decision) -> Result<Decision, PlannerFault> {
    if let Some(token) = decision.tokens.iter().find(|token| !token.logprob.is_finite()) {
        return Err(PlannerFault::Failed(format!("token {} has log-probability `{}`, expected a finite number", token.id, token.logprob)));
    }
    let Decision { proposed, text, mut tokens, grammar, usage } = decision;
    tokens.truncate(TOKENS_MAX);
    Ok(Decision {
        proposed: proposed.into_iter().take(PROPOSALS_MAX).map(proposal).collect(),
        text: clean(text),
        tokens: tokens.into_iter().map(single).collect(),
        grammar,
        usage: bounded(usage),
    })
}

/// A log-probability whose decimal form reads back as the same number.
fn single(token: SampledToken) -> SampledToken {
    // A whole number is recorded without a point, and -0 as 0.
    let logprob = if token.logprob == 0.0 { 0.0 } else { token.logprob };
    SampledToken { logprob, ..token }
}

fn proposal(proposal: Proposed) -> Proposed {
    match proposal {
        Proposed::Unreadable { reason } => Proposed::Unreadable { reason: clean(reason) },
        Proposed::Call { id, name, arguments } => Proposed::Call { id: id.map(clean), name: clean(name), arguments: clean(arguments) },
        Proposed::Action { value } => match action(value) {
            Ok(value) => Proposed::Action { value },
            Err(reason) => Proposed::Unreadable { reason },
        },
    }
}

/// A typed action through its own JSON, which is the one place that knows all its texts and values.
fn action(action: Action) -> Result<Action, String> {
    let value = serde_json::to_value(&action).map_err(|error| error.to_string())?;
    let depth_max = JsonLimits::CONTRACT.depth_max + 2;
    let limits = JsonLimits { bytes_max: TEXT_BYTES_MAX, depth_max };
    let normal: Value = normalize(value, &limits).map_err(|error| error.to_string())?;
    serde_json::from_value(normal).map_err(|error| error.to_string())
}

fn clean(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(TEXT_BYTES_MAX));
    if text.contains('\0') { text.replace('\0', "\u{fffd}") } else { text }
}

fn bounded(usage: Usage) -> Usage {
    let most = INTEGER_MAX.unsigned_abs();
    Usage {
        tokens_in: usage.tokens_in.min(most),
        tokens_cached: usage.tokens_cached.min(most),
        tokens_out: usage.tokens_out.min(most),
        tokens_reasoning: usage.tokens_reasoning.min(most),
        cost_micros: usage.cost_micros.min(most),
    }
}

#[cfg(test)]
mod tests {
    use loopwright_contract::json::{canonical, parse};
    use loopwright_testkit::task::{call, finish};
    use serde_json::json;

    use super::*;

    #[test]
    fn whatever_a_planner_answers_can_be_recorded_and_reads_back() {
        let wild = Decision {
            proposed: vec![
                Proposed::Action { value: Action::Call(call("c", "t", json!({"n": u64::MAX}))) },
                Proposed::Action { value: Action::Call(call("c", "t", json!({"n": 25.0}))) },
                Proposed::Call { id: Some("a\0b".to_owned()), name: "\0".to_owned(), arguments: "x".repeat(2 * TEXT_BYTES_MAX) },
                Proposed::Action { value: finish("\0") },
            ],
            text: "a\0b".to_owned(),
            tokens: vec![SampledToken { id: u32::MAX, logprob: -0.0 }, SampledToken { id: 0, logprob: -1.0e-7 }, SampledToken { id: 1, logprob: -3.0 }],
            grammar: None,
            usage: Usage { tokens_in: u64::MAX, ..Usage::default() },
        };
        let kept = recordable(wild).expect("recordable");
        assert!(matches!(kept.proposed.first(), Some(Proposed::Unreadable { .. })));
        let text = canonical(&serde_json::to_value(&kept).expect("JSON"));
        let read: Decision = serde_json::from_value(parse(&text, &JsonLimits::FILE).expect("I-JSON")).expect("a decision");
        assert_eq!(read, kept);
        assert_eq!(canonical(&serde_json::to_value(&read).expect("JSON")), text);
        assert_eq!(recordable(kept.clone()), Ok(kept));
    }

    #[test]
    fn an_infinite_log_probability_is_a_fault_of_the_planner() {
        let decision = Decision { tokens: vec![SampledToken { id: 1, logprob: f32::NEG_INFINITY }], ..Decision::default() };
        assert!(matches!(recordable(decision), Err(PlannerFault::Failed(_))));
    }
}
