//! Environment plugins: the rules of a world.

use core::ops::{Deref, DerefMut};

use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::access::{Effect, Requirement};
use crate::call::{Actor, Success, ToolCall};
use crate::failure::Failure;
use crate::host::Port;
use crate::phone::Phone;
use crate::plugin::Identity;
use crate::time::Instant;

/// An environment plugin: it decides which tools are exposed, whether a call may run, and what follows from it.
///
/// Export it with [`export_environment!`](crate::export_environment).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not an environment plugin",
    label = "not an environment plugin",
    note = "write `impl EnvironmentPlugin for {Self}` with `IDENTITY`, `Setup`, `reset` and `step`"
)]
pub trait EnvironmentPlugin {
    /// Who the plugin is.
    const IDENTITY: Identity;

    /// A task's own configuration of the environment. Its schema is the plugin's configuration schema; use
    /// [`NoArguments`](crate::NoArguments) where there is nothing to configure.
    type Setup: DeserializeOwned + JsonSchema;

    /// Starts an episode on the prepared state.
    ///
    /// # Errors
    /// When the set-up cannot be served. A fault makes the episode void.
    fn reset(world: &mut World, setup: Self::Setup) -> Result<Observation, Failure>;

    /// Runs one turn: its calls in their order; a failure does not stop the rest.
    ///
    /// # Errors
    /// When the turn as a whole cannot be served. A fault makes the episode void.
    fn step(world: &mut World, turn: Turn) -> Result<TurnResult, Failure>;
}

/// The world of an environment: the phone, the installed tools, the user's consent and the clock.
#[derive(Debug)]
pub struct World {
    phone: Phone,
}

impl World {
    pub(crate) fn new(port: Port) -> Self {
        Self { phone: Phone::new(port) }
    }

    /// The names of all installed tools, sorted.
    pub fn installed(&self) -> Vec<String> {
        self.phone.port().installed()
    }

    /// What a call needs by the tool's own access rules; none when there is no such tool.
    pub fn access(&self, call: &ToolCall) -> Option<AccessNeeds> {
        self.phone.port().access(call)
    }

    /// Runs a call. The host records it as evidence, whatever the environment says afterwards.
    pub fn invoke(&mut self, call: &ToolCall, by: Actor) -> Outcome {
        self.phone.port().invoke(call, by)
    }

    /// Whether the user confirmed exactly this tool with exactly these arguments in this episode.
    pub fn confirmed(&self, call: &ToolCall) -> bool {
        self.phone.port().confirmed(call)
    }

    /// Moves the clock forward to `at`. The host traps on a time before now.
    pub fn advance_to(&mut self, at: Instant) {
        self.phone.port().advance_to(at);
    }
}

impl Deref for World {
    type Target = Phone;

    fn deref(&self) -> &Phone {
        &self.phone
    }
}

impl DerefMut for World {
    fn deref_mut(&mut self) -> &mut Phone {
        &mut self.phone
    }
}

/// What a call needs.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AccessNeeds {
    /// What the call would do.
    pub effect: Effect,
    /// What it requires of the world, in the contract's text form; [`requirements`](Self::requirements) reads it.
    pub requires: Vec<String>,
    /// The plugin that serves the tool.
    pub plugin: String,
}

impl AccessNeeds {
    /// What the call requires of the world.
    pub fn requirements(&self) -> impl Iterator<Item = Requirement<'_>> {
        self.requires.iter().map(|text| Requirement::parse(text))
    }
}

/// What became of an invocation.
#[derive(Clone, Debug)]
pub enum Outcome {
    /// It did what was asked.
    Done(Success),
    /// It refused, with a reason.
    Failed(Failure),
    /// Its code failed; its writes are rolled back.
    Faulted(ToolFault),
}

/// How a tool's code failed, as opposed to what it answered.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ToolFault {
    /// The guest trapped.
    Trapped,
    /// The guest spent the budget of this name (`fuel`, `memory`, `output`, ...).
    Budget(String),
    /// The host refused: `busy`, `depth`, or what was denied.
    Denied(String),
    /// Anything else; for logs only.
    Other(String),
}

/// What an agent can see without a call.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Observation {
    /// The tools that may be offered now, sorted by name. None: the same as in the observation before; after a reset, every installed tool.
    pub exposed: Option<Vec<String>>,
    /// What the phone shows by itself: objects with a `kind`.
    pub notices: Vec<Value>,
}

/// Calls of one actor that were decided together.
#[derive(Clone, Debug)]
pub struct Turn {
    /// Who asks.
    pub actor: Actor,
    /// Run in this order. At most 16.
    pub calls: Vec<ToolCall>,
}

/// The answer to one call.
#[derive(Clone, Debug)]
pub enum Answer {
    /// It ran.
    Done(Success),
    /// It was refused, by the tool or by a rule of the world.
    Failed(Failure),
    /// It runs only after the user confirms exactly this call.
    NeedsConfirmation(Failure),
}

/// What came of one call.
#[derive(Clone, Debug)]
pub struct Feedback {
    /// The call's id.
    pub call_id: String,
    /// The answer.
    pub answer: Answer,
    /// Consequences that the agent is told of. Observations only, never evidence.
    pub effects: Vec<Value>,
}

/// What came of a turn.
#[derive(Clone, Debug)]
pub struct TurnResult {
    /// One for each call, in the order of the calls.
    pub feedback: Vec<Feedback>,
    /// What is visible after the turn.
    pub observation: Observation,
}
