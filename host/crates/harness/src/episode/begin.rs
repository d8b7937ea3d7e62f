//! What an episode begins with: its first context and its header.

use loopwright_contract::context::{Context, Event, Remaining};
use loopwright_contract::environment::Observation;
use loopwright_contract::episode::Episode;
use loopwright_contract::limits::EpisodeBudget;
use loopwright_contract::memory::MemoryRecord;
use loopwright_contract::trajectory::{FORMAT, Header};

use super::offer::Offered;
use super::{Plan, civil_now};
use crate::context::shared_rules;
use crate::harness::Harness;
use crate::settings::WIT_VERSION;

/// The context of the first decision.
pub(super) fn first_context(
    plan: &Plan<'_>,
    harness: &Harness,
    episode: &dyn Episode,
    offered: &Offered,
    observation: &Observation,
    remembered: &[MemoryRecord],
    budget: EpisodeBudget,
) -> Context {
    let task = plan.task;
    let served = match civil_now(episode) {
        Ok(now) if !remembered.is_empty() => plan.memory.served(remembered, &task.request, &now),
        _ => Vec::new(),
    };
    let notices = observation.notices.iter().map(|value| Event::Notice { value: value.clone() });
    Context {
        episode: plan.id.clone(),
        task: task.id.clone(),
        task_digest: plan.task_digest,
        turn: 0,
        rules: shared_rules(&task.lang),
        space: harness.space(&offered.names()),
        memory: served,
        lang: task.lang.clone(),
        now: episode.now_text(),
        request: task.request.clone(),
        skills: Vec::new(),
        history: notices.collect(),
        remaining: Remaining { steps: budget.steps, tokens: budget.tokens },
    }
}

/// The header; none when no lines are kept. The installed plugins are left out, for [`Harness::plugins_text`] to stand in their place.
pub(super) fn header(harness: &Harness, plan: &Plan<'_>, observation: &Observation) -> Option<Header> {
    let (initial, target) = plan.worlds.filter(|_| plan.journal.keeps())?;
    let installed = || (Vec::new(), harness.host().fingerprint().to_owned());
    let (plugins, engine) = plan.recorded.clone().unwrap_or_else(installed);
    Some(Header {
        format: FORMAT.to_owned(),
        episode: plan.id.clone(),
        task: plan.task.clone(),
        task_digest: plan.task_digest,
        policy: plan.policy.clone(),
        harness: harness.digest(),
        settings: harness.settings().record(),
        plugins,
        skill_files: harness.skills().file_digests(),
        seed: plan.seed,
        world_seed: plan.world_seed,
        wit: WIT_VERSION.to_owned(),
        engine,
        record: plan.record,
        initial,
        target,
        observation: observation.clone(),
        memory: plan.memory_use.clone(),
    })
}
