//! One component by itself: compiled, linked and asked who it is. It has no grant, no world and no time while it answers.

use std::{fmt::Debug, sync::Arc};

use loopwright_bindings::{
    Violation,
    afv::plugin,
    convert::{
        catalogue::catalogue_in,
        identity::{Identity, identity_in},
        skill::card_in,
    },
    environment::{EnvironmentPlugin, EnvironmentPluginPre},
    skill::{SkillPlugin, SkillPluginPre},
    tool::{ToolPlugin, ToolPluginPre},
    verifier::{VerifierPlugin, VerifierPluginPre},
};
use loopwright_contract::{
    capability::{CAPABILITY_INTERFACES, Request},
    episode::{PluginKind, PluginRecord},
    skill::SkillCard,
    tool::{Catalogue, Grant},
};
use loopwright_registry::component;
use wasmtime::{
    Engine, Store,
    component::{Component, InstancePre, types::ComponentItem},
};

use super::{Candidate, check, linker};
use crate::{
    CompileFault, EngineClass, EngineConfig, Engines, Refusal, Trust,
    cache::{CodeError, Origin, Source},
    fault::one_line,
    installed::ToolEntry,
    limits::Stop,
    store::{Live, Plugin, PluginState},
};

/// Our package's name before the interface's.
const PACKAGE: &str = "loopwright:afv/";
/// Versions of the package that this host serves. Within 0.1 functions are only added.
const VERSION_LINE: &str = "@0.1.";
/// How files of machine code begin on most systems, and wasmtime's own.
const ELF: &[u8] = b"\x7fELF";
/// Names of imports that a message lists.
const NAMES_SHOWN_MAX: usize = 32;

/// A component and what it says of itself.
pub struct Inspected {
    pub(crate) plugin: Plugin,
    pub(crate) code: Code,
    /// What its author asks for.
    pub request: Request,
    /// Who it says that it is.
    pub identity: Identity,
    /// What else it says, by its kind.
    pub says: Says,
    /// How its machine code was had.
    pub origin: Origin,
    /// The interfaces that it imports, sorted; those that carry only types among them.
    pub imports: Vec<String>,
    /// What a fresh instance costs before its first call.
    pub start: Start,
}

/// What a fresh instance costs before its first call.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Start {
    /// Fuel that its start functions and initialisers spent.
    pub fuel: u64,
    /// Bytes of its linear memories.
    pub memory_bytes: usize,
    /// Elements of its tables.
    pub table_elements: usize,
}

/// What a plugin says besides who it is.
pub enum Says {
    /// A tool plugin's catalogue.
    Tool(Box<Catalogue>),
    /// An environment says no more.
    Environment,
    /// A verifier says no more.
    Verifier,
    /// A skill's card.
    Skill(Box<SkillCard>),
}

/// A component that is linked.
pub(crate) enum Code {
    Tool(ToolPluginPre<PluginState>, Vec<ToolEntry>),
    Environment(EnvironmentPluginPre<PluginState>),
    Verifier(VerifierPluginPre<PluginState>),
    Skill(SkillPluginPre<PluginState>),
}

impl Inspected {
    /// The plugin as records name it, without any grant.
    #[must_use]
    pub fn record(&self) -> &PluginRecord {
        &self.plugin.record
    }
}

/// What was learned by asking.
struct Answers {
    code: Code,
    identity: Identity,
    says: Says,
    start: Start,
}

pub(super) fn inspect(
    engines: &Arc<Engines>,
    config: &EngineConfig,
    candidate: &Candidate,
) -> Result<Inspected, Refusal> {
    // A first look at the bytes, because compiling a core module ends in a long text about the wrong thing.
    let kind = match candidate.kind {
        Some(kind) => kind,
        None => kind_of(engines, config, candidate)?,
    };
    let class = EngineClass::of(kind);
    let engine = engines.engine(class);
    let (component, origin) = compile(engines, config, class, candidate)?;
    let request = component::inspect(&candidate.bytes)
        .map_err(|refusal| Refusal::Request { reason: refusal.to_string() })?
        .request;
    let asked = request.capabilities.for_kind(kind).interfaces();
    check_world(&component, engine, kind, &asked)?;
    let linker = linker::linker(engine, kind, &asked).map_err(|error| types(&error))?;
    let pre = linker.instantiate_pre(&component).map_err(|error| types(&error))?;
    let record = PluginRecord {
        name: candidate.name.clone(),
        version: candidate.version.clone().unwrap_or_default(),
        kind,
        digest: candidate.digest,
        grant: Grant::default(),
        world: None,
    };
    let mut plugin = Plugin { record, limits: config.limits_of(&candidate.name), stateful: false };
    let asking = Arc::new(Plugin { record: plugin.record.clone(), ..plugin });
    let imports = imports(&component, engine);
    let Answers { code, identity, says, start } = ask(engines, kind, pre, &asking)?;
    check_identity(candidate, &identity)?;
    check::declared(&says, &request)?;
    plugin.record.version.clone_from(&identity.version);
    plugin.stateful = kind == PluginKind::Environment && identity.is_stateful();
    plugin.record.world = identity.world().filter(|_| kind == PluginKind::Tool).map(str::to_owned);
    Ok(Inspected { plugin, code, request, identity, says, origin, imports, start })
}

fn compile(
    engines: &Engines,
    config: &EngineConfig,
    class: EngineClass,
    candidate: &Candidate,
) -> Result<(Component, Origin), Refusal> {
    let not = |reason: String| Refusal::NotAComponent { reason };
    match candidate.bytes.get(..8) {
        Some([0, b'a', b's', b'm', 0x0d, 0, 1, 0]) => {}
        Some([0, b'a', b's', b'm', 1, 0, 0, 0]) => return Err(not(
            "found a core module\nhint: make a component of it with `cargo xtask guests` or `wasm-tools component new`"
                .into(),
        )),
        _ if Engine::detect_precompiled(&candidate.bytes).is_some() || candidate.bytes.starts_with(ELF) => {
            return Err(Refusal::Precompiled);
        }
        Some(start) => {
            return Err(not(format!("found {} bytes that begin with {}", candidate.bytes.len(), hex::encode(start))));
        }
        None => return Err(not(format!("found {} bytes", candidate.bytes.len()))),
    }
    let compiler = match (candidate.trust, &config.compiler.0) {
        (Trust::FirstParty, _) => None,
        (Trust::ThirdParty, Some(compiler)) => Some(compiler.as_ref()),
        (Trust::ThirdParty, None) => return Err(Refusal::Compile(CompileFault::NoCompiler)),
    };
    let source = Source { class, digest: candidate.digest, bytes: &candidate.bytes, compiler };
    engines.components.get(engines.engine(class), &source).map_err(|error| match error {
        CodeError::Engine(error) => not(one_line(&error)),
        CodeError::Compiler(CompileFault::Refused(reason)) => not(reason),
        CodeError::Compiler(fault) => Refusal::Compile(fault),
    })
}

fn types(error: &wasmtime::Error) -> Refusal {
    Refusal::Types { reason: one_line(error) }
}

/// The interface of our package that a name stands for, such as `tool`.
fn interface(name: &str) -> Option<&str> {
    let (interface, version) = name.strip_prefix(PACKAGE)?.split_once('@')?;
    format!("@{version}").starts_with(VERSION_LINE).then_some(interface)
}

/// The kind of a component that no index names, by what it exports.
fn kind_of(engines: &Engines, config: &EngineConfig, candidate: &Candidate) -> Result<PluginKind, Refusal> {
    let class = EngineClass::Tool;
    let (component, _) = compile(engines, config, class, candidate)?;
    let exports = exports(&component, engines.engine(class));
    let kinds = [PluginKind::Tool, PluginKind::Environment, PluginKind::Verifier, PluginKind::Skill];
    let found =
        kinds.into_iter().find(|kind| exports.iter().any(|name| interface(name) == Some(linker::export_of(*kind))));
    found.ok_or_else(|| Refusal::WrongWorld {
        expected: format!("one of {PACKAGE}tool, environment, verifier or skill"),
        found: listed(&exports),
    })
}

fn exports(component: &Component, engine: &Engine) -> Vec<String> {
    let is_instance = |item: &ComponentItem| matches!(item, ComponentItem::ComponentInstance(_));
    component
        .component_type()
        .exports(engine)
        .filter(|(_, item)| is_instance(&item.ty))
        .map(|(name, _)| name.to_owned())
        .collect()
}

/// The names of all imports, sorted.
fn imports(component: &Component, engine: &Engine) -> Vec<String> {
    let mut names: Vec<String> = component.component_type().imports(engine).map(|(name, _)| name.to_owned()).collect();
    names.sort();
    names
}

/// The capabilities' interfaces among imports.
pub(super) fn capability_imports(imports: &[String]) -> impl Iterator<Item = &str> {
    imports.iter().filter_map(|name| interface(name)).filter(|interface| CAPABILITY_INTERFACES.contains(interface))
}

fn listed(names: &[String]) -> String {
    if names.is_empty() {
        "none".to_owned()
    } else {
        names.iter().take(NAMES_SHOWN_MAX).cloned().collect::<Vec<_>>().join(", ")
    }
}

fn check_world(component: &Component, engine: &Engine, kind: PluginKind, asked: &[&str]) -> Result<(), Refusal> {
    let exported = exports(component, engine);
    if !exported.iter().any(|name| interface(name) == Some(linker::export_of(kind))) {
        let expected = format!("{PACKAGE}{}@0.1.0 for a plugin of kind {kind:?}", linker::export_of(kind));
        return Err(Refusal::WrongWorld { expected, found: listed(&exported) });
    }
    let allowed = |name: &str| {
        interface(name)
            .is_some_and(|interface| linker::imports_of(kind).contains(&interface) || asked.contains(&interface))
    };
    let mut imports = imports(component, engine);
    if let Some(interface) = capability_imports(&imports).find(|interface| !asked.contains(interface)) {
        return Err(Refusal::NotAskedFor { interface: interface.to_owned(), kind });
    }
    imports.retain(|name| !allowed(name));
    if imports.is_empty() {
        return Ok(());
    }
    imports.truncate(NAMES_SHOWN_MAX);
    Err(Refusal::ForeignImports { kind, imports })
}

fn check_identity(candidate: &Candidate, identity: &Identity) -> Result<(), Refusal> {
    let same = |field, expected: &str, found: &str| {
        if expected == found {
            Ok(())
        } else {
            Err(Refusal::Identity { field, expected: expected.to_owned(), found: found.to_owned() })
        }
    };
    same("name", candidate.name.as_str(), identity.name.as_str())?;
    candidate.version.as_deref().map_or(Ok(()), |version| same("version", version, &identity.version))
}

/// Asks a fresh instance. It is dropped afterwards: episodes make their own.
fn ask(
    engines: &Engines,
    kind: PluginKind,
    pre: InstancePre<PluginState>,
    plugin: &Arc<Plugin>,
) -> Result<Answers, Refusal> {
    let mut asked = Asked { engines, kind, plugin };
    match kind {
        PluginKind::Tool => {
            let pre = ToolPluginPre::new(pre).map_err(|error| types(&error))?;
            let mut live: Live<ToolPlugin> = asked.start(|store| pre.instantiate(store))?;
            let identity =
                asked.identity(&mut live, |bindings, store| bindings.loopwright_afv_tool().call_describe(store))?;
            let specs = asked.answer(
                &mut live,
                "specs",
                |bindings, store| bindings.loopwright_afv_tool().call_specs(store),
                catalogue_in,
            )?;
            let entries = check::catalogue(&specs)?;
            Ok(Answers {
                code: Code::Tool(pre, entries),
                identity,
                says: Says::Tool(Box::new(specs)),
                start: live.start(),
            })
        }
        PluginKind::Environment => {
            let pre = EnvironmentPluginPre::new(pre).map_err(|error| types(&error))?;
            let mut live: Live<EnvironmentPlugin> = asked.start(|store| pre.instantiate(store))?;
            let identity = asked
                .identity(&mut live, |bindings, store| bindings.loopwright_afv_environment().call_describe(store))?;
            Ok(Answers { code: Code::Environment(pre), identity, says: Says::Environment, start: live.start() })
        }
        PluginKind::Verifier => {
            let pre = VerifierPluginPre::new(pre).map_err(|error| types(&error))?;
            let mut live: Live<VerifierPlugin> = asked.start(|store| pre.instantiate(store))?;
            let identity =
                asked.identity(&mut live, |bindings, store| bindings.loopwright_afv_verifier().call_describe(store))?;
            Ok(Answers { code: Code::Verifier(pre), identity, says: Says::Verifier, start: live.start() })
        }
        PluginKind::Skill => {
            let pre = SkillPluginPre::new(pre).map_err(|error| types(&error))?;
            let mut live: Live<SkillPlugin> = asked.start(|store| pre.instantiate(store))?;
            let identity =
                asked.identity(&mut live, |bindings, store| bindings.loopwright_afv_skill().call_describe(store))?;
            let card = asked.answer(
                &mut live,
                "card",
                |bindings, store| bindings.loopwright_afv_skill().call_card(store),
                card_in,
            )?;
            check::card(&card)?;
            Ok(Answers { code: Code::Skill(pre), identity, says: Says::Skill(Box::new(card)), start: live.start() })
        }
    }
}

struct Asked<'a> {
    engines: &'a Engines,
    kind: PluginKind,
    plugin: &'a Arc<Plugin>,
}

impl Asked<'_> {
    fn start<B>(
        &mut self,
        instantiate: impl FnOnce(&mut Store<PluginState>) -> wasmtime::Result<B>,
    ) -> Result<Live<B>, Refusal> {
        let engine = self.engines.engine(EngineClass::of(self.kind));
        let deadline = self.engines.deadline(self.plugin.limits.call_deadline);
        Live::new(engine, Arc::clone(self.plugin), deadline, instantiate).map_err(|stop| refusal("instantiation", stop))
    }

    fn identity<B>(
        &mut self,
        live: &mut Live<B>,
        call: impl FnOnce(&B, &mut Store<PluginState>) -> wasmtime::Result<plugin::Identity>,
    ) -> Result<Identity, Refusal> {
        self.answer(live, "describe", call, identity_in)
    }

    fn answer<B, R, T: Debug>(
        &mut self,
        live: &mut Live<B>,
        function: &'static str,
        call: impl FnOnce(&B, &mut Store<PluginState>) -> wasmtime::Result<R>,
        read: impl FnOnce(R) -> Result<T, Violation>,
    ) -> Result<T, Refusal> {
        let deadline = self.engines.deadline(self.plugin.limits.call_deadline);
        let answer = live.run(None, deadline, call).result.map_err(|stop| refusal(function, stop))?;
        read(answer).map_err(|violation| Refusal::Contract { function, what: violation.to_string() })
    }
}

fn refusal(function: &'static str, stop: Stop) -> Refusal {
    match stop {
        Stop::Guest(fault) => Refusal::Fault { function, fault },
        Stop::Host(fault) => Refusal::Host(fault),
    }
}
