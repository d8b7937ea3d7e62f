//! The programmatic phone: which tools are exposed, and the rules that hold across apps. It knows no app's inner logic: what a call needs
//! it learns from the tool's own access rules, and what a call did it reads from the state.
//!
//! Before a call, in this order: the tool exists and is exposed, its requirements are known, the phone is on (world rule 1), the screen is
//! on and unlocked (1), the battery mode allows it (4), the permission is given (9), there is a network (3) and location (4), and the user
//! confirmed what cannot be undone (15). After a call: what the battery mode forces (4), and whether a sound is muted (8).
//! Rules that concern one app alone live in its plugin: airplane mode (2), hotspot (5), casting (6), contacts (10) and calendar (11).

mod after;
mod before;
mod phone;

use loopwright_sdk::{
    Actor, Answer, EnvironmentPlugin, Failure, Feedback, Identity, Observation, Outcome, ToolCall, ToolFault, Turn,
    TurnResult, World, identity,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::before::Verdict;

/// Where the environment keeps a task's configuration, so that its own memory holds nothing.
const COLLECTION: &str = "environment";
const KEY: &str = "setup";

/// A task's configuration.
#[derive(Debug, Default, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields, default)]
pub struct Setup {
    /// Tools of apps that are not on this phone.
    hidden: Vec<String>,
    /// What the phone shows when the episode begins: objects with a `kind`.
    notices: Vec<Value>,
}

struct Sandbox;

impl EnvironmentPlugin for Sandbox {
    const IDENTITY: Identity = identity!("sandbox");

    // `null` is the configuration of most tasks.
    type Setup = Option<Setup>;

    fn reset(world: &mut World, setup: Option<Setup>) -> Result<Observation, Failure> {
        let setup = setup.unwrap_or_default();
        if !setup.hidden.is_empty() {
            world.put(COLLECTION, KEY, &setup)?;
        }
        let exposed = (!setup.hidden.is_empty()).then(|| exposed(world, &setup.hidden));
        Ok(Observation { exposed, notices: setup.notices })
    }

    fn step(world: &mut World, turn: Turn) -> Result<TurnResult, Failure> {
        let hidden = world.get::<Setup>(COLLECTION, KEY)?.unwrap_or_default().hidden;
        let mut feedback = Vec::with_capacity(turn.calls.len());
        for call in turn.calls {
            feedback.push(serve(world, call, turn.actor, &hidden)?);
        }
        // What is hidden stays so for the whole episode.
        Ok(TurnResult { feedback, observation: Observation::default() })
    }
}

fn exposed(world: &World, hidden: &[String]) -> Vec<String> {
    let mut tools = world.installed();
    tools.retain(|tool| !hidden.contains(tool));
    tools
}

fn serve(world: &mut World, call: ToolCall, actor: Actor, hidden: &[String]) -> Result<Feedback, Failure> {
    let needs = world.access(&call).filter(|_| !hidden.contains(&call.tool));
    let Some(needs) = needs else {
        let failure = Failure::not_found("tool on this phone", call.tool.as_str());
        return Ok(Feedback { call_id: call.id, answer: Answer::Failed(failure), effects: Vec::new() });
    };
    let (answer, effects) = match before::judge(world, &call, &needs)? {
        Verdict::Refused(failure) => (Answer::Failed(failure), Vec::new()),
        Verdict::Unconfirmed(failure) => (Answer::NeedsConfirmation(failure), Vec::new()),
        Verdict::Allowed => {
            let watch = after::Watch::before(world, &needs)?;
            match world.invoke(&call, actor) {
                Outcome::Done(success) => (Answer::Done(success), watch.after(world, &call)?),
                Outcome::Failed(failure) => (Answer::Failed(failure), Vec::new()),
                Outcome::Faulted(fault) => (Answer::Failed(told(&call.tool, &fault)), Vec::new()),
            }
        }
    };
    Ok(Feedback { call_id: call.id, answer, effects })
}

/// What a planner is told when a tool's code failed: enough to go another way, and nothing of the fault's inside.
fn told(tool: &str, fault: &ToolFault) -> Failure {
    match fault {
        ToolFault::Budget(budget) => Failure::unavailable(&format!("tool `{tool}`: it spent its {budget} budget")),
        ToolFault::Denied(what) if what == "busy" => Failure::unavailable(&format!("tool `{tool}`: it is busy")),
        ToolFault::Trapped | ToolFault::Denied(_) | ToolFault::Other(_) => {
            Failure::unavailable(&format!("tool `{tool}`: it failed"))
        }
    }
}

loopwright_sdk::export_environment!(Sandbox);

#[cfg(test)]
mod tests;
