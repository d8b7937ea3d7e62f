//! Which of the three regimes a group is in. It knows no reward.

use serde::{Deserialize, Serialize};

use super::phi::Phi;

/// A count this close to its threshold has reached it: thresholds such as 0.3 times 10 members are not whole numbers in f64.
pub const COUNT_TOLERANCE: f64 = 1e-9;

/// Successes among the valid members of a group.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Tally {
    /// k: members that succeeded.
    pub successes: usize,
    /// n: members that are not void.
    pub valid: usize,
}

/// What a group is to learn, by how often it succeeds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Regime {
    /// It succeeds too rarely: progress is rewarded as well.
    Progress,
    /// The outcome alone is rewarded.
    Consolidation,
    /// It succeeds nearly always: what it spends is taken from the reward.
    Efficiency,
}

impl Regime {
    /// All of them, by rising success.
    pub const ALL: [Self; 3] = [Self::Progress, Self::Consolidation, Self::Efficiency];

    /// The conditions of equation (5), in counts: progress iff k < p_low n, efficiency iff k >= p_high n.
    ///
    /// With n members only shares k/n occur: 0 < p_low <= 1/n means groups without any success, p_high > 1 - 1/n groups without any failure, and
    /// p_low = 0 that progress is never rewarded.
    #[must_use]
    pub fn of(tally: Tally, phi: &Phi) -> Self {
        let (successes, valid) = (tally.successes as f64, tally.valid as f64);
        if successes < phi.p_low() * valid - COUNT_TOLERANCE {
            Self::Progress
        } else if successes >= phi.p_high() * valid - COUNT_TOLERANCE {
            Self::Efficiency
        } else {
            Self::Consolidation
        }
    }
}
