//! Calls one tool without environment and task: for authors, and for measuring.

use std::sync::Arc;

use loopwright_bindings::{afv::tools, convert::call::call_out};
use loopwright_contract::{
    environment::{Actor, Turn},
    evidence::Change,
    fault::{CallFault, HostFault},
    task::Start,
    tool::ToolCall,
};
use loopwright_world::{Bookkeeping, Clock, EpisodeState, diff};

use crate::{
    PluginHost,
    core::{Core, KeptLog, Running},
    invoke::{Invoked, Outcome},
    limits::Stop,
    record::Record,
    stored::Documents,
};

/// A world of its own on which tools are called. Every limit, grant and transaction holds as in an episode.
pub struct Scratch {
    core: Option<Box<Core>>,
    /// How many calls are open around the next one. One, as if an environment were running.
    pub(crate) depth: u32,
}

/// What a call on a scratch world came to.
#[derive(Debug, Clone, PartialEq)]
pub struct ScratchCall {
    /// The answer.
    pub outcome: Outcome,
    /// What it spent.
    pub fuel: u64,
    /// What it changed.
    pub changes: Vec<Change>,
    /// The last lines that it logged.
    pub log: Vec<String>,
    /// Bytes of log that were dropped before them.
    pub log_dropped: u64,
}

impl Scratch {
    /// A world with the installed plugins' initial documents, or with those of `world` instead: `{collection: {key: document}}`.
    ///
    /// # Errors
    /// [`CallFault`] for a malformed world or zone.
    pub fn new(host: &PluginHost, start: &Start, world: Option<&str>) -> Result<Self, CallFault> {
        let mut documents = match world {
            None => host.installed.base.fork(),
            Some(text) => {
                let mut world = host.installed.empty.fork();
                Documents::parse(text, "world")?.fill(&mut world, "world")?;
                world
            }
        };
        let internal = |error: loopwright_contract::state::StateError| HostFault::Internal(error.to_string());
        documents.seal().map_err(internal)?;
        let clock = Clock::new(start.now_ns, &start.zone).map_err(|error| HostFault::Setup(error.to_string()))?;
        let state = EpisodeState::new(documents, clock, start.seed).map_err(internal)?;
        let record = Record::new(state.world.fork(), None);
        Ok(Self { core: Some(Box::new(Core::new(Arc::clone(&host.installed), state, start.seed, record))), depth: 1 })
    }

    /// Calls a tool.
    ///
    /// # Errors
    /// [`CallFault`] of the host only; what the tool did wrong is an outcome.
    pub fn call(&mut self, call: &ToolCall) -> Result<ScratchCall, CallFault> {
        if let Some(core) = &mut self.core {
            core.log = Some(KeptLog::default());
        }
        let invoked = self.invoke(call)?;
        let log = self.core.as_mut().and_then(|core| core.log.take()).unwrap_or_default();
        let world = self.core.as_ref().map_or_else(|| invoked.before.fork(), |core| core.snapshot());
        let changes =
            diff(&invoked.before, &world, Bookkeeping::Include).into_iter().map(crate::episode::change_out).collect();
        Ok(ScratchCall {
            outcome: invoked.outcome,
            fuel: invoked.fuel,
            changes,
            log: log.lines,
            log_dropped: log.dropped,
        })
    }

    /// Calls a tool through the whole path of an episode's call, and hands nothing back but whether it did what was asked: what `bench` measures.
    ///
    /// # Errors
    /// As [`Scratch::call`].
    pub fn measure(&mut self, call: &ToolCall) -> Result<bool, CallFault> {
        Ok(matches!(self.invoke(call)?.outcome, Outcome::Ok(_)))
    }

    fn invoke(&mut self, call: &ToolCall) -> Result<Invoked, CallFault> {
        let mut core = self
            .core
            .take()
            .ok_or_else(|| HostFault::Internal("the scratch world was lost by an earlier fault".into()))?;
        let given = call_out(call);
        core.running = Running {
            texts: vec![given.arguments.clone()],
            used: vec![false],
            turn: Some(Turn { actor: Actor::User, calls: vec![call.clone()] }),
        };
        core.depth = self.depth;
        core.world = core.installed.world_of(call.tool.as_str());
        let within = core.installed.engines.deadline(std::time::Duration::from_secs(3_600));
        let (core, result): (_, Result<tools::Outcome, Stop>) = core.invoke(given, Actor::User, &within);
        self.core = core;
        let name = call.tool.as_str();
        if let Err(stop) = result {
            return Err(match stop {
                Stop::Host(fault) => fault.into(),
                Stop::Guest(fault) => HostFault::Internal(format!("call of `{name}`: {fault}")).into(),
            });
        }
        let invoked = self.core.as_mut().and_then(|core| core.invoked.pop());
        invoked.ok_or_else(|| HostFault::Internal("a call was not recorded".into()).into())
    }

    /// A second scratch world in the same state.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self { core: self.core.as_ref().map(|core| Box::new(core.fork())), depth: self.depth }
    }

    #[cfg(test)]
    pub(crate) fn core_mut(&mut self) -> &mut Core {
        self.core.as_mut().unwrap()
    }
}
