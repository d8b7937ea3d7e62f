//! What the tests share: engines, hosts out of guests, and tasks.

pub mod guest;

use std::sync::{Arc, OnceLock};

use loopwright_contract::{
    digest::StateDigest,
    environment::{Actor, Turn, TurnResult},
    episode::{Episode, EpisodeHost as _},
    fault::CallFault,
    name::PluginName,
    task::{Check, Start, Task},
    tool::ToolCall,
};
use loopwright_engine::{
    Allocator, Candidate, EngineConfig, Engines, GrantPolicy, NoWorlds, PluginHost, PoolSize, Ticker, Trust,
};
use serde_json::{Value, json};

use guest::{EnvironmentGuest, ToolGuest};

/// A configuration whose epoch stands still, with pools that many tests beside each other can have.
pub fn config() -> EngineConfig {
    let pool = PoolSize { tools: 96, environments: 32, verifiers: 16, ..PoolSize::default() };
    EngineConfig { ticker: Ticker::Manual, pool, ..EngineConfig::default() }
}

/// Engines that all tests share which do not ask for their own.
pub fn engines() -> Arc<Engines> {
    static ENGINES: OnceLock<Arc<Engines>> = OnceLock::new();
    ENGINES.get_or_init(|| Arc::new(Engines::new(&config()).unwrap())).clone()
}

/// Engines that allocate on demand.
pub fn engines_on_demand() -> Arc<Engines> {
    Arc::new(Engines::new(&EngineConfig { allocator: Allocator::OnDemand, ..config() }).unwrap())
}

pub fn candidate(name: &str, bytes: Vec<u8>) -> Candidate {
    // Compiled in this process, as what the operator built; `compile.rs` is about the others.
    Candidate { trust: Trust::FirstParty, ..Candidate::new(name.parse().unwrap(), bytes) }
}

pub fn tool(guest: &ToolGuest) -> Candidate {
    candidate(&guest.name, guest.build())
}

/// The environment that passes every call on.
pub fn environment() -> Candidate {
    candidate("world", EnvironmentGuest::new("world").build())
}

pub fn host_with(engines: Arc<Engines>, config: EngineConfig, candidates: &[Candidate]) -> PluginHost {
    PluginHost::install(engines, config, &GrantPolicy::trusting(), Arc::new(NoWorlds), candidates).unwrap_or_else(
        |error| {
            panic!("{}", loopwright_contract::fault::chain(&error));
        },
    )
}

pub fn host(candidates: &[Candidate]) -> PluginHost {
    host_with(engines(), config(), candidates)
}

/// Monday, 2026-03-02, 09:00 in Shanghai.
pub fn start() -> Start {
    Start { now_ns: 1_772_413_200_000_000_000, zone: "Asia/Shanghai".into(), seed: 7 }
}

pub fn task(environment: &str) -> Task {
    let value = json!({
        "id": "t", "family": "f", "category": "c", "split": "dev", "lang": "en", "request": "r", "environment": environment,
        "start": start(), "checks": [],
    });
    serde_json::from_value(value).unwrap()
}

pub fn with_check(task: Task, verifier: &str) -> Task {
    Task { checks: vec![check(verifier)], ..task }
}

pub fn check(verifier: &str) -> Check {
    Check { verifier: verifier.parse::<PluginName>().unwrap(), check: json!({}) }
}

pub fn call(id: &str, tool: &str, arguments: Value) -> ToolCall {
    ToolCall { id: id.parse().unwrap(), tool: tool.parse().unwrap(), arguments }
}

pub fn turn(calls: Vec<ToolCall>) -> Turn {
    Turn { actor: Actor::Agent, calls }
}

/// An episode that was reset.
pub fn open(host: &PluginHost, task: &Task) -> Box<dyn Episode> {
    let mut episode = host.prepare(task).unwrap().open().unwrap();
    episode.reset().unwrap();
    episode
}

/// Runs a turn of one call.
pub fn step(episode: &mut dyn Episode, call: ToolCall) -> Result<TurnResult, CallFault> {
    let result = episode.step(&turn(vec![call]))?;
    episode.end_turn();
    Ok(result)
}

/// Everything that an episode shows of itself.
pub fn trace(episode: &dyn Episode) -> (String, String, StateDigest, u64) {
    let steps = serde_json::to_string(episode.steps()).unwrap();
    let invocations = serde_json::to_string(episode.invocations()).unwrap();
    (steps, invocations, episode.state_digest(), episode.now_ns())
}
