//! One live instance: a store with its limits, and how a call runs in it.
//!
//! The episode travels by value. While a plugin runs, its store's data holds the episode; a nested call takes it out, moves it into the
//! callee's store and puts it back afterwards. So nothing is locked and nothing is shared, and a trap cannot lose it: whatever the
//! guest does, the episode is in the data of a store that the caller owns.

use std::sync::Arc;

use loopwright_contract::{episode::PluginRecord, fault::HostFault, limits::PluginLimits};
use wasmtime::{Engine, Store};

use crate::{
    core::Core,
    deadline::Deadline,
    fault,
    host::Snapshots,
    install::Start,
    limits::{Meter, Stop},
    log::LogTail,
};

/// An installed plugin, as its instances know it.
#[derive(Debug)]
pub(crate) struct Plugin {
    pub(crate) record: PluginRecord,
    pub(crate) limits: PluginLimits,
    /// Whether it keeps state in its own memory. Environments only.
    pub(crate) stateful: bool,
}

/// What a store knows of the call that runs in it.
pub(crate) struct PluginState {
    pub(crate) plugin: Arc<Plugin>,
    /// The episode, while a call of one runs. None: the plugin is asked who it is, and has no world.
    pub(crate) core: Option<Box<Core>>,
    pub(crate) meter: Meter,
    pub(crate) log: LogTail,
    /// The evidence snapshots that a verifier holds.
    pub(crate) snapshots: Snapshots,
    pub(crate) deadline: Deadline,
}

/// A live instance.
pub(crate) struct Live<B> {
    store: Store<PluginState>,
    bindings: B,
    start: Start,
}

/// How a call went.
pub(crate) struct Ran<R> {
    /// The episode that was given in.
    pub(crate) core: Option<Box<Core>>,
    /// What the guest answered. After a fault the instance is of no further use.
    pub(crate) result: Result<R, Stop>,
    /// What it spent; the whole budget after a fault, because wasmtime does not say (wasmtime#13802).
    pub(crate) fuel: u64,
}

impl<B> Live<B> {
    /// Makes an instance. Its fuel is an allowance of its own, since what instantiation costs differs between machines (wasmtime#14331).
    pub(crate) fn new(
        engine: &Engine,
        plugin: Arc<Plugin>,
        deadline: Deadline,
        instantiate: impl FnOnce(&mut Store<PluginState>) -> wasmtime::Result<B>,
    ) -> Result<Self, Stop> {
        let limits = plugin.limits;
        let state = PluginState {
            plugin,
            core: None,
            meter: Meter::new(limits),
            log: LogTail::default(),
            snapshots: Snapshots::default(),
            deadline: deadline.clone(),
        };
        let mut store = Store::try_new(engine, state).map_err(|error| fault::of_machine(&error))?;
        store.limiter(|state| &mut state.meter);
        // What one crossing may carry from the guest to the host; the meter sums over crossings.
        store.set_hostcall_fuel(usize::try_from(limits.host_bytes).unwrap_or(usize::MAX));
        set_budgets(&mut store, limits.instantiate_fuel, &deadline)?;
        match instantiate(&mut store) {
            Ok(bindings) => {
                let left = store.get_fuel().unwrap_or(0).min(limits.instantiate_fuel);
                let meter = &store.data().meter;
                let (memory_bytes, table_elements) = (meter.memory_bytes(), meter.table_elements());
                let start = Start { fuel: limits.instantiate_fuel - left, memory_bytes, table_elements };
                Ok(Self { store, bindings, start })
            }
            Err(error) => Err(fault::of_call(&error, store.data_mut(), limits.instantiate_fuel)),
        }
    }

    /// Runs one call with fresh budgets.
    pub(crate) fn run<R>(
        &mut self,
        core: Option<Box<Core>>,
        deadline: Deadline,
        call: impl FnOnce(&B, &mut Store<PluginState>) -> wasmtime::Result<R>,
    ) -> Ran<R> {
        let in_episode = core.is_some();
        let state = self.store.data_mut();
        state.core = core;
        state.deadline = deadline.clone();
        state.meter.begin_call();
        state.log.clear();
        state.snapshots.clear();
        let fuel = state.plugin.limits.call_fuel;
        let called = set_budgets(&mut self.store, fuel, &deadline).map(|()| call(&self.bindings, &mut self.store));
        let core = self.store.data_mut().core.take();
        let (result, spent) = match called {
            Ok(Ok(answer)) => (Ok(answer), fuel - self.store.get_fuel().unwrap_or(0).min(fuel)),
            Ok(Err(error)) => (Err(fault::of_call(&error, self.store.data_mut(), fuel)), fuel),
            Err(stop) => (Err(stop), fuel),
        };
        if in_episode && core.is_none() {
            return Ran {
                core,
                result: Err(Stop::Host(HostFault::Internal("a call lost its episode".into()))),
                fuel: spent,
            };
        }
        Ran { core, result, fuel: spent }
    }

    /// What it cost before its first call.
    pub(crate) fn start(&self) -> Start {
        self.start
    }

    /// What the last call logged.
    pub(crate) fn log(&self) -> &LogTail {
        &self.store.data().log
    }

    /// Bytes of its linear memories.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.store.data().meter.memory_bytes()
    }
}

fn set_budgets(store: &mut Store<PluginState>, fuel: u64, deadline: &Deadline) -> Result<(), Stop> {
    store.set_fuel(fuel).map_err(|error| fault::of_machine(&error))?;
    store.set_epoch_deadline(deadline.ticks_left()?);
    Ok(())
}
