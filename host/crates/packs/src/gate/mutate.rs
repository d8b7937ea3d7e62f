//! The same call on another target.

use loopwright_contract::action::Action;
use loopwright_contract::name::MemoryId;
use loopwright_contract::tool::{Effect, ToolCall, ToolSpec};
use serde_json::{Map, Value, json};

/// The values that a schema lists: `enum`, `const`, or those of its alternatives; none where it lists none.
pub(super) fn choices(schema: &Value) -> Vec<Value> {
    let list = |name: &str| schema.get(name).and_then(Value::as_array).into_iter().flatten();
    let mut found: Vec<Value> = list("enum").chain(schema.get("const")).cloned().collect();
    for inner in list("anyOf").chain(list("oneOf")) {
        found.extend(choices(inner));
    }
    found
}

/// Arguments that name another target, and which argument was changed: the first one besides `action`, else `action` itself.
pub(super) fn elsewhere(call: &ToolCall, spec: &ToolSpec) -> Option<(String, Value)> {
    let arguments = call.arguments.as_object()?;
    let mut names: Vec<&String> = arguments.keys().collect();
    // Not the map's own order, which depends on how serde_json was built.
    names.sort_by_key(|name| (name.as_str() == "action", name.as_str()));
    names.into_iter().find_map(|name| {
        let old = arguments.get(name)?;
        let schema = spec.arguments_schema.pointer(&format!("/properties/{name}"));
        let new = if name == "action" { other_action(arguments, old, spec, schema)? } else { other(old, schema)? };
        let mut changed = arguments.clone();
        changed.insert(name.clone(), new.clone());
        Some((format!("`{name}` {new} for {old}"), Value::Object(changed)))
    })
}

/// Another action that is a write of the same tool, such as `disable` for `enable`.
fn other_action(arguments: &Map<String, Value>, old: &Value, spec: &ToolSpec, schema: Option<&Value>) -> Option<Value> {
    let opposite = match old.as_str()? {
        "enable" => Some("disable"),
        "disable" => Some("enable"),
        "on" => Some("off"),
        "off" => Some("on"),
        "start" => Some("stop"),
        "stop" => Some("start"),
        _ => None,
    };
    let allowed = schema.map(choices).unwrap_or_default();
    let writes = |action: &&Value| {
        let mut changed = arguments.clone();
        changed.insert("action".to_owned(), (*action).clone());
        spec.access_rule(&Value::Object(changed)).is_some_and(|rule| rule.effect == Effect::Write)
    };
    let preferred = allowed.iter().find(|action| opposite.is_some() && action.as_str() == opposite);
    preferred.or_else(|| allowed.iter().filter(|action| *action != old).find(writes)).cloned()
}

fn other(old: &Value, schema: Option<&Value>) -> Option<Value> {
    let allowed = schema.map(choices).unwrap_or_default();
    if !allowed.is_empty() {
        return allowed.into_iter().find(|value| value != old && !value.is_null());
    }
    match old {
        Value::Bool(flag) => Some(json!(!flag)),
        Value::Number(number) => {
            let number = number.as_i64()?;
            let maximum = schema.and_then(|schema| schema.get("maximum")).and_then(Value::as_f64);
            #[expect(clippy::cast_precision_loss, reason = "bounds of schemas are small")]
            let full = maximum.is_some_and(|maximum| number as f64 >= maximum);
            Some(json!(if full { number.saturating_sub(1) } else { number.saturating_add(1) }))
        }
        Value::String(text) => Some(Value::String(other_text(text))),
        Value::Array(items) => other_list(items, schema),
        Value::Object(map) => {
            let (name, value) = map.iter().min_by_key(|(name, _)| name.as_str())?;
            let mut map = map.clone();
            let inner = schema.and_then(|schema| schema.pointer(&format!("/properties/{name}")));
            map.insert(name.clone(), other(value, inner)?);
            Some(Value::Object(map))
        }
        Value::Null => None,
    }
}

fn other_list(items: &[Value], schema: Option<&Value>) -> Option<Value> {
    let (first, rest) = items.split_first()?;
    let first = other(first, schema.and_then(|schema| schema.get("items")))?;
    let mut changed = vec![first];
    changed.extend(rest.iter().cloned());
    Some(Value::Array(changed))
}

/// A text of the same kind that does not contain the old one: another minute, other digits, another name.
fn other_text(text: &str) -> String {
    let digits = text.chars().filter(char::is_ascii_digit).count();
    let plain = text
        .chars()
        .all(|character| character.is_ascii_digit() || matches!(character, ':' | '-' | 'T' | '+' | '.' | '#' | 'W'));
    if digits == 0 || !plain {
        return if text == "elsewhere" { "nowhere".to_owned() } else { "elsewhere".to_owned() };
    }
    let last = text.char_indices().rev().find(|(_, character)| character.is_ascii_digit());
    // The last digit of a time or a date, moved so that it stays one: minutes up to 59, days up to 28.
    let change = |(at, character): (usize, char)| {
        let next =
            if character == '0' { '1' } else { char::from(u8::try_from(character).unwrap_or(b'1').saturating_sub(1)) };
        let (head, tail) = (text.get(..at).unwrap_or_default(), text.get(at.saturating_add(1)..).unwrap_or_default());
        format!("{head}{next}{tail}")
    };
    last.map_or_else(|| "elsewhere".to_owned(), change)
}

/// A change of the memory that says something else or means another record, and what was changed.
pub(super) fn other_memory(action: &Action) -> Option<(String, Action)> {
    let elsewhere = MemoryId::new("elsewhere").ok()?;
    Some(match action {
        Action::Remember { category, title, tags, valid_until, .. } => {
            let changed = Action::Remember {
                content: "elsewhere".to_owned(),
                category: category.clone(),
                title: title.clone(),
                tags: tags.clone(),
                valid_until: valid_until.clone(),
            };
            ("another `content`".to_owned(), changed)
        }
        Action::Replace { memory, .. } => (
            "another `content`".to_owned(),
            Action::Replace { memory: memory.clone(), content: "elsewhere".to_owned() },
        ),
        Action::Forget { memory, call } => {
            (format!("`memoryId` elsewhere for {memory}"), Action::Forget { memory: elsewhere, call: call.clone() })
        }
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::other_text;

    #[test]
    fn another_text_is_of_the_same_kind() {
        for (text, expected) in [
            ("07:30", "07:31"),
            ("2026-03-10", "2026-03-11"),
            ("2026-03-05T10:00", "2026-03-05T10:01"),
            ("13811110001", "13811110000"),
            ("#W2378156", "#W2378155"),
            ("Office", "elsewhere"),
            ("alarm-0031", "elsewhere"),
            ("elsewhere", "nowhere"),
        ] {
            assert_eq!(other_text(text), expected);
        }
    }
}
