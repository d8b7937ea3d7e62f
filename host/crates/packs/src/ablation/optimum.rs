//! What a way through the ablation world comes to, in closed form from its chances, and the best way.

use super::{Kind, Odds, SETTINGS, WHOLE};

/// What is done for each setting; then it is left.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Plan {
    /// It is read first.
    pub read: bool,
    /// Each write is verified, and made again until it took.
    pub verify: bool,
}

impl Plan {
    /// All four.
    pub const ALL: [Self; 4] = [
        Self { read: false, verify: false },
        Self { read: true, verify: false },
        Self { read: false, verify: true },
        Self { read: true, verify: true },
    ];
}

/// What a plan comes to on average.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Expected {
    /// Calls, one token each.
    pub tokens: f64,
    /// The share of episodes in which all settings are really set, 0 to 1.
    pub success: f64,
}

/// What a plan comes to. A write takes with the chance *q* = (1 if read, else `blind`) (1 - `silent`). Unverified it is one call, and all three
/// settings take with *q*^3. Verified it is 1/*q* writes and as many verifications, and it always takes in the end. The budget of an episode is
/// left out: to need more than 48 calls is rare in every plan that reads.
#[must_use]
pub fn expected(odds: Odds, plan: Plan) -> Expected {
    let share = |parts: u32| f64::from(parts) / f64::from(WHOLE);
    let takes = if plan.read { 1.0 } else { share(odds.blind) } * (1.0 - share(odds.silent));
    let (writes, success) = if plan.verify { (2.0 / takes, 1.0) } else { (1.0, takes) };
    let settings = f64::from(SETTINGS);
    Expected { tokens: settings * (f64::from(u8::from(plan.read)) + writes + 1.0), success: success.powf(settings) }
}

/// The success that the best way must have, of each kind: no more than one episode in fifty is given up to save calls.
const SUCCESS_LEAST: f64 = 0.98;

/// The best way for a kind: the fewest tokens among the plans that succeed in 98 of 100 episodes.
///
/// For a reward of success less *w* times the share of the budget it is the best way too while 0.237 < *w* < 3.55: below, verifying a reliable
/// write pays (0.0149 of success for 3.03 tokens), above, not verifying a fragile one does.
#[must_use]
pub fn cheapest(kind: Kind) -> Option<(Plan, Expected)> {
    let plans = Plan::ALL.map(|plan| (plan, expected(kind.odds(), plan)));
    let enough = plans.into_iter().filter(|(_, expected)| expected.success >= SUCCESS_LEAST);
    enough.min_by(|left, right| left.1.tokens.total_cmp(&right.1.tokens))
}

/// The best way over an even mix of the kinds: to verify fragile settings alone. 10.83 tokens, 99.25 % of success.
#[must_use]
pub fn optimum() -> Expected {
    let best: Vec<Expected> =
        Kind::ALL.iter().filter_map(|kind| cheapest(*kind)).map(|(_, expected)| expected).collect();
    let mean = |of: fn(&Expected) -> f64| {
        best.iter().map(of).sum::<f64>() / f64::from(u8::try_from(best.len()).unwrap_or(1).max(1))
    };
    Expected { tokens: mean(|expected| expected.tokens), success: mean(|expected| expected.success) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::ablation::TOKEN_BUDGET;

    fn near(found: f64, expected: f64) -> bool {
        (found - expected).abs() < 5e-5
    }

    #[test]
    fn the_best_way_verifies_what_is_fragile_and_nothing_else() {
        let best = Kind::ALL.map(|kind| cheapest(kind).expect("a plan is good enough"));
        assert_eq!(best.map(|(plan, _)| plan), [Plan { read: true, verify: false }, Plan { read: true, verify: true }]);
        // By hand: 3 (1 + 1 + 1) calls, 0.995^3; and 3 (1 + 2 / 0.9 + 1) calls.
        assert!(near(best[0].1.tokens, 9.0) && near(best[0].1.success, 0.985_075));
        assert!(near(best[1].1.tokens, 12.666_67) && near(best[1].1.success, 1.0));
        assert!(near(optimum().tokens, 10.833_33) && near(optimum().success, 0.992_54));
    }

    #[test]
    fn the_weights_for_which_it_is_best_are_as_said() {
        let gain = |kind: Kind, weight: f64| {
            let worth = |verify: bool| {
                let expected = expected(kind.odds(), Plan { read: true, verify });
                expected.success - weight * expected.tokens / f64::from(TOKEN_BUDGET)
            };
            worth(true) - worth(false)
        };
        assert!(gain(Kind::Reliable, 0.236) > 0.0 && gain(Kind::Reliable, 0.237) < 0.0);
        assert!(gain(Kind::Fragile, 3.54) > 0.0 && gain(Kind::Fragile, 3.55) < 0.0);
    }

    #[test]
    fn not_to_read_never_pays() {
        for kind in Kind::ALL {
            let blind = expected(kind.odds(), Plan { read: false, verify: false });
            assert!(blind.success < 0.001);
            assert!(expected(kind.odds(), Plan { read: false, verify: true }).tokens > f64::from(TOKEN_BUDGET));
        }
    }
}
