//! What a verifier is tried on before it serves: an episode in which nothing happened, judged twice.

use std::sync::Arc;

use loopwright_contract::{fault::HostFault, task::Check, verdict::JudgedCheck};
use loopwright_world::{Clock, EpisodeState};
use serde_json::json;

use super::SwapError;
use crate::{
    bindings::verifier::VerifierPluginPre,
    core::Core,
    installed::{Installed, Loaded},
    judge::{NoVerdict, judge_with},
    limits::Stop,
    record::Record,
    store::PluginState,
};

/// Judges an empty episode twice. The check is empty too, and a verifier may refuse it as malformed; what it may not do is trap, spend a budget, or
/// answer something else the second time.
pub(crate) fn try_out(
    installed: &Arc<Installed>,
    loaded: &Loaded<VerifierPluginPre<PluginState>>,
) -> Result<(), SwapError> {
    let name = &loaded.plugin.record.name;
    let first = once(installed, loaded)?;
    if once(installed, loaded)? != first {
        let reason = "it judged the same evidence twice and said two different things".to_owned();
        return Err(SwapError::Trial { name: name.clone(), reason, fault: None });
    }
    Ok(())
}

/// What it says; as text where it refuses the check.
fn once(
    installed: &Arc<Installed>,
    loaded: &Loaded<VerifierPluginPre<PluginState>>,
) -> Result<Result<Vec<JudgedCheck>, String>, SwapError> {
    let internal = |error: &dyn std::fmt::Display| HostFault::Internal(format!("trial of a verifier: {error}"));
    let clock = Clock::new(0, "UTC").map_err(|error| internal(&error))?;
    let state = EpisodeState::new(installed.base.fork(), clock, 0).map_err(|error| internal(&error))?;
    let record = Record::new(state.world.fork(), None);
    let core = Box::new(Core::new(Arc::clone(installed), state, 0, record));
    let check = Check { verifier: loaded.plugin.record.name.clone(), check: json!({}) };
    let (_, judged) = judge_with(installed, loaded, core, 0, &check, &[0]);
    match judged {
        Ok(judged) => Ok(Ok(judged)),
        Err(NoVerdict::Refused(what)) => Ok(Err(what)),
        Err(NoVerdict::Stop(Stop::Host(fault))) => Err(SwapError::Host(fault)),
        Err(NoVerdict::Stop(Stop::Guest(fault))) => {
            let reason = "on an episode in which nothing happened".to_owned();
            Err(SwapError::Trial { name: loaded.plugin.record.name.clone(), reason, fault: Some(fault) })
        }
    }
}
