//! A run of supervised fine-tuning, from its folder: the teacher's demonstrations, passes over them, checkpoints.

use std::sync::Arc;
use std::time::Duration;

use anyhow::Context as _;
use loopwright_contract::task::Split;
use loopwright_harness::{Doing, Harness, Noise};
use loopwright_learn::checkpoint::Checkpoints;
use loopwright_learn::nn::{AdamWConfig, Decay, Schedule};
use loopwright_learn::pointer::Variation;
use loopwright_learn::rl::Policy;
use loopwright_learn::sft::{Examples, Fit, FitError, FitRecord, FitSettings};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::clumsy::PLANT_MAX;
use super::course::{Course, Teaching};
use super::field::{Ground, stamps};
use super::folder::RunFolder;
use super::improve::{Ended, keep, newest, watched};
use super::interrupt::Interrupt;
use super::log::{Log, draw};
use super::phone::PHONE;
use crate::output;

/// What a run of supervised fine-tuning was begun with: its `run.json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SftRun {
    /// [`super::folder::FORMAT`].
    pub format: String,
    /// `sft`.
    pub kind: String,
    /// What is trained.
    pub course: String,
    /// Seeds the weights, the teacher and the order of the demonstrations.
    pub seed: u64,
    /// Times that the teacher plays each task.
    pub teacher_members: u32,
    /// Whether erroneous turns are masked.
    pub mask: bool,
    /// Of the turns of the phone's gold, the share before which a wrong turn is planted: 0 to [`PLANT_MAX`].
    #[serde(default)]
    pub plant: f64,
    /// How demonstrations of the phone are varied.
    #[serde(default)]
    pub variation: Variation,
    /// What is taken off the weights at each step, times the rate.
    pub weight_decay: f64,
    /// Demonstrations of a step.
    pub batch: usize,
    /// Passes over the demonstrations.
    pub epochs: u32,
    /// The highest learning rate; it falls to a tenth along half a cosine.
    pub learning_rate: f64,
    /// This version.
    pub version: String,
}

/// What `demonstrations.json` says.
#[derive(Debug, Serialize)]
struct Shown {
    demonstrations: usize,
    tokens: u64,
    about: Value,
}

/// Fits a policy in a folder, from its newest whole checkpoint on; `told` hears of each step and how many there are.
///
/// # Errors
/// A folder that another process writes to, a pack without a training split, demonstrations that cannot be made or are not those that the run
/// began with, a loss that is not finite, files that cannot be written.
pub fn fit<C: Course>(
    course: &C,
    judging: &Harness,
    folder: &RunFolder,
    run: &SftRun,
    interrupt: &Interrupt,
    told: &dyn Fn(&FitRecord, u64),
) -> anyhow::Result<Ended> {
    // Before anything in the folder is changed: another process may be at it.
    let checkpoints = folder.checkpoints()?;
    let ground = Ground::new(judging, Noise::Member, Arc::clone(&interrupt.cancel));
    let checkpoint = newest(folder)?;
    if let Some(checkpoint) = &checkpoint {
        Fit::check_plugins(checkpoint, &stamps(ground.harness))?;
    }
    let Some((examples, shown)) = demonstrated(course, &ground, run, interrupt)? else { return Ok(Ended::Early) };
    let mut policy = course.fresh(run.seed)?;
    let fit = match checkpoint {
        Some(checkpoint) => Fit::resume(&mut policy, &examples, &checkpoint)?,
        None => Fit::new(run.settings(examples.count()), &policy, &examples)?,
    };
    // They are the run's own: what it was taught stays written otherwise.
    folder.write_json("demonstrations.json", &shown)?;
    folder.cut_metrics(fit.taken())?;
    let saved = fit.taken();
    let mut passes = Passes { fit, policy, examples, checkpoints, saved, pace: Pace::default(), ground };
    let (mut log, watch) = (Log::open(folder)?, Arc::clone(&passes.ground.watch));
    let ended = watched(&watch, || passes.go(course, &mut log, run, interrupt, told))?;
    if ended == Ended::Whole {
        keep(course, folder, &passes.policy, "policy", passes.fit.taken(), None)?;
        draw(folder)?;
    }
    Ok(ended)
}

/// What a course's policy learns from.
type ExamplesOf<C> = Examples<<<C as Course>::Policy as Policy>::Sample>;

/// What the teacher shows; none when the run was asked to end meanwhile: there is no step in flight then, and nothing to keep.
fn demonstrated<C: Course>(
    course: &C,
    ground: &Ground<'_>,
    run: &SftRun,
    interrupt: &Interrupt,
) -> anyhow::Result<Option<(ExamplesOf<C>, Shown)>> {
    let tasks = course.tasks(Split::Train)?;
    output::note(format_args!("the teacher plays {} tasks; Ctrl-C twice ends that at once", tasks.len()));
    let teaching = Teaching { seed: run.seed, members: run.teacher_members, mask: run.mask, plant: run.plant };
    let shown = watched(&ground.watch, || course.demonstrations(ground, &tasks, teaching));
    // What was cancelled is void, and that is no fault.
    if interrupt.wanted() {
        return Ok(None);
    }
    let (samples, about) = shown?;
    let examples = Examples::new::<C::Policy>(samples)?.made_with(stamps(ground.harness));
    let shown = Shown { demonstrations: examples.count(), tokens: examples.tokens(), about };
    Ok(Some((examples, shown)))
}

/// Passes over demonstrations that are under way.
struct Passes<'a, P: Policy> {
    fit: Fit,
    policy: P,
    examples: Examples<P::Sample>,
    checkpoints: Checkpoints,
    /// The step of the newest checkpoint; 0 without one.
    saved: u64,
    pace: Pace,
    ground: Ground<'a>,
}

impl<P: Policy> Passes<'_, P> {
    fn go<C: Course<Policy = P>>(
        &mut self,
        course: &C,
        log: &mut Log,
        run: &SftRun,
        interrupt: &Interrupt,
        told: &dyn Fn(&FitRecord, u64),
    ) -> anyhow::Result<Ended> {
        let change = |random, samples| course.varied(&run.variation, random, samples);
        let epoch = self.examples.count().div_ceil(run.batch.max(1)) as u64;
        loop {
            let _busy = self.ground.watch.busy(Doing::Updating { step: self.fit.taken() + 1 });
            let going = || !interrupt.cancelled();
            let record = match self.fit.step_while(&mut self.policy, &self.examples, &change, &going) {
                Ok(Some(record)) => record,
                Ok(None) => return Ok(Ended::Whole),
                // The steps before it are whole.
                Err(FitError::Dropped) => {
                    self.save(log)?;
                    return Ok(Ended::Early);
                }
                Err(error) => return Err(error.into()),
            };
            log.line(record.step, &record)?;
            let (ending, whole) = (interrupt.wanted(), self.fit.taken() == self.fit.steps());
            if ending || whole || record.step.is_multiple_of(epoch) || self.pace.is_due(self.ground.stopwatch.elapsed())
            {
                self.save(log)?;
            }
            told(&record, self.fit.steps());
            if ending && !whole {
                return Ok(Ended::Early);
            }
        }
    }

    /// Writes a checkpoint of the last step that was taken, unless there is one.
    fn save(&mut self, log: &Log) -> anyhow::Result<()> {
        let step = self.fit.taken();
        if step == self.saved {
            return Ok(());
        }
        log.sync()?;
        let began = self.ground.stopwatch.elapsed();
        let written = self.checkpoints.write(step, &self.fit.checkpoint(&self.policy)?).with_context(|| {
            format!("the checkpoint of step {step}\nhint: the one before is whole; make room, then `train resume`")
        })?;
        self.pace.wrote(began, self.ground.stopwatch.elapsed());
        self.saved = step;
        if let Some(error) = written.not_removed {
            output::note(format_args!("an old checkpoint stays: {error}"));
        }
        Ok(())
    }
}

/// Of the time between two checkpoints that nobody asked for, what writing one may take: a twentieth. A run that is killed loses the step in flight
/// and at most nineteen times what a checkpoint takes.
const CHECKPOINT_SHARE: u32 = 20;

/// When the next checkpoint is due. A checkpoint after every step would cost more than the steps of a small policy do.
#[derive(Debug, Default)]
struct Pace {
    due: Duration,
}

impl Pace {
    fn is_due(&self, now: Duration) -> bool {
        now >= self.due
    }

    /// A checkpoint was written from `began` to `ended`.
    fn wrote(&mut self, began: Duration, ended: Duration) {
        self.due = ended.saturating_add(ended.saturating_sub(began).saturating_mul(CHECKPOINT_SHARE - 1));
    }
}

impl SftRun {
    /// That what is planted has a meaning.
    ///
    /// # Errors
    /// A share outside its range, or a course in which nothing is planted.
    pub fn check(&self) -> anyhow::Result<()> {
        let plant = self.plant;
        anyhow::ensure!((0.0..=PLANT_MAX).contains(&plant), "--plant is a share, 0 to {PLANT_MAX}, found {plant}");
        anyhow::ensure!(
            plant == 0.0 || self.course == PHONE,
            "nothing is planted in the course `{}`, whose teacher errs by itself\nhint: leave --plant out, or --course {PHONE}",
            self.course
        );
        Ok(())
    }

    fn settings(&self, examples: usize) -> FitSettings {
        let steps = (examples.div_ceil(self.batch.max(1)) as u64).saturating_mul(u64::from(self.epochs));
        let decay = if steps > 1 { Decay::Cosine { steps, floor: 0.1 } } else { Decay::Constant };
        let schedule = Schedule { decay, ..Schedule::constant(self.learning_rate) };
        FitSettings {
            seed: self.seed,
            batch: self.batch,
            epochs: self.epochs,
            optimizer: AdamWConfig { weight_decay: self.weight_decay, ..AdamWConfig::new(schedule) },
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn checkpoints_take_a_twentieth_of_the_time() {
        let ms = Duration::from_millis;
        let mut pace = Pace::default();
        assert!(pace.is_due(Duration::ZERO), "the first step's is due at once: what one takes is not known before");
        // Ten milliseconds for one, and 190 without one: 10 of 200.
        pace.wrote(ms(100), ms(110));
        assert!(!pace.is_due(ms(299)) && pace.is_due(ms(300)));
        // Where writing takes no time, each step has one.
        pace.wrote(ms(400), ms(400));
        assert!(pace.is_due(ms(400)));
    }
}
