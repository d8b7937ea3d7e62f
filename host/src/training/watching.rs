//! What a planner saw and decided, decision by decision: demonstrations are made of it. It decides nothing.

use std::collections::BTreeMap;
use std::sync::{Mutex, PoisonError};

use loopwright_contract::action::{Action, Proposed};
use loopwright_contract::context::Context;
use loopwright_contract::name::EpisodeId;
use loopwright_contract::planner::{Decision, DecisionRequest, Planner, PlannerFault, PolicyVersion};

/// A context and what was decided in it.
#[derive(Debug, Clone, PartialEq)]
pub struct Seen {
    /// What was known.
    pub context: Context,
    /// What was decided.
    pub decision: Decision,
}

impl Seen {
    /// What was decided, as actions; proposals of another form are left out.
    #[must_use]
    pub fn actions(&self) -> Vec<Action> {
        actions(&self.decision)
    }
}

/// What a decision proposes, as actions; proposals of another form are left out.
#[must_use]
pub fn actions(decision: &Decision) -> Vec<Action> {
    let action = |proposed: &Proposed| match proposed {
        Proposed::Action { value } => Some(value.clone()),
        _ => None,
    };
    decision.proposed.iter().filter_map(action).collect()
}

/// A planner that keeps what another one saw and decided.
pub struct Watching<'a> {
    planner: &'a dyn Planner,
    seen: Mutex<BTreeMap<EpisodeId, Vec<Seen>>>,
}

impl<'a> Watching<'a> {
    /// Watches a planner.
    #[must_use]
    pub fn new(planner: &'a dyn Planner) -> Self {
        Self { planner, seen: Mutex::default() }
    }

    /// What was seen of each episode since this was last asked, in order.
    #[must_use]
    pub fn take(&self) -> BTreeMap<EpisodeId, Vec<Seen>> {
        std::mem::take(&mut *self.seen.lock().unwrap_or_else(PoisonError::into_inner))
    }
}

impl Planner for Watching<'_> {
    fn version(&self) -> PolicyVersion {
        self.planner.version()
    }

    fn decide_batch(&self, requests: &[DecisionRequest<'_>]) -> Vec<Result<Decision, PlannerFault>> {
        let decisions = self.planner.decide_batch(requests);
        let mut seen = self.seen.lock().unwrap_or_else(PoisonError::into_inner);
        for (request, decision) in requests.iter().zip(&decisions) {
            if let Ok(decision) = decision {
                let (context, decision) = (request.context.clone(), decision.clone());
                seen.entry(request.context.episode.clone()).or_default().push(Seen { context, decision });
            }
        }
        drop(seen);
        decisions
    }
}
