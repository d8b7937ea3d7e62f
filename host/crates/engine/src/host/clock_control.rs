//! `clock-control`: the environment's hand on the clock.

use loopwright_bindings::afv::clock_control;

use crate::store::PluginState;

impl clock_control::Host for PluginState {
    fn advance_to(&mut self, at: u64) -> wasmtime::Result<()> {
        self.cross(0)?;
        match self.episode("clock-control.advance-to")?.state.clock.advance_to(at) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.meter.trap(error)),
        }
    }
}
