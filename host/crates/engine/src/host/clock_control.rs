//! `clock-control`: the environment's hand on the clock.

use loopwright_bindings::{
    afv::{clock_control, types::Instant},
    convert::time::instant_in,
};

use crate::store::PluginState;

impl clock_control::Host for PluginState {
    fn advance_to(&mut self, at: Instant) -> wasmtime::Result<()> {
        self.cross(0)?;
        let at_ns = instant_in("at", at).map_err(|violation| self.meter.trap(violation))?;
        match self.episode("clock-control.advance-to")?.state.clock.advance_to(at_ns) {
            Ok(()) => Ok(()),
            Err(error) => Err(self.meter.trap(error)),
        }
    }
}
