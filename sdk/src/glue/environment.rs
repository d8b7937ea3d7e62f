//! The exports of an environment plugin.

use schemars::JsonSchema;
use serde_json::Value;

use super::{announce_panics, identity, lower_failure, lower_success};
use crate::bindings::environment as wit;
use crate::bindings::{plugin, types};
use crate::environment::{Answer, EnvironmentPlugin, Feedback, Observation, Turn, World};
use crate::failure::Failure;
use crate::host::{Port, lift_actor, lift_call};
use crate::json::Json;

pub fn describe_environment<P: EnvironmentPlugin>() -> plugin::Identity {
    identity(P::IDENTITY, crate::schema::of_setup(<P::Setup>::json_schema))
}

pub fn reset<P: EnvironmentPlugin>(setup: String) -> Result<wit::Observation, types::Failure> {
    announce_panics();
    let setup = Json::from_host(setup).parse().map_err(|error| lower_failure(Failure::malformed_arguments(&error)))?;
    P::reset(&mut World::new(Port), setup).map(observation).map_err(lower_failure)
}

pub fn step<P: EnvironmentPlugin>(turn: wit::Turn) -> Result<wit::TurnResult, types::Failure> {
    announce_panics();
    let turn = Turn { actor: lift_actor(turn.actor), calls: turn.calls.into_iter().map(lift_call).collect() };
    let result = P::step(&mut World::new(Port), turn).map_err(lower_failure)?;
    Ok(wit::TurnResult {
        feedback: result.feedback.into_iter().map(feedback).collect(),
        observation: observation(result.observation),
    })
}

fn observation(observation: Observation) -> wit::Observation {
    wit::Observation { exposed: observation.exposed, notices: texts(&observation.notices) }
}

fn feedback(feedback: Feedback) -> wit::Feedback {
    wit::Feedback {
        call_id: feedback.call_id,
        reply: match feedback.answer {
            Answer::Done(success) => wit::Reply::Done(lower_success(success)),
            Answer::Failed(failure) => wit::Reply::Failed(lower_failure(failure)),
            Answer::NeedsConfirmation(failure) => wit::Reply::NeedsConfirmation(lower_failure(failure)),
        },
        effects: texts(&feedback.effects),
    }
}

fn texts(values: &[Value]) -> Vec<String> {
    values.iter().map(ToString::to_string).collect()
}

/// The Wasm half of `export_environment!`.
#[doc(hidden)]
#[macro_export]
macro_rules! __export_environment_on_wasm {
    ($plugin:ty) => {
        const _: () = {
            use $crate::bindings::{environment, plugin, types};

            #[unsafe(link_section = "loopwright-sdk")]
            static SDK_VERSION: [u8; $crate::glue::SDK_VERSION.len()] = $crate::glue::SDK_VERSION;

            struct Component;

            impl environment::Guest for Component {
                fn describe() -> plugin::Identity {
                    $crate::glue::describe_environment::<$plugin>()
                }

                fn reset(
                    setup: ::std::string::String,
                ) -> ::core::result::Result<environment::Observation, types::Failure> {
                    $crate::glue::reset::<$plugin>(setup)
                }

                fn step(turn: environment::Turn) -> ::core::result::Result<environment::TurnResult, types::Failure> {
                    $crate::glue::step::<$plugin>(turn)
                }
            }

            $crate::bindings::environment::__export_environment_world!(Component with_types_in $crate::bindings::environment);
        };
    };
}
