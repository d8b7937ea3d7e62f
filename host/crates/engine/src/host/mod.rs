//! The interfaces that the host serves, one file for each, named after it. A plugin sees only those that its world imports: the others are
//! not in its linker.

mod clock_control;
mod consent;
mod context;
mod evidence;
mod log;
mod scratch;
mod state_read;
mod state_write;
mod tool_caller;
mod tools;
mod types;

use loopwright_contract::{fault::HostFault, state::StateError};
use loopwright_world::World;

pub(crate) use evidence::Snapshots;

use crate::{core::Core, grant, limits::Stop, store::PluginState};

/// What any crossing is charged beside its bytes, so that calls without any are not free.
const CROSSING_BYTES: usize = 64;
/// What a document is charged that a query examines, whether or not it is part of the answer. Neither fuel nor the epoch looks into a host
/// call, so this is what bounds the time that a guest can spend in one: a quarter of a million documents a call under the default limits.
const EXAMINED_BYTES: usize = 32;

impl PluginState {
    /// Charges one crossing with these bytes.
    fn cross(&mut self, bytes: usize) -> wasmtime::Result<()> {
        self.meter.charge(CROSSING_BYTES.saturating_add(bytes))
    }

    /// Charges documents that the host is about to examine.
    fn examine(&mut self, documents: usize) -> wasmtime::Result<()> {
        self.meter.charge(EXAMINED_BYTES.saturating_mul(documents))
    }

    /// The world, where the plugin may read this collection.
    fn readable(&self, collection: &str) -> Result<&World, StateError> {
        match &self.core {
            Some(core) if grant::has(&self.plugin.record.grant.read, collection) => Ok(&core.state.world),
            _ => Err(self.denied(collection)),
        }
    }

    /// The world, where the plugin may write this collection.
    fn writable(&mut self, collection: &str) -> Result<&mut World, StateError> {
        if !grant::has(&self.plugin.record.grant.write, collection) {
            return Err(self.denied(collection));
        }
        match &mut self.core {
            Some(core) => Ok(&mut core.state.world),
            None => Err(StateError::Denied(name_said_back(collection))),
        }
    }

    /// The episode; its absence ends the guest.
    fn episode(&mut self, function: &str) -> wasmtime::Result<&mut Core> {
        match &mut self.core {
            Some(core) => Ok(core),
            None => Err(self.meter.trap(format_args!(
                "`{function}` needs an episode, and there is none while a plugin is asked who it is"
            ))),
        }
    }

    /// Names only what the guest itself asked for; the operator's way to the reason is in the trace.
    fn denied(&self, collection: &str) -> StateError {
        let collection = name_said_back(collection);
        let plugin = &self.plugin.record.name;
        tracing::debug!(%plugin, collection, "denied: `loopwright plugin explain {plugin}` says why");
        StateError::Denied(collection)
    }

    /// What a host function that may take long asks while it works: whether its call's deadline has passed. The epoch ends guests only.
    fn patience(&self) -> impl Fn() -> bool + use<> {
        let deadline = self.deadline.clone();
        move || deadline.is_open()
    }

    /// The end of a call whose deadline passed in a host function: void, as everywhere.
    fn given_up(&mut self) -> wasmtime::Error {
        let passed = self.deadline.passed();
        self.stop_host(passed)
    }

    fn stop_host(&mut self, fault: HostFault) -> wasmtime::Error {
        self.meter.stop(Stop::Host(fault))
    }
}

/// A guest's name for something as it is said back to it, cut to a name's length.
pub(crate) fn name_said_back(name: &str) -> String {
    name.chars().take(64).collect()
}
