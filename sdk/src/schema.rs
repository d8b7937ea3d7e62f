//! JSON Schema from Rust types, in the profile that the contract and the planners want: inlined, closed, compact.

use schemars::generate::SchemaSettings;
use schemars::{Schema, SchemaGenerator};
use serde_json::{Map, Value};

/// What a schema is for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Purpose {
    /// Arguments: an optional one is absent and never `null`.
    Arguments,
    /// Results and documents, which a serialiser may fill with `null`.
    Output,
}

/// How a type describes itself: `T::json_schema`. Everything else here is the same for all types, and a plugin holds it once.
pub(crate) type Describe = fn(&mut SchemaGenerator) -> Schema;

/// The schema of a handler's arguments.
pub(crate) fn of_arguments(describe: Describe) -> Value {
    let mut schema = generate(describe, SchemaSettings::draft2020_12().for_deserialize(), Purpose::Arguments);
    if let Value::Object(keywords) = &mut schema {
        keywords.entry("properties").or_insert_with(|| Value::Object(Map::new()));
        close(keywords);
    }
    schema
}

/// The schema of an environment's set-up; none where it takes none, or takes anything.
#[cfg_attr(
    not(any(target_family = "wasm", test)),
    expect(dead_code, reason = "only the export glue describes a set-up")
)]
pub(crate) fn of_setup(describe: Describe) -> Option<Value> {
    let schema = generate(describe, SchemaSettings::draft2020_12().for_deserialize(), Purpose::Arguments);
    let takes_some =
        schema.get("properties").and_then(Value::as_object).is_some_and(|properties| !properties.is_empty());
    takes_some.then_some(schema)
}

/// The schema of a handler's data or of a document.
pub(crate) fn of_result(describe: Describe) -> Value {
    match generate(describe, SchemaSettings::draft2020_12().for_serialize(), Purpose::Output) {
        // `serde_json::Value` accepts anything; a result is always an object.
        Value::Bool(_) => serde_json::json!({"type": "object"}),
        Value::Object(keywords) if keywords.is_empty() => serde_json::json!({"type": "object"}),
        other => other,
    }
}

fn generate(describe: Describe, settings: SchemaSettings, purpose: Purpose) -> Value {
    let settings = settings.with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = describe(&mut settings.into_generator()).to_value();
    tidy(&mut schema, purpose);
    schema
}

/// Brings a schema and all schemas inside it into the profile.
fn tidy(schema: &mut Value, purpose: Purpose) {
    let Value::Object(keywords) = schema else {
        return;
    };
    for keyword in ["$schema", "title", "format"] {
        keywords.remove(keyword);
    }
    if keywords.get("default") == Some(&Value::Null) {
        keywords.remove("default");
    }
    if let Some(Value::String(description)) = keywords.get_mut("description") {
        *description = description.split_whitespace().collect::<Vec<_>>().join(" ");
    }
    visit(keywords, purpose);
    if purpose == Purpose::Arguments {
        drop_null(keywords);
    }
    unwrap_single(keywords);
    merge_enum(keywords);
    if keywords.contains_key("properties") {
        close(keywords);
    }
}

/// Tidies the schemas inside a schema. A property's name is never taken for a keyword.
fn visit(keywords: &mut Map<String, Value>, purpose: Purpose) {
    for (keyword, value) in keywords.iter_mut() {
        match (keyword.as_str(), value) {
            ("properties" | "patternProperties" | "$defs", Value::Object(schemas)) => {
                schemas.values_mut().for_each(|schema| tidy(schema, purpose));
            }
            ("items" | "additionalProperties" | "not" | "contains" | "propertyNames", schema) => tidy(schema, purpose),
            ("oneOf" | "anyOf" | "allOf" | "prefixItems", Value::Array(schemas)) => {
                schemas.iter_mut().for_each(|schema| tidy(schema, purpose));
            }
            _ => {}
        }
    }
}

/// Takes `null` out of a schema's types, values and alternatives.
fn drop_null(keywords: &mut Map<String, Value>) {
    if let Some(Value::Array(types)) = keywords.get_mut("type") {
        types.retain(|kind| kind != "null");
        if let [one] = types.as_slice() {
            let one = one.clone();
            keywords.insert("type".to_owned(), one);
        }
    }
    if let Some(Value::Array(values)) = keywords.get_mut("enum") {
        values.retain(|value| !value.is_null());
    }
    for keyword in ["anyOf", "oneOf"] {
        if let Some(Value::Array(schemas)) = keywords.get_mut(keyword) {
            schemas.retain(|schema| schema.get("type").is_none_or(|kind| kind != "null"));
        }
    }
}

/// Replaces an alternative of one by what it says; the outer description wins.
fn unwrap_single(keywords: &mut Map<String, Value>) {
    for keyword in ["anyOf", "oneOf", "allOf"] {
        let single = match keywords.get(keyword) {
            Some(Value::Array(schemas)) => match schemas.as_slice() {
                [Value::Object(single)] => single.clone(),
                _ => continue,
            },
            _ => continue,
        };
        keywords.remove(keyword);
        for (inner, value) in single {
            keywords.entry(inner).or_insert(value);
        }
    }
}

/// Writes alternatives of strings as one closed list: documented variants come as one schema for each. Their docs are for Rust readers.
fn merge_enum(keywords: &mut Map<String, Value>) {
    for keyword in ["oneOf", "anyOf"] {
        let Some(Value::Array(schemas)) = keywords.get(keyword) else {
            continue;
        };
        let Some(values) = schemas.iter().map(strings_of).collect::<Option<Vec<_>>>() else {
            continue;
        };
        keywords.remove(keyword);
        keywords.insert("type".to_owned(), "string".into());
        keywords.insert("enum".to_owned(), Value::Array(values.concat()));
    }
    if let Some(value @ Value::String(_)) = keywords.remove("const") {
        keywords.insert("enum".to_owned(), Value::Array(vec![value]));
    }
}

/// The strings that a schema allows, where it is a closed list of strings.
fn strings_of(schema: &Value) -> Option<Vec<Value>> {
    let keywords = schema.as_object()?;
    if keywords.keys().any(|keyword| !matches!(keyword.as_str(), "type" | "const" | "enum" | "description")) {
        return None;
    }
    match (keywords.get("const"), keywords.get("enum")) {
        (Some(value @ Value::String(_)), None) => Some(vec![value.clone()]),
        (None, Some(Value::Array(values))) if values.iter().all(Value::is_string) => Some(values.clone()),
        _ => None,
    }
}

/// Closes an object against unknown fields, unless it says itself what further fields are.
fn close(keywords: &mut Map<String, Value>) {
    keywords.entry("additionalProperties").or_insert(Value::Bool(false));
}

#[cfg(test)]
mod tests {
    use super::*;
    use schemars::JsonSchema;
    use serde::{Deserialize, Serialize};
    use serde_json::json;
    use std::collections::BTreeMap;

    /// The
    /// action.
    #[derive(Deserialize, Serialize, JsonSchema)]
    #[serde(rename_all = "snake_case")]
    enum Action {
        /// Makes one.
        CreateNew,
        /// Reads.
        Query,
    }

    #[derive(Deserialize, JsonSchema)]
    #[serde(deny_unknown_fields, rename_all = "camelCase")]
    #[expect(dead_code, reason = "only the schema matters")]
    struct Arguments {
        /// What to do:
        /// one thing.
        action: Action,
        other_action: Option<Action>,
        title: Option<String>,
        format: Option<String>,
        #[schemars(range(min = 0, max = 100))]
        level: Option<u8>,
        rows: Option<Vec<Row>>,
        labels: Option<BTreeMap<String, String>>,
    }

    #[derive(Deserialize, Serialize, JsonSchema)]
    struct Row {
        name: String,
        note: Option<String>,
    }

    #[test]
    fn arguments_are_inlined_closed_and_compact() {
        let expected = json!({
            "type": "object",
            "additionalProperties": false,
            "required": ["action"],
            "properties": {
                "action": {"type": "string", "enum": ["create_new", "query"], "description": "What to do: one thing."},
                "otherAction": {"type": "string", "enum": ["create_new", "query"], "description": "The action."},
                "title": {"type": "string"},
                "format": {"type": "string"},
                "level": {"type": "integer", "minimum": 0, "maximum": 100},
                "rows": {"type": "array", "items": {
                    "type": "object",
                    "additionalProperties": false,
                    "required": ["name"],
                    "properties": {"name": {"type": "string"}, "note": {"type": "string"}},
                }},
                "labels": {"type": "object", "additionalProperties": {"type": "string"}},
            },
        });
        let found = of_arguments(<Arguments>::json_schema);
        assert_eq!(found, expected, "{found:#}");
    }

    #[test]
    fn no_arguments_are_a_closed_empty_object() {
        let found = of_arguments(<crate::NoArguments>::json_schema);
        assert_eq!(found.get("additionalProperties"), Some(&json!(false)));
        assert_eq!(found.get("properties"), Some(&json!({})));
        assert_eq!(found.get("type"), Some(&json!("object")));
    }

    #[test]
    fn a_setup_that_takes_nothing_or_anything_has_no_schema() {
        assert_eq!(of_setup(<crate::NoArguments>::json_schema), None);
        assert_eq!(of_setup(<Value>::json_schema), None);
        assert_eq!(of_setup(<Arguments>::json_schema), Some(of_arguments(<Arguments>::json_schema)));
    }

    #[test]
    fn a_float_has_no_format_and_a_default_that_says_something_stays() {
        fn twenty() -> u8 {
            20
        }
        #[derive(Deserialize, JsonSchema)]
        #[expect(dead_code, reason = "only the schema matters")]
        struct Defaults {
            #[serde(default = "twenty")]
            limit: u8,
            #[serde(default)]
            ratio: Option<f64>,
        }
        let found = of_arguments(<Defaults>::json_schema);
        assert_eq!(found.pointer("/properties/limit/default"), Some(&json!(20)));
        assert_eq!(found.pointer("/properties/ratio"), Some(&json!({"type": "number"})));
    }

    #[test]
    fn results_may_be_null_or_open() {
        let row = of_result(<Row>::json_schema);
        assert_eq!(row.pointer("/properties/note/type"), Some(&json!(["string", "null"])));
        assert_eq!(of_result(<Value>::json_schema), json!({"type": "object"}));
        assert_eq!(of_result(<Map<String, Value>>::json_schema).get("type"), Some(&json!("object")));
    }

    #[test]
    fn a_choice_of_shapes_stays_a_choice() {
        #[derive(Deserialize, JsonSchema)]
        #[serde(untagged)]
        #[expect(dead_code, reason = "only the schema matters")]
        enum Either {
            Number(u8),
            Text(String),
        }
        #[derive(Deserialize, JsonSchema)]
        #[expect(dead_code, reason = "only the schema matters")]
        struct Outer {
            value: Either,
        }
        let found = of_arguments(<Outer>::json_schema);
        assert_eq!(found.pointer("/properties/value/anyOf/1/type"), Some(&json!("string")), "{found:#}");
    }
}
