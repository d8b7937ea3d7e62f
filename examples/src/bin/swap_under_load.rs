//! A verifier is replaced, over and over, while episodes are judged by it; no verdict is lost, and each names the component that gave it.
//!
//! Build the plugins first: `cargo xtask guests`. Then: `cargo run -p loopwright-examples --bin swap_under_load`.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;

use anyhow::Context as _;
use loopwright::cli::Shared;
use loopwright::output;
use loopwright::wire::{self, Engine, MachineStopwatch, Worlds};
use loopwright_contract::digest::ContentDigest;
use loopwright_contract::verdict::Outcome;
use loopwright_engine::{Candidate, PluginHost, SwapMode, Trust};
use loopwright_harness::planners::Scripted;
use loopwright_harness::trajectory::read_bytes;
use loopwright_harness::{EpisodeResult, Harness, Output, RunOptions, Settings, run_tasks};
use loopwright_packs::phone;

/// The verifier that is swapped: most tasks of the pack are judged by it.
const VERIFIER: &str = "state-assertions";

/// How often the pack is run.
const ROUNDS: u32 = 5;

fn main() -> anyhow::Result<()> {
    let shared = Shared::default();
    let host = wire::host(&shared, Engine::default(), Worlds::default())?;
    let (old, new) = versions(&shared)?;
    // Both are compiled once before the clock runs; from then on a swap is a matter of microseconds.
    for version in [&new, &old] {
        host.swap_verifier(version, SwapMode::Immediate)?;
    }

    // Episodes run on two threads; meanwhile this one swaps as fast as it can.
    let over = AtomicBool::new(false);
    let (results, swaps) = thread::scope(|scope| {
        let episodes = scope.spawn(|| {
            let results = episodes(host.clone());
            over.store(true, Ordering::Relaxed);
            results
        });
        let swaps = swap_until(&host, [&new, &old], &over);
        (episodes.join(), swaps)
    });
    let results = results.map_err(|_| anyhow::anyhow!("a thread ended by a panic"))??;
    let swaps = swaps?;

    // Every verdict names the component that gave it.
    let given = verdicts(&results)?;
    let passed = results.iter().filter(|result| result.outcome == Outcome::Pass).count();
    output::line(format_args!("{swaps} swaps while {} episodes ran, {passed} of them passed", results.len()));
    for (digest, count) in &given {
        let which = if *digest == old.digest { "old" } else { "new" };
        output::line(format_args!("{count:>6} verdicts of the {which} one, {digest}"));
    }
    anyhow::ensure!(passed == results.len(), "an episode was lost or judged otherwise");
    anyhow::ensure!(given.keys().all(|digest| [old.digest, new.digest].contains(digest)), "a verdict is nobody's");
    Ok(())
}

/// The installed verifier, and the same one built anew: other bytes, so another component to the host.
fn versions(shared: &Shared) -> anyhow::Result<(Candidate, Candidate)> {
    let index = wire::index(shared)?;
    let package = index.load(index.find(VERIFIER)?)?;
    let mut bytes = package.bytes.clone();
    // A custom section, as another compiler would leave one: id 0, seven bytes, a name of five and one byte.
    bytes.extend([0, 7, 5, b'b', b'u', b'i', b'l', b'd', 2]);
    let old = Candidate::from(package);
    let new = Candidate { trust: Trust::FirstParty, ..Candidate::new(old.name.clone(), bytes) };
    Ok((old, new))
}

/// The built-in pack, [`ROUNDS`] times, by a planner that knows the gold.
fn episodes(host: PluginHost) -> anyhow::Result<Vec<EpisodeResult>> {
    let pack = phone::builtin(1, 2)?;
    let harness = Harness::new(Arc::new(host), Settings::default(), Vec::new())?;
    let mut options = RunOptions::new(MachineStopwatch::start());
    options.jobs = 2;
    options.output = Output::Memory;
    let planner = Scripted::new(pack.tasks());
    let round = |_| run_tasks(&harness, &planner, pack.tasks(), &options, &|_| {});
    Ok((0..ROUNDS).flat_map(round).collect())
}

fn swap_until(host: &PluginHost, versions: [&Candidate; 2], over: &AtomicBool) -> anyhow::Result<u64> {
    let mut swaps = 0;
    for next in versions.into_iter().cycle() {
        if over.load(Ordering::Relaxed) {
            break;
        }
        host.swap_verifier(next, SwapMode::Immediate)?;
        swaps += 1;
    }
    Ok(swaps)
}

/// How many verdicts each component gave.
fn verdicts(results: &[EpisodeResult]) -> anyhow::Result<BTreeMap<ContentDigest, usize>> {
    let mut given = BTreeMap::new();
    for result in results {
        let text: String = result.lines.iter().flatten().flat_map(|line| [line.as_str(), "\n"]).collect();
        let read = read_bytes(text.as_bytes()).context("a trajectory is not one")?;
        for judged in read.trajectory.verdicts.iter().filter(|judged| judged.verifier == *VERIFIER) {
            *given.entry(judged.verifier_digest).or_default() += 1;
        }
    }
    Ok(given)
}
