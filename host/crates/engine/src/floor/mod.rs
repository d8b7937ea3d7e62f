//! Bare wasmtime: the same compiled component with the same imports over the same world, and nothing else. No grant, limit, transaction,
//! record or check; fuel and epochs are on, because the code is compiled with them. `bench` measures the host against it in one run.

mod interfaces;

use std::sync::Arc;

use loopwright_bindings::{
    afv::evidence,
    convert::{call::call_out, environment::turn_out, evidence::step_out},
    environment::{EnvironmentPlugin, EnvironmentPluginPre},
    tool::{ToolPlugin, ToolPluginPre},
    verifier::VerifierPluginPre,
};
use loopwright_contract::{
    environment::Turn,
    episode::Episode as _,
    fault::{CallFault, HostFault},
    json::canonical,
    name::PluginName,
    task::{Check, Task},
    tool::ToolCall,
};
use loopwright_world::{Ids, World};
use wasmtime::{
    Engine, Store,
    component::{HasSelf, InstancePre, Linker},
};

use crate::{
    EngineClass, PluginHost,
    episode::LiveEpisode,
    installed::{Installed, position},
    prepare::Prepared,
    record::Target,
    store::Live,
};

/// What a bare store holds.
pub(crate) struct FloorState {
    pub(crate) world: Option<World>,
    /// What a verifier is shown.
    pub(crate) evidence: Option<Arc<BareEvidence>>,
    pub(crate) now_ns: u64,
    pub(crate) counter: u64,
    /// The one tool that an environment reaches.
    pub(crate) tool: Option<Box<BareTool>>,
    pub(crate) tools: Arc<Vec<String>>,
    /// The snapshots that are held, and whether each is the target's.
    pub(crate) snapshots: Vec<(World, bool)>,
}

/// An episode's evidence as a guest gets it.
pub(crate) struct BareEvidence {
    pub(crate) steps: Vec<evidence::Step>,
    /// The world after as many steps.
    pub(crate) worlds: Vec<World>,
    pub(crate) ids: Ids,
    pub(crate) target: Option<Arc<Target>>,
}

type BareTool = (Store<FloorState>, ToolPlugin);

/// The floor of a tool call.
pub struct ToolFloor {
    pre: ToolPluginPre<FloorState>,
    base: World,
    warm: BareTool,
}

/// The floor of a turn: an environment that calls a tool.
pub struct EnvironmentFloor {
    store: Store<FloorState>,
    environment: EnvironmentPlugin,
}

/// The floor of a verdict: a fresh instance each time.
pub struct VerifierFloor {
    pre: VerifierPluginPre<FloorState>,
    evidence: Arc<BareEvidence>,
}

fn failed(error: &wasmtime::Error) -> HostFault {
    HostFault::Internal(format!("floor: {error:#}"))
}

fn store(engine: &Engine, world: World, tools: Arc<Vec<String>>) -> Result<Store<FloorState>, HostFault> {
    let state = FloorState {
        evidence: None,
        world: Some(world),
        now_ns: 0,
        counter: 0,
        tool: None,
        tools,
        snapshots: Vec::new(),
    };
    let mut store = Store::new(engine, state);
    store.set_fuel(u64::MAX / 2).map_err(|error| failed(&error))?;
    store.set_epoch_deadline(u64::MAX / 2);
    Ok(store)
}

/// The same component, linked with bare functions.
fn link<T>(engine: &Engine, real: &InstancePre<T>, kind: Kind) -> Result<InstancePre<FloorState>, HostFault> {
    let mut linker = Linker::new(engine);
    interfaces::add(&mut linker, kind).map_err(|error| failed(&error))?;
    linker.instantiate_pre(real.component()).map_err(|error| failed(&error))
}

/// Which world's imports to link.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Tool,
    Environment,
    Verifier,
}

fn tool_pre(installed: &Installed, name: &PluginName) -> Result<ToolPluginPre<FloorState>, HostFault> {
    let at = position(&installed.tools, name, "tool plugin")?;
    let loaded = installed.tools.get(at).ok_or_else(|| HostFault::Internal("floor: no such tool".into()))?;
    let pre = link(installed.engines.engine(EngineClass::Tool), loaded.pre.instance_pre(), Kind::Tool)?;
    ToolPluginPre::new(pre).map_err(|error| failed(&error))
}

fn start(installed: &Installed, pre: &ToolPluginPre<FloorState>, world: World) -> Result<BareTool, HostFault> {
    let mut store = store(installed.engines.engine(EngineClass::Tool), world, Arc::default())?;
    let tool = pre.instantiate(&mut store).map_err(|error| failed(&error))?;
    Ok((store, tool))
}

impl ToolFloor {
    /// The floor of one tool plugin's calls.
    ///
    /// # Errors
    /// [`HostFault`] when it is not installed or does not run bare.
    pub fn new(host: &PluginHost, plugin: &PluginName) -> Result<Self, HostFault> {
        let pre = tool_pre(&host.installed, plugin)?;
        let warm = start(&host.installed, &pre, host.installed.base.fork())?;
        Ok(Self { pre, base: host.installed.base.fork(), warm })
    }

    /// Calls the warm instance; whether the tool did what was asked.
    ///
    /// # Errors
    /// [`HostFault`] for a trap.
    pub fn warm(&mut self, call: &ToolCall) -> Result<bool, HostFault> {
        let (store, tool) = &mut self.warm;
        let answer = tool.loopwright_afv_tool().call_call(store, &call_out(call)).map_err(|error| failed(&error))?;
        Ok(answer.is_ok())
    }

    /// Makes an instance and drops it.
    ///
    /// # Errors
    /// [`HostFault`] when there is no place for it.
    pub fn start(&self) -> Result<(), HostFault> {
        let mut store = store(self.pre.engine(), self.base.fork(), Arc::default())?;
        self.pre.instantiate(&mut store).map_err(|error| failed(&error))?;
        Ok(())
    }

    /// Calls a fresh instance on a fork of the base world, and drops it.
    ///
    /// # Errors
    /// As [`ToolFloor::warm`].
    pub fn fresh(&self, call: &ToolCall) -> Result<bool, HostFault> {
        let mut store = store(self.pre.engine(), self.base.fork(), Arc::default())?;
        let tool = self.pre.instantiate(&mut store).map_err(|error| failed(&error))?;
        let answer =
            tool.loopwright_afv_tool().call_call(&mut store, &call_out(call)).map_err(|error| failed(&error))?;
        Ok(answer.is_ok())
    }
}

impl EnvironmentFloor {
    /// The floor of turns of an environment whose calls all go to one tool plugin.
    ///
    /// # Errors
    /// [`HostFault`] when one of them is not installed or does not run bare.
    pub fn new(host: &PluginHost, environment: &PluginName, tool: &PluginName, setup: &str) -> Result<Self, HostFault> {
        let installed = &host.installed;
        let at = position(&installed.environments, environment, "environment")?;
        let loaded =
            installed.environments.get(at).ok_or_else(|| HostFault::Internal("floor: no such environment".into()))?;
        let engine = installed.engines.engine(EngineClass::Environment);
        let pre = link(engine, loaded.pre.instance_pre(), Kind::Environment)?;
        let pre = EnvironmentPluginPre::new(pre).map_err(|error| failed(&error))?;
        let names = installed.catalogue.iter().map(|tool| tool.spec.name.to_string()).collect();
        let mut store = store(engine, installed.base.fork(), Arc::new(names))?;
        let bare = start(installed, &tool_pre(installed, tool)?, installed.base.fork())?;
        store.data_mut().tool = Some(Box::new(bare));
        let environment = pre.instantiate(&mut store).map_err(|error| failed(&error))?;
        let observed = environment
            .loopwright_afv_environment()
            .call_reset(&mut store, &setup.to_owned())
            .map_err(|error| failed(&error))?;
        observed.map_err(|failure| HostFault::Internal(format!("floor: reset: {}", failure.message)))?;
        Ok(Self { store, environment })
    }

    /// Runs a turn; how many of its calls were answered.
    ///
    /// # Errors
    /// [`HostFault`] for a trap.
    pub fn turn(&mut self, turn: &Turn) -> Result<usize, HostFault> {
        let answer = self
            .environment
            .loopwright_afv_environment()
            .call_step(&mut self.store, &turn_out(turn))
            .map_err(|error| failed(&error))?;
        Ok(answer.map_or(0, |result| result.feedback.len()))
    }
}

impl VerifierFloor {
    /// The floor of one verifier's verdicts on an episode of a task with these turns, played once by the host.
    ///
    /// # Errors
    /// [`CallFault`] when the task does not run, or the verifier is not installed or does not link bare.
    pub fn over(host: &PluginHost, verifier: &PluginName, task: &Task, turns: &[Turn]) -> Result<Self, CallFault> {
        let serving = host.installed.serving(verifier)?;
        let engine = host.installed.engines.engine(EngineClass::Verifier);
        let pre = link(engine, serving.loaded.pre.instance_pre(), Kind::Verifier)?;
        let mut episode = LiveEpisode::open(&Arc::new(Prepared::new(&host.installed, task, None)?), None)?;
        episode.reset()?;
        for turn in turns {
            episode.step(turn)?;
            episode.end_turn();
        }
        let core = episode.core.take().ok_or_else(|| HostFault::Internal("floor: the episode is gone".into()))?;
        let evidence = Arc::new(BareEvidence {
            steps: core.record.steps.iter().map(step_out).collect(),
            worlds: core.record.worlds.to_vec(),
            ids: core.state.ids.clone(),
            target: core.record.target.clone(),
        });
        Ok(Self { pre: VerifierPluginPre::new(pre).map_err(|error| failed(&error))?, evidence })
    }

    /// Judges in a fresh instance; how many verdicts there were.
    ///
    /// # Errors
    /// [`HostFault`] for a trap.
    pub fn judge(&self, check: &Check, upto: &[u32]) -> Result<usize, HostFault> {
        let base = self.evidence.worlds.first().map(World::fork);
        let base = base.ok_or_else(|| HostFault::Internal("floor: no initial world".into()))?;
        let mut store = store(self.pre.engine(), base, Arc::default())?;
        store.data_mut().evidence = Some(Arc::clone(&self.evidence));
        let verifier = self.pre.instantiate(&mut store).map_err(|error| failed(&error))?;
        let answer = verifier
            .loopwright_afv_verifier()
            .call_judge(&mut store, &canonical(&check.check), upto)
            .map_err(|error| failed(&error))?;
        Ok(answer.map_or(0, |verdicts| verdicts.len()))
    }
}

/// Makes an instance of a tool plugin as the host does, with its budgets and meters, and drops it: what [`ToolFloor::start`] is the floor of.
///
/// # Errors
/// [`CallFault`] when it is not installed or does not start.
pub fn start_tool(host: &PluginHost, plugin: &PluginName) -> Result<(), CallFault> {
    let installed = &host.installed;
    let at = position(&installed.tools, plugin, "tool plugin")?;
    let loaded = installed.tools.get(at).ok_or_else(|| HostFault::Internal("no such tool".into()))?;
    let deadline = installed.engines.deadline(loaded.plugin.limits.call_deadline);
    let engine = installed.engines.engine(EngineClass::Tool);
    Live::new(engine, Arc::clone(&loaded.plugin), deadline, |store| loaded.pre.instantiate(store))
        .map(drop)
        .map_err(|stop| stop.into_fault(plugin))
}

/// The view of bare state that the generated functions use.
pub(crate) type Bare = HasSelf<FloorState>;
