//! Comparison of results and changes with recorded ones, field by field.

use std::collections::BTreeMap;

use loopwright_contract::evidence::Change;
use loopwright_contract::json::{JsonLimits, parse};
use serde_json::Value;

use super::{RecordedCall, RecordedChange};

/// The JSON pointer to the first place where two values differ, keys in sorted order; nothing when they are equal.
#[must_use]
pub fn first_difference(found: &Value, expected: &Value) -> Option<String> {
    let mut at = String::new();
    differs(found, expected, &mut at).then_some(at)
}

/// Leaves the pointer in `at` when there is a difference.
fn differs(found: &Value, expected: &Value, at: &mut String) -> bool {
    match (found, expected) {
        (Value::Object(found), Value::Object(expected)) => {
            let mut keys: Vec<&String> = found.keys().chain(expected.keys()).collect();
            keys.sort_unstable();
            keys.dedup();
            keys.into_iter().any(|key| {
                step(at, &key.replace('~', "~0").replace('/', "~1"), |at| match (found.get(key), expected.get(key)) {
                    (Some(found), Some(expected)) => differs(found, expected, at),
                    _ => true,
                })
            })
        }
        (Value::Array(found), Value::Array(expected)) => {
            let pairs = found.len().max(expected.len());
            (0..pairs).any(|position| {
                step(at, &position.to_string(), |at| match (found.get(position), expected.get(position)) {
                    (Some(found), Some(expected)) => differs(found, expected, at),
                    _ => true,
                })
            })
        }
        (Value::Number(a), Value::Number(b)) => a != b && a.as_f64() != b.as_f64(),
        (found, expected) => found != expected,
    }
}

/// Goes one part down; stays there only when the difference is there.
fn step(at: &mut String, part: &str, inner: impl FnOnce(&mut String) -> bool) -> bool {
    let length = at.len();
    at.push('/');
    at.push_str(part);
    let found = inner(at);
    if !found {
        at.truncate(length);
    }
    found
}

/// Where an answer differs from the recorded one: `/ok`, or a pointer into the result. Errors are equal to errors, whatever they say.
/// A text that holds a JSON object or array is compared as what it holds, because the reference prints some results.
#[must_use]
pub fn result_difference(ok: bool, result: &Value, recorded: &RecordedCall) -> Option<String> {
    if ok != recorded.ok {
        return Some("/ok".to_owned());
    }
    if !ok {
        return None;
    }
    first_difference(&unwrapped(result), &unwrapped(&recorded.result)).map(|at| format!("/result{at}"))
}

fn unwrapped(value: &Value) -> Value {
    let inner = value
        .as_str()
        .and_then(|text| parse(text, &JsonLimits::FILE).ok())
        .filter(|inner| inner.is_object() || inner.is_array());
    inner.unwrap_or_else(|| value.clone())
}

/// Where the documents that an episode changed differ from the recorded ones: `/changes/<collection>/<key>` and the place in it.
#[must_use]
pub fn changes_difference(changes: &[Change], recorded: &[RecordedChange]) -> Option<String> {
    let found: BTreeMap<(&str, &str), Option<&Value>> =
        changes.iter().map(|change| ((&*change.collection, &*change.key), change.after.as_ref())).collect();
    let expected: BTreeMap<(&str, &str), Option<&Value>> = recorded
        .iter()
        .map(|change| ((&*change.collection, &*change.key), change.after.as_ref().filter(|after| !after.is_null())))
        .collect();
    let mut keys: Vec<&(&str, &str)> = found.keys().chain(expected.keys()).collect();
    keys.sort_unstable();
    keys.dedup();
    keys.into_iter().find_map(|key| {
        let place = || format!("/changes/{}/{}", key.0.replace('/', "~1"), key.1.replace('/', "~1"));
        match (found.get(key), expected.get(key)) {
            (Some(Some(found)), Some(Some(expected))) => first_difference(found, expected).map(|at| place() + &at),
            (Some(None), Some(None)) => None,
            _ => Some(place()),
        }
    })
}
