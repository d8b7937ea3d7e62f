//! What an episode is made of, apart from the environment's instance: state, live tools, consents and the record.

use std::{
    collections::{BTreeMap, BTreeSet},
    sync::Arc,
};

use loopwright_contract::{digest::CallDigest, environment::Turn, fault::HostFault, name::PluginName, tool::ToolCall};
use loopwright_world::{EpisodeState, SeededRandom, World};

use crate::{
    bindings::{skill::SkillPlugin, tool::ToolPlugin, types},
    installed::Installed,
    invoke::Invoked,
    kept_bytes::KeptBytes,
    nested::Nested,
    record::Record,
    store::Live,
    swap::Pins,
};

/// An episode, as it travels from store to store.
pub(crate) struct Core {
    pub(crate) installed: Arc<Installed>,
    /// The verifiers that the episode keeps to; none: those that serve when it is judged.
    pub(crate) pins: Option<Pins>,
    pub(crate) state: EpisodeState,
    /// The named world that the task is set in. Only its own tools are on this phone then.
    pub(crate) world: Option<String>,
    /// The task's seed: each plugin draws from a stream of its own, so that one more draw by one does not shift another's.
    pub(crate) seed: u64,
    pub(crate) streams: BTreeMap<PluginName, SeededRandom>,
    /// What plugins keep for themselves from call to call, where they were granted it.
    pub(crate) kept: BTreeMap<PluginName, KeptBytes>,
    /// Calls within the call that runs.
    pub(crate) nested: Nested,
    /// Live tools, by the plugin's position.
    pub(crate) tools: Vec<Slot<ToolPlugin>>,
    /// Live skills, by the plugin's position.
    pub(crate) skills: Vec<Slot<SkillPlugin>>,
    /// The calls that the environment was asked to run, while it runs them.
    pub(crate) running: Running,
    /// The invocations of the turn that is running.
    pub(crate) invoked: Vec<Invoked>,
    /// What the user confirmed.
    pub(crate) consents: BTreeSet<CallDigest>,
    /// How many calls are open: 1 while the environment runs, 2 while it runs a tool.
    pub(crate) depth: u32,
    pub(crate) record: Record,
    /// What the last tool call logged, where somebody wants to read it.
    pub(crate) log: Option<KeptLog>,
}

/// A call's log, kept beyond its instance.
#[derive(Default)]
pub(crate) struct KeptLog {
    pub(crate) lines: Vec<String>,
    pub(crate) dropped: u64,
}

/// A place for a live instance.
pub(crate) enum Slot<B> {
    /// None is live.
    Empty,
    /// One waits for its next call.
    Idle(Box<Live<B>>),
    /// One is running, somewhere up the stack.
    Busy,
}

/// The calls of a turn while the environment runs them, with the text that it was given.
#[derive(Default)]
pub(crate) struct Running {
    pub(crate) turn: Option<Turn>,
    pub(crate) texts: Vec<String>,
    /// Which calls were invoked already.
    pub(crate) used: Vec<bool>,
}

impl Running {
    /// The call of the turn that this one is to the letter.
    pub(crate) fn given(&self, call: &types::ToolCall) -> Option<&ToolCall> {
        self.matching(call).next().and_then(|position| self.turn.as_ref()?.calls.get(position))
    }

    /// The position of the first call of the turn that this one is to the letter and that was not invoked yet.
    pub(crate) fn unused(&self, call: &types::ToolCall) -> Option<usize> {
        self.matching(call).find(|position| self.used.get(*position) == Some(&false))
    }

    fn matching(&self, call: &types::ToolCall) -> impl Iterator<Item = usize> {
        let calls = self.turn.as_ref().map_or(&[][..], |turn| &turn.calls);
        let same = |(given, text): (&ToolCall, &String)| {
            given.id == *call.id.as_str() && given.tool == *call.tool.as_str() && *text == call.arguments
        };
        calls.iter().zip(&self.texts).enumerate().filter(move |(_, pair)| same(*pair)).map(|(position, _)| position)
    }
}

impl Core {
    /// An episode that begins.
    pub(crate) fn new(installed: Arc<Installed>, state: EpisodeState, seed: u64, record: Record) -> Self {
        let empty = |count| std::iter::repeat_with(|| Slot::Empty).take(count);
        let skills = std::iter::repeat_with(|| Slot::Empty).take(installed.skills.len()).collect();
        Self {
            tools: empty(installed.tools.len()).collect(),
            skills,
            installed,
            pins: None,
            state,
            world: None,
            seed,
            streams: BTreeMap::new(),
            kept: BTreeMap::new(),
            nested: Nested::default(),
            running: Running::default(),
            invoked: Vec::new(),
            consents: BTreeSet::new(),
            depth: 0,
            record,
            log: None,
        }
    }

    /// A second episode in the same state. Instances are not copied: they hold nothing, and are made again when they are called.
    pub(crate) fn fork(&self) -> Self {
        let mut fork = Self::new(Arc::clone(&self.installed), self.state.fork(), self.seed, self.record.clone());
        fork.streams.clone_from(&self.streams);
        fork.kept.clone_from(&self.kept);
        fork.consents.clone_from(&self.consents);
        fork.world.clone_from(&self.world);
        fork.pins.clone_from(&self.pins);
        fork
    }

    /// The state's documents, shared as they are now.
    pub(crate) fn snapshot(&self) -> World {
        self.state.world.fork()
    }

    /// The next number of a plugin's own stream.
    pub(crate) fn random_u64(&mut self, plugin: &PluginName) -> Result<u64, HostFault> {
        if let Some(stream) = self.streams.get_mut(plugin) {
            return Ok(stream.next_u64());
        }
        let mut stream = SeededRandom::new(self.seed, &format!("plugin:{plugin}"))
            .map_err(|error| HostFault::Internal(error.to_string()))?;
        let number = stream.next_u64();
        self.streams.insert(plugin.clone(), stream);
        Ok(number)
    }
}
