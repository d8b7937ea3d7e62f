//! The phone for the trainers: the pointer policy as a planner, what an episode costs, and demonstrations of the tasks' gold.
//!
//! Families are split by the pack: what is trained on, what is chosen by and what is reported share no family, in any language. Test requests are
//! besides said in words that are kept for them alone.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;

use loopwright_contract::name::EpisodeId;
use loopwright_contract::planner::{Decision, DecisionRequest, Planner, PlannerFault, PolicyVersion};
use loopwright_contract::task::{Split, Task};
use loopwright_contract::trajectory::Record;
use loopwright_harness::planners::Scripted;
use loopwright_harness::{EpisodeResult, Noise, Output, RunOptions, Settings, run_tasks};
use loopwright_learn::pointer::net::{PointerNet, Shape};
use loopwright_learn::pointer::{Play, PolicyPlanner, Specs, Style, Variation};
use loopwright_learn::rl::Recording;
use loopwright_packs::phone::{PhrasingSet, builtin_with_phrasings};
use serde_json::Value;

use super::clumsy::Clumsy;
use super::course::{Course, Teaching, load, of_split};
use super::field::{Acting, Actors, Ground, Recorder};
use super::lessons::Lessons;
use super::watching::Watching;

/// The course's name.
pub const PHONE: &str = "phone";
/// Choices that half of a cost of 1 stands for.
const CHOICES_BUDGET: f64 = 64.0;
/// Steps that the other half stands for.
const STEPS_BUDGET: f64 = 12.0;
/// Choices that a trajectory may have, for the constant denominator.
const TOKEN_BUDGET: usize = 64;
/// Instances of each family and language by split, and the seeds that they are drawn from.
const TRAIN: (u32, u64) = (24, 101);
const DEV: (u32, u64) = (4, 102);
const TEST: (u32, u64) = (4, 103);

/// The pointer policy on the phone pack.
#[derive(Debug, Clone, Default)]
pub struct PhoneCourse {
    /// Specifications that were read before, for all its planners.
    specs: Arc<Specs>,
}

/// A planner of the phone's.
pub type PhonePlanner = PolicyPlanner<Arc<Specs>>;

struct Recorded(PhonePlanner);

impl Planner for Recorded {
    fn version(&self) -> PolicyVersion {
        self.0.version()
    }

    fn decide_batch(&self, requests: &[DecisionRequest<'_>]) -> Vec<Result<Decision, PlannerFault>> {
        self.0.decide_batch(requests)
    }
}

impl Recorder<Play> for Recorded {
    fn take(&self) -> BTreeMap<EpisodeId, Recording<Play>> {
        self.0.take_recordings()
    }
}

impl Actors<PointerNet> for PhoneCourse {
    fn planner(&self, policy: &PointerNet, _: usize, acting: Acting) -> anyhow::Result<Box<dyn Recorder<Play>>> {
        let style = if acting == Acting::Greedy { Style::Greedy } else { Style::Recorded };
        let planner = PolicyPlanner::new(policy, Arc::clone(&self.specs), style)?;
        Ok(Box::new(Recorded(match acting {
            Acting::Renumbered(numbering) => planner.renumbered(numbering),
            Acting::Greedy | Acting::Sampled => planner,
        })))
    }

    fn cost(&self, _: &Task, result: &EpisodeResult) -> f64 {
        cost(result.usage.tokens_out, result.steps)
    }
}

/// Half the choices over their budget plus half the steps over theirs, each counted up to its budget: 0 to 1.
fn cost(choices: u64, steps: u32) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "tokens of an episode are far below 2^53")]
    let choices = choices as f64 / CHOICES_BUDGET;
    let steps = f64::from(steps) / STEPS_BUDGET;
    0.5 * choices.min(1.0) + 0.5 * steps.min(1.0)
}

impl Course for PhoneCourse {
    type Policy = PointerNet;

    fn name(&self) -> &'static str {
        PHONE
    }

    fn tasks(&self, split: Split) -> anyhow::Result<Arc<[Task]>> {
        let ((instances, seed), phrasings) = match split {
            Split::Train => (TRAIN, PhrasingSet::Seen),
            Split::Dev => (DEV, PhrasingSet::Seen),
            Split::Test => (TEST, PhrasingSet::Unseen),
        };
        of_split(&builtin_with_phrasings(seed, instances, phrasings)?, split)
    }

    fn worlds(&self) -> BTreeMap<String, Value> {
        BTreeMap::new()
    }

    fn harness(&self) -> Settings {
        Settings::default()
    }

    fn token_budget(&self) -> usize {
        TOKEN_BUDGET
    }

    fn tokens(sample: &Play) -> Vec<u32> {
        sample.choices.iter().map(|taken| u32::try_from(taken.answer).unwrap_or(u32::MAX)).collect()
    }

    fn varied(&self, variation: &Variation, random: u64, samples: Vec<Play>) -> Vec<Play> {
        variation.apply(random, samples)
    }

    fn fresh(&self, seed: u64) -> anyhow::Result<PointerNet> {
        Ok(PointerNet::new(Shape::phone(), seed)?)
    }

    /// Gold is one and the same each time, and makes no errors: the seed, the times and the mask change nothing. Where wrong turns are planted, the
    /// seed says which, and evidence which of them are masked.
    fn demonstrations(
        &self,
        ground: &Ground<'_>,
        tasks: &[Task],
        teaching: Teaching,
    ) -> anyhow::Result<(Vec<Play>, Value)> {
        let clumsy = (teaching.plant > 0.0).then(|| Clumsy::new(tasks, &self.specs, teaching.plant));
        let scripted = Scripted::new(tasks);
        let watching = Watching::new(clumsy.as_ref().map_or(&scripted as &dyn Planner, |clumsy| clumsy));
        let mut lessons = Lessons::new(&self.specs, teaching.mask, clumsy.is_some())?;
        // In parts, so that contexts are not all held at once.
        for part in tasks.chunks(256) {
            let mut options = RunOptions { noise: Noise::Task, ..ground.options(0, part.len()) };
            if clumsy.is_some() {
                options = RunOptions { seed: teaching.seed, record: Record::Full, output: Output::Memory, ..options };
            }
            let results = run_tasks(ground.harness, &watching, part, &options, &|_| {});
            let mut seen = watching.take();
            let mut planted = clumsy.as_ref().map(Clumsy::take).unwrap_or_default();
            for result in &results {
                let turns = seen.remove(&result.episode).unwrap_or_default();
                lessons.add(result, &turns, &planted.remove(&result.episode).unwrap_or_default())?;
            }
        }
        Ok((lessons.plays, serde_json::to_value(lessons.shown)?))
    }
}

/// The weights that ship, made by the commands in `host/assets/README.md`.
const SHIPPED: &[u8] = include_bytes!("../../assets/phone-policy.safetensors");

/// The policy that ships, which takes what is likeliest or samples.
///
/// # Errors
/// None but a defect of ours.
pub fn shipped(greedy: bool) -> anyhow::Result<PhonePlanner> {
    let policy = PointerNet::from_bytes(Shape::phone(), SHIPPED)?;
    Ok(PolicyPlanner::new(&policy, Arc::default(), if greedy { Style::Greedy } else { Style::Sampled })?)
}

/// The policy of a run's folder or of a file of weights, or the one that ships; it takes what is likeliest.
///
/// # Errors
/// Weights that cannot be read, or of another architecture.
pub fn policy(path: Option<&Path>) -> anyhow::Result<PhonePlanner> {
    match path {
        None => shipped(true),
        Some(path) => Ok(PolicyPlanner::new(&load(&PhoneCourse::default(), path, 0)?, Arc::default(), Style::Greedy)?),
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use loopwright_packs::phone::{builtin, split_of};

    use super::*;

    const SPLITS: [Split; 3] = [Split::Train, Split::Dev, Split::Test];

    fn families<'a>(tasks: impl IntoIterator<Item = &'a Task>) -> BTreeSet<&'a str> {
        tasks.into_iter().map(|task| task.family.as_str()).collect()
    }

    fn requests(tasks: &[Task]) -> BTreeSet<&str> {
        tasks.iter().map(|task| task.request.as_str()).collect()
    }

    /// In one test, because a pack takes seconds to draw in a debug build.
    #[test]
    fn what_is_trained_on_shares_no_family_and_no_request_with_what_is_kept_for_dev_and_test() {
        let course = PhoneCourse::default();
        let all = SPLITS.map(|split| course.tasks(split).unwrap());
        for (split, tasks) in SPLITS.into_iter().zip(&all) {
            let found = families(tasks.iter());
            assert!(tasks.iter().all(|task| task.split == split), "{split:?}");
            assert!(found.len() >= 15 && found.iter().all(|family| split_of(family) == split), "{split:?}: {found:?}");
            // Both languages of a family lie on the same side.
            for lang in ["en", "zh"] {
                assert_eq!(families(tasks.iter().filter(|task| task.lang.as_str() == lang)), found, "{split:?} {lang}");
            }
        }
        let [train, dev, test] = &all;
        for (one, other) in [(train, dev), (train, test), (dev, test)] {
            assert!(families(one.iter()).is_disjoint(&families(other.iter())));
            assert!(requests(one).is_disjoint(&requests(other)));
        }
        assert_eq!(families(all.iter().flat_map(|tasks| tasks.iter())), families(builtin(1, 1).unwrap().tasks()));
        assert!(train.len() > 2_500 && dev.len() > 100 && test.len() > 100, "{:?}", all.map(|tasks| tasks.len()));
    }

    #[test]
    fn what_is_trained_on_and_chosen_by_is_never_said_in_the_words_that_are_kept_for_test() {
        for (split, (instances, seed), other) in [
            (Split::Train, TRAIN, PhrasingSet::Unseen),
            (Split::Dev, DEV, PhrasingSet::Unseen),
            (Split::Test, TEST, PhrasingSet::Seen),
        ] {
            // The same instances in the other words: what is asked for is the same, and so would the request be, were the words.
            let other = builtin_with_phrasings(seed, instances, other).unwrap();
            let said = requests(other.tasks());
            let tasks = PhoneCourse::default().tasks(split).unwrap();
            let wrong: Vec<&str> = requests(&tasks).intersection(&said).copied().collect();
            assert!(wrong.is_empty(), "{split:?}: {wrong:?}");
            let named = |tasks: &[Task]| tasks.iter().map(|task| task.id.to_string()).collect::<BTreeSet<_>>();
            let same = named(&tasks).intersection(&named(other.tasks())).count();
            assert!(same * 10 >= tasks.len() * 9, "{split:?}: {same} of {} tasks were compared", tasks.len());
        }
    }

    #[test]
    fn half_the_cost_is_choices_and_half_is_steps_each_up_to_its_budget() {
        for (choices, steps, expected) in [
            (0, 0, 0.0),
            (64, 0, 0.5),
            (0, 12, 0.5),
            (16, 3, 0.25),
            (32, 12, 0.75),
            (64, 12, 1.0),
            // More than a budget is no dearer, and does not make up for the other one.
            (640, 3, 0.625),
            (16, 120, 0.625),
            (u64::MAX, u32::MAX, 1.0),
        ] {
            assert_eq!(cost(choices, steps), expected, "{choices} choices, {steps} steps");
        }
    }
}
