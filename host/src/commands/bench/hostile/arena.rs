//! Where guests are let loose: one set of engines, well-behaved neighbours before, beside and after them, and what the process holds.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Barrier};
use std::thread;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use loopwright_contract::environment::{Actor, Turn};
use loopwright_contract::episode::{Episode, EpisodeHost as _};
use loopwright_contract::limits::PluginLimits;
use loopwright_contract::name::{CallId, ToolName};
use loopwright_contract::task::{Check, Start, Task};
use loopwright_contract::tool::ToolCall;
use loopwright_engine::{
    Candidate, EngineConfig, Engines, GrantPolicy, InstallError, NoWorlds, PluginHost, PoolUse, Trust,
};
use loopwright_testkit::guests::hostile::{JUDGE, NEIGHBOUR_TOOLS, Row, WORLD, build, neighbours};
use serde_json::{Value, json};

use super::SLOWNESS;
use super::attack::{self, Seen};
use crate::wire;

/// Episodes of the neighbours in one look at them.
const EPISODES_OF_A_LOOK: usize = 3;

/// Looks whose instances fill a batch of each pool.
const LOOKS_TO_SETTLE: usize = 6;

/// Engines with their neighbours.
pub(super) struct Arena {
    engines: Arc<Engines>,
    config: EngineConfig,
    neighbours: Vec<Candidate>,
    /// The neighbours alone.
    calm: PluginHost,
    /// What they do where nobody disturbs them.
    baseline: String,
}

/// One round.
pub(super) struct Round {
    pub(super) seen: Seen,
    /// From the first contact until the host had its answer.
    pub(super) time: Duration,
    /// What neighbours did differently, and when.
    pub(super) disturbed: Vec<String>,
}

impl Arena {
    /// Starts the engines as a host does: limits, pools and clock are the defaults.
    pub(super) fn new() -> anyhow::Result<Self> {
        let limits = PluginLimits::default();
        let limits = PluginLimits { call_deadline: limits.call_deadline * SLOWNESS, ..limits };
        let config = EngineConfig { compiler: wire::compiler(), limits, ..EngineConfig::default() };
        let engines = Arc::new(Engines::new(&config)?);
        let neighbours = neighbours()?
            .into_iter()
            .map(|(name, bytes)| Ok(Candidate { trust: Trust::FirstParty, ..Candidate::new(name.parse()?, bytes) }))
            .collect::<anyhow::Result<Vec<_>>>()?;
        let calm = install(&engines, &config, &neighbours).context("the well-behaved neighbours are not installed")?;
        let baseline = look(&calm)?;
        Ok(Self { engines, config, neighbours, calm, baseline })
    }

    /// What live instances hold.
    pub(super) fn pool_use(&self) -> Option<PoolUse> {
        self.engines.pool_use()
    }

    /// Runs neighbours until what dropped instances held is given back: the pools do that in batches.
    pub(super) fn settle(&self) -> anyhow::Result<()> {
        (0..LOOKS_TO_SETTLE).try_for_each(|_| look(&self.calm).map(drop))
    }

    /// Installs a guest beside the neighbours, lets it do what it does while other neighbours run on another thread, and looks at all of
    /// them.
    pub(super) fn round(&self, row: &Row) -> anyhow::Result<Round> {
        let mut candidates = self.neighbours.clone();
        // Compiled as a stranger's is: in a process of its own, where this program can start one.
        let trust = if self.config.compiler.0.is_some() { Trust::ThirdParty } else { Trust::FirstParty };
        candidates.push(Candidate { trust, ..Candidate::new(row.name().parse()?, build(row)?) });
        let mut disturbed = Vec::new();
        self.compare("before", &self.calm, &mut disturbed)?;
        let (over, together) = (AtomicBool::new(false), Barrier::new(2));
        let (attacked, beside) = thread::scope(|scope| {
            let beside = scope.spawn(|| -> anyhow::Result<Vec<String>> {
                let mut disturbed = Vec::new();
                together.wait();
                loop {
                    let last = over.load(Ordering::Relaxed);
                    self.compare("beside it", &self.calm, &mut disturbed)?;
                    if last || !disturbed.is_empty() {
                        return Ok(disturbed);
                    }
                }
            });
            together.wait();
            let attacked = self.attack(row, &candidates);
            over.store(true, Ordering::Relaxed);
            (attacked, beside.join())
        });
        let (seen, time, host) = attacked?;
        match beside {
            Ok(beside) => disturbed.extend(beside?),
            Err(_) => disturbed.push("the neighbours' thread ended by a panic".to_owned()),
        }
        self.compare("after", &self.calm, &mut disturbed)?;
        if let Some(host) = host {
            self.compare("after, in the same host", &host, &mut disturbed)?;
        }
        Ok(Round { seen, time, disturbed })
    }

    fn attack(&self, row: &Row, candidates: &[Candidate]) -> anyhow::Result<(Seen, Duration, Option<PluginHost>)> {
        let started = Instant::now();
        match install(&self.engines, &self.config, candidates) {
            Err(error) => Ok((attack::of_refusal(&error.reason), started.elapsed(), None)),
            Ok(host) => {
                // Compiling is no part of what a guest does.
                let started = Instant::now();
                let seen = attack::run(&host, row)?;
                Ok((seen, started.elapsed(), Some(host)))
            }
        }
    }

    fn compare(&self, when: &str, host: &PluginHost, disturbed: &mut Vec<String>) -> anyhow::Result<()> {
        if look(host)? != self.baseline {
            disturbed.push(format!("the neighbours' results differ {when}"));
        }
        Ok(())
    }
}

fn install(
    engines: &Arc<Engines>,
    config: &EngineConfig,
    candidates: &[Candidate],
) -> Result<PluginHost, InstallError> {
    // Nothing is granted beyond what a plugin's own collections are.
    let policy = GrantPolicy::default();
    PluginHost::install(Arc::clone(engines), config.clone(), &policy, Arc::new(NoWorlds), candidates)
}

/// A task on an environment, with the checks of these verifiers.
pub(super) fn task(environment: &str, verifiers: &[&str]) -> anyhow::Result<Task> {
    let checks: Vec<Value> = verifiers.iter().map(|name| json!({"verifier": name, "check": {}})).collect();
    let start = Start { now_ns: 1_772_413_200_000_000_000, zone: "Asia/Shanghai".to_owned(), seed: 1 };
    Ok(serde_json::from_value(json!({
        "id": "hostile", "family": "hostile", "category": "hostile", "split": "test", "lang": "en", "request": "use the tool of the tests",
        "environment": environment, "start": start, "checks": checks,
    }))?)
}

/// A call with an empty object.
pub(super) fn call(id: &str, tool: &str) -> anyhow::Result<ToolCall> {
    Ok(ToolCall { id: CallId::new(id)?, tool: ToolName::new(tool)?, arguments: json!({}) })
}

/// A turn of one call of the agent.
pub(super) fn turn(call: ToolCall) -> Turn {
    Turn { actor: Actor::Agent, calls: vec![call] }
}

/// An episode that has begun.
pub(super) fn open(host: &PluginHost, task: &Task) -> anyhow::Result<Box<dyn Episode>> {
    let mut episode = host.prepare(task)?.open()?;
    episode.reset()?;
    Ok(episode)
}

/// The only check of a task.
pub(super) fn check(verifier: &str) -> anyhow::Result<Check> {
    Ok(Check { verifier: verifier.parse()?, check: json!({}) })
}

/// Everything that shows of some episodes of the neighbours: steps, changes and verdicts.
fn look(host: &PluginHost) -> anyhow::Result<String> {
    let task = task(WORLD, &[JUDGE])?;
    let mut seen = String::new();
    for _ in 0..EPISODES_OF_A_LOOK {
        let mut episode = open(host, &task)?;
        for (position, tool) in NEIGHBOUR_TOOLS.iter().cycle().take(6).enumerate() {
            let result = episode.step(&turn(call(&format!("k{position}"), tool)?))?;
            seen.push_str(&serde_json::to_string(&result.feedback)?);
            seen.push_str(&serde_json::to_string(&episode.changes())?);
            episode.end_turn();
        }
        let verdicts: Vec<_> =
            episode.judge(0, &check(JUDGE)?, &[0, 2, 6])?.into_iter().map(|judged| judged.verdict).collect();
        seen.push_str(&serde_json::to_string(&episode.steps())?);
        seen.push_str(&serde_json::to_string(&verdicts)?);
    }
    Ok(seen)
}

/// Bytes of memory that this process holds.
pub(super) fn resident_bytes() -> Option<u64> {
    crate::commands::bench::measure::resident_bytes()
}
