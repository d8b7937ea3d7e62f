//! Calls inside text: tagged, fenced, bare, or behind a model's own marker.

use loopwright_contract::action::Proposed;
use loopwright_contract::json::{self, JsonLimits};
use serde_json::Value;

use super::{arguments_text, cut_off, unreadable};

/// Calls that one text may hold; more are left out.
const CALLS_MAX: usize = 16;
/// Objects that are looked at in one text, so that a hostile text costs a bounded time.
const OBJECTS_MAX: usize = 64;
/// Markers that say: what follows is a call.
const MARKERS: [&str; 5] = ["<tool_call>", "<|python_tag|>", "[TOOL_CALLS]", "<function=", "<|tool_call|>"];

/// The text without what a model thought before it, and those thoughts.
pub(crate) fn without_thoughts(text: &str) -> (&str, &str) {
    // The opening tag is often part of the prompt, so the closing one decides.
    if let Some((thoughts, rest)) = text.rsplit_once("</think>") {
        return (rest.trim(), thoughts.trim_start_matches("<think>").trim());
    }
    match text.split_once("<think>") {
        Some((before, thoughts)) => (before.trim(), thoughts.trim()),
        None => (text.trim(), ""),
    }
}

/// The calls in `text`, or one `Unreadable`.
///
/// `offered` tells a call in the middle of prose from an example of JSON: there, only offered names count.
pub(crate) fn calls(text: &str, offered: &dyn Fn(&str) -> bool) -> Vec<Proposed> {
    let (text, _) = without_thoughts(text);
    let marked = MARKERS.iter().any(|marker| text.contains(marker));
    let alone = marked || text.starts_with(['{', '[', '`']);
    let found = scan(text, &|name| alone || offered(name));
    match (found.calls.is_empty(), found.cut && alone) {
        (false, _) => found.calls,
        (true, true) => vec![cut_off()],
        (true, false) => vec![found.fault.filter(|_| alone).unwrap_or_else(|| unreadable(text))],
    }
}

#[derive(Default)]
struct Found {
    calls: Vec<Proposed>,
    cut: bool,
    fault: Option<Proposed>,
}

fn scan(text: &str, accepted: &dyn Fn(&str) -> bool) -> Found {
    let mut found = Found::default();
    let mut rest = text;
    for _ in 0..OBJECTS_MAX {
        let Some(start) = rest.find('{') else { break };
        let (before, here) = rest.split_at(start);
        let mut values = serde_json::Deserializer::from_str(here).into_iter::<Value>();
        let skipped = match values.next() {
            Some(Ok(_)) => {
                let end = values.byte_offset();
                take(before, here.get(..end).unwrap_or(here), accepted, &mut found);
                end
            }
            // What follows lies inside the object that was cut off, and is no call of its own.
            Some(Err(error)) if error.is_eof() => {
                found.cut = true;
                break;
            }
            _ => 1,
        };
        rest = here.get(skipped..).unwrap_or("");
        if found.calls.len() >= CALLS_MAX {
            break;
        }
    }
    found
}

/// Takes one JSON object as a call, if it is one.
fn take(before: &str, object: &str, accepted: &dyn Fn(&str) -> bool, found: &mut Found) {
    let value = match json::parse(object, &JsonLimits::CONTRACT) {
        Ok(value) => value,
        Err(error) => {
            found.fault.get_or_insert(Proposed::Unreadable { reason: error.to_string() });
            return;
        }
    };
    // `<function=name>{...}`: the name stands before the arguments.
    if let Some(name) = before
        .trim_end()
        .strip_suffix('>')
        .and_then(|text| text.rsplit_once("<function="))
        .map(|(_, name)| name.trim_matches('"'))
        && accepted(name)
    {
        found.calls.push(Proposed::Call { id: None, name: name.to_owned(), arguments: arguments_text(Some(&value)) });
        return;
    }
    if let Some(call) = call_of(&value).filter(|call| matches!(call, Proposed::Call { name, .. } if accepted(name))) {
        found.calls.push(call);
    }
}

/// `{name, arguments}` in the spellings that models use; also `{function: {...}}` and `{tool_calls: [...]}` with one entry.
pub(super) fn call_of(value: &Value) -> Option<Proposed> {
    if let Some(inner @ Value::Object(_)) = value.get("function") {
        return call_of(inner).map(|call| with_id(call, value));
    }
    if let Some(first) = value.get("tool_calls").and_then(|calls| calls.get(0)) {
        return call_of(first);
    }
    let name = ["name", "tool", "tool_name", "function"].iter().find_map(|key| value.get(*key)?.as_str())?;
    let arguments = ["arguments", "parameters", "args", "input"].iter().find_map(|key| value.get(*key));
    let call = Proposed::Call { id: None, name: name.to_owned(), arguments: arguments_text(arguments) };
    Some(with_id(call, value))
}

fn with_id(call: Proposed, holder: &Value) -> Proposed {
    match call {
        Proposed::Call { id: None, name, arguments } => {
            let id = holder.get("id").and_then(Value::as_str).filter(|id| !id.is_empty()).map(str::to_owned);
            Proposed::Call { id, name, arguments }
        }
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(name: &str) -> bool {
        matches!(name, "wifi" | "alarm")
    }

    fn shown(text: &str) -> Vec<String> {
        calls(text, &offered)
            .into_iter()
            .map(|proposed| match proposed {
                Proposed::Call { id, name, arguments } => {
                    format!("{}{name} {arguments}", id.map(|id| format!("{id} ")).unwrap_or_default())
                }
                Proposed::Unreadable { reason } => format!("? {reason}"),
                Proposed::Action { value } => format!("{value:?}"),
            })
            .collect()
    }

    #[test]
    fn calls_are_found_in_the_forms_that_models_write() {
        let wifi = r#"wifi {"action":"on"}"#;
        for (what, text, expected) in [
            (
                "tagged",
                "<tool_call>\n{\"name\": \"wifi\", \"arguments\": {\"action\": \"on\"}}\n</tool_call>",
                vec![wifi],
            ),
            ("tag not closed", "<tool_call>{\"name\": \"wifi\", \"arguments\": {\"action\": \"on\"}}", vec![wifi]),
            (
                "two tagged",
                "<tool_call>{\"name\":\"wifi\",\"arguments\":{\"action\":\"on\"}}</tool_call>\n<tool_call>{\"name\":\"alarm\"}</tool_call>",
                vec![wifi, "alarm {}"],
            ),
            (
                "fenced",
                "Sure:\n```json\n{\"name\": \"wifi\", \"arguments\": {\"action\": \"on\"}}\n```\nDone.",
                vec![wifi],
            ),
            ("bare", r#"{"name": "wifi", "arguments": {"action": "on"}}"#, vec![wifi]),
            ("bare, unknown name", r#"{"name": "tv", "arguments": {}}"#, vec!["tv {}"]),
            (
                "bare, two lines",
                "{\"name\":\"wifi\",\"arguments\":{\"action\":\"on\"}}\n{\"name\":\"alarm\",\"arguments\":{}}",
                vec![wifi, "alarm {}"],
            ),
            (
                "list",
                r#"[{"name":"wifi","arguments":{"action":"on"}},{"name":"alarm","arguments":{}}]"#,
                vec![wifi, "alarm {}"],
            ),
            ("parameters", r#"{"name": "wifi", "parameters": {"action": "on"}}"#, vec![wifi]),
            ("arguments as text", r#"{"name": "wifi", "arguments": "{\"action\":\"on\"}"}"#, vec![wifi]),
            (
                "openai shape",
                r#"{"id":"c1","type":"function","function":{"name":"wifi","arguments":{"action":"on"}}}"#,
                vec![r#"c1 wifi {"action":"on"}"#],
            ),
            ("python tag", r#"<|python_tag|>{"name": "wifi", "parameters": {"action": "on"}}"#, vec![wifi]),
            ("mistral", r#"[TOOL_CALLS][{"name": "wifi", "arguments": {"action": "on"}}]"#, vec![wifi]),
            ("function tag", r#"<function=wifi>{"action": "on"}</function>"#, vec![wifi]),
            (
                "after thoughts",
                "<think>{\"name\":\"alarm\"}</think>{\"name\":\"wifi\",\"arguments\":{\"action\":\"on\"}}",
                vec![wifi],
            ),
            (
                "thoughts begun in the prompt",
                "so\n</think>\n\n{\"name\":\"wifi\",\"arguments\":{\"action\":\"on\"}}",
                vec![wifi],
            ),
            (
                "braces in a string",
                r#"{"name":"wifi","arguments":{"action":"a}b{"}}"#,
                vec![r#"wifi {"action":"a}b{"}"#],
            ),
        ] {
            assert_eq!(shown(text), expected, "{what}");
        }
    }

    #[test]
    fn what_is_no_call_says_why() {
        for (what, text, part) in [
            ("prose", "I turned it on.", "found text `I turned it on.`"),
            ("nothing", "  ", "found nothing"),
            ("only thoughts", "<think>what now", "found nothing"),
            ("cut in bare", r#"{"name": "wifi", "arguments": {"act"#, "cut off"),
            ("cut in tag", r#"<tool_call>{"name": "wifi", "arg"#, "cut off"),
            ("cut, with a call inside", r#"{"name": "wifi", "arguments": {"x": {"name": "alarm"}, "z"#, "cut off"),
            ("json without a name", r#"{"action": "on"}"#, "expected a call"),
            ("an example in prose", r#"Use {"name": "tv", "arguments": {}} for that."#, "found text"),
            ("duplicate key", r#"{"name": "wifi", "arguments": {"a": 1, "a": 2}}"#, "duplicate key `a`"),
        ] {
            let shown = shown(text);
            assert!(matches!(shown.as_slice(), [one] if one.contains(part)), "{what}: {shown:?}");
        }
    }

    #[test]
    fn a_hostile_text_costs_a_bounded_time() {
        assert_eq!(shown(&"{".repeat(200_000)).len(), 1);
        assert_eq!(calls(&r#"{"name":"wifi"}"#.repeat(1000), &offered).len(), CALLS_MAX);
    }
}
