//! Adam with decoupled weight decay (Loshchilov and Hutter 2019, algorithm 2), whose whole state can be saved.

use serde::{Deserialize, Serialize};

use super::error::NnError;
use super::gradients::Gradients;
use super::parameters::Parameters;
use super::schedule::Schedule;
use super::tensors;

/// The note that holds the number of steps, beside the moments.
const STEP_NOTE: &str = "step";

/// Settings of the optimiser.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AdamWConfig {
    /// The learning rate of each step.
    pub schedule: Schedule,
    /// Memory of the first moment, in [0, 1).
    pub beta1: f64,
    /// Memory of the second moment, in [0, 1).
    pub beta2: f64,
    /// Added to the root of the second moment; positive.
    pub epsilon: f64,
    /// Share of a weight that one step at rate 1 takes away, at least 0. Weights of one dimension do not decay.
    pub weight_decay: f64,
    /// Longest gradient, as the norm of all of them; longer ones are scaled down. None: as they are.
    pub clip_norm: Option<f64>,
}

impl AdamWConfig {
    /// Usual settings: betas 0.9 and 0.999, epsilon 1e-8, decay 0.01, norm at most 1.
    #[must_use]
    pub fn new(schedule: Schedule) -> Self {
        Self { schedule, beta1: 0.9, beta2: 0.999, epsilon: 1e-8, weight_decay: 0.01, clip_norm: Some(1.0) }
    }

    fn check(&self) -> Result<(), NnError> {
        self.schedule.check()?;
        let positive = |value: f64| value.is_finite() && value > 0.0;
        let checks = [
            ("beta1", "a share in [0, 1)", self.beta1, (0.0..1.0).contains(&self.beta1)),
            ("beta2", "a share in [0, 1)", self.beta2, (0.0..1.0).contains(&self.beta2)),
            ("epsilon", "a positive number", self.epsilon, positive(self.epsilon)),
            ("weight_decay", "0 or more", self.weight_decay, self.weight_decay.is_finite() && self.weight_decay >= 0.0),
            ("clip_norm", "a positive number", self.clip_norm.unwrap_or(1.0), self.clip_norm.is_none_or(positive)),
        ];
        match checks.into_iter().find(|(.., fine)| !fine) {
            Some((name, expected, found, _)) => Err(NnError::Setting { name, expected, found }),
            None => Ok(()),
        }
    }
}

/// What a step did.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Stepped {
    /// Its number; the first is 1.
    pub step: u64,
    /// Its learning rate.
    pub learning_rate: f64,
    /// The norm of all gradients before they were scaled.
    pub gradient_norm: f64,
    /// What they were multiplied with: 1 when the norm was within the limit.
    pub clip_factor: f64,
}

/// The optimiser with its moments.
#[derive(Debug, Clone)]
pub struct AdamW {
    config: AdamWConfig,
    /// Steps that were taken.
    step: u64,
    moments: Vec<Moments>,
}

/// Running means of a parameter's gradient and of its square.
#[derive(Debug, Clone)]
struct Moments {
    first: Vec<f32>,
    second: Vec<f32>,
}

/// The numbers of one step, as the update of a value needs them.
struct Rule {
    beta1: f32,
    beta2: f32,
    /// 1 - beta, computed before it is rounded.
    fresh1: f32,
    fresh2: f32,
    clip: f32,
    /// Learning rate over the correction of the first moment.
    rate: f32,
    /// One over the root of the second moment's correction.
    root: f32,
    epsilon: f32,
}

impl AdamW {
    /// A fresh optimiser.
    ///
    /// # Errors
    /// A setting outside its range.
    pub fn new(config: AdamWConfig, parameters: &Parameters) -> Result<Self, NnError> {
        config.check()?;
        let zeros = |count: usize| Moments { first: vec![0.0; count], second: vec![0.0; count] };
        Ok(Self { config, step: 0, moments: parameters.iter().map(|(_, var)| zeros(var.elem_count())).collect() })
    }

    /// An optimiser that goes on where [`Self::to_bytes`] left it. Settings are the caller's, as when it was new.
    ///
    /// # Errors
    /// A setting outside its range; bytes that are not the moments of these parameters.
    pub fn from_bytes(config: AdamWConfig, parameters: &Parameters, bytes: &[u8]) -> Result<Self, NnError> {
        config.check()?;
        let what = "the optimiser's state";
        let mut read = tensors::read(what, bytes)?;
        let step = read.notes.get(STEP_NOTE).and_then(|text| text.parse().ok());
        let step = step.ok_or_else(|| NnError::NotTensors { what, reason: "no number of steps beside it".into() })?;
        let moments = parameters.slots().iter().map(|slot| {
            let first = read.take(&format!("first.{}", slot.name), &slot.shape, "moment")?;
            let second = read.take(&format!("second.{}", slot.name), &slot.shape, "moment")?;
            Ok(Moments { first, second })
        });
        let moments = moments.collect::<Result<_, NnError>>()?;
        read.finish()?;
        Ok(Self { config, step, moments })
    }

    /// Both moments of each parameter and the number of steps, as safetensors.
    ///
    /// # Errors
    /// An optimiser of other parameters.
    pub fn to_bytes(&self, parameters: &Parameters) -> Result<Vec<u8>, NnError> {
        self.check_sizes("moments", parameters, self.moments.iter().map(|moments| moments.first.len()))?;
        let tensors = self.moments.iter().zip(parameters.slots()).flat_map(|(moments, slot)| {
            let shape = slot.shape.as_slice();
            [
                (format!("first.{}", slot.name), shape, moments.first.as_slice()),
                (format!("second.{}", slot.name), shape, moments.second.as_slice()),
            ]
        });
        tensors::write(tensors, Some((STEP_NOTE, self.step.to_string())))
    }

    /// Steps that were taken.
    #[must_use]
    pub fn steps(&self) -> u64 {
        self.step
    }

    /// That every moment is finite.
    ///
    /// # Errors
    /// The first parameter with one that is not.
    pub fn check_finite(&self, parameters: &Parameters) -> Result<(), NnError> {
        for (moments, slot) in self.moments.iter().zip(parameters.slots()) {
            if !moments.first.iter().chain(&moments.second).all(|value| value.is_finite()) {
                return Err(NnError::NonFinite { name: slot.name.clone(), what: "moment" });
            }
        }
        Ok(())
    }

    /// One step.
    ///
    /// # Errors
    /// Gradients of other parameters; a weight or moment that would not be finite. Weights, moments and the number of steps are then as
    /// before.
    pub fn step(&mut self, parameters: &mut Parameters, gradients: &Gradients) -> Result<Stepped, NnError> {
        self.check_sizes("gradients", parameters, gradients.values().iter().map(Vec::len))?;
        self.check_sizes("moments", parameters, self.moments.iter().map(|moments| moments.first.len()))?;
        let gradient_norm = gradients.norm();
        let clip_factor = self.config.clip_norm.map_or(1.0, |limit| (limit / gradient_norm).min(1.0));
        let (step, learning_rate) = (self.step + 1, self.config.schedule.rate(self.step + 1));
        let rule = self.rule(step, learning_rate, clip_factor);
        let mut weights = parameters.values()?;
        let mut moments = self.moments.clone();
        for (((weights, moments), gradient), slot) in
            weights.iter_mut().zip(&mut moments).zip(gradients.values()).zip(parameters.slots())
        {
            let decay = if slot.shape.len() > 1 { learning_rate * self.config.weight_decay } else { 0.0 };
            #[expect(clippy::cast_possible_truncation, reason = "weights are f32")]
            rule.apply(weights, moments, gradient, (1.0 - decay) as f32);
            let finite = |values: &[f32]| values.iter().all(|value| value.is_finite());
            if !finite(weights) {
                return Err(NnError::NonFinite { name: slot.name.clone(), what: "weight" });
            }
            if !finite(&moments.first) || !finite(&moments.second) {
                return Err(NnError::NonFinite { name: slot.name.clone(), what: "moment" });
            }
        }
        parameters.set(weights)?;
        (self.moments, self.step) = (moments, step);
        Ok(Stepped { step, learning_rate, gradient_norm, clip_factor })
    }

    #[expect(clippy::cast_possible_truncation, reason = "weights are f32")]
    fn rule(&self, step: u64, learning_rate: f64, clip_factor: f64) -> Rule {
        let AdamWConfig { beta1, beta2, epsilon, .. } = self.config;
        // After so many steps either power is 0 anyway.
        let power = |beta: f64| 1.0 - beta.powi(i32::try_from(step).unwrap_or(i32::MAX));
        Rule {
            beta1: beta1 as f32,
            beta2: beta2 as f32,
            fresh1: (1.0 - beta1) as f32,
            fresh2: (1.0 - beta2) as f32,
            clip: clip_factor as f32,
            rate: (learning_rate / power(beta1)) as f32,
            root: (1.0 / power(beta2).sqrt()) as f32,
            epsilon: epsilon as f32,
        }
    }

    fn check_sizes(
        &self,
        what: &'static str,
        parameters: &Parameters,
        sizes: impl Iterator<Item = usize>,
    ) -> Result<(), NnError> {
        let sizes: Vec<usize> = sizes.collect();
        if parameters.iter().map(|(_, var)| var.elem_count()).eq(sizes.iter().copied()) {
            return Ok(());
        }
        Err(NnError::OtherParameters { what, expected: parameters.slots().len(), found: sizes.len() })
    }
}

impl Rule {
    fn apply(&self, weights: &mut [f32], moments: &mut Moments, gradient: &[f32], keep: f32) {
        let moments = moments.first.iter_mut().zip(&mut moments.second);
        for ((weight, (first, second)), gradient) in weights.iter_mut().zip(moments).zip(gradient) {
            let gradient = gradient * self.clip;
            *first = self.beta1 * *first + self.fresh1 * gradient;
            *second = self.beta2 * *second + self.fresh2 * gradient * gradient;
            *weight = *weight * keep - self.rate * *first / (second.sqrt() * self.root + self.epsilon);
        }
    }
}
