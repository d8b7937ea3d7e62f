//! The ablation world: three settings, each of which is read, set, perhaps verified, and left. It knows nothing of phones, tokens or rewards.
//!
//! It is a small world with a known best way through it, for asking what a training rule does to a policy that could save effort:
//!
//! | tool | what it does | what it answers |
//! |---|---|---|
//! | `think` | nothing | `thought` |
//! | `read_setting` | makes the next writes of this setting informed | `read` |
//! | `set_setting` | writes it; the write may fail, and nothing shows it | `set` |
//! | `verify_setting` | says whether the last write took | `ok`, `bad` |
//! | `next_setting` | goes on to the next setting; there is no way back | `next`, `over` |
//!
//! An informed write takes unless it fails in silence (`silent`); an uninformed one is a guess first (`blind`). A write decides the setting anew
//! whatever it was, so that writing twice is no cure: only `verify_setting` tells. After the third `next_setting` the world is closed, and every
//! further call is refused. What is really set stands in the collection `environment`, which no tool can read and the verifier does.
//!
//! The chances are the task's ([`Setup`]), in ten-thousandths. Noise is drawn from the environment's own random stream, one number for each
//! write and none elsewhere.

mod course;

use loopwright_sdk::{
    Answer, EnvironmentPlugin, Failure, Feedback, Identity, Observation, Outcome, Success, ToolCall, Turn, TurnResult,
    World, identity,
};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::json;

use crate::course::{Course, Deed, WHOLE};

/// Where the world's state lies, so that the environment's own memory holds nothing.
const COLLECTION: &str = "environment";
const KEY: &str = "ablation";

/// A task's chances, in ten-thousandths: 0 to 10,000.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Setup {
    /// That a write fails and nothing shows it.
    silent: u32,
    /// That a write of a setting that was not read guesses right.
    blind: u32,
}

struct Ablation;

impl EnvironmentPlugin for Ablation {
    const IDENTITY: Identity = identity!("ablation");

    type Setup = Setup;

    fn reset(world: &mut World, setup: Setup) -> Result<Observation, Failure> {
        for (name, found) in [("silent", setup.silent), ("blind", setup.blind)] {
            if found > WHOLE {
                return Err(Failure::bad_argument(name, format!("0 to {WHOLE}"), found));
            }
        }
        world.put(COLLECTION, KEY, &Course::new(setup))?;
        Ok(Observation::default())
    }

    fn step(world: &mut World, turn: Turn) -> Result<TurnResult, Failure> {
        let mut course: Course = world.require(COLLECTION, KEY)?;
        let before = course;
        let mut feedback = Vec::with_capacity(turn.calls.len());
        for call in turn.calls {
            let answer = match Deed::of(&call.tool) {
                Some(deed) if !course.is_over() => match world.invoke(&call, turn.actor) {
                    Outcome::Done(_) => Answer::Done(answer(&mut course, deed, || world.random())?),
                    Outcome::Failed(failure) => Answer::Failed(failure),
                    Outcome::Faulted(_) => Answer::Failed(Failure::unavailable(&format!("tool `{}`", call.tool))),
                },
                deed => Answer::Failed(refusal(&call, deed.is_some())),
            };
            feedback.push(Feedback { call_id: call.id, answer, effects: Vec::new() });
        }
        if course != before {
            world.put(COLLECTION, KEY, &course)?;
        }
        Ok(TurnResult { feedback, observation: Observation::default() })
    }
}

/// Does it, and says what shows of it: a code of the closed set, and the setting that one stands at now, from 1.
fn answer(course: &mut Course, deed: Deed, random: impl FnMut() -> u64) -> Result<Success, Failure> {
    let code = course.run(deed, random);
    Ok(Success { message: code.as_str().to_owned(), data: json!({"at": course.at(), "code": code.as_str()}).into() })
}

fn refusal(call: &ToolCall, known: bool) -> Failure {
    if known {
        Failure::conflict("the third setting was left, and all is over", "finish")
    } else {
        Failure::not_found("tool of this world", call.tool.as_str())
    }
}

loopwright_sdk::export_environment!(Ablation);

#[cfg(test)]
mod tests;
