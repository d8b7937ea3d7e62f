//! `bench soak`: plugins are loaded, called and unloaded again and again, and the process may not grow.
//!
//! Growth is the slope of a line through what the process held, fitted after a warm-up. Neighbouring samples are alike, so that the fit is
//! made through the means of blocks: its error would look smaller than it is otherwise.

use std::sync::Arc;
use std::time::Instant;

use anyhow::{Context as _, ensure};
use loopwright_contract::name::{CallId, ToolName};
use loopwright_contract::tool::ToolCall;
use loopwright_engine::{
    CacheConfig, CacheKey, Candidate, EngineConfig, Engines, GrantPolicy, NoWorlds, Outcome, PluginHost, Scratch, Trust,
};
use loopwright_testkit::guests::hostile::{HOSTILE, NEIGHBOUR_TOOLS, neighbours, tool_plugin};
use serde::Serialize;
use serde_json::json;

use super::measure::resident_bytes;
use crate::cli::{Shared, SoakArgs};
use crate::exit::Exit;
use crate::output;

/// What is said of a slope.
const GROWS: &str = "IT GROWS\nhint: with GLIBC_TUNABLES=glibc.malloc.arena_max=1:glibc.malloc.tcache_count=0 the allocator's own growth is gone";

/// Plugins that take turns.
const PLUGINS: usize = 4;
/// The part of the cycles that warms up: one in so many.
const WARM_UP: usize = 5;
/// Means that the line is fitted through.
const BLOCKS: usize = 40;
/// How many errors of the fit the slope may be away from zero.
const ERRORS_MAX: f64 = 3.0;
/// A slope that is no leak, whatever the fit says of its error: the allocator's smallest piece takes 32 bytes, so that a cycle that leaks anything
/// leaks twice as much. What remains below it is how glibc's arenas fill up: with one arena and no caches of threads it is 0.0.
const NEGLIGIBLE_BYTES: f64 = 16.0;

/// A guest that answers at once. The number makes each a component of its own.
const ANSWERS: &str = r#"(func (export "loopwright:afv/tool@0.1.0#call") (param i32 i32 i32 i32 i32 i32) (result i32) (global.get $done))"#;

/// What came of it.
#[derive(Debug, Serialize)]
struct Report {
    cycles: usize,
    warm_up: usize,
    /// The plugin whose turn it is was compiled anew every so many cycles; 0: only at first, and loaded from the disk afterwards.
    compile_every: u64,
    /// Bytes that the process grew by in a cycle, after the warm-up.
    slope_bytes: f64,
    /// The standard error of that.
    error_bytes: f64,
    /// Bytes that the process held after the warm-up and at the end.
    resident_after_warm_up: u64,
    resident_at_end: u64,
    cycles_per_second: f64,
    /// Whether the slope is zero within what can be told.
    flat: bool,
}

/// Runs it.
///
/// # Errors
/// A plugin that does not load or does not answer; a machine that does not say what the process holds.
pub(super) fn soak(shared: &Shared, args: &SoakArgs) -> anyhow::Result<Exit> {
    let cycles = usize::try_from(args.cycles)?;
    let every = usize::try_from(args.compile_every).ok().filter(|every| *every > 0);
    let stand = Stand::new()?;
    // Written to, so that what is noted here is held from the beginning.
    let mut held = vec![1; cycles];
    let started = Instant::now();
    for (cycle, held) in held.iter_mut().enumerate() {
        // The first time there is nothing on the disk yet.
        if cycle > 0 && every.is_some_and(|every| cycle.is_multiple_of(every)) {
            stand.uncache()?;
        }
        stand.cycle(cycle)?;
        *held = resident_bytes().context("this machine does not say what a process holds: no /proc/self/statm")?;
    }
    let seconds = started.elapsed().as_secs_f64().max(1e-9);
    let warm_up = cycles / WARM_UP;
    let measured = held.get(warm_up..).unwrap_or_default();
    let (slope, error) = slope(measured);
    let report = Report {
        cycles,
        warm_up,
        compile_every: args.compile_every,
        slope_bytes: slope,
        error_bytes: error,
        resident_after_warm_up: measured.first().copied().unwrap_or_default(),
        resident_at_end: measured.last().copied().unwrap_or_default(),
        cycles_per_second: cycles as f64 / seconds,
        flat: slope <= (ERRORS_MAX * error).max(NEGLIGIBLE_BYTES),
    };
    if shared.json {
        output::json(&report);
    } else {
        output::line(format_args!(
            "{} cycles of {PLUGINS} plugins, loaded, called and unloaded, {:.0} a second\nafter {} cycles {} KiB, at the end {} KiB: {:.1} bytes a cycle, error {:.1}: {}",
            report.cycles,
            report.cycles_per_second,
            report.warm_up,
            report.resident_after_warm_up / 1024,
            report.resident_at_end / 1024,
            report.slope_bytes,
            report.error_bytes,
            if report.flat { "zero within noise (aim)" } else { GROWS }
        ));
    }
    Ok(if report.flat { Exit::Good } else { Exit::Differs })
}

/// Engines with a cache of their own, and the plugins that take turns.
struct Stand {
    engines: Arc<Engines>,
    config: EngineConfig,
    plugins: Vec<(Candidate, ToolCall)>,
    cache: tempfile::TempDir,
}

impl Stand {
    fn new() -> anyhow::Result<Self> {
        let cache = tempfile::tempdir()?;
        let key = CacheKey::load_or_create(&cache.path().join("key"), || Ok([7; 32]))?;
        let config = EngineConfig {
            cache: Some(CacheConfig { folder: cache.path().join("code"), key }),
            ..EngineConfig::default()
        };
        let engines = Arc::new(Engines::new(&config)?);
        let mut plugins = Vec::new();
        let [(name, bytes), ..] = neighbours()?;
        let [put, ..] = NEIGHBOUR_TOOLS;
        plugins.push((candidate(name, bytes)?, call(put)?));
        for number in 1..PLUGINS {
            let name = format!("soaked-{number}");
            plugins.push((candidate(&name, tool_plugin(&name, ANSWERS)?)?, call(HOSTILE)?));
        }
        Ok(Self { engines, config, plugins, cache })
    }

    /// Lets go of all machine code on the disk.
    fn uncache(&self) -> anyhow::Result<()> {
        Ok(std::fs::remove_dir_all(self.cache.path().join("code"))?)
    }

    /// Loads a plugin, calls it in a world of its own, and lets go of everything.
    fn cycle(&self, cycle: usize) -> anyhow::Result<()> {
        let (candidate, call) = self.plugins.get(cycle % self.plugins.len()).context("there are plugins")?;
        let host = PluginHost::install(
            Arc::clone(&self.engines),
            self.config.clone(),
            &GrantPolicy::default(),
            Arc::new(NoWorlds),
            std::slice::from_ref(candidate),
        )?;
        let mut world = Scratch::new(&host, &super::rows::start(), None)?;
        let answered = world.call(call)?.outcome;
        ensure!(matches!(answered, Outcome::Ok(_)), "cycle {cycle}: `{}` answered {answered:?}", call.tool);
        drop((world, host));
        ensure!(
            self.engines.forget(candidate.digest),
            "cycle {cycle}: the code of `{}` is still in use",
            candidate.name
        );
        Ok(())
    }
}

fn candidate(name: &str, bytes: Vec<u8>) -> anyhow::Result<Candidate> {
    Ok(Candidate { trust: Trust::FirstParty, ..Candidate::new(name.parse()?, bytes) })
}

fn call(tool: &str) -> anyhow::Result<ToolCall> {
    Ok(ToolCall { id: CallId::new("c1")?, tool: ToolName::new(tool)?, arguments: json!({"value": 1}) })
}

/// Bytes a sample by least squares through the means of blocks, and the standard error.
#[expect(clippy::cast_precision_loss, reason = "bytes of a process are below 2^53")]
fn slope(held: &[u64]) -> (f64, f64) {
    let block = held.len().div_ceil(BLOCKS).max(1);
    let means: Vec<(f64, f64)> = held
        .chunks_exact(block)
        .enumerate()
        .map(|(number, chunk)| {
            let mean = chunk.iter().map(|bytes| *bytes as f64).sum::<f64>() / block as f64;
            ((number * block) as f64 + (block - 1) as f64 / 2.0, mean)
        })
        .collect();
    let count = means.len() as f64;
    if means.len() < 3 {
        return (0.0, f64::INFINITY);
    }
    let (x, y) = means.iter().fold((0.0, 0.0), |(x, y), point| (x + point.0 / count, y + point.1 / count));
    let spread: f64 = means.iter().map(|point| (point.0 - x).powi(2)).sum();
    let slope = means.iter().map(|point| (point.0 - x) * (point.1 - y)).sum::<f64>() / spread;
    let left: f64 = means.iter().map(|point| (point.1 - y - slope * (point.0 - x)).powi(2)).sum();
    (slope, (left / (count - 2.0) / spread).sqrt())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_is_found_and_noise_is_told_from_it() {
        let line: Vec<u64> = (0..400).map(|x| 1_000_000 + 24 * x).collect();
        let (found, error) = slope(&line);
        assert!((found - 24.0).abs() < 1e-6 && error < 1e-6, "{found} +- {error}");
        let noise: Vec<u64> = (0..400).map(|x| 1_000_000 + (x * 7919) % 4096).collect();
        let (found, error) = slope(&noise);
        assert!(found.abs() < 3.0 * error && error > 0.0, "{found} +- {error}");
        assert!(slope(&[1, 2]).1.is_infinite());
    }

    #[test]
    fn a_few_cycles_load_call_and_unload() {
        let stand = Stand::new().unwrap();
        for cycle in 0..2 * PLUGINS {
            stand.cycle(cycle).unwrap();
        }
        stand.uncache().unwrap();
        stand.cycle(0).unwrap();
        assert_eq!(stand.engines.pool_use().map(|used| used.component_instances).unwrap_or_default(), 0);
    }
}
