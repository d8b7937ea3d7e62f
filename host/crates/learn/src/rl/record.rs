//! What a step reports. It decides nothing.

use std::time::Duration;

use serde::{Deserialize, Serialize};

use crate::care::surrogate::Figures;
use crate::care::{Counters, Phi, Regime, Statistics};
use crate::nn::Stepped;

/// What became of a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome")]
pub enum Outcome {
    /// The weights moved.
    Updated,
    /// No group was left to compare: all members were void, or nearly all. No weight moved.
    AllVoid,
    /// Nothing told the members of any group apart, or what did was too old. No weight moved.
    Empty,
    /// A number was not finite. No weight moved, and no checkpoint is made of it.
    Refused {
        /// Which.
        reason: String,
    },
}

/// One regime in a step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct RegimeRecord {
    /// Its share of the kept groups, 0 to 1; none without a kept group.
    pub share: Option<f64>,
    /// The root of the mean squared advantage of its members; none without one.
    pub advantage_rms: Option<f64>,
    /// Its share of all squared advantages, 0 to 1; none when all are zero.
    pub loudness: Option<f64>,
}

impl RegimeRecord {
    fn of(statistics: &Statistics, regime: Regime) -> Self {
        Self {
            share: statistics.share(regime),
            advantage_rms: statistics.line(regime).advantage_rms(),
            loudness: statistics.loudness(regime),
        }
    }
}

/// What depends on the machine, and on nothing else of a step.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct Timing {
    /// Seconds of the rollouts.
    pub rollout_s: f64,
    /// Seconds of the rest.
    pub train_s: f64,
    /// Episodes a second, over the whole step.
    pub episodes_per_s: f64,
}

impl Timing {
    pub(super) fn of(rollout: Duration, whole: Duration, episodes: u64) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "episodes of a step are far below 2^53")]
        let episodes_per_s = episodes as f64 / whole.as_secs_f64().max(1e-9);
        let train_s = whole.saturating_sub(rollout).as_secs_f64();
        Self { rollout_s: rollout.as_secs_f64(), train_s, episodes_per_s }
    }
}

/// One step, as a line of `metrics.jsonl`. All but `timing` is the same on every machine of one instruction set.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepRecord {
    /// Its number, from 1.
    pub step: u64,
    /// What became of it.
    #[serde(flatten)]
    pub outcome: Outcome,
    /// The schedule that it was assigned by.
    pub phi: Phi,
    /// Episodes, void ones included.
    pub episodes: u64,
    /// The share of the valid members that succeeded, 0 to 1; none without one.
    pub success: Option<f64>,
    /// The mean cost of the valid members, 0 to 1.
    pub cost: Option<f64>,
    /// The mean of the tokens that valid members wrote.
    pub tokens: Option<f64>,
    /// Groups that succeed too rarely.
    pub progress: RegimeRecord,
    /// Groups in between.
    pub consolidation: RegimeRecord,
    /// Groups that succeed nearly always.
    pub efficiency: RegimeRecord,
    /// Degenerate, void, dropped and too small ones, with the rest.
    pub counters: Counters,
    /// Times that it sent out for further groups.
    pub refills: u32,
    /// Tokens that were masked because their policy is too old.
    pub stale_tokens: u64,
    /// The loss of the last pass; none without an update.
    pub loss: Option<f64>,
    /// How the tokens of the first pass fared; none without an update.
    pub figures: Option<Figures>,
    /// The optimiser's step, with the norm of the gradient; none without an update.
    pub update: Option<Stepped>,
    /// Groups that the run was trained on so far.
    pub groups_trained: u64,
    /// The policy afterwards.
    pub policy: String,
    /// What depends on the machine.
    pub timing: Timing,
}

/// Means over the valid members of a step.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Means {
    pub(super) members: u64,
    pub(super) cost: f64,
    pub(super) tokens: u64,
}

impl Means {
    #[expect(clippy::cast_precision_loss, reason = "counts of a step are far below 2^53")]
    pub(super) fn cost(&self) -> Option<f64> {
        (self.members > 0).then(|| self.cost / self.members as f64)
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of a step are far below 2^53")]
    pub(super) fn tokens(&self) -> Option<f64> {
        (self.members > 0).then(|| self.tokens as f64 / self.members as f64)
    }
}

/// The lines of the three regimes.
pub(super) fn regimes(statistics: &Statistics) -> [RegimeRecord; 3] {
    Regime::ALL.map(|regime| RegimeRecord::of(statistics, regime))
}
