//! Planners that do as they are told, and planners that err in every way that models do.

use loopwright_contract::action::{Action, Proposed};
use loopwright_contract::context::Context;
use loopwright_contract::digest::PolicyDigest;
use loopwright_contract::planner::{Decision, DecisionRequest, Planner, PlannerFault, PolicyVersion, Usage};
use serde_json::{Value, json};

use crate::task::finish;

/// Decides one context.
pub type Decide = dyn Fn(&Context, u64) -> Result<Decision, PlannerFault> + Send + Sync;

/// A planner out of a function.
pub struct FakePlanner {
    name: &'static str,
    decide: Box<Decide>,
}

impl FakePlanner {
    /// Decides by `decide`, which gets the context and the seed.
    pub fn new(
        name: &'static str,
        decide: impl Fn(&Context, u64) -> Result<Decision, PlannerFault> + Send + Sync + 'static,
    ) -> Self {
        Self { name, decide: Box::new(decide) }
    }

    /// Plays these proposals, one list a turn, then finishes.
    #[must_use]
    pub fn playing(turns: Vec<Vec<Proposed>>) -> Self {
        Self::new("playing", move |context, _| {
            let proposed = turns.get(context.turn as usize).cloned().unwrap_or_else(|| vec![action(finish("done"))]);
            Ok(Decision { proposed, ..Decision::default() })
        })
    }

    /// The same proposals forever.
    #[must_use]
    pub fn forever(proposed: Vec<Proposed>) -> Self {
        Self::new("forever", move |_, _| Ok(Decision { proposed: proposed.clone(), ..Decision::default() }))
    }

    /// Prose without an action, as a talkative model writes it.
    #[must_use]
    pub fn prose() -> Self {
        Self::forever(vec![Proposed::Unreadable { reason: "expected a call, found prose: `Sure, I will`".to_owned() }])
    }

    /// Arguments that stop in the middle.
    #[must_use]
    pub fn half_json() -> Self {
        Self::forever(vec![raw("set_torch", "{\"on\": tr")])
    }

    /// Arguments in a Markdown fence.
    #[must_use]
    pub fn fenced() -> Self {
        Self::playing(vec![vec![raw("set_torch", "```json\n{\"on\": true}\n```")]])
    }

    /// A tool that does not exist.
    #[must_use]
    pub fn unknown_tool() -> Self {
        Self::forever(vec![raw("launch_rocket", "{}")])
    }

    /// A call that fails, forever.
    #[must_use]
    pub fn same_call_forever() -> Self {
        Self::forever(vec![raw("manage_note", "{\"action\": \"query\", \"key\": \"nowhere\"}")])
    }

    /// Says nothing at all.
    #[must_use]
    pub fn silent() -> Self {
        Self::forever(Vec::new())
    }

    /// Fails in `turn`, and before that does nothing of note.
    #[must_use]
    pub fn faulty(turn: u32, fault: PlannerFault) -> Self {
        Self::new("faulty", move |context, _| {
            if context.turn >= turn {
                return Err(fault.clone());
            }
            Ok(Decision {
                proposed: vec![raw("manage_note", "{\"action\": \"query\", \"key\": \"milk\"}")],
                ..Decision::default()
            })
        })
    }

    /// Reads a note forever and uses `usage` for each decision.
    #[must_use]
    pub fn spending(usage: Usage) -> Self {
        Self::new("spending", move |_, _| {
            let proposed = vec![raw("manage_note", "{\"action\": \"query\", \"key\": \"milk\"}")];
            Ok(Decision { proposed, usage, text: "thinking".to_owned(), ..Decision::default() })
        })
    }
}

/// A typed action, as a proposal.
#[must_use]
pub fn action(value: Action) -> Proposed {
    Proposed::Action { value }
}

/// A call as a language model writes it, without an id.
#[must_use]
pub fn raw(name: &str, arguments: &str) -> Proposed {
    Proposed::Call { id: None, name: name.to_owned(), arguments: arguments.to_owned() }
}

impl Planner for FakePlanner {
    fn version(&self) -> PolicyVersion {
        PolicyVersion {
            name: self.name.to_owned(),
            digest: PolicyDigest::of(self.name.as_bytes()),
            sampling: json!({}),
        }
    }

    fn decide_batch(&self, requests: &[DecisionRequest<'_>]) -> Vec<Result<Decision, PlannerFault>> {
        requests.iter().map(|request| (self.decide)(request.context, request.seed)).collect()
    }
}

/// A planner that answers fewer requests than it was asked.
#[derive(Debug, Clone, Copy, Default)]
pub struct ShortPlanner;

impl Planner for ShortPlanner {
    fn version(&self) -> PolicyVersion {
        PolicyVersion { name: "short".to_owned(), digest: PolicyDigest::of(b"short"), sampling: Value::Null }
    }

    fn decide_batch(&self, requests: &[DecisionRequest<'_>]) -> Vec<Result<Decision, PlannerFault>> {
        requests.iter().skip(1).map(|_| Ok(Decision::default())).collect()
    }
}
