//! The harness: what all episodes of a run share.

use std::collections::BTreeMap;
use std::sync::Arc;

use loopwright_contract::digest::HarnessDigest;
use loopwright_contract::episode::EpisodeHost;
use loopwright_contract::memory::Recall;
use loopwright_contract::name::{SkillName, ToolName};
use loopwright_contract::tool::ToolSpec;

use crate::decode::SchemaCache;
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
    memory: Option<Arc<dyn Recall>>,
    digest: HarnessDigest,
}

impl Harness {
    /// Builds a harness on a host.
    ///
    /// # Errors
    /// [`HarnessError`] when a skill file has the name of another skill.
    pub fn new(host: Arc<dyn EpisodeHost>, settings: Settings, skill_files: Vec<SkillFile>) -> Result<Self, HarnessError> {
        let settings = settings.recordable();
        let specs: Vec<ToolSpec> = host.tools().iter().map(|tool| tool.spec.clone()).collect();
        let index = ToolIndex::build(&specs);
        let schemas = SchemaCache::new(host.tools());
        let skills = SkillLibrary::new(host.skills(), skill_files).map_err(HarnessError::SkillTwice)?;
        let specs = specs.into_iter().map(|spec| (spec.name.clone(), spec)).collect();
        Ok(Self { index, specs, schemas, skills, settings, memory: None, digest: settings.digest(), host })
    }

    /// The same harness with a memory to read. What episodes add is in their results.
    #[must_use]
    pub fn with_memory(mut self, memory: Arc<dyn Recall>) -> Self {
        self.memory = Some(memory);
        self
    }

    /// The host.
    #[must_use]
    pub fn host(&self) -> &dyn EpisodeHost {
        self.host.as_ref()
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

    pub(crate) fn schemas(&self) -> &SchemaCache {
        &self.schemas
    }

    pub(crate) fn skills(&self) -> &SkillLibrary {
        &self.skills
    }

    pub(crate) fn memory(&self) -> Option<Arc<dyn Recall>> {
        self.memory.clone()
    }

    pub(crate) fn spec(&self, name: &ToolName) -> Option<&ToolSpec> {
        self.specs.get(name)
    }

    /// All installed tools, best first for a request.
    pub(crate) fn ranked(&self, request: &str) -> Vec<ToolName> {
        self.index.candidates(request, self.index.len()).into_iter().map(|(name, _)| name).collect()
    }
}
