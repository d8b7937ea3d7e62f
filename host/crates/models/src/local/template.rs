//! The chat template of a model file: Jinja, as the model's authors wrote it.

use minijinja::value::{Kwargs, ValueKind};
use minijinja::{Environment, Error, ErrorKind, Value as Jinja, context};
use serde_json::{Value, json};

use super::LocalError;
use super::compact;
use super::vocabulary::Vocabulary;
use crate::chat::{ChatCall, Message};
use crate::offer::Function;

/// Steps of Jinja that one rendering may take: a template is code from outside.
const FUEL: u64 = 20_000_000;
/// For files without a template.
const CHATML: &str = "{% for message in messages %}{{ '<|im_start|>' + message.role + '\n' + message.content + '<|im_end|>\n' }}{% endfor %}\
{% if add_generation_prompt %}{{ '<|im_start|>assistant\n' }}{% endif %}";

/// How functions are shown to a model.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ToolRendering {
    /// By the template where it has a place for tools, else compactly.
    #[default]
    Auto,
    /// One line a function in the system text, whatever the template can do: fewer tokens.
    Compact,
}

/// How a model writes a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct CallStyle {
    /// What stands before the call, such as `<tool_call>` and a line end.
    pub(crate) opening: String,
    /// The key of the arguments.
    pub(crate) key: String,
}

impl Default for CallStyle {
    fn default() -> Self {
        Self { opening: String::new(), key: "arguments".to_owned() }
    }
}

/// A template, ready to render.
#[derive(Debug)]
pub(crate) struct Template {
    environment: Environment<'static>,
    by_template: bool,
    style: CallStyle,
    begin: String,
    end: String,
}

impl Template {
    pub(crate) fn new(
        source: Option<&str>,
        rendering: ToolRendering,
        vocabulary: &Vocabulary,
    ) -> Result<Self, LocalError> {
        let mut environment = Environment::new();
        environment.set_trim_blocks(true);
        environment.set_lstrip_blocks(true);
        environment.set_fuel(Some(FUEL));
        environment.set_unknown_method_callback(minijinja_contrib::pycompat::unknown_method_callback);
        environment.add_function("raise_exception", |message: String| -> Result<String, Error> {
            Err(Error::new(ErrorKind::InvalidOperation, message))
        });
        // The day is said by the context; a template's own clock would differ from run to run.
        environment.add_function("strftime_now", |_: String| "01 Jan 2026");
        environment.add_filter("tojson", tojson);
        let source = source.unwrap_or(CHATML).to_owned();
        environment.add_template_owned("chat", source).map_err(|error| fault(&error))?;
        let mut template = Self {
            environment,
            by_template: false,
            style: CallStyle::default(),
            begin: vocabulary.begin_text.clone(),
            end: vocabulary.end_text.clone(),
        };
        if rendering == ToolRendering::Auto
            && let Some(style) = template.style_of_calls()
        {
            (template.by_template, template.style) = (true, style);
        }
        Ok(template)
    }

    /// How the model writes a call, as the template renders earlier ones.
    pub(crate) fn style(&self) -> &CallStyle {
        &self.style
    }

    /// Whether functions are rendered by the template itself.
    pub(crate) fn renders_tools(&self) -> bool {
        self.by_template
    }

    /// How the template writes a call, if it has a place for tools, calls and answers. One without such a place drops them silently; only
    /// rendering shows it.
    fn style_of_calls(&self) -> Option<CallStyle> {
        let probe = Function {
            name: "probe_of_tools".to_owned(),
            description: "d".to_owned(),
            parameters: json!({"type": "object", "properties": {}}),
        };
        let call = ChatCall { id: "c1".to_owned(), name: "probe_of_calls".to_owned(), arguments: json!({"a": 1}) };
        let asked = [Message::System("s".to_owned()), Message::User("u".to_owned())];
        let called = Message::Assistant { text: String::new(), calls: vec![call] };
        let answer = Message::Tool {
            id: "c1".to_owned(),
            name: "probe_of_calls".to_owned(),
            text: "probe_of_answers".to_owned(),
        };
        let before: Vec<Value> = asked.iter().map(native).collect();
        let after: Vec<Value> = asked.iter().chain([&called, &answer]).map(native).collect();
        let prompt = self.apply(before, Some(std::slice::from_ref(&probe))).ok()?;
        let text = self.apply(after, Some(&[probe])).ok()?;
        if !["probe_of_tools", "probe_of_calls", "probe_of_answers"].iter().all(|part| text.contains(part)) {
            return None;
        }
        // The call comes after what opens the assistant's turn, which may go on differently where the model is to write.
        let (until, rest) = text.split_once(r#"{"name": "probe_of_calls", ""#)?;
        let same = prompt.chars().zip(until.chars()).take_while(|(a, b)| a == b);
        let shared: usize = same.map(|(a, _)| a.len_utf8()).sum();
        let key = rest.split('"').next()?.to_owned();
        Some(CallStyle { opening: until.get(shared..)?.to_owned(), key })
    }

    /// The prompt for a chat. Nothing from outside the template can form a control token.
    pub(crate) fn render(
        &self,
        messages: &[Message],
        functions: &[Function],
        vocabulary: &Vocabulary,
    ) -> Result<String, LocalError> {
        let messages: Vec<Message> = messages.iter().map(|message| harmless(message, vocabulary)).collect();
        let functions: Vec<Function> = functions
            .iter()
            .map(|function| Function { description: vocabulary.harmless(&function.description), ..function.clone() })
            .collect();
        if self.by_template {
            let prompt = self.apply(messages.iter().map(native).collect(), Some(&functions))?;
            Ok(prompt + &self.style.opening)
        } else {
            self.apply(flat(&messages, &functions), None)
        }
    }

    fn apply(&self, messages: Vec<Value>, functions: Option<&[Function]>) -> Result<String, LocalError> {
        let tools: Option<Vec<Value>> = functions.map(|functions| functions.iter().map(tool_json).collect());
        let template = self.environment.get_template("chat").map_err(|error| fault(&error))?;
        let values = context! {
            messages => messages,
            tools => tools,
            add_generation_prompt => true,
            enable_thinking => false,
            bos_token => self.begin,
            eos_token => self.end,
        };
        template.render(values).map_err(|error| fault(&error))
    }
}

fn fault(error: &Error) -> LocalError {
    LocalError::Unsupported(format!("chat template: {error}"))
}

fn harmless(message: &Message, vocabulary: &Vocabulary) -> Message {
    let clean = |text: &String| vocabulary.harmless(text);
    match message {
        Message::System(text) => Message::System(clean(text)),
        Message::User(text) => Message::User(clean(text)),
        Message::Tool { id, name, text } => Message::Tool { id: id.clone(), name: name.clone(), text: clean(text) },
        Message::Assistant { text, calls } => {
            let calls = calls
                .iter()
                .map(|call| ChatCall { arguments: harmless_value(&call.arguments, vocabulary), ..call.clone() })
                .collect();
            Message::Assistant { text: clean(text), calls }
        }
    }
}

fn harmless_value(value: &Value, vocabulary: &Vocabulary) -> Value {
    match value {
        Value::String(text) => Value::String(vocabulary.harmless(text)),
        Value::Array(items) => items.iter().map(|item| harmless_value(item, vocabulary)).collect(),
        Value::Object(fields) => {
            fields.iter().map(|(key, value)| (vocabulary.harmless(key), harmless_value(value, vocabulary))).collect()
        }
        other => other.clone(),
    }
}

/// A message as templates with a place for tools expect it: arguments as an object.
fn native(message: &Message) -> Value {
    match message {
        Message::System(text) => json!({"role": "system", "content": text}),
        Message::User(text) => json!({"role": "user", "content": text}),
        Message::Assistant { text, calls } if calls.is_empty() => {
            json!({"role": "assistant", "content": text})
        }
        Message::Assistant { text, calls } => {
            let calls: Vec<Value> =
                calls.iter().map(|call| json!({"id": call.id, "type": "function", "function": {"name": call.name, "arguments": call.arguments}})).collect();
            json!({"role": "assistant", "content": text, "tool_calls": calls})
        }
        Message::Tool { id, name, text } => {
            json!({"role": "tool", "tool_call_id": id, "name": name, "content": text})
        }
    }
}

/// A tool for a template: its name, one line, and the schema without words, which the line already holds.
fn tool_json(function: &Function) -> Value {
    let description = function.description.lines().next().unwrap_or_default();
    json!({"type": "function", "function": {"name": function.name, "description": description, "parameters": bare(&function.parameters)}})
}

fn bare(schema: &Value) -> Value {
    match schema {
        Value::Object(fields) => fields
            .iter()
            .filter(|(key, value)| {
                value.is_object() || !matches!(key.as_str(), "description" | "title" | "examples" | "$schema")
            })
            .map(|(key, value)| (key.clone(), bare(value)))
            .collect(),
        Value::Array(items) => items.iter().map(bare).collect(),
        other => other.clone(),
    }
}

/// Messages for templates that know only three roles: how to answer and the functions stand in the system text, calls are plain JSON, and
/// their answers are said by the user. What is the same for every task comes first.
fn flat(messages: &[Message], functions: &[Function]) -> Vec<Value> {
    let mut out: Vec<(&'static str, String)> = Vec::new();
    for message in messages {
        let (role, text) = match message {
            Message::System(text) => ("system", system_text(text, functions)),
            Message::User(text) => ("user", text.clone()),
            Message::Assistant { text, calls } => {
                let lines = calls.iter().map(|call| call_line(&call.name, &call.arguments));
                (
                    "assistant",
                    Some(text.clone())
                        .filter(|text| !text.is_empty())
                        .into_iter()
                        .chain(lines)
                        .collect::<Vec<_>>()
                        .join("\n"),
                )
            }
            Message::Tool { name, text, .. } => ("user", format!("Result of {name}: {text}")),
        };
        match out.last_mut() {
            Some((last, before)) if *last == role => {
                before.push('\n');
                before.push_str(&text);
            }
            _ => out.push((role, text)),
        }
    }
    out.into_iter().map(|(role, content)| json!({"role": role, "content": content})).collect()
}

fn system_text(rules: &str, functions: &[Function]) -> String {
    let examples = [
        ("Turn the torch on", call_line("manage_torch", &json!({"action": "enable"}))),
        ("Result of manage_torch: {\"success\":true}", call_line("finish", &json!({"answer": "The torch is on."}))),
        ("Set a timer for 5 minutes", call_line("create_timer", &json!({"minutes": 5}))),
    ];
    let examples: Vec<String> = examples.iter().map(|(user, call)| format!("User: {user}\nYou: {call}")).collect();
    let lines: Vec<String> = functions.iter().map(compact::line).collect();
    format!(
        "{rules}\n\nAnswer with one JSON object: {{\"name\": function, \"arguments\": {{...}}}}. Call `finish` when the request is done.\nExamples:\n{}\n\nFunctions:\n{}",
        examples.join("\n"),
        lines.join("\n")
    )
}

/// A call in the one spelling of the grammar, so that a model reads what it writes.
pub(crate) fn call_line(name: &str, arguments: &Value) -> String {
    format!("{{\"name\": {}, \"arguments\": {}}}", json!(name), spaced(arguments))
}

/// JSON as Python prints it: a space after each colon and comma, and nothing escaped that need not be.
fn spaced(value: &Value) -> String {
    match value {
        Value::Array(items) => format!("[{}]", items.iter().map(spaced).collect::<Vec<_>>().join(", ")),
        Value::Object(fields) => {
            // Sorted, because the order of a map's keys depends on what else is built.
            let mut fields: Vec<(&String, &Value)> = fields.iter().collect();
            fields.sort_unstable_by_key(|(key, _)| *key);
            let parts: Vec<String> =
                fields.into_iter().map(|(key, value)| format!("{}: {}", json!(key), spaced(value))).collect();
            format!("{{{}}}", parts.join(", "))
        }
        other => other.to_string(),
    }
}

/// The filter as Python's `json.dumps` does it; minijinja's own escapes for HTML.
#[expect(clippy::needless_pass_by_value, reason = "the signature that filters have")]
fn tojson(value: Jinja, options: Kwargs) -> Result<String, Error> {
    let indent: Option<usize> = options.get("indent")?;
    let _: Option<bool> = options.get("ensure_ascii")?;
    options.assert_all_used()?;
    if value.kind() == ValueKind::Undefined {
        return Err(Error::new(ErrorKind::BadSerialization, "tojson of an undefined value"));
    }
    let value =
        serde_json::to_value(&value).map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string()))?;
    match indent {
        Some(_) => serde_json::to_string_pretty(&value)
            .map_err(|error| Error::new(ErrorKind::BadSerialization, error.to_string())),
        None => Ok(spaced(&value)),
    }
}
