//! Compiles, links, limits and calls plugin components. It knows no planner, no harness, no model and no trajectory, and it reads no
//! configuration, clock or environment by itself: an operator's decisions come in as [`EngineConfig`] and [`GrantPolicy`].
//!
//! [`Engines`] are three wasmtime engines, one for each class of plugins. [`PluginHost::install`] turns component bytes into plugins: it
//! compiles them (once for each digest, kept on disk under a keyed hash), refuses foreign imports with their names, links each kind with
//! exactly the interfaces of its world, asks each plugin who it is, and computes its grant. The host is the contract's
//! [`EpisodeHost`](loopwright_contract::episode::EpisodeHost): it prepares tasks and opens episodes.
//!
//! ```no_run
//! use std::sync::Arc;
//!
//! use loopwright_contract::episode::EpisodeHost as _;
//! use loopwright_engine::{Candidate, EngineConfig, Engines, GrantPolicy, NoWorlds, PluginHost};
//! use loopwright_registry::Index;
//!
//! # fn main() -> Result<(), Box<dyn std::error::Error>> {
//! let index = Index::open("target/plugins")?;
//! let candidates = index.plugins().map(|entry| index.load(entry).map(Candidate::from)).collect::<Result<Vec<_>, _>>()?;
//! let config = EngineConfig::default();
//! let engines = Arc::new(Engines::new(&config)?);
//! let host = PluginHost::install(engines, config, &GrantPolicy::trusting(), Arc::new(NoWorlds), &candidates)?;
//! println!("{} tools", host.tools().len());
//! # Ok(())
//! # }
//! ```

mod cache;
mod classes;
mod compile;
mod config;
mod core;
mod deadline;
mod episode;
mod error;
mod fault;
pub mod floor;
mod grant;
mod host;
mod input;
mod install;
mod installed;
mod invoke;
mod judge;
mod kept;
mod kept_bytes;
mod limits;
mod log;
mod memory;
mod nested;
mod plugin_host;
mod prepare;
mod record;
mod scratch;
mod skill;
mod store;
mod stored;
mod swap;
#[cfg(test)]
mod testing;
mod ticker;

pub use cache::{CacheKey, Origin, secret_file};
pub use classes::{EngineClass, Engines};
pub use compile::{
    CODE_BYTES_MAX, ChildCompiler, CompileFault, CompileLimits, Compiler, ThirdPartyCompiler, Trust, serve_compiler,
};
pub use config::{Allocator, CacheConfig, EngineConfig, InstancePolicy, PoolSize, PoolUse, TICK, Ticker};
pub use error::{EngineError, InstallError, Refusal};
pub use grant::{Given, GrantPolicy};
pub use install::{Candidate, Inspected, Says, Start, inspect};
pub use installed::{NoWorlds, Waiting, WorldSource};
pub use invoke::Outcome;
pub use plugin_host::PluginHost;
pub use scratch::{Scratch, ScratchCall};
pub use swap::{
    Disagreement, FAULTS_MAX, ShadowRule, ShadowStatus, SwapError, SwapEvent, SwapMode, SwapReceipt, VerifierStatus,
};

/// Generated types, under shorter names.
mod bindings {
    pub(crate) use loopwright_bindings::{
        Violation,
        afv::{tool_caller, tools, types},
        convert, environment, skill, tool, verifier,
    };
}

/// The version of wasmtime that compiles and runs the plugins. It is part of every key of compiled code.
pub const WASMTIME_VERSION: &str = "48.0.8";
