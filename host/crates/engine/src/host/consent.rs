//! `consent`: what the user confirmed.

use loopwright_bindings::{
    afv::{consent, types},
    convert::call::call_in,
};

use crate::store::PluginState;

impl consent::Host for PluginState {
    fn confirmed(&mut self, call: types::ToolCall) -> wasmtime::Result<bool> {
        self.cross(call.id.len() + call.tool.len() + call.arguments.len())?;
        let core = self.episode("consent.confirmed")?;
        if core.consents.is_empty() {
            return Ok(false);
        }
        // What is no call was confirmed by nobody.
        Ok(call_in(call).is_ok_and(|call| core.consents.contains(&call.digest())))
    }
}
