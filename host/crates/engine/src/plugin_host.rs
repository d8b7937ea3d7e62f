//! The engine behind the contract's port.

use std::sync::Arc;

use loopwright_contract::{
    episode::{EpisodeHost, PluginRecord, PreparedTask, StoredWorld},
    fault::CallFault,
    skill::SkillCard,
    task::Task,
    tool::InstalledTool,
};

use crate::{
    Candidate, EngineConfig, Engines, GrantPolicy, InstallError,
    install::install,
    installed::{Installed, WorldSource},
    kept::KeptTasks,
    prepare::{Prepared, Shared},
};

/// Installed plugins, ready to open episodes. Cloning shares them.
#[derive(Clone)]
pub struct PluginHost(pub(crate) Arc<Installed>, Arc<KeptTasks>);

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
        install(engines, config, policy, worlds, candidates).map(|installed| Self(Arc::new(installed), Arc::default()))
    }

    /// The engines that run the plugins.
    #[must_use]
    pub fn engines(&self) -> &Arc<Engines> {
        &self.0.engines
    }
}

impl EpisodeHost for PluginHost {
    fn plugins(&self) -> &[PluginRecord] {
        &self.0.records
    }

    fn tools(&self) -> &[InstalledTool] {
        &self.0.catalogue
    }

    fn skills(&self) -> &[SkillCard] {
        &self.0.cards
    }

    fn fingerprint(&self) -> &str {
        &self.0.fingerprint
    }

    fn prepare(&self, task: &Task) -> Result<Arc<dyn PreparedTask>, CallFault> {
        Ok(Arc::new(Shared(self.1.get(&self.0, task)?)))
    }

    fn restore(
        &self,
        task: &Task,
        initial: &StoredWorld,
        target: Option<&StoredWorld>,
    ) -> Result<Arc<dyn PreparedTask>, CallFault> {
        Ok(Arc::new(Shared(Arc::new(Prepared::restore(&self.0, task, initial, target)?))))
    }
}
