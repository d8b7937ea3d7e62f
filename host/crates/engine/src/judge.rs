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
    input::input_digests,
    installed::{Installed, Loaded},
    limits::Stop,
    store::{Live, PluginState, Ran},
    swap::{Generation, Slot},
};

/// Why a verifier gave no verdicts.
pub(crate) enum NoVerdict {
    /// It says that it cannot judge this check, or not with this evidence.
    Refused(String),
    /// It failed, or the host did.
    Stop(Stop),
}

impl NoVerdict {
    fn into_fault(self, verifier: &Generation) -> CallFault {
        let stop = match self {
            Self::Refused(what) => Stop::Guest(GuestFault::Contract { what }),
            Self::Stop(stop) => stop,
        };
        stop.into_fault(&verifier.loaded.plugin.record.name)
    }

    fn is_guests(&self) -> bool {
        matches!(self, Self::Stop(Stop::Guest(_)))
    }
}

/// What judging gives back: the episode, and the verdicts of one check on the prefixes that were asked for.
type Judged<E> = (Option<Box<Core>>, Result<Vec<JudgedCheck>, E>);

/// The verdicts of one check on prefixes of an episode. The generation is taken once, and the verdicts name it. Where its fault is the one too
/// many, the generation before it judges instead.
pub(crate) fn judge(
    installed: &Installed,
    core: Box<Core>,
    index: u32,
    check: &Check,
    upto: &[u32],
) -> Judged<CallFault> {
    let checked = prefixes(&core, upto).and_then(|()| installed.serving(&check.verifier));
    let serving = match checked {
        Ok(serving) => core.pins.as_ref().and_then(|pins| pins.get(&check.verifier)).cloned().unwrap_or(serving),
        Err(fault) => return (Some(core), Err(fault.into())),
    };
    let Some(slot) = installed.verifiers.iter().find(|slot| *slot.name() == check.verifier) else {
        return (Some(core), Err(HostFault::Internal("a verifier's place is gone".into()).into()));
    };
    let pinned = core.pins.is_some();
    let (core, judged) = judge_with(installed, &serving.loaded, core, index, check, upto);
    match (judged, core) {
        (Ok(judged), Some(core)) => {
            Slot::judged(&serving);
            let core = if pinned { Some(core) } else { shadowed(installed, slot, core, check, &judged) };
            (core, Ok(judged))
        }
        (Err(reason), Some(core)) if reason.is_guests() && slot.failed(&serving) && !pinned => {
            let back = slot.serving();
            let (core, judged) = judge_with(installed, &back.loaded, core, index, check, upto);
            (core, judged.map_err(|reason| reason.into_fault(&back)))
        }
        (judged, core) => (core, judged.map_err(|reason| reason.into_fault(&serving))),
    }
}

/// Lets the shadow judge the same evidence, where one runs. Nothing of it reaches the record.
fn shadowed(
    installed: &Installed,
    slot: &Slot,
    core: Box<Core>,
    check: &Check,
    judged: &[JudgedCheck],
) -> Option<Box<Core>> {
    let Some(shadow) = slot.shadow() else { return Some(core) };
    let index = judged.first().map_or(0, |judged| judged.check);
    let upto: Vec<u32> = judged.iter().map(|judged| judged.upto).collect();
    let (core, shadowed) = judge_with(installed, &shadow.generation.loaded, core, index, check, &upto);
    slot.compare(&shadow, judged, shadowed.ok().as_deref());
    core
}

/// Judges with one component, whatever serves.
pub(crate) fn judge_with(
    installed: &Installed,
    loaded: &Loaded<VerifierPluginPre<PluginState>>,
    core: Box<Core>,
    index: u32,
    check: &Check,
    upto: &[u32],
) -> Judged<NoVerdict> {
    let record = &loaded.plugin.record;
    let _entered =
        tracing::debug_span!("verifier", plugin = %record.name, check = index, step = core.record.steps.len())
            .entered();
    let deadline = installed.engines.deadline(loaded.plugin.limits.call_deadline);
    let engine = installed.engines.engine(EngineClass::Verifier);
    let live = Live::new(engine, Arc::clone(&loaded.plugin), deadline.clone(), |store| loaded.pre.instantiate(store));
    let mut live = match live {
        Ok(live) => live,
        Err(stop) => return (Some(core), Err(NoVerdict::Stop(stop))),
    };
    let text = canonical(&check.check);
    let waits = || deadline.is_open();
    let Some(inputs) = input_digests(&core.record, &text, upto, &waits) else {
        return (Some(core), Err(NoVerdict::Stop(Stop::Host(deadline.passed()))));
    };
    let Ran { core, result, fuel } = live
        .run(Some(core), deadline, |bindings, store| bindings.loopwright_afv_verifier().call_judge(store, &text, upto));
    let verdicts = result.map_err(NoVerdict::Stop).and_then(|answer| {
        let verdicts = answer.map_err(|error| NoVerdict::Refused(judge_error_in(error)))?;
        let contract = |what| NoVerdict::Stop(Stop::Guest(GuestFault::Contract { what }));
        verdicts_in(verdicts, upto.len()).map_err(|violation| contract(format!("judge: {violation}")))
    });
    let judged = verdicts.map(|verdicts| {
        let judged = |((upto, input), verdict): ((&u32, _), _)| JudgedCheck {
            check: index,
            verifier: record.name.clone(),
            verifier_digest: record.digest,
            engine: installed.fingerprint.clone(),
            input,
            upto: *upto,
            fuel,
            verdict,
        };
        upto.iter().zip(inputs).zip(verdicts).map(judged).collect()
    });
    (core, judged)
}

/// Whether the prefixes are ones of this episode.
fn prefixes(core: &Core, upto: &[u32]) -> Result<(), HostFault> {
    let steps = core.record.steps.len();
    let ascending = upto.windows(2).all(|pair| matches!(pair, [a, b] if a < b));
    let within = upto.last().is_some_and(|last| usize::try_from(*last).is_ok_and(|last| last <= steps));
    if upto.len() <= PREFIXES_MAX && ascending && within {
        return Ok(());
    }
    let what = format!("prefixes to judge: expected 1 to {PREFIXES_MAX}, ascending, up to {steps}; found {upto:?}");
    Err(HostFault::Internal(what))
}
