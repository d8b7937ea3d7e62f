//! Arguments: from JSON text to a value that conforms to a schema.

use loopwright_contract::json::{JsonLimits, parse};
use loopwright_contract::trajectory::Coercion;
use serde_json::{Map, Value};

use super::coerce::repair;
use super::problem::problems;
use super::schema::Schema;
use crate::record::normal;

/// Arguments that conform, and the repairs that it took.
#[derive(Debug)]
pub(crate) struct Conforming {
    pub(crate) value: Value,
    pub(crate) coercions: Vec<Coercion>,
}

/// Reads arguments that a language model wrote.
pub(crate) fn from_text(
    name: &str,
    schema: Result<&Schema, &str>,
    text: &str,
    strict: bool,
) -> Result<Conforming, String> {
    let mut coercions = Vec::new();
    let value = match parse(text, &JsonLimits::CONTRACT) {
        Ok(Value::String(inner)) if !strict => unwrapped(name, text, &inner, &mut coercions)?,
        Ok(value) => value,
        Err(error) => match stripped(text).filter(|_| !strict) {
            Some(inner) => unwrapped(name, text, inner, &mut coercions)?,
            None => return Err(format!("arguments of `{name}` are not read: {error}; expected one JSON object")),
        },
    };
    conform(name, schema, value, strict, coercions)
}

/// Checks arguments that came as a value.
pub(crate) fn from_value(
    name: &str,
    schema: Result<&Schema, &str>,
    value: &Value,
    strict: bool,
) -> Result<Conforming, String> {
    let value = normal(value.clone(), &JsonLimits::CONTRACT)
        .map_err(|error| format!("arguments of `{name}` are not read: {error}"))?;
    conform(name, schema, value, strict, Vec::new())
}

fn conform(
    name: &str,
    schema: Result<&Schema, &str>,
    value: Value,
    strict: bool,
    mut coercions: Vec<Coercion>,
) -> Result<Conforming, String> {
    let schema = schema.map_err(|reason| format!("`{name}` cannot be called: its schema is unusable: {reason}"))?;
    if !value.is_object() {
        return Err(format!(
            "arguments of `{name}` are {}, expected one JSON object",
            super::problem::cut(&value.to_string(), 60)
        ));
    }
    if schema.validator.is_valid(&value) {
        return Ok(Conforming { value, coercions });
    }
    if !strict && let Some((value, more)) = repair(name, schema, &value) {
        coercions.extend(more);
        return Ok(Conforming { value, coercions });
    }
    Err(format!("arguments of `{name}` are wrong: {}", problems(schema, &value).join("; ")))
}

/// What stands inside a Markdown fence; nothing at all counts as an empty object.
fn stripped(text: &str) -> Option<&str> {
    let text = text.trim();
    if text.is_empty() {
        return Some("{}");
    }
    let inner = text.strip_prefix("```")?.strip_suffix("```")?;
    let (label, rest) = inner.split_once('\n')?;
    label.trim().chars().all(|character| character.is_ascii_alphanumeric()).then_some(rest.trim())
}

/// Arguments that were packed once too often: as JSON text inside a string, or in a fence.
fn unwrapped(name: &str, text: &str, inner: &str, coercions: &mut Vec<Coercion>) -> Result<Value, String> {
    let value = parse(inner, &JsonLimits::CONTRACT)
        .map_err(|error| format!("arguments of `{name}` are not read: {error}; expected one JSON object"))?;
    coercions.push(Coercion {
        tool: name.to_owned(),
        at: String::new(),
        from: Value::String(text.to_owned()),
        to: value.clone(),
    });
    Ok(value)
}

/// Takes a text out of an object.
pub(crate) fn take_text(map: &mut Map<String, Value>, key: &str) -> Option<String> {
    match map.remove(key) {
        Some(Value::String(text)) => Some(text),
        _ => None,
    }
}
