//! Calls offered tools at random, with arguments out of their schemas. A task that it often passes is a weak task.

use loopwright_contract::action::{Action, Proposed};
use loopwright_contract::context::Context;
use loopwright_contract::digest::PolicyDigest;
use loopwright_contract::name::CallId;
use loopwright_contract::planner::{Decision, DecisionRequest, Planner, PlannerFault, PolicyVersion};
use loopwright_contract::tool::ToolCall;
use serde_json::json;

use super::generate::generate;
use super::idle::finish;
use crate::random::Generator;

/// In how many decisions it finishes one.
const FINISH_ONE_IN: u64 = 8;

/// Uniform over the offered tools.
#[derive(Debug, Clone, Copy, Default)]
pub struct Random;

fn decide(context: &Context, seed: u64) -> Decision {
    let mut generator = Generator::new(seed);
    if generator.chance(1, FINISH_ONE_IN) {
        return Decision { proposed: vec![finish()], ..Decision::default() };
    }
    let call = generator.pick(&context.space.tools).and_then(|spec| {
        let arguments = generate(&spec.arguments_schema, &mut generator);
        let id = CallId::new(format!("random-{}", context.turn)).ok()?;
        Some(Proposed::Action { value: Action::Call(ToolCall { id, tool: spec.name.clone(), arguments }) })
    });
    Decision { proposed: vec![call.unwrap_or_else(finish)], ..Decision::default() }
}

impl Planner for Random {
    fn version(&self) -> PolicyVersion {
        PolicyVersion {
            name: "random".to_owned(),
            digest: PolicyDigest::of(b"random/1"),
            sampling: json!({"finish_one_in": FINISH_ONE_IN}),
        }
    }

    fn decide_batch(&self, requests: &[DecisionRequest<'_>]) -> Vec<Result<Decision, PlannerFault>> {
        requests.iter().map(|request| Ok(decide(request.context, request.seed))).collect()
    }
}
