//! What an instance has used of what it may use: memory and tables while it lives, bytes and handles while a call runs.

use loopwright_contract::{
    fault::{Budget, CallFault, GuestFault, HostFault},
    limits::PluginLimits,
    name::PluginName,
};
use wasmtime::ResourceLimiter;

use crate::classes::{CORE_INSTANCES_MAX, MEMORIES_MAX, TABLES_MAX};

/// The meters of one instance.
#[derive(Debug)]
pub(crate) struct Meter {
    limits: PluginLimits,
    memory_bytes: usize,
    table_elements: usize,
    host_bytes: u64,
    /// Why the host ends the guest, from where it was found to where the call ends.
    stop: Option<Stop>,
}

/// Why the host ended a guest that would have gone on.
#[derive(Debug)]
pub(crate) enum Stop {
    /// By a fault of the guest.
    Guest(GuestFault),
    /// By a fault of the host.
    Host(HostFault),
}

impl Stop {
    /// The fault, told as one of this plugin.
    pub(crate) fn into_fault(self, plugin: &PluginName) -> CallFault {
        match self {
            Self::Guest(fault) => CallFault::Guest { plugin: plugin.clone(), fault },
            Self::Host(fault) => CallFault::Host(fault),
        }
    }
}

impl Meter {
    pub(crate) fn new(limits: PluginLimits) -> Self {
        Self { limits, memory_bytes: 0, table_elements: 0, host_bytes: 0, stop: None }
    }

    pub(crate) fn limits(&self) -> &PluginLimits {
        &self.limits
    }

    /// A new call has its own bytes; memory stays counted, because it stays held.
    pub(crate) fn begin_call(&mut self) {
        self.host_bytes = 0;
        self.stop = None;
    }

    /// Counts bytes that the host copies for the guest, in or out.
    pub(crate) fn charge(&mut self, bytes: usize) -> wasmtime::Result<()> {
        self.host_bytes = self.host_bytes.saturating_add(bytes as u64);
        if self.host_bytes > self.limits.host_bytes {
            Err(self.spend(Budget::HostBytes, self.limits.host_bytes))
        } else {
            Ok(())
        }
    }

    /// Notes a spent budget; the error ends the guest.
    pub(crate) fn spend(&mut self, budget: Budget, limit: u64) -> wasmtime::Error {
        self.stop(Stop::Guest(GuestFault::Budget { budget, limit }))
    }

    /// Notes why the guest must end; the error ends it. The first reason stays.
    pub(crate) fn stop(&mut self, stop: Stop) -> wasmtime::Error {
        self.stop.get_or_insert(stop);
        wasmtime::Error::msg("ended by the host")
    }

    /// Ends the guest as if it had trapped by itself.
    pub(crate) fn trap(&mut self, reason: impl std::fmt::Display) -> wasmtime::Error {
        self.stop(Stop::Guest(GuestFault::Trapped { reason: reason.to_string() }))
    }

    pub(crate) fn take_stop(&mut self) -> Option<Stop> {
        self.stop.take()
    }

    /// Bytes of all linear memories together.
    pub(crate) fn memory_bytes(&self) -> usize {
        self.memory_bytes
    }

    /// Elements of all tables together.
    pub(crate) fn table_elements(&self) -> usize {
        self.table_elements
    }
}

/// Sums over all memories and all tables: a limit for each of them would be multiplied by how many a component has.
impl ResourceLimiter for Meter {
    fn memory_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        let total = self.memory_bytes.saturating_add(desired.saturating_sub(current));
        if total > self.limits.memory_bytes {
            return Err(self.spend(Budget::Memory, self.limits.memory_bytes as u64));
        }
        self.memory_bytes = total;
        Ok(true)
    }

    fn table_growing(&mut self, current: usize, desired: usize, _maximum: Option<usize>) -> wasmtime::Result<bool> {
        let total = self.table_elements.saturating_add(desired.saturating_sub(current));
        if total > self.limits.table_elements {
            return Err(self.spend(Budget::Tables, self.limits.table_elements as u64));
        }
        self.table_elements = total;
        Ok(true)
    }

    fn instances(&self) -> usize {
        CORE_INSTANCES_MAX as usize
    }

    fn memories(&self) -> usize {
        MEMORIES_MAX as usize
    }

    fn tables(&self) -> usize {
        TABLES_MAX as usize
    }
}
