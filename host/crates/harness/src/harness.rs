//! The harness: what all episodes of a run share.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use loopwright_contract::action::ActionSpace;
use loopwright_contract::digest::HarnessDigest;
use loopwright_contract::episode::{EpisodeHost, PreparedTask};
use loopwright_contract::fault::CallFault;
use loopwright_contract::json::canonical_of;
use loopwright_contract::memory::{LaidIn, MemorySnapshot, MemoryUse, Ranker};
use loopwright_contract::name::{SkillName, ToolName};
use loopwright_contract::task::Task;
use loopwright_contract::tool::ToolSpec;

use crate::decode::SchemaCache;
use crate::episode::SKILL_CARDS_MAX;
use crate::memory::WORD_OVERLAP;
use crate::recall::ToolIndex;
use crate::settings::Settings;
use crate::skills::{SkillFile, SkillLibrary};

/// Why a harness cannot be built.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum HarnessError {
    /// Two skills of one name.
    #[error("skill `{0}` exists twice: as a component or file already installed, and as a `SKILL.md`; rename one")]
    SkillTwice(SkillName),
}

/// What all episodes of a run share: the host, the tools' index and compiled schemas, the skills, the settings.
///
/// Build it once; it is shared by all threads of a run.
pub struct Harness {
    host: Arc<dyn EpisodeHost>,
    index: ToolIndex,
    specs: BTreeMap<ToolName, ToolSpec>,
    schemas: SchemaCache,
    skills: SkillLibrary,
    settings: Settings,
    ranker: Option<Arc<dyn Ranker>>,
    snapshot: Option<Arc<MemorySnapshot>>,
    digest: HarnessDigest,
    plugins_text: OnceLock<String>,
    rankings: Cache<String, Arc<[ToolName]>>,
    spaces: Cache<Vec<ToolName>, Arc<ActionSpace>>,
}

/// Entries of one cache; a full one is emptied.
const CACHE_ENTRIES_MAX: usize = 4096;

type Cache<K, V> = Mutex<BTreeMap<K, V>>;

/// The value for a key, made when it is not there. What is made depends on the key alone, so it does not matter who makes it.
fn kept<K, Q, V>(cache: &Cache<K, V>, key: &Q, make: impl FnOnce() -> V) -> V
where
    K: Ord + std::borrow::Borrow<Q>,
    Q: Ord + ToOwned<Owned = K> + ?Sized,
    V: Clone,
{
    if let Some(value) = cache.lock().unwrap_or_else(PoisonError::into_inner).get(key) {
        return value.clone();
    }
    let value = make();
    let mut entries = cache.lock().unwrap_or_else(PoisonError::into_inner);
    if entries.len() >= CACHE_ENTRIES_MAX {
        entries.clear();
    }
    entries.insert(key.to_owned(), value.clone());
    value
}

impl Harness {
    /// Builds a harness on a host.
    ///
    /// # Errors
    /// [`HarnessError`] when a skill file has the name of another skill.
    pub fn new(
        host: Arc<dyn EpisodeHost>,
        settings: Settings,
        skill_files: Vec<SkillFile>,
    ) -> Result<Self, HarnessError> {
        let settings = settings.recordable();
        let specs: Vec<ToolSpec> = host.tools().iter().map(|tool| tool.spec.clone()).collect();
        let index = ToolIndex::build(&specs);
        let schemas = SchemaCache::new(host.tools());
        let skills = SkillLibrary::new(host.skills(), skill_files).map_err(HarnessError::SkillTwice)?;
        let specs = specs.into_iter().map(|spec| (spec.name.clone(), spec)).collect();
        Ok(Self {
            index,
            specs,
            schemas,
            skills,
            settings,
            ranker: None,
            snapshot: None,
            digest: settings.digest(),
            host,
            plugins_text: OnceLock::new(),
            rankings: Mutex::default(),
            spaces: Mutex::default(),
        })
    }

    /// The same harness with another ranking of what episodes remember than the built-in one.
    #[must_use]
    pub fn with_ranker(mut self, ranker: Arc<dyn Ranker>) -> Self {
        self.ranker = Some(ranker);
        self
    }

    /// The same harness with a user's memory, laid over the world of every episode. What episodes change in it is in their results.
    #[must_use]
    pub fn with_snapshot(mut self, snapshot: Arc<MemorySnapshot>) -> Self {
        self.snapshot = Some(snapshot);
        self
    }

    /// The host.
    #[must_use]
    pub fn host(&self) -> &dyn EpisodeHost {
        self.host.as_ref()
    }

    /// The task's world, with the user's memory laid over it where there is one.
    pub(crate) fn prepare(&self, task: &Task) -> Result<Arc<dyn PreparedTask>, CallFault> {
        match self.snapshot() {
            Some(snapshot) => self.host.prepare_with(task, snapshot),
            None => self.host.prepare(task),
        }
    }

    /// The settings.
    #[must_use]
    pub fn settings(&self) -> &Settings {
        &self.settings
    }

    /// The digest that trajectories name.
    #[must_use]
    pub fn digest(&self) -> HarnessDigest {
        self.digest
    }

    /// The canonical text of the installed plugins, for headers; written once.
    pub(crate) fn plugins_text(&self) -> &str {
        // No record of a plugin is unwritable.
        self.plugins_text.get_or_init(|| canonical_of(self.host.plugins()).unwrap_or_else(|_| "[]".to_owned()))
    }

    pub(crate) fn schemas(&self) -> &SchemaCache {
        &self.schemas
    }

    pub(crate) fn skills(&self) -> &SkillLibrary {
        &self.skills
    }

    pub(crate) fn ranker(&self) -> Option<Arc<dyn Ranker>> {
        self.ranker.clone()
    }

    pub(crate) fn snapshot(&self) -> Option<&MemorySnapshot> {
        self.snapshot.as_deref().filter(|_| self.settings.memory)
    }

    /// What episodes have of memory beyond their tasks'; none when that is nothing.
    pub(crate) fn memory_use(&self) -> Option<MemoryUse> {
        let snapshot = self.snapshot().map(|snapshot| LaidIn {
            digest: snapshot.digest,
            loaded: u32::try_from(snapshot.records.len()).unwrap_or(u32::MAX),
            left_out: snapshot.left_out,
        });
        let ranker = self.ranker.as_ref().map(|ranker| ranker.fingerprint()).filter(|name| *name != WORD_OVERLAP);
        let used = MemoryUse { snapshot, ranker: ranker.filter(|_| self.settings.memory).map(str::to_owned) };
        (used != MemoryUse::default()).then_some(used)
    }

    pub(crate) fn spec(&self, name: &ToolName) -> Option<&ToolSpec> {
        self.specs.get(name)
    }

    /// All installed tools, best first for a request. Kept, because one task is run many times.
    pub(crate) fn ranked(&self, request: &str) -> Arc<[ToolName]> {
        let rank = || self.index.candidates(request, self.index.len()).into_iter().map(|(name, _)| name).collect();
        kept(&self.rankings, request, rank)
    }

    /// The action space of an episode that begins with these tools; shared by all that do.
    pub(crate) fn space(&self, tools: &[ToolName]) -> Arc<ActionSpace> {
        kept(&self.spaces, tools, || {
            let tools = tools.iter().filter_map(|name| self.specs.get(name)).cloned().collect();
            let skills = self.skills.cards().iter().take(SKILL_CARDS_MAX).cloned().collect();
            Arc::new(ActionSpace { tools, skills, memory: self.settings.memory, ask: true })
        })
    }
}
