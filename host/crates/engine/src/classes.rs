//! The three engine classes. Components are never shared between them, so that a fault in how one class is configured, or a leak between
//! two instances of a pool, stays within a class: a verifier's memory is never a tool's afterwards.

use std::{sync::Arc, time::Duration};

use loopwright_contract::{digest::ContentDigest, episode::PluginKind};
use sha2::Digest as _;
use wasmtime::{
    Config, Enabled, Engine, InstanceAllocationStrategy, ModuleVersionStrategy, OptLevel, PoolingAllocationConfig,
};

use crate::{
    EngineError, WASMTIME_VERSION,
    cache::ComponentCache,
    config::{Allocator, EngineConfig, PoolSize, PoolUse, Ticker},
    deadline::Deadline,
    ticker::{self, Clockwork},
};

/// Native stack of a guest, in bytes.
pub(crate) const WASM_STACK_BYTES: usize = 512 * 1024;
/// Core instances of one component.
pub(crate) const CORE_INSTANCES_MAX: u32 = 50;
/// Linear memories of one component.
pub(crate) const MEMORIES_MAX: u32 = 8;
/// Tables of one component.
pub(crate) const TABLES_MAX: u32 = 16;

/// Which engine runs a plugin.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum EngineClass {
    /// Tools and skills.
    Tool,
    /// Environments.
    Environment,
    /// Verifiers.
    Verifier,
}

impl EngineClass {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Tool, Self::Environment, Self::Verifier];

    /// The class that runs plugins of a kind.
    #[must_use]
    pub fn of(kind: PluginKind) -> Self {
        match kind {
            PluginKind::Tool | PluginKind::Skill => Self::Tool,
            PluginKind::Environment => Self::Environment,
            PluginKind::Verifier => Self::Verifier,
        }
    }

    /// The class's name.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Tool => "tool",
            Self::Environment => "environment",
            Self::Verifier => "verifier",
        }
    }

    /// The class of that name.
    #[must_use]
    pub fn of_name(name: &str) -> Option<Self> {
        Self::ALL.into_iter().find(|class| class.as_str() == name)
    }

    fn slots(self, pool: &PoolSize) -> u32 {
        match self {
            Self::Tool => pool.tools,
            Self::Environment => pool.environments,
            Self::Verifier => pool.verifiers,
        }
    }
}

/// One engine for each class, the clock of their deadlines and the compiled components. One for each process is enough.
pub struct Engines {
    clockwork: Arc<Clockwork>,
    pooled: bool,
    pub(crate) components: ComponentCache,
}

impl Engines {
    /// Builds the three engines.
    ///
    /// # Errors
    /// [`EngineError`] when the machine cannot run them, or cannot give a pool that was asked for by name.
    pub fn new(config: &EngineConfig) -> Result<Self, EngineError> {
        let (engines, pooled) = build(config)?;
        let clockwork = Arc::new(Clockwork::new(engines));
        if config.ticker == Ticker::Thread {
            ticker::register(&clockwork)?;
        }
        Ok(Self { clockwork, pooled, components: ComponentCache::new(config.cache.clone()) })
    }

    /// The engine of a class.
    #[must_use]
    pub fn engine(&self, class: EngineClass) -> &Engine {
        self.clockwork.engine(class)
    }

    /// Whether instances come from a pool.
    #[must_use]
    pub fn is_pooled(&self) -> bool {
        self.pooled
    }

    /// What live instances hold of the pools; none: instances are allocated on demand.
    #[must_use]
    pub fn pool_use(&self) -> Option<PoolUse> {
        let mut sum = PoolUse { component_instances: 0, core_instances: 0, memories: 0, tables: 0 };
        for class in EngineClass::ALL {
            let of_class = self.engine(class).pooling_allocator_metrics()?;
            sum.component_instances += of_class.component_instances();
            sum.core_instances += of_class.core_instances();
            sum.memories += of_class.memories();
            sum.tables += of_class.tables();
        }
        Some(sum)
    }

    /// Moves the epoch by one tick, as [`Ticker::Thread`] does each [`TICK`](crate::TICK).
    pub fn tick(&self) {
        self.clockwork.tick();
    }

    /// Lets go of the machine code of a component in memory; true when nothing holds it any more. What runs keeps it until it is dropped.
    pub fn forget(&self, digest: ContentDigest) -> bool {
        self.components.forget(digest)
    }

    /// A deadline that long from now.
    pub(crate) fn deadline(&self, limit: Duration) -> Deadline {
        Deadline::from_now(&self.clockwork, limit)
    }

    /// What the machine code of all plugins depends on: engine version, settings and contract version.
    #[must_use]
    pub fn fingerprint(&self) -> String {
        let settings = EngineClass::ALL.map(|class| self.components.compatibility(self.engine(class)));
        let digest = hex::encode(sha2::Sha256::digest(settings.concat()));
        let short: String = digest.chars().take(16).collect();
        format!("wasmtime-{WASMTIME_VERSION} {} settings-{short}", loopwright_bindings::WIT_PACKAGE)
    }
}

/// The engines, and whether they are pooled.
fn build(config: &EngineConfig) -> Result<([Engine; 3], bool), EngineError> {
    let all = |pool: Option<&PoolSize>| -> wasmtime::Result<[Engine; 3]> {
        let [tool, environment, verifier] = EngineClass::ALL.map(|class| Engine::new(&settings(class, pool)?));
        Ok([tool?, environment?, verifier?])
    };
    let failed = |source: wasmtime::Error| EngineError::Start { reason: format!("{source:#}") };
    match config.allocator {
        Allocator::OnDemand => Ok((all(None).map_err(failed)?, false)),
        Allocator::Pooling => Ok((all(Some(&config.pool)).map_err(failed)?, true)),
        // Making the engines reserves the pools' whole address space: that is the probe.
        Allocator::Auto => match all(Some(&config.pool)) {
            Ok(engines) => Ok((engines, true)),
            Err(error) => {
                tracing::warn!(reason = %format!("{error:#}"), "no address space for instance pools: instances are allocated on demand, which is slower");
                Ok((all(None).map_err(failed)?, false))
            }
        },
    }
}

/// A class's settings, each with its reason. The classes differ in their pools; the rest is alike until one of them is granted more.
pub(crate) fn settings(class: EngineClass, pool: Option<&PoolSize>) -> wasmtime::Result<Config> {
    let mut config = Config::new();
    // Fuel decides, because it is the same on every machine; the epoch is the backstop in time.
    config.consume_fuel(true).epoch_interruption(true);
    // The async ABI costs 1.4 us a call against 0.1 us, and nothing here waits.
    config.concurrency_support(false);
    // Nondeterministic, or a larger surface that no plugin needs. Threads, core dumps, fibre stacks and protection keys are compiled out: their
    // features of wasmtime are off, so there is nothing to turn off here.
    config.wasm_shared_everything_threads(false).shared_memory(false);
    config.wasm_relaxed_simd(false).relaxed_simd_deterministic(true);
    config.wasm_custom_page_sizes(false).wasm_memory64(false).wasm_stack_switching(false).gc_support(false);
    // The bits of a NaN differ between machines, and a guest can print them.
    config.cranelift_nan_canonicalization(true);
    // Deep recursion is a fault of the guest well before it is one of the thread: test threads have 2 MiB.
    config.max_wasm_stack(WASM_STACK_BYTES);
    // A trap's message for the plugin's author names functions; addresses and core dumps would leave the machine's layout in records.
    config.wasm_backtrace_max_frames(std::num::NonZeroUsize::new(BACKTRACE_FRAMES_MAX)).generate_address_map(false);
    // A fresh instance maps its image copy-on-write instead of copying it.
    config.memory_init_cow(true);
    // A guest with an interpreter inside has an image larger than the engine's own bound, and would be copied page by page instead.
    config.memory_guaranteed_dense_image_size(IMAGE_BYTES_MAX);
    // Plugins are compiled once and run millions of times.
    config.cranelift_opt_level(OptLevel::Speed);
    // Wasmtime itself compares the major version only; code of an older patch, with its faults, would be loaded. How an image is laid out is
    // decided when a component is compiled, and is no part of what wasmtime compares either.
    config.module_version(ModuleVersionStrategy::Custom(format!(
        "loopwright {WASMTIME_VERSION} image-{IMAGE_BYTES_MAX} {}",
        class.as_str()
    )))?;
    if let Some(pool) = pool {
        config.allocation_strategy(InstanceAllocationStrategy::Pooling(pooling(class.slots(pool), pool)));
    }
    Ok(config)
}

/// Bytes of a memory's initial image that is mapped copy-on-write however sparse it is: as much as an instance may hold under the default limits.
const IMAGE_BYTES_MAX: u64 = 64 * 1024 * 1024;

/// Functions that a trap's message names.
const BACKTRACE_FRAMES_MAX: usize = 16;

/// Bytes at the start of a table that are cleared in place.
const TABLE_KEEP_RESIDENT_BYTES: usize = 8 * 1024;

fn pooling(slots: u32, pool: &PoolSize) -> PoolingAllocationConfig {
    let mut pooling = PoolingAllocationConfig::new();
    // A component of one module is up to three core instances with adapters and shims; memories and tables rarely more than one or two.
    pooling.total_component_instances(slots).total_core_instances(slots.saturating_mul(4));
    pooling.total_memories(slots.saturating_add(slots / 4)).total_tables(slots.saturating_mul(2));
    pooling
        .max_core_instances_per_component(CORE_INSTANCES_MAX)
        .max_memories_per_component(MEMORIES_MAX)
        .max_tables_per_component(TABLES_MAX);
    pooling.max_memories_per_module(MEMORIES_MAX).max_tables_per_module(TABLES_MAX);
    // The 4 GiB reservation stays, so that bounds checks stay free; this only bounds growth.
    pooling.max_memory_size(pool.memory_bytes).table_elements(20_000);
    // What is kept resident is cleared in place instead of being unmapped and faulted in again.
    let tables = pool.keep_resident_bytes.min(TABLE_KEEP_RESIDENT_BYTES);
    pooling.linear_memory_keep_resident(pool.keep_resident_bytes).table_keep_resident(tables);
    pooling.decommit_batch_size(16);
    // Idle slots that stay bound to their component: instantiating it again maps nothing.
    pooling.max_unused_warm_slots(256);
    // A page that was swapped out is neither cleared nor dropped by the scan (wasmtime#14357): another plugin would read it.
    pooling.pagemap_scan(Enabled::No);
    pooling
}
