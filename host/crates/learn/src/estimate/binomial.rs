//! Bounds of a success rate. It knows not what succeeded.

use serde::{Deserialize, Serialize};

use super::distribution::{beta_lower, normal_upper};
use super::error::{EstimateError, check_count};
use super::level::{Interval, Level};

/// The most trials; up to here the quantiles are right to nine digits.
pub const TRIALS_MAX: u64 = 100_000;

/// Counts before they are checked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BinomialCounts {
    /// Successes.
    pub successes: u64,
    /// Trials, void ones left out.
    pub trials: u64,
}

/// Successes in 1 to [`TRIALS_MAX`] independent trials.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(try_from = "BinomialCounts", into = "BinomialCounts")]
pub struct Binomial(BinomialCounts);

impl Binomial {
    /// Checked counts.
    ///
    /// # Errors
    /// [`EstimateError`] without a trial, with too many, and for more successes than trials.
    pub fn new(successes: u64, trials: u64) -> Result<Self, EstimateError> {
        check_count("trials", trials, 1, TRIALS_MAX)?;
        if successes > trials {
            return Err(EstimateError::Successes { successes, trials });
        }
        Ok(Self(BinomialCounts { successes, trials }))
    }

    /// The counts.
    #[must_use]
    pub const fn counts(&self) -> BinomialCounts {
        self.0
    }

    /// Successes over trials, 0 to 1.
    #[must_use]
    pub fn rate(&self) -> f64 {
        self.successes() / self.trials()
    }

    /// Wilson's score interval, two-sided (Wilson 1927).
    #[must_use]
    pub fn wilson(&self, level: Level) -> Interval {
        let (low, high) = self.score(normal_upper(level.each_tail()));
        Interval { low, high }
    }

    /// Wilson's lower bound, one-sided.
    #[must_use]
    pub fn wilson_lower(&self, level: Level) -> f64 {
        self.score(normal_upper(level.one_tail())).0
    }

    /// The exact interval, two-sided (Clopper and Pearson 1934).
    #[must_use]
    pub fn clopper_pearson(&self, level: Level) -> Interval {
        let tail = level.each_tail();
        Interval { low: self.exact_low(tail), high: 1.0 - self.mirrored().exact_low(tail) }
    }

    /// The exact lower bound, one-sided.
    #[must_use]
    pub fn clopper_pearson_lower(&self, level: Level) -> f64 {
        self.exact_low(level.one_tail())
    }

    fn score(&self, z: f64) -> (f64, f64) {
        let (trials, rate) = (self.trials(), self.rate());
        let middle = rate + z * z / (2.0 * trials);
        let reach = z * (rate * (1.0 - rate) / trials + z * z / (4.0 * trials * trials)).sqrt();
        let scale = 1.0 + z * z / trials;
        (((middle - reach) / scale).max(0.0), ((middle + reach) / scale).min(1.0))
    }

    /// The rate at which so many successes or more have the chance `tail`.
    fn exact_low(&self, tail: f64) -> f64 {
        if self.0.successes == 0 {
            return 0.0;
        }
        beta_lower(tail, self.successes(), self.trials() - self.successes() + 1.0)
    }

    /// Failures for successes.
    fn mirrored(&self) -> Self {
        Self(BinomialCounts { successes: self.0.trials - self.0.successes, trials: self.0.trials })
    }

    fn successes(&self) -> f64 {
        self.0.successes as f64
    }

    fn trials(&self) -> f64 {
        self.0.trials as f64
    }
}

impl TryFrom<BinomialCounts> for Binomial {
    type Error = EstimateError;

    fn try_from(counts: BinomialCounts) -> Result<Self, EstimateError> {
        Self::new(counts.successes, counts.trials)
    }
}

impl From<Binomial> for BinomialCounts {
    fn from(binomial: Binomial) -> Self {
        binomial.0
    }
}
