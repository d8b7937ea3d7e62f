//! `tool-caller`: a tool's way to other plugins' tools, as part of its own call.

use loopwright_bindings::afv::{
    tool_caller::{self, CallError},
    types::Success,
};

use crate::store::PluginState;

impl tool_caller::Host for PluginState {
    fn call(&mut self, tool: String, arguments: String) -> wasmtime::Result<Result<Success, CallError>> {
        self.cross(tool.len() + arguments.len())?;
        self.episode("tool-caller.call")?;
        let Some(core) = self.core.take() else { return Err(self.meter.trap("tool-caller.call needs an episode")) };
        let (core, result) = core.call_within(&self.plugin.record.grant.call, tool, arguments, &self.deadline);
        self.core = core;
        match result {
            Ok(answer) => {
                self.cross(answer_bytes(&answer))?;
                Ok(answer)
            }
            Err(stop) => Err(self.meter.stop(stop)),
        }
    }
}

fn answer_bytes(answer: &Result<Success, CallError>) -> usize {
    match answer {
        Ok(success) => success.message.len() + success.data.len(),
        Err(CallError::Failed(failure)) => failure.message.len() + failure.data.as_deref().map_or(0, str::len),
        Err(CallError::Denied(what) | CallError::Faulted(what)) => what.len(),
    }
}
