//! Plays the gold of the tasks that it was given. It sees the offered tools no better than others: what recall missed, it cannot call.

use std::collections::BTreeMap;

use loopwright_contract::action::{Action, Proposed};
use loopwright_contract::digest::{PolicyDigest, TaskDigest};
use loopwright_contract::planner::{Decision, DecisionRequest, Planner, PlannerFault, PolicyVersion};
use loopwright_contract::task::Task;
use serde_json::json;

use super::idle::finish;

/// Plays gold, then finishes.
#[derive(Debug, Clone, Default)]
pub struct Scripted {
    gold: BTreeMap<TaskDigest, Vec<Vec<Action>>>,
}

impl Scripted {
    /// Knows the gold of `tasks`.
    #[must_use]
    pub fn new(tasks: &[Task]) -> Self {
        Self { gold: tasks.iter().map(|task| (task.digest(), task.gold.clone())).collect() }
    }

    /// Plays these decisions on a task instead of its gold, such as gold minus a write.
    #[must_use]
    pub fn with_decisions(mut self, task: &Task, decisions: Vec<Vec<Action>>) -> Self {
        self.gold.insert(task.digest(), decisions);
        self
    }

    fn decide(&self, request: &DecisionRequest<'_>) -> Result<Decision, PlannerFault> {
        let context = request.context;
        let unknown = || PlannerFault::Failed(format!("there is no gold for task `{}`", context.task));
        let gold = self.gold.get(&context.task_digest).ok_or_else(unknown)?;
        let proposed = match gold.get(context.turn as usize) {
            Some(actions) => actions.iter().map(|value| Proposed::Action { value: value.clone() }).collect(),
            None => vec![finish()],
        };
        Ok(Decision { proposed, ..Decision::default() })
    }
}

impl Planner for Scripted {
    fn version(&self) -> PolicyVersion {
        // The gold itself is part of the task, whose digest the trajectory names.
        PolicyVersion { name: "scripted".to_owned(), digest: PolicyDigest::of(b"scripted/1"), sampling: json!({}) }
    }

    fn decide_batch(&self, requests: &[DecisionRequest<'_>]) -> Vec<Result<Decision, PlannerFault>> {
        requests.iter().map(|request| self.decide(request)).collect()
    }
}
