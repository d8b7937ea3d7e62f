//! How sure an interval is to be, and what an interval is. It knows no data.

use serde::{Deserialize, Serialize};

use super::error::EstimateError;

/// The least confidence.
pub const LEVEL_MIN: f64 = 0.5;
/// The greatest.
pub const LEVEL_MAX: f64 = 0.999_999;

/// A confidence, [`LEVEL_MIN`] to [`LEVEL_MAX`]; 0.95 is usual.
#[derive(Debug, Clone, Copy, PartialEq, PartialOrd, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Level(f64);

impl Level {
    /// A checked confidence.
    ///
    /// # Errors
    /// [`EstimateError::Range`] outside [`LEVEL_MIN`] to [`LEVEL_MAX`].
    pub fn new(confidence: f64) -> Result<Self, EstimateError> {
        if (LEVEL_MIN..=LEVEL_MAX).contains(&confidence) {
            Ok(Self(confidence))
        } else {
            Err(EstimateError::Range { what: "confidence", least: LEVEL_MIN, greatest: LEVEL_MAX, found: confidence })
        }
    }

    /// The confidence.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }

    /// What lies above a one-sided bound.
    pub(crate) fn one_tail(self) -> f64 {
        1.0 - self.0
    }

    /// What lies beyond each end of a two-sided interval.
    pub(crate) fn each_tail(self) -> f64 {
        (1.0 - self.0) / 2.0
    }
}

impl TryFrom<f64> for Level {
    type Error = EstimateError;

    fn try_from(confidence: f64) -> Result<Self, EstimateError> {
        Self::new(confidence)
    }
}

impl From<Level> for f64 {
    fn from(level: Level) -> Self {
        level.0
    }
}

/// A two-sided interval, ends included.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Interval {
    /// The lower end.
    pub low: f64,
    /// The upper end.
    pub high: f64,
}

impl Interval {
    /// Whether a value lies in it.
    #[must_use]
    pub fn contains(&self, value: f64) -> bool {
        (self.low..=self.high).contains(&value)
    }
}
