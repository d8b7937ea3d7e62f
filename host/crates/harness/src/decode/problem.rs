//! What is wrong with arguments, in words that a planner can act on: where, what was found, what is allowed.

use jsonschema::error::{TypeKind, ValidationErrorKind};
use jsonschema::{JsonType, ValidationError};
use loopwright_contract::json::canonical;
use serde_json::Value;

use super::schema::Schema;

/// Problems that one message lists.
const PROBLEMS_MAX: usize = 5;
/// Characters of a value that a message quotes.
const QUOTE_CHARS_MAX: usize = 60;
/// Characters of a list of what is allowed.
const ALLOWED_CHARS_MAX: usize = 600;

/// A text cut to `chars_max` characters, with a sign where it was cut.
pub(crate) fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}...", text.get(..end).unwrap_or_default()),
        None => text.to_owned(),
    }
}

/// All problems of a value under a schema, in a stable order; empty when it is valid.
pub(crate) fn problems(schema: &Schema, value: &Value) -> Vec<String> {
    let mut problems: Vec<String> = schema.validator.iter_errors(value).map(|error| describe(&error, schema)).collect();
    problems.sort();
    problems.dedup();
    let more = problems.len().saturating_sub(PROBLEMS_MAX);
    problems.truncate(PROBLEMS_MAX);
    if more > 0 {
        problems.push(format!("and {more} more"));
    }
    problems
}

fn describe(error: &ValidationError<'_>, schema: &Schema) -> String {
    let pointer = error.instance_path().as_str();
    let at =
        if pointer.is_empty() { "the arguments".to_owned() } else { format!("`{}`", cut(pointer, QUOTE_CHARS_MAX)) };
    let found = found(error.instance());
    match error.kind() {
        ValidationErrorKind::AdditionalProperties { unexpected }
        | ValidationErrorKind::UnevaluatedProperties { unexpected } => {
            let mut unexpected: Vec<String> =
                unexpected.iter().map(|name| format!("`{}`", cut(name, QUOTE_CHARS_MAX))).collect();
            unexpected.sort();
            format!(
                "{at}: unknown {}; allowed: {}",
                cut(&unexpected.join(", "), ALLOWED_CHARS_MAX),
                allowed_names(error, schema)
            )
        }
        ValidationErrorKind::Required { property } => {
            format!("{at}: `{}` is missing", property.as_str().unwrap_or_default())
        }
        ValidationErrorKind::Type { kind } => format!("{at}: found {found}, expected {}", types(kind)),
        ValidationErrorKind::Enum { options } => format!("{at}: found {found}, allowed: {}", list(options)),
        ValidationErrorKind::Constant { expected_value } => {
            format!("{at}: found {found}, allowed: {}", canonical(expected_value))
        }
        ValidationErrorKind::Minimum { limit } => format!("{at}: found {found}, expected at least {limit}"),
        ValidationErrorKind::Maximum { limit } => format!("{at}: found {found}, expected at most {limit}"),
        ValidationErrorKind::ExclusiveMinimum { limit } => format!("{at}: found {found}, expected more than {limit}"),
        ValidationErrorKind::ExclusiveMaximum { limit } => format!("{at}: found {found}, expected less than {limit}"),
        ValidationErrorKind::MinLength { limit } => {
            format!("{at}: found {found}, expected at least {limit} characters")
        }
        ValidationErrorKind::MaxLength { limit } => format!("{at}: found {found}, expected at most {limit} characters"),
        ValidationErrorKind::MinItems { limit } => format!("{at}: expected at least {limit} items"),
        ValidationErrorKind::MaxItems { limit } => format!("{at}: expected at most {limit} items"),
        ValidationErrorKind::Pattern { pattern } => {
            format!("{at}: found {found}, expected a match of `{}`", cut(pattern, ALLOWED_CHARS_MAX))
        }
        _ => format!("{at}: {}", cut(&error.masked().to_string(), ALLOWED_CHARS_MAX)),
    }
}

fn found(value: &Value) -> String {
    let kind = match value {
        Value::Null => return "null".to_owned(),
        Value::Bool(_) => "boolean",
        Value::Number(_) => "number",
        Value::String(_) => "string",
        Value::Array(_) => "array",
        Value::Object(_) => "object",
    };
    format!("{kind} `{}`", cut(&canonical(value), QUOTE_CHARS_MAX))
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(single) => single.to_string(),
        TypeKind::Multiple(several) => {
            let mut names: Vec<String> = several.iter().map(|one: JsonType| one.to_string()).collect();
            names.sort();
            names.join(" or ")
        }
    }
}

fn list(options: &Value) -> String {
    let texts: Vec<String> = options.as_array().into_iter().flatten().map(canonical).collect();
    cut(&texts.join(", "), ALLOWED_CHARS_MAX)
}

/// The names that the object at the error may have, sorted.
fn allowed_names(error: &ValidationError<'_>, schema: &Schema) -> String {
    let parent = error.schema_path().as_str().rsplit_once('/').map_or("", |(parent, _)| parent);
    let properties = schema.source.pointer(&format!("{parent}/properties")).and_then(Value::as_object);
    let mut names: Vec<String> = properties.into_iter().flatten().map(|(name, _)| format!("`{name}`")).collect();
    names.sort();
    if names.is_empty() { "none".to_owned() } else { cut(&names.join(", "), ALLOWED_CHARS_MAX) }
}
