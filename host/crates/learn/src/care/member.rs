//! What one trajectory was worth. It knows no other member of its group.

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

/// A number of a member, for messages and counters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Measure {
    /// How far the trajectory came.
    Progress,
    /// What it spent.
    Cost,
}

impl std::fmt::Display for Measure {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Progress => "progress",
            Self::Cost => "cost",
        })
    }
}

/// Why a slot of a group has no member.
///
/// Void is for what the policy cannot cause. Spent fuel, a trap by a bad argument or a timeout of the policy's own making is a failure instead, a
/// member without success: otherwise the policy learns to trigger it.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Void {
    /// The infrastructure failed, or no verdict came.
    #[error("the trajectory is void: its infrastructure failed")]
    Infrastructure,
    /// A number was NaN or infinite.
    #[error("the trajectory is void: `{measure}` is not a finite number\nhint: look at the verifier that gave it")]
    NotFinite {
        /// Which number.
        measure: Measure,
    },
    /// A number was outside 0 to 1.
    #[error(
        "the trajectory is void: `{measure}` must be within 0 to 1, found {found}\nhint: divide it by a fixed budget and cap it"
    )]
    OutOfRange {
        /// Which number.
        measure: Measure,
        /// What it was.
        found: f64,
    },
}

/// What was measured of a trajectory, before it is checked.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Measured {
    /// s: whether the verifier passed it.
    pub success: bool,
    /// p: the share of its sub-goals that it reached, 0 to 1; only those count that were false at the start.
    pub progress: f64,
    /// e: the share of a fixed budget that it spent, 0 to 1; see [`cost_of`].
    pub cost: f64,
}

/// A trajectory whose numbers are finite and within 0 to 1.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "Measured", into = "Measured")]
pub struct Member(Measured);

impl Member {
    /// Checks what was measured.
    ///
    /// # Errors
    /// [`Void`] for a number that is not finite or outside 0 to 1: such a trajectory is left out, it is not worth zero.
    pub fn new(measured: Measured) -> Result<Self, Void> {
        for (measure, value) in [(Measure::Progress, measured.progress), (Measure::Cost, measured.cost)] {
            if !value.is_finite() {
                return Err(Void::NotFinite { measure });
            }
            if !(0.0..=1.0).contains(&value) {
                return Err(Void::OutOfRange { measure, found: value });
            }
        }
        Ok(Self(measured))
    }

    /// s: whether it succeeded.
    #[must_use]
    pub const fn success(&self) -> bool {
        self.0.success
    }

    /// p: how far it came, 0 to 1.
    #[must_use]
    pub const fn progress(&self) -> f64 {
        self.0.progress
    }

    /// e: what it spent, 0 to 1.
    #[must_use]
    pub const fn cost(&self) -> f64 {
        self.0.cost
    }
}

impl TryFrom<Measured> for Member {
    type Error = Void;

    fn try_from(measured: Measured) -> Result<Self, Void> {
        Self::new(measured)
    }
}

impl From<Member> for Measured {
    fn from(member: Member) -> Self {
        member.0
    }
}

/// The cost e of `spent` units under a budget that is fixed for the task, 0 to 1.
///
/// What lies over the budget costs 1: the policy can cause it, so it must not become void. A budget taken from the group itself (its mean or its
/// greatest) would take its meaning from the weight of the cost.
#[must_use]
pub fn cost_of(spent: u64, budget: NonZeroU64) -> f64 {
    if spent >= budget.get() { 1.0 } else { spent as f64 / budget.get() as f64 }
}
