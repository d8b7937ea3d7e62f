//! Decisions about as large as a phone's: fifteen tools with descriptions in both languages, and a request that names one of them.

use std::sync::Arc;

use loopwright_contract::action::ActionSpace;
use loopwright_contract::context::{Context, Remaining};
use loopwright_contract::digest::TaskDigest;
use loopwright_contract::name::{EpisodeId, Lang, TaskId, ToolName};
use loopwright_contract::tool::{AccessRule, Effect, Localized, ToolSpec};
use serde_json::json;

/// What tools are about, in both languages.
const THINGS: [(&str, &str); 15] = [
    ("alarm", "闹钟"),
    ("lamp", "灯"),
    ("message", "短信"),
    ("event", "日程"),
    ("note", "笔记"),
    ("network", "网络"),
    ("contact", "联系人"),
    ("volume", "音量"),
    ("brightness", "亮度"),
    ("timer", "定时"),
    ("route", "路线"),
    ("device", "设备"),
    ("hotspot", "热点"),
    ("wallpaper", "壁纸"),
    ("language", "语言"),
];

fn tool((thing, chinese): (&str, &str)) -> ToolSpec {
    let text = |lang: Lang, text: String| Localized { lang, text };
    ToolSpec {
        name: ToolName::new(format!("manage_{thing}")).expect("a tool name"),
        domain: "phone".to_owned(),
        description: vec![
            text(Lang::english(), format!("Creates, changes, tells or removes a {thing} of the phone.")),
            text(Lang::chinese(), format!("新建、修改、查询或删除手机上的{chinese}。")),
        ],
        keywords: vec![text(Lang::english(), format!("{thing}s")), text(Lang::chinese(), chinese.to_owned())],
        arguments_schema: json!({
            "type": "object",
            "properties": {
                "action": {"type": "string", "enum": ["create", "update", "query", "delete"], "description": "What to do; `create` needs `title`."},
                "title": {"type": "string", "description": format!("What the {thing} is called.")},
                "time": {"type": "string", "description": "When, as `YYYY-MM-DDTHH:MM`."},
                "level": {"type": "integer", "minimum": 0, "maximum": 100, "description": "How much, in percent."},
            },
            "required": ["action", "title"],
        }),
        result_schema: json!({}),
        access: vec![AccessRule { when: None, effect: Effect::Write, requires: Vec::new() }],
        ext: Vec::new(),
    }
}

/// Contexts of as many episodes; no two have the same request.
pub(crate) fn contexts(count: usize) -> Vec<Context> {
    let tools = THINGS.into_iter().map(tool).collect();
    let space = Arc::new(ActionSpace { tools, skills: Vec::new(), memory: true, ask: true });
    let context = |number: usize| Context {
        episode: EpisodeId::new(format!("e-{number}")).expect("an id"),
        task: TaskId::new("t").expect("an id"),
        task_digest: TaskDigest::of(b""),
        turn: 0,
        rules: Arc::from(""),
        space: Arc::clone(&space),
        memory: Vec::new(),
        lang: Lang::english(),
        now: "2026-03-02T09:00:00+08:00[Asia/Shanghai]".to_owned(),
        request: format!(
            "Set an alarm called \"Gym {number}\" for tomorrow at 7:30, and the {} to {}%, please.",
            THINGS.get(number % THINGS.len()).map_or("lamp", |(thing, _)| thing),
            number % 100
        ),
        skills: Vec::new(),
        history: Vec::new(),
        remaining: Remaining { steps: 15, tokens: 200_000 },
    };
    (0..count).map(context).collect()
}
