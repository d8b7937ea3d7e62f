//! One proposal: by name and JSON text, or already typed. Both are checked alike.

use loopwright_contract::action::{Action, Proposed, reserved};
use loopwright_contract::json::{JsonLimits, normalize};
use loopwright_contract::limits::MESSAGE_BYTES_MAX;
use loopwright_contract::memory::{
    CATEGORY_BYTES_MAX, CivilTime, SEARCH_LIMIT_DEFAULT, SEARCH_LIMIT_MAX, SearchMode, TAG_BYTES_MAX, TAGS_MAX,
    TITLE_BYTES_MAX,
};
use loopwright_contract::name::{CallId, MemoryId, SkillName};
use loopwright_contract::tool::ToolCall;
use loopwright_contract::trajectory::Coercion;
use serde_json::{Map, Value};

use super::arguments::{Conforming, from_text, from_value, take_text};
use super::problem::cut;
use super::{Grounds, Taken, is_offered, offered};

/// A proposal that was understood.
pub(super) struct Read {
    pub(super) id: Option<CallId>,
    pub(super) name: String,
    pub(super) action: Action,
    pub(super) coercions: Vec<Coercion>,
}

/// Reads one proposal; an error is what the planner is told.
pub(super) fn read(proposal: &Proposed, grounds: Grounds<'_>) -> Result<Read, String> {
    match proposal {
        Proposed::Unreadable { reason } => Err(format!("the output holds no action: {}", cut(reason, 500))),
        Proposed::Call { id, name, arguments } => {
            let id = id.as_deref().and_then(|id| CallId::new(id).ok());
            let (action, coercions) = by_name(name, arguments, grounds)?;
            Ok(Read { id, name: reserved::full(name).to_owned(), action, coercions })
        }
        Proposed::Action { value } => {
            let id = match value {
                Action::Call(call) => Some(call.id.clone()),
                Action::Forget { call, .. } => call.clone(),
                _ => None,
            };
            let (action, coercions) = typed(value, grounds)?;
            Ok(Read { id, name: super::action_name(value), action, coercions })
        }
    }
}

/// The action under its final id.
pub(super) fn taken(id: CallId, name: String, mut action: Action) -> Taken {
    match &mut action {
        Action::Call(call) => call.id = id.clone(),
        Action::Forget { call, .. } => *call = Some(id.clone()),
        _ => {}
    }
    Taken { id, name, action }
}

/// A call's id before it is known; [`taken`] sets it.
fn no_id() -> Result<CallId, String> {
    CallId::new("-").map_err(|error| error.to_string())
}

fn by_name(name: &str, arguments: &str, grounds: Grounds<'_>) -> Result<(Action, Vec<Coercion>), String> {
    let name = reserved::full(name);
    if let Some(schema) = grounds.schemas.reserved(name) {
        let conforming = from_text(name, schema, arguments, grounds.strict)?;
        return Ok((allowed(reserved_action(name, conforming.value)?, grounds)?, conforming.coercions));
    }
    if let Some(skill) = name.strip_prefix(reserved::SKILL_PREFIX) {
        let skill = skill_named(skill, grounds)?;
        let conforming = from_text(name, grounds.schemas.skill(), arguments, grounds.strict)?;
        return Ok((Action::LoadSkill { skill }, conforming.coercions));
    }
    let tool = is_offered(grounds.space, name).ok_or_else(|| unknown(name, grounds))?;
    let schema = grounds.schemas.tool(&tool).ok_or_else(|| unknown(name, grounds))?;
    let Conforming { value, coercions } = from_text(name, schema, arguments, grounds.strict)?;
    Ok((Action::Call(ToolCall { id: no_id()?, tool, arguments: value }), coercions))
}

fn unknown(name: &str, grounds: Grounds<'_>) -> String {
    format!("there is no tool `{}` here; offered: {}", cut(name, 64), offered(grounds.space))
}

fn typed(action: &Action, grounds: Grounds<'_>) -> Result<(Action, Vec<Coercion>), String> {
    let Action::Call(call) = action else {
        return Ok((allowed(action.clone(), grounds)?, Vec::new()));
    };
    let name = call.tool.as_str();
    let tool = is_offered(grounds.space, name).ok_or_else(|| unknown(name, grounds))?;
    let schema = grounds.schemas.tool(&tool).ok_or_else(|| unknown(name, grounds))?;
    let Conforming { value, coercions } = from_value(name, schema, &call.arguments, grounds.strict)?;
    Ok((Action::Call(ToolCall { id: call.id.clone(), tool, arguments: value }), coercions))
}

/// The typed action of a reserved name, out of arguments that conform to its schema.
fn reserved_action(name: &str, arguments: Value) -> Result<Action, String> {
    let Value::Object(mut map) = arguments else { return Err(format!("arguments of `{name}` are not an object")) };
    let mut text = |key: &str| take_text(&mut map, key).unwrap_or_default();
    Ok(match name {
        reserved::ASK_USER => {
            let question = text("question");
            let pending = take_text(&mut map, "pending_call")
                .map(|id| CallId::new(id).map_err(|error| error.to_string()))
                .transpose()?;
            Action::Ask { question, pending }
        }
        reserved::REFUSE => Action::Refuse { reason: text("reason") },
        reserved::DELEGATE => Action::Delegate { agent: text("agent"), instruction: text("instruction") },
        reserved::RECALL => {
            let query = text("query");
            let mode = if text("searchMode") == "time" { SearchMode::Time } else { SearchMode::Relevance };
            Action::Recall { query, limit: limit(&map), category: take_text(&mut map, "memoryCategory"), mode }
        }
        reserved::REMEMBER => {
            let content = text("content");
            let until = take_text(&mut map, "validUntil");
            let until = until.map(|until| CivilTime::until(until).map_err(|error| format!("`validUntil`: {error}")));
            Action::Remember {
                content,
                category: take_text(&mut map, "memoryCategory"),
                title: take_text(&mut map, "title"),
                tags: take_texts(&mut map, "tags"),
                valid_until: until.transpose()?,
            }
        }
        reserved::REPLACE => Action::Replace { memory: memory_id(&text("memoryId"))?, content: text("content") },
        reserved::FORGET => Action::Forget { memory: memory_id(&text("memoryId"))?, call: None },
        _ => {
            let answer = text("answer");
            Action::Finish { answer, data: map.remove("data").filter(|data| !data.is_null()) }
        }
    })
}

fn memory_id(text: &str) -> Result<MemoryId, String> {
    MemoryId::new(text).map_err(|error| format!("`memoryId`: {error}; search_user_memory returns the ids"))
}

fn take_texts(map: &mut Map<String, Value>, key: &str) -> Vec<String> {
    let texts = match map.remove(key) {
        Some(Value::Array(items)) => items,
        _ => Vec::new(),
    };
    texts.into_iter().filter_map(|text| if let Value::String(text) = text { Some(text) } else { None }).collect()
}

fn limit(map: &Map<String, Value>) -> u32 {
    let limit = map.get("maxResults").and_then(Value::as_u64).and_then(|limit| u32::try_from(limit).ok());
    limit.unwrap_or(SEARCH_LIMIT_DEFAULT).clamp(1, SEARCH_LIMIT_MAX)
}

/// What holds for every action that is no call, however it came.
fn allowed(action: Action, grounds: Grounds<'_>) -> Result<Action, String> {
    match &action {
        Action::Call(_) => {}
        Action::Recall { query, .. } => with_memory("query", query, grounds)?,
        Action::Remember { content, category, title, tags, .. } => {
            with_memory("content", content, grounds)?;
            let fits = |field: &str, text: &String, limit: usize| short(field, text, limit);
            category.iter().try_for_each(|text| fits("memoryCategory", text, CATEGORY_BYTES_MAX))?;
            title.iter().try_for_each(|text| fits("title", text, TITLE_BYTES_MAX))?;
            tags.iter().try_for_each(|text| fits("tags", text, TAG_BYTES_MAX))?;
            if tags.len() > TAGS_MAX {
                return Err(format!("`tags` has {} elements, at most {TAGS_MAX} are allowed", tags.len()));
            }
        }
        Action::Replace { content, .. } => with_memory("content", content, grounds)?,
        Action::Forget { .. } => with_memory("memoryId", "", grounds)?,
        Action::LoadSkill { skill } => {
            skill_named(skill.as_str(), grounds)?;
        }
        Action::Ask { question, pending } => ask(question, pending.as_ref(), grounds)?,
        Action::Refuse { reason } => sized("reason", reason)?,
        Action::Delegate { agent, instruction } => {
            sized("agent", agent)?;
            sized("instruction", instruction)?;
        }
        Action::Finish { answer, .. } => sized("answer", answer)?,
    }
    Ok(match action {
        Action::Recall { query, limit, category, mode } => {
            Action::Recall { query, limit: limit.clamp(1, SEARCH_LIMIT_MAX), category, mode }
        }
        Action::Finish { answer, data: Some(data) } => {
            let data = normalize(data, &JsonLimits::CONTRACT)
                .map_err(|error| format!("`data` of `{}` is not read: {error}", reserved::FINISH))?;
            Action::Finish { answer, data: Some(data) }
        }
        other => other,
    })
}

fn sized(field: &str, text: &str) -> Result<(), String> {
    if text.len() > MESSAGE_BYTES_MAX {
        return Err(format!("`{field}` has {} bytes, at most {MESSAGE_BYTES_MAX} are allowed", text.len()));
    }
    Ok(())
}

fn short(field: &str, text: &str, limit: usize) -> Result<(), String> {
    if text.is_empty() || text.len() > limit {
        return Err(format!("`{field}` has {} bytes, 1 to {limit} are allowed", text.len()));
    }
    Ok(())
}

fn with_memory(field: &str, text: &str, grounds: Grounds<'_>) -> Result<(), String> {
    if !grounds.space.memory {
        return Err(format!("there is no memory here; offered: {}", offered(grounds.space)));
    }
    sized(field, text)
}

fn ask(question: &str, pending: Option<&CallId>, grounds: Grounds<'_>) -> Result<(), String> {
    if !grounds.space.ask {
        return Err(format!("there is no user to ask; offered: {}", offered(grounds.space)));
    }
    sized("question", question)?;
    match pending {
        Some(id) if !grounds.pending.contains_key(id) => {
            let waiting: Vec<String> = grounds.pending.keys().map(|id| format!("`{id}`")).collect();
            let waiting = if waiting.is_empty() { "none".to_owned() } else { waiting.join(", ") };
            Err(format!("no call `{id}` waits for confirmation; waiting: {waiting}"))
        }
        _ => Ok(()),
    }
}

/// The skill of an action name's last part, where a `-` of the name may be written `_`.
fn skill_named(written: &str, grounds: Grounds<'_>) -> Result<SkillName, String> {
    let plain = written.replace('-', "_");
    let spelled = |name: &SkillName| name.as_str().replace('-', "_") == plain;
    if let Some(card) = grounds.space.skills.iter().find(|card| spelled(&card.name)) {
        return Ok(card.name.clone());
    }
    if grounds.loaded.iter().any(|skill| spelled(&skill.name)) {
        return Err(format!("skill `{}` is already loaded", cut(written, 48)));
    }
    let names: Vec<String> = grounds.space.skills.iter().map(|card| format!("`{}`", card.name.action_name())).collect();
    let names = if names.is_empty() { "none".to_owned() } else { names.join(", ") };
    Err(format!("there is no skill `{}{}`; can be loaded: {names}", reserved::SKILL_PREFIX, cut(written, 48)))
}
