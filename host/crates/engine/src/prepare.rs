//! A task's world, made once: installed collections or a named world, the task's edits, and the target that its gold leads to.

use std::sync::{Arc, OnceLock};

use loopwright_contract::{
    action::Action,
    digest::StateDigest,
    environment::{Actor, Turn},
    episode::{Episode, PreparedTask, StoredWorld},
    fault::{CallFault, HostFault},
    limits::CALLS_PER_TURN_MAX,
    memory::{MemorySnapshot, MemoryWrite},
    name::CallId,
    state::StateError,
    task::{DocumentEdit, Task, UserScript},
    tool::ToolCall,
};
use loopwright_world::{Clock, EpisodeState, World};

use crate::{
    core::Core,
    episode::LiveEpisode,
    installed::{Installed, position},
    memory,
    record::{Record, Target},
    stored::{self, Documents},
    swap::Pins,
};

/// A task whose world is ready.
pub(crate) struct Prepared {
    pub(crate) installed: Arc<Installed>,
    pub(crate) task: Arc<Task>,
    /// The position of its environment.
    pub(crate) environment: usize,
    /// What every episode begins from.
    state: EpisodeState,
    target: Option<Arc<Target>>,
    /// Of the whole content of the world and of the target's, made when the first trajectory asks.
    digests: OnceLock<(StateDigest, Option<StateDigest>)>,
}

impl Prepared {
    /// Builds the world and, where there is gold, the target.
    pub(crate) fn new(
        installed: &Arc<Installed>,
        task: &Task,
        snapshot: Option<&MemorySnapshot>,
    ) -> Result<Self, CallFault> {
        let mut world = match &task.world {
            None => installed.base.fork(),
            Some(name) => installed.named_world(name)?,
        };
        edit(&mut world, task)?;
        if let Some(snapshot) = snapshot {
            memory::lay_in(&mut world, snapshot)?;
        }
        let mut prepared = Self::begin(installed, task, world)?;
        if !task.gold.is_empty() {
            prepared.target = Some(Arc::new(prepared.replay_gold()?));
        }
        Ok(prepared)
    }

    /// The same from stored worlds, without replaying anything.
    pub(crate) fn restore(
        installed: &Arc<Installed>,
        task: &Task,
        initial: &StoredWorld,
        target: Option<&StoredWorld>,
    ) -> Result<Self, CallFault> {
        let mut world = installed.empty.fork();
        Documents::parse(&initial.text, "stored initial world")?.fill(&mut world, "stored initial world")?;
        check_digest(&world, initial, "initial")?;
        let mut prepared = Self::begin(installed, task, world)?;
        if let Some(target) = target {
            let documents = Documents::parse(&target.text, "stored target world")?;
            let mut world = prepared.state.world.fork();
            documents.lay_over(&mut world, "stored target world")?;
            check_digest(&world, target, "target")?;
            prepared.target = Some(Arc::new(Target { world, ids: documents.ids(&prepared.state.ids)? }));
        }
        Ok(prepared)
    }

    fn begin(installed: &Arc<Installed>, task: &Task, mut world: World) -> Result<Self, CallFault> {
        memory::records(&world).map_err(|error| HostFault::Setup(format!("task `{}`: {error}", task.id)))?;
        world.seal().map_err(|error| internal(&error))?;
        let clock = Clock::new(task.start.now_ns, &task.start.zone)
            .map_err(|error| HostFault::Setup(format!("task `{}`: {error}", task.id)))?;
        let state = EpisodeState::new(world, clock, task.start.seed).map_err(|error| internal(&error))?;
        let environment = position(&installed.environments, &task.environment, "environment")?;
        for check in &task.checks {
            installed.serving(&check.verifier)?;
        }
        let (installed, task) = (Arc::clone(installed), Arc::new(task.clone()));
        Ok(Self { installed, task, environment, state, target: None, digests: OnceLock::new() })
    }

    fn digests(&self) -> (StateDigest, Option<StateDigest>) {
        let target = || self.target.as_ref().map(|target| target.world.full_digest());
        *self.digests.get_or_init(|| (self.state.world.full_digest(), target()))
    }

    /// The beginning of an episode; its random streams are of `world_seed`, or of the task's own seed.
    pub(crate) fn core(&self, world_seed: Option<u64>) -> Result<Core, HostFault> {
        let record = Record::new(self.state.world.fork(), self.target.clone());
        let (mut state, mut seed) = (self.state.fork(), self.task.start.seed);
        if let Some(world_seed) = world_seed {
            state.reseed(world_seed).map_err(|error| internal(&error))?;
            seed = world_seed;
        }
        let mut core = Core::new(Arc::clone(&self.installed), state, seed, record);
        core.world.clone_from(&self.task.world);
        Ok(core)
    }

    /// Runs the gold on an episode of its own: calls and writes of the memory only, one turn for each decision, so that time passes as it does
    /// for an agent, and what becomes due fires as it does for one.
    fn replay_gold(&self) -> Result<Target, CallFault> {
        let span = tracing::debug_span!("gold", task = %self.task.id);
        let _entered = span.enter();
        let mut episode = LiveEpisode::open(self, None)?;
        episode.reset()?;
        episode.remind()?;
        let waits = pending(&self.task.gold);
        for (turn, decision) in self.task.gold.iter().enumerate() {
            if turn > 0 {
                episode.remind()?;
            }
            confirm(&mut episode, &self.task, decision, &waits);
            let calls: Vec<ToolCall> = decision.iter().filter_map(call_of).cloned().collect();
            for calls in calls.chunks(CALLS_PER_TURN_MAX) {
                episode.step(&Turn { actor: Actor::Agent, calls: calls.to_vec() })?;
            }
            for write in decision.iter().filter_map(MemoryWrite::of) {
                episode.write_memory(&write)?;
            }
            episode.end_turn();
        }
        let state = episode.into_state()?;
        Ok(Target { world: state.world, ids: state.ids })
    }
}

fn call_of(action: &Action) -> Option<&ToolCall> {
    match action {
        Action::Call(call) => Some(call),
        _ => None,
    }
}

/// The calls that gold asks the user about after they were held back.
fn pending(gold: &[Vec<Action>]) -> Vec<CallId> {
    let asks = gold.iter().flatten().filter_map(|action| match action {
        Action::Ask { pending, .. } => pending.clone(),
        _ => None,
    });
    asks.collect()
}

/// Gives the user's consent where the script has it: when gold asks for it, or before the call where gold never asks.
fn confirm(episode: &mut LiveEpisode, task: &Task, decision: &[Action], waits: &[CallId]) {
    let script = &task.user;
    for action in decision {
        match action {
            Action::Ask { pending: Some(id), .. } => {
                let asked = task.gold.iter().flatten().filter_map(Action::confirmable).find(|call| call.id == *id);
                if let Some(call) = asked.filter(|call| consents(script, call)) {
                    episode.confirm(&call);
                }
            }
            action => {
                let call = action.confirmable().filter(|call| !waits.contains(&call.id) && consents(script, call));
                if let Some(call) = call {
                    episode.confirm(&call);
                }
            }
        }
    }
}

fn consents(script: &UserScript, call: &ToolCall) -> bool {
    let same = |arguments: &serde_json::Value| *arguments == call.arguments;
    script.consents.iter().any(|consent| consent.tool == call.tool && consent.arguments.as_ref().is_none_or(same))
}

fn internal(error: &StateError) -> HostFault {
    HostFault::Internal(format!("preparing a world: {error}"))
}

fn edit(world: &mut World, task: &Task) -> Result<(), HostFault> {
    for (position, edit) in task.edits.iter().enumerate() {
        let done = match edit {
            DocumentEdit::Put { collection, key, value } => world.put_value(collection, key, value),
            DocumentEdit::Patch { collection, key, value } => world.patch(collection, key, &value.to_string()),
            DocumentEdit::Delete { collection, key } => world.delete(collection, key).map(drop),
        };
        done.map_err(|error| {
            let (DocumentEdit::Put { collection, key, .. }
            | DocumentEdit::Patch { collection, key, .. }
            | DocumentEdit::Delete { collection, key }) = edit;
            HostFault::Setup(format!(
                "task `{}`: edit {position} of `{collection}`, document `{key}`: {error}",
                task.id
            ))
        })?;
    }
    Ok(())
}

fn check_digest(world: &World, stored: &StoredWorld, which: &str) -> Result<(), HostFault> {
    let found = world.full_digest();
    if found == stored.digest {
        return Ok(());
    }
    Err(HostFault::Setup(format!("stored {which} world: expected {}, found {found}", stored.digest)))
}

/// What the engine hands out: prepared tasks are shared by the episodes that are opened from them.
pub(crate) struct Shared {
    pub(crate) prepared: Arc<Prepared>,
    /// The verifiers that its episodes keep to.
    pub(crate) pins: Option<Pins>,
}

impl PreparedTask for Shared {
    fn initial(&self) -> StoredWorld {
        stored::store(&self.prepared.state.world, None)
    }

    fn target(&self) -> Option<StoredWorld> {
        self.prepared.target.as_ref().map(|target| stored::store(&target.world, Some(&target.ids)))
    }

    fn initial_digest(&self) -> StateDigest {
        self.prepared.digests().0
    }

    fn target_digest(&self) -> Option<StateDigest> {
        self.prepared.digests().1
    }

    fn open(&self) -> Result<Box<dyn Episode>, CallFault> {
        self.open_on(None)
    }

    fn open_with(&self, world_seed: u64) -> Result<Box<dyn Episode>, CallFault> {
        self.open_on(Some(world_seed))
    }
}

impl Shared {
    fn open_on(&self, world_seed: Option<u64>) -> Result<Box<dyn Episode>, CallFault> {
        let mut episode = LiveEpisode::open(&self.prepared, world_seed)?;
        if let Some(core) = &mut episode.core {
            core.pins.clone_from(&self.pins);
        }
        Ok(Box::new(episode))
    }
}
