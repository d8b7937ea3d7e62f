//! The one profile of JSON Schema: 2020-12, inlined, closed.

use jsonschema::{Draft, Validator};
use serde_json::Value;

/// Compiles a schema of arguments: a closed object.
pub(super) fn arguments(schema: &Value) -> Result<Validator, String> {
    if schema.get("type") != Some(&Value::from("object")) {
        return Err(format!("expected an object with `\"type\": \"object\"`, found type {}", found(schema, "type")));
    }
    if schema.get("additionalProperties") != Some(&Value::Bool(false)) {
        return Err(format!(
            "expected `\"additionalProperties\": false`, found {}",
            found(schema, "additionalProperties")
        ));
    }
    any(schema)
}

/// Compiles any schema.
pub(super) fn any(schema: &Value) -> Result<Validator, String> {
    if !schema.is_object() {
        return Err("expected a JSON object".into());
    }
    no_remote(schema)?;
    jsonschema::options()
        .with_draft(Draft::Draft202012)
        .build(schema)
        .map_err(|error| format!("not a JSON Schema 2020-12: {error}"))
}

fn found(schema: &Value, key: &str) -> String {
    schema.get(key).map_or_else(|| "none".to_owned(), |value| format!("`{value}`"))
}

/// A schema that points elsewhere means something else tomorrow, or asks the host to fetch it.
fn no_remote(schema: &Value) -> Result<(), String> {
    match schema {
        Value::Array(items) => items.iter().try_for_each(no_remote),
        Value::Object(map) => {
            for key in ["$ref", "$dynamicRef"] {
                if let Some(Value::String(target)) =
                    map.get(key).filter(|target| !target.as_str().is_some_and(|text| text.starts_with('#')))
                {
                    return Err(format!("`{key}` to `{target}`: expected everything inlined"));
                }
            }
            map.values().try_for_each(no_remote)
        }
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn arguments_are_a_closed_object() {
        let closed = json!({"type": "object", "properties": {"a": {"type": "integer"}}, "additionalProperties": false});
        let validator = arguments(&closed).unwrap();
        assert!(validator.is_valid(&json!({"a": 1})) && !validator.is_valid(&json!({"b": 1})));
        for (schema, part) in [
            (json!({"type": "object"}), "additionalProperties"),
            (json!({"type": "string", "additionalProperties": false}), "type"),
            (json!(true), "type"),
            (
                json!({"type": "object", "additionalProperties": false, "properties": {"a": {"$ref": "https://x/y"}}}),
                "inlined",
            ),
            (
                json!({"type": "object", "additionalProperties": false, "properties": {"a": {"type": "intger"}}}),
                "2020-12",
            ),
            (
                json!({"type": "object", "additionalProperties": false, "properties": {"a": {"$ref": "#/$defs/none"}}}),
                "2020-12",
            ),
        ] {
            let error = arguments(&schema).err().unwrap_or_default();
            assert!(error.contains(part), "{schema}: {error}");
        }
    }
}
