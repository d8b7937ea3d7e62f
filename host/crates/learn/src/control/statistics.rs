//! What a controller is told. It holds no reward and no advantage.

use serde::{Deserialize, Serialize};

use crate::care::{self, Regime};
use crate::estimate::Binomial;

/// A share that is none.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum StatisticsError {
    /// A share outside 0 to 1.
    #[error("`{name}` must be within 0 to 1, found {found}")]
    Share {
        /// Which share.
        name: &'static str,
        /// What it was.
        found: f64,
    },
    /// The regimes do not add up.
    #[error("the shares of the three regimes must add up to 1, found {found}")]
    Sum {
        /// What they add up to.
        found: f64,
    },
}

/// Training figures before they are checked.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TrainValues {
    /// The share of groups that succeed too rarely, 0 to 1.
    pub progress_share: f64,
    /// Of groups in between.
    pub consolidation_share: f64,
    /// Of groups that succeed nearly always.
    pub efficiency_share: f64,
    /// Of groups whose members nothing tells apart.
    pub degenerate_share: f64,
    /// Of members that succeed.
    pub success: f64,
}

/// What the steps since the last decision were like. The regimes' shares add up to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "TrainValues", into = "TrainValues")]
pub struct Train(TrainValues);

impl Train {
    /// How far the regimes' shares may be from 1 together.
    const SUM_TOLERANCE: f64 = 1e-6;

    /// Checks figures.
    ///
    /// # Errors
    /// [`StatisticsError`] for a share outside 0 to 1, or when the regimes do not add up.
    pub fn new(values: TrainValues) -> Result<Self, StatisticsError> {
        for (name, found) in [
            ("progress_share", values.progress_share),
            ("consolidation_share", values.consolidation_share),
            ("efficiency_share", values.efficiency_share),
            ("degenerate_share", values.degenerate_share),
            ("success", values.success),
        ] {
            share(name, found)?;
        }
        let found = values.progress_share + values.consolidation_share + values.efficiency_share;
        if (found - 1.0).abs() > Self::SUM_TOLERANCE {
            return Err(StatisticsError::Sum { found });
        }
        Ok(Self(values))
    }

    /// From the statistics of steps added up; `None` when no group was kept.
    #[must_use]
    pub fn of(statistics: &care::Statistics) -> Option<Self> {
        let kept = statistics.counters.kept as f64;
        Self::new(TrainValues {
            progress_share: statistics.share(Regime::Progress)?,
            consolidation_share: statistics.share(Regime::Consolidation)?,
            efficiency_share: statistics.share(Regime::Efficiency)?,
            degenerate_share: statistics.counters.degenerate as f64 / kept,
            success: statistics.success()?,
        })
        .ok()
    }

    /// The figures.
    #[must_use]
    pub const fn values(&self) -> &TrainValues {
        &self.0
    }
}

impl TryFrom<TrainValues> for Train {
    type Error = StatisticsError;

    fn try_from(values: TrainValues) -> Result<Self, StatisticsError> {
        Self::new(values)
    }
}

impl From<Train> for TrainValues {
    fn from(train: Train) -> Self {
        train.0
    }
}

/// Dev figures before they are checked.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct DevValues {
    /// Successes of how many episodes, void ones left out.
    pub success: Binomial,
    /// Their mean cost, 0 to 1.
    pub cost_mean: f64,
}

/// How the policy does on dev tasks, never on test tasks.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "DevValues", into = "DevValues")]
pub struct Dev(DevValues);

impl Dev {
    /// Checks figures.
    ///
    /// # Errors
    /// [`StatisticsError::Share`] for a cost outside 0 to 1.
    pub fn new(values: DevValues) -> Result<Self, StatisticsError> {
        share("cost_mean", values.cost_mean)?;
        Ok(Self(values))
    }

    /// Successes of how many episodes.
    #[must_use]
    pub const fn success(&self) -> Binomial {
        self.0.success
    }

    /// Their mean cost, 0 to 1.
    #[must_use]
    pub const fn cost_mean(&self) -> f64 {
        self.0.cost_mean
    }
}

impl TryFrom<DevValues> for Dev {
    type Error = StatisticsError;

    fn try_from(values: DevValues) -> Result<Self, StatisticsError> {
        Self::new(values)
    }
}

impl From<Dev> for DevValues {
    fn from(dev: Dev) -> Self {
        dev.0
    }
}

/// What is known at one decision.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statistics {
    /// Training steps done.
    pub step: u64,
    /// `None` when no group was kept since the last decision.
    pub train: Option<Train>,
    /// `None` when dev was not measured: nothing changes then.
    pub dev: Option<Dev>,
}

fn share(name: &'static str, found: f64) -> Result<(), StatisticsError> {
    if (0.0..=1.0).contains(&found) { Ok(()) } else { Err(StatisticsError::Share { name, found }) }
}
