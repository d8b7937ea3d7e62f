//! What a run returns for each episode.

use std::path::PathBuf;
use std::time::Duration;

use loopwright_contract::memory::MemoryChange;
use loopwright_contract::name::{EpisodeId, TaskId};
use loopwright_contract::planner::Usage;
use loopwright_contract::verdict::{Ending, JudgedCheck, Outcome};

/// Whose doing it was that an episode is void. Where agents are measured it makes no difference; where they learn it does: see
/// [`groups`](crate::groups).
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum VoidCause {
    /// The code of environment or verifier failed on what the agent had done: it would fail so on every machine.
    Course,
    /// Ours: the machine, the planner or its server, a file, the set-up, a cancelled run.
    Run,
}

/// One episode's result. Everything but `wall` and `path` is the same on every run.
#[derive(Debug, Clone, PartialEq)]
pub struct EpisodeResult {
    /// The task.
    pub task: TaskId,
    /// The episode.
    pub episode: EpisodeId,
    /// Pass, fail, invalid or void.
    pub outcome: Outcome,
    /// Of a void outcome: whose doing it was.
    pub void_cause: Option<VoidCause>,
    /// Terminated or truncated.
    pub ending: Ending,
    /// Decisions.
    pub turns: u32,
    /// Steps of evidence.
    pub steps: u32,
    /// Sum over the decisions.
    pub usage: Usage,
    /// All verdicts; on a void episode none.
    pub verdicts: Vec<JudgedCheck>,
    /// Repairs of arguments.
    pub coercions: u32,
    /// Proposals that could not be taken.
    pub malformed: u32,
    /// What the episode changed in its memory, for [`crate::memory::commit`]. Reminders that fired are among it.
    pub memory: Vec<MemoryChange>,
    /// Wall time by the stopwatch, waiting for the other episodes of its batch included.
    pub wall: Duration,
    /// Where the trajectory lies, when it was written to a folder.
    pub path: Option<PathBuf>,
    /// The trajectory's lines, when they were kept in memory.
    pub lines: Option<Vec<String>>,
}

impl EpisodeResult {
    /// The result of an episode that did not begin.
    #[must_use]
    pub(crate) fn void(task: TaskId, episode: EpisodeId, reason: String) -> Self {
        Self {
            task,
            episode,
            outcome: Outcome::Void(reason),
            void_cause: Some(VoidCause::Run),
            ending: Ending::Truncated,
            turns: 0,
            steps: 0,
            usage: Usage::default(),
            verdicts: Vec::new(),
            coercions: 0,
            malformed: 0,
            memory: Vec::new(),
            wall: Duration::ZERO,
            path: None,
            lines: None,
        }
    }
}

/// The four numbers of a report, with what was used.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tally {
    /// Episodes.
    pub tasks: u32,
    /// Passed.
    pub pass: u32,
    /// Failed.
    pub fail: u32,
    /// Broke the rules or the budget.
    pub invalid: u32,
    /// Our fault; never a score.
    pub void: u32,
    /// Decisions.
    pub steps: u64,
    /// Repairs of arguments.
    pub coercions: u64,
    /// Proposals that could not be taken.
    pub malformed: u64,
    /// What was used.
    pub usage: Usage,
}

impl Tally {
    /// Counts results.
    #[must_use]
    pub fn of<'a>(results: impl IntoIterator<Item = &'a EpisodeResult>) -> Self {
        let mut tally = Self::default();
        for result in results {
            tally.tasks += 1;
            *match result.outcome {
                Outcome::Pass => &mut tally.pass,
                Outcome::Fail => &mut tally.fail,
                Outcome::Invalid(_) => &mut tally.invalid,
                Outcome::Void(_) => &mut tally.void,
            } += 1;
            tally.steps += u64::from(result.turns);
            tally.coercions += u64::from(result.coercions);
            tally.malformed += u64::from(result.malformed);
            tally.usage = tally.usage.plus(result.usage);
        }
        tally
    }
}
