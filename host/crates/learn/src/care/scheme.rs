//! From the groups of a step to advantages, by CARE or one of its rivals. It knows no token.

use std::collections::BTreeSet;

use serde::{Deserialize, Serialize};

use super::assignment::{Assignment, Credit, GroupCredit, Scored};
use super::gdpo;
use super::group::{Group, GroupId};
use super::member::Member;
use super::moments::{Moments, SPREAD_MAX};
use super::options::{EffOn, FloorScope, Options};
use super::phi::Phi;
use super::regime::Regime;

/// The fewest valid members of a group that is kept.
const VALID_MIN: usize = 2;

/// How rewards become advantages. R' is the group's mean, sigma_R its population deviation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Estimator {
    /// Outcome alone: R = s, A = (R - R') / (sigma_R + epsilon). Group-relative policy optimisation as it is usually run.
    Vanilla,
    /// One reward for every group: R = s - lambda_eff e, A as for `Vanilla`.
    Composite,
    /// The schedule of equation (5) with the advantage of equation (6), A = (R - R') / (sigma_R + epsilon).
    CareUncalibrated,
    /// The schedule with the advantage of equation (9), A = (R - R') / (max(sigma_R, sigma_anchor) + epsilon).
    Care,
    /// The schedule without a deviation: A = R - R', as in "Dr. GRPO".
    MeanCentred,
    /// s and -e each normalised within the group, added with the weights 1 and lambda_eff, and whitened over the batch.
    Gdpo,
}

impl Estimator {
    /// All of them.
    pub const ALL: [Self; 6] =
        [Self::Vanilla, Self::Composite, Self::CareUncalibrated, Self::Care, Self::MeanCentred, Self::Gdpo];
}

/// Why groups are not compared.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum AssignError {
    /// Two groups of a step are called the same.
    #[error("group {id} comes twice in one step\nhint: members of different tasks must never share a baseline")]
    Repeated {
        /// The group.
        id: GroupId,
    },
    /// Costs of a group lie so far apart that a failure could be worth a success.
    #[error(
        "group {id}: `lambda_eff` {lambda_eff} times the range of its costs {range} must be less than 1\nhint: the range that the schedule was checked with does not hold; lower `lambda_eff`"
    )]
    CostRange {
        /// The group.
        id: GroupId,
        /// The weight of the cost.
        lambda_eff: f64,
        /// Greatest less least cost.
        range: f64,
    },
}

/// An estimator with its parameters: the same interface for CARE and its rivals.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scheme {
    /// How rewards become advantages.
    pub estimator: Estimator,
    /// The schedule; rivals without one take `lambda_eff` from it, and their groups are reported by its regimes.
    pub phi: Phi,
    /// Which readings of the equations are meant.
    #[serde(default)]
    pub options: Options,
}

impl Scheme {
    /// Assigns advantages to all groups of a step at once: GDPO needs the batch.
    ///
    /// A group with fewer than two valid members is dropped. Where rewards lie within [`SPREAD_MAX`] of each other, advantages are exact zeros.
    ///
    /// # Errors
    /// [`AssignError`] when a group comes twice or breaks the range of costs that the schedule was checked with.
    pub fn assign(&self, groups: &[Group]) -> Result<Assignment, AssignError> {
        let mut seen = BTreeSet::new();
        for group in groups {
            if !seen.insert(group.id()) {
                return Err(AssignError::Repeated { id: group.id() });
            }
            self.check_costs(group)?;
        }
        let mut credits: Vec<_> = groups.iter().map(|group| self.credit(group)).collect();
        if self.estimator == Estimator::Gdpo {
            gdpo::whiten(&mut credits, self.options.epsilon);
        }
        Ok(Assignment::new(groups, credits))
    }

    fn check_costs(&self, group: &Group) -> Result<(), AssignError> {
        let costs: Vec<_> = group.members().map(|member| member.cost()).collect();
        let range = Moments::of(&costs).map_or(0.0, |moments| moments.spread);
        let lambda_eff = self.phi.lambda_eff();
        if lambda_eff * range >= 1.0 {
            return Err(AssignError::CostRange { id: group.id(), lambda_eff, range });
        }
        Ok(())
    }

    /// One group by itself.
    fn credit(&self, group: &Group) -> GroupCredit {
        let tally = group.tally();
        let regime = Regime::of(tally, &self.phi);
        let rewards: Vec<_> = group.members().map(|member| self.reward(member, regime)).collect();
        let moments = Moments::of(&rewards).filter(|_| tally.valid >= VALID_MIN);
        let Some(moments) = moments else {
            return GroupCredit { id: group.id(), slots: vec![None; group.size()], tally, scored: None };
        };
        let (scored, advantages) = if self.estimator == Estimator::Gdpo {
            gdpo::within_group(group, moments.deviation, regime, self)
        } else {
            self.divided(&rewards, moments, regime)
        };
        let mut assigned = rewards.into_iter().zip(advantages).map(|(reward, advantage)| Credit { reward, advantage });
        let slots = group.slots().map(|slot| slot.and_then(|_| assigned.next())).collect();
        GroupCredit { id: group.id(), slots, tally, scored: Some(scored) }
    }

    /// R of one member: equation (5), or the fixed reward of a rival.
    pub(crate) fn reward(&self, member: Member, regime: Regime) -> f64 {
        let success = f64::from(u8::from(member.success()));
        let cheaper = success - self.phi.lambda_eff() * member.cost();
        match self.estimator {
            Estimator::Vanilla => success,
            Estimator::Composite | Estimator::Gdpo => cheaper,
            Estimator::CareUncalibrated | Estimator::Care | Estimator::MeanCentred => match regime {
                Regime::Progress => success + self.phi.lambda_prog() * member.progress(),
                Regime::Consolidation => success,
                Regime::Efficiency if self.options.eff_on == EffOn::Success && !member.success() => success,
                Regime::Efficiency => cheaper,
            },
        }
    }

    /// Centred and divided rewards: equations (6) and (9), or centred ones alone.
    fn divided(&self, rewards: &[f64], moments: Moments, regime: Regime) -> (Scored, Vec<f64>) {
        let anchor = self.phi.sigma_anchor();
        let floored = self.estimator == Estimator::Care
            && (self.options.floor_scope == FloorScope::All || regime == Regime::Efficiency);
        let (divisor, denominator) = match self.estimator {
            Estimator::MeanCentred => (1.0, 1.0),
            _ => {
                let divisor = if floored { moments.deviation.max(anchor) } else { moments.deviation };
                (divisor, divisor + self.options.epsilon.get())
            }
        };
        let scored = Scored {
            regime,
            degenerate: moments.all_equal(),
            deviation: moments.deviation,
            divisor,
            // Where the two meet, rounding would decide.
            floor_active: floored && anchor > moments.deviation + SPREAD_MAX,
        };
        let advantages = rewards
            .iter()
            .map(|reward| if scored.degenerate { 0.0 } else { (reward - moments.mean) / denominator })
            .collect();
        (scored, advantages)
    }
}
