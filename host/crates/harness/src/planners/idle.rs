//! Finishes at once, having done nothing. A task that it passes is no task.

use loopwright_contract::action::{Action, Proposed};
use loopwright_contract::digest::PolicyDigest;
use loopwright_contract::planner::{Decision, DecisionRequest, Planner, PlannerFault, PolicyVersion};
use serde_json::json;

/// Finishes at once.
#[derive(Debug, Clone, Copy, Default)]
pub struct Idle;

/// The decision that ends an episode without a word.
pub(super) fn finish() -> Proposed {
    Proposed::Action { value: Action::Finish { answer: String::new(), data: None } }
}

impl Planner for Idle {
    fn version(&self) -> PolicyVersion {
        PolicyVersion { name: "idle".to_owned(), digest: PolicyDigest::of(b"idle/1"), sampling: json!({}) }
    }

    fn decide_batch(&self, requests: &[DecisionRequest<'_>]) -> Vec<Result<Decision, PlannerFault>> {
        requests.iter().map(|_| Ok(Decision { proposed: vec![finish()], ..Decision::default() })).collect()
    }
}
