//! A run of supervised fine-tuning, from its folder: the teacher's demonstrations, passes over them, checkpoints.

use std::sync::Arc;

use anyhow::Context as _;
use loopwright_contract::task::Split;
use loopwright_harness::{Harness, Noise};
use loopwright_learn::nn::{AdamWConfig, Decay, Schedule};
use loopwright_learn::pointer::Variation;
use loopwright_learn::sft::{Examples, Fit, FitRecord, FitSettings};
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::clumsy::PLANT_MAX;
use super::course::{Course, Teaching};
use super::field::Ground;
use super::folder::RunFolder;
use super::improve::{Ended, keep, watched};
use super::interrupt::Interrupt;
use super::log::{Log, draw};
use super::phone::PHONE;

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
    /// Of the turns of the phone's gold, the share before which a wrong turn is planted.
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
/// A folder that another process writes to, a pack without a training split, demonstrations that cannot be made, a loss that is not finite, files that cannot be written.
pub fn fit<C: Course>(
    course: &C,
    judging: &Harness,
    folder: &RunFolder,
    run: &SftRun,
    interrupt: &Interrupt,
    told: &dyn Fn(&FitRecord, u64),
) -> anyhow::Result<Ended> {
    // Before anything in the folder is changed: another process may be at it.
    let mut checkpoints = folder.checkpoints()?;
    let ground = Ground::new(judging, Noise::Member, Arc::clone(&interrupt.cancel));
    let tasks = course.tasks(Split::Train)?;
    let (samples, about) = watched(&ground.watch, || {
        course.demonstrations(
            &ground,
            &tasks,
            Teaching { seed: run.seed, members: run.teacher_members, mask: run.mask, plant: run.plant },
        )
    })?;
    let examples = Examples::new::<C::Policy>(samples)?;
    let shown = Shown { demonstrations: examples.count(), tokens: examples.tokens(), about };
    folder.write_json("demonstrations.json", &shown)?;
    let mut policy = course.fresh(run.seed)?;
    let mut fit = match folder.newest()? {
        Some(found) => Fit::resume(&mut policy, &examples, &found.checkpoint)?,
        None => Fit::new(run.settings(examples.count()), &policy, &examples)?,
    };
    folder.cut_metrics(fit.taken())?;
    let mut log = Log::open(folder)?;
    let change = |random, samples| course.varied(&run.variation, random, samples);
    let epoch = examples.count().div_ceil(run.batch.max(1)) as u64;
    while let Some(record) = fit.step_on(&mut policy, &examples, &change)? {
        log.line(record.step, &record)?;
        let (ending, whole) = (interrupt.wanted(), fit.taken() == fit.steps());
        if ending || whole || record.step.is_multiple_of(epoch) {
            checkpoints.write(record.step, &fit.checkpoint(&policy)?).with_context(|| {
                format!(
                    "the checkpoint of step {}\nhint: the one before is whole; make room, then `train resume`",
                    record.step
                )
            })?;
        }
        told(&record, fit.steps());
        if ending && !whole {
            return Ok(Ended::Early);
        }
    }
    keep(course, folder, &policy, "policy", fit.taken(), None)?;
    draw(folder)?;
    Ok(Ended::Whole)
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
