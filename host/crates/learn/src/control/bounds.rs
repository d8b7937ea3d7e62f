//! Ranges and step limits of the schedule's parameters. They know no statistics.

use serde::{Deserialize, Serialize};

use super::decision::{Clamp, ClampCause};
use crate::care::{P_HIGH_MAX, P_HIGH_MIN, Phi, PhiValues};

/// How far a threshold moves in one decision at most.
pub const THRESHOLD_STEP_MAX: f64 = 0.05;
/// By what factor a weight grows or shrinks in one decision at most.
pub const WEIGHT_STEP_MAX: f64 = 1.5;
/// A weight below this may be switched off, and one that is off starts as if it were this: no factor leads away from zero.
pub const WEIGHT_START: f64 = 0.01;
/// The least distance of the thresholds.
pub const GAP_MIN: f64 = 0.1;
/// What rounding may add to a limit.
const ROUNDING: f64 = 1e-9;

/// One of the four parameters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Parameter {
    /// What full progress is worth.
    LambdaProg,
    /// What the whole budget costs.
    LambdaEff,
    /// The lower threshold.
    PLow,
    /// The upper threshold.
    PHigh,
}

impl Parameter {
    /// All of them.
    pub const ALL: [Self; 4] = [Self::LambdaProg, Self::LambdaEff, Self::PLow, Self::PHigh];

    fn of(self, values: &mut PhiValues) -> &mut f64 {
        match self {
            Self::LambdaProg => &mut values.lambda_prog,
            Self::LambdaEff => &mut values.lambda_eff,
            Self::PLow => &mut values.p_low,
            Self::PHigh => &mut values.p_high,
        }
    }
}

/// What the parameters may be, and how far they may move in one decision: lambda_prog 0 to 0.5, lambda_eff 0 to 0.3, p_low 0 to 0.5, p_high 0.55 to
/// 0.98, at least [`GAP_MIN`] between the thresholds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub struct Bounds;

impl Bounds {
    /// Least and greatest value of a parameter.
    #[must_use]
    pub const fn range(&self, parameter: Parameter) -> (f64, f64) {
        match parameter {
            Parameter::LambdaProg | Parameter::PLow => (0.0, 0.5),
            Parameter::LambdaEff => (0.0, 0.3),
            Parameter::PHigh => (P_HIGH_MIN, P_HIGH_MAX),
        }
    }

    /// Least and greatest value that a parameter may take next, from the one in force.
    #[must_use]
    pub fn reach(&self, parameter: Parameter, current: f64) -> (f64, f64) {
        match parameter {
            Parameter::PLow | Parameter::PHigh => (current - THRESHOLD_STEP_MAX, current + THRESHOLD_STEP_MAX),
            Parameter::LambdaProg | Parameter::LambdaEff => {
                let less = current / WEIGHT_STEP_MAX;
                let least = if less <= WEIGHT_START + ROUNDING { 0.0 } else { less };
                (least, current.max(WEIGHT_START) * WEIGHT_STEP_MAX)
            }
        }
    }

    /// Whether parameters are within all ranges.
    #[must_use]
    pub fn contain(&self, phi: &Phi) -> bool {
        let mut values = phi.values();
        let gap = values.p_high - values.p_low >= GAP_MIN - ROUNDING;
        gap && Parameter::ALL.iter().all(|parameter| {
            let (least, greatest) = self.range(*parameter);
            (least..=greatest).contains(parameter.of(&mut values))
        })
    }

    /// Whether one decision may lead from one to the other.
    #[must_use]
    pub fn within_step(&self, from: &Phi, to: &Phi) -> bool {
        let (mut from, mut to) = (from.values(), to.values());
        Parameter::ALL.iter().all(|parameter| {
            let (least, greatest) = self.reach(*parameter, *parameter.of(&mut from));
            (least - ROUNDING..=greatest + ROUNDING).contains(parameter.of(&mut to))
        })
    }

    /// The nearest that finite proposed values may become, from parameters within the ranges; what was corrected is added to `clamps`.
    pub(crate) fn clamp(&self, current: &Phi, proposed: PhiValues, clamps: &mut Vec<Clamp>) -> PhiValues {
        let (mut current, mut values) = (current.values(), proposed);
        for parameter in Parameter::ALL {
            let (least, greatest) = self.range(parameter);
            let value = parameter.of(&mut values);
            correct(parameter, ClampCause::Range, value, value.max(least).min(greatest), clamps);
            let (least, greatest) = self.reach(parameter, *parameter.of(&mut current));
            correct(parameter, ClampCause::Step, value, value.max(least).min(greatest), clamps);
        }
        // The lower threshold gives way. It never has to move further than its own step: the gap was there before, and the upper one moved a step at most.
        let room = values.p_high - GAP_MIN;
        let gap = values.p_low.min(room);
        correct(Parameter::PLow, ClampCause::Gap, &mut values.p_low, gap, clamps);
        values
    }
}

/// Sets a value, and notes it when that changes it.
pub(crate) fn correct(parameter: Parameter, cause: ClampCause, value: &mut f64, to: f64, clamps: &mut Vec<Clamp>) {
    if *value != to {
        clamps.push(Clamp { parameter, cause, from: *value, to });
        *value = to;
    }
}
