//! Checks of what a tool plugin declares, before a host does them.

use core::fmt;
use std::collections::BTreeSet;

use serde_json::{Map, Value, json};

use super::documents::Documents;
use super::values::names;
use crate::access::{ArgumentValues, Effect};
use crate::json::Json;
use crate::plugin::ToolPlugin;
use crate::storage::{Collection, Storage};
use crate::tool::{Text, Tool};

const TOOLS_MAX: usize = 64;
const TEXT_BYTES_MAX: usize = 2_048;

/// Something that a host would refuse, or a planner could not use.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Problem {
    /// Where: a tool's or a collection's name, with the part of it.
    pub at: String,
    /// What was found and what is expected.
    pub message: String,
}

impl fmt::Display for Problem {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}: {}", self.at, self.message)
    }
}

/// Fails a test with a list of everything that is wrong with a plugin's declarations.
pub fn assert_valid_plugin<P: ToolPlugin>() {
    let problems = problems_of::<P>();
    let lines: Vec<String> = problems.iter().map(ToString::to_string).collect();
    assert!(problems.is_empty(), "plugin `{}`:\n{}", P::IDENTITY.name, lines.join("\n"));
}

/// Everything that is wrong with a plugin's declarations.
pub fn problems_of<P: ToolPlugin>() -> Vec<Problem> {
    let mut problems = Problems::default();
    let name = P::IDENTITY.name;
    problems.unless(
        is_name(name, 64, |byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-'),
        "identity",
        format!("`{name}` is no plugin name: expected 1 to 64 of `a-z`, `0-9` and `-`"),
    );
    let tools = P::tools();
    let count = tools.len();
    problems.unless((1..=TOOLS_MAX).contains(&count), "tools", format!("expected 1 to {TOOLS_MAX}, found {count}"));
    let mut seen = BTreeSet::new();
    for tool in &tools {
        problems.unless(seen.insert(tool.name), tool.name, "declared twice".to_owned());
        check_tool(tool, &mut problems);
    }
    check_storage(&P::storage(), &mut problems);
    problems.0
}

/// What a plugin declares, as one JSON value: for a golden file, or to look at.
pub fn specs<P: ToolPlugin>() -> Value {
    let tools = P::tools();
    let storage = P::storage();
    json!({
        "name": P::IDENTITY.name,
        "tools": tools.iter().map(tool_value).collect::<Vec<_>>(),
        "collections": storage.owned.iter().map(collection_value).collect::<Vec<_>>(),
        "uses": storage.used.iter().map(|each| json!({"name": each.name, "write": each.write})).collect::<Vec<_>>(),
    })
}

fn tool_value(tool: &Tool) -> Value {
    let texts = |pick: fn(&Text) -> &'static str| -> Map<String, Value> {
        tool.texts.iter().map(|text| (text.lang.to_owned(), pick(text).into())).collect()
    };
    let rules: Vec<Value> = tool
        .rules
        .iter()
        .map(|rule| {
            let effect = match rule.effect {
                Effect::Read => "read",
                Effect::Write => "write",
                Effect::Destructive => "destructive",
            };
            let requires: Vec<String> = rule.requires.iter().map(|requirement| requirement.to_text()).collect();
            let when = rule.when.map(|(argument, values)| json!({"argument": argument, "one_of": values.to_values()}));
            json!({"when": when, "effect": effect, "requires": requires})
        })
        .collect();
    json!({
        "name": tool.name,
        "domain": tool.domain,
        "description": texts(|text| text.description),
        "keywords": texts(|text| text.keywords),
        "arguments_schema": tool.arguments_schema(),
        "result_schema": tool.result_schema(),
        "access": rules,
    })
}

fn collection_value(collection: &Collection) -> Value {
    let initial: Map<String, Value> = collection.initial.iter().cloned().collect();
    json!({
        "name": collection.name,
        "schema": collection.schema.map(crate::schema::of_result),
        "bookkeeping": collection.bookkeeping,
        "indexes": collection.indexes,
        "initial": initial,
    })
}

#[derive(Default)]
struct Problems(Vec<Problem>);

impl Problems {
    fn unless(&mut self, holds: bool, at: &str, message: String) {
        if !holds {
            self.0.push(Problem { at: at.to_owned(), message });
        }
    }
}

fn is_name(name: &str, bytes_max: usize, letter: impl Fn(u8) -> bool) -> bool {
    (1..=bytes_max).contains(&name.len()) && name.bytes().all(letter)
}

fn check_tool(tool: &Tool, problems: &mut Problems) {
    let letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-';
    problems.unless(
        is_name(tool.name, 64, letter),
        tool.name,
        "is no tool name: expected 1 to 64 of `a-z`, `A-Z`, `0-9`, `_` and `-`".to_owned(),
    );
    problems.unless(!tool.domain.is_empty(), tool.name, "has no domain".to_owned());
    let mut langs = BTreeSet::new();
    for text in &tool.texts {
        let at = format!("{} in {}", tool.name, text.lang);
        problems.unless(langs.insert(text.lang), &at, "said twice".to_owned());
        for part in [text.description, text.keywords] {
            let fits = !part.trim().is_empty() && part.len() <= TEXT_BYTES_MAX;
            problems.unless(fits, &at, format!("expected a text of 1 to {TEXT_BYTES_MAX} bytes, found {}", part.len()));
        }
    }
    let arguments = tool.arguments_schema();
    check_arguments(tool.name, &arguments, problems);
    check_access(tool, &arguments, problems);
    let result = tool.result_schema();
    check_references(&format!("{} result", tool.name), &result, problems);
}

fn check_arguments(tool: &str, schema: &Value, problems: &mut Problems) {
    let at = format!("{tool} arguments");
    let object = schema.get("type") == Some(&"object".into());
    problems.unless(object, &at, format!("arguments are an object, found {schema}"));
    let closed = schema.get("additionalProperties") == Some(&Value::Bool(false));
    problems.unless(closed, &at, "the object is open: expected a struct with named fields".to_owned());
    for (name, property) in properties(schema) {
        let described =
            property.get("description").is_some_and(|text| text.as_str().is_some_and(|text| !text.is_empty()));
        problems.unless(described, &at, format!("`{name}` has no description: write a doc comment on the field"));
    }
    check_references(&at, schema, problems);
}

fn properties(schema: &Value) -> impl Iterator<Item = (&String, &Value)> {
    schema.get("properties").and_then(Value::as_object).into_iter().flatten()
}

/// A recursive type cannot be inlined, and shows as a reference.
fn check_references(at: &str, schema: &Value, problems: &mut Problems) {
    let text = schema.to_string();
    problems.unless(!text.contains("\"$ref\""), at, "has a `$ref`: a recursive type cannot be inlined".to_owned());
}

fn check_access(tool: &Tool, arguments: &Value, problems: &mut Problems) {
    let conditions = tool.rules.iter().filter_map(|rule| rule.when);
    for (argument, values) in conditions {
        let at = format!("{} access", tool.name);
        let Some((_, property)) = properties(arguments).find(|(name, _)| *name == argument) else {
            problems.unless(false, &at, format!("there is no argument `{argument}`"));
            continue;
        };
        if let (ArgumentValues::Texts(texts), Some(Value::Array(allowed))) = (values, property.get("enum")) {
            for text in texts {
                let known = allowed.iter().any(|value| value == text);
                problems.unless(
                    known,
                    &at,
                    format!("`{argument}` is never `{text}`, only one of {}", Value::from(allowed.clone())),
                );
            }
        }
    }
}

fn check_storage(storage: &Storage, problems: &mut Problems) {
    let mut seen = BTreeSet::new();
    let owned = storage.owned.iter().map(|collection| collection.name);
    for name in owned.chain(storage.used.iter().map(|each| each.name)) {
        problems.unless(seen.insert(name), name, "declared twice".to_owned());
    }
    for collection in &storage.owned {
        for pointer in collection.bookkeeping.iter().chain(&collection.indexes) {
            let fits = pointer.starts_with('/') && names(pointer).is_some();
            problems.unless(fits, collection.name, format!("`{pointer}` is no pointer to a field such as `/updated`"));
        }
        let mut documents = Documents::default();
        let mut keys = BTreeSet::new();
        for (key, document) in &collection.initial {
            problems.unless(
                keys.insert(key),
                collection.name,
                format!("the initial document `{key}` is declared twice"),
            );
            if let Err(error) = documents.put(collection.name, key, &Json::from(document)) {
                problems.unless(false, collection.name, error.to_string());
            }
        }
    }
}
