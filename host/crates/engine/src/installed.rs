//! All that is installed, as every episode shares it.

use std::{
    collections::HashMap,
    fmt,
    sync::{Arc, Mutex, PoisonError},
};

use loopwright_contract::{
    episode::PluginRecord,
    fault::HostFault,
    name::{PluginName, SkillName},
    skill::SkillCard,
    tool::{Failure, InstalledTool},
};
use loopwright_world::World;
use serde_json::Value;

use crate::{
    Engines, GrantPolicy,
    bindings::{environment::EnvironmentPluginPre, skill::SkillPluginPre, tool::ToolPluginPre},
    config::EngineConfig,
    store::{Plugin, PluginState},
    stored::Documents,
    swap::Slot,
};

/// Where named worlds of task packs come from.
pub trait WorldSource: Send + Sync {
    /// The canonical or plain JSON text of a world: `{collection: {key: document}}`.
    ///
    /// # Errors
    /// [`HostFault::Setup`] when there is no world of that name, with what to do; [`HostFault::Io`] when it cannot be read.
    fn world(&self, name: &str) -> Result<Arc<str>, HostFault>;
}

/// A source without worlds.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoWorlds;

impl WorldSource for NoWorlds {
    fn world(&self, name: &str) -> Result<Arc<str>, HostFault> {
        Err(HostFault::Setup(format!("world `{name}` is not known\nhint: name the task pack that brings it")))
    }
}

/// A plugin that is left out of a host, because it imports interfaces that it was not granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Waiting {
    /// The plugin.
    pub plugin: PluginName,
    /// Its version.
    pub version: String,
    /// The interfaces, by name.
    pub lacks: Vec<String>,
}

impl fmt::Display for Waiting {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { plugin, version, lacks } = self;
        write!(
            formatter,
            "plugin `{plugin}` {version} is left out: it imports `{}`, which it was not granted\nhint: `loopwright plugin explain {plugin}` says what it asks for, `loopwright plugin grant {plugin}` grants it",
            lacks.join("`, `")
        )
    }
}

/// A plugin with its code, linked. A clone shares it.
#[derive(Clone)]
pub(crate) struct Loaded<P> {
    pub(crate) plugin: Arc<Plugin>,
    pub(crate) pre: P,
}

/// Everything that is installed.
pub(crate) struct Installed {
    pub(crate) engines: Arc<Engines>,
    pub(crate) config: EngineConfig,
    /// What each plugin was granted, and what one that comes later will be.
    pub(crate) policy: GrantPolicy,
    /// Plugins that are left out.
    pub(crate) waiting: Vec<Waiting>,
    /// Sorted by kind and name.
    pub(crate) records: Vec<PluginRecord>,
    pub(crate) tools: Vec<Loaded<ToolPluginPre<PluginState>>>,
    pub(crate) environments: Vec<Loaded<EnvironmentPluginPre<PluginState>>>,
    pub(crate) verifiers: Vec<Slot>,
    pub(crate) skills: Vec<Loaded<SkillPluginPre<PluginState>>>,
    /// Every tool, sorted by name.
    pub(crate) catalogue: Vec<InstalledTool>,
    /// What calls of the tool at the same place in `catalogue` need.
    pub(crate) entries: Vec<ToolEntry>,
    /// Every skill's card, sorted by name.
    pub(crate) cards: Vec<SkillCard>,
    /// The skill plugin of the card at the same place in `cards`.
    pub(crate) card_plugins: Vec<usize>,
    pub(crate) fingerprint: String,
    /// The collections with their initial documents, sealed.
    pub(crate) base: World,
    /// The same collections without documents, for named worlds.
    pub(crate) empty: World,
    pub(crate) worlds: Arc<dyn WorldSource>,
    /// Named worlds that were read, ready to be forked.
    pub(crate) named: Mutex<HashMap<String, World>>,
}

/// What a call of a tool needs, made once.
pub(crate) struct ToolEntry {
    /// The position of its plugin.
    pub(crate) plugin: usize,
    pub(crate) name: String,
    pub(crate) arguments: jsonschema::Validator,
    pub(crate) result: jsonschema::Validator,
}

impl ToolEntry {
    pub(crate) fn name(&self) -> &str {
        &self.name
    }

    /// Refuses arguments that the tool's schema does not allow, in words that a planner can act on.
    pub(crate) fn check_arguments(&self, arguments: &Value) -> Result<(), Failure> {
        if self.arguments.is_valid(arguments) {
            return Ok(());
        }
        let reason = first_error(&self.arguments, arguments);
        Err(Failure::new(400, format!("arguments of `{}`: {reason}", self.name)))
    }

    /// Refuses a result that the tool's own schema does not allow.
    pub(crate) fn check_result(&self, data: &Value) -> Result<(), String> {
        if self.result.is_valid(data) {
            return Ok(());
        }
        Err(format!("result of `{}` against its own schema: {}", self.name, first_error(&self.result, data)))
    }
}

/// The first thing that a value breaks, with its place.
fn first_error(validator: &jsonschema::Validator, value: &Value) -> String {
    let error = validator.iter_errors(value).next();
    error.map_or_else(String::new, |error| {
        let at = error.instance_path().to_string();
        if at.is_empty() { error.to_string() } else { format!("`{at}`: {error}") }
    })
}

impl Installed {
    /// A fork of the named world, which is read once.
    pub(crate) fn named_world(&self, name: &str) -> Result<World, HostFault> {
        let lock = || self.named.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(world) = lock().get(name) {
            return Ok(world.fork());
        }
        let what = format!("world `{name}`");
        let text = self.worlds.world(name)?;
        let mut world = self.empty.fork();
        Documents::parse(&text, &what)?.fill(&mut world, &what)?;
        world.seal().map_err(|error| HostFault::Internal(format!("{what}: {error}")))?;
        let fork = world.fork();
        lock().insert(name.to_owned(), world);
        Ok(fork)
    }

    /// The tool of that name.
    pub(crate) fn find(&self, name: &str) -> Option<(&InstalledTool, &ToolEntry)> {
        let at = self.catalogue.binary_search_by(|tool| tool.spec.name.as_str().cmp(name)).ok()?;
        Some((self.catalogue.get(at)?, self.entries.get(at)?))
    }

    /// The tools of a world, or of every phone when there is none.
    pub(crate) fn tools_of<'a>(&'a self, world: Option<&'a str>) -> impl Iterator<Item = &'a InstalledTool> {
        self.catalogue
            .iter()
            .zip(&self.entries)
            .filter(move |(_, entry)| self.is_of(entry, world))
            .map(|(tool, _)| tool)
    }

    /// The world that the tool of that name belongs to.
    pub(crate) fn world_of(&self, name: &str) -> Option<String> {
        self.tools.get(self.tool(name)?.plugin)?.plugin.record.world.clone()
    }

    /// Whether a tool belongs to a world.
    pub(crate) fn is_of(&self, entry: &ToolEntry, world: Option<&str>) -> bool {
        self.tools.get(entry.plugin).is_some_and(|loaded| loaded.plugin.record.world.as_deref() == world)
    }

    /// What a call of the tool of that name needs.
    pub(crate) fn tool(&self, name: &str) -> Option<&ToolEntry> {
        self.find(name).map(|(_, entry)| entry)
    }

    /// The position of the skill plugin whose card has that name.
    pub(crate) fn skill(&self, name: &SkillName) -> Option<usize> {
        let at = self.cards.binary_search_by(|card| card.name.cmp(name)).ok()?;
        self.card_plugins.get(at).copied()
    }
}

/// The position of a plugin among those of its kind.
pub(crate) fn position<P>(plugins: &[Loaded<P>], name: &PluginName, kind: &str) -> Result<usize, HostFault> {
    let missing = || not_installed(kind, name, plugins.iter().map(|loaded| &loaded.plugin.record.name));
    plugins.iter().position(|loaded| loaded.plugin.record.name == *name).ok_or_else(missing)
}

/// What is said of a plugin that is not there.
pub(crate) fn not_installed<'a>(
    kind: &str,
    name: &PluginName,
    installed: impl Iterator<Item = &'a PluginName>,
) -> HostFault {
    let installed: Vec<&str> = installed.map(PluginName::as_str).collect();
    HostFault::Setup(format!(
        "{kind} `{name}` is not installed; installed are: {}\nhint: build all plugins with `cargo xtask guests`",
        installed.join(", ")
    ))
}
