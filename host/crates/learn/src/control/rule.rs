//! The controller that is always there: a rule. It has no state and draws no random number.

use super::answer::{Answer, Controller, Proposal};
use super::bounds::{Bounds, WEIGHT_START};
use super::governor::Guard;
use super::statistics::Statistics;
use crate::care::Phi;

/// By what factor the rule moves a weight, unless success is below the target.
const WEIGHT_STEP: f64 = 1.25;
/// By what factor it takes back the weight of the cost then.
const RETREAT_STEP: f64 = 1.5;
/// How far it moves the upper threshold.
const THRESHOLD_STEP: f64 = 0.02;
/// With a smaller share of efficient groups than this, there are too few to learn economy from.
const EFFICIENT_SHARE_MIN: f64 = 0.25;
/// With a larger share of groups that rarely succeed than this, progress is worth more.
const HARD_SHARE_MAX: f64 = 0.5;
/// With a smaller one than this, it is worth less.
const HARD_SHARE_MIN: f64 = 0.1;

/// Makes the cost dearer while dev success is surely good enough, cheaper at once when it is not, and helps along groups that rarely succeed.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Rule {
    /// The same that the governor holds against.
    pub guard: Guard,
}

impl Controller for Rule {
    fn name(&self) -> &'static str {
        "rule"
    }

    fn propose(&mut self, statistics: &Statistics, phi: &Phi, _bounds: &Bounds) -> Answer {
        let (Some(train), Some(dev)) = (statistics.train, statistics.dev) else { return Answer::Absent };
        let (train, mut values) = (*train.values(), phi.values());
        let mut reasons = Vec::new();
        if self.guard.gate(Some(dev.success())).open {
            values.lambda_eff = values.lambda_eff.max(WEIGHT_START) * WEIGHT_STEP;
            reasons.push("dev success is surely above the target: the cost weighs more");
            if train.efficiency_share < EFFICIENT_SHARE_MIN {
                values.p_high -= THRESHOLD_STEP;
                reasons.push("few groups are efficient: the upper threshold falls");
            }
        } else if dev.success().rate() < self.guard.target {
            values.lambda_eff /= RETREAT_STEP;
            values.p_high += THRESHOLD_STEP;
            reasons.push("dev success is below the target: the cost weighs less, the upper threshold rises");
        }
        if train.progress_share > HARD_SHARE_MAX {
            values.lambda_prog = values.lambda_prog.max(WEIGHT_START) * WEIGHT_STEP;
            reasons.push("most groups rarely succeed: progress is worth more");
        } else if train.progress_share < HARD_SHARE_MIN {
            values.lambda_prog /= WEIGHT_STEP;
            reasons.push("few groups rarely succeed: progress is worth less");
        }
        Answer::Proposal(Proposal { reason: Some(reasons.join("; ")), ..Proposal::of(values) })
    }
}
