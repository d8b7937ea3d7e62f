//! What is done with each guest, and from what came of it to the kind that names it.

use loopwright_contract::environment::Reply;
use loopwright_contract::fault::{Budget, CallFault, GuestFault, HostFault, chain};
use loopwright_engine::{Outcome, PluginHost, Refusal, Scratch};
use loopwright_testkit::guests::hostile::{Attack, HOSTILE, JUDGE, Kind, NEIGHBOUR_TOOLS, Row, WORLD};

use super::arena::{call, check, open, task, turn};
use super::printed;

/// Calls of a guest that is called many times.
const CALLS: usize = 200;
/// Fresh instances of a guest that looks for what an earlier one left.
const INSTANCES: usize = 24;
/// Episodes of an environment that would remember.
const EPISODES: usize = 8;
/// The code of a guest's failure that stands for "the host said: denied"; the guests' texts say so.
const TOLD_DENIED: u16 = 400;
/// The code of a guest that got through.
const TOLD_DONE: u16 = 499;

/// What came of an attack.
#[derive(Debug)]
pub(super) struct Seen {
    pub(super) kind: Kind,
    /// In words, for when it is not what was expected.
    pub(super) detail: String,
}

impl Seen {
    pub(super) fn new(kind: Kind, detail: impl Into<String>) -> Self {
        Self { kind, detail: detail.into() }
    }
}

/// Lets an installed guest do what it does.
pub(super) fn run(host: &PluginHost, row: &Row) -> anyhow::Result<Seen> {
    match row.attack {
        Attack::Install => Ok(Seen::new(Kind::Succeeded, "it was installed")),
        Attack::Call => called(host, 1),
        Attack::Calls => called(host, CALLS),
        Attack::Told => told(host),
        Attack::Shown => printed::shown(host),
        Attack::Planned => printed::planned(host),
        Attack::Fresh => fresh(host),
        Attack::Judged => judged(host, row.name()),
        Attack::Resets => resets(host, row.name()),
        Attack::Judge => judge(host, row.name()),
    }
}

/// Calls it in one episode; every call must end in the same way.
fn called(host: &PluginHost, times: usize) -> anyhow::Result<Seen> {
    let mut episode = open(host, &task(WORLD, &[])?)?;
    let before = episode.state_digest();
    let mut first: Option<Seen> = None;
    for number in 0..times {
        let result = match episode.step(&turn(call(&format!("k{number}"), HOSTILE)?)) {
            Ok(result) => result,
            Err(fault) => return Ok(of_call(&fault)),
        };
        let fault = episode.invocations().first().and_then(|invocation| invocation.fault.as_ref());
        let seen = fault.map_or_else(|| Seen::new(Kind::Succeeded, format!("{:?}", result.feedback)), of_guest);
        if episode.state_digest() != before {
            return Ok(Seen::new(Kind::Succeeded, "a failed call left a write behind"));
        }
        episode.end_turn();
        if first.as_ref().is_some_and(|first| first.kind != seen.kind) {
            return Ok(seen);
        }
        first.get_or_insert(seen);
    }
    Ok(first.unwrap_or_else(|| Seen::new(Kind::Succeeded, "it was not called")))
}

/// The guest says what the host told it.
fn told(host: &PluginHost) -> anyhow::Result<Seen> {
    let mut episode = open(host, &task(WORLD, &[])?)?;
    let before = episode.state_digest();
    let result = match episode.step(&turn(call("k1", HOSTILE)?)) {
        Ok(result) => result,
        Err(fault) => return Ok(of_call(&fault)),
    };
    if episode.state_digest() != before {
        return Ok(Seen::new(Kind::Succeeded, "the write is there"));
    }
    Ok(match result.feedback.first().map(|feedback| &feedback.reply) {
        Some(Reply::Failed(failure)) if failure.code == TOLD_DENIED => Seen::new(Kind::Denied, ""),
        Some(Reply::Failed(failure)) if failure.code == TOLD_DONE => Seen::new(Kind::Succeeded, "it was let through"),
        other => Seen::new(Kind::Contract, format!("told otherwise: {other:?}")),
    })
}

/// A fresh instance for each call.
fn fresh(host: &PluginHost) -> anyhow::Result<Seen> {
    let start = task(WORLD, &[])?.start;
    for number in 0..INSTANCES {
        let made = Scratch::new(host, &start, None)?.call(&call(&format!("k{number}"), HOSTILE)?)?;
        match made.outcome {
            Outcome::Ok(_) => {}
            Outcome::Failed(failure) => {
                return Ok(Seen::new(
                    Kind::Succeeded,
                    format!("instance {number} found a mark: code {}", failure.code),
                ));
            }
            Outcome::Faulted(fault) => return Ok(of_guest(&fault)),
        }
    }
    Ok(Seen::new(Kind::Fresh, ""))
}

/// The agent's call fails, the environment says that it is done, and an honest verifier judges.
fn judged(host: &PluginHost, environment: &str) -> anyhow::Result<Seen> {
    let [_, fails, _] = NEIGHBOUR_TOOLS;
    let mut episode = open(host, &task(environment, &[JUDGE])?)?;
    let result = match episode.step(&turn(call("k1", fails)?)) {
        Ok(result) => result,
        Err(fault) => return Ok(of_call(&fault)),
    };
    if !matches!(result.feedback.first().map(|feedback| &feedback.reply), Some(Reply::Done(_))) {
        return Ok(Seen::new(Kind::Contract, "the environment did not lie"));
    }
    episode.end_turn();
    let steps = u32::try_from(episode.steps().len())?;
    Ok(match episode.judge(0, &check(JUDGE)?, &[steps]) {
        Err(fault) => of_call(&fault),
        Ok(verdicts) if verdicts.iter().any(|judged| judged.verdict.passed()) => {
            Seen::new(Kind::Succeeded, "the verifier believed it")
        }
        Ok(_) => Seen::new(Kind::Recorded, ""),
    })
}

/// Several episodes after each other.
fn resets(host: &PluginHost, environment: &str) -> anyhow::Result<Seen> {
    use loopwright_contract::episode::EpisodeHost as _;
    let [puts, ..] = NEIGHBOUR_TOOLS;
    let ready = host.prepare(&task(environment, &[])?)?;
    for _ in 0..EPISODES {
        let mut episode = ready.open()?;
        if let Err(fault) = episode.reset() {
            return Ok(of_call(&fault));
        }
        if let Err(fault) = episode.step(&turn(call("k1", puts)?)) {
            return Ok(of_call(&fault));
        }
    }
    Ok(Seen::new(Kind::Fresh, ""))
}

/// It judges an episode of the neighbours.
fn judge(host: &PluginHost, verifier: &str) -> anyhow::Result<Seen> {
    let [puts, ..] = NEIGHBOUR_TOOLS;
    let mut episode = open(host, &task(WORLD, &[verifier])?)?;
    episode.step(&turn(call("k1", puts)?))?;
    episode.end_turn();
    Ok(match episode.judge(0, &check(verifier)?, &[1]) {
        Err(fault) => of_call(&fault),
        Ok(verdicts) => Seen::new(Kind::Succeeded, format!("it judged: {verdicts:?}")),
    })
}

/// Why it was not installed.
pub(super) fn of_refusal(refusal: &Refusal) -> Seen {
    match refusal {
        Refusal::Fault { fault, .. } => of_guest(fault),
        Refusal::Taken { .. } => Seen::new(Kind::Taken, chain(refusal)),
        Refusal::Host(fault) => of_host(fault),
        Refusal::Contract { .. } => Seen::new(Kind::Contract, chain(refusal)),
        // Refused, but not for what it did.
        _ => Seen::new(Kind::HostFailed, chain(refusal)),
    }
}

fn of_call(fault: &CallFault) -> Seen {
    match fault {
        CallFault::Guest { fault, .. } => of_guest(fault),
        CallFault::Host(fault) => of_host(fault),
    }
}

pub(super) fn of_guest(fault: &GuestFault) -> Seen {
    let kind = match fault {
        GuestFault::Trapped { .. } => Kind::Trapped,
        GuestFault::Denied { .. } => Kind::Denied,
        GuestFault::Contract { .. } => Kind::Contract,
        GuestFault::Budget { budget, .. } => match budget {
            Budget::Fuel => Kind::Fuel,
            Budget::Memory => Kind::Memory,
            Budget::Tables => Kind::Tables,
            Budget::HostBytes => Kind::HostBytes,
            Budget::Output => Kind::Output,
            Budget::Handles => Kind::Handles,
            Budget::Stack => Kind::Stack,
        },
    };
    Seen::new(kind, fault.to_string())
}

fn of_host(fault: &HostFault) -> Seen {
    match fault {
        HostFault::Deadline { .. } => Seen::new(Kind::Deadline, fault.to_string()),
        _ => Seen::new(Kind::HostFailed, chain(fault)),
    }
}
