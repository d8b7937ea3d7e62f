//! A small phone for tests: a lamp, alarms, messages and a calculator, as specifications only.

use std::sync::Arc;

use loopwright_contract::action::{Action, ActionSpace};
use loopwright_contract::context::{Context, Event, Remaining};
use loopwright_contract::digest::TaskDigest;
use loopwright_contract::memory::{CivilTime, Layer, MemoryItem, RecordStatus, Role};
use loopwright_contract::name::{CallId, EpisodeId, Lang, MemoryId, SkillName, TaskId, ToolName};
use loopwright_contract::skill::SkillCard;
use loopwright_contract::tool::{AccessRule, ArgumentMatch, Effect, Localized, ToolCall, ToolSpec};
use serde_json::{Value, json};

fn text(lang: Lang, text: &str) -> Localized {
    Localized { lang, text: text.to_owned() }
}

fn tool(name: &str, english: &str, chinese: &str, effect: Effect, schema: Value) -> ToolSpec {
    let when = ArgumentMatch { argument: "action".to_owned(), one_of: vec![json!("query")] };
    ToolSpec {
        name: ToolName::new(name).expect("a tool name"),
        domain: "home".to_owned(),
        description: vec![text(Lang::english(), english), text(Lang::chinese(), chinese)],
        keywords: Vec::new(),
        arguments_schema: schema,
        result_schema: json!({}),
        access: vec![
            AccessRule { when: Some(when), effect: Effect::Read, requires: Vec::new() },
            AccessRule { when: None, effect, requires: Vec::new() },
        ],
        ext: Vec::new(),
    }
}

fn tools() -> Vec<ToolSpec> {
    vec![
        tool(
            "set_lamp",
            "Turns a lamp on or off, or sets its brightness.",
            "打开、关闭灯，或调灯的亮度。",
            Effect::Write,
            json!({
                "type": "object",
                "properties": {
                    "action": {"type": "string", "enum": ["enable", "disable", "set"], "description": "What to do; `set` needs `level`."},
                    "level": {"type": "integer", "minimum": 0, "maximum": 100},
                },
                "required": ["action"],
            }),
        ),
        tool(
            "keep_alarm",
            "Creates an alarm, or tells alarms.",
            "新建或查询闹钟。",
            Effect::Write,
            json!({
                "type": "object",
                "properties": {
                    "action": {"type": "string", "enum": ["create", "query"], "description": "What to do; `create` needs `time`."},
                    "time": {"type": "string", "description": "`HH:MM`."},
                    "days": {"type": "array", "items": {"type": "string", "enum": ["mon", "tue", "wed"]}},
                    "title": {"type": "string"},
                },
                "required": ["action"],
            }),
        ),
        tool(
            "write_text",
            "Sends a message to a contact.",
            "给联系人发短信。",
            Effect::Destructive,
            json!({
                "type": "object",
                "properties": {
                    "contact": {"type": "string"},
                    "content": {"type": "string"},
                    "route": {"type": "object", "properties": {"from": {"type": "string"}, "to": {"type": "string"}}, "required": ["from", "to"]},
                },
                "required": ["content"],
            }),
        ),
        tool(
            "pair_shoes",
            "Only with a size.",
            "鞋码。",
            Effect::Write,
            json!({"type": "object", "properties": {"size": {"type": "integer", "minimum": 900}}, "required": ["size"]}),
        ),
    ]
}

/// A request on the small phone.
pub(super) fn context(lang: Lang, request: &str) -> Context {
    let card = SkillCard {
        name: SkillName::new("evening-light").expect("a skill name"),
        summary: vec![text(Lang::english(), "How to set lamps in the evening.")],
        about: vec![ToolName::new("set_lamp").expect("a tool name")],
        exposes: Vec::new(),
    };
    Context {
        episode: EpisodeId::new("e").expect("an id"),
        task: TaskId::new("t").expect("an id"),
        task_digest: TaskDigest::of(b""),
        turn: 0,
        rules: Arc::from(""),
        space: Arc::new(ActionSpace { tools: tools(), skills: vec![card], memory: true, ask: true }),
        memory: Vec::new(),
        lang,
        now: "2026-03-02T09:00:00+08:00[Asia/Shanghai]".to_owned(),
        request: request.to_owned(),
        skills: Vec::new(),
        history: Vec::new(),
        remaining: Remaining { steps: 15, tokens: 1_000 },
    }
}

/// A request in English.
pub(super) fn english(request: &str) -> Context {
    context(Lang::english(), request)
}

/// With something remembered.
pub(super) fn remembering(mut context: Context, id: &str, content: &str) -> Context {
    context.memory.push(MemoryItem {
        id: MemoryId::new(id).expect("an id"),
        content: content.to_owned(),
        title: None,
        layer: Layer::LongTerm,
        category: Some("important_info".to_owned()),
        source: Role::User,
        created: CivilTime::new("2026-02-20T08:00:00").expect("a time"),
        valid_until: None,
        due: None,
        status: RecordStatus::Current,
        score: None,
        conflicts: Vec::new(),
        instruction_like: false,
    });
    context
}

/// After a call that was answered.
pub(super) fn after(mut context: Context, call: ToolCall, envelope: Value) -> Context {
    let answered = Event::Answered {
        call_id: call.id.clone(),
        name: call.tool.as_str().to_owned(),
        envelope,
        effects: Vec::new(),
    };
    context.history.push(Event::Decided { text: String::new(), actions: vec![Action::Call(call)] });
    context.history.push(answered);
    context.turn += 1;
    context
}

/// A call.
pub(super) fn call(tool: &str, arguments: Value) -> ToolCall {
    ToolCall { id: CallId::new("c1").expect("an id"), tool: ToolName::new(tool).expect("a tool name"), arguments }
}
