//! Groups: several episodes of one task, as training compares them. It knows no reward and no advantage: it says what came of each member, and
//! whose doing it was.
//!
//! | what came of a member | it counts as |
//! |---|---|
//! | pass | a success |
//! | fail | none, with its progress |
//! | invalid: step, token or cost budget, a context too long for the model | none, with its progress |
//! | a tool's fault, fuel and traps included; malformed output; a refused call | an observation within the episode: nothing by itself |
//! | environment or verifier: its code trapped, spent a budget or broke the contract once the agent had acted | none, without progress |
//! | the same before the agent acted: at reset, or when opening | void |
//! | a deadline or wall time, the planner or its server, a file, a defect of ours, a cancelled run | void |
//!
//! The last but two are void where agents are *measured*, because a score would need a verdict. Where they *learn*, a void would pay: an agent
//! that may trap the verifier in place of failing would come to do so. What depends on the machine's load stays void in both.

use std::num::NonZeroU64;

use loopwright_contract::name::TaskId;
use loopwright_contract::planner::{Planner, Usage};
use loopwright_contract::task::Task;
use loopwright_contract::verdict::Outcome;

use crate::harness::Harness;
use crate::result::{EpisodeResult, VoidCause};
use crate::run::{Progress, RunOptions, grouped, run_items};

#[cfg(test)]
mod tests;

/// Members of a group, at least: one alone can be compared with nothing.
pub const MEMBERS_MIN: u32 = 2;
/// Members of a group, at most.
pub const MEMBERS_MAX: u32 = 512;
/// Groups of one run, at most.
pub const GROUPS_MAX: usize = 65_536;

/// Why groups cannot be run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum GroupError {
    /// Too few or too many members.
    #[error(
        "groups of {0} members, expected {MEMBERS_MIN} to {MEMBERS_MAX}\nhint: a member's advantage is its distance from the others, so one alone has none"
    )]
    Members(u32),
    /// Too many groups.
    #[error("{0} groups in one run, at most {GROUPS_MAX} are allowed\nhint: run them in several steps")]
    Groups(usize),
}

/// How many members each group has: [`MEMBERS_MIN`] to [`MEMBERS_MAX`].
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Members(u32);

impl Members {
    /// That many.
    ///
    /// # Errors
    /// [`GroupError::Members`] outside the range.
    pub fn new(members: u32) -> Result<Self, GroupError> {
        if (MEMBERS_MIN..=MEMBERS_MAX).contains(&members) {
            Ok(Self(members))
        } else {
            Err(GroupError::Members(members))
        }
    }

    /// How many.
    #[must_use]
    pub fn get(self) -> u32 {
        self.0
    }
}

/// Which group of a run: the place of its task among the tasks that were given.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct GroupId(usize);

impl GroupId {
    /// The place, from 0.
    #[must_use]
    pub fn index(self) -> usize {
        self.0
    }
}

/// What a member is trained on.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Score {
    /// Whether every check passed.
    pub success: bool,
    /// 0 to 1: the mean over the checks of the verdicts' progress on the whole episode; 0 without verdicts.
    pub progress: f64,
}

/// One member.
#[derive(Debug, Clone, PartialEq)]
pub struct Member {
    /// The episode.
    pub result: EpisodeResult,
    /// What it is trained on; none: it is void, and no statistic may count it as a 0.
    pub score: Option<Score>,
}

/// One group.
#[derive(Debug, Clone, PartialEq)]
pub struct Group {
    /// Which.
    pub id: GroupId,
    /// The task of all its members.
    pub task: TaskId,
    /// Its members, each in its own place; void ones keep theirs.
    pub members: Vec<Member>,
}

/// The cost *e* of what was used: the written tokens against a fixed budget, 0 to 1 and capped there. A verdict has no cost, since a verifier
/// sees no tokens; they are the sum over the decisions ([`EpisodeResult::usage`], and `usage` in a trajectory's footer). The budget is the task
/// family's own and never the group's, so that a weight on *e* means the same in every group.
#[must_use]
pub fn cost(usage: &Usage, budget_tokens: NonZeroU64) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "recorded counts end at 2^53 - 1")]
    let share = usage.tokens_out as f64 / budget_tokens.get() as f64;
    share.min(1.0)
}

/// Runs each task as a group of `members`: the groups in the order of the tasks, each with its members in their order. All members of a group
/// begin in the same fork of the task's world and have sampling seeds of their own; [`RunOptions::noise`] says whether they share the world's
/// noise. A seed depends on the run's seed, the task, and its place among the groups of the same task, so give each step another seed.
///
/// For training set `noise` to [`Noise::Member`](crate::Noise::Member), `record` to `digest`, and `batch` to the number of episodes: they then
/// go in step, and the planner is asked for all of them at once, in the order (group, member).
///
/// # Errors
/// [`GroupError::Groups`] for too many tasks.
pub fn run_groups(
    harness: &Harness,
    planner: &dyn Planner,
    tasks: &[Task],
    members: Members,
    options: &RunOptions,
    progress: &(dyn Fn(Progress<'_>) + Sync),
) -> Result<Vec<Group>, GroupError> {
    if tasks.len() > GROUPS_MAX {
        return Err(GroupError::Groups(tasks.len()));
    }
    let items = grouped(tasks, members.get(), options.seed, options.noise);
    let mut results = run_items(harness, planner, items, options, progress).into_iter();
    let group = |(place, task): (usize, &Task)| Group {
        id: GroupId(place),
        task: task.id.clone(),
        members: results.by_ref().take(members.get() as usize).map(member).collect(),
    };
    Ok(tasks.iter().enumerate().map(group).collect())
}

fn member(result: EpisodeResult) -> Member {
    let score = score(&result);
    Member { result, score }
}

/// What an episode is trained on; none: void.
fn score(result: &EpisodeResult) -> Option<Score> {
    match (&result.outcome, result.void_cause) {
        (Outcome::Pass, _) => Some(Score { success: true, progress: progress(result) }),
        (Outcome::Fail | Outcome::Invalid(_), _) => Some(Score { success: false, progress: progress(result) }),
        (Outcome::Void(_), Some(VoidCause::Course)) => Some(Score { success: false, progress: 0.0 }),
        (Outcome::Void(_), _) => None,
    }
}

fn progress(result: &EpisodeResult) -> f64 {
    let whole = result.verdicts.iter().filter(|judged| judged.upto == result.steps);
    let (sum, count) = whole.fold((0.0, 0_u32), |(sum, count), judged| (sum + judged.verdict.progress(), count + 1));
    if count == 0 { 0.0 } else { sum / f64::from(count) }
}
