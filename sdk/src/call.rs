//! A call of a tool and what it answers.

use core::fmt;

use serde_json::Value;

use crate::failure::{Code, Failure};
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

/// Why a call of another plugin's tool did not do what was asked. [`Phone::call_tool`](crate::Phone::call_tool) gives it.
///
/// `?` in a handler turns it into a failure: the other tool's own refusal as it is, what the host denied into 403, code that failed into
/// 503, and what does not fit its type into a fault.
#[derive(Clone, Debug, PartialEq)]
pub enum CallError {
    /// The tool refused, with a reason.
    Failed(Failure),
    /// The host refused: what was not granted, not allowed within the running call, running already (`busy`), or nested too deep (`depth`).
    Denied(String),
    /// Its code failed: it `trapped`, or spent the budget of this name. Its writes are rolled back.
    Faulted(String),
    /// Arguments without a JSON form, or an answer that is not what the caller reads it as.
    Shape(ShapeError),
}

impl fmt::Display for CallError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Failed(failure) => write!(formatter, "the called tool refused: {failure}"),
            Self::Denied(what) => write!(formatter, "the call is denied: {what}"),
            Self::Faulted(what) => write!(formatter, "the called tool failed: {what}"),
            Self::Shape(error) => write!(formatter, "arguments or answer of the called tool do not fit: {error}"),
        }
    }
}

impl core::error::Error for CallError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Failed(failure) => Some(failure),
            Self::Shape(error) => Some(error),
            Self::Denied(_) | Self::Faulted(_) => None,
        }
    }
}

impl From<ShapeError> for CallError {
    fn from(error: ShapeError) -> Self {
        Self::Shape(error)
    }
}

impl From<CallError> for Failure {
    fn from(error: CallError) -> Self {
        let message = error.to_string();
        match error {
            CallError::Failed(failure) => failure,
            CallError::Denied(_) => Self::from_host(Code::DENIED, message, None),
            CallError::Faulted(_) => Self::from_host(Code::UNAVAILABLE, message, None),
            CallError::Shape(_) => Self::fault(message),
        }
    }
}
