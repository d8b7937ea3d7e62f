//! The parameters of the schedule. They know no group.

use serde::{Deserialize, Serialize};

/// The least threshold of the efficiency regime: below one half the floor of equation (8) falls again as the threshold falls.
pub const P_HIGH_MIN: f64 = 0.55;
/// The greatest: at 1 the floor is zero, and calibration is gone where it is needed.
pub const P_HIGH_MAX: f64 = 0.98;

/// Why a schedule is refused.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum PhiError {
    /// A number is NaN or infinite.
    #[error("`{name}` must be a finite number, found {found}")]
    NotFinite {
        /// The parameter.
        name: &'static str,
        /// What it was.
        found: f64,
    },
    /// A number is below zero.
    #[error("`{name}` must not be negative, found {found}")]
    Negative {
        /// The parameter.
        name: &'static str,
        /// What it was.
        found: f64,
    },
    /// A failure with progress would be worth a success.
    #[error("`lambda_prog` must be less than 1, found {found}\nhint: progress alone must never be worth a success")]
    ProgressWeight {
        /// What it was.
        found: f64,
    },
    /// A success that spends much would be worth a failure that spends little.
    #[error(
        "`lambda_eff` times the range of the cost must be less than 1, found {lambda_eff} times {range}\nhint: a success must be worth more than any failure"
    )]
    EfficiencyWeight {
        /// What it was.
        lambda_eff: f64,
        /// Greatest less least cost of a group.
        range: f64,
    },
    /// The upper threshold is outside its range.
    #[error("`p_high` must be within {P_HIGH_MIN} to {P_HIGH_MAX}, found {found}")]
    HighThreshold {
        /// What it was.
        found: f64,
    },
    /// The regimes would overlap.
    #[error(
        "`p_low` must not exceed `p_high`, found {p_low} and {p_high}\nhint: equal thresholds leave out the consolidation regime"
    )]
    Overlap {
        /// The lower threshold.
        p_low: f64,
        /// The upper one.
        p_high: f64,
    },
    /// The bound on the range of costs is not one.
    #[error("the range of the cost must be above 0 and at most 1, found {found}")]
    Range {
        /// What it was.
        found: f64,
    },
}

/// How far costs of one group lie apart at most: above 0, at most 1.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct CostRange(f64);

impl CostRange {
    /// All that a cost within 0 to 1 can do.
    pub const WHOLE: Self = Self(1.0);

    /// A checked bound.
    ///
    /// # Errors
    /// [`PhiError::Range`] outside 0 (exclusive) to 1.
    pub fn new(greatest_less_least: f64) -> Result<Self, PhiError> {
        if greatest_less_least > 0.0 && greatest_less_least <= 1.0 {
            Ok(Self(greatest_less_least))
        } else {
            Err(PhiError::Range { found: greatest_less_least })
        }
    }

    /// Greatest less least.
    #[must_use]
    pub const fn get(self) -> f64 {
        self.0
    }
}

/// The parameters before they are checked.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PhiValues {
    /// What full progress is worth in the progress regime: 0 to less than 1.
    pub lambda_prog: f64,
    /// What the whole budget costs in the efficiency regime: from 0, times the range of the cost less than 1.
    pub lambda_eff: f64,
    /// Below this share of successes a group is in the progress regime: 0 to `p_high`.
    pub p_low: f64,
    /// From this share on it is in the efficiency regime: [`P_HIGH_MIN`] to [`P_HIGH_MAX`].
    pub p_high: f64,
}

impl PhiValues {
    /// The parameters with their names.
    fn named(&self) -> [(&'static str, f64); 4] {
        [
            ("lambda_prog", self.lambda_prog),
            ("lambda_eff", self.lambda_eff),
            ("p_low", self.p_low),
            ("p_high", self.p_high),
        ]
    }
}

/// The parameters of equation (5), phi: under them a success is always worth more than a failure of the same group.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "PhiValues", into = "PhiValues")]
pub struct Phi(PhiValues);

impl Phi {
    /// Checks parameters for costs anywhere within 0 to 1. Reading one from a file goes this way too.
    ///
    /// # Errors
    /// [`PhiError`], for the first thing that has no meaning.
    pub fn new(values: PhiValues) -> Result<Self, PhiError> {
        Self::within(values, CostRange::WHOLE)
    }

    /// Checks parameters for costs that lie within `range` of each other in every group. [`Scheme::assign`](super::Scheme::assign) refuses a group
    /// that breaks the promise.
    ///
    /// # Errors
    /// [`PhiError`], for the first thing that has no meaning.
    pub fn within(values: PhiValues, range: CostRange) -> Result<Self, PhiError> {
        for (name, found) in values.named() {
            if !found.is_finite() {
                return Err(PhiError::NotFinite { name, found });
            }
            if found < 0.0 {
                return Err(PhiError::Negative { name, found });
            }
        }
        let PhiValues { lambda_prog, lambda_eff, p_low, p_high } = values;
        if lambda_prog >= 1.0 {
            return Err(PhiError::ProgressWeight { found: lambda_prog });
        }
        if lambda_eff * range.get() >= 1.0 {
            return Err(PhiError::EfficiencyWeight { lambda_eff, range: range.get() });
        }
        if !(P_HIGH_MIN..=P_HIGH_MAX).contains(&p_high) {
            return Err(PhiError::HighThreshold { found: p_high });
        }
        if p_low > p_high {
            return Err(PhiError::Overlap { p_low, p_high });
        }
        Ok(Self(values))
    }

    /// What full progress is worth in the progress regime.
    #[must_use]
    pub const fn lambda_prog(&self) -> f64 {
        self.0.lambda_prog
    }

    /// What the whole budget costs in the efficiency regime.
    #[must_use]
    pub const fn lambda_eff(&self) -> f64 {
        self.0.lambda_eff
    }

    /// Below this share of successes: progress.
    #[must_use]
    pub const fn p_low(&self) -> f64 {
        self.0.p_low
    }

    /// From this share of successes on: efficiency.
    #[must_use]
    pub const fn p_high(&self) -> f64 {
        self.0.p_high
    }

    /// All four.
    #[must_use]
    pub const fn values(&self) -> PhiValues {
        self.0
    }

    /// Equation (8): the deviation of a coin that falls right with chance p_high, sqrt(p_high (1 - p_high)). 0.14 to 0.4975.
    #[must_use]
    pub fn sigma_anchor(&self) -> f64 {
        (self.p_high() * (1.0 - self.p_high())).sqrt()
    }
}

impl TryFrom<PhiValues> for Phi {
    type Error = PhiError;

    fn try_from(values: PhiValues) -> Result<Self, PhiError> {
        Self::new(values)
    }
}

impl From<Phi> for PhiValues {
    fn from(phi: Phi) -> Self {
        phi.0
    }
}
