//! The body of a request.

use loopwright_contract::planner::DecisionRequest;
use serde_json::{Map, Value, json};

use super::config::{HttpConfig, OutputLimitField};
use crate::chat::{Message, messages};
use crate::offer::{Function, functions};

/// Servers read seeds as signed 32-bit numbers at the narrowest.
const SEED_MASK: u64 = 0x7fff_ffff;

/// A request that is ready to send.
#[derive(Debug)]
pub(crate) struct Prepared {
    /// JSON text.
    pub(crate) body: String,
    /// The names that were offered; none: text is asked for.
    pub(crate) names: Vec<String>,
    /// Of the request.
    pub(crate) seed: u64,
}

pub(crate) fn prepare(config: &HttpConfig, request: &DecisionRequest<'_>) -> Prepared {
    let offered = functions(&request.context.space, &request.context.lang);
    let mut body = body(config, &messages(request.context), request.seed);
    body.insert("tools".to_owned(), offered.iter().map(function_json).collect());
    body.insert("tool_choice".to_owned(), json!(if config.require_call { "required" } else { "auto" }));
    body.insert("parallel_tool_calls".to_owned(), json!(config.parallel_calls));
    let names = offered.into_iter().map(|function| function.name).collect();
    finish(config, body, names, request.seed)
}

/// A request for text: no functions are offered.
pub(crate) fn prepare_text(config: &HttpConfig, system: &str, request: &str, seed: u64) -> Prepared {
    let messages = [Message::System(system.to_owned()), Message::User(request.to_owned())];
    finish(config, body(config, &messages, seed), Vec::new(), seed)
}

/// What every request says.
fn body(config: &HttpConfig, messages: &[Message], seed: u64) -> Map<String, Value> {
    let mut body = Map::new();
    let mut set = |name: &str, value: Value| body.insert(name.to_owned(), value);
    set("model", json!(config.model));
    set("messages", messages.iter().map(message_json).collect());
    set("stream", json!(false));
    set("seed", json!(seed & SEED_MASK));
    let limit = match config.output_limit_field {
        OutputLimitField::MaxTokens => "max_tokens",
        OutputLimitField::MaxCompletionTokens => "max_completion_tokens",
    };
    set(limit, json!(config.tokens_out_max));
    if let Some(temperature) = config.temperature {
        set("temperature", json!(temperature));
    }
    if let Some(top_p) = config.top_p {
        set("top_p", json!(top_p));
    }
    body
}

/// What the operator adds comes last and wins.
fn finish(config: &HttpConfig, mut body: Map<String, Value>, names: Vec<String>, seed: u64) -> Prepared {
    body.extend(config.extra.clone());
    Prepared { body: Value::Object(body).to_string(), names, seed }
}

fn function_json(function: &Function) -> Value {
    json!({"type": "function", "function": {"name": function.name, "description": function.description, "parameters": function.parameters}})
}

fn message_json(message: &Message) -> Value {
    match message {
        Message::System(text) => json!({"role": "system", "content": text}),
        Message::User(text) => json!({"role": "user", "content": text}),
        Message::Assistant { text, calls } if calls.is_empty() => {
            json!({"role": "assistant", "content": text})
        }
        Message::Assistant { text, calls } => {
            let calls: Vec<Value> = calls
                .iter()
                .map(|call| json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments.to_string()}}))
                .collect();
            json!({"role": "assistant", "content": text, "tool_calls": calls})
        }
        Message::Tool { id, name, text } => {
            json!({"role": "tool", "tool_call_id": id, "name": name, "content": text})
        }
    }
}

#[cfg(test)]
mod tests {
    use loopwright_contract::action::Action;
    use loopwright_contract::context::Event;

    use super::*;
    use crate::offer::tests::context;

    #[test]
    fn a_request_offers_every_function_and_answers_calls_by_id() {
        let mut context = context("Wi-Fi on");
        context.history = vec![
            Event::Decided {
                text: String::new(),
                actions: vec![Action::Ask { question: "which?".to_owned(), pending: None }],
            },
            Event::User { text: "home".to_owned() },
        ];
        let mut config = HttpConfig::new("http://x/v1", "m");
        config.extra.insert("top_k".to_owned(), json!(1));
        let prepared = prepare(&config, &DecisionRequest { context: &context, seed: u64::MAX });
        let body: Value = serde_json::from_str(&prepared.body).unwrap();
        let at = |pointer: &str| body.pointer(pointer).cloned().unwrap_or_default();
        assert_eq!(
            prepared.names,
            [
                "manage_wifi",
                "create_alarm",
                "ask_user",
                "search_user_memory",
                "add_user_memory",
                "replace_user_memory",
                "remove_user_memory",
                "refuse",
                "finish",
                "skill__power_saver"
            ]
        );
        assert_eq!(at("/tools/0/function/parameters/properties/action/enum"), json!(["query", "enable", "disable"]));
        assert_eq!(
            at("/messages/2/tool_calls/0/function"),
            json!({"name": "ask_user", "arguments": "{\"question\":\"which?\"}"})
        );
        assert_eq!(
            at("/messages/3"),
            json!({"role": "tool", "tool_call_id": at("/messages/2/tool_calls/0/id"), "name": "ask_user", "content": "home"})
        );
        assert_eq!(
            (at("/seed"), at("/max_tokens"), at("/top_k"), at("/temperature")),
            (json!(0x7fff_ffff), json!(1024), json!(1), json!(0.0))
        );
    }
}
