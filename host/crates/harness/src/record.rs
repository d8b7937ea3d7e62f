//! Decisions as they can be recorded: a planner may answer with numbers, characters and sizes that no record holds.

use loopwright_contract::action::{Action, Proposed};
use loopwright_contract::json::{INTEGER_MAX, JsonError, JsonLimits, normalize};
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
        return Err(PlannerFault::Failed(format!(
            "token {} has log-probability `{}`, expected a finite number",
            token.id, token.logprob
        )));
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
        Proposed::Call { id, name, arguments } => {
            Proposed::Call { id: id.map(clean), name: clean(name), arguments: clean(arguments) }
        }
        Proposed::Action { value } => match action(value) {
            Ok(value) => Proposed::Action { value },
            Err(reason) => Proposed::Unreadable { reason },
        },
    }
}

/// A value in normal form. Most are already, and to see that is much cheaper than to write and read them.
pub(crate) fn normal(value: Value, limits: &JsonLimits) -> Result<Value, JsonError> {
    let mut bytes_left = limits.bytes_max;
    if is_normal(&value, limits.depth_max, &mut bytes_left) { Ok(value) } else { normalize(value, limits) }
}

/// Whether [`normalize`] would give the same value; false also where that is not certain.
fn is_normal(value: &Value, depth_left: usize, bytes_left: &mut usize) -> bool {
    // What a value's text takes at most: numbers 25 bytes, a character 6, and the marks between.
    let most = match value {
        Value::String(text) => text.len().saturating_mul(6),
        Value::Object(map) => map.keys().map(|key| key.len().saturating_mul(6) + 4).sum(),
        _ => 25,
    };
    let Some(left) = bytes_left.checked_sub(most.saturating_add(4)) else { return false };
    *bytes_left = left;
    match value {
        Value::Null | Value::Bool(_) => true,
        Value::Number(number) => match number.as_i64() {
            Some(integer) => integer.unsigned_abs() <= INTEGER_MAX.unsigned_abs(),
            None => number.as_f64().is_some_and(|double| double.fract() != 0.0),
        },
        Value::String(text) => !text.contains('\0'),
        Value::Array(items) => depth_left > 0 && items.iter().all(|item| is_normal(item, depth_left - 1, bytes_left)),
        Value::Object(map) => {
            let keys = map.keys().all(|key| !key.contains('\0'));
            depth_left > 0 && keys && map.values().all(|inner| is_normal(inner, depth_left - 1, bytes_left))
        }
    }
}

/// A typed action through its own JSON, which is the one place that knows all its texts and values.
fn action(mut action: Action) -> Result<Action, String> {
    if let Action::Call(call) = &mut action {
        // The rest of a call is names.
        call.arguments =
            normal(std::mem::take(&mut call.arguments), &JsonLimits::CONTRACT).map_err(|error| error.to_string())?;
        return Ok(action);
    }
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

/// Counts within what a record can hold.
pub(crate) fn bounded(usage: Usage) -> Usage {
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
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn whatever_a_planner_answers_can_be_recorded_and_reads_back() {
        let wild = Decision {
            proposed: vec![
                Proposed::Action { value: Action::Call(call("c", "t", json!({"n": u64::MAX}))) },
                Proposed::Action { value: Action::Call(call("c", "t", json!({"n": 25.0}))) },
                Proposed::Call {
                    id: Some("a\0b".to_owned()),
                    name: "\0".to_owned(),
                    arguments: "x".repeat(2 * TEXT_BYTES_MAX),
                },
                Proposed::Action { value: finish("\0") },
            ],
            text: "a\0b".to_owned(),
            tokens: vec![
                SampledToken { id: u32::MAX, logprob: -0.0 },
                SampledToken { id: 0, logprob: -1.0e-7 },
                SampledToken { id: 1, logprob: -3.0 },
            ],
            grammar: None,
            usage: Usage { tokens_in: u64::MAX, ..Usage::default() },
        };
        let kept = recordable(wild).expect("recordable");
        assert!(matches!(kept.proposed.first(), Some(Proposed::Unreadable { .. })));
        let text = canonical(&serde_json::to_value(&kept).expect("JSON"));
        let read: Decision =
            serde_json::from_value(parse(&text, &JsonLimits::FILE).expect("I-JSON")).expect("a decision");
        assert_eq!(read, kept);
        assert_eq!(canonical(&serde_json::to_value(&read).expect("JSON")), text);
        assert_eq!(recordable(kept.clone()), Ok(kept));
    }

    proptest! {
        #[test]
        fn the_short_way_to_a_normal_value_is_the_long_one(value in any_value()) {
            let limits = JsonLimits { bytes_max: 120, depth_max: 2 };
            prop_assert_eq!(normal(value.clone(), &limits), normalize(value, &limits));
        }
    }

    fn any_value() -> impl Strategy<Value = Value> {
        let number = prop_oneof![
            any::<i64>().prop_map(|n| json!(n)),
            any::<u64>().prop_map(|n| json!(n)),
            any::<f64>().prop_map(|n| json!(n)),
            (-9..9_i32).prop_map(|n| json!(f64::from(n)))
        ];
        let leaf =
            prop_oneof![number, "[a\\x00\\x01\"长]{0,12}".prop_map(Value::String), any::<bool>().prop_map(Value::Bool)];
        leaf.prop_recursive(3, 12, 4, |inner| {
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::Array),
                proptest::collection::btree_map("[a\\x00]{0,3}", inner, 0..3)
                    .prop_map(|map| Value::Object(map.into_iter().collect())),
            ]
        })
    }

    #[test]
    fn an_infinite_log_probability_is_a_fault_of_the_planner() {
        let decision =
            Decision { tokens: vec![SampledToken { id: 1, logprob: f32::NEG_INFINITY }], ..Decision::default() };
        assert!(matches!(recordable(decision), Err(PlannerFault::Failed(_))));
    }
}
