//! What an operator decides about the engine.

use std::{collections::BTreeMap, path::PathBuf, time::Duration};

use loopwright_contract::{
    limits::{PluginLimits, WorldLimits},
    name::PluginName,
};

use crate::{cache::CacheKey, compile::ThirdPartyCompiler};

/// How far the epoch moves the deadline's clock: 2 ms a tick, so that whatever runs, guest or host function, hears within two ticks that its
/// deadline has passed. A host function in the middle of comparing 50,000 documents then takes some milliseconds to let go of them, and all
/// should be over in 10.
pub const TICK: Duration = Duration::from_millis(2);

/// How instances are allocated.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Allocator {
    /// From a pool where the machine has the address space for it, else on demand, with one line in the trace.
    #[default]
    Auto,
    /// From a pool, or not at all.
    Pooling,
    /// On demand.
    OnDemand,
}

/// How long an instance lives within an episode. It decides costs and never bytes: plugins keep nothing between calls.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum InstancePolicy {
    /// Kept for the episode's next call.
    #[default]
    Keep,
    /// Dropped after each call, except a stateful environment's.
    DropAfterCall,
}

/// Who moves the epoch.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Ticker {
    /// One thread of the process, a tick each [`TICK`].
    #[default]
    Thread,
    /// The caller, by [`crate::Engines::tick`]. For tests, which never wait.
    Manual,
}

/// Where compiled code is kept between processes.
#[derive(Debug, Clone)]
pub struct CacheConfig {
    /// A folder that only the operator can write; it is created when it is missing.
    pub folder: PathBuf,
    /// Authenticates what is in it.
    pub key: CacheKey,
}

/// How many instances the pools hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolSize {
    /// Live tool and skill instances.
    pub tools: u32,
    /// Live environment instances: one for each open episode.
    pub environments: u32,
    /// Live verifier instances: one for each trajectory that is being judged.
    pub verifiers: u32,
    /// Bytes of one linear memory.
    pub memory_bytes: usize,
    /// Bytes at the start of a memory that are cleared in place when its slot is free again; the rest is given back to the machine. It
    /// decides costs: 1 to 4 MiB were measured at 27 us an instance against 9 us.
    pub keep_resident_bytes: usize,
}

impl Default for PoolSize {
    fn default() -> Self {
        Self {
            tools: 1_024,
            environments: 512,
            verifiers: 64,
            memory_bytes: 256 * 1024 * 1024,
            keep_resident_bytes: 64 * 1024,
        }
    }
}

/// What live instances hold of the pools of all three classes together. Unused slots that stay warm are not counted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PoolUse {
    /// Instances of components.
    pub component_instances: u64,
    /// Instances of core modules.
    pub core_instances: u64,
    /// Linear memories.
    pub memories: usize,
    /// Tables.
    pub tables: usize,
}

/// Everything that an operator decides about the engine.
#[derive(Debug, Clone, Default)]
pub struct EngineConfig {
    /// How instances are allocated.
    pub allocator: Allocator,
    /// How many of them the pools hold.
    pub pool: PoolSize,
    /// How long they live.
    pub instances: InstancePolicy,
    /// Who moves the epoch.
    pub ticker: Ticker,
    /// Where compiled code is kept; none: in this process only.
    pub cache: Option<CacheConfig>,
    /// Who compiles components that are not first-party; none: they are refused.
    pub compiler: ThirdPartyCompiler,
    /// What each plugin may use.
    pub limits: PluginLimits,
    /// What single plugins may use instead; larger than [`EngineConfig::limits`] has no effect.
    pub limits_for: BTreeMap<PluginName, PluginLimits>,
    /// What an episode's world may hold.
    pub world: WorldLimits,
}

impl EngineConfig {
    /// What the plugin may use: field by field the smaller of the general limits and its own.
    #[must_use]
    pub fn limits_of(&self, plugin: &PluginName) -> PluginLimits {
        let all = self.limits;
        let Some(own) = self.limits_for.get(plugin) else { return all };
        PluginLimits {
            call_fuel: all.call_fuel.min(own.call_fuel),
            instantiate_fuel: all.instantiate_fuel.min(own.instantiate_fuel),
            call_deadline: all.call_deadline.min(own.call_deadline),
            memory_bytes: all.memory_bytes.min(own.memory_bytes),
            table_elements: all.table_elements.min(own.table_elements),
            host_bytes: all.host_bytes.min(own.host_bytes),
            output_bytes: all.output_bytes.min(own.output_bytes),
            log_bytes: all.log_bytes.min(own.log_bytes),
            handles: all.handles.min(own.handles),
            depth: all.depth.min(own.depth),
        }
    }
}
