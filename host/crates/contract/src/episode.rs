//! The engine port: what runs an episode's plugins. The harness knows these traits and no engine.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use crate::digest::{ContentDigest, StateDigest};
use crate::environment::{Observation, Reply, Turn, TurnResult};
use crate::evidence::{Change, Deed, Step};
use crate::fault::{CallFault, GuestFault};
use crate::memory::{MemoryRecord, MemorySnapshot, MemoryWrite};
use crate::name::{Lang, PluginName, SkillName, ToolName};
use crate::skill::{Advice, SkillCard};
use crate::task::{Check, Task};
use crate::tool::{Grant, InstalledTool, ToolCall};
use crate::verdict::JudgedCheck;

/// What a plugin is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PluginKind {
    /// Tools of one app.
    Tool,
    /// The rules of a world.
    Environment,
    /// Judges.
    Verifier,
    /// Advises.
    Skill,
}

/// An installed plugin, as records name it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginRecord {
    /// Its name.
    pub name: PluginName,
    /// Its version.
    pub version: String,
    /// What it is.
    pub kind: PluginKind,
    /// Of the component.
    pub digest: ContentDigest,
    /// What it may touch.
    pub grant: Grant,
    /// The named world that it belongs to; none: to every task that names none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub world: Option<String>,
}

/// A document store's whole content, named by its digest: canonical JSON text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StoredWorld {
    /// Of the content.
    pub digest: StateDigest,
    /// Canonical JSON; `EpisodeHost::restore` reads it back.
    pub text: String,
}

/// All that is installed, and what opens episodes on it.
pub trait EpisodeHost: Send + Sync {
    /// Every plugin, sorted by kind and name.
    fn plugins(&self) -> &[PluginRecord];

    /// The same as they judge now: of a verifier that was swapped the component that serves, or the one that this host is pinned to. The default is
    /// for hosts that cannot swap.
    fn serving(&self) -> Vec<PluginRecord> {
        self.plugins().to_vec()
    }

    /// Every tool, sorted by name.
    fn tools(&self) -> &[InstalledTool];

    /// Every skill component's card, sorted by name.
    fn skills(&self) -> &[SkillCard];

    /// What the machine code depends on: engine version, settings and WIT version.
    fn fingerprint(&self) -> &str;

    /// Builds the world that a task begins in and, where it has gold, replays the gold once for the target. A host may keep what
    /// it prepared and hand it out again for an equal task: episodes are opened from it by the thousand.
    ///
    /// # Errors
    /// [`CallFault`] when the task's documents are not acceptable, the gold does not run, or a plugin is missing or fails.
    fn prepare(&self, task: &Task) -> Result<Arc<dyn PreparedTask>, CallFault>;

    /// The same with a user's memory laid over the task's world, record by record.
    ///
    /// # Errors
    /// As [`prepare`](Self::prepare), and when a record is not acceptable.
    fn prepare_with(&self, task: &Task, memory: &MemorySnapshot) -> Result<Arc<dyn PreparedTask>, CallFault>;

    /// The same from stored worlds, for trajectories whose pack is gone.
    ///
    /// # Errors
    /// [`CallFault`] when a world does not have its digest or a plugin is missing.
    fn restore(
        &self,
        task: &Task,
        initial: &StoredWorld,
        target: Option<&StoredWorld>,
    ) -> Result<Arc<dyn PreparedTask>, CallFault>;
}

/// A task whose world is ready.
pub trait PreparedTask: Send + Sync {
    /// The world before reset, to be stored beside a trajectory.
    fn initial(&self) -> StoredWorld;

    /// The world that the gold leads to.
    fn target(&self) -> Option<StoredWorld>;

    /// The digest of [`initial`](Self::initial), without its text.
    fn initial_digest(&self) -> StateDigest;

    /// The digest of [`target`](Self::target), without its text.
    fn target_digest(&self) -> Option<StateDigest>;

    /// Opens an episode: fresh clock, random streams and ids on the prepared world.
    ///
    /// # Errors
    /// [`CallFault`] when the environment cannot be instantiated.
    fn open(&self) -> Result<Box<dyn Episode>, CallFault>;

    /// The same with other noise: the world's random streams are those of `world_seed` in place of the task's own seed. Documents, clock and
    /// ids are the same.
    ///
    /// # Errors
    /// As [`open`](Self::open).
    fn open_with(&self, world_seed: u64) -> Result<Box<dyn Episode>, CallFault>;
}

/// How the host itself saw one call go.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Invocation {
    /// The plugin that ran, when one did.
    pub plugin: Option<PluginName>,
    /// How it failed, when it did.
    pub fault: Option<GuestFault>,
    /// Fuel that it spent; the whole budget after a trap. Not part of a record: a plugin's first call in an instance pays for what later
    /// ones find ready, and instances come and go without changing a byte.
    #[serde(skip)]
    pub fuel: u64,
}

/// One live episode.
pub trait Episode: Send {
    /// Runs the environment's reset. Once, first.
    ///
    /// # Errors
    /// [`CallFault`]: the episode is void.
    fn reset(&mut self) -> Result<Observation, CallFault>;

    /// Runs one turn and records its steps.
    ///
    /// # Errors
    /// [`CallFault`] of the environment or the host: the episode is void. A tool's fault is feedback.
    fn step(&mut self, turn: &Turn) -> Result<TurnResult, CallFault>;

    /// Records a step that is no call, as part of the current turn.
    fn record(&mut self, deed: Deed, ok: bool, answer: serde_json::Value);

    /// Closes the current turn: the clock moves by its fixed amount.
    fn end_turn(&mut self);

    /// Keeps the user's consent to exactly this tool with exactly these arguments.
    fn confirm(&mut self, call: &ToolCall);

    /// The records of the episode's memory, sorted by id.
    ///
    /// # Errors
    /// [`CallFault`] when a document of the memory is no record: the episode is void.
    fn memory(&self) -> Result<Vec<MemoryRecord>, CallFault>;

    /// Runs one write on the episode's memory as part of the current turn, as a transaction. It is not recorded as a step. A removal runs
    /// once the user has confirmed it as [`MemoryWrite::removal`].
    ///
    /// # Errors
    /// [`CallFault`] of the host: the episode is void. What the planner did wrong is in the reply.
    fn write_memory(&mut self, write: &MemoryWrite) -> Result<Reply, CallFault>;

    /// Fires what of the memory has become due, and returns it. Before the first step that makes it part of the state that the episode begins
    /// in.
    ///
    /// # Errors
    /// As [`write_memory`](Self::write_memory).
    fn remind(&mut self) -> Result<Vec<MemoryRecord>, CallFault>;

    /// The guidance of a skill component for the offered tools.
    ///
    /// # Errors
    /// [`CallFault`] of the skill: the planner is told that it could not be loaded.
    fn skill_guidance(&mut self, skill: &SkillName, offered: &[ToolName], lang: &Lang) -> Result<String, CallFault>;

    /// What a loaded skill component says of a call.
    ///
    /// # Errors
    /// [`CallFault`] of the skill: the call runs, and the fault is recorded.
    fn skill_check(&mut self, skill: &SkillName, call: &ToolCall) -> Result<Advice, CallFault>;

    /// Judges the episode so far: check number `index`, the prefixes in `upto` (step counts, ascending).
    ///
    /// # Errors
    /// [`CallFault`] of the verifier: the episode is void.
    fn judge(&mut self, index: u32, check: &Check, upto: &[u32]) -> Result<Vec<JudgedCheck>, CallFault>;

    /// A second episode in the same state, which goes its own way from here.
    ///
    /// # Errors
    /// [`CallFault`] when the environment is stateful and cannot be forked.
    fn fork(&self) -> Result<Box<dyn Episode>, CallFault>;

    /// All steps so far.
    fn steps(&self) -> &[Step];

    /// How the host saw the calls of the last turn, in the order of its steps.
    fn invocations(&self) -> &[Invocation];

    /// The documents that the last turn changed, bookkeeping included.
    fn changes(&self) -> Vec<Change>;

    /// The digest of the state.
    fn state_digest(&self) -> StateDigest;

    /// Nanoseconds since 1970 on the episode's clock.
    fn now_ns(&self) -> u64;

    /// The phone's time as ISO 8601 with offset and zone.
    fn now_text(&self) -> String;
}
