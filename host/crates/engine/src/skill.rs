//! Calls of a skill: like a tool's, but it writes nothing, so that there is no transaction and no evidence.

use std::{mem, sync::Arc};

use loopwright_bindings::skill::SkillPlugin;
use loopwright_contract::{
    fault::{CallFault, GuestFault, HostFault},
    name::SkillName,
};
use wasmtime::Store;

use crate::{
    EngineClass,
    config::InstancePolicy,
    core::{Core, Slot},
    episode::LiveEpisode,
    limits::Stop,
    store::{Live, PluginState, Ran},
};

impl LiveEpisode {
    /// Calls the plugin whose card has that name.
    pub(crate) fn call_skill<R, T>(
        &mut self,
        skill: &SkillName,
        call: impl FnOnce(&SkillPlugin, &mut Store<PluginState>) -> wasmtime::Result<R>,
        read: impl FnOnce(R) -> Result<T, GuestFault>,
    ) -> Result<T, CallFault> {
        let installed = Arc::clone(&self.installed);
        let unknown = || {
            HostFault::Setup(format!(
                "skill `{skill}` is not installed\nhint: build all plugins with `cargo xtask guests`"
            ))
        };
        let position = installed.skill(skill).ok_or_else(unknown)?;
        let loaded = installed.skills.get(position).ok_or_else(unknown)?;
        let name = &loaded.plugin.record.name;
        let mut core = self.take_core()?;
        let _entered = tracing::debug_span!("skill", plugin = %name, step = core.record.steps.len()).entered();
        let deadline = installed.engines.deadline(loaded.plugin.limits.call_deadline);
        let made = match take(&mut core, position) {
            Some(live) => Ok(live),
            None => {
                let engine = installed.engines.engine(EngineClass::Tool);
                Live::new(engine, Arc::clone(&loaded.plugin), deadline.clone(), |store| loaded.pre.instantiate(store))
                    .map(Box::new)
            }
        };
        let mut live = match made {
            Ok(live) => live,
            Err(stop) => {
                self.core = Some(core);
                return Err(stop.into_fault(name));
            }
        };
        let Ran { core, result, .. } = live.run(Some(core), deadline, call);
        self.core = core;
        let result = result.and_then(|answer| read(answer).map_err(Stop::Guest));
        if result.is_ok() && installed.config.instances == InstancePolicy::Keep {
            self.put_skill(position, live);
        }
        result.map_err(|stop| stop.into_fault(name))
    }

    fn put_skill(&mut self, position: usize, live: Box<Live<SkillPlugin>>) {
        if let Some(slot) = self.core.as_mut().and_then(|core| core.skills.get_mut(position)) {
            *slot = Slot::Idle(live);
        }
    }
}

/// The live instance, where there is one. Skills call nobody, so that none is ever busy.
fn take(core: &mut Core, position: usize) -> Option<Box<Live<SkillPlugin>>> {
    match mem::replace(core.skills.get_mut(position)?, Slot::Empty) {
        Slot::Idle(live) => Some(live),
        Slot::Empty | Slot::Busy => None,
    }
}
