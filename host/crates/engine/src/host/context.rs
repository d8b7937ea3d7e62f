//! `context`: time, randomness and ids, all of them the episode's.

use loopwright_bindings::{
    afv::{context, types::Instant},
    convert::time::{halves_out, instant_in, instant_out},
};
use loopwright_world::Clock;

use crate::store::PluginState;

impl context::Host for PluginState {
    fn now(&mut self) -> wasmtime::Result<Instant> {
        self.cross(0)?;
        Ok(instant_out(self.core.as_ref().map_or(0, |core| core.state.clock.now_ns())))
    }

    fn zone(&mut self) -> wasmtime::Result<String> {
        let zone = self.core.as_ref().map_or("UTC", |core| core.state.clock.zone()).to_owned();
        self.cross(zone.len())?;
        Ok(zone)
    }

    fn offset_s(&mut self, at: Instant) -> wasmtime::Result<i32> {
        self.cross(0)?;
        let at_ns = instant_in("at", at).map_err(|violation| self.meter.trap(violation))?;
        let Some(core) = &self.core else { return Ok(0) };
        Ok(offset_s(&core.state.clock, at_ns))
    }

    fn random_bits(&mut self) -> wasmtime::Result<(u32, u32)> {
        self.cross(0)?;
        let plugin = self.plugin.clone();
        let drawn = self.episode("context.random-bits")?.random_u64(&plugin.record.name);
        drawn.map(halves_out).map_err(|fault| self.stop_host(fault))
    }

    fn next_id(&mut self, prefix: String) -> wasmtime::Result<String> {
        self.cross(prefix.len())?;
        match self.episode("context.next-id")?.state.ids.next_id(&prefix) {
            Ok(id) => {
                self.cross(id.len())?;
                Ok(id)
            }
            Err(error) => Err(self.meter.trap(error)),
        }
    }
}

/// The zone's offset from UTC at an instant, in seconds.
fn offset_s(clock: &Clock, at_ns: u64) -> i32 {
    // The zone was accepted once, when the episode's clock was made.
    Clock::new(at_ns, clock.zone()).map_or(0, |there| there.zoned().offset().seconds())
}
