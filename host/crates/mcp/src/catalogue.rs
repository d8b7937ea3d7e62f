//! Tools as MCP clients see them. Texts come from plugins: what a terminal or a reader could be deceived by is shown by its number.

use std::collections::BTreeMap;
use std::sync::Arc;

use loopwright_contract::name::{Lang, ToolName};
use loopwright_contract::plain::Plain;
use loopwright_contract::tool::{Effect, ToolSpec, localized};
use rmcp::model::{JsonObject, Tool, ToolAnnotations};
use serde_json::{Map, Value, json};

use crate::result::Kind;

/// The rendered tools of all worlds, by name.
#[derive(Debug)]
pub(crate) struct Catalogue(BTreeMap<ToolName, Tool>);

impl Catalogue {
    pub(crate) fn new(specs: &[ToolSpec], lang: &Lang) -> Self {
        Self(specs.iter().map(|spec| (spec.name.clone(), tool(spec, lang))).collect())
    }

    /// The exposed tools, sorted by name.
    pub(crate) fn listed(&self, exposed: &[ToolName]) -> Vec<Tool> {
        self.0.iter().filter(|(name, _)| exposed.contains(name)).map(|(_, tool)| tool.clone()).collect()
    }
}

fn tool(spec: &ToolSpec, lang: &Lang) -> Tool {
    let description = Plain(localized(&spec.description, lang).unwrap_or_default()).to_string();
    let title = title(spec.name.as_str());
    let mut tool = Tool::new(spec.name.to_string(), description, object(&spec.arguments_schema));
    tool.output_schema = Some(Arc::new(output_schema(&spec.result_schema)));
    tool.annotations = Some(annotations(spec.strongest_effect()).with_title(&title));
    tool.title = Some(title);
    tool
}

/// `manage_wifi` as `Manage wifi`.
fn title(name: &str) -> String {
    let words = name.replace(['_', '-'], " ");
    let mut characters = words.chars();
    characters.next().map_or_else(String::new, |first| first.to_uppercase().chain(characters).collect())
}

/// What any call of the tool may do at most. Whether a write may be repeated no access rule says, so it is not promised.
fn annotations(strongest: Effect) -> Hints {
    Hints { read_only: strongest == Effect::Read, destructive: strongest == Effect::Destructive }
}

struct Hints {
    read_only: bool,
    destructive: bool,
}

impl Hints {
    fn with_title(&self, title: &str) -> ToolAnnotations {
        ToolAnnotations::with_title(title)
            .read_only(self.read_only)
            .destructive(self.destructive)
            .idempotent(self.read_only)
            // A phone world ends at its own documents: nothing outside it is reached.
            .open_world(false)
    }
}

/// A schema as an object, with its texts made safe.
fn object(schema: &Value) -> JsonObject {
    match safe(schema) {
        Value::Object(map) => map,
        // The host compiles every schema of arguments as a closed object; this is for a host that does not.
        _ => Map::from_iter([("type".to_owned(), json!("object"))]),
    }
}

fn safe(schema: &Value) -> Value {
    match schema {
        Value::Array(items) => items.iter().map(safe).collect(),
        Value::Object(map) => map
            .iter()
            .map(|(key, value)| match value {
                Value::String(text) if matches!(key.as_str(), "description" | "title" | "$comment") => {
                    (key.clone(), Value::String(Plain(text).to_string()))
                }
                value => (key.clone(), safe(value)),
            })
            .collect(),
        other => other.clone(),
    }
}

/// The schema of the result envelope around a tool's own data. Failures have it too: some clients check them like successes.
fn output_schema(data: &Value) -> JsonObject {
    let mut data = safe(data);
    let definitions = definitions(&mut data);
    let list = json!({"type": "array", "items": {"type": "object"}});
    let kinds: Vec<&str> = Kind::ALL.iter().map(|kind| kind.as_str()).collect();
    let mut schema = object(&json!({
        "type": "object",
        "required": ["success"],
        "oneOf": [
            {
                "properties": {
                    "success": {"const": true}, "message": {"type": "string"}, "data": data, "effects": list, "notices": list,
                },
                "required": ["success", "message", "data"],
                "additionalProperties": false,
            },
            {
                "properties": {
                    "success": {"const": false}, "error": {"type": "string"}, "code": {"type": "integer"}, "kind": {"enum": kinds},
                    "data": {}, "effects": list, "notices": list,
                },
                "required": ["success", "error", "code", "kind"],
                "additionalProperties": false,
            },
        ],
    }));
    schema.extend(definitions);
    schema
}

/// Takes a schema's definitions out, so that references keep their meaning inside the envelope. A schema with references that would lose it
/// promises nothing instead.
fn definitions(schema: &mut Value) -> Map<String, Value> {
    let mut taken = Map::new();
    if let Value::Object(map) = schema {
        for key in ["$defs", "definitions"] {
            taken.extend(map.remove_entry(key));
        }
        map.remove("$schema");
        map.remove("$id");
    }
    let whole = json!([schema, taken]);
    if !references(&whole).iter().all(|target| target.starts_with("#/$defs/") || target.starts_with("#/definitions/")) {
        *schema = json!({});
        return Map::new();
    }
    taken
}

fn references(value: &Value) -> Vec<&str> {
    match value {
        Value::Array(items) => items.iter().flat_map(references).collect(),
        Value::Object(map) => {
            let here = map.get("$ref").and_then(Value::as_str);
            here.into_iter().chain(map.values().flat_map(references)).collect()
        }
        _ => Vec::new(),
    }
}

#[cfg(test)]
mod tests {
    use loopwright_contract::tool::Localized;
    use loopwright_testkit::tool::{NOTE, TORCH, WIPE, installed};

    use super::*;

    fn specs() -> Vec<ToolSpec> {
        installed().into_iter().map(|tool| tool.spec).collect()
    }

    fn names(tools: &[Tool]) -> Vec<String> {
        tools.iter().map(|tool| tool.name.to_string()).collect()
    }

    #[test]
    fn exposed_tools_are_listed_by_name_in_the_language_asked_for() {
        let mut specs = specs();
        specs.reverse();
        let exposed: Vec<ToolName> = [WIPE, NOTE, TORCH].map(|name| ToolName::new(name).expect("a name")).to_vec();
        for (lang, torch) in [
            ("en", "Turns the torch (flashlight) on or off."),
            ("zh", "打开或关闭手电筒。"),
            ("fr", "Turns the torch (flashlight) on or off."),
        ] {
            let catalogue = Catalogue::new(&specs, &Lang::new(lang).expect("a tag"));
            let tools = catalogue.listed(&exposed);
            assert_eq!(names(&tools), [NOTE, TORCH, WIPE]);
            assert_eq!(tools[1].description.as_deref(), Some(torch), "{lang}");
            assert_eq!(names(&catalogue.listed(&exposed[..1])), [WIPE]);
        }
    }

    #[test]
    fn hints_follow_the_strongest_rule() {
        for (effect, expected) in [
            (Effect::Read, (true, false, true)),
            (Effect::Write, (false, false, false)),
            (Effect::Destructive, (false, true, false)),
        ] {
            let hints = annotations(effect).with_title("x");
            let found = (hints.read_only_hint, hints.destructive_hint, hints.idempotent_hint);
            assert_eq!(found, (Some(expected.0), Some(expected.1), Some(expected.2)), "{effect:?}");
            assert_eq!(hints.open_world_hint, Some(false));
        }
    }

    #[test]
    fn hostile_texts_are_shown_by_number() {
        let mut spec = specs().remove(0);
        spec.description = vec![Localized { lang: Lang::english(), text: "a\u{1b}[2J\u{e0041}".to_owned() }];
        spec.arguments_schema =
            json!({"type": "object", "properties": {"a": {"description": "b\u{202e}", "pattern": "c"}}});
        let tool = tool(&spec, &Lang::english());
        assert_eq!(tool.description.as_deref(), Some("a\\u{1b}[2J\\u{e0041}"));
        let expected = json!({"type": "object", "properties": {"a": {"description": "b\\u{202e}", "pattern": "c"}}});
        assert_eq!(Value::Object(tool.input_schema.as_ref().clone()), expected);
        assert_eq!(tool.title.as_deref(), Some("Manage note"));
    }

    #[test]
    fn the_schema_of_results_takes_both_envelopes_and_nothing_else() {
        let data = json!({"type": "object", "required": ["a"], "properties": {"a": {"$ref": "#/$defs/A"}}, "$defs": {"A": {"type": "integer"}}});
        let schema = Value::Object(output_schema(&data));
        let validator = jsonschema::draft202012::new(&schema).expect("a schema");
        for (value, valid) in [
            (json!({"success": true, "message": "m", "data": {"a": 1}}), true),
            (
                json!({"success": true, "message": "m", "data": {"a": 1}, "effects": [{"kind": "x"}], "notices": []}),
                true,
            ),
            (json!({"success": true, "message": "m", "data": {"a": "1"}}), false),
            (json!({"success": true, "message": "m", "data": {}}), false),
            (json!({"success": true, "message": "m"}), false),
            (json!({"success": false, "error": "e", "code": 404, "kind": "refused"}), true),
            (json!({"success": false, "error": "e", "code": 404, "kind": "refused", "data": {"b": []}}), true),
            (json!({"success": false, "error": "e", "code": 404, "kind": "other"}), false),
            (json!({"success": false, "error": "e", "code": 404}), false),
            (json!({"error": "e"}), false),
        ] {
            assert_eq!(validator.is_valid(&value), valid, "{value}");
        }
    }

    #[test]
    fn references_that_would_change_their_meaning_promise_nothing() {
        for target in ["#", "#/properties/a", "https://example.org/x"] {
            let schema =
                Value::Object(output_schema(&json!({"type": "object", "properties": {"b": {"$ref": target}}})));
            assert_eq!(schema.pointer("/oneOf/0/properties/data"), Some(&json!({})), "{target}");
        }
    }
}
