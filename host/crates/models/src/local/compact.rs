//! Functions in few words, for models whose template has no place for them and for prompts that must be short.

use loopwright_contract::json::canonical;
use serde_json::Value;

use crate::offer::Function;

/// Values of an enum that are listed.
const VALUES_MAX: usize = 24;
/// How deep schemas are described.
const DEPTH_MAX: usize = 4;

/// One line a function: `manage_wifi(action: enable|disable|query, ssid?: string) - Wi-Fi on or off`.
pub(crate) fn line(function: &Function) -> String {
    let arguments = properties(&function.parameters, 0);
    let description = function.description.lines().next().unwrap_or_default();
    if description.is_empty() {
        format!("{}({arguments})", function.name)
    } else {
        format!("{}({arguments}) - {description}", function.name)
    }
}

fn properties(schema: &Value, depth: usize) -> String {
    let required: Vec<&str> =
        schema.get("required").and_then(Value::as_array).into_iter().flatten().filter_map(Value::as_str).collect();
    let Some(declared) = schema.get("properties").and_then(Value::as_object) else {
        return String::new();
    };
    let mut optional: Vec<&str> = declared.keys().map(String::as_str).filter(|name| !required.contains(name)).collect();
    optional.sort_unstable();
    let describe =
        |name: &str, mark: &str| declared.get(name).map(|schema| format!("{name}{mark}: {}", kind(schema, depth)));
    let parts: Vec<String> = required
        .iter()
        .filter_map(|name| describe(name, ""))
        .chain(optional.iter().filter_map(|name| describe(name, "?")))
        .collect();
    parts.join(", ")
}

fn kind(schema: &Value, depth: usize) -> String {
    if depth >= DEPTH_MAX {
        return "any".to_owned();
    }
    if let Some(Value::Array(values)) = schema.get("enum") {
        let mut names: Vec<String> = values.iter().take(VALUES_MAX).map(value_text).collect();
        if values.len() > VALUES_MAX {
            names.push("...".to_owned());
        }
        return names.join("|");
    }
    if let Some(value) = schema.get("const") {
        return value_text(value);
    }
    for key in ["anyOf", "oneOf"] {
        if let Some(Value::Array(options)) = schema.get(key) {
            return alternatives(options.iter().map(|option| kind(option, depth + 1)));
        }
    }
    match schema.get("type") {
        Some(Value::Array(kinds)) => {
            alternatives(kinds.iter().filter_map(Value::as_str).map(|name| named(name, schema, depth)))
        }
        Some(Value::String(name)) => named(name, schema, depth),
        _ => "any".to_owned(),
    }
}

/// Alternatives without `null`, which an optional argument already says.
fn alternatives(options: impl Iterator<Item = String>) -> String {
    options.filter(|option| option != "null").collect::<Vec<_>>().join("|")
}

fn named(name: &str, schema: &Value, depth: usize) -> String {
    match name {
        "integer" | "number" => {
            match (schema.get("minimum").and_then(Value::as_f64), schema.get("maximum").and_then(Value::as_f64)) {
                (Some(least), Some(most)) if most.abs() < 1e6 && least.abs() < 1e6 => {
                    format!("{least}-{most}")
                }
                _ => name.to_owned(),
            }
        }
        "boolean" => "true|false".to_owned(),
        "array" => {
            format!("[{}]", schema.get("items").map_or_else(|| "any".to_owned(), |items| kind(items, depth + 1)))
        }
        "object" => format!("{{{}}}", properties(schema, depth + 1)),
        other => other.to_owned(),
    }
}

fn value_text(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => canonical(other),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_function_takes_one_line() {
        let check = |parameters: Value, expected: &str| {
            let function =
                Function { name: "f".to_owned(), description: "Does it.\nAt length.".to_owned(), parameters };
            assert_eq!(line(&function), format!("f({expected}) - Does it."));
        };
        check(json!({"type": "object", "properties": {}}), "");
        check(
            json!({"type": "object", "required": ["b"], "properties": {"a": {"type": "string"}, "b": {"enum": ["x", "y"]}}}),
            "b: x|y, a?: string",
        );
        check(
            json!({"type": "object", "required": ["hour", "on"], "properties": {"hour": {"type": "integer", "minimum": 0, "maximum": 23}, "on": {"type": "boolean"}}}),
            "hour: 0-23, on: true|false",
        );
        check(
            json!({"type": "object", "properties": {"l": {"type": ["array", "null"], "items": {"type": "object", "required": ["n"], "properties": {"n": {"type": "number"}}}}}}),
            "l?: [{n: number}]",
        );
        check(
            json!({"type": "object", "properties": {"o": {"anyOf": [{"const": "auto"}, {"type": "integer"}, {"type": "null"}]}}}),
            "o?: auto|integer",
        );
    }
}
