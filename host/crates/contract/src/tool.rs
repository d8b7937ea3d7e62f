//! Tools as planners and people see them: specs, calls and their answers.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value, json};

use crate::digest::CallDigest;
use crate::json::canonical;
use crate::name::{CallId, CollectionName, Lang, PluginName, ToolName};

/// A text in one language.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Localized {
    /// The language of `text`.
    pub lang: Lang,
    /// The text.
    pub text: String,
}

/// The text for `lang`, else the first one.
#[must_use]
pub fn localized<'a>(texts: &'a [Localized], lang: &Lang) -> Option<&'a str> {
    texts.iter().find(|text| text.lang == *lang).or_else(|| texts.first()).map(|text| text.text.as_str())
}

/// What a call does to the state, from weakest to strongest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Effect {
    /// Changes nothing.
    Read,
    /// Changes state in a way that a further call can undo.
    Write,
    /// Cannot be undone, or costs money: needs the user's confirmation.
    Destructive,
}

/// Matches a call by the value of one argument; an absent argument equals `null`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ArgumentMatch {
    /// The argument's name.
    pub argument: String,
    /// Matches when the argument is equal to one of these.
    pub one_of: Vec<Value>,
}

/// What a call needs. The first rule that matches applies.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct AccessRule {
    /// Absent: matches every call.
    pub when: Option<ArgumentMatch>,
    /// What a matching call does.
    pub effect: Effect,
    /// What a matching call requires of the world, such as `network`; documented in `wit/types.wit`.
    pub requires: Vec<String>,
}

impl AccessRule {
    /// Whether the rule applies to a call with these arguments.
    #[must_use]
    pub fn matches(&self, arguments: &Value) -> bool {
        self.when
            .as_ref()
            .is_none_or(|when| when.one_of.contains(arguments.get(&when.argument).unwrap_or(&Value::Null)))
    }
}

/// One tool.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolSpec {
    /// Unique among all installed tools.
    pub name: ToolName,
    /// The functional domain.
    pub domain: String,
    /// What it does, English first.
    pub description: Vec<Localized>,
    /// Words that people use when they mean it.
    pub keywords: Vec<Localized>,
    /// JSON Schema of the arguments, a closed object.
    pub arguments_schema: Value,
    /// JSON Schema of a success's data.
    pub result_schema: Value,
    /// At least one; the last has no `when`.
    pub access: Vec<AccessRule>,
    /// Growth.
    pub ext: Vec<(String, Value)>,
}

impl ToolSpec {
    /// The rule that applies to a call with these arguments.
    #[must_use]
    pub fn access_rule(&self, arguments: &Value) -> Option<&AccessRule> {
        self.access.iter().find(|rule| rule.matches(arguments))
    }

    /// The strongest effect that any call of the tool can have.
    #[must_use]
    pub fn strongest_effect(&self) -> Effect {
        self.access.iter().map(|rule| rule.effect).max().unwrap_or(Effect::Read)
    }
}

/// A collection of documents that a tool plugin owns.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CollectionSpec {
    /// Unique among all installed plugins.
    pub name: CollectionName,
    /// JSON Schema of a document.
    pub schema: Option<Value>,
    /// JSON pointers to fields that checks ignore unless asked.
    pub bookkeeping: Vec<String>,
    /// JSON pointers to fields that are looked up through an index.
    pub indexes: Vec<String>,
    /// Key and value of the documents of a fresh world.
    pub initial: Vec<(String, Value)>,
}

/// Another plugin's collection that a plugin asks for.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct CollectionUse {
    /// The collection.
    pub name: CollectionName,
    /// Also writes it.
    pub write: bool,
}

/// What a tool plugin offers and asks for.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Catalogue {
    /// Its tools.
    pub tools: Vec<ToolSpec>,
    /// Its collections.
    pub collections: Vec<CollectionSpec>,
    /// What it asks for besides.
    pub uses: Vec<CollectionUse>,
}

/// What a plugin may touch in the end: what is its own, and what its author asked for *and* the operator granted. Nothing listed, nothing
/// granted.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Grant {
    /// Collections it may read, sorted.
    pub read: Vec<CollectionName>,
    /// Collections it may write, sorted; reading them needs its own entry.
    pub write: Vec<CollectionName>,
    /// Other plugins' tools that it may call, sorted.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub call: Vec<ToolName>,
    /// Bytes that it may keep from call to call of an episode, its keys included.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub scratch_bytes: u64,
    /// Bytes of log a call, beyond those that every plugin has; 0: no more than those.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub log_bytes: u64,
}

#[expect(clippy::trivially_copy_pass_by_ref, reason = "serde's form of a condition")]
fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// A call of a tool, with arguments that conform to the tool's schema.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ToolCall {
    /// Unique in its turn.
    pub id: CallId,
    /// The tool.
    pub tool: ToolName,
    /// An object.
    pub arguments: Value,
}

impl ToolCall {
    /// The digest of tool and canonical arguments: equal for calls that mean the same, whatever their ids.
    #[must_use]
    pub fn digest(&self) -> CallDigest {
        CallDigest::of(format!("{}\n{}", self.tool, canonical(&self.arguments)).as_bytes())
    }
}

/// A call that did what was asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Success {
    /// For people, in English.
    pub message: String,
    /// Conforms to the tool's result schema.
    pub data: Value,
}

/// A call that was understood and refused.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Failure {
    /// See `wit/types.wit`: 400, 403, 404, 409, 412, 422, 423, 429, 503, 504.
    pub code: u16,
    /// What was wrong and what is allowed.
    pub message: String,
    /// Facts for the next try.
    pub data: Option<Value>,
}

impl Failure {
    /// A failure without data.
    #[must_use]
    pub fn new(code: u16, message: impl Into<String>) -> Self {
        Self { code, message: message.into(), data: None }
    }

    /// The one result envelope: `{success:false, error, code, data?}`.
    #[must_use]
    pub fn envelope(&self) -> Value {
        let mut envelope = Map::new();
        envelope.insert("success".to_owned(), Value::Bool(false));
        envelope.insert("error".to_owned(), Value::String(self.message.clone()));
        envelope.insert("code".to_owned(), Value::from(self.code));
        if let Some(data) = &self.data {
            envelope.insert("data".to_owned(), data.clone());
        }
        Value::Object(envelope)
    }
}

impl Success {
    /// The one result envelope: `{success:true, message, data}`.
    #[must_use]
    pub fn envelope(&self) -> Value {
        json!({"success": true, "message": self.message, "data": self.data})
    }
}

/// Where a tool comes from.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct InstalledTool {
    /// The plugin that serves it.
    pub plugin: PluginName,
    /// Its spec.
    pub spec: ToolSpec,
}
