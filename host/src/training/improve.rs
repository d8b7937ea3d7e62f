//! A run of reinforcement learning, from its folder: steps, dev measurements, the controller, checkpoints. It knows no estimator and no policy.

use std::cmp::Ordering;
use std::sync::Arc;

use anyhow::Context as _;
use loopwright_contract::task::{Split, Task};
use loopwright_harness::{EpisodeResult, Harness, Noise, Watch};
use loopwright_learn::checkpoint::{Checkpoint, Checkpoints};
use loopwright_learn::control::{Controller, Decision, Dev, DevValues, Guard, Rule};
use loopwright_learn::estimate::Binomial;
use loopwright_learn::rl::{Outcome, Policy, Settings, StepRecord, Trainer};
use serde::{Deserialize, Serialize};

use super::course::{Course, with_weights};
use super::field::{Acting, Field, Ground, LIVE_MAX};
use super::folder::{PolicyCard, RunFolder};
use super::interrupt::Interrupt;
use super::log::{Log, draw};
use super::measure::{Measurement, measure};

use crate::output;
use crate::watchdog::{STUCK_AFTER, beside};

/// Of the seeds of dev measurements: nobody trains on them.
const DEV_SEED: u64 = 2_000_000;

/// When and on how much dev is measured.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DevPlan {
    /// Every so many steps, at least 1.
    pub every: u64,
    /// Times that each dev task is played.
    pub members: u32,
}

/// What a run of reinforcement learning was begun with: its `run.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RlRun {
    /// [`super::folder::FORMAT`].
    pub format: String,
    /// `rl`.
    pub kind: String,
    /// What is trained.
    pub course: String,
    /// Steps.
    pub steps: u64,
    /// The trainer's.
    pub settings: Settings,
    /// Whether members meet noise of their own.
    pub noise_by_member: bool,
    /// When dev is measured.
    pub dev: DevPlan,
    /// The share of steps, 0 to 1, in which the n-grams of the phone policy have other numbers.
    #[serde(default)]
    pub renumber: f64,
    /// What the controller's proposals are held against; absent: no controller.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub guard: Option<Guard>,
    /// The digest of the policy that it begins with, whose weights are in the file `start.safetensors`.
    pub start: String,
    /// This version.
    pub version: String,
}

/// A line of `metrics.jsonl`.
#[derive(Debug, Serialize)]
struct Line<'a> {
    #[serde(flatten)]
    record: &'a StepRecord,
    #[serde(skip_serializing_if = "Option::is_none")]
    dev: Option<DevLine<'a>>,
    #[serde(skip_serializing_if = "Option::is_none")]
    decision: Option<&'a Decision>,
}

/// Dev in a line of `metrics.jsonl`.
#[derive(Debug, Serialize)]
struct DevLine<'a> {
    success: Option<f64>,
    cost: Option<f64>,
    tokens: Option<f64>,
    #[serde(flatten)]
    measured: &'a Measurement,
}

impl<'a> DevLine<'a> {
    fn of(measured: &'a Measurement) -> Self {
        let (success, tokens) = (measured.all.success(), measured.all.tokens_mean());
        Self { success, cost: measured.cost_mean(), tokens, measured }
    }
}

/// How a run ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ended {
    /// All steps were taken.
    Whole,
    /// It was asked to end, and can be resumed.
    Early,
}

/// A run that is under way.
pub struct Improvement<'a, C: Course> {
    course: &'a C,
    run: RlRun,
    folder: RunFolder,
    checkpoints: Checkpoints,
    trainer: Trainer<C::Policy>,
    field: Field<'a, C::Policy>,
    ground: Ground<'a>,
    interrupt: &'a Interrupt,
    dev: Arc<[Task]>,
}

impl<'a, C: Course> Improvement<'a, C> {
    /// Begins a run, whose start lies in the folder; or goes on with it from its newest whole checkpoint. It has the folder to itself from here on:
    /// nothing in it is changed before that is sure.
    ///
    /// # Errors
    /// A folder that another process writes to, weights of another architecture, a pack without dev tasks, plugins or tasks that have changed, checkpoints of which none is whole.
    pub fn open(
        course: &'a C,
        harness: &'a Harness,
        folder: RunFolder,
        run: RlRun,
        policy: C::Policy,
        interrupt: &'a Interrupt,
    ) -> anyhow::Result<Self> {
        let checkpoints = folder.checkpoints()?;
        let noise = if run.noise_by_member { Noise::Member } else { Noise::Group };
        let ground = Ground::new(harness, noise, Arc::clone(&interrupt.cancel));
        let field = Field::new(ground.clone(), course.tasks(Split::Train)?, course, run.renumber);
        let dev = course.tasks(Split::Dev)?;
        // What the KL pulls towards is what the run begins with, also when it goes on.
        let pulled = run.settings.surrogate.values().beta > 0.0;
        let bytes = pulled.then(|| policy.parameters().to_bytes()).transpose()?;
        let reference = bytes.map(|bytes| with_weights(course, &bytes, run.settings.seed)).transpose()?;
        let trainer = if let Some(checkpoint) = newest(&folder)? {
            Trainer::resume(policy, reference, &checkpoint, &field)?
        } else {
            let trainer = Trainer::new(policy, reference, run.settings.clone(), &field)?;
            match run.guard {
                Some(guard) => trainer.governed(guard)?,
                None => trainer,
            }
        };
        folder.cut_metrics(trainer.steps())?;
        Ok(Self { course, run, folder, checkpoints, trainer, field, ground, interrupt, dev })
    }

    /// Steps that were taken.
    pub fn taken(&self) -> u64 {
        self.trainer.steps()
    }

    /// Takes the steps that are left; `told` hears of each, and of what the controller decided after it.
    ///
    /// # Errors
    /// [`loopwright_learn::rl::TrainError`] of a step, and files that cannot be written. What was written before is whole, and can be resumed.
    pub fn go(&mut self, told: &dyn Fn(&StepRecord, Option<&Decision>)) -> anyhow::Result<Ended> {
        let mut log = Log::open(&self.folder)?;
        let mut rule = self.run.guard.map(|guard| Rule { guard });
        while self.trainer.steps() < self.run.steps {
            let record = self.step();
            // What became of a step that is dropped is no matter.
            if self.interrupt.cancelled() {
                return Ok(Ended::Early);
            }
            let record = record?;
            let dev = (record.step.is_multiple_of(self.run.dev.every) || record.step == self.run.steps)
                .then(|| self.measure(record.step))
                .transpose()?;
            if self.interrupt.cancelled() {
                return Ok(Ended::Early);
            }
            let decision = match (&dev, &mut rule) {
                (Some(dev), Some(rule)) => self.consult(rule, dev)?,
                _ => None,
            };
            let line = Line { record: &record, dev: dev.as_ref().map(DevLine::of), decision: decision.as_ref() };
            log.line(record.step, &line)?;
            if let Some(dev) = &dev {
                self.keep_best(record.step, dev)?;
            }
            // A refused step makes no checkpoint; the next good one does.
            if !matches!(record.outcome, Outcome::Refused { .. }) {
                log.sync()?;
                let written = self.checkpoints.write(record.step, &self.trainer.checkpoint()?).with_context(|| {
                    format!(
                        "the checkpoint of step {}\nhint: the one before is whole; make room, then `train resume`",
                        record.step
                    )
                })?;
                if let Some(error) = written.not_removed {
                    output::note(format_args!("an old checkpoint stays: {error}"));
                }
            }
            told(&record, decision.as_ref());
            if self.interrupt.wanted() && self.trainer.steps() < self.run.steps {
                draw(&self.folder)?;
                return Ok(Ended::Early);
            }
        }
        self.keep("policy", self.trainer.steps(), None)?;
        draw(&self.folder)?;
        Ok(Ended::Whole)
    }

    fn step(&mut self) -> anyhow::Result<StepRecord> {
        let (watch, stopwatch) = (Arc::clone(&self.ground.watch), Arc::clone(&self.ground.stopwatch));
        let (trainer, field) = (&mut self.trainer, &mut self.field);
        let record = watched(&watch, || trainer.step(field, &*stopwatch));
        field.rest();
        record.context("the run stands as after its last checkpoint")
    }

    /// On the dev tasks, sampled as in training.
    fn measure(&self, step: u64) -> anyhow::Result<Measurement> {
        let members = self.run.dev.members.max(2);
        let planner = self.course.planner(self.trainer.policy(), (members as usize).min(LIVE_MAX), Acting::Sampled)?;
        let planner: &dyn loopwright_contract::planner::Planner = &*planner;
        let seed = DEV_SEED + step;
        let cost = |task: &Task, result: &EpisodeResult| self.course.cost(task, result);
        watched(&self.ground.watch, || measure(&self.ground, planner, &self.dev, members, seed, &cost))
    }

    /// Asks the controller. Where all of dev is void nothing is known of it: the controller is told so, and the decision says it.
    fn consult(&mut self, rule: &mut dyn Controller, dev: &Measurement) -> anyhow::Result<Option<Decision>> {
        let known = Binomial::new(dev.all.passed, dev.all.episodes).ok().zip(dev.cost_mean());
        let dev = known.map(|(success, cost_mean)| Dev::new(DevValues { success, cost_mean })).transpose()?;
        Ok(self.trainer.consult(rule, dev)?)
    }

    /// Keeps the weights if dev says that none before were better. One that was kept at a later step, before the run was resumed from an older
    /// checkpoint, has been compared with this step already, since steps that are taken again come out the same.
    fn keep_best(&self, step: u64, dev: &Measurement) -> anyhow::Result<()> {
        let Some(success) = dev.all.success() else { return Ok(()) };
        let best = self.folder.path("best.json").exists().then(|| self.folder.read_json::<PolicyCard>("best.json"));
        let better = best.transpose()?.is_none_or(|best| match best.step.cmp(&step) {
            Ordering::Greater => false,
            Ordering::Equal => true,
            // Of equals the later one: it spends less.
            Ordering::Less => best.dev_success.is_none_or(|before| success >= before),
        });
        if better { self.keep("best", step, Some(success)) } else { Ok(()) }
    }

    /// Weights and what they are; the weights first.
    fn keep(&self, name: &str, step: u64, dev_success: Option<f64>) -> anyhow::Result<()> {
        keep(self.course, &self.folder, self.trainer.policy(), name, step, dev_success)
    }
}

/// Writes the weights of a policy into a run's folder, with what they are beside them; the weights first.
///
/// # Errors
/// A folder that cannot be written.
pub fn keep<C: Course>(
    course: &C,
    folder: &RunFolder,
    policy: &C::Policy,
    name: &str,
    step: u64,
    dev_success: Option<f64>,
) -> anyhow::Result<()> {
    let (architecture, digest) = (policy.architecture(), policy.digest()?.to_string());
    folder.write(&format!("{name}.safetensors"), &policy.parameters().to_bytes()?)?;
    let card = PolicyCard { course: course.name().to_owned(), architecture, digest, step, dev_success };
    folder.write_json(&format!("{name}.json"), &card)
}

/// The newest whole checkpoint of a run, none before the first; what is newer and not whole is told.
///
/// # Errors
/// Checkpoints of which none is whole.
pub fn newest(folder: &RunFolder) -> anyhow::Result<Option<Checkpoint>> {
    let Some(found) = folder.newest()? else { return Ok(None) };
    for skipped in &found.skipped {
        output::note(format_args!("checkpoint `{}` is left out: {}", skipped.name, skipped.why));
    }
    Ok(Some(found.checkpoint))
}

/// Does something on this thread, and names what hangs meanwhile.
pub fn watched<T>(watch: &Watch, work: impl FnOnce() -> T) -> T {
    beside(watch, STUCK_AFTER, |stuck| output::note(format_args!("stuck: {stuck}")), work)
}
