//! The engine behind the contract's port.

use std::sync::Arc;

use loopwright_contract::{
    episode::{EpisodeHost, PluginKind, PluginRecord, PreparedTask, StoredWorld},
    fault::CallFault,
    memory::MemorySnapshot,
    name::PluginName,
    skill::SkillCard,
    task::Task,
    tool::InstalledTool,
};

use crate::{
    Candidate, EngineConfig, Engines, GrantPolicy, InstallError, Waiting,
    install::install,
    installed::{Installed, WorldSource},
    kept::KeptTasks,
    prepare::{Prepared, Shared},
    swap::Pins,
};

/// Installed plugins, ready to open episodes. Cloning shares them.
#[derive(Clone)]
pub struct PluginHost {
    pub(crate) installed: Arc<Installed>,
    pub(crate) kept: Arc<KeptTasks>,
    /// The verifiers that its episodes keep to; none: those that serve when they are judged.
    pub(crate) pins: Option<Pins>,
}

impl PluginHost {
    /// Compiles, links and checks components, and gives each its grant.
    ///
    /// # Errors
    /// [`InstallError`] with the first plugin that is refused, and why. Nothing is installed then.
    pub fn install(
        engines: Arc<Engines>,
        config: EngineConfig,
        policy: &GrantPolicy,
        worlds: Arc<dyn WorldSource>,
        candidates: &[Candidate],
    ) -> Result<Self, InstallError> {
        install(engines, config, policy, worlds, candidates).map(|installed| Self {
            installed: Arc::new(installed),
            kept: Arc::default(),
            pins: None,
        })
    }

    fn share(&self, prepared: Arc<Prepared>) -> Arc<dyn PreparedTask> {
        Arc::new(Shared { prepared, pins: self.pins.clone() })
    }

    /// Plugins that are left out, because they import interfaces that they were not granted; sorted by kind and name.
    #[must_use]
    pub fn waiting(&self) -> &[Waiting] {
        &self.installed.waiting
    }

    /// The engines that run the plugins.
    #[must_use]
    pub fn engines(&self) -> &Arc<Engines> {
        &self.installed.engines
    }
}

impl EpisodeHost for PluginHost {
    fn plugins(&self) -> &[PluginRecord] {
        &self.installed.records
    }

    fn serving(&self) -> Vec<PluginRecord> {
        let generation = |name: &PluginName| match &self.pins {
            Some(pins) => pins.get(name).cloned(),
            None => self.installed.serving(name).ok(),
        };
        let record = |installed: &PluginRecord| match installed.kind {
            PluginKind::Verifier => generation(&installed.name)
                .map_or_else(|| installed.clone(), |serving| serving.loaded.plugin.record.clone()),
            _ => installed.clone(),
        };
        self.installed.records.iter().map(record).collect()
    }

    fn tools(&self) -> &[InstalledTool] {
        &self.installed.catalogue
    }

    fn skills(&self) -> &[SkillCard] {
        &self.installed.cards
    }

    fn fingerprint(&self) -> &str {
        &self.installed.fingerprint
    }

    fn prepare(&self, task: &Task) -> Result<Arc<dyn PreparedTask>, CallFault> {
        Ok(self.share(self.kept.get(&self.installed, task, None)?))
    }

    fn prepare_with(&self, task: &Task, memory: &MemorySnapshot) -> Result<Arc<dyn PreparedTask>, CallFault> {
        Ok(self.share(self.kept.get(&self.installed, task, Some(memory))?))
    }

    fn restore(
        &self,
        task: &Task,
        initial: &StoredWorld,
        target: Option<&StoredWorld>,
    ) -> Result<Arc<dyn PreparedTask>, CallFault> {
        Ok(self.share(Arc::new(Prepared::restore(&self.installed, task, initial, target)?)))
    }
}
