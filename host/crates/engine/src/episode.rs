//! One live episode behind the contract's port.

use std::{mem, sync::Arc};

use loopwright_bindings::{
    convert::{
        call::call_out,
        environment::{observation_in, turn_out, turn_result_in},
        skill::{advice_in, guidance_in},
    },
    environment::EnvironmentPlugin,
};
use loopwright_contract::{
    digest::StateDigest,
    environment::{Actor, Observation, Reply, Turn, TurnResult},
    episode::{Episode, Invocation},
    evidence::{Change, Deed, Step},
    fault::{CallFault, GuestFault, HostFault},
    json::canonical,
    limits::CALLS_PER_TURN_MAX,
    memory::{COLLECTION, MemoryRecord, MemoryWrite},
    name::{CallId, Lang, SkillName, ToolName},
    skill::Advice,
    task::{Check, Task},
    tool::ToolCall,
    verdict::JudgedCheck,
};
use loopwright_world::{Bookkeeping, EpisodeState, diff};
use serde_json::Value;
use wasmtime::Store;

use crate::{
    EngineClass,
    bindings::{Violation, environment::EnvironmentPluginPre},
    config::InstancePolicy,
    core::{Core, Running},
    installed::{Installed, Loaded},
    judge,
    limits::Stop,
    memory as episode_memory,
    prepare::Prepared,
    record,
    store::{Live, PluginState, Ran},
};

/// One episode. Its parts move into the store of whichever plugin runs, and come back when it is done.
pub(crate) struct LiveEpisode {
    pub(crate) installed: Arc<Installed>,
    task: Arc<Task>,
    environment: usize,
    /// None only after a defect of ours lost it; every call then fails.
    pub(crate) core: Option<Box<Core>>,
    live: Option<Live<EnvironmentPlugin>>,
    began: bool,
}

impl LiveEpisode {
    /// Opens an episode with a live environment, and with the noise of `world_seed` or of the task's own seed.
    pub(crate) fn open(prepared: &Prepared, world_seed: Option<u64>) -> Result<Self, CallFault> {
        let mut episode = Self {
            installed: Arc::clone(&prepared.installed),
            task: Arc::clone(&prepared.task),
            environment: prepared.environment,
            core: Some(Box::new(prepared.core(world_seed)?)),
            live: None,
            began: false,
        };
        episode.live = Some(episode.instantiate()?);
        Ok(episode)
    }

    /// What the episode came to.
    pub(crate) fn into_state(mut self) -> Result<EpisodeState, CallFault> {
        Ok(self.take_core()?.state)
    }

    pub(crate) fn take_core(&mut self) -> Result<Box<Core>, HostFault> {
        self.core.take().ok_or_else(|| HostFault::Internal("the episode was lost by an earlier fault".into()))
    }

    fn loaded(&self) -> Result<&Loaded<EnvironmentPluginPre<PluginState>>, HostFault> {
        self.installed
            .environments
            .get(self.environment)
            .ok_or_else(|| HostFault::Internal("the environment's place is gone".into()))
    }

    fn instantiate(&self) -> Result<Live<EnvironmentPlugin>, CallFault> {
        let loaded = self.loaded()?;
        let engines = &self.installed.engines;
        let deadline = engines.deadline(loaded.plugin.limits.call_deadline);
        let live = Live::new(engines.engine(EngineClass::Environment), Arc::clone(&loaded.plugin), deadline, |store| {
            loaded.pre.instantiate(store)
        });
        live.map_err(|stop| stop.into_fault(&loaded.plugin.record.name))
    }

    /// Calls the environment. Its fault makes the episode void, and leaves the world as it was.
    fn call_environment<R, T>(
        &mut self,
        call: impl FnOnce(&EnvironmentPlugin, &mut Store<PluginState>) -> wasmtime::Result<R>,
        read: impl FnOnce(R) -> Result<T, GuestFault>,
    ) -> Result<T, CallFault> {
        let plugin = Arc::clone(&self.loaded()?.plugin);
        let mut live = match self.live.take() {
            Some(live) => live,
            None if plugin.stateful => {
                return Err(HostFault::Internal("a stateful environment's instance is gone".into()).into());
            }
            None => self.instantiate()?,
        };
        let mut core = self.take_core()?;
        let savepoint =
            core.state.begin().map_err(|error| HostFault::Internal(format!("cannot begin a turn: {error}")))?;
        core.depth = 1;
        let deadline = self.installed.engines.deadline(plugin.limits.call_deadline);
        let Ran { core, result, .. } = live.run(Some(core), deadline, call);
        let Some(mut core) = core else {
            return Err(HostFault::Internal("the environment's call lost its episode".into()).into());
        };
        core.depth = 0;
        let result = result.and_then(|answer| read(answer).map_err(Stop::Guest));
        let ended = if result.is_ok() { core.state.commit(savepoint) } else { core.state.rollback(savepoint) };
        if result.is_err() {
            core.invoked.clear();
            core.running = Running::default();
            tracing::warn!(plugin = %plugin.record.name, last = live.log().lines().last().unwrap_or_default(), "the environment failed; the episode is void");
        } else if self.installed.config.instances == InstancePolicy::Keep || plugin.stateful {
            self.live = Some(live);
        }
        self.core = Some(core);
        ended.map_err(|error| HostFault::Internal(format!("cannot end a turn: {error}")))?;
        result.map_err(|stop| stop.into_fault(&plugin.record.name))
    }

    fn snapshot_for_turn(&mut self) -> Result<(), HostFault> {
        let core =
            self.core.as_mut().ok_or_else(|| HostFault::Internal("the episode was lost by an earlier fault".into()))?;
        let world = &core.state.world;
        core.record.open_turn(|| world.fork());
        Ok(())
    }

    fn span(&self) -> tracing::Span {
        let step = self.core.as_ref().map_or(0, |core| core.record.steps.len());
        tracing::debug_span!("environment", plugin = %self.task.environment, task = %self.task.id, step)
    }
}

/// What an environment that refuses a whole turn said.
fn refused(function: &str, failure: &loopwright_bindings::afv::types::Failure) -> GuestFault {
    GuestFault::Contract { what: format!("{function} was refused with code {}: {}", failure.code, failure.message) }
}

fn broken(function: &str, violation: &Violation) -> GuestFault {
    GuestFault::Contract { what: format!("{function}: {violation}") }
}

impl Episode for LiveEpisode {
    fn reset(&mut self) -> Result<Observation, CallFault> {
        if mem::replace(&mut self.began, true) {
            return Err(HostFault::Internal("an episode is reset once; open another one".into()).into());
        }
        let _entered = self.span().entered();
        let setup = canonical(&self.task.setup);
        let mut observation = self.call_environment(
            |bindings, store| bindings.loopwright_afv_environment().call_reset(store, &setup),
            |answer| match answer {
                Ok(observation) => observation_in(observation).map_err(|violation| broken("reset", &violation)),
                Err(failure) => Err(refused("reset", &failure)),
            },
        )?;
        if let Some(core) = &mut self.core {
            core.invoked.clear();
            let world = core.snapshot();
            core.record.begin_at(world);
            let all = || core.installed.tools_of(core.world.as_deref()).map(|tool| tool.spec.name.clone()).collect();
            observation.exposed.get_or_insert_with(all);
        }
        Ok(observation)
    }

    fn step(&mut self, turn: &Turn) -> Result<TurnResult, CallFault> {
        if turn.calls.len() > CALLS_PER_TURN_MAX {
            return Err(HostFault::Internal(format!(
                "a turn has at most {CALLS_PER_TURN_MAX} calls, found {}",
                turn.calls.len()
            ))
            .into());
        }
        let _entered = self.span().entered();
        self.snapshot_for_turn()?;
        let given = turn_out(turn);
        if let Some(core) = &mut self.core {
            let texts = given.calls.iter().map(|call| call.arguments.clone()).collect();
            core.running = Running { turn: Some(turn.clone()), texts, used: vec![false; turn.calls.len()] };
        }
        let result = self.call_environment(
            |bindings, store| bindings.loopwright_afv_environment().call_step(store, &given),
            |answer| match answer {
                Ok(result) => turn_result_in(result, turn).map_err(|violation| broken("step", &violation)),
                Err(failure) => Err(refused("step", &failure)),
            },
        )?;
        if let Some(core) = &mut self.core {
            record::record_turn(core, &result);
        }
        Ok(result)
    }

    fn record(&mut self, deed: Deed, ok: bool, answer: Value) {
        if self.snapshot_for_turn().is_err() {
            return;
        }
        if let Some(core) = &mut self.core {
            let (now_ns, after) = (core.state.clock.now_ns(), core.snapshot());
            core.record.push(Actor::Agent, deed, ok, answer, now_ns, after);
        }
    }

    fn end_turn(&mut self) {
        if self.snapshot_for_turn().is_err() {
            return;
        }
        if let Some(core) = &mut self.core {
            core.record.close_turn();
            if let Err(error) = core.state.clock.advance_turn() {
                tracing::warn!(%error, "the clock stands at its end");
            }
        }
    }

    fn confirm(&mut self, call: &ToolCall) {
        if let Some(core) = &mut self.core {
            core.consents.insert(call.digest());
        }
    }

    fn memory(&self) -> Result<Vec<MemoryRecord>, CallFault> {
        let core =
            self.core.as_ref().ok_or_else(|| HostFault::Internal("the episode was lost by an earlier fault".into()))?;
        let records = episode_memory::records(&core.state.world);
        let records = records.map_err(|error| HostFault::Internal(format!("the episode's memory: {error}")))?;
        Ok(records.into_values().collect())
    }

    fn write_memory(&mut self, write: &MemoryWrite) -> Result<Reply, CallFault> {
        self.snapshot_for_turn()?;
        let mut core = self.take_core()?;
        let confirmed = match write {
            MemoryWrite::Remove { memory } => CallId::new("-")
                .and_then(|id| MemoryWrite::removal(id, memory))
                .is_ok_and(|call| core.consents.contains(&call.digest())),
            MemoryWrite::Add(_) | MemoryWrite::Replace { .. } => false,
        };
        let reply = episode_memory::write(&mut core.state, write, confirmed);
        self.core = Some(core);
        reply
    }

    fn remind(&mut self) -> Result<Vec<MemoryRecord>, CallFault> {
        let mut core = self.take_core()?;
        if core.state.world.documents(COLLECTION).is_ok_and(|records| records.is_empty()) {
            self.core = Some(core);
            return Ok(Vec::new());
        }
        let fired = episode_memory::remind(&mut core.state);
        if core.record.turn == 0 && core.record.steps.is_empty() && fired.as_ref().is_ok_and(|fired| !fired.is_empty())
        {
            let world = core.snapshot();
            core.record.begin_at(world);
        }
        self.core = Some(core);
        fired
    }

    fn skill_guidance(&mut self, skill: &SkillName, offered: &[ToolName], lang: &Lang) -> Result<String, CallFault> {
        let offered: Vec<String> = offered.iter().map(|name| name.as_str().to_owned()).collect();
        let lang = lang.as_str().to_owned();
        self.call_skill(
            skill,
            |bindings, store| bindings.loopwright_afv_skill().call_guidance(store, &offered, &lang),
            |guidance| guidance_in(guidance).map_err(|violation| broken("guidance", &violation)),
        )
    }

    fn skill_check(&mut self, skill: &SkillName, call: &ToolCall) -> Result<Advice, CallFault> {
        let given = call_out(call);
        self.call_skill(
            skill,
            |bindings, store| bindings.loopwright_afv_skill().call_check(store, &given),
            |advice| advice_in(advice).map_err(|violation| broken("check", &violation)),
        )
    }

    fn judge(&mut self, index: u32, check: &Check, upto: &[u32]) -> Result<Vec<JudgedCheck>, CallFault> {
        let core = self.take_core()?;
        let (core, judged) = judge::judge(&self.installed, core, index, check, upto);
        self.core = core;
        judged
    }

    fn fork(&self) -> Result<Box<dyn Episode>, CallFault> {
        let plugin = &self.loaded()?.plugin;
        if plugin.stateful {
            let fault = GuestFault::Denied { what: "fork: the environment keeps state in its own memory".into() };
            return Err(CallFault::Guest { plugin: plugin.record.name.clone(), fault });
        }
        let core =
            self.core.as_ref().ok_or_else(|| HostFault::Internal("the episode was lost by an earlier fault".into()))?;
        Ok(Box::new(Self {
            installed: Arc::clone(&self.installed),
            task: Arc::clone(&self.task),
            environment: self.environment,
            core: Some(Box::new(core.fork())),
            live: None,
            began: self.began,
        }))
    }

    fn steps(&self) -> &[Step] {
        self.core.as_ref().map_or(&[], |core| &core.record.steps)
    }

    fn invocations(&self) -> &[Invocation] {
        self.core.as_ref().map_or(&[], |core| &core.record.invocations)
    }

    fn changes(&self) -> Vec<Change> {
        let Some(core) = &self.core else { return Vec::new() };
        let changes = diff(&core.record.turn_start, &core.state.world, Bookkeeping::Include);
        changes.into_iter().map(change_out).collect()
    }

    fn state_digest(&self) -> StateDigest {
        self.core.as_ref().map_or(StateDigest([0; 32]), |core| core.state.digest())
    }

    fn now_ns(&self) -> u64 {
        self.core.as_ref().map_or(0, |core| core.state.clock.now_ns())
    }

    fn now_text(&self) -> String {
        self.core.as_ref().map_or_else(String::new, |core| core.state.clock.zoned().to_string())
    }
}

/// A change as the contract has it.
pub(crate) fn change_out(change: loopwright_world::Change) -> Change {
    let value = |document: Option<loopwright_world::Document>| document.map(|document| document.value().clone());
    Change {
        collection: change.collection,
        key: change.key.to_string(),
        before: value(change.before),
        after: value(change.after),
    }
}
