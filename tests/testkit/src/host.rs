//! A host in memory, without a sandbox.

use std::sync::{Arc, Mutex};

use loopwright_contract::digest::{ContentDigest, StateDigest};
use loopwright_contract::episode::{Episode, EpisodeHost, PluginKind, PluginRecord, PreparedTask, StoredWorld};
use loopwright_contract::fault::{CallFault, HostFault};
use loopwright_contract::json::{JsonLimits, canonical, parse};
use loopwright_contract::memory::{self, MemorySnapshot, MemoryWrite};
use loopwright_contract::name::{Lang, PluginName, SkillName, ToolName};
use loopwright_contract::skill::SkillCard;
use loopwright_contract::task::{DocumentEdit, Task};
use loopwright_contract::tool::{Grant, InstalledTool, Localized};
use serde_json::{Map, Value};

use crate::episode::FakeEpisode;
use crate::tool::{self, Documents, NOTE, WIPE};

/// The environment's name.
pub const ENVIRONMENT: &str = "fake-phone";
/// The verifier that compares documents.
pub const VERIFIER: &str = "fake-state";
/// A verifier that says the opposite of [`VERIFIER`].
pub const CONTRARY: &str = "fake-contrary";
/// A verifier that traps.
pub const TRAPPING: &str = "fake-trap";
/// The skill: it blocks notes named `secret`, warns of notes named `draft`, and exposes [`WIPE`].
pub const SKILL: &str = "note-keeper";
/// A skill whose code always traps.
pub const BROKEN_SKILL: &str = "broken-skill";

/// How a fake host misbehaves. The default does not.
#[derive(Debug, Clone, Copy, Default)]
pub struct Faults {
    /// The environment traps in this turn, from 0.
    pub step_at: Option<u32>,
    /// Preparing a task fails.
    pub prepare: bool,
    /// Reset fails.
    pub reset: bool,
    /// [`WIPE`] is exposed by the environment only after the first turn.
    pub late_wipe: bool,
}

/// A host in memory.
#[derive(Debug, Clone)]
pub struct FakeHost {
    plugins: Vec<PluginRecord>,
    tools: Vec<InstalledTool>,
    skills: Vec<SkillCard>,
    /// How it misbehaves.
    pub faults: Faults,
    /// The seeds of noise that episodes were opened with, in that order. Clones share it.
    pub opened: Arc<Mutex<Vec<u64>>>,
}

impl Default for FakeHost {
    fn default() -> Self {
        Self::new()
    }
}

fn plugin(name: &str, kind: PluginKind) -> PluginRecord {
    PluginRecord {
        name: PluginName::new(name).expect("a constant name"),
        version: "1.0.0".to_owned(),
        kind,
        digest: ContentDigest::of(name.as_bytes()),
        grant: Grant::default(),
        world: None,
    }
}

fn card(name: &str, summary: &str, exposes: &[&str]) -> SkillCard {
    SkillCard {
        name: SkillName::new(name).expect("a constant name"),
        summary: vec![Localized { lang: Lang::english(), text: summary.to_owned() }],
        about: vec![ToolName::new(NOTE).expect("a constant name")],
        exposes: exposes.iter().map(|name| ToolName::new(name).expect("a constant name")).collect(),
    }
}

impl FakeHost {
    /// A host that works.
    #[must_use]
    pub fn new() -> Self {
        Self {
            plugins: vec![
                plugin("fake-tools", PluginKind::Tool),
                plugin(ENVIRONMENT, PluginKind::Environment),
                plugin(CONTRARY, PluginKind::Verifier),
                plugin(VERIFIER, PluginKind::Verifier),
                plugin(TRAPPING, PluginKind::Verifier),
                plugin(SKILL, PluginKind::Skill),
            ],
            tools: tool::installed(),
            skills: vec![card(BROKEN_SKILL, "Never works.", &[]), card(SKILL, "How to keep notes.", &[WIPE])],
            faults: Faults::default(),
            opened: Arc::default(),
        }
    }

    /// A host that misbehaves.
    #[must_use]
    pub fn with_faults(faults: Faults) -> Self {
        Self { faults, ..Self::new() }
    }

    /// The same host with one more plugin, as after an installation.
    #[must_use]
    pub fn with_plugin(mut self, name: &str, kind: PluginKind) -> Self {
        self.plugins.push(plugin(name, kind));
        self
    }

    /// The same host with other tools.
    #[must_use]
    pub fn with_tools(mut self, tools: Vec<InstalledTool>) -> Self {
        self.tools = tools;
        self
    }

    fn ready(&self, task: &Task, documents: Documents) -> Result<Arc<dyn PreparedTask>, CallFault> {
        let mut target = FakeEpisode::new(documents.clone(), task.start.now_ns, self.faults);
        for (turn, decision) in task.gold.iter().enumerate() {
            if turn > 0 {
                target.end_turn();
            }
            target.remind()?;
            for action in decision {
                if let loopwright_contract::action::Action::Call(call) = action {
                    let _ = tool::run(target.documents_mut(), call, true);
                }
                if let Some(call) = action.confirmable() {
                    target.confirm(&call);
                }
                if let Some(write) = MemoryWrite::of(action) {
                    target.write_memory(&write)?;
                }
            }
        }
        let target = (!task.gold.is_empty()).then(|| target.into_documents());
        Ok(self.prepared(task, documents, target))
    }

    fn prepared(&self, task: &Task, initial: Documents, target: Option<Documents>) -> Arc<dyn PreparedTask> {
        let opened = Arc::clone(&self.opened);
        Arc::new(FakePrepared { start_ns: task.start.now_ns, initial, target, faults: self.faults, opened })
    }
}

impl EpisodeHost for FakeHost {
    fn plugins(&self) -> &[PluginRecord] {
        &self.plugins
    }

    fn tools(&self) -> &[InstalledTool] {
        &self.tools
    }

    fn skills(&self) -> &[SkillCard] {
        &self.skills
    }

    fn fingerprint(&self) -> &'static str {
        "fake/1"
    }

    fn prepare(&self, task: &Task) -> Result<Arc<dyn PreparedTask>, CallFault> {
        if self.faults.prepare {
            return Err(HostFault::Setup("plugin `fake-phone` is not installed".to_owned()).into());
        }
        let documents = edited(task);
        self.ready(task, documents)
    }

    fn prepare_with(&self, task: &Task, memory: &MemorySnapshot) -> Result<Arc<dyn PreparedTask>, CallFault> {
        let mut documents = edited(task);
        for record in &memory.records {
            documents.insert((memory::COLLECTION.to_owned(), record.id.to_string()), record.document());
        }
        self.ready(task, documents)
    }

    fn restore(
        &self,
        task: &Task,
        initial: &StoredWorld,
        target: Option<&StoredWorld>,
    ) -> Result<Arc<dyn PreparedTask>, CallFault> {
        let target = target.map(unstored).transpose()?;
        Ok(self.prepared(task, unstored(initial)?, target))
    }
}

fn edited(task: &Task) -> Documents {
    let put = |edit: &DocumentEdit| match edit {
        DocumentEdit::Put { collection, key, value } => Some(((collection.clone(), key.clone()), value.clone())),
        _ => None,
    };
    task.edits.iter().filter_map(put).collect()
}

/// The documents as one JSON object of objects.
#[must_use]
pub fn stored(documents: &Documents) -> StoredWorld {
    let mut collections: Map<String, Value> = Map::new();
    for ((collection, key), value) in documents {
        let place = collections.entry(collection.clone()).or_insert_with(|| Value::Object(Map::new()));
        if let Value::Object(map) = place {
            map.insert(key.clone(), value.clone());
        }
    }
    let text = canonical(&Value::Object(collections));
    StoredWorld { digest: StateDigest::of(text.as_bytes()), text }
}

fn unstored(world: &StoredWorld) -> Result<Documents, HostFault> {
    if StateDigest::of(world.text.as_bytes()) != world.digest {
        return Err(HostFault::Setup(format!("world {} does not have its digest", world.digest)));
    }
    let value = parse(&world.text, &JsonLimits::FILE).map_err(|error| HostFault::Setup(error.to_string()))?;
    let mut documents = Documents::new();
    for (collection, inner) in value.as_object().into_iter().flatten() {
        for (key, document) in inner.as_object().into_iter().flatten() {
            documents.insert((collection.clone(), key.clone()), document.clone());
        }
    }
    Ok(documents)
}

struct FakePrepared {
    start_ns: u64,
    initial: Documents,
    target: Option<Documents>,
    faults: Faults,
    opened: Arc<Mutex<Vec<u64>>>,
}

impl PreparedTask for FakePrepared {
    fn initial(&self) -> StoredWorld {
        stored(&self.initial)
    }

    fn target(&self) -> Option<StoredWorld> {
        self.target.as_ref().map(stored)
    }

    fn initial_digest(&self) -> StateDigest {
        self.initial().digest
    }

    fn target_digest(&self) -> Option<StateDigest> {
        self.target().map(|world| world.digest)
    }

    fn open(&self) -> Result<Box<dyn Episode>, CallFault> {
        Ok(Box::new(FakeEpisode::new(self.initial.clone(), self.start_ns, self.faults)))
    }

    fn open_with(&self, world_seed: u64) -> Result<Box<dyn Episode>, CallFault> {
        self.opened.lock().expect("no panic before").push(world_seed);
        self.open()
    }
}
