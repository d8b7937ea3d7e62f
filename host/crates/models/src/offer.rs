//! The open actions as functions, for models that only know calls: tools in their order, then the reserved names, then skills.

use loopwright_contract::action::{ActionSpace, reserved};
use loopwright_contract::memory::{CATEGORY_BYTES_MAX, SEARCH_LIMIT_MAX, TAG_BYTES_MAX, TAGS_MAX, TITLE_BYTES_MAX};
use loopwright_contract::name::Lang;
use loopwright_contract::tool::localized;
use serde_json::{Value, json};

/// One function that a model may call.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Function {
    /// A tool's name, a reserved name or a skill's action name.
    pub(crate) name: String,
    /// What it does, in the language of the request where there is a text.
    pub(crate) description: String,
    /// JSON Schema of its arguments, a closed object.
    pub(crate) parameters: Value,
}

/// What the action space offers. The order is that of the space, so that prompts of one episode share their beginning.
pub(crate) fn functions(space: &ActionSpace, lang: &Lang) -> Vec<Function> {
    let tools = space.tools.iter().map(|tool| Function {
        name: tool.name.as_str().to_owned(),
        description: localized(&tool.description, lang).unwrap_or_default().to_owned(),
        parameters: tool.arguments_schema.clone(),
    });
    let skills = space.skills.iter().map(|card| Function {
        name: card.name.action_name(),
        description: localized(&card.summary, lang).unwrap_or_default().to_owned(),
        parameters: closed(json!({}), &[]),
    });
    tools.chain(reserved_functions(space, lang)).chain(skills).collect()
}

fn reserved_functions(space: &ActionSpace, lang: &Lang) -> Vec<Function> {
    let text = if *lang == Lang::chinese() { &CHINESE } else { &ENGLISH };
    let string = || json!({"type": "string", "minLength": 1});
    let short = || json!({"type": "string", "minLength": 1, "maxLength": 64});
    let mut functions = Vec::new();
    if space.ask {
        functions.push(function(
            reserved::ASK_USER,
            text.ask,
            closed(json!({"question": string(), "pending_call": short()}), &["question"]),
        ));
    }
    if space.memory {
        functions.extend(memory_functions(text));
    }
    functions.push(function(reserved::REFUSE, text.refuse, closed(json!({"reason": string()}), &["reason"])));
    let finish = closed(json!({"answer": {"type": "string"}, "data": {"description": text.data}}), &["answer"]);
    functions.push(function(reserved::FINISH, text.finish, finish));
    functions
}

/// The four actions of the memory.
fn memory_functions(text: &Texts) -> [Function; 4] {
    let string = || json!({"type": "string", "minLength": 1});
    let short = |length_max: usize| json!({"type": "string", "minLength": 1, "maxLength": length_max});
    let search = json!({
        "query": string(),
        "memoryCategory": short(CATEGORY_BYTES_MAX),
        "maxResults": {"type": "integer", "minimum": 1, "maximum": SEARCH_LIMIT_MAX},
        "searchMode": {"type": "string", "enum": ["relevance", "time"]},
    });
    let add = json!({
        "content": string(),
        "memoryCategory": short(CATEGORY_BYTES_MAX),
        "title": short(TITLE_BYTES_MAX),
        "tags": {"type": "array", "items": short(TAG_BYTES_MAX), "maxItems": TAGS_MAX},
        "validUntil": {"type": "string", "minLength": 1, "maxLength": 19, "description": text.until},
    });
    let replace = json!({"memoryId": short(64), "content": string()});
    [
        function(reserved::RECALL, text.recall, closed(search, &["query"])),
        function(reserved::REMEMBER, text.remember, closed(add, &["content"])),
        function(reserved::REPLACE, text.replace, closed(replace, &["memoryId", "content"])),
        function(reserved::FORGET, text.forget, closed(json!({"memoryId": short(64)}), &["memoryId"])),
    ]
}

fn function(name: &str, description: &str, parameters: Value) -> Function {
    Function { name: name.to_owned(), description: description.to_owned(), parameters }
}

#[expect(clippy::needless_pass_by_value, reason = "reads as a literal at every call")]
fn closed(properties: Value, required: &[&str]) -> Value {
    json!({"type": "object", "properties": properties, "required": required, "additionalProperties": false})
}

/// Descriptions of the reserved actions in one language.
struct Texts {
    ask: &'static str,
    recall: &'static str,
    remember: &'static str,
    until: &'static str,
    replace: &'static str,
    forget: &'static str,
    refuse: &'static str,
    finish: &'static str,
    data: &'static str,
}

const ENGLISH: Texts = Texts {
    ask: "Ask the user for missing information, or for confirmation of the call with id pending_call",
    recall: "Search what is remembered about the user, with ids and dates; memoryCategory narrows it, leave it out unless you are sure",
    remember: "Remember something about the user that the user told you; categories are user_profile, routines_habits, important_info, important_event",
    until: "the last day or moment at which it holds: YYYY-MM-DD or YYYY-MM-DDTHH:MM",
    replace: "Put what holds now in the place of a memory that no longer does",
    forget: "Forget a memory for good; needs the user's confirmation",
    refuse: "Refuse a request that must not be carried out, with the reason",
    finish: "End: everything that was asked is done. Tell the user the result",
    data: "the result as data, where the request asks for one",
};

const CHINESE: Texts = Texts {
    ask: "向用户询问缺少的信息，或请用户确认 id 为 pending_call 的调用",
    recall: "搜索关于用户的记忆，返回标识和日期；memoryCategory 用于缩小范围，不确定时不要填写",
    remember: "记住用户告诉你的关于用户的事情；类别有 user_profile、routines_habits、important_info、important_event",
    until: "有效的最后一天或最后时刻：YYYY-MM-DD 或 YYYY-MM-DDTHH:MM",
    replace: "用现在的情况替换一条已不再成立的记忆",
    forget: "永久忘记一条记忆，需要用户确认",
    refuse: "拒绝不应执行的请求，并说明原因",
    finish: "结束：要求的事情都已完成，把结果告诉用户",
    data: "请求要求数据时的结果数据",
};

#[cfg(test)]
pub(crate) mod tests {
    use std::sync::Arc;

    use loopwright_contract::context::{Context, Remaining};
    use loopwright_contract::digest::TaskDigest;
    use loopwright_contract::name::{EpisodeId, SkillName, TaskId, ToolName};
    use loopwright_contract::skill::SkillCard;
    use loopwright_contract::tool::{AccessRule, Effect, Localized, ToolSpec};

    use super::*;

    pub(crate) fn text(text: &str) -> Vec<Localized> {
        vec![Localized { lang: Lang::english(), text: text.to_owned() }]
    }

    pub(crate) fn tool(name: &str, description: &str, schema: Value) -> ToolSpec {
        ToolSpec {
            name: ToolName::new(name).unwrap(),
            domain: "test".to_owned(),
            description: text(description),
            keywords: Vec::new(),
            arguments_schema: schema,
            result_schema: json!({}),
            access: vec![AccessRule { when: None, effect: Effect::Read, requires: Vec::new() }],
            ext: Vec::new(),
        }
    }

    /// Two tools, a user, a memory and a skill.
    pub(crate) fn space() -> ActionSpace {
        let wifi = json!({"type": "object", "additionalProperties": false, "required": ["action"],
            "properties": {"action": {"type": "string", "enum": ["query", "enable", "disable"]}, "ssid": {"type": "string", "maxLength": 32}}});
        let alarm = json!({"type": "object", "additionalProperties": false, "required": ["hour", "minute"],
            "properties": {"hour": {"type": "integer", "minimum": 0, "maximum": 23}, "minute": {"type": "integer", "minimum": 0, "maximum": 59},
                           "days": {"type": "array", "maxItems": 7, "items": {"enum": ["mon", "tue", "wed"]}}}});
        ActionSpace {
            tools: vec![tool("manage_wifi", "Wi-Fi on or off", wifi), tool("create_alarm", "Set an alarm", alarm)],
            skills: vec![SkillCard {
                name: SkillName::new("power-saver").unwrap(),
                summary: text("For battery questions"),
                about: Vec::new(),
                exposes: Vec::new(),
            }],
            memory: true,
            ask: true,
        }
    }

    pub(crate) fn context(request: &str) -> Context {
        Context {
            episode: EpisodeId::new("e1").unwrap(),
            task: TaskId::new("t1").unwrap(),
            task_digest: TaskDigest::of(b"t1"),
            turn: 0,
            rules: Arc::from("You operate a phone."),
            space: Arc::new(space()),
            memory: Vec::new(),
            lang: Lang::english(),
            now: "2026-03-02T09:00:00+08:00[Asia/Shanghai]".to_owned(),
            request: request.to_owned(),
            skills: Vec::new(),
            history: Vec::new(),
            remaining: Remaining { steps: 15, tokens: 100_000 },
        }
    }

    #[test]
    fn functions_keep_the_order_of_the_space_and_follow_what_is_open() {
        let names = |space: &ActionSpace| {
            functions(space, &Lang::english()).into_iter().map(|function| function.name).collect::<Vec<_>>()
        };
        let all = [
            "manage_wifi",
            "create_alarm",
            "ask_user",
            "search_user_memory",
            "add_user_memory",
            "replace_user_memory",
            "remove_user_memory",
            "refuse",
            "finish",
            "skill__power_saver",
        ];
        assert_eq!(names(&space()), all);
        let closed = ActionSpace { skills: Vec::new(), memory: false, ask: false, ..space() };
        assert_eq!(names(&closed), ["manage_wifi", "create_alarm", "refuse", "finish"]);
    }
}
