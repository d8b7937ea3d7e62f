//! The port that a host implements: worlds of tools, and nothing else that a host can do.

use loopwright_contract::environment::Feedback;
use loopwright_contract::fault::{CallFault, GuestFault};
use loopwright_contract::name::ToolName;
use loopwright_contract::tool::{ToolCall, ToolSpec};
use serde_json::Value;

/// Makes worlds, all alike, and knows their tools. Its methods block.
pub trait Worlds: Send + Sync {
    /// The specs of all tools that a world may ever expose. In any order; names are unique.
    fn tools(&self) -> Vec<ToolSpec>;

    /// Arguments as the tool's schema has them; an error says where they are wrong, what was found and what is allowed.
    ///
    /// # Errors
    /// The message for the caller.
    fn arguments(&self, tool: &ToolName, given: &Value) -> Result<Value, String>;

    /// Opens a world, equal to every other that was opened.
    ///
    /// # Errors
    /// [`CallFault`] when the world cannot be made.
    fn open(&self) -> Result<Opened, CallFault>;
}

/// A world that was just opened.
pub struct Opened {
    /// The world.
    pub world: Box<dyn World>,
    /// Its time, for people.
    pub now: String,
    /// What it shows by itself: objects with a `kind`.
    pub notices: Vec<Value>,
}

/// One client's world. Its methods block; dropping it ends it.
pub trait World: Send {
    /// The tools that may be called now.
    fn exposed(&self) -> &[ToolName];

    /// Runs one call as the agent's, under all rules of the world.
    ///
    /// # Errors
    /// [`CallFault`] of the environment or the host. The call did not happen; what it wrote is rolled back.
    fn call(&mut self, call: &ToolCall) -> Result<Answer, CallFault>;

    /// Keeps the user's consent to exactly this tool with exactly these arguments.
    fn confirm(&mut self, call: &ToolCall);
}

/// What came of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// What the agent is told.
    pub feedback: Feedback,
    /// How the tool's code failed, when it did.
    pub fault: Option<GuestFault>,
    /// What the world shows now and did not before.
    pub notices: Vec<Value>,
}
