//! Turns and what comes of them.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::name::{CallId, ToolName};
use crate::tool::{Failure, Success, ToolCall};

/// Who asked for a call.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Actor {
    /// The planner.
    Agent,
    /// The phone's owner.
    User,
    /// A rule of the world that fired on the virtual clock.
    Automation,
}

/// Calls of one actor that were decided together; at most [`crate::limits::CALLS_PER_TURN_MAX`].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Turn {
    /// Who asks.
    pub actor: Actor,
    /// Run in this order; a failure does not stop the rest.
    pub calls: Vec<ToolCall>,
}

/// What an agent can see without a call.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Observation {
    /// The tools that may be offered now, sorted by name; none where they are the same as in the observation before. What an episode's reset
    /// returns always has them.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exposed: Option<Vec<ToolName>>,
    /// What the phone shows by itself: objects with a `kind`.
    pub notices: Vec<Value>,
}

/// The answer to one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "reply")]
pub enum Reply {
    /// It ran.
    Done(Success),
    /// It was refused, by the tool or by a rule of the world.
    Failed(Failure),
    /// It runs only after the user confirms exactly this call.
    NeedsConfirmation(Failure),
}

impl Reply {
    /// The one result envelope.
    #[must_use]
    pub fn envelope(&self) -> Value {
        match self {
            Self::Done(success) => success.envelope(),
            Self::Failed(failure) | Self::NeedsConfirmation(failure) => failure.envelope(),
        }
    }
}

/// What came of one call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Feedback {
    /// The call's id.
    pub call_id: CallId,
    /// The answer.
    pub reply: Reply,
    /// Consequences that the agent is told of; observations, never evidence.
    pub effects: Vec<Value>,
}

/// What came of a turn.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnResult {
    /// One for each call, in the order of the calls.
    pub feedback: Vec<Feedback>,
    /// What is visible after the turn.
    pub observation: Observation,
}
