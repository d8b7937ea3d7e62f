//! A world with one rule: what cannot be undone waits for the user's confirmation of exactly that call.

use loopwright_sdk::{
    Actor, Answer, Effect, EnvironmentPlugin, Failure, Feedback, Identity, NoArguments, Observation, Outcome, ToolCall,
    Turn, TurnResult, World, export_environment, identity,
};

/// The plugin.
pub struct PluginName;

impl EnvironmentPlugin for PluginName {
    const IDENTITY: Identity = identity!("plugin-name");
    type Setup = NoArguments;

    fn reset(_: &mut World, _: NoArguments) -> Result<Observation, Failure> {
        Ok(Observation::default())
    }

    fn step(world: &mut World, turn: Turn) -> Result<TurnResult, Failure> {
        let mut feedback = Vec::new();
        for call in &turn.calls {
            let answer = answer(world, call, turn.actor);
            feedback.push(Feedback { call_id: call.id.clone(), answer, effects: Vec::new() });
        }
        Ok(TurnResult { feedback, observation: Observation::default() })
    }
}

fn answer(world: &mut World, call: &ToolCall, actor: Actor) -> Answer {
    let Some(needs) = world.access(call) else {
        return Answer::Failed(Failure::not_found("tool", call.tool.as_str()));
    };
    if needs.effect == Effect::Destructive && !world.confirmed(call) {
        let what = format!("{} cannot be undone", call.tool);
        return Answer::NeedsConfirmation(Failure::locked(&what, "ask the user, then repeat the same call"));
    }
    match world.invoke(call, actor) {
        Outcome::Done(success) => Answer::Done(success),
        Outcome::Failed(failure) => Answer::Failed(failure),
        Outcome::Faulted(_) => Answer::Failed(Failure::unavailable("the app")),
    }
}

export_environment!(PluginName);
