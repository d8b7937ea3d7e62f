//! Runs one tool call as a transaction, and records it whatever comes of it.

use std::{collections::BTreeMap, mem, sync::Arc};

use loopwright_contract::{
    environment::Actor,
    episode::PluginRecord,
    fault::{Budget, GuestFault, HostFault},
    limits::PluginLimits,
    name::PluginName,
    tool::{AccessRule, Failure, Success, ToolCall},
};
use loopwright_world::{EpisodeSavepoint, SeededRandom, World};

use crate::{
    EngineClass,
    bindings::{Violation, convert::call, tool::ToolPlugin, tools, types},
    config::InstancePolicy,
    core::{Core, KeptLog, Slot},
    deadline::Deadline,
    installed::ToolEntry,
    kept_bytes::KeptBytes,
    limits::Stop,
    nested::Nested,
    store::{Live, Ran},
};

/// Invocations of one turn. An environment that asks for more is denied: each would get fuel of its own.
pub(crate) const INVOCATIONS_PER_TURN_MAX: usize = 256;

/// What became of an invocation.
#[derive(Debug, Clone, PartialEq)]
pub enum Outcome {
    /// It did what was asked.
    Ok(Success),
    /// It refused.
    Failed(Failure),
    /// Its code failed.
    Faulted(GuestFault),
}

/// One invocation, as the host saw it.
#[derive(Clone)]
pub(crate) struct Invoked {
    pub(crate) call: ToolCall,
    pub(crate) by: Actor,
    /// Which call of the turn it was.
    pub(crate) position: Option<usize>,
    /// The plugin that ran, when one did.
    pub(crate) plugin: Option<PluginName>,
    pub(crate) outcome: Outcome,
    pub(crate) fuel: u64,
    /// The world when it began.
    pub(crate) before: World,
    pub(crate) at_ns: u64,
}

/// The answer with the guest's own text of its data, which goes on to the environment as it is.
pub(crate) struct Answer {
    pub(crate) outcome: Outcome,
    pub(crate) data_text: Option<String>,
    pub(crate) fuel: u64,
}

impl Answer {
    fn refused(failure: Failure) -> Self {
        Self { outcome: Outcome::Failed(failure), data_text: None, fuel: 0 }
    }

    fn denied(what: &str) -> Self {
        Self::faulted(GuestFault::Denied { what: what.to_owned() }, 0)
    }

    fn faulted(fault: GuestFault, fuel: u64) -> Self {
        Self { outcome: Outcome::Faulted(fault), data_text: None, fuel }
    }
}

/// An episode that was moved through a call, and what came of it. None: a defect of ours lost it.
pub(crate) type Moved<T> = (Option<Box<Core>>, Result<T, Stop>);

fn internal(what: &str) -> Stop {
    Stop::Host(HostFault::Internal(what.to_owned()))
}

/// What a tool answers.
type ToolResult = Result<types::Success, types::Failure>;

impl Core {
    /// Runs a call that the environment asked for. An error ends the environment: it asked for something that is no call, or the host failed.
    pub(crate) fn invoke(
        mut self: Box<Self>,
        raw: types::ToolCall,
        by: Actor,
        within: &Deadline,
    ) -> Moved<tools::Outcome> {
        let (call, position) = match self.read(raw) {
            Ok(read) => read,
            Err(violation) => {
                return (
                    Some(self),
                    Err(Stop::Guest(GuestFault::Contract { what: format!("tools.invoke: {violation}") })),
                );
            }
        };
        if let Some(used) = position.and_then(|position| self.running.used.get_mut(position)) {
            *used = true;
        }
        // Who asked is the host's to say: only a call of the turn is its actor's, once; everything else is the world's own doing.
        let by = match (position, &self.running.turn) {
            (Some(_), Some(turn)) => turn.actor,
            (None, Some(_)) => Actor::Automation,
            (_, None) => by,
        };
        let (before, at_ns) = (self.snapshot(), self.state.clock.now_ns());
        self.nested = Nested::default();
        let (core, result) = self.run_call(&call, within);
        let (mut core, (plugin, answer)) = match (core, result) {
            (Some(core), Ok(answered)) => (core, answered),
            (core, Err(stop)) => return (core, Err(stop)),
            (None, Ok(_)) => return (None, Err(internal("a tool's call lost its episode"))),
        };
        let outcome = outcome_out(&answer);
        core.invoked.push(Invoked {
            call,
            by,
            position,
            plugin,
            outcome: answer.outcome,
            fuel: answer.fuel.saturating_add(core.nested.fuel),
            before,
            at_ns,
        });
        (Some(core), Ok(outcome))
    }

    /// The call, and its position in the turn where it is one of its calls that was not invoked yet.
    fn read(&self, raw: types::ToolCall) -> Result<(ToolCall, Option<usize>), Violation> {
        let position = self.running.unused(&raw);
        let given = position.and_then(|position| self.running.turn.as_ref()?.calls.get(position));
        match given {
            Some(given) => Ok((given.clone(), position)),
            None => Ok((call::call_in(raw)?, None)),
        }
    }

    /// Finds the tool, checks the arguments and runs it. An error is the host's.
    pub(crate) fn run_call(self: Box<Self>, call: &ToolCall, within: &Deadline) -> Moved<(Option<PluginName>, Answer)> {
        let installed = Arc::clone(&self.installed);
        let entry = installed.tool(call.tool.as_str()).filter(|entry| installed.is_of(entry, self.world.as_deref()));
        let Some(entry) = entry else {
            let failure = Failure::new(404, format!("no tool `{}` is installed", call.tool));
            return (Some(self), Ok((None, Answer::refused(failure))));
        };
        if let Err(failure) = entry.check_arguments(&call.arguments) {
            return (Some(self), Ok((None, Answer::refused(failure))));
        }
        if self.invoked.len() >= INVOCATIONS_PER_TURN_MAX {
            return (Some(self), Ok((None, Answer::denied("more than 256 invocations in one turn"))));
        }
        let Some(tool) = installed.tools.get(entry.plugin) else {
            return (Some(self), Err(internal("a tool's plugin is gone")));
        };
        let plugin = Some(tool.plugin.record.name.clone());
        if self.depth >= tool.plugin.limits.depth {
            return (Some(self), Ok((plugin, Answer::denied("depth"))));
        }
        let (core, answer) = self.run_tool(entry, call, within);
        (core, answer.map(|answer| (plugin, answer)))
    }

    /// Takes the plugin's instance out of its place, or makes one.
    fn take_tool(&mut self, position: usize, deadline: &Deadline) -> Result<Box<Live<ToolPlugin>>, Taken> {
        let slot = self.tools.get_mut(position).ok_or_else(|| Taken::Stopped(internal("a tool's place is gone")))?;
        match mem::replace(slot, Slot::Busy) {
            Slot::Idle(live) => return Ok(live),
            Slot::Busy => return Err(Taken::Busy),
            Slot::Empty => {}
        }
        let made = self.installed.tools.get(position).map(|tool| {
            let engine = self.installed.engines.engine(EngineClass::Tool);
            Live::new(engine, Arc::clone(&tool.plugin), deadline.clone(), |store| tool.pre.instantiate(store))
        });
        match made {
            Some(Ok(live)) => Ok(Box::new(live)),
            Some(Err(stop)) => {
                self.put_tool(position, Slot::Empty);
                Err(Taken::Stopped(stop))
            }
            None => Err(Taken::Stopped(internal("a tool's plugin is gone"))),
        }
    }

    fn put_tool(&mut self, position: usize, slot: Slot<ToolPlugin>) {
        if let Some(place) = self.tools.get_mut(position) {
            *place = slot;
        }
    }

    /// Notes what the call needs, for those that it will make itself, and hands back what was noted of the call around it.
    fn needs(&mut self, plugin: &PluginRecord, call: &ToolCall) -> Option<AccessRule> {
        // A plugin that calls nobody never asks.
        let rule = || self.installed.find(call.tool.as_str())?.0.spec.access_rule(&call.arguments).cloned();
        let own = if plugin.grant.call.is_empty() { None } else { rule() };
        mem::replace(&mut self.nested.needs, own)
    }

    fn run_tool(mut self: Box<Self>, entry: &ToolEntry, call: &ToolCall, within: &Deadline) -> Moved<Answer> {
        let installed = Arc::clone(&self.installed);
        let Some(tool) = installed.tools.get(entry.plugin) else {
            return (Some(self), Err(internal("a tool's plugin is gone")));
        };
        let (name, limits) = (&tool.plugin.record.name, &tool.plugin.limits);
        let span = tracing::debug_span!("tool", plugin = %name, tool = %call.tool, call = %call.id, step = self.record.steps.len() + self.invoked.len());
        let _entered = span.enter();
        let deadline = within.nested(limits.call_deadline);
        let mut live = match self.take_tool(entry.plugin, &deadline) {
            Ok(live) => live,
            Err(Taken::Busy) => return (Some(self), Ok(Answer::denied("busy"))),
            Err(Taken::Stopped(Stop::Guest(fault))) => {
                return (Some(self), Ok(Answer::faulted(fault, limits.instantiate_fuel)));
            }
            Err(Taken::Stopped(stop)) => return (Some(self), Err(stop)),
        };
        let transaction = match Transaction::begin(&mut self, &tool.plugin.record) {
            Ok(transaction) => transaction,
            Err(fault) => return (Some(self), Err(Stop::Host(fault))),
        };
        let outer_needs = self.needs(&tool.plugin.record, call);
        self.depth += 1;
        let given = call::call_out(call);
        let Ran { core, result, fuel } =
            live.run(Some(self), deadline, |bindings, store| bindings.loopwright_afv_tool().call_call(store, &given));
        let Some(mut core) = core else { return (None, Err(internal("a tool's call lost its episode"))) };
        core.depth -= 1;
        core.nested.needs = outer_needs;
        let answer = result.map(|answer| check_answer(entry, limits, answer, fuel)).or_else(|stop| match stop {
            Stop::Guest(fault) => Ok(Answer::faulted(fault, fuel)),
            Stop::Host(fault) => Err(Stop::Host(fault)),
        });
        if let Some(log) = &mut core.log {
            *log = KeptLog { lines: live.log().lines().map(str::to_owned).collect(), dropped: live.log().dropped() };
        }
        let keep = matches!(&answer, Ok(answer) if !matches!(answer.outcome, Outcome::Faulted(_)));
        if !keep {
            report_fault(&answer, &live);
        }
        let slot =
            if keep && installed.config.instances == InstancePolicy::Keep { Slot::Idle(live) } else { Slot::Empty };
        core.put_tool(entry.plugin, slot);
        let done = matches!(&answer, Ok(Answer { outcome: Outcome::Ok(_), .. }));
        match transaction.end(&mut core, done) {
            Ok(()) => (Some(core), answer),
            Err(fault) => (Some(core), Err(Stop::Host(fault))),
        }
    }
}

/// Why there is no instance to call.
enum Taken {
    Busy,
    Stopped(Stop),
}

/// An open call: what to go back to when it fails.
struct Transaction {
    savepoint: EpisodeSavepoint,
    plugin: PluginName,
    own: Own,
    /// Of every plugin, where the one that is called may call them.
    all: Option<BTreeMap<PluginName, Own>>,
}

/// What a plugin has of its own in an episode.
#[derive(Clone, Default)]
struct Own {
    stream: Option<SeededRandom>,
    kept: Option<KeptBytes>,
}

impl Transaction {
    fn begin(core: &mut Core, plugin: &PluginRecord) -> Result<Self, HostFault> {
        let savepoint =
            core.state.begin().map_err(|error| HostFault::Internal(format!("cannot begin a call: {error}")))?;
        let of =
            |name: &PluginName| Own { stream: core.streams.get(name).cloned(), kept: core.kept.get(name).cloned() };
        let everyone = || core.streams.keys().chain(core.kept.keys()).map(|name| (name.clone(), of(name))).collect();
        let all = (!plugin.grant.call.is_empty()).then(everyone);
        Ok(Self { savepoint, own: of(&plugin.name), plugin: plugin.name.clone(), all })
    }

    fn end(self, core: &mut Core, keep: bool) -> Result<(), HostFault> {
        let ended = if keep {
            core.state.commit(self.savepoint)
        } else {
            if let Some(all) = self.all {
                core.streams.clear();
                core.kept.clear();
                all.into_iter().for_each(|(plugin, own)| own.put_back(core, &plugin));
            }
            self.own.put_back(core, &self.plugin);
            core.state.rollback(self.savepoint)
        };
        ended.map_err(|error| HostFault::Internal(format!("cannot end a call: {error}")))
    }
}

impl Own {
    fn put_back(self, core: &mut Core, plugin: &PluginName) {
        put_back(&mut core.streams, plugin, self.stream);
        put_back(&mut core.kept, plugin, self.kept);
    }
}

fn put_back<T>(all: &mut BTreeMap<PluginName, T>, plugin: &PluginName, was: Option<T>) {
    match was {
        Some(was) => all.insert(plugin.clone(), was),
        None => all.remove(plugin),
    };
}

/// Whether what a tool answered is what the contract and its own spec say.
fn check_answer(entry: &ToolEntry, limits: &PluginLimits, answer: ToolResult, fuel: u64) -> Answer {
    let (bytes, read) = match answer {
        Ok(success) => {
            let text = success.data.clone();
            let bytes = success.message.len() + text.len();
            (
                bytes,
                call::success_in(success).map(|success| Answer {
                    outcome: Outcome::Ok(success),
                    data_text: Some(text),
                    fuel,
                }),
            )
        }
        Err(failure) => {
            let text = failure.data.clone();
            let bytes = failure.message.len() + text.as_deref().map_or(0, str::len);
            (
                bytes,
                call::failure_in(failure).map(|failure| Answer {
                    outcome: Outcome::Failed(failure),
                    data_text: text,
                    fuel,
                }),
            )
        }
    };
    if bytes > limits.output_bytes {
        return Answer::faulted(GuestFault::Budget { budget: Budget::Output, limit: limits.output_bytes as u64 }, fuel);
    }
    let answer = match read {
        Ok(answer) => answer,
        Err(violation) => {
            return Answer::faulted(
                GuestFault::Contract { what: format!("call of `{}`: {violation}", entry.name()) },
                fuel,
            );
        }
    };
    match &answer.outcome {
        Outcome::Ok(success) => match entry.check_result(&success.data) {
            Ok(()) => answer,
            Err(what) => Answer::faulted(GuestFault::Contract { what }, fuel),
        },
        Outcome::Failed(_) | Outcome::Faulted(_) => answer,
    }
}

fn outcome_out(answer: &Answer) -> tools::Outcome {
    use tools::Outcome as Wit;
    match &answer.outcome {
        Outcome::Ok(success) => {
            let data = answer.data_text.clone().unwrap_or_else(|| "null".to_owned());
            Wit::Ok(types::Success { message: success.message.clone(), data })
        }
        Outcome::Failed(failure) => {
            let data =
                answer.data_text.clone().or_else(|| failure.data.as_ref().map(loopwright_contract::json::canonical));
            Wit::Failed(types::Failure { code: failure.code, message: failure.message.clone(), data })
        }
        Outcome::Faulted(fault) => Wit::Faulted(call::fault_out(fault)),
    }
}

fn report_fault(answer: &Result<Answer, Stop>, live: &Live<ToolPlugin>) {
    let reason = match answer {
        Ok(Answer { outcome: Outcome::Faulted(fault), .. }) => fault.to_string(),
        Ok(_) => return,
        Err(Stop::Guest(fault)) => fault.to_string(),
        Err(Stop::Host(fault)) => fault.to_string(),
    };
    tracing::info!(
        reason,
        memory_bytes = live.memory_bytes(),
        log_dropped = live.log().dropped(),
        last = live.log().lines().last().unwrap_or_default(),
        "the plugin failed; its instance is dropped"
    );
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;
    use crate::{
        Candidate, EngineConfig, Engines, GrantPolicy, NoWorlds, PluginHost, Scratch, Ticker, testing::guest::idle_tool,
    };

    fn host(config: EngineConfig) -> PluginHost {
        let engines =
            Arc::new(Engines::new(&EngineConfig { allocator: crate::Allocator::OnDemand, ..config.clone() }).unwrap());
        let candidates = ["one", "two"].map(|name| Candidate {
            trust: crate::Trust::FirstParty,
            ..Candidate::new(name.parse().unwrap(), idle_tool(name).build())
        });
        PluginHost::install(engines, config, &GrantPolicy::default(), Arc::new(NoWorlds), &candidates).unwrap()
    }

    fn scratch(config: EngineConfig) -> Scratch {
        let start = loopwright_contract::task::Start { now_ns: 1, zone: "UTC".into(), seed: 1 };
        Scratch::new(&host(EngineConfig { ticker: Ticker::Manual, ..config }), &start, None).unwrap()
    }

    fn outcome(scratch: &mut Scratch, tool: &str) -> Outcome {
        let call = ToolCall { id: "c".parse().unwrap(), tool: tool.parse().unwrap(), arguments: json!({}) };
        scratch.call(&call).unwrap().outcome
    }

    #[test]
    fn a_running_instance_answers_busy_and_stays_running() {
        let mut scratch = scratch(EngineConfig::default());
        scratch.core_mut().tools[0] = Slot::Busy;
        for _ in 0..2 {
            assert_eq!(outcome(&mut scratch, "one"), Outcome::Faulted(GuestFault::Denied { what: "busy".into() }));
        }
        assert!(matches!(scratch.core_mut().tools[0], Slot::Busy));
        assert!(matches!(outcome(&mut scratch, "two"), Outcome::Ok(_)));
    }

    #[test]
    fn calls_nest_no_deeper_than_the_limit() {
        let mut scratch = scratch(EngineConfig::default());
        scratch.depth = 3;
        assert!(matches!(outcome(&mut scratch, "one"), Outcome::Ok(_)));
        scratch.depth = 4;
        assert_eq!(outcome(&mut scratch, "one"), Outcome::Faulted(GuestFault::Denied { what: "depth".into() }));
    }

    #[test]
    fn an_instance_is_kept_or_dropped_by_policy() {
        for (instances, kept) in [(InstancePolicy::Keep, true), (InstancePolicy::DropAfterCall, false)] {
            let mut scratch = scratch(EngineConfig { instances, ..EngineConfig::default() });
            outcome(&mut scratch, "one");
            assert_eq!(matches!(scratch.core_mut().tools[0], Slot::Idle(_)), kept);
        }
    }
}
