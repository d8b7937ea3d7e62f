//! The searchable fields of a tool spec.

use std::collections::BTreeSet;

use loopwright_contract::tool::{Localized, ToolSpec};
use serde_json::Value;

use super::term::spec_terms;
use super::value::kinds_of_argument;

/// How deep argument schemas are read.
const SCHEMA_DEPTH_MAX: usize = 6;

/// What a field says about its tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Field {
    Name,
    Domain,
    Description,
    Keywords,
    /// Names and allowed values of the arguments.
    Arguments,
    /// Kinds of values that the arguments take.
    Values,
}

impl Field {
    /// How much one occurrence in this field counts.
    pub(super) fn weight(self) -> f64 {
        match self {
            Self::Name => 2.0,
            Self::Keywords => 2.0,
            Self::Description => 1.5,
            Self::Domain => 0.5,
            Self::Arguments => 0.5,
            Self::Values => 1.0,
        }
    }
}

/// One field in one language: lengths are compared only within the same key.
pub(super) type FieldKey = (Field, String);

/// The fields of a spec as terms. Texts of one language are one field.
pub(super) fn fields(spec: &ToolSpec) -> Vec<(FieldKey, Vec<String>)> {
    let key = |field| (field, String::new());
    let mut fields = vec![
        (key(Field::Name), spec_terms(spec.name.as_str())),
        (key(Field::Domain), spec_terms(&spec.domain)),
        (key(Field::Arguments), argument_terms(&spec.arguments_schema)),
        (key(Field::Values), value_terms(&spec.arguments_schema)),
    ];
    for (field, texts) in [(Field::Description, &spec.description), (Field::Keywords, &spec.keywords)] {
        fields.extend(texts.iter().map(|Localized { lang, text }| ((field, lang.to_string()), spec_terms(text))));
    }
    fields
}

fn argument_terms(schema: &Value) -> Vec<String> {
    let mut texts = Vec::new();
    collect_arguments(schema, SCHEMA_DEPTH_MAX, &mut texts);
    texts.iter().flat_map(|text| spec_terms(text)).collect()
}

/// Each kind of value that the top-level arguments take, once.
fn value_terms(schema: &Value) -> Vec<String> {
    let properties = schema.get("properties").and_then(Value::as_object).into_iter().flatten();
    let kinds: BTreeSet<&str> = properties.flat_map(|(name, property)| kinds_of_argument(name, property)).collect();
    kinds.into_iter().map(str::to_owned).collect()
}

/// Collects property names, `enum` and `const` texts, sorted within each object.
fn collect_arguments<'a>(schema: &'a Value, depth: usize, texts: &mut Vec<&'a str>) {
    let Some(depth) = depth.checked_sub(1) else { return };
    if let Some(properties) = schema.get("properties").and_then(Value::as_object) {
        for (name, property) in properties {
            texts.push(name);
            collect_arguments(property, depth, texts);
        }
    }
    let values = schema.get("enum").and_then(Value::as_array).into_iter().flatten().chain(schema.get("const"));
    texts.extend(values.filter_map(Value::as_str));
    for branch in ["anyOf", "oneOf", "allOf", "prefixItems"] {
        for part in schema.get(branch).and_then(Value::as_array).into_iter().flatten() {
            collect_arguments(part, depth, texts);
        }
    }
    if let Some(items) = schema.get("items") {
        collect_arguments(items, depth, texts);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn names_and_allowed_values_are_read_from_nested_schemas() {
        let schema = json!({"properties": {
            "action": {"enum": ["start", "stop", 3]},
            "rules": {"items": {"anyOf": [{"properties": {"kind": {"const": "daily"}}}]}}
        }});
        let mut terms = argument_terms(&schema);
        terms.retain(|term| !term.ends_with('*'));
        terms.sort();
        assert_eq!(terms, ["action", "daili", "kind", "rule", "start", "stop"]);
    }

    #[test]
    fn a_schema_deeper_than_the_limit_is_read_in_part() {
        let mut schema = json!({"properties": {"deepest": {}}});
        for _ in 0..SCHEMA_DEPTH_MAX {
            schema = json!({"items": schema});
        }
        assert!(argument_terms(&schema).is_empty());
        assert!(argument_terms(&json!({"items": {"properties": {"near": {}}}})).contains(&"near".to_owned()));
    }
}
