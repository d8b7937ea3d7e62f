//! `bench swap`: a verifier is swapped again and again while episodes are judged. One of the two components passes everything and the other
//! fails everything, so that a verdict of one under the name of the other shows.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use loopwright_contract::environment::{Actor, Turn};
use loopwright_contract::episode::{Episode, EpisodeHost as _};
use loopwright_contract::name::{CallId, ToolName};
use loopwright_contract::task::{Check, Task};
use loopwright_contract::tool::ToolCall;
use loopwright_engine::{Candidate, EngineConfig, Engines, GrantPolicy, NoWorlds, PluginHost, SwapMode, Trust};
use loopwright_testkit::guests::hostile::{JUDGE, NEIGHBOUR_TOOLS, WORLD, neighbours, verifier};
use serde::Serialize;
use serde_json::json;

use crate::cli::{Shared, SwapBenchArgs};
use crate::exit::Exit;
use crate::output;

const PASSES: &str =
    "(func $judge (param $upto i32) (global.set $outcome (i32.const 0)) (global.set $score (f64.const 1)))";
const FAILS: &str =
    "(func $judge (param $upto i32) (global.set $outcome (i32.const 1)) (global.set $score (f64.const 0)))";

/// What came of it.
#[derive(Debug, Serialize)]
struct Report {
    verdicts: u64,
    failed: u64,
    mixed: u64,
    swaps: u64,
    p99_swap_us: u64,
    p50_swap_us: u64,
    verdicts_per_second: u64,
}

/// The counters that all threads share.
#[derive(Default)]
struct Counters {
    begun: AtomicU64,
    failed: AtomicU64,
    mixed: AtomicU64,
    over: AtomicBool,
}

/// Runs it.
///
/// # Errors
/// A host that does not come up, or a swap that is refused.
pub(super) fn swap(shared: &Shared, args: &SwapBenchArgs) -> anyhow::Result<Exit> {
    let (passes, fails) = (judge(PASSES)?, judge(FAILS)?);
    let host = host(&passes)?;
    // Both are compiled once before anything is measured: what is swapped is cached.
    host.swap_verifier(&fails, SwapMode::Immediate)?;
    let counters = Counters::default();
    let started = Instant::now();
    let mut times = Vec::new();
    thread::scope(|scope| -> anyhow::Result<()> {
        let judges: Vec<_> = (0..args.judges)
            .map(|_| scope.spawn(|| judging(&host, args, &counters, started, (&passes, &fails))))
            .collect();
        let swapped = swapping(&host, args, &counters, [&passes, &fails], &mut times);
        counters.over.store(swapped.is_err(), Ordering::Relaxed);
        for judge in judges {
            judge.join().map_err(|_| anyhow::anyhow!("a thread that judges ended by a panic"))??;
        }
        swapped
    })?;
    times.sort_unstable();
    let at = |share: usize| {
        let time = times.get((times.len() * share / 100).min(times.len().saturating_sub(1)));
        time.map_or(0, |time: &Duration| u64::try_from(time.as_micros()).unwrap_or(u64::MAX))
    };
    let seconds = started.elapsed().as_secs_f64().max(1e-9);
    let report = Report {
        verdicts: args.verdicts,
        failed: counters.failed.into_inner(),
        mixed: counters.mixed.into_inner(),
        swaps: times.len() as u64,
        p99_swap_us: at(99),
        p50_swap_us: at(50),
        verdicts_per_second: (args.verdicts as f64 / seconds) as u64,
    };
    if shared.json {
        output::json(&report);
    } else {
        output::line(format_args!(
            "{} verdicts at {} a second: {} failed, {} mixed; {} swaps, p50 {} us, p99 {} us",
            report.verdicts,
            report.verdicts_per_second,
            report.failed,
            report.mixed,
            report.swaps,
            report.p50_swap_us,
            report.p99_swap_us
        ));
    }
    Ok(if report.failed + report.mixed == 0 { Exit::Good } else { Exit::Differs })
}

fn judge(text: &str) -> anyhow::Result<Candidate> {
    let bytes = verifier(JUDGE, text).context("the verifier of the bench is not built")?;
    Ok(Candidate { trust: Trust::FirstParty, ..Candidate::new(JUDGE.parse()?, bytes) })
}

fn host(judge: &Candidate) -> anyhow::Result<PluginHost> {
    let others = neighbours()?.into_iter().filter(|(name, _)| *name != JUDGE);
    let mut candidates = others
        .map(|(name, bytes)| Ok(Candidate { trust: Trust::FirstParty, ..Candidate::new(name.parse()?, bytes) }))
        .collect::<anyhow::Result<Vec<_>>>()?;
    candidates.push(judge.clone());
    let config = EngineConfig::default();
    let engines = Arc::new(Engines::new(&config)?);
    Ok(PluginHost::install(engines, config, &GrantPolicy::default(), Arc::new(NoWorlds), &candidates)?)
}

/// An episode with one step, ready to be judged.
fn played(host: &PluginHost) -> anyhow::Result<(Box<dyn Episode>, Check)> {
    let task: Task = serde_json::from_value(json!({
        "id": "swap", "family": "swap", "category": "swap", "split": "test", "lang": "en", "request": "put a note",
        "environment": WORLD, "start": super::rows::start(), "checks": [{"verifier": JUDGE, "check": {}}],
    }))?;
    let check = task.checks.first().cloned().context("the task has no check")?;
    let mut episode = host.prepare(&task)?.open()?;
    episode.reset()?;
    let [put, ..] = NEIGHBOUR_TOOLS;
    let call = ToolCall { id: CallId::new("c1")?, tool: ToolName::new(put)?, arguments: json!({"value": 1}) };
    episode.step(&Turn { actor: Actor::Agent, calls: vec![call] })?;
    episode.end_turn();
    Ok((episode, check))
}

fn judging(
    host: &PluginHost,
    args: &SwapBenchArgs,
    counters: &Counters,
    started: Instant,
    (passes, fails): (&Candidate, &Candidate),
) -> anyhow::Result<()> {
    let (mut episode, check) = played(host)?;
    loop {
        let number = counters.begun.fetch_add(1, Ordering::Relaxed);
        if number >= args.verdicts || counters.over.load(Ordering::Relaxed) {
            counters.over.store(true, Ordering::Relaxed);
            return Ok(());
        }
        pace(number, args.rate, started);
        match episode.judge(0, &check, &[1]).ok().and_then(|judged| judged.into_iter().next()) {
            None => {
                counters.failed.fetch_add(1, Ordering::Relaxed);
            }
            Some(judged) => {
                let expected = if judged.verdict.passed() { passes.digest } else { fails.digest };
                if judged.verifier_digest != expected {
                    counters.mixed.fetch_add(1, Ordering::Relaxed);
                }
            }
        }
    }
}

/// Waits until a verdict is due.
fn pace(number: u64, rate: u64, started: Instant) {
    if rate > 0 {
        let due = Duration::from_secs_f64(number as f64 / rate as f64);
        thread::sleep(due.saturating_sub(started.elapsed()));
    }
}

fn swapping(
    host: &PluginHost,
    args: &SwapBenchArgs,
    counters: &Counters,
    verifiers: [&Candidate; 2],
    times: &mut Vec<Duration>,
) -> anyhow::Result<()> {
    for next in verifiers.into_iter().cycle() {
        if counters.over.load(Ordering::Relaxed) {
            return Ok(());
        }
        let started = Instant::now();
        host.swap_verifier(next, SwapMode::Immediate)?;
        times.push(started.elapsed());
        thread::sleep(Duration::from_millis(args.every_ms));
    }
    Ok(())
}
