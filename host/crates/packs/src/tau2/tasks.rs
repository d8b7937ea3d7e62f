//! Tasks of the benchmark as tasks of ours: the scenario becomes the request, the gold actions become turns of one call, and the state that
//! they lead to is the check.

use loopwright_contract::action::Action;
use loopwright_contract::limits::EpisodeBudget;
use loopwright_contract::name::{CallId, Lang, NameError, PluginName, TaskId, ToolName};
use loopwright_contract::task::{Check, Provenance, Split, Start, Task, UserScript};
use loopwright_contract::tool::ToolCall;
use serde::Deserialize;
use serde_json::{Value, json};

use super::{TASKS_FILE, task_id, typed};
use crate::pack::{PackError, sha256};

/// 2024-05-15T15:00 in New York, the time that the benchmark's policies give.
const START_NS: u64 = 1_715_799_600_000_000_000;
const ZONE: &str = "America/New_York";
/// Decisions beyond those of the gold.
const SPARE_STEPS: u32 = 5;

#[derive(Deserialize)]
struct Original {
    id: String,
    user_scenario: Scenario,
    evaluation_criteria: Criteria,
}

#[derive(Deserialize)]
struct Scenario {
    instructions: Instructions,
}

#[derive(Deserialize)]
#[serde(untagged)]
enum Instructions {
    Parts {
        reason_for_call: Option<String>,
        known_info: Option<String>,
        unknown_info: Option<String>,
        task_instructions: Option<String>,
    },
    Text(String),
}

#[derive(Deserialize)]
struct Criteria {
    #[serde(default)]
    actions: Option<Vec<GoldAction>>,
    #[serde(default)]
    communicate_info: Option<Vec<String>>,
}

#[derive(Deserialize)]
struct GoldAction {
    name: ToolName,
    arguments: Value,
}

pub(super) fn read(world: &str, bytes: &[u8]) -> Result<Vec<Task>, PackError> {
    let originals: Vec<Original> = typed(TASKS_FILE, 1, bytes)?;
    let hash = sha256(bytes);
    originals
        .into_iter()
        .enumerate()
        .map(|(position, original)| {
            let id = original.id.clone();
            task(world, original, &hash).map_err(|error| PackError::Inconsistent {
                task: id,
                line: position.saturating_add(1),
                reason: error.to_string(),
            })
        })
        .collect()
}

fn task(world: &str, original: Original, hash: &str) -> Result<Task, NameError> {
    let communicated = original.evaluation_criteria.communicate_info.unwrap_or_default();
    let gold = gold(original.evaluation_criteria.actions.unwrap_or_default(), &communicated)?;
    let mut checks = vec![Check { verifier: PluginName::new("target-state")?, check: json!({}) }];
    if !communicated.is_empty() {
        checks.push(Check {
            verifier: PluginName::new("state-assertions")?,
            check: json!({"rows": [{"answer_contains": communicated}]}),
        });
    }
    let decisions = u32::try_from(gold.len()).unwrap_or(u32::MAX);
    let default = EpisodeBudget::default();
    Ok(Task {
        id: TaskId::new(task_id(world, &original.id))?,
        family: world.to_owned(),
        category: "customer_service".to_owned(),
        split: Split::Train,
        lang: Lang::english(),
        request: request(original.user_scenario.instructions),
        environment: PluginName::new("sandbox")?,
        setup: json!({}),
        start: Start { now_ns: START_NS, zone: ZONE.to_owned(), seed: 0 },
        world: Some(world.to_owned()),
        edits: Vec::new(),
        user: UserScript::default(),
        gold,
        checks,
        budget: EpisodeBudget { steps: default.steps.max(decisions.saturating_add(SPARE_STEPS)), ..default },
        provenance: Provenance {
            source: "tau2-bench".to_owned(),
            licence: "MIT".to_owned(),
            source_hash: Some(format!("sha256:{hash}")),
            transform: "scenario as request, gold actions as turns, final state as check".to_owned(),
        },
    })
}

fn gold(actions: Vec<GoldAction>, communicated: &[String]) -> Result<Vec<Vec<Action>>, NameError> {
    let mut gold = Vec::with_capacity(actions.len().saturating_add(1));
    for (position, action) in actions.into_iter().enumerate() {
        let id = CallId::new(format!("c{}", position.saturating_add(1)))?;
        gold.push(vec![Action::Call(ToolCall { id, tool: action.name, arguments: action.arguments })]);
    }
    let answer = if communicated.is_empty() { "Done.".to_owned() } else { communicated.join(", ") };
    gold.push(vec![Action::Finish { answer, data: None }]);
    Ok(gold)
}

fn request(instructions: Instructions) -> String {
    let parts = match instructions {
        Instructions::Text(text) => vec![text],
        Instructions::Parts { reason_for_call, known_info, unknown_info, task_instructions } => {
            [reason_for_call, known_info, unknown_info, task_instructions].into_iter().flatten().collect()
        }
    };
    // Some scenarios have a lone full stop where they say nothing.
    let parts = parts.iter().map(|part| part.trim()).filter(|part| part.chars().any(char::is_alphanumeric));
    parts.collect::<Vec<_>>().join("\n")
}
