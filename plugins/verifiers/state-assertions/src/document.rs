//! Tests of a document's fields.

use loopwright_sdk::{JudgeError, Query, Snapshot};
use serde::Deserialize;
use serde_json::{Map, Value};

use crate::fold::{Fold, same, text};

/// A test of one field.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Clause {
    /// A JSON pointer.
    at: String,
    /// The test's name.
    test: String,
    /// What it compares with.
    #[serde(default)]
    value: Value,
}

/// The documents that are counted.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Where {
    /// All must hold.
    #[serde(rename = "where")]
    clauses: Vec<Clause>,
}

/// The names of the tests.
const TESTS: &str = "`eq`, `ne`, `lt`, `le`, `gt`, `ge`, `one_of`, `contains`, `starts_with` or `exists`";

/// Whether a field passes a test. An absent field passes `ne` and `exists: false` and nothing else.
pub(crate) fn passes(field: Option<&Value>, test: &str, value: &Value, folds: &[Fold]) -> Result<bool, JudgeError> {
    let Some(field) = field else {
        return match test {
            "ne" => Ok(true),
            "exists" => Ok(value == &Value::Bool(false)),
            _ => known(test).map(|()| false),
        };
    };
    Ok(match test {
        "eq" => same(field, value, folds),
        "ne" => !same(field, value, folds),
        "lt" => ordered(field, value).is_some_and(core::cmp::Ordering::is_lt),
        "le" => ordered(field, value).is_some_and(core::cmp::Ordering::is_le),
        "gt" => ordered(field, value).is_some_and(core::cmp::Ordering::is_gt),
        "ge" => ordered(field, value).is_some_and(core::cmp::Ordering::is_ge),
        "one_of" => {
            value.as_array().ok_or_else(|| wrong(test, "an array"))?.iter().any(|value| same(field, value, folds))
        }
        "contains" => match (field, value) {
            (Value::Array(items), value) => items.iter().any(|item| same(item, value, folds)),
            (Value::String(field), Value::String(part)) => text(field, folds).contains(&text(part, folds)),
            _ => false,
        },
        "starts_with" => {
            let part = value.as_str().ok_or_else(|| wrong(test, "a string"))?;
            field.as_str().is_some_and(|field| text(field, folds).starts_with(&text(part, folds)))
        }
        "exists" => value == &Value::Bool(true),
        _ => return known(test).map(|()| false),
    })
}

fn known(test: &str) -> Result<(), JudgeError> {
    if TESTS.contains(&format!("`{test}`")) {
        Ok(())
    } else {
        Err(JudgeError::InvalidCheck(format!("test `{test}`: expected {TESTS}")))
    }
}

fn wrong(test: &str, expected: &str) -> JudgeError {
    JudgeError::InvalidCheck(format!("test `{test}` compares with {expected}"))
}

fn ordered(a: &Value, b: &Value) -> Option<core::cmp::Ordering> {
    match (a, b) {
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        (Value::Number(a), Value::Number(b)) => a.as_f64()?.partial_cmp(&b.as_f64()?),
        _ => None,
    }
}

/// The one test of a row's `matches`.
pub(crate) fn only(matches: &Map<String, Value>) -> Result<(&str, &Value), JudgeError> {
    match (matches.iter().next(), matches.len()) {
        (Some((test, value)), 1) => known(test).map(|()| (test.as_str(), value)),
        _ => Err(JudgeError::InvalidCheck(format!("`matches` has {} tests, expected one of {TESTS}", matches.len()))),
    }
}

/// The keys of the documents that pass all clauses.
pub(crate) fn matching(
    state: &Snapshot,
    collection: &str,
    wanted: &Where,
    folds: &[Fold],
) -> Result<Vec<String>, JudgeError> {
    let mut keys = Vec::new();
    for doc in state.find_all::<Value>(collection, &Query::new())? {
        let mut all = true;
        for clause in &wanted.clauses {
            all &= passes(doc.value.pointer(&clause.at), &clause.test, &clause.value, folds)?;
        }
        if all {
            keys.push(doc.key);
        }
    }
    Ok(keys)
}

/// A field as a reason shows it.
pub(crate) fn shown(field: Option<&Value>) -> String {
    match field {
        None => "nothing".to_owned(),
        Some(value) => {
            let text = value.to_string();
            let cut: String = text.chars().take(120).collect();
            if cut.len() < text.len() { format!("`{cut}…`") } else { format!("`{cut}`") }
        }
    }
}
