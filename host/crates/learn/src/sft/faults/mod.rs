//! Which turns of a trajectory are erroneous, from evidence alone: results, changes and verdicts. It knows no plugin, no schema and no intention.
//!
//! | cause | evidence | exception |
//! |---|---|---|
//! | an error result | a call that was refused, an output that could not be taken | what our side may cause (429, 503, 504); a call that waits for confirmation; a call that the task's gold makes at that place, such as one that is to be refused |
//! | a repeat | all its calls were made before with the same answers, and nothing was learnt or changed since | a write that is made again once evidence came in between |
//! | a write undone later | what it changed is later as it was before, for good | the task's gold makes that call; without gold, a criterion came to hold meanwhile for good |
//! | a write corrected later | the same tool wrote another value over it, for good | the same |
//! | a criterion lost | it held, and after the turn it does not | the task's gold makes that call |
//! | a side effect | it wrote, in a task with gold, what no criterion came to hold by | the task's gold makes that call; it put back what was there before |
//!
//! The turn that mends something is never erroneous for that: recovery is supervised. A write that an erroneous turn undid is not erroneous either.

mod changes;
mod criteria;
mod repeats;
#[cfg(test)]
mod tests;
mod view;

use std::collections::{BTreeMap, BTreeSet};

use loopwright_contract::evidence::Step;
use loopwright_contract::name::{CollectionName, ToolName};
use loopwright_contract::trajectory::{Trajectory, VerifiedTrajectory};
use serde::{Deserialize, Serialize};

use self::view::View;

/// Why a turn is erroneous.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Cause {
    /// A call of it was refused, or its output could not be taken.
    ErrorResult,
    /// It did again what it had done, and nothing new was known.
    Repeat,
    /// What it wrote was taken back later.
    Undone,
    /// What it wrote was written over later.
    Corrected,
    /// A criterion that held does not hold after it.
    CriterionLost,
    /// What it wrote served no criterion and is no part of the gold. Another way to the goal counts as one, too, where it prepares what it needs by
    /// other calls than the gold: meant for teachers that follow the gold.
    SideEffect,
}

impl Cause {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::ErrorResult, Self::Repeat, Self::Undone, Self::Corrected, Self::CriterionLost, Self::SideEffect];
}

/// What the finder is told beside the trajectory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Rules {
    /// The causes that count.
    pub causes: BTreeSet<Cause>,
    /// Tools that write; none: those that changed something in the trajectory.
    pub writers: Option<BTreeSet<ToolName>>,
    /// Fields that say nothing, such as times of change: JSON pointers by collection.
    pub bookkeeping: BTreeMap<CollectionName, Vec<String>>,
}

impl Default for Rules {
    /// All causes, no bookkeeping, and writers as they are seen to write.
    fn default() -> Self {
        Self { causes: Cause::ALL.into_iter().collect(), writers: None, bookkeeping: BTreeMap::new() }
    }
}

/// The turn of each step of evidence, which verdicts count by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepTurns(Vec<u32>);

impl StepTurns {
    /// Of the steps themselves.
    #[must_use]
    pub fn of(steps: &[Step]) -> Self {
        Self(steps.iter().map(|step| step.turn).collect())
    }

    /// Of a trajectory without its steps: each action is one. None where their number says otherwise, as it does when users and rules of the world
    /// act too.
    #[must_use]
    pub fn by_actions(trajectory: &Trajectory) -> Option<Self> {
        let turns = trajectory.turns.iter().flat_map(|turn| std::iter::repeat_n(turn.turn, turn.actions.len()));
        let turns: Vec<u32> = turns.collect();
        let expected = trajectory.footer.as_ref().map(|footer| footer.steps as usize);
        (expected == Some(turns.len())).then_some(Self(turns))
    }
}

/// An erroneous turn.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Finding {
    /// The turn.
    pub turn: u32,
    /// Why.
    pub cause: Cause,
}

/// What was found in a trajectory.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize)]
pub struct Findings {
    /// By turn; a turn comes once for each cause.
    pub findings: Vec<Finding>,
    /// Criteria that were lost where no single turn can be named, because too few prefixes were judged.
    pub unlocated: u32,
}

impl Findings {
    /// The erroneous turns.
    #[must_use]
    pub fn turns(&self) -> BTreeSet<u32> {
        self.findings.iter().map(|finding| finding.turn).collect()
    }
}

/// Why nothing can be found.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FindError {
    /// Only digests were kept.
    #[error("turn {turn} keeps digests alone\nhint: record demonstrations in full")]
    NotKept {
        /// The turn.
        turn: u32,
    },
    /// A verdict on more steps than there are.
    #[error("a verdict is on {upto} steps, and there are {steps}")]
    Steps {
        /// Steps of the verdict.
        upto: u32,
        /// Steps that are known.
        steps: usize,
    },
}

/// Finds the erroneous turns of a trajectory. Judged at every turn's end it says most: with the last verdict alone no criterion is seen to be lost.
///
/// # Errors
/// [`FindError`] for a trajectory recorded by digest, and for steps that are not its.
pub fn find(trajectory: &VerifiedTrajectory, steps: &StepTurns, rules: &Rules) -> Result<Findings, FindError> {
    let view = View::of(trajectory.trajectory(), rules)?;
    let criteria = criteria::Criteria::of(trajectory.trajectory(), &steps.0, &view)?;
    let mut found: BTreeSet<Finding> = BTreeSet::new();
    let mut note = |cause: Cause, turns: BTreeSet<u32>| {
        found.extend(turns.into_iter().map(|turn| Finding { turn, cause }));
    };
    note(Cause::ErrorResult, view.turns.iter().filter(|turn| turn.is_error).map(|turn| turn.turn).collect());
    note(Cause::Repeat, repeats::repeats(&view));
    note(Cause::CriterionLost, criteria.lost.clone());
    let writes = changes::writes(&view, &criteria, rules);
    note(Cause::Undone, writes.undone);
    note(Cause::Corrected, writes.corrected);
    note(Cause::SideEffect, writes.side_effects);
    let findings = found.into_iter().filter(|finding| rules.causes.contains(&finding.cause)).collect();
    Ok(Findings { findings, unlocated: criteria.unlocated })
}
