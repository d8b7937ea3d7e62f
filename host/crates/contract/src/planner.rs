//! The planner port: *pi_theta(a_t | c_t, A_t)*, batched.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::action::Proposed;
use crate::context::Context;
use crate::digest::{GrammarDigest, PolicyDigest};

/// Which policy decided, as the trajectory's header records it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PolicyVersion {
    /// `scripted`, `random`, `idle`, or the model's name.
    pub name: String,
    /// Of the parameters.
    pub digest: PolicyDigest,
    /// Sampling parameters and whatever else decides the output.
    pub sampling: Value,
}

/// What a decision used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Usage {
    /// Tokens read, cached ones included.
    pub tokens_in: u64,
    /// Of those, tokens whose state was cached. Not part of a record: it depends on what the planner decided before for others, and nothing
    /// that is the same for every number of threads may.
    #[serde(skip)]
    pub tokens_cached: u64,
    /// Tokens written, reasoning included.
    pub tokens_out: u64,
    /// Of those, tokens of reasoning that is not part of the text.
    pub tokens_reasoning: u64,
    /// Millionths of the operator's currency.
    pub cost_micros: u64,
}

impl Usage {
    /// The sum of two.
    #[must_use]
    pub fn plus(self, other: Self) -> Self {
        Self {
            tokens_in: self.tokens_in.saturating_add(other.tokens_in),
            tokens_cached: self.tokens_cached.saturating_add(other.tokens_cached),
            tokens_out: self.tokens_out.saturating_add(other.tokens_out),
            tokens_reasoning: self.tokens_reasoning.saturating_add(other.tokens_reasoning),
            cost_micros: self.cost_micros.saturating_add(other.cost_micros),
        }
    }
}

/// One sampled token.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct SampledToken {
    /// Its id in the model's vocabulary.
    pub id: u32,
    /// Its natural log-probability in the masked sampling distribution.
    pub logprob: f32,
}

/// What a planner decided.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct Decision {
    /// What it proposes, in order; empty counts as unreadable.
    pub proposed: Vec<Proposed>,
    /// The output as text; for planners that write none, empty.
    pub text: String,
    /// The sampled tokens, where the planner knows them.
    pub tokens: Vec<SampledToken>,
    /// The grammar that masked the sampling, where one did.
    pub grammar: Option<GrammarDigest>,
    /// What it used.
    pub usage: Usage,
}

/// One decision to make.
#[derive(Debug, Clone, Copy)]
pub struct DecisionRequest<'a> {
    /// What is known.
    pub context: &'a Context,
    /// Seeds the sampling: a pure function of the run's seed, the task and the turn, so that a batch's make-up changes nothing.
    pub seed: u64,
}

/// Why a planner did not decide. The episode is void, unless the request itself was too large.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PlannerFault {
    /// The context does not fit the model. The episode is invalid: its token budget is spent.
    #[error("context of {found} tokens, the model takes {limit}")]
    ContextTooLong {
        /// Tokens found.
        found: u64,
        /// Tokens allowed.
        limit: u64,
    },
    /// The model or its server failed, retries included.
    #[error("planner failed: {0}")]
    Failed(String),
}

/// Decides what to do next.
pub trait Planner: Send + Sync {
    /// Which policy this is.
    fn version(&self) -> PolicyVersion;

    /// Decides for each request, in the same order and independently of the others.
    fn decide_batch(&self, requests: &[DecisionRequest<'_>]) -> Vec<Result<Decision, PlannerFault>>;
}
