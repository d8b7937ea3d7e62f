//! Trajectories: what one episode did, line by line, each line chained to the one before by its digest.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::action::Action;
use crate::digest::{ContentDigest, HarnessDigest, LineDigest, StateDigest, TaskDigest};
use crate::environment::{Observation, TurnResult};
use crate::episode::{Invocation, PluginRecord};
use crate::evidence::Change;
use crate::memory::MemoryUse;
use crate::name::{EpisodeId, SkillName};
use crate::planner::{Decision, PolicyVersion, Usage};
use crate::skill::Advice;
use crate::task::Task;
use crate::verdict::{Ending, JudgedCheck, Outcome};

/// The format that this version writes.
pub const FORMAT: &str = "loopwright-trajectory/1";

/// How much a trajectory keeps.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Record {
    /// Observations and changes as they were.
    #[default]
    Full,
    /// Their digests only; actions are kept, so it still replays.
    Digest,
}

/// What decided the run.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Header {
    /// [`FORMAT`].
    pub format: String,
    /// The episode.
    pub episode: EpisodeId,
    /// The task, whole, so that a trajectory stands alone.
    pub task: Task,
    /// Of the task.
    pub task_digest: TaskDigest,
    /// The policy.
    pub policy: PolicyVersion,
    /// Rules, budgets, recall and context layout.
    pub harness: HarnessDigest,
    /// The harness's settings, such as strictness; they are part of its digest.
    pub settings: Value,
    /// Every plugin that could take part.
    pub plugins: Vec<PluginRecord>,
    /// Plain `SKILL.md` skills that could be loaded, by name and digest.
    pub skill_files: Vec<(SkillName, ContentDigest)>,
    /// Seeds the planner's sampling: the run's seed, or a member's own.
    #[serde(with = "crate::wide")]
    pub seed: u64,
    /// Seeds the world's random streams; absent: the task's own seed does.
    #[serde(default, skip_serializing_if = "Option::is_none", with = "crate::wide::optional")]
    pub world_seed: Option<u64>,
    /// The contract's version.
    pub wit: String,
    /// The engine.
    pub engine: String,
    /// How much is kept.
    pub record: Record,
    /// The world before reset; stored beside the trajectory under this name.
    pub initial: StateDigest,
    /// The world that the gold leads to; stored likewise.
    pub target: Option<StateDigest>,
    /// What was visible after reset.
    pub observation: Observation,
    /// What the episode had of memory beyond its task's own; absent when it had nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub memory: Option<MemoryUse>,
}

/// A repair of an argument: `"5"` for 5.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Coercion {
    /// The tool.
    pub tool: String,
    /// JSON pointer to the argument.
    pub at: String,
    /// What was written.
    pub from: Value,
    /// What was taken.
    pub to: Value,
}

/// What a skill said of a call.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct AdviceRecord {
    /// The skill.
    pub skill: SkillName,
    /// The call's position in the turn.
    pub call: u32,
    /// What it said.
    pub advice: Advice,
}

/// Something kept whole or by its digest.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kept<T> {
    /// Whole.
    Full(T),
    /// The digest of its canonical text.
    Digest(LineDigest),
}

/// One decision and what came of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct TurnRecord {
    /// From 0.
    pub turn: u32,
    /// The episode's time when it was decided.
    #[serde(with = "crate::wide")]
    pub at_ns: u64,
    /// What the planner decided, as it came.
    pub decision: Decision,
    /// The actions that were taken, after repair.
    pub actions: Vec<Action>,
    /// The repairs.
    pub coercions: Vec<Coercion>,
    /// What was wrong with the rest.
    pub malformed: Vec<String>,
    /// What skills said.
    pub advice: Vec<AdviceRecord>,
    /// What the environment answered, when calls ran.
    pub result: Option<Kept<TurnResult>>,
    /// What everything else answered: the user, the memory, a skill.
    pub answers: Vec<Value>,
    /// How the host saw the calls go.
    pub invocations: Vec<Invocation>,
    /// What changed.
    pub changes: Kept<Vec<Change>>,
    /// The state afterwards.
    pub state: StateDigest,
}

/// How the episode came out.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Footer {
    /// The outcome.
    pub outcome: Outcome,
    /// How it ended.
    pub ending: Ending,
    /// Decisions.
    pub turns: u32,
    /// Steps of evidence.
    pub steps: u32,
    /// Sum over the decisions.
    pub usage: Usage,
}

/// One line of a trajectory's file.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "line")]
pub enum Line {
    /// First, once.
    Header(Box<Header>),
    /// One for each decision.
    Turn(Box<TurnRecord>),
    /// One for each check and judged prefix.
    Verdict(Box<JudgedCheck>),
    /// Last, once.
    Footer(Box<Footer>),
}

/// A whole trajectory.
#[derive(Debug, Clone, PartialEq)]
pub struct Trajectory {
    /// What decided the run.
    pub header: Header,
    /// The decisions.
    pub turns: Vec<TurnRecord>,
    /// The verdicts.
    pub verdicts: Vec<JudgedCheck>,
    /// How it came out; absent when the run was cut off.
    pub footer: Option<Footer>,
}

/// A trajectory with a verdict: pass, fail or invalid. Memory, flywheel and training accept nothing else.
#[derive(Debug, Clone, PartialEq)]
pub struct VerifiedTrajectory(Trajectory);

/// Why a trajectory is not verified.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Unverified {
    /// It has no footer: the run was cut off.
    #[error("the trajectory was cut off before its footer")]
    CutOff,
    /// It is void.
    #[error("the episode is void: {0}")]
    Void(String),
    /// A check has no verdict on the whole episode.
    #[error("check {0} has no verdict on the whole episode")]
    Unjudged(u32),
    /// Outcome and verdicts contradict each other.
    #[error("the footer says {0:?}, the verdicts say otherwise")]
    Contradiction(Outcome),
}

impl VerifiedTrajectory {
    /// Accepts a trajectory whose outcome follows from its verdicts.
    ///
    /// # Errors
    /// [`Unverified`] says what is missing.
    pub fn new(trajectory: Trajectory) -> Result<Self, Unverified> {
        let footer = trajectory.footer.as_ref().ok_or(Unverified::CutOff)?;
        match &footer.outcome {
            Outcome::Void(reason) => return Err(Unverified::Void(reason.clone())),
            Outcome::Invalid(_) => {}
            outcome @ (Outcome::Pass | Outcome::Fail) => {
                let mut all = true;
                for index in 0..u32::try_from(trajectory.header.task.checks.len()).unwrap_or(u32::MAX) {
                    let judged =
                        trajectory.verdicts.iter().find(|judged| judged.check == index && judged.upto == footer.steps);
                    all &= judged.ok_or(Unverified::Unjudged(index))?.verdict.passed();
                }
                if all != (*outcome == Outcome::Pass) {
                    return Err(Unverified::Contradiction(outcome.clone()));
                }
            }
        }
        Ok(Self(trajectory))
    }

    /// The trajectory.
    #[must_use]
    pub fn trajectory(&self) -> &Trajectory {
        &self.0
    }
}
