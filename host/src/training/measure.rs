//! What a policy is worth on episodes that it was not trained on. It changes no weight.

use std::collections::BTreeMap;

use loopwright_contract::planner::Planner;
use loopwright_contract::task::Task;
use loopwright_contract::verdict::Outcome;
use loopwright_harness::EpisodeResult;
use loopwright_harness::groups::{Members, run_groups};
use serde::Serialize;

use super::field::Ground;

/// Counts of one family, or of all.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize)]
pub struct Counts {
    /// Episodes that are not void.
    pub episodes: u64,
    /// Of those, passed.
    pub passed: u64,
    /// Of those, over budget or against the rules.
    pub invalid: u64,
    /// Void ones, which are in no other count.
    pub void: u64,
    /// Tokens that were written, void episodes left out.
    pub tokens: u64,
}

impl Counts {
    /// The share that passed, 0 to 1; none without an episode.
    #[must_use]
    pub fn success(&self) -> Option<f64> {
        ratio(self.passed, self.episodes)
    }

    /// Tokens an episode; none without one.
    #[must_use]
    pub fn tokens_mean(&self) -> Option<f64> {
        ratio(self.tokens, self.episodes)
    }

    fn merge(&mut self, other: &Self) {
        self.episodes += other.episodes;
        self.passed += other.passed;
        self.invalid += other.invalid;
        self.void += other.void;
        self.tokens += other.tokens;
    }

    fn add(&mut self, outcome: &Outcome, tokens: u64) {
        if matches!(outcome, Outcome::Void(_)) {
            self.void += 1;
            return;
        }
        self.episodes += 1;
        self.passed += u64::from(*outcome == Outcome::Pass);
        self.invalid += u64::from(matches!(outcome, Outcome::Invalid(_)));
        self.tokens += tokens;
    }
}

#[expect(clippy::cast_precision_loss, reason = "counts of a measurement are far below 2^53")]
fn ratio(part: u64, whole: u64) -> Option<f64> {
    (whole > 0).then(|| part as f64 / whole as f64)
}

/// What came of some episodes.
#[derive(Debug, Clone, Default, PartialEq, Serialize)]
pub struct Measurement {
    /// All of them.
    pub all: Counts,
    /// By family.
    pub families: BTreeMap<String, Counts>,
    /// By language.
    pub languages: BTreeMap<String, Counts>,
    /// The sum of the costs, void episodes left out.
    pub cost_sum: f64,
}

impl Measurement {
    /// The mean cost, 0 to 1; none without an episode.
    #[must_use]
    pub fn cost_mean(&self) -> Option<f64> {
        #[expect(clippy::cast_precision_loss, reason = "counts of a measurement are far below 2^53")]
        let episodes = self.all.episodes as f64;
        (self.all.episodes > 0).then(|| self.cost_sum / episodes)
    }

    /// Adds further episodes.
    pub fn add(&mut self, other: &Self) {
        self.all.merge(&other.all);
        for (family, counts) in &other.families {
            self.families.entry(family.clone()).or_default().merge(counts);
        }
        for (language, counts) in &other.languages {
            self.languages.entry(language.clone()).or_default().merge(counts);
        }
        self.cost_sum += other.cost_sum;
    }
}

/// What an episode of a task cost, 0 to 1.
pub type CostOf<'a> = dyn Fn(&Task, &EpisodeResult) -> f64 + 'a;

/// Lets a planner play each task `members` times.
///
/// # Errors
/// Groups that cannot be run.
pub fn measure(
    ground: &Ground<'_>,
    planner: &dyn Planner,
    tasks: &[Task],
    members: u32,
    seed: u64,
    cost: &CostOf<'_>,
) -> anyhow::Result<Measurement> {
    let mut measurement = Measurement::default();
    // One task after the other, so that a planner needs as many rows as a group has members.
    let options = ground.options(seed, members as usize);
    for (task, group) in
        tasks.iter().zip(run_groups(ground.harness, planner, tasks, Members::new(members)?, &options, &|_| {})?)
    {
        for member in group.members {
            let (outcome, tokens) = (&member.result.outcome, member.result.usage.tokens_out);
            measurement.families.entry(task.family.clone()).or_default().add(outcome, tokens);
            measurement.languages.entry(task.lang.to_string()).or_default().add(outcome, tokens);
            measurement.all.add(outcome, tokens);
            if !matches!(outcome, Outcome::Void(_)) {
                measurement.cost_sum += cost(task, &member.result);
            }
        }
    }
    Ok(measurement)
}
