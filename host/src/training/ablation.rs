//! The ablation task for the trainers: its tiny decoder as a planner, what an episode of it costs, and the teacher's demonstrations.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use anyhow::Context as _;
use loopwright_contract::name::{EpisodeId, ToolName};
use loopwright_contract::planner::{Decision, DecisionRequest, Planner, PlannerFault, PolicyVersion};
use loopwright_contract::task::{Split, Task};
use loopwright_contract::trajectory::Record;
use loopwright_contract::verdict::Outcome;
use loopwright_harness::groups::{self, Members, run_groups};
use loopwright_harness::planners::ablation as tables;
use loopwright_harness::{EpisodeResult, Output, RunOptions, Settings};
use loopwright_learn::ablation::{
    AblationPlanner, COST_BUDGET_TOKENS, DemonstrationError, Requests, demonstration, shape,
};
use loopwright_learn::decoder::{Decoder, Sequence};
use loopwright_learn::rl::Recording;
use loopwright_learn::sft::{Cause, Rules, StepTurns, find};
use loopwright_packs::ablation::{self, Kind};
use serde::Serialize;
use serde_json::Value;

use super::course::{Course, Teaching, of_split};
use super::errors::verified;
use super::field::{Acting, Actors, Ground, Recorder};

/// Tasks of each kind; a step of 16 groups takes each once.
pub const INSTANCES: u32 = 8;
/// Episodes of the teacher on each task, unless something else is said.
pub const TEACHER_MEMBERS: u32 = 64;
/// The one tool of the task that writes.
const WRITER: &str = "set_setting";

/// The tiny decoder on the ablation pack of a seed.
#[derive(Debug, Clone, Copy)]
pub struct AblationCourse {
    /// The pack's.
    pub seed: u64,
}

/// The task's two requests.
#[must_use]
pub fn requests() -> Requests {
    Requests { reliable: Kind::Reliable.request(), fragile: Kind::Fragile.request() }
}

/// What a split's seed differs by, in bits that nobody's seed has: worlds of the pack differ by their seed alone, and no split may have those of
/// another one.
const fn kept_apart(split: Split) -> u64 {
    match split {
        Split::Train => 0,
        Split::Dev => 1 << 62,
        Split::Test => 1 << 63,
    }
}

struct Recorded(AblationPlanner);

impl Planner for Recorded {
    fn version(&self) -> PolicyVersion {
        self.0.version()
    }

    fn decide_batch(&self, requests: &[DecisionRequest<'_>]) -> Vec<Result<Decision, PlannerFault>> {
        self.0.decide_batch(requests)
    }
}

impl Recorder<Sequence> for Recorded {
    fn take(&self) -> BTreeMap<EpisodeId, Recording<Sequence>> {
        self.0.take_recordings()
    }
}

impl Actors<Decoder> for AblationCourse {
    fn planner(&self, policy: &Decoder, rows: usize, acting: Acting) -> anyhow::Result<Box<dyn Recorder<Sequence>>> {
        Ok(Box::new(Recorded(AblationPlanner::new(policy, requests(), rows, acting == Acting::Greedy)?)))
    }

    fn cost(&self, _: &Task, result: &EpisodeResult) -> f64 {
        groups::cost(&result.usage, COST_BUDGET_TOKENS)
    }
}

impl Course for AblationCourse {
    type Policy = Decoder;

    fn name(&self) -> &'static str {
        ablation::NAME
    }

    fn tasks(&self, split: Split) -> anyhow::Result<Arc<[Task]>> {
        of_split(&ablation::builtin(self.seed ^ kept_apart(split), INSTANCES, split)?, split)
    }

    fn worlds(&self) -> BTreeMap<String, Value> {
        ablation::worlds()
    }

    fn harness(&self) -> Settings {
        Settings { memory: false, ..Settings::default() }
    }

    fn token_budget(&self) -> usize {
        ablation::TOKEN_BUDGET as usize
    }

    fn tokens(sample: &Sequence) -> Vec<u32> {
        let symbol = |choice: &loopwright_learn::decoder::Choice| sample.symbols.get(choice.at).copied();
        sample.choices.iter().filter_map(symbol).map(u32::from).collect()
    }

    fn fresh(&self, seed: u64) -> anyhow::Result<Decoder> {
        Ok(Decoder::new(shape(), seed)?)
    }

    fn demonstrations(
        &self,
        ground: &Ground<'_>,
        tasks: &[Task],
        teaching: Teaching,
    ) -> anyhow::Result<(Vec<Sequence>, Value)> {
        let (sequences, taught) = demonstrations(ground, tasks, teaching)?;
        Ok((sequences, serde_json::to_value(taught)?))
    }
}

/// What the teacher showed.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Taught {
    /// Episodes that it played.
    pub episodes: u64,
    /// Of those, passed: the others are no demonstrations.
    pub passed: u64,
    /// Tokens of all episodes.
    pub tokens: u64,
    /// Turns of demonstrations that were masked as erroneous.
    pub masked: u64,
    /// Demonstrations of which nothing was left.
    pub refused: u64,
}

/// What counts as an error of the teacher. That it repeats itself does not: its wordiness is what the ablation is about, and it is no fault. Side
/// effects, a cause that came after the ablation was registered, do not either.
fn rules() -> anyhow::Result<Rules> {
    let left_out = [Cause::Repeat, Cause::SideEffect];
    let causes: BTreeSet<Cause> = Cause::ALL.into_iter().filter(|cause| !left_out.contains(cause)).collect();
    Ok(Rules { causes, writers: Some(BTreeSet::from([ToolName::new(WRITER)?])), ..Rules::default() })
}

/// Lets the verbose teacher play each task, and makes sequences of what passed, erroneous turns masked. The ground's harness judges
/// every prefix, since a criterion that was lost is seen in no other way.
///
/// # Errors
/// An episode that is void, or a record that is not a demonstration.
pub fn demonstrations(
    ground: &Ground<'_>,
    tasks: &[Task],
    teaching: Teaching,
) -> anyhow::Result<(Vec<Sequence>, Taught)> {
    let (teacher, requests, rules) = (tables::teacher(), requests(), rules()?);
    let options = RunOptions {
        record: Record::Full,
        output: Output::Memory,
        ..ground.options(teaching.seed, teaching.members as usize)
    };
    let (mut sequences, mut taught) = (Vec::new(), Taught::default());
    for group in run_groups(ground.harness, &teacher, tasks, Members::new(teaching.members)?, &options, &|_| {})? {
        for result in group.members.into_iter().map(|member| member.result) {
            taught.episodes += 1;
            taught.tokens += result.usage.tokens_out;
            if let Outcome::Void(reason) = &result.outcome {
                anyhow::bail!("episode `{}` of the teacher is void: {reason}", result.episode);
            }
            if result.outcome != Outcome::Pass {
                continue;
            }
            taught.passed += 1;
            let verified = verified(&result)?;
            let turns = StepTurns::by_actions(verified.trajectory());
            let turns = turns.with_context(|| format!("episode `{}` has steps that are no actions", result.episode))?;
            let erroneous = if teaching.mask { find(&verified, &turns, &rules)?.turns() } else { BTreeSet::new() };
            match demonstration(&verified, &requests, &erroneous) {
                Ok(sequence) => {
                    taught.masked += erroneous.len() as u64;
                    sequences.push(sequence);
                }
                Err(DemonstrationError::NothingLeft { .. }) => taught.refused += 1,
                Err(error) => return Err(error.into()),
            }
        }
    }
    Ok((sequences, taught))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_two_splits_share_a_world_and_train_has_those_of_the_pack() {
        let course = AblationCourse { seed: 3 };
        let mut seeds = BTreeSet::new();
        for split in [Split::Train, Split::Dev, Split::Test] {
            let tasks = course.tasks(split).expect("tasks");
            assert!(tasks.len() == 16 && tasks.iter().all(|task| task.split == split), "{split:?}");
            assert!(tasks.iter().all(|task| seeds.insert(task.start.seed)), "{split:?} has a world of another one");
        }
        let pack = ablation::builtin(3, INSTANCES, Split::Train).expect("a pack");
        assert_eq!(pack.tasks(), &*course.tasks(Split::Train).expect("tasks"), "what train has, measurements rest on");
    }
}
