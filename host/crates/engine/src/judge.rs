//! Judges an episode in a fresh instance of a verifier. The evidence moves into its store and comes back; the verifier can only read it.

use std::sync::Arc;

use loopwright_bindings::{
    convert::verdict::{judge_error_in, verdicts_in},
    verifier::VerifierPluginPre,
};
use loopwright_contract::{
    fault::{CallFault, GuestFault, HostFault},
    json::canonical,
    limits::PREFIXES_MAX,
    task::Check,
    verdict::JudgedCheck,
};

use crate::{
    EngineClass,
    core::Core,
    installed::{Installed, Loaded, position},
    limits::Stop,
    store::{Live, PluginState, Ran},
};

/// The verdicts of one check on prefixes of an episode, and the episode.
pub(crate) fn judge(
    installed: &Installed,
    core: Box<Core>,
    index: u32,
    check: &Check,
    upto: &[u32],
) -> (Option<Box<Core>>, Result<Vec<JudgedCheck>, CallFault>) {
    let loaded = match prepare(installed, &core, check, upto) {
        Ok(loaded) => loaded,
        Err(fault) => return (Some(core), Err(fault.into())),
    };
    let record = &loaded.plugin.record;
    let _entered =
        tracing::debug_span!("verifier", plugin = %record.name, check = index, step = core.record.steps.len())
            .entered();
    let deadline = installed.engines.deadline(loaded.plugin.limits.call_deadline);
    let engine = installed.engines.engine(EngineClass::Verifier);
    let live = Live::new(engine, Arc::clone(&loaded.plugin), deadline.clone(), |store| loaded.pre.instantiate(store));
    let mut live = match live {
        Ok(live) => live,
        Err(stop) => return (Some(core), Err(stop.into_fault(&record.name))),
    };
    let text = canonical(&check.check);
    let Ran { core, result, fuel } = live
        .run(Some(core), deadline, |bindings, store| bindings.loopwright_afv_verifier().call_judge(store, &text, upto));
    let verdicts = result.and_then(|answer| {
        let contract = |what| Stop::Guest(GuestFault::Contract { what });
        let verdicts = answer.map_err(|error| contract(judge_error_in(error)))?;
        verdicts_in(verdicts, upto.len()).map_err(|violation| contract(format!("judge: {violation}")))
    });
    let judged = verdicts.map(|verdicts| {
        let judged = |(upto, verdict): (&u32, _)| {
            let (verifier, verifier_digest) = (record.name.clone(), record.digest);
            JudgedCheck { check: index, verifier, verifier_digest, upto: *upto, fuel, verdict }
        };
        upto.iter().zip(verdicts).map(judged).collect()
    });
    (core, judged.map_err(|stop| stop.into_fault(&record.name)))
}

/// The verifier, when the prefixes are ones of this episode.
fn prepare<'a>(
    installed: &'a Installed,
    core: &Core,
    check: &Check,
    upto: &[u32],
) -> Result<&'a Loaded<VerifierPluginPre<PluginState>>, HostFault> {
    let steps = core.record.steps.len();
    let ascending = upto.windows(2).all(|pair| matches!(pair, [a, b] if a < b));
    let within = upto.last().is_some_and(|last| usize::try_from(*last).is_ok_and(|last| last <= steps));
    if upto.len() > PREFIXES_MAX || !ascending || !within {
        let what = format!("prefixes to judge: expected 1 to {PREFIXES_MAX}, ascending, up to {steps}; found {upto:?}");
        return Err(HostFault::Internal(what));
    }
    let at = position(&installed.verifiers, &check.verifier, "verifier")?;
    installed.verifiers.get(at).ok_or_else(|| HostFault::Internal("a verifier's place is gone".into()))
}
