//! The rows.

use std::sync::Arc;

use anyhow::ensure;
use loopwright_contract::environment::{Actor, Turn};
use loopwright_contract::episode::{EpisodeHost as _, PreparedTask};
use loopwright_contract::json::canonical;
use loopwright_contract::name::{CallId, PluginName, ToolName};
use loopwright_contract::task::{Start, Task};
use loopwright_contract::tool::ToolCall;
use loopwright_engine::floor::{EnvironmentFloor, ToolFloor, VerifierFloor};
use loopwright_engine::{Candidate, EngineConfig, Engines, GrantPolicy, NoWorlds, Outcome, PluginHost, Scratch};
use loopwright_harness::planners::Scripted;
use loopwright_harness::{Harness, Output, RunOptions, Settings, run_tasks};
use loopwright_packs::{phone, tau2};
use serde_json::{Value, json};

use super::costs::Row;
use super::measure::{beside, resident_bytes, row, row_beside, sample, timed};
use super::{guests, install};
use crate::cli::{CostArgs, Shared};
use crate::wire::{self, Engine, INSTANCES_PER_FAMILY, MachineStopwatch, Worlds};

/// Episodes that are held for the memory row.
const HELD_EPISODES: u64 = 200;

pub(super) fn all(shared: &Shared, args: &CostArgs) -> anyhow::Result<Vec<Row>> {
    let host = wire::host(shared, Engine::default(), Worlds::default())?;
    let samples = args.samples.max(10);
    // What the filter leaves out is not measured either.
    let wanted = |names: &[&str]| {
        args.filter.as_ref().is_none_or(|filter| names.iter().any(|name| name.contains(filter.as_str())))
    };
    let mut rows = Vec::new();
    if wanted(&[WARM]) {
        rows.push(warm_call(&host, samples)?);
    }
    if wanted(&[FRESH]) {
        rows.push(fresh_call(&host, samples)?);
    }
    if wanted(&[guests::START]) {
        rows.push(guests::start(&host, samples)?);
    }
    if wanted(&[CREATE]) {
        rows.push(create(&host, samples)?);
    }
    if wanted(&[FORK_SMALL, FORK_LARGE, FORK_EPISODE]) {
        rows.extend(forks(&host, samples)?);
    }
    if wanted(&[STEP]) {
        rows.push(steps(&host, samples)?);
    }
    if wanted(&[RECORDED]) {
        rows.push(recorded(&host)?);
    }
    if wanted(&[VERDICT, VERDICTS]) {
        rows.extend(verdicts(&host, samples)?);
    }
    rows.extend(guests::verifiers(shared, args, samples)?);
    if wanted(&[install::FOLDER, install::SERVER]) {
        rows.extend(install::rows(samples.min(100))?);
    }
    if wanted(&[IDLE]) {
        rows.push(idle(&host)?);
    }
    if wanted(&[STOPPED]) {
        rows.push(stopped(shared, samples.min(50))?);
    }
    if let Some(folder) = args.retail.as_ref().filter(|_| wanted(&[RETAIL_RESET, RETAIL_CALL])) {
        rows.extend(retail(&host, folder, samples)?);
    }
    Ok(rows)
}

const WARM: &str = "warm tool call, two reads and a write";
const FRESH: &str = "the same in a fresh instance";
const CREATE: &str = "create an episode, environment reset included";
const FORK_SMALL: &str = "fork of a world, 100 documents";
const FORK_LARGE: &str = "fork of a world, 100,000 documents";
const FORK_EPISODE: &str = "fork of an episode and its first step";
const STEP: &str = "step: environment, tool, evidence";
const RECORDED: &str = "recorded step, its share of set-up and verdict included";
const VERDICT: &str = "final verdict in a fresh instance";
const VERDICTS: &str = "verdicts for all 15 prefixes";
const IDLE: &str = "idle live episode, environment and three tools";
const STOPPED: &str = "stop a guest that spins, by fuel";
const RETAIL_RESET: &str = "retail: reset (reference in Python: 45 ms)";
const RETAIL_CALL: &str = "retail: a recorded call (reference in Python: 22 us)";

pub(super) fn call(tool: &str, arguments: Value) -> anyhow::Result<ToolCall> {
    Ok(ToolCall { id: CallId::new("c1")?, tool: ToolName::new(tool)?, arguments })
}

/// What is measured has to happen; a call that fails fast would look good.
pub(super) fn must(happened: bool) -> anyhow::Result<()> {
    ensure!(happened, "a measured call did not do what it is measured for");
    Ok(())
}

/// Two reads and a write: turning Wi-Fi on looks at airplane mode and at Wi-Fi, and puts Wi-Fi. Turning it off again is not timed.
fn wifi() -> anyhow::Result<(ToolCall, ToolCall)> {
    Ok((call("manage_wifi", json!({"action": "enable"}))?, call("manage_wifi", json!({"action": "disable"}))?))
}

pub(super) fn start() -> Start {
    Start { now_ns: 1_772_413_200_000_000_000, zone: "Asia/Shanghai".to_owned(), seed: 1 }
}

fn warm_call(host: &PluginHost, samples: usize) -> anyhow::Result<Row> {
    let (on, off) = wifi()?;
    let mut world = Scratch::new(host, &start(), None)?;
    let mut floor = ToolFloor::new(host, &PluginName::new("net")?)?;
    let sampled = beside(
        samples,
        || {
            must(world.measure(&off)?)?;
            timed(|| must(world.measure(&on)?))
        },
        || {
            must(floor.warm(&off)?)?;
            timed(|| must(floor.warm(&on)?))
        },
    )?;
    // Bare it takes about 10 us, metering included: so the ratio is the host's share of a call of 10 us.
    Ok(row_beside(WARM, "<= 8 us, ratio <= 1.20", &sampled))
}

fn fresh_call(host: &PluginHost, samples: usize) -> anyhow::Result<Row> {
    let (_, off) = wifi()?;
    let base = Scratch::new(host, &start(), None)?;
    let floor = ToolFloor::new(host, &PluginName::new("net")?)?;
    let fresh = || {
        let mut world = base.fork();
        timed(|| must(world.measure(&off)?))
    };
    let sampled = beside(samples, fresh, || timed(|| must(floor.fresh(&off)?)))?;
    Ok(row_beside(FRESH, "<= 55 us", &sampled))
}

/// A task of the built-in pack, ready.
fn prepared(host: &PluginHost) -> anyhow::Result<(Task, Arc<dyn PreparedTask>)> {
    let pack = phone::builtin(1, 1)?;
    let task =
        pack.tasks().iter().find(|task| task.checks.iter().any(|check| check.verifier == *"state-assertions")).cloned();
    let task = task.ok_or_else(|| anyhow::anyhow!("the built-in pack has no task with state assertions"))?;
    let ready = host.prepare(&task)?;
    Ok((task, ready))
}

fn create(host: &PluginHost, samples: usize) -> anyhow::Result<Row> {
    let (_, ready) = prepared(host)?;
    let times = sample(
        samples,
        || Ok(()),
        |()| {
            ready.open()?.reset()?;
            Ok(())
        },
    )?;
    Ok(row(CREATE, "<= 100 us", &times, None))
}

fn forks(host: &PluginHost, samples: usize) -> anyhow::Result<Vec<Row>> {
    let mut rows = Vec::new();
    for (name, documents) in [(FORK_SMALL, 100), (FORK_LARGE, 100_000)] {
        let collection: serde_json::Map<String, Value> =
            (0..documents).map(|number| (format!("note-{number}"), json!({"title": number, "body": "text"}))).collect();
        let world = Scratch::new(host, &start(), Some(&canonical(&json!({"notes": collection}))))?;
        let times = sample(
            samples,
            || Ok(()),
            |()| {
                drop(std::hint::black_box(world.fork()));
                Ok(())
            },
        )?;
        rows.push(row(name, "<= 2 us", &times, None));
    }
    let (_, ready) = prepared(host)?;
    let mut episode = ready.open()?;
    episode.reset()?;
    let turn = wifi_turn(true)?;
    let times = sample(
        samples,
        || Ok(()),
        |()| {
            let mut fork = episode.fork()?;
            fork.step(&turn)?;
            Ok(())
        },
    )?;
    rows.push(row(FORK_EPISODE, "<= 100 us", &times, None));
    Ok(rows)
}

fn wifi_turn(on: bool) -> anyhow::Result<Turn> {
    let (enable, disable) = wifi()?;
    Ok(Turn { actor: Actor::Agent, calls: vec![if on { enable } else { disable }] })
}

fn steps(host: &PluginHost, samples: usize) -> anyhow::Result<Row> {
    let (_, ready) = prepared(host)?;
    let mut episode = ready.open()?;
    episode.reset()?;
    let (on, off) = (wifi_turn(true)?, wifi_turn(false)?);
    let mut floor = EnvironmentFloor::new(host, &PluginName::new("sandbox")?, &PluginName::new("net")?, "null")?;
    let sampled = beside(
        samples,
        || {
            episode.step(&off)?;
            episode.end_turn();
            timed(|| {
                episode.step(&on)?;
                episode.end_turn();
                Ok(())
            })
        },
        || {
            must(floor.turn(&off)? == 1)?;
            timed(|| must(floor.turn(&on)? == 1))
        },
    )?;
    Ok(row_beside(STEP, "-", &sampled))
}

/// The whole loop with the scripted planner: recall, context, decisions, evidence, verdicts and trajectories in memory. The row is the time
/// of one decision, verdicts and set-up of its episode included.
fn recorded(host: &PluginHost) -> anyhow::Result<Row> {
    let pack = phone::builtin(1, INSTANCES_PER_FAMILY)?;
    let harness = Harness::new(Arc::new(host.clone()), Settings::default(), Vec::new())?;
    let planner = Scripted::new(pack.tasks());
    let mut times = Vec::new();
    for round in 0..6_u64 {
        let mut options = RunOptions::new(MachineStopwatch::start());
        options.output = Output::Memory;
        options.seed = round;
        let started = std::time::Instant::now();
        let results = run_tasks(&harness, &planner, pack.tasks(), &options, &|_| {});
        let turns: u64 = results.iter().map(|result| u64::from(result.turns)).sum();
        let nanos = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        if round > 0 {
            times.push(nanos / turns.max(1));
        }
    }
    times.sort_unstable();
    Ok(row(RECORDED, "<= 25 us", &times, None))
}

fn verdicts(host: &PluginHost, samples: usize) -> anyhow::Result<Vec<Row>> {
    let (task, ready) = prepared(host)?;
    let mut episode = ready.open()?;
    episode.reset()?;
    let count = 15_u32;
    let turns = (0..count).map(|number| wifi_turn(number % 2 == 1)).collect::<anyhow::Result<Vec<_>>>()?;
    for turn in &turns {
        episode.step(turn)?;
        episode.end_turn();
    }
    let check = task
        .checks
        .iter()
        .find(|check| check.verifier == *"state-assertions")
        .cloned()
        .ok_or_else(|| anyhow::anyhow!("the task has no state assertions"))?;
    let floor = VerifierFloor::over(host, &check.verifier, &task, &turns)?;
    let mut rows = Vec::new();
    for (name, aim, upto) in
        [(VERDICT, "<= 100 us", vec![count]), (VERDICTS, "<= 300 us", (1..=count).collect::<Vec<u32>>())]
    {
        let judge = || timed(|| must(episode.judge(0, &check, &upto)?.len() == upto.len()));
        let sampled = beside(samples, judge, || timed(|| must(floor.judge(&check, &upto)? == upto.len())))?;
        rows.push(row_beside(name, aim, &sampled));
    }
    Ok(rows)
}

/// What a live episode holds: environment and three tools, after a call of each.
fn idle(host: &PluginHost) -> anyhow::Result<Row> {
    let (_, ready) = prepared(host)?;
    let calls = [
        call("manage_wifi", json!({"action": "query"}))?,
        call("manage_brightness", json!({"action": "query"}))?,
        call("manage_battery", json!({"action": "query"}))?,
    ];
    let open = || -> anyhow::Result<_> {
        let mut episode = ready.open()?;
        episode.reset()?;
        episode.step(&Turn { actor: Actor::Agent, calls: calls.to_vec() })?;
        episode.end_turn();
        Ok(episode)
    };
    // The first ones pay for what all share.
    drop((0..20).map(|_| open()).collect::<anyhow::Result<Vec<_>>>()?);
    let before = resident_bytes();
    let held = (0..HELD_EPISODES).map(|_| open()).collect::<anyhow::Result<Vec<_>>>()?;
    let after = resident_bytes();
    drop(held);
    let bytes = before.zip(after).map(|(before, after)| after.saturating_sub(before) / HELD_EPISODES);
    Ok(Row { bytes, ..Row::named(IDLE, "<= 256 KiB") })
}

/// A guest that never returns: how long until its fuel is spent and its caller has the fault.
fn stopped(shared: &Shared, samples: usize) -> anyhow::Result<Row> {
    let index = wire::index(shared)?;
    let package = index.load(index.find("spin")?)?;
    let config = EngineConfig { compiler: wire::compiler(), ..EngineConfig::default() };
    let engines = Arc::new(Engines::new(&config)?);
    let host =
        PluginHost::install(engines, config, &GrantPolicy::default(), Arc::new(NoWorlds), &[Candidate::from(package)])?;
    let spin = call("spin", json!({}))?;
    let world = Scratch::new(&host, &start(), None)?;
    let times = sample(
        samples,
        || Ok(world.fork()),
        |mut world| must(matches!(world.call(&spin)?.outcome, Outcome::Faulted(_))),
    )?;
    Ok(row(STOPPED, "<= 50 ms after its deadline", &times, None))
}

/// The recorded shop: reset is a fork, and a call is a call. The reference is Python on two cores: reset by deep copy 45 ms, 22 us a call.
fn retail(host: &PluginHost, folder: &std::path::Path, samples: usize) -> anyhow::Result<Vec<Row>> {
    let recording = tau2::recording(folder)?;
    let world = Scratch::new(host, &start(), Some(&canonical(&recording.world)))?;
    let times = sample(
        samples,
        || Ok(()),
        |()| {
            drop(std::hint::black_box(world.fork()));
            Ok(())
        },
    )?;
    let mut rows = vec![row(RETAIL_RESET, "-", &times, None)];
    let mut times = Vec::new();
    for record in &recording.replays {
        let mut world = world.fork();
        for recorded in &record.calls {
            let made = call(recorded.name.as_str(), recorded.arguments.clone())?;
            let started = std::time::Instant::now();
            world.measure(&made)?;
            times.push(u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX));
        }
    }
    times.sort_unstable();
    rows.push(row(RETAIL_CALL, "-", &times, None));
    Ok(rows)
}
