//! Where the equations can be read in two ways, and which one is meant. It knows no group.

use serde::{Deserialize, Serialize};

/// The greatest epsilon: beyond it, it is no guard against division by zero but another floor.
pub const EPSILON_MAX: f64 = 1e-2;

/// Where the floor of equation (9) holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum FloorScope {
    /// In every group, as the equation is written. It then damps rare successes and shaped progress too.
    #[default]
    All,
    /// In the efficiency regime alone.
    Efficiency,
}

/// Whom the cost of equation (5) is taken from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum EffOn {
    /// Everyone in an efficient group, as the equation is written. Of two failures the quick one is then the better.
    #[default]
    All,
    /// Members that succeed.
    Success,
}

/// An epsilon that is none.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
#[error("`epsilon` must be within 0 to {EPSILON_MAX}, found {found}")]
pub struct EpsilonError {
    /// What it was.
    pub found: f64,
}

/// What is added to a deviation before it divides, 0 to [`EPSILON_MAX`]. Nothing rests on it: equal rewards are found by their spread.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "f64", into = "f64")]
pub struct Epsilon(f64);

impl Epsilon {
    /// A checked value.
    ///
    /// # Errors
    /// [`EpsilonError`] outside 0 to [`EPSILON_MAX`].
    pub fn new(value: f64) -> Result<Self, EpsilonError> {
        if (0.0..=EPSILON_MAX).contains(&value) { Ok(Self(value)) } else { Err(EpsilonError { found: value }) }
    }

    /// The value.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

impl Default for Epsilon {
    /// 1e-6.
    fn default() -> Self {
        Self(1e-6)
    }
}

impl TryFrom<f64> for Epsilon {
    type Error = EpsilonError;

    fn try_from(value: f64) -> Result<Self, EpsilonError> {
        Self::new(value)
    }
}

impl From<Epsilon> for f64 {
    fn from(epsilon: Epsilon) -> Self {
        epsilon.0
    }
}

/// The readings, each by default the literal one.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Options {
    /// Where the floor holds.
    pub floor_scope: FloorScope,
    /// Whom the cost is taken from.
    pub eff_on: EffOn,
    /// What is added to a deviation before it divides.
    pub epsilon: Epsilon,
}
