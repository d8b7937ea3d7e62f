//! Differences between two arms under the same seeds or on the same tasks. It knows not what the arms are.

use serde::{Deserialize, Serialize};

use super::distribution::{t_tail, t_upper};
use super::error::{EstimateError, check_items};
use super::level::{Interval, Level};

/// The most pairs.
pub const PAIRS_MAX: u64 = 1_000_000;

/// At least two finite differences, one for each pair.
#[derive(Debug, Clone, PartialEq)]
pub struct Paired {
    differences: Vec<f64>,
    mean: f64,
    standard_error: f64,
}

/// Whether two arms are the same within a margin: two one-sided t tests.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Equivalence {
    /// The mean difference.
    pub mean: f64,
    /// How far it may be from zero.
    pub margin: f64,
    /// The chance of a mean this high if the difference were -margin.
    pub p_above_low: f64,
    /// The chance of a mean this low if the difference were +margin.
    pub p_below_high: f64,
    /// Both chances are below 1 - confidence: the same.
    pub equivalent: bool,
}

impl Paired {
    /// From differences.
    ///
    /// # Errors
    /// [`EstimateError`] for less than 2 or more than [`PAIRS_MAX`], and for one that is not finite.
    pub fn new(differences: Vec<f64>) -> Result<Self, EstimateError> {
        check_items("pairs", &differences, 2, PAIRS_MAX)?;
        let count = differences.len() as f64;
        let mean = differences.iter().sum::<f64>() / count;
        let squares: f64 = differences.iter().map(|difference| (difference - mean).powi(2)).sum();
        let standard_error = (squares / (count - 1.0) / count).sqrt();
        Ok(Self { differences, mean, standard_error })
    }

    /// Left less right, pair by pair.
    ///
    /// # Errors
    /// As for [`Paired::new`], and when the sides differ in length.
    pub fn between(left: &[f64], right: &[f64]) -> Result<Self, EstimateError> {
        if left.len() != right.len() {
            return Err(EstimateError::Unpaired { left: left.len(), right: right.len() });
        }
        Self::new(left.iter().zip(right).map(|(left, right)| left - right).collect())
    }

    /// The differences.
    #[must_use]
    pub fn differences(&self) -> &[f64] {
        &self.differences
    }

    /// Their mean.
    #[must_use]
    pub const fn mean(&self) -> f64 {
        self.mean
    }

    /// The standard error of the mean: the deviation with n - 1, over the root of n.
    #[must_use]
    pub const fn standard_error(&self) -> f64 {
        self.standard_error
    }

    /// The t interval of the mean, two-sided.
    #[must_use]
    pub fn interval(&self, level: Level) -> Interval {
        let reach = t_upper(level.each_tail(), self.freedom()) * self.standard_error;
        Interval { low: self.mean - reach, high: self.mean + reach }
    }

    /// Whether the mean difference lies within `margin` of zero, by two one-sided tests at the same confidence each.
    ///
    /// # Errors
    /// [`EstimateError::Range`] for a margin that is not a positive number.
    pub fn equivalence(&self, margin: f64, level: Level) -> Result<Equivalence, EstimateError> {
        if !(margin > 0.0 && margin.is_finite()) {
            return Err(EstimateError::Range {
                what: "margin",
                least: f64::MIN_POSITIVE,
                greatest: f64::MAX,
                found: margin,
            });
        }
        let p_above_low = self.tail(self.mean + margin);
        let p_below_high = self.tail(margin - self.mean);
        let equivalent = p_above_low.max(p_below_high) < level.one_tail();
        Ok(Equivalence { mean: self.mean, margin, p_above_low, p_below_high, equivalent })
    }

    /// The chance of a distance above this one by luck. Without any deviation luck has no part.
    fn tail(&self, distance: f64) -> f64 {
        if self.standard_error > 0.0 {
            t_tail(distance / self.standard_error, self.freedom())
        } else if distance > 0.0 {
            0.0
        } else {
            1.0
        }
    }

    fn freedom(&self) -> f64 {
        self.differences.len() as f64 - 1.0
    }
}
