//! Rows are made up so that each bound falls just short of its margin or just beyond it. With five seeds and differences of `m` plus `d` times
//! -1, -1/2, 0, 1/2 and 1, the standard error is d times the root of 1/8; a two-sided 95 % t interval reaches 2.776445 of it, a one-sided test
//! 2.131847.

use super::*;
use crate::cli_train::NoiseKind;
use crate::commands::bench::care::trial::{Measured, RegimeMeans};
use crate::training::measure::Measurement;

/// The tokens of the best way, in every test.
const OPTIMUM: f64 = 10.0;
/// What five seeds differ by, times the spread.
const SPREAD: [f64; 5] = [-1.0, -0.5, 0.0, 0.5, 1.0];
/// The places of the claims in a verdict.
const CLOSES: usize = 0;
const EQUAL: usize = 1;
const SHORTER: usize = 2;
const WORSE: usize = 3;

fn run(arm: Estimator, seed: u64, success: f64, tokens: f64) -> Run {
    let none = RegimeMeans::default();
    Run {
        arm,
        seed,
        success,
        tokens,
        success_greedy: 1.0,
        tokens_greedy: 0.0,
        success_fragile: 1.0,
        success_reliable: 1.0,
        group_size: 8,
        noise: NoiseKind::Member,
        steps: 1,
        progress: none,
        consolidation: none,
        efficiency: none,
        episodes: 16,
        void: 0,
        degenerate: 0,
        dropped: 0,
        measured: Measured { sampled: Measurement::default(), greedy: Measurement::default() },
        policy: String::new(),
        wall_s: 0.0,
        rollout_s: 0.0,
        train_s: 0.0,
    }
}

/// Runs of an arm, from seed 0 on: success and tokens.
fn runs(arm: Estimator, rows: impl IntoIterator<Item = (f64, f64)>) -> Vec<Run> {
    (0..).zip(rows).map(|(seed, (success, tokens))| run(arm, seed, success, tokens)).collect()
}

fn decided(arms: &[&[Run]]) -> Verdict {
    let all: Vec<&Run> = arms.iter().copied().flatten().collect();
    verdict(&all, OPTIMUM)
}

/// Five seeds around a mean.
fn around(mean: f64, spread: f64) -> [f64; 5] {
    SPREAD.map(|share| mean + spread * share)
}

#[track_caller]
fn near(found: f64, expected: f64) {
    assert!((found - expected).abs() < 1e-6, "{found}, expected {expected}");
}

/// CARE that closes these shares of the ten tokens between vanilla and the best way.
fn closing(shares: &[f64]) -> Claim {
    let vanilla = runs(Estimator::Vanilla, shares.iter().map(|_| (1.0, 20.0)));
    let care = runs(Estimator::Care, shares.iter().map(|share| (1.0, 20.0 - 10.0 * share)));
    decided(&[&vanilla, &care]).claims.swap_remove(CLOSES)
}

#[test]
fn the_gap_is_closed_when_the_lower_bound_is_above_its_share() {
    let claim = closing(&around(0.5, 0.1));
    let estimate = claim.estimate.unwrap();
    near(estimate.mean, 0.5);
    near(estimate.low, 0.5 - 2.776_445 * 0.1 / 8.0_f64.sqrt());
    near(estimate.high, 0.5 + 2.776_445 * 0.1 / 8.0_f64.sqrt());
    assert_eq!(claim.holds, Some(true));
    // The mean stays far above, the lower bound falls from 0.4018 to 0.3968. A one-sided bound would be 0.4196.
    assert_eq!(closing(&around(0.495, 0.1)).holds, Some(false));
    // The bound itself is not above it, and a little more is.
    assert_eq!(closing(&[0.4, 0.4]).estimate.unwrap().low.to_bits(), GAP_CLOSED_LEAST.to_bits());
    assert_eq!(closing(&[0.4, 0.4]).holds, Some(false));
    assert_eq!(closing(&[0.41, 0.41]).holds, Some(true));
    // A mean that is high by the luck of one seed.
    assert_eq!(closing(&[0.2, 0.5, 0.9]).holds, Some(false));
    // Longer than vanilla.
    assert_eq!(closing(&[-0.5, -0.5]).holds, Some(false));
}

#[test]
fn the_distance_to_the_best_way_is_each_seed_s_own() {
    // Vanilla is lucky once: what is closed is a share of each seed's distance, 0.5 and 0.5, and not of the mean's.
    let vanilla = runs(Estimator::Vanilla, [(1.0, 12.0), (1.0, 30.0)]);
    let care = runs(Estimator::Care, [(1.0, 11.0), (1.0, 20.0)]);
    let found = decided(&[&vanilla, &care]);
    let [difference] = &found.differences[..] else { panic!("{:?}", found.differences) };
    assert_eq!((difference.arm, difference.less), (Estimator::Care, Estimator::Vanilla));
    near(difference.gap_closed.mean, 0.5);
    near(difference.tokens.mean, -5.5);
    near(difference.tokens_relative.mean, f64::midpoint(11.0 / 12.0 - 1.0, 20.0 / 30.0 - 1.0));
    near(difference.success.mean, 0.0);
}

/// CARE's successes less vanilla's.
fn equal(differences: &[f64]) -> Claim {
    let vanilla = runs(Estimator::Vanilla, differences.iter().map(|_| (0.0, 20.0)));
    let care = runs(Estimator::Care, differences.iter().map(|difference| (*difference, 15.0)));
    decided(&[&vanilla, &care]).claims.swap_remove(EQUAL)
}

#[test]
fn success_is_equal_when_both_one_sided_tests_say_so() {
    // A standard error of 0.001414: either test needs a distance of 0.003015 from its end of 0.005.
    for (mean, holds) in [(0.0, true), (0.0019, true), (-0.0019, true), (0.0021, false), (-0.0021, false)] {
        let claim = equal(&around(mean, 0.004));
        assert_eq!(claim.holds, Some(holds), "{mean}: {claim:?}");
        let equivalence = claim.equivalence.unwrap();
        near(equivalence.mean, mean);
        assert_eq!(equivalence.margin.to_bits(), SUCCESS_MARGIN.to_bits());
        let (above, below) = (equivalence.p_above_low < 0.05, equivalence.p_below_high < 0.05);
        assert_eq!((above, below), (holds || mean > 0.0, holds || mean < 0.0), "{mean}: {equivalence:?}");
    }
    // No difference that is seen is no equality while the seeds are too far apart to tell: 0.0 with a reach of 0.0053.
    assert_eq!(equal(&around(0.0, 0.007)).holds, Some(false));
    // The margin itself is not within it.
    assert_eq!(equal(&[0.005, 0.005]).holds, Some(false));
    assert_eq!(equal(&[-0.005, -0.005]).holds, Some(false));
    assert_eq!(equal(&[0.0049, 0.0049]).holds, Some(true));
    assert_eq!(equal(&[0.0, 0.0, 0.0]).holds, Some(true));
}

/// The runs without calibration less CARE's: in success, or in tokens.
fn bare(place: usize, differences: &[f64]) -> Claim {
    let care = runs(Estimator::Care, differences.iter().map(|_| (0.0, 12.0)));
    let row = |difference: &f64| if place == WORSE { (*difference, 9.0) } else { (0.0, 12.0 + difference) };
    let bare = runs(Estimator::CareUncalibrated, differences.iter().map(row));
    decided(&[&care, &bare]).claims.swap_remove(place)
}

#[test]
fn fewer_tokens_without_calibration_are_claimed_by_the_upper_bound() {
    let claim = bare(SHORTER, &around(-1.0, 1.0));
    near(claim.estimate.unwrap().high, -1.0 + 2.776_445 / 8.0_f64.sqrt());
    assert_eq!(claim.holds, Some(true));
    // The upper bound rises from -0.018 to 0.011, the mean stays.
    assert_eq!(bare(SHORTER, &around(-1.0, 1.03)).holds, Some(false));
    assert_eq!(bare(SHORTER, &[-0.5, -0.5]).holds, Some(true));
    assert_eq!(bare(SHORTER, &[0.0, 0.0]).holds, Some(false));
    assert_eq!(bare(SHORTER, &[1.0, 1.0]).holds, Some(false));
}

#[test]
fn less_success_without_calibration_is_claimed_by_the_upper_bound() {
    let claim = bare(WORSE, &around(-0.05, 0.03));
    near(claim.estimate.unwrap().high, -0.05 + 2.776_445 * 0.03 / 8.0_f64.sqrt());
    assert_eq!(claim.holds, Some(true));
    // The upper bound rises from -0.0206 to -0.0196.
    assert_eq!(bare(WORSE, &around(-0.05, 0.031)).holds, Some(false));
    assert_eq!(bare(WORSE, &[-0.02, -0.02]).holds, Some(false));
    assert_eq!(bare(WORSE, &[-0.021, -0.021]).holds, Some(true));
    assert_eq!(bare(WORSE, &[0.05, 0.05]).holds, Some(false));
}

#[test]
fn one_seed_a_missing_arm_or_a_run_without_a_number_decides_nothing() {
    let arms = [Estimator::Vanilla, Estimator::Care, Estimator::CareUncalibrated];
    let whole = |seeds: u64| -> Vec<Run> {
        let of = |seed: u64| {
            arms.map(|arm| match arm {
                Estimator::Vanilla => run(arm, seed, 1.0, 20.0),
                Estimator::Care => run(arm, seed, 1.0, 12.0),
                _ => run(arm, seed, 0.85, 9.0),
            })
        };
        (0..seeds).flat_map(of).collect()
    };
    let holds = |verdict: &Verdict| verdict.claims.iter().map(|claim| claim.holds).collect::<Vec<_>>();
    let two = decided(&[&whole(2)]);
    assert_eq!(holds(&two), [Some(true); 4], "{two:?}");
    assert_eq!(two.differences.len(), 3, "CARE and vanilla, without calibration and either: {two:?}");

    let one = decided(&[&whole(1)]);
    assert_eq!((holds(&one), one.differences.len()), (vec![None; 4], 0), "{one:?}");
    assert!(one.claims.iter().all(|claim| claim.estimate.is_none() && claim.equivalence.is_none()), "{one:?}");
    assert_eq!(holds(&decided(&[])), [None; 4]);

    let without = |arm: Estimator| decided(&[&whole(3).into_iter().filter(|run| run.arm != arm).collect::<Vec<_>>()]);
    assert_eq!(holds(&without(Estimator::Vanilla)), [None, None, Some(true), Some(true)]);
    assert_eq!(holds(&without(Estimator::CareUncalibrated)), [Some(true), Some(true), None, None]);
    assert_eq!(holds(&without(Estimator::Care)), [None; 4]);

    // A run of which all episodes were void has no success: it is no seed that can be left out in silence.
    let mut broken = whole(3);
    for run in broken.iter_mut().filter(|run| run.arm == Estimator::Care && run.seed == 1) {
        run.success = f64::NAN;
    }
    assert_eq!(holds(&decided(&[&broken])), [None; 4]);
}

#[test]
fn pairs_are_of_one_seed_whatever_the_order_and_a_run_alone_is_in_none() {
    let mut vanilla = runs(Estimator::Vanilla, around(20.0, 4.0).map(|tokens| (1.0, tokens)));
    let mut care = runs(Estimator::Care, around(15.0, 2.0).map(|tokens| (1.0, tokens)));
    let ordered = decided(&[&vanilla, &care]);
    care.reverse();
    vanilla.rotate_left(2);
    assert_eq!(decided(&[&care, &vanilla]), ordered);
    // Each closes exactly half; paired by their places in the lists, the shares would lie between -0.17 and 0.79.
    assert_eq!(ordered.claims[CLOSES].holds, Some(true));
    near(ordered.claims[CLOSES].estimate.unwrap().low, 0.5);
    care.push(run(Estimator::Care, 99, 0.0, 48.0));
    assert_eq!(decided(&[&care, &vanilla]), ordered);
}

#[test]
fn wrong_signs_are_named_with_their_seeds() {
    let rows = |care: (f64, f64), vanilla: (f64, f64), bare: (f64, f64)| {
        let right = [(1.0, 12.0), (1.0, 20.0), (0.85, 9.0)];
        let of = |seed: u64, [care, vanilla, bare]: [(f64, f64); 3]| {
            [(Estimator::Care, care), (Estimator::Vanilla, vanilla), (Estimator::CareUncalibrated, bare)]
                .map(|(arm, (success, tokens))| run(arm, seed, success, tokens))
        };
        [of(100, right), of(101, [care, vanilla, bare])].concat()
    };
    let wrong = |care, vanilla, bare| wrong_signs(&rows(care, vanilla, bare));
    assert_eq!(wrong((0.99, 19.9), (1.0, 20.0), (0.98, 30.0)), [""; 0]);
    // Equal is wrong too: in forty steps either sign is clear.
    assert_eq!(wrong((1.0, 20.0), (1.0, 20.0), (0.85, 9.0)), ["seed 101: CARE takes 20.00 tokens, vanilla 20.00"]);
    assert_eq!(wrong((1.0, 21.5), (1.0, 20.0), (0.85, 9.0)), ["seed 101: CARE takes 21.50 tokens, vanilla 20.00"]);
    let spared = "seed 101: without calibration 90.0 % succeed, with it 90.0 %";
    assert_eq!(wrong((0.9, 12.0), (1.0, 20.0), (0.9, 9.0)), [spared]);
    let both = wrong((0.9, 21.0), (1.0, 20.0), (0.95, 9.0));
    assert_eq!(
        both,
        [
            "seed 101: CARE takes 21.00 tokens, vanilla 20.00",
            "seed 101: without calibration 95.0 % succeed, with it 90.0 %"
        ]
    );
    // Without an arm there is no sign to be wrong.
    let mut alone = rows((1.0, 21.0), (1.0, 20.0), (1.0, 9.0));
    alone.retain(|run| run.arm == Estimator::Care);
    assert_eq!(wrong_signs(&alone), [""; 0]);
}
