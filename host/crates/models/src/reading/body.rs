//! The body of a chat completion, as vLLM, llama.cpp, Ollama and the services behind the same interface send it.

use loopwright_contract::action::{Proposed, reserved};
use loopwright_contract::planner::Usage;
use serde_json::{Value, json};

use super::embedded::{call_of, calls, without_thoughts};
use super::usage::usage_of;
use super::{arguments_text, cut_off, is_cut, unreadable};

/// What a good response held.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Reading {
    /// At least one, where calls were asked for.
    pub(crate) proposed: Vec<Proposed>,
    /// Text beside the calls, without thoughts.
    pub(crate) text: String,
    /// Without cost.
    pub(crate) usage: Usage,
}

/// Why a body is not a turn of the model.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum BodyFault {
    /// An error object, whatever the status of the response was.
    #[error("server reported `{message}`")]
    Reported {
        /// Its text.
        message: String,
        /// A status in it, where there is one.
        code: Option<u16>,
    },
    /// Not JSON, or JSON of another shape.
    #[error("expected a chat completion, found {found}")]
    Shape {
        /// What was found.
        found: String,
    },
}

/// Reads a body. `offered` tells the names that count as calls inside prose.
///
/// # Errors
/// [`BodyFault`] for a body that is no chat completion.
pub(crate) fn read(body: &[u8], offered: &dyn Fn(&str) -> bool) -> Result<Reading, BodyFault> {
    let value = completion(body)?;
    let message = message(&value)?;
    let finish = value
        .pointer("/choices/0/finish_reason")
        .or_else(|| value.get("done_reason"))
        .and_then(Value::as_str)
        .unwrap_or_default();
    let content = content_of(message);
    let proposed = proposed_of(message, &content, finish, offered);
    let text = without_thoughts(&content).0;
    // Text that was read as calls is not said again beside them.
    let from_content =
        message_calls(message).is_empty() && proposed.iter().any(|proposed| matches!(proposed, Proposed::Call { .. }));
    let text = if from_content { String::new() } else { text.to_owned() };
    Ok(Reading { proposed, text, usage: usage_of(&value) })
}

/// The same where text was asked for: whatever it looks like, it is text.
pub(crate) fn read_text(body: &[u8]) -> Result<Reading, BodyFault> {
    let value = completion(body)?;
    let content = content_of(message(&value)?);
    Ok(Reading { proposed: Vec::new(), text: without_thoughts(&content).0.to_owned(), usage: usage_of(&value) })
}

/// The body as JSON, unless it reports an error.
fn completion(body: &[u8]) -> Result<Value, BodyFault> {
    let text = String::from_utf8_lossy(body);
    // Deliberately not the strict profile: a server may send large integers and repeated keys in fields that nobody reads.
    let value: Value = serde_json::from_str(text.trim_start_matches('\u{feff}'))
        .map_err(|error| BodyFault::Shape { found: not_json(&text, &error) })?;
    error_in(&value).map_or(Ok(value), Err)
}

fn message(value: &Value) -> Result<&Value, BodyFault> {
    // The second is Ollama's own interface.
    let message = value.pointer("/choices/0/message").or_else(|| value.get("message"));
    message.filter(|message| message.is_object()).ok_or_else(|| BodyFault::Shape { found: shape_of(value) })
}

/// The error in a body, where there is one.
pub(crate) fn error_in(value: &Value) -> Option<BodyFault> {
    let error = match value.get("error") {
        Some(Value::Null) | None => value,
        Some(error) => error,
    };
    let is_error = !std::ptr::eq(error, value)
        || value.get("object").and_then(Value::as_str) == Some("error")
        || value.get("detail").is_some();
    if !is_error {
        return None;
    }
    let message = match error {
        Value::String(text) => text.clone(),
        other => match other.get("message").or_else(|| other.get("detail")) {
            Some(Value::String(text)) => text.clone(),
            Some(inner) => inner.to_string(),
            None => other.to_string(),
        },
    };
    let code = ["code", "status"].iter().find_map(|key| {
        let code = error.get(*key)?;
        code.as_u64().or_else(|| code.as_str()?.parse().ok())
    });
    Some(BodyFault::Reported {
        message: message.chars().take(300).collect(),
        code: code.and_then(|code| u16::try_from(code).ok()),
    })
}

fn proposed_of(message: &Value, content: &str, finish: &str, offered: &dyn Fn(&str) -> bool) -> Vec<Proposed> {
    let was_cut = matches!(finish, "length" | "max_tokens" | "MAX_TOKENS");
    let mut proposed: Vec<Proposed> = Vec::new();
    let mut ids: Vec<String> = Vec::new();
    for call in message_calls(message) {
        let Some(Proposed::Call { id, name, arguments }) = call_of(call) else {
            proposed.push(Proposed::Unreadable { reason: "a tool call without a function name".to_owned() });
            continue;
        };
        if was_cut && is_cut(&arguments) {
            proposed.push(cut_off());
            continue;
        }
        // Some servers give every call of a turn the same id; only the first keeps it.
        let id = id.filter(|id| !ids.contains(id));
        ids.extend(id.clone());
        proposed.push(Proposed::Call { id, name, arguments });
    }
    if !proposed.is_empty() {
        return proposed;
    }
    if let Some(reason) = message.get("refusal").and_then(Value::as_str).filter(|reason| !reason.is_empty()) {
        return vec![Proposed::Call {
            id: None,
            name: reserved::REFUSE.to_owned(),
            arguments: json!({"reason": reason}).to_string(),
        }];
    }
    if matches!(finish, "content_filter" | "SAFETY") {
        return vec![Proposed::Unreadable { reason: "the server's filter withheld the output".to_owned() }];
    }
    let in_content = calls(content, offered);
    if !matches!(in_content.as_slice(), [Proposed::Unreadable { .. }]) {
        return in_content;
    }
    // A reasoning parser that swallowed the whole output leaves the call among the thoughts.
    let thoughts = ["reasoning_content", "reasoning", "thinking"]
        .iter()
        .find_map(|key| message.get(*key)?.as_str())
        .unwrap_or_default();
    let (after, _) = without_thoughts(thoughts);
    if content.trim().is_empty() && thoughts.contains("<tool_call>") {
        return calls(after, offered);
    }
    match in_content.into_iter().next() {
        Some(_) if was_cut => vec![cut_off()],
        Some(fault) => vec![fault],
        None => vec![unreadable(content)],
    }
}

/// The calls in the fields that are meant for them: the list, or the one of the older interface.
fn message_calls(message: &Value) -> Vec<&Value> {
    match message.get("tool_calls") {
        Some(Value::Array(calls)) => calls.iter().collect(),
        Some(call @ Value::Object(_)) => vec![call],
        _ => message.get("function_call").filter(|call| call.is_object()).into_iter().collect(),
    }
}

/// Text, `null`, or a list of parts.
fn content_of(message: &Value) -> String {
    match message.get("content") {
        Some(Value::String(text)) => text.clone(),
        Some(Value::Array(parts)) => {
            parts.iter().filter_map(|part| part.get("text")?.as_str()).collect::<Vec<_>>().join("")
        }
        // A model that was asked for JSON, behind a server that parsed it.
        Some(value @ Value::Object(_)) => arguments_text(Some(value)),
        _ => String::new(),
    }
}

fn not_json(text: &str, error: &serde_json::Error) -> String {
    let start: String = text.trim().chars().take(60).collect();
    match start.as_str() {
        "" => "an empty body".to_owned(),
        _ if start.starts_with('<') => format!("markup that begins `{start}`"),
        _ => format!("text that begins `{start}` ({error})"),
    }
}

fn shape_of(value: &Value) -> String {
    match value {
        Value::Object(fields) => {
            let names: Vec<&str> = fields.keys().take(8).map(String::as_str).collect();
            format!("an object with the fields `{}` and no message", names.join(", "))
        }
        Value::Array(_) => "a list".to_owned(),
        _ => "a scalar".to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn offered(name: &str) -> bool {
        matches!(name, "wifi" | "alarm")
    }

    fn shown(body: &str) -> String {
        match read(body.as_bytes(), &offered) {
            Err(fault) => format!("fault: {fault}"),
            Ok(reading) => {
                let calls: Vec<String> = reading
                    .proposed
                    .iter()
                    .map(|proposed| match proposed {
                        Proposed::Call { id, name, arguments } => {
                            format!("{}:{name}{arguments}", id.as_deref().unwrap_or("-"))
                        }
                        Proposed::Unreadable { reason } => format!("? {reason}"),
                        Proposed::Action { value } => format!("{value:?}"),
                    })
                    .collect();
                if reading.text.is_empty() {
                    calls.join(" ")
                } else {
                    format!("`{}` {}", reading.text, calls.join(" "))
                }
            }
        }
    }

    fn choice(message: &str, finish: &str) -> String {
        format!(
            r#"{{"choices":[{{"index":0,"message":{message},"finish_reason":{finish}}}],"usage":{{"prompt_tokens":9,"completion_tokens":4}}}}"#
        )
    }

    #[test]
    fn turns_are_read_as_servers_send_them() {
        let wifi = r#"{"type":"function","id":"c1","function":{"name":"wifi","arguments":"{\"action\": \"on\"}"}}"#;
        for (what, message, finish, expected) in [
            (
                "openai",
                format!(r#"{{"role":"assistant","content":null,"tool_calls":[{wifi}]}}"#),
                r#""tool_calls""#,
                r#"c1:wifi{"action": "on"}"#,
            ),
            (
                "content beside the call",
                format!(r#"{{"content":"On it.","tool_calls":[{wifi}]}}"#),
                r#""stop""#,
                r#"`On it.` c1:wifi{"action": "on"}"#,
            ),
            (
                "content left out, finish null",
                format!(r#"{{"tool_calls":[{wifi}]}}"#),
                "null",
                r#"c1:wifi{"action": "on"}"#,
            ),
            (
                "parallel, same id twice",
                format!(r#"{{"tool_calls":[{wifi},{wifi}]}}"#),
                r#""tool_calls""#,
                r#"c1:wifi{"action": "on"} -:wifi{"action": "on"}"#,
            ),
            (
                "arguments as an object, no id (Ollama)",
                r#"{"content":"","tool_calls":[{"function":{"name":"wifi","arguments":{"action":"on"}}}]}"#.to_owned(),
                r#""stop""#,
                r#"-:wifi{"action":"on"}"#,
            ),
            (
                "empty arguments",
                r#"{"tool_calls":[{"id":"","function":{"name":"wifi","arguments":""}}]}"#.to_owned(),
                r#""tool_calls""#,
                "-:wifi{}",
            ),
            (
                "arguments null",
                r#"{"tool_calls":[{"id":null,"function":{"name":"wifi","arguments":null}}]}"#.to_owned(),
                r#""tool_calls""#,
                "-:wifi{}",
            ),
            (
                "arguments left out",
                r#"{"tool_calls":[{"function":{"name":"wifi"}}]}"#.to_owned(),
                r#""tool_calls""#,
                "-:wifi{}",
            ),
            (
                "arguments as text of text",
                r#"{"tool_calls":[{"function":{"name":"wifi","arguments":"\"{\\\"action\\\":\\\"on\\\"}\""}}]}"#
                    .to_owned(),
                r#""tool_calls""#,
                r#"-:wifi{"action":"on"}"#,
            ),
            (
                "calls empty, call in content",
                r#"{"content":"<tool_call>{\"name\":\"wifi\"}</tool_call>","tool_calls":[]}"#.to_owned(),
                r#""stop""#,
                "-:wifi{}",
            ),
            (
                "calls null, fenced",
                r#"{"content":"```json\n{\"name\":\"wifi\",\"arguments\":{}}\n```","tool_calls":null}"#.to_owned(),
                r#""eos""#,
                "-:wifi{}",
            ),
            (
                "content in parts",
                r#"{"content":[{"type":"text","text":"{\"name\":"},{"type":"text","text":"\"wifi\"}"}]}"#.to_owned(),
                r#""stop""#,
                "-:wifi{}",
            ),
            (
                "older interface",
                r#"{"content":null,"function_call":{"name":"wifi","arguments":"{}"}}"#.to_owned(),
                r#""function_call""#,
                "-:wifi{}",
            ),
            (
                "thoughts inline",
                format!(r#"{{"content":"<think>hm</think>","tool_calls":[{wifi}]}}"#),
                r#""tool_calls""#,
                r#"c1:wifi{"action": "on"}"#,
            ),
            (
                "thoughts apart",
                format!(r#"{{"content":null,"reasoning_content":"hm","tool_calls":[{wifi}]}}"#),
                r#""tool_calls""#,
                r#"c1:wifi{"action": "on"}"#,
            ),
            (
                "thoughts took the call",
                r#"{"content":null,"reasoning":"hm <tool_call>{\"name\":\"wifi\"}</tool_call>"}"#.to_owned(),
                r#""stop""#,
                "-:wifi{}",
            ),
            (
                "refusal",
                r#"{"content":null,"refusal":"I will not."}"#.to_owned(),
                r#""stop""#,
                r#"-:refuse{"reason":"I will not."}"#,
            ),
        ] {
            assert_eq!(shown(&choice(&message, finish)), expected, "{what}");
        }
    }

    #[test]
    fn turns_without_a_call_say_why() {
        for (what, message, finish, part) in [
            ("prose", r#"{"content":"Done."}"#, r#""stop""#, "found text `Done.`"),
            ("content null", r#"{"content":null}"#, r#""stop""#, "found nothing"),
            (
                "arguments cut off",
                r#"{"tool_calls":[{"function":{"name":"wifi","arguments":"{\"act"}}]}"#,
                r#""length""#,
                "cut off",
            ),
            ("content cut off", r#"{"content":"{\"name\": \"wi"}"#, r#""length""#, "cut off"),
            ("prose cut off", r#"{"content":"I will now"}"#, r#""length""#, "cut off"),
            ("filtered", r#"{"content":""}"#, r#""content_filter""#, "filter"),
            (
                "call without a function",
                r#"{"tool_calls":[{"id":"c1"}]}"#,
                r#""tool_calls""#,
                "without a function name",
            ),
        ] {
            let shown = shown(&choice(message, finish));
            assert!(shown.contains("? ") && shown.contains(part), "{what}: {shown}");
        }
        // Cut off by the server's own accounting, but whole.
        let whole = choice(r#"{"tool_calls":[{"function":{"name":"wifi","arguments":"{}"}}]}"#, r#""length""#);
        assert_eq!(shown(&whole), "-:wifi{}");
        // Malformed, but not cut off: the harness names the fault.
        let malformed =
            choice(r#"{"tool_calls":[{"function":{"name":"wifi","arguments":"{action: on}"}}]}"#, r#""tool_calls""#);
        assert_eq!(shown(&malformed), "-:wifi{action: on}");
    }

    #[test]
    fn ollamas_own_interface_is_read_too() {
        let body = r#"{"model":"q","message":{"role":"assistant","content":"","tool_calls":[{"function":{"name":"wifi","arguments":{}}}]},"done":true,
            "done_reason":"stop","total_duration":9223372036854775807,"prompt_eval_count":26,"eval_count":7}"#;
        let reading = read(body.as_bytes(), &offered).unwrap();
        assert_eq!((reading.usage.tokens_in, reading.usage.tokens_out, reading.proposed.len()), (26, 7, 1));
    }

    #[test]
    fn wrong_bodies_are_faults_and_never_turns() {
        for (body, part) in [
            ("", "an empty body"),
            ("<!DOCTYPE html><html>gateway</html>", "markup that begins `<!DOCTYPE html>"),
            ("upstream connect error", "text that begins `upstream"),
            ("[]", "a list"),
            ("null", "a scalar"),
            ("{}", "and no message"),
            (r#"{"choices":[]}"#, "fields `choices`"),
            (r#"{"choices":[{"message":"hi"}]}"#, "and no message"),
            (r#"{"error":{"message":"overloaded","type":"server_error","code":503}}"#, "reported `overloaded`"),
            (r#"{"error":"model not found"}"#, "reported `model not found`"),
            (r#"{"object":"error","message":"bad","code":400}"#, "reported `bad`"),
            (r#"{"detail":"Not Found"}"#, "reported `Not Found`"),
            (r#"{"choices":[{"message":{"content":"x"#, "text that begins"),
        ] {
            let shown = shown(body);
            assert!(shown.starts_with("fault: ") && shown.contains(part), "{body}: {shown}");
        }
        let fault = read(br#"{"error":{"message":"slow down","code":"429"}}"#, &offered);
        assert_eq!(fault, Err(BodyFault::Reported { message: "slow down".to_owned(), code: Some(429) }));
        let null = choice(r#"{"content":"{\"name\":\"wifi\"}"}"#, r#""stop""#).replacen('{', r#"{"error":null,"#, 1);
        assert_eq!(shown(&null), "-:wifi{}");
    }
}
