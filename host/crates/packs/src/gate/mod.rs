//! The admission gate: what must hold of a task before it is used for training or reporting.
//!
//! A broken check is found by running variants of the gold: [`variants`] builds them, a [`GateRunner`] runs them through harness and engine,
//! and [`check_pack`] says which rule each refused task breaks. Nothing here runs a tool; what is judged is the trajectory that comes back.

mod leak;
mod mutate;
mod order;
mod reach;
mod spelling;
mod structure;
mod variants;

use std::collections::BTreeMap;
use std::fmt;

use loopwright_contract::action::Proposed;
use loopwright_contract::json::canonical;
use loopwright_contract::name::TaskId;
use loopwright_contract::task::Task;
use loopwright_contract::tool::InstalledTool;
use loopwright_contract::trajectory::Trajectory;
use loopwright_contract::verdict::Outcome;
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

pub use self::leak::leaks;
pub use self::reach::unreachable_ids;
pub use self::structure::malformed;
pub use self::variants::variants;

/// What a task can break, in the order in which it is looked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Rule {
    /// The task is not well-formed: no gold, an unknown tool, a turn that no planner may decide.
    Malformed,
    /// Request, state and gold are those of an earlier task.
    Duplicate,
    /// The gold does not pass.
    GoldFails,
    /// Doing nothing passes.
    IdlePasses,
    /// The gold passes without one of its writes.
    WriteNotNeeded,
    /// Further reads make the gold fail.
    ReadBreaks,
    /// A legal reordering of the gold fails.
    OrderBreaks,
    /// Another spelling of the same arguments fails.
    SpellingBreaks,
    /// The gold on another target passes.
    WrongTargetPasses,
    /// Two runs of the gold differ.
    NotDeterministic,
    /// The gold uses an id that nothing told.
    UnreachableId,
    /// What the agent sees gives the gold away.
    LeaksGold,
}

impl Rule {
    /// The name in kebab case, as reports print it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Malformed => "malformed",
            Self::Duplicate => "duplicate",
            Self::GoldFails => "gold-fails",
            Self::IdlePasses => "idle-passes",
            Self::WriteNotNeeded => "write-not-needed",
            Self::ReadBreaks => "read-breaks",
            Self::OrderBreaks => "order-breaks",
            Self::SpellingBreaks => "spelling-breaks",
            Self::WrongTargetPasses => "wrong-target-passes",
            Self::NotDeterministic => "not-deterministic",
            Self::UnreachableId => "unreachable-id",
            Self::LeaksGold => "leaks-gold",
        }
    }
}

impl fmt::Display for Rule {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(self.name())
    }
}

/// What must come of a variant.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Expect {
    /// It passes.
    Pass,
    /// It does not pass: fail or invalid.
    NoPass,
}

/// Decisions that are run in place of a planner's.
#[derive(Debug, Clone, PartialEq)]
pub struct Variant {
    /// The rule that the task breaks when the variant comes out otherwise.
    pub rule: Rule,
    /// What was changed, for people.
    pub label: String,
    /// What is proposed in each turn.
    pub decisions: Vec<Vec<Proposed>>,
    /// What must come of it.
    pub expect: Expect,
}

/// Runs decisions through harness, environment and verifiers.
pub trait GateRunner {
    /// Runs a task with these decisions, one inner list a turn; when they run out the episode ends as if the agent had finished with an
    /// empty answer. The trajectory is recorded in full, under an episode id that is the same for each run of the task.
    ///
    /// # Errors
    /// The text of whatever kept the episode from running; the task is then refused under the rule that the variant is for.
    fn run(&self, task: &Task, decisions: &[Vec<Proposed>]) -> Result<Trajectory, String>;
}

/// A task that was not admitted.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Refused {
    /// The task.
    pub id: TaskId,
    /// The first rule that it breaks.
    pub rule: Rule,
    /// What was run and what came of it.
    pub detail: String,
}

/// What the gate found.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Report {
    /// Tasks looked at.
    pub tasks: usize,
    /// Tasks without a broken rule.
    pub admitted: usize,
    /// The others, in the order of the pack, each once.
    pub refused: Vec<Refused>,
}

impl Report {
    /// Counts what [`check_task`] said of one task.
    pub fn add(&mut self, result: Result<(), Refused>) {
        self.tasks = self.tasks.saturating_add(1);
        match result {
            Ok(()) => self.admitted = self.admitted.saturating_add(1),
            Err(refused) => self.refused.push(refused),
        }
    }
}

/// Checks the tasks of a pack one after the other.
pub fn check_pack(tasks: &[Task], tools: &[InstalledTool], runner: &dyn GateRunner) -> Report {
    let mut report = Report::default();
    let doubles = doubles(tasks);
    for task in tasks {
        report.add(check_double(task, &doubles).and_then(|()| check_task(task, tools, runner)));
    }
    report
}

/// For each task that equals an earlier one in request, state and gold: that earlier one.
#[must_use]
pub fn doubles(tasks: &[Task]) -> BTreeMap<TaskId, TaskId> {
    let mut first: BTreeMap<String, &TaskId> = BTreeMap::new();
    let mut doubles = BTreeMap::new();
    for task in tasks {
        let key = canonical(&json!([task.request, task.setup, task.world, task.edits, task.gold]));
        match first.get(&key) {
            Some(earlier) => {
                doubles.insert(task.id.clone(), (*earlier).clone());
            }
            None => {
                first.insert(key, &task.id);
            }
        }
    }
    doubles
}

/// Says whether a task is one of the [`doubles`].
///
/// # Errors
/// [`Refused`] with [`Rule::Duplicate`].
pub fn check_double(task: &Task, doubles: &BTreeMap<TaskId, TaskId>) -> Result<(), Refused> {
    match doubles.get(&task.id) {
        Some(earlier) => {
            Err(refused(task, Rule::Duplicate, format!("request, state and gold are those of `{earlier}`")))
        }
        None => Ok(()),
    }
}

/// Checks one task by itself; tasks are independent, so a host may run them side by side.
///
/// # Errors
/// [`Refused`] with the first rule that the task breaks.
pub fn check_task(task: &Task, tools: &[InstalledTool], runner: &dyn GateRunner) -> Result<(), Refused> {
    if let Some(reason) = malformed(task, tools) {
        return Err(refused(task, Rule::Malformed, reason));
    }
    let mut gold = None;
    for variant in variants(task, tools) {
        let run = runner.run(task, &variant.decisions);
        judge(task, &variant, &run)?;
        if variant.rule == Rule::GoldFails {
            gold = Some((variant.decisions, run));
        }
    }
    let Some((decisions, Ok(first))) = gold else { return Ok(()) };
    let second = runner
        .run(task, &decisions)
        .map_err(|error| refused(task, Rule::NotDeterministic, format!("the second run did not run: {error}")))?;
    if let Some(difference) = difference(&first, &second) {
        return Err(refused(task, Rule::NotDeterministic, difference));
    }
    if let Some(id) = unreachable_ids(task, &first).first() {
        return Err(refused(task, Rule::UnreachableId, id.clone()));
    }
    match leaks(task, &first) {
        Some(leak) => Err(refused(task, Rule::LeaksGold, leak)),
        None => Ok(()),
    }
}

fn judge(task: &Task, variant: &Variant, run: &Result<Trajectory, String>) -> Result<(), Refused> {
    let found = match run {
        Err(error) => format!("did not run: {error}"),
        Ok(trajectory) => match trajectory.footer.as_ref().map(|footer| &footer.outcome) {
            None => "was cut off".to_owned(),
            Some(Outcome::Void(reason)) => format!("is void: {reason}"),
            Some(Outcome::Pass) if variant.expect == Expect::Pass => return Ok(()),
            Some(Outcome::Fail | Outcome::Invalid(_)) if variant.expect == Expect::NoPass => return Ok(()),
            Some(Outcome::Pass) => "passes".to_owned(),
            Some(Outcome::Invalid(reason)) => format!("is invalid: {reason}"),
            Some(Outcome::Fail) => format!("fails: {}", failed_criteria(trajectory)),
        },
    };
    Err(refused(task, variant.rule, format!("{} {found}", variant.label)))
}

fn failed_criteria(trajectory: &Trajectory) -> String {
    let failed =
        trajectory.verdicts.iter().flat_map(|judged| judged.verdict.criteria()).filter(|criterion| !criterion.passed);
    let reasons: Vec<String> =
        failed.take(4).map(|criterion| format!("{}: {}", criterion.id, criterion.reason)).collect();
    if reasons.is_empty() { "no criterion says why".to_owned() } else { reasons.join("; ") }
}

fn refused(task: &Task, rule: Rule, detail: String) -> Refused {
    Refused { id: task.id.clone(), rule, detail }
}

/// Where two trajectories differ first: a line and a place in it.
fn difference(first: &Trajectory, second: &Trajectory) -> Option<String> {
    let lines = |trajectory: &Trajectory| -> Vec<Value> {
        let mut lines = vec![serde_json::to_value(&trajectory.header).unwrap_or_default()];
        lines.extend(trajectory.turns.iter().map(|turn| serde_json::to_value(turn).unwrap_or_default()));
        lines.extend(trajectory.verdicts.iter().map(|verdict| serde_json::to_value(verdict).unwrap_or_default()));
        lines.push(serde_json::to_value(&trajectory.footer).unwrap_or_default());
        lines
    };
    let (first, second) = (lines(first), lines(second));
    if first.len() != second.len() {
        return Some(format!("the first run has {} lines, the second {}", first.len(), second.len()));
    }
    let place = |(line, (first, second)): (usize, (&Value, &Value))| {
        if canonical(first) == canonical(second) {
            return None;
        }
        let at = crate::tau2::first_difference(first, second).unwrap_or_default();
        Some(format!("line {}, at `{at}`: two runs of the gold differ", line.saturating_add(1)))
    };
    first.iter().zip(&second).enumerate().find_map(place)
}

#[cfg(test)]
mod tests;
