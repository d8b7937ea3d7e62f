//! The fake phone's tools: a torch, notes, and an eraser of notes that needs the user's confirmation.

use std::collections::BTreeMap;

use loopwright_contract::environment::Reply;
use loopwright_contract::name::{Lang, PluginName, ToolName};
use loopwright_contract::tool::{AccessRule, Effect, Failure, InstalledTool, Localized, Success, ToolCall, ToolSpec};
use serde_json::{Value, json};

/// Documents by collection and key.
pub type Documents = BTreeMap<(String, String), Value>;

/// Switches the torch.
pub const TORCH: &str = "set_torch";
/// Writes, reads and removes notes.
pub const NOTE: &str = "manage_note";
/// Removes all notes; destructive.
pub const WIPE: &str = "wipe_notes";

fn texts(english: &str, chinese: &str) -> Vec<Localized> {
    vec![
        Localized { lang: Lang::english(), text: english.to_owned() },
        Localized { lang: Lang::chinese(), text: chinese.to_owned() },
    ]
}

fn tool(name: &str, description: (&str, &str), effect: Effect, properties: Value, required: Value) -> InstalledTool {
    let spec = ToolSpec {
        name: ToolName::new(name).expect("a constant name"),
        domain: "fake".to_owned(),
        description: texts(description.0, description.1),
        keywords: Vec::new(),
        arguments_schema: json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false}),
        result_schema: json!({"type": "object"}),
        access: vec![AccessRule { when: None, effect, requires: Vec::new() }],
        ext: Vec::new(),
    };
    InstalledTool { plugin: PluginName::new("fake-tools").expect("a constant name"), spec }
}

/// All tools, sorted by name.
#[must_use]
pub fn installed() -> Vec<InstalledTool> {
    vec![
        tool(
            NOTE,
            ("Writes, reads or removes a note.", "写入、读取或删除备忘录。"),
            Effect::Write,
            json!({
                "action": {"type": "string", "enum": ["put", "query", "delete"]},
                "key": {"type": "string", "minLength": 1, "maxLength": 40},
                "text": {"type": "string"},
                "tags": {"type": "array", "items": {"type": "string"}, "maxItems": 3},
            }),
            json!(["action", "key"]),
        ),
        tool(
            TORCH,
            ("Turns the torch (flashlight) on or off.", "打开或关闭手电筒。"),
            Effect::Write,
            json!({"on": {"type": "boolean"}, "level": {"type": "integer", "minimum": 1, "maximum": 5}}),
            json!(["on"]),
        ),
        tool(WIPE, ("Removes all notes for good.", "永久删除所有备忘录。"), Effect::Destructive, json!({}), json!([])),
    ]
}

fn done(message: &str, data: Value) -> Reply {
    Reply::Done(Success { message: message.to_owned(), data })
}

/// Runs a call on the documents.
pub fn run(documents: &mut Documents, call: &ToolCall, confirmed: bool) -> Reply {
    match call.tool.as_str() {
        TORCH => {
            let on = call.arguments.get("on").cloned().unwrap_or(Value::Null);
            let level = call.arguments.get("level").cloned().unwrap_or_else(|| json!(3));
            documents.insert(("torch".to_owned(), "main".to_owned()), json!({"on": on, "level": level}));
            done("torch set", json!({"on": on}))
        }
        NOTE => note(documents, &call.arguments),
        WIPE if !confirmed => {
            Reply::NeedsConfirmation(Failure::new(403, "removes all notes: ask the user to confirm this call"))
        }
        WIPE => {
            documents.retain(|(collection, _), _| collection != "notes");
            done("all notes removed", json!({}))
        }
        other => Reply::Failed(Failure::new(404, format!("no tool `{other}` is exposed"))),
    }
}

fn note(documents: &mut Documents, arguments: &Value) -> Reply {
    let key = arguments.get("key").and_then(Value::as_str).unwrap_or_default().to_owned();
    let place = ("notes".to_owned(), key.clone());
    match arguments.get("action").and_then(Value::as_str) {
        Some("put") => {
            let text = arguments.get("text").cloned().unwrap_or_else(|| json!(""));
            documents.insert(place, json!({"text": text}));
            done("note written", json!({"key": key}))
        }
        Some("delete") if documents.remove(&place).is_some() => done("note removed", json!({"key": key})),
        _ => match documents.get(&place) {
            Some(note) => done("note read", note.clone()),
            None => Reply::Failed(Failure::new(404, format!("no note `{key}`"))),
        },
    }
}
