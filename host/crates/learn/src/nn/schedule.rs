//! Learning rates over steps.

use serde::{Deserialize, Serialize};

use super::error::NnError;

/// What the rate does after the warm-up.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Decay {
    /// Stays at the peak.
    Constant,
    /// Falls to `floor` times the peak at step `steps`, along half a cosine, and stays there.
    Cosine {
        /// The step at which the floor is reached.
        steps: u64,
        /// A share of the peak, in [0, 1].
        floor: f64,
    },
    /// Falls to `floor` times the peak at step `steps`, along a line, and stays there.
    Linear {
        /// The step at which the floor is reached.
        steps: u64,
        /// A share of the peak, in [0, 1].
        floor: f64,
    },
}

/// The learning rate of each step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Schedule {
    /// The highest rate; positive.
    pub peak: f64,
    /// Steps in which the rate grows along a line to the peak, reached at the last of them; 0: it begins there.
    pub warmup_steps: u64,
    /// What follows.
    pub decay: Decay,
}

impl Schedule {
    /// One rate for all steps.
    #[must_use]
    pub fn constant(peak: f64) -> Self {
        Self { peak, warmup_steps: 0, decay: Decay::Constant }
    }

    /// That it gives a rate for every step.
    ///
    /// # Errors
    /// A peak that is not positive, a floor outside [0, 1], a decay that ends within the warm-up.
    pub fn check(&self) -> Result<(), NnError> {
        if !(self.peak.is_finite() && self.peak > 0.0) {
            return Err(NnError::Setting { name: "peak", expected: "a positive rate", found: self.peak });
        }
        let (Decay::Cosine { steps, floor } | Decay::Linear { steps, floor }) = self.decay else { return Ok(()) };
        if !(0.0..=1.0).contains(&floor) {
            return Err(NnError::Setting { name: "floor", expected: "a share in [0, 1]", found: floor });
        }
        if steps <= self.warmup_steps {
            #[expect(clippy::cast_precision_loss, reason = "only shown")]
            let found = steps as f64;
            return Err(NnError::Setting { name: "steps", expected: "more than warmup_steps", found });
        }
        Ok(())
    }

    /// The rate of a step; the first is 1.
    #[must_use]
    #[expect(clippy::cast_precision_loss, reason = "steps are far below 2^53")]
    pub fn rate(&self, step: u64) -> f64 {
        if step < self.warmup_steps {
            return self.peak * step as f64 / self.warmup_steps as f64;
        }
        let part = |steps: u64| {
            let length = steps.saturating_sub(self.warmup_steps).max(1);
            (step.saturating_sub(self.warmup_steps) as f64 / length as f64).min(1.0)
        };
        let share = match self.decay {
            Decay::Constant => 1.0,
            Decay::Cosine { steps, floor } => {
                floor + (1.0 - floor) * 0.5 * (1.0 + (std::f64::consts::PI * part(steps)).cos())
            }
            Decay::Linear { steps, floor } => floor + (1.0 - floor) * (1.0 - part(steps)),
        };
        self.peak * share
    }
}
