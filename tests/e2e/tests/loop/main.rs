//! The whole loop on real components: one binary, because each further one links the engine again.

#![allow(
    clippy::expect_used,
    clippy::indexing_slicing,
    clippy::panic,
    clippy::print_stdout,
    reason = "a test ends where something is not as it should be, and says so"
)]

mod closed_loop;
mod mcp;
mod memory;
mod recall;
mod records;
mod robustness;
mod rollout;
mod splits;
mod teaching;
mod training;

use std::path::PathBuf;
use std::sync::{Arc, OnceLock};

use loopwright::cli::Shared;
use loopwright::wire::{self, Engine, INSTANCES_PER_FAMILY, MachineStopwatch, Worlds};
use loopwright_contract::planner::Planner;
use loopwright_contract::task::Task;
use loopwright_engine::PluginHost;
use loopwright_harness::{EpisodeResult, Harness, Output, RunOptions, Settings, run_tasks};
use loopwright_packs::phone;

/// A seed that no part of the pack was written against.
const UNSEEN_SEED: u64 = 20_261_129;

fn root() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../..")
}

fn shared() -> Shared {
    Shared { plugins: root().join("target/plugins"), cache: root().join("target/cache"), ..Shared::default() }
}

/// The installed plugins; one host for all tests. A missing component fails with the command to run.
fn host() -> PluginHost {
    static HOST: OnceLock<PluginHost> = OnceLock::new();
    HOST.get_or_init(|| {
        wire::host(&shared(), Engine::default(), Worlds::default())
            .expect("installed plugins: run `cargo xtask guests`")
    })
    .clone()
}

fn host_that_drops() -> PluginHost {
    wire::host(&shared(), Engine { drop_instances: true }, Worlds::default())
        .expect("installed plugins: run `cargo xtask guests`")
}

fn tasks() -> Vec<Task> {
    phone::builtin(1, INSTANCES_PER_FAMILY).expect("the built-in pack").tasks().to_vec()
}

fn harness(host: PluginHost) -> Harness {
    Harness::new(Arc::new(host), Settings::default(), Vec::new()).expect("a harness")
}

fn run(host: PluginHost, planner: &dyn Planner, tasks: &[Task], jobs: usize, output: Output) -> Vec<EpisodeResult> {
    let mut options = RunOptions::new(MachineStopwatch::start());
    options.jobs = jobs;
    options.seed = 7;
    options.output = output;
    run_tasks(&harness(host), planner, tasks, &options, &|_| {})
}

/// The lines of each trajectory.
fn lines(results: &[EpisodeResult]) -> Vec<Vec<String>> {
    results.iter().map(|result| result.lines.clone().unwrap_or_default()).collect()
}
