//! `tools`: the environment's way to the installed tools.

use loopwright_bindings::{
    afv::{tools, types},
    convert::call::{actor_in, call_in, effect_out},
};

use crate::{invoke::Moved, store::PluginState};

impl tools::Host for PluginState {
    fn installed(&mut self) -> wasmtime::Result<Vec<String>> {
        let names: Vec<String> = match &self.core {
            Some(core) => {
                core.installed.tools_of(core.world.as_deref()).map(|tool| tool.spec.name.as_str().to_owned()).collect()
            }
            None => Vec::new(),
        };
        self.cross(names.iter().map(String::len).sum())?;
        Ok(names)
    }

    fn access(&mut self, call: types::ToolCall) -> wasmtime::Result<Option<tools::AccessNeeds>> {
        self.cross(call_bytes(&call))?;
        let core = self.episode("tools.access")?;
        let Some((tool, entry)) = core.installed.find(&call.tool) else { return Ok(None) };
        if !core.installed.is_of(entry, core.world.as_deref()) {
            return Ok(None);
        }
        let (spec, plugin) = (&tool.spec, &tool.plugin);
        let rule = match core.running.given(&call) {
            Some(given) => spec.access_rule(&given.arguments),
            None => match call_in(call) {
                Ok(call) => spec.access_rule(&call.arguments),
                Err(violation) => return Err(self.meter.trap(format_args!("tools.access: {violation}"))),
            },
        };
        let Some(rule) = rule else { return Ok(None) };
        let needs = tools::AccessNeeds {
            effect: effect_out(rule.effect),
            requires: rule.requires.clone(),
            plugin: plugin.as_str().to_owned(),
        };
        self.cross(needs.plugin.len() + needs.requires.iter().map(String::len).sum::<usize>())?;
        Ok(Some(needs))
    }

    fn invoke(&mut self, call: types::ToolCall, by: types::Actor) -> wasmtime::Result<tools::Outcome> {
        self.cross(call_bytes(&call))?;
        self.episode("tools.invoke")?;
        let Some(core) = self.core.take() else { return Err(self.meter.trap("tools.invoke needs an episode")) };
        let (core, result): Moved<tools::Outcome> = core.invoke(call, actor_in(by), &self.deadline);
        self.core = core;
        match result {
            Ok(outcome) => {
                self.cross(outcome_bytes(&outcome))?;
                Ok(outcome)
            }
            Err(stop) => Err(self.meter.stop(stop)),
        }
    }
}

fn call_bytes(call: &types::ToolCall) -> usize {
    call.id.len() + call.tool.len() + call.arguments.len()
}

fn outcome_bytes(outcome: &tools::Outcome) -> usize {
    match outcome {
        tools::Outcome::Ok(success) => success.message.len() + success.data.len(),
        tools::Outcome::Failed(failure) => failure.message.len() + failure.data.as_deref().map_or(0, str::len),
        tools::Outcome::Faulted(_) => 0,
    }
}
