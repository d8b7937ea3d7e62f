//! One seed's cold start, and one run from it. They know no other run.

use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use loopwright_contract::task::{Split, Task};
use loopwright_harness::groups::MEMBERS_MAX;
use loopwright_harness::{EpisodeResult, Harness};
use loopwright_learn::ablation::shape;
use loopwright_learn::care::{Estimator, Regime};
use loopwright_learn::decoder::Decoder;
use loopwright_learn::rl::{RegimeRecord, StepRecord, Trainer};
use loopwright_learn::sft::{Examples, Fit};
use loopwright_packs::ablation;
use serde::Serialize;
use serde_json::Value;

use super::plan::{Cell, Plan, TEST_INSTANCES, TEST_SEED};
use crate::cli_train::NoiseKind;
use crate::training::ablation::{AblationCourse, TEACHER_MEMBERS};
use crate::training::course::{Course as _, Teaching};
use crate::training::field::{Acting, Actors as _, Field, Ground, LIVE_MAX};
use crate::training::measure::{Measurement, measure};
use crate::training::metrics::Metrics;

/// Two harnesses on one host: one judges the end of an episode, the other every turn, as the finder of errors needs it.
pub(super) struct Lab<'a> {
    pub(super) plan: &'a Plan,
    pub(super) harness: &'a Harness,
    pub(super) judging: &'a Harness,
    pub(super) out: &'a Path,
}

/// Sampled as it was trained, and greedy.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Measured {
    pub(super) sampled: Measurement,
    pub(super) greedy: Measurement,
}

/// A seed's cold start.
pub(super) struct Start {
    pub(super) seed: u64,
    pub(super) weights: Vec<u8>,
    pub(super) taught: Value,
    pub(super) steps: u64,
    pub(super) loss: f64,
    pub(super) measured: Measured,
}

/// Means over the steps of a run.
#[derive(Debug, Clone, Copy, Default, PartialEq, Serialize)]
pub(super) struct RegimeMeans {
    /// Share of the groups.
    pub(super) share: f64,
    /// Root mean square of the advantages, over the steps that had such a group.
    pub(super) advantage_rms: Option<f64>,
    /// Share of all squared advantages.
    pub(super) loudness: Option<f64>,
}

/// What came of one run.
#[derive(Debug, Clone, Serialize)]
pub(super) struct Run {
    pub(super) arm: Estimator,
    pub(super) seed: u64,
    /// Share of fresh episodes that passed, sampled.
    pub(super) success: f64,
    /// Tokens of a fresh episode, sampled.
    pub(super) tokens: f64,
    pub(super) success_greedy: f64,
    pub(super) tokens_greedy: f64,
    pub(super) success_fragile: f64,
    pub(super) success_reliable: f64,
    pub(super) group_size: usize,
    pub(super) noise: NoiseKind,
    pub(super) steps: u64,
    pub(super) progress: RegimeMeans,
    pub(super) consolidation: RegimeMeans,
    pub(super) efficiency: RegimeMeans,
    pub(super) episodes: u64,
    pub(super) void: u64,
    pub(super) degenerate: u64,
    pub(super) dropped: u64,
    pub(super) measured: Measured,
    pub(super) policy: String,
    /// What depends on the machine.
    pub(super) wall_s: f64,
    pub(super) rollout_s: f64,
    pub(super) train_s: f64,
}

impl Lab<'_> {
    fn ground<'b>(&self, harness: &'b Harness, noise: NoiseKind) -> Ground<'b> {
        Ground::new(harness, noise.noise(), Arc::default())
    }

    /// From the teacher to a policy that acts like it.
    pub(super) fn start(&self, seed: u64) -> anyhow::Result<Start> {
        let course = AblationCourse { seed };
        let (tasks, ground) = (course.tasks(Split::Train)?, self.ground(self.judging, NoiseKind::Member));
        let (sequences, taught) = course.demonstrations(
            &ground,
            &tasks,
            Teaching { seed, members: TEACHER_MEMBERS, mask: true, plant: 0.0 },
        )?;
        let mut policy = course.fresh(seed)?;
        let examples = Examples::new::<Decoder>(sequences)?;
        let mut fit = Fit::new(self.plan.fit(seed, examples.count()), &policy, &examples)?;
        let mut metrics = Metrics::create(&self.out.join(format!("seed-{seed}/sft/metrics.jsonl")))?;
        let mut loss = f64::NAN;
        while let Some(record) = fit.step(&mut policy, &examples)? {
            loss = record.loss;
            metrics.line(&record)?;
        }
        let measured = self.measured(&policy, seed)?;
        Ok(Start { seed, weights: policy.parameters().to_bytes()?, taught, steps: fit.taken(), loss, measured })
    }

    /// On fresh episodes, sampled and greedy.
    fn measured(&self, policy: &Decoder, seed: u64) -> anyhow::Result<Measured> {
        let tasks = ablation::builtin(TEST_SEED + seed, TEST_INSTANCES, Split::Test)?;
        let ground = self.ground(self.harness, NoiseKind::Member);
        let members = self.plan.members().min(MEMBERS_MAX);
        let rounds = self.plan.members().div_ceil(members);
        let course = AblationCourse { seed };
        let cost = |task: &Task, result: &EpisodeResult| course.cost(task, result);
        let one = |greedy: bool| -> anyhow::Result<Measurement> {
            let planner = course.planner(policy, (members as usize).min(LIVE_MAX), Acting::greedy(greedy))?;
            let mut whole = Measurement::default();
            for round in 0..rounds {
                let members = members.min(self.plan.members() - round * members).max(2);
                let seed = (TEST_SEED + seed) * 1_000 + u64::from(round);
                whole.add(&measure(&ground, &*planner, tasks.tasks(), members, seed, &cost)?);
                drop(planner.take());
            }
            Ok(whole)
        };
        Ok(Measured { sampled: one(false)?, greedy: one(true)? })
    }

    /// One arm from a seed's cold start; `told` hears of each step.
    pub(super) fn run(&self, start: &Start, cell: Cell, told: &dyn Fn(&StepRecord)) -> anyhow::Result<Run> {
        let began = Instant::now();
        let seed = start.seed;
        let policy = Decoder::from_bytes(shape(), &start.weights)?;
        let ground = self.ground(self.harness, cell.noise);
        let stopwatch = Arc::clone(&ground.stopwatch);
        let course = AblationCourse { seed };
        let mut field = Field::new(ground, course.tasks(Split::Train)?, &course, 0.0);
        let mut trainer = Trainer::new(policy, None, self.plan.settings(seed, cell)?, &field)?;
        let mut metrics = Metrics::create(&self.out.join(cell.folder(seed)).join("metrics.jsonl"))?;
        let mut sums = Sums::default();
        for _ in 0..self.plan.steps {
            let record = trainer.step(&mut field, &*stopwatch)?;
            metrics.line(&record)?;
            sums.add(&record);
            told(&record);
        }
        let measured = self.measured(trainer.policy(), seed)?;
        let success = |measurement: &Measurement| measurement.all.success().unwrap_or(f64::NAN);
        let tokens = |measurement: &Measurement| measurement.all.tokens_mean().unwrap_or(f64::NAN);
        let family = |kind: ablation::Kind| {
            measured.sampled.families.get(kind.name()).and_then(|counts| counts.success()).unwrap_or(f64::NAN)
        };
        let [progress, consolidation, efficiency] = sums.regimes.map(|sum| sum.means(self.plan.steps));
        Ok(Run {
            arm: cell.arm,
            seed,
            success: success(&measured.sampled),
            tokens: tokens(&measured.sampled),
            success_greedy: success(&measured.greedy),
            tokens_greedy: tokens(&measured.greedy),
            success_fragile: family(ablation::Kind::Fragile),
            success_reliable: family(ablation::Kind::Reliable),
            group_size: cell.group_size.get(),
            noise: cell.noise,
            steps: trainer.steps(),
            progress,
            consolidation,
            efficiency,
            episodes: sums.episodes,
            void: sums.void,
            degenerate: sums.degenerate,
            dropped: sums.dropped,
            policy: trainer.policy().digest()?.to_string(),
            measured,
            wall_s: began.elapsed().as_secs_f64(),
            rollout_s: sums.rollout_s,
            train_s: sums.train_s,
        })
    }
}

impl Cell {
    /// The arm's name.
    pub(super) fn name(&self) -> String {
        word(&self.arm)
    }

    /// Where a run's files lie.
    pub(super) fn folder(&self, seed: u64) -> String {
        format!("seed-{seed}/{}-g{}-{}", self.name(), self.group_size.get(), word(&self.noise))
    }
}

/// A name as records have it.
fn word(name: &impl Serialize) -> String {
    serde_json::to_value(name).ok().and_then(|value| Some(value.as_str()?.to_owned())).unwrap_or_default()
}

/// Sums over the steps of a run.
#[derive(Default)]
struct Sums {
    regimes: [RegimeSums; Regime::ALL.len()],
    episodes: u64,
    void: u64,
    degenerate: u64,
    dropped: u64,
    rollout_s: f64,
    train_s: f64,
}

#[derive(Default, Clone, Copy)]
struct RegimeSums {
    share: f64,
    squares: f64,
    loudness: f64,
    seen: u32,
}

impl Sums {
    fn add(&mut self, record: &StepRecord) {
        for (sums, found) in self.regimes.iter_mut().zip([&record.progress, &record.consolidation, &record.efficiency])
        {
            sums.add(found);
        }
        self.episodes += record.episodes;
        self.void += record.counters.void;
        self.degenerate += record.counters.degenerate;
        self.dropped += record.counters.dropped;
        self.rollout_s += record.timing.rollout_s;
        self.train_s += record.timing.train_s;
    }
}

impl RegimeSums {
    fn add(&mut self, record: &RegimeRecord) {
        self.share += record.share.unwrap_or(0.0);
        if let Some(rms) = record.advantage_rms {
            self.squares += rms * rms;
            self.loudness += record.loudness.unwrap_or(0.0);
            self.seen += 1;
        }
    }

    fn means(self, steps: u64) -> RegimeMeans {
        #[expect(clippy::cast_precision_loss, reason = "steps are few")]
        let share = self.share / steps.max(1) as f64;
        let of = |sum: f64| (self.seen > 0).then(|| sum / f64::from(self.seen));
        RegimeMeans { share, advantage_rms: of(self.squares).map(f64::sqrt), loudness: of(self.loudness) }
    }
}
