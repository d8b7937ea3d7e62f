//! Compiled argument schemas. Schemas come from plugins and are hostile until compiled: no references, bounded size, linear patterns.

use std::collections::BTreeMap;
use std::sync::OnceLock;

use jsonschema::{Draft, PatternOptions, Validator};
use loopwright_contract::action::reserved;
use loopwright_contract::memory::{CATEGORY_BYTES_MAX, SEARCH_LIMIT_MAX, TAG_BYTES_MAX, TAGS_MAX, TITLE_BYTES_MAX};
use loopwright_contract::name::ToolName;
use loopwright_contract::tool::InstalledTool;
use serde_json::{Value, json};

/// Values in one schema, nested ones included.
pub const SCHEMA_NODES_MAX: usize = 4096;
/// Nesting of one schema.
pub const SCHEMA_DEPTH_MAX: usize = 32;
/// Bytes of one regular expression.
pub const PATTERN_BYTES_MAX: usize = 512;
/// Bytes of one compiled regular expression.
const PATTERN_SIZE_MAX: usize = 256 * 1024;

/// Keywords that lead out of the schema or make it recursive; the contract's profile is inlined.
const REFERENCES: [&str; 7] =
    ["$ref", "$dynamicRef", "$recursiveRef", "$id", "$anchor", "$dynamicAnchor", "$vocabulary"];

/// A schema that is ready to validate.
#[derive(Debug)]
pub(crate) struct Schema {
    pub(crate) source: Value,
    pub(crate) validator: Validator,
}

impl Schema {
    /// Checks the profile and compiles.
    pub(crate) fn compile(schema: &Value) -> Result<Self, String> {
        let mut source = schema.clone();
        if let Some(object) = source.as_object_mut() {
            // The draft is fixed by the contract; a foreign meta-schema would have to be fetched.
            object.remove("$schema");
        }
        let mut nodes = 0;
        check_profile(&source, 0, &mut nodes)?;
        let validator = jsonschema::options()
            .with_draft(Draft::Draft202012)
            .with_pattern_options(PatternOptions::regex().size_limit(PATTERN_SIZE_MAX).dfa_size_limit(PATTERN_SIZE_MAX))
            .build(&source)
            .map_err(|error| error.to_string())?;
        Ok(Self { source, validator })
    }
}

fn check_profile(value: &Value, depth: usize, nodes: &mut usize) -> Result<(), String> {
    *nodes += 1;
    if *nodes > SCHEMA_NODES_MAX {
        return Err(format!("more than {SCHEMA_NODES_MAX} values"));
    }
    if depth > SCHEMA_DEPTH_MAX {
        return Err(format!("nested deeper than {SCHEMA_DEPTH_MAX} levels"));
    }
    match value {
        Value::Array(items) => items.iter().try_for_each(|item| check_profile(item, depth + 1, nodes)),
        Value::Object(map) => map.iter().try_for_each(|(key, inner)| {
            let text = inner.as_str();
            if text.is_some() && (REFERENCES.contains(&key.as_str()) || key == "$schema") {
                return Err(format!("`{key}` is not allowed: schemas are inlined"));
            }
            if key == "pattern" && text.is_some_and(|text| text.len() > PATTERN_BYTES_MAX) {
                return Err(format!("a pattern is longer than {PATTERN_BYTES_MAX} bytes"));
            }
            check_profile(inner, depth + 1, nodes)
        }),
        _ => Ok(()),
    }
}

#[derive(Debug)]
struct Entry {
    source: Value,
    compiled: OnceLock<Result<Schema, String>>,
}

/// The schemas of all installed tools and of the reserved actions; each is compiled once, when it is first needed.
#[derive(Debug)]
pub(crate) struct SchemaCache {
    tools: BTreeMap<ToolName, Entry>,
    reserved: BTreeMap<&'static str, Entry>,
    skill: Entry,
}

impl Entry {
    fn new(source: Value) -> Self {
        Self { source, compiled: OnceLock::new() }
    }

    fn get(&self) -> Result<&Schema, &str> {
        self.compiled.get_or_init(|| Schema::compile(&self.source)).as_ref().map_err(String::as_str)
    }
}

impl SchemaCache {
    pub(crate) fn new(tools: &[InstalledTool]) -> Self {
        let tools =
            tools.iter().map(|tool| (tool.spec.name.clone(), Entry::new(tool.spec.arguments_schema.clone()))).collect();
        let reserved = reserved::NAMES.iter().map(|name| (*name, Entry::new(reserved_schema(name)))).collect();
        Self { tools, reserved, skill: Entry::new(closed(json!({"reason": text(0)}), &[])) }
    }

    /// The schema of a tool; an error says why its spec cannot be used.
    pub(crate) fn tool(&self, name: &ToolName) -> Option<Result<&Schema, &str>> {
        self.tools.get(name).map(Entry::get)
    }

    /// The schema of a reserved action's arguments.
    pub(crate) fn reserved(&self, name: &str) -> Option<Result<&Schema, &str>> {
        self.reserved.get(name).map(Entry::get)
    }

    /// The schema of the arguments that load a skill.
    pub(crate) fn skill(&self) -> Result<&Schema, &str> {
        self.skill.get()
    }
}

fn text(bytes_min: usize) -> Value {
    json!({"type": "string", "minLength": bytes_min, "maxLength": loopwright_contract::limits::MESSAGE_BYTES_MAX})
}

fn short(length_max: usize) -> Value {
    json!({"type": "string", "minLength": 1, "maxLength": length_max})
}

fn closed(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// The JSON Schema of a reserved action's arguments, as planners that only know calls are told; an open object for any other name.
#[must_use]
pub fn reserved_schema(name: &str) -> Value {
    match reserved::full(name) {
        reserved::ASK_USER => closed(
            json!({"question": text(1), "pending_call": {"type": "string", "minLength": 1, "maxLength": 64}}),
            &["question"],
        ),
        reserved::REFUSE => closed(json!({"reason": text(1)}), &["reason"]),
        reserved::FINISH => closed(json!({"answer": text(0), "data": {}}), &["answer"]),
        reserved::DELEGATE => closed(json!({"agent": text(1), "instruction": text(1)}), &["agent", "instruction"]),
        reserved::RECALL => closed(
            json!({
                "query": text(1),
                "memoryCategory": short(CATEGORY_BYTES_MAX),
                "maxResults": {"type": "integer", "minimum": 1, "maximum": SEARCH_LIMIT_MAX},
                "searchMode": {"type": "string", "enum": ["relevance", "time"]},
            }),
            &["query"],
        ),
        reserved::REMEMBER => closed(
            json!({
                "content": text(1),
                "memoryCategory": short(CATEGORY_BYTES_MAX),
                "title": short(TITLE_BYTES_MAX),
                "tags": {"type": "array", "items": short(TAG_BYTES_MAX), "maxItems": TAGS_MAX},
                "validUntil": short(19),
            }),
            &["content"],
        ),
        reserved::REPLACE => closed(json!({"memoryId": short(64), "content": text(1)}), &["memoryId", "content"]),
        reserved::FORGET => closed(json!({"memoryId": short(64)}), &["memoryId"]),
        _ => json!({"type": "object"}),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn hostile_schemas_are_refused() {
        let mut deep = json!({"type": "string"});
        for _ in 0..40 {
            deep = json!({"properties": {"a": deep}});
        }
        let wide: Vec<u32> = (0..5000).collect();
        for (schema, part) in [
            (json!({"$ref": "https://example.org/schema.json"}), "`$ref` is not allowed"),
            (json!({"properties": {"a": {"$ref": "#"}}}), "`$ref` is not allowed"),
            (json!({"$id": "https://example.org/", "type": "object"}), "`$id` is not allowed"),
            (json!({"properties": {"a": {"$schema": "https://example.org/meta"}}}), "`$schema` is not allowed"),
            (deep, "nested deeper"),
            (json!({"enum": wide}), "more than 4096"),
            (json!({"pattern": "a".repeat(600)}), "longer than 512"),
            (json!({"pattern": "("}), "regex"),
            (json!({"pattern": "(?=a)b"}), "regex"),
            (json!({"type": "strnig"}), "strnig"),
            (json!(7), "7"),
        ] {
            let error = Schema::compile(&schema).map(|_| ()).expect_err("a hostile schema was compiled");
            assert!(error.contains(part), "`{error}` does not say `{part}`");
        }
        assert!(Schema::compile(&json!({"$schema": "https://example.org/never-fetched", "type": "object"})).is_ok());
    }

    #[test]
    fn every_reserved_action_has_a_schema_that_compiles() {
        let cache = SchemaCache::new(&[]);
        for name in reserved::NAMES {
            assert!(matches!(cache.reserved(name), Some(Ok(_))), "{name}");
            assert_eq!(reserved_schema(name).pointer("/additionalProperties"), Some(&Value::Bool(false)), "{name}");
        }
        assert!(cache.skill().is_ok());
    }
}
