//! What the runs say to the claims that were registered before them. It knows no file and no terminal.

use loopwright_learn::care::Estimator;
use loopwright_learn::estimate::{Equivalence, Interval, Level, Paired};
use serde::Serialize;

use super::trial::Run;

/// The confidence of every interval and test.
const CONFIDENCE: f64 = 0.95;
/// How much of vanilla's distance to the optimal tokens CARE has to close, by the lower bound.
pub(super) const GAP_CLOSED_LEAST: f64 = 0.40;
/// Success counts as equal within this.
pub(super) const SUCCESS_MARGIN: f64 = 0.005;
/// How much less successful the schedule without calibration has to be, by the upper bound.
pub(super) const SUCCESS_LOST_LEAST: f64 = 0.02;

/// A mean over seeds with its 95 % t interval.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub(super) struct Estimate {
    pub(super) mean: f64,
    pub(super) low: f64,
    pub(super) high: f64,
}

/// One claim.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Claim {
    pub(super) claim: &'static str,
    pub(super) estimate: Option<Estimate>,
    pub(super) equivalence: Option<Equivalence>,
    /// Whether it holds; none: it cannot be decided with so few seeds, or an arm is missing.
    pub(super) holds: Option<bool>,
}

/// An arm less another, seed by seed.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Difference {
    pub(super) arm: Estimator,
    pub(super) less: Estimator,
    pub(super) success: Estimate,
    pub(super) tokens: Estimate,
    /// Tokens relative to the other arm's.
    pub(super) tokens_relative: Estimate,
    /// The share of the other arm's distance to the optimal tokens that is closed.
    pub(super) gap_closed: Estimate,
}

/// All of it.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub(super) struct Verdict {
    pub(super) differences: Vec<Difference>,
    pub(super) claims: Vec<Claim>,
}

/// The runs of two arms, seed by seed.
fn pairs<'a>(runs: &[&'a Run], left: Estimator, right: Estimator) -> Vec<(&'a Run, &'a Run)> {
    let of = |arm: Estimator| runs.iter().copied().filter(move |run| run.arm == arm);
    of(left).filter_map(|left| Some((left, of(right).find(|right| right.seed == left.seed)?))).collect()
}

fn level() -> Option<Level> {
    Level::new(CONFIDENCE).ok()
}

fn estimate(differences: Vec<f64>) -> Option<Estimate> {
    let paired = Paired::new(differences).ok()?;
    let Interval { low, high } = paired.interval(level()?);
    Some(Estimate { mean: paired.mean(), low, high })
}

fn difference(runs: &[&Run], arm: Estimator, less: Estimator, optimum: f64) -> Option<Difference> {
    let pairs = pairs(runs, arm, less);
    let over = |of: &dyn Fn(&Run, &Run) -> f64| estimate(pairs.iter().map(|(left, right)| of(left, right)).collect());
    Some(Difference {
        arm,
        less,
        success: over(&|left, right| left.success - right.success)?,
        tokens: over(&|left, right| left.tokens - right.tokens)?,
        tokens_relative: over(&|left, right| left.tokens / right.tokens - 1.0)?,
        gap_closed: over(&|left, right| (right.tokens - left.tokens) / (right.tokens - optimum))?,
    })
}

/// Compares the runs of one group size and noise; `optimum` is the tokens of the best way.
pub(super) fn verdict(runs: &[&Run], optimum: f64) -> Verdict {
    use Estimator::{Care, CareUncalibrated, Composite, Gdpo, MeanCentred, Vanilla};
    let compared = [
        (Care, Vanilla),
        (CareUncalibrated, Care),
        (MeanCentred, Care),
        (Gdpo, Care),
        (Composite, Care),
        (CareUncalibrated, Vanilla),
    ];
    let differences: Vec<Difference> =
        compared.into_iter().filter_map(|(arm, less)| difference(runs, arm, less, optimum)).collect();
    let found = |arm: Estimator, less: Estimator| {
        differences.iter().find(|difference| difference.arm == arm && difference.less == less)
    };
    let (saves, spoils) = (found(Care, Vanilla), found(CareUncalibrated, Care));
    let successes: Vec<f64> =
        pairs(runs, Care, Vanilla).iter().map(|(left, right)| left.success - right.success).collect();
    let equal = level().and_then(|level| Paired::new(successes).ok()?.equivalence(SUCCESS_MARGIN, level).ok());
    let claims = vec![
        Claim {
            claim: "CARE closes more than 40 % of vanilla's distance to the optimal tokens (lower bound)",
            estimate: saves.map(|difference| difference.gap_closed),
            equivalence: None,
            holds: saves.map(|difference| difference.gap_closed.low > GAP_CLOSED_LEAST),
        },
        Claim {
            claim: "CARE succeeds as often as vanilla, within 0.5 point (two one-sided tests)",
            estimate: saves.map(|difference| difference.success),
            equivalence: equal,
            holds: equal.map(|equal| equal.equivalent),
        },
        Claim {
            claim: "without calibration fewer tokens than CARE",
            estimate: spoils.map(|difference| difference.tokens),
            equivalence: None,
            holds: spoils.map(|difference| difference.tokens.high < 0.0),
        },
        Claim {
            claim: "without calibration less successful than CARE by more than 2 points (upper bound)",
            estimate: spoils.map(|difference| difference.success),
            equivalence: None,
            holds: spoils.map(|difference| difference.success.high < -SUCCESS_LOST_LEAST),
        },
    ];
    Verdict { differences, claims }
}

/// What is wrong with the signs of one seed's runs; nothing when all is as expected.
pub(super) fn wrong_signs(runs: &[Run]) -> Vec<String> {
    let mut wrong = Vec::new();
    let all: Vec<&Run> = runs.iter().collect();
    for (care, vanilla) in pairs(&all, Estimator::Care, Estimator::Vanilla) {
        if care.tokens >= vanilla.tokens {
            wrong.push(format!(
                "seed {}: CARE takes {:.2} tokens, vanilla {:.2}",
                care.seed, care.tokens, vanilla.tokens
            ));
        }
    }
    for (bare, care) in pairs(&all, Estimator::CareUncalibrated, Estimator::Care) {
        if bare.success >= care.success {
            let (seed, found, other) = (bare.seed, 100.0 * bare.success, 100.0 * care.success);
            wrong.push(format!("seed {seed}: without calibration {found:.1} % succeed, with it {other:.1} %"));
        }
    }
    wrong
}

#[cfg(test)]
mod tests;
