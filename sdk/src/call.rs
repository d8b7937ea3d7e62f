//! A call of a tool and what it answers.

use serde_json::Value;

use crate::json::{Json, ShapeError};

/// Who asked for a call.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Actor {
    /// The planner.
    Agent,
    /// The phone's owner.
    User,
    /// A rule of the world that fired on the virtual clock.
    Automation,
}

/// A call of a tool.
#[derive(Clone, Debug)]
pub struct ToolCall {
    /// Unique in its turn; feedback carries it back. 1 to 64 bytes.
    pub id: String,
    /// The tool.
    pub tool: String,
    /// An object that conforms to the tool's schema; the host has checked it.
    pub arguments: Json,
}

impl ToolCall {
    /// A call with arguments that are at hand as a value, such as one that an automation makes.
    ///
    /// ```
    /// use loopwright_sdk::ToolCall;
    ///
    /// let call = ToolCall::new("rule-1", "manage_wifi", &serde_json::json!({"action": "disable"}));
    /// assert_eq!(call.argument("action")?, Some("disable".into()));
    /// # Ok::<(), loopwright_sdk::ShapeError>(())
    /// ```
    pub fn new(id: impl Into<String>, tool: impl Into<String>, arguments: &Value) -> Self {
        Self { id: id.into(), tool: tool.into(), arguments: arguments.into() }
    }

    /// One argument, or none when it is absent.
    ///
    /// # Errors
    /// When the arguments are not an object.
    pub fn argument(&self, name: &str) -> Result<Option<Value>, ShapeError> {
        let mut arguments: serde_json::Map<String, Value> = self.arguments.parse()?;
        Ok(arguments.remove(name))
    }
}

/// What a handler answers when the call did what was asked: a sentence for people, in English, and data for the planner.
///
/// `D` gives the tool its result schema. The default is open: any JSON object.
///
/// ```
/// use loopwright_sdk::Reply;
///
/// let reply: Reply = Reply::new("wi-fi is on", serde_json::json!({"on": true, "changed": false}));
/// # let _ = reply;
/// ```
#[derive(Clone, Debug, PartialEq)]
pub struct Reply<D = Value> {
    /// For people, in English.
    pub message: String,
    /// What the tool's result schema describes.
    pub data: D,
}

impl<D> Reply<D> {
    /// A reply.
    pub fn new(message: impl Into<String>, data: D) -> Self {
        Self { message: message.into(), data }
    }
}

/// A call that did what was asked, as it crosses the boundary.
#[derive(Clone, Debug)]
pub struct Success {
    /// For people, in English.
    pub message: String,
    /// Conforms to the tool's result schema.
    pub data: Json,
}
