//! What follows from equations (5) to (9), one test or more for each numbered consequence, and the limit of equation (7).

use std::num::NonZeroU64;

use proptest::prelude::*;

use super::*;
use crate::care::moments::Moments;

fn costs() -> impl Strategy<Value = Vec<f64>> {
    proptest::collection::vec(0.0..=1.0, 2..24)
        .prop_filter("costs that differ", |costs| Moments::of(costs).is_some_and(|moments| moments.deviation > 0.01))
}

proptest! {
    /// Equation (7): where all succeed, the weight of the cost cancels and the signal is as loud as any other.
    #[test]
    fn without_calibration_the_weight_cancels(costs in costs(), lambda_eff in 0.001..0.5) {
        let credit = alone(&scheme(Estimator::CareUncalibrated, phi(0.1, lambda_eff, 0.3, 0.8)), &saturated(&costs));
        let (mean, deviation) = population(&costs);
        for (advantage, cost) in advantages(&credit).iter().zip(&costs) {
            prop_assert!(close(*advantage, -(cost - mean) / deviation, 1e-9));
        }
        prop_assert!(close(rms(&advantages(&credit)), 1.0, 1e-9));
        // With the usual epsilon it still does, as long as lambda_eff sigma_e is far above it.
        let usual = Scheme {
            options: Options::default(),
            ..scheme(Estimator::CareUncalibrated, phi(0.1, lambda_eff, 0.3, 0.8))
        };
        let loud = rms(&advantages(&alone(&usual, &saturated(&costs))));
        prop_assert!((0.9..=1.0 + 1e-9).contains(&loud), "{loud}");
    }

    /// Equation (9) in such a group: RMS = lambda_eff sigma_e / sigma_anchor, proportional to the weight again.
    #[test]
    fn with_calibration_the_weight_counts(costs in costs(), lambda_eff in 0.001..0.3, p_high in P_HIGH_MIN..0.9) {
        let phi = phi(0.1, lambda_eff, 0.3, p_high);
        let credit = alone(&scheme(Estimator::Care, phi), &saturated(&costs));
        let (_, deviation) = population(&costs);
        let anchor = (p_high * (1.0 - p_high)).sqrt();
        prop_assert!(close(rms(&advantages(&credit)), lambda_eff * deviation / anchor, 1e-9));
        prop_assert!(credit.scored.unwrap().floor_active);
    }

    /// 1: for outcomes alone the floor is inactive exactly on 1 - p_high <= k/n <= p_high.
    #[test]
    fn the_floor_is_inactive_exactly_in_the_middle(members in 2usize..40, part in 0.0..=1.0f64, p_high in P_HIGH_MIN..P_HIGH_MAX) {
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a part of a small count")]
        let successes = (part * members as f64).round() as usize;
        let share = successes as f64 / members as f64;
        let distance = (share - p_high).abs().min((share - (1.0 - p_high)).abs());
        prop_assume!(distance > 1e-6);
        let credit = alone(&scheme(Estimator::Care, phi(0.0, 0.0, 0.3, p_high)), &outcomes(successes, members));
        prop_assert_eq!(credit.scored.unwrap().floor_active, !(1.0 - p_high..=p_high).contains(&share));
    }

    /// 1: at both ends the floor meets the deviation, so that (9) goes over into (6) without a step.
    #[test]
    fn the_floor_is_continuous_at_both_ends(members in 4usize..60, failures in 1usize..30, off in -0.004..0.004f64) {
        let share = 1.0 - failures as f64 / members as f64;
        prop_assume!((P_HIGH_MIN + 0.005..P_HIGH_MAX - 0.005).contains(&share));
        for successes in [members - failures, failures] {
            let group = outcomes(successes, members);
            let uncalibrated = advantages(&alone(&scheme(Estimator::CareUncalibrated, phi(0.0, 0.0, 0.3, share)), &group));
            let at = alone(&scheme(Estimator::Care, phi(0.0, 0.0, 0.3, share)), &group);
            prop_assert!(!at.scored.unwrap().floor_active);
            let beside = alone(&scheme(Estimator::Care, phi(0.0, 0.0, 0.3, share + off)), &group);
            for ((six, nine), near) in uncalibrated.iter().zip(advantages(&at)).zip(advantages(&beside)) {
                prop_assert!(close(*six, nine, 1e-9));
                // The floor moves by at most its slope, |1 - 2p| / (2 sigma), times the step.
                prop_assert!((six - near).abs() <= 200.0 * off.abs() + 1e-9, "{six} {near} {off}");
            }
        }
    }

    /// 2: the literal floor damps shaped progress too; restricted to efficiency it does not.
    #[test]
    fn the_floor_reaches_progress_groups_unless_it_is_restricted(progress in costs(), lambda_prog in 0.01..0.3) {
        let slots: Vec<_> = progress.iter().map(|progress| Some((false, *progress, 0.5))).collect();
        let group = group_of(0, &slots);
        let literal = scheme(Estimator::Care, phi(lambda_prog, 0.1, 0.3, 0.8));
        let (_, deviation) = population(&progress);
        let quiet = alone(&literal, &group);
        prop_assert!(close(rms(&advantages(&quiet)), lambda_prog * deviation / 0.4, 1e-9));
        prop_assert!(quiet.scored.unwrap().floor_active);
        let options = Options { floor_scope: FloorScope::Efficiency, ..literal.options };
        let loud = alone(&Scheme { options, ..literal }, &group);
        prop_assert!(close(rms(&advantages(&loud)), 1.0, 1e-9));
        prop_assert!(!loud.scored.unwrap().floor_active);
    }

    /// 3: advantages keep the order of rewards, and a success beats a failure under every schedule that can be made.
    #[test]
    fn order_is_kept_and_success_beats_failure(slots in any_slots(), phi in any_phi(), options in any_options()) {
        let group = group_of(0, &slots);
        let members: Vec<_> = group.members().collect();
        for estimator in [Estimator::Care, Estimator::CareUncalibrated, Estimator::MeanCentred] {
            let credit = alone(&Scheme { estimator, phi, options }, &group);
            let credits: Vec<_> = credit.credits().zip(&members).collect();
            for (left, left_member) in &credits {
                for (right, right_member) in &credits {
                    if left.reward > right.reward + SPREAD_MAX {
                        prop_assert!(left.advantage > right.advantage);
                    }
                    if left_member.success() && !right_member.success() {
                        prop_assert!(left.reward > right.reward);
                        prop_assert!(left.advantage >= right.advantage);
                    }
                }
            }
        }
    }

    /// 5: under a fixed budget, spending that lies closer together teaches less; divided by the group's own greatest it would teach the same.
    #[test]
    fn the_budget_is_fixed_and_not_the_groups(spent in proptest::collection::vec(100u64..200, 2..12), times in 2u64..5) {
        prop_assume!(spent.iter().any(|one| *one != spent[0]));
        let budget = NonZeroU64::new(1_000).unwrap();
        let care = scheme(Estimator::Care, phi(0.1, 0.2, 0.3, 0.8));
        let loudness = |costs: Vec<f64>| rms(&advantages(&alone(&care, &saturated(&costs))));
        let fixed = |times: u64| loudness(spent.iter().map(|spent| cost_of(spent * times, budget)).collect());
        prop_assert!(close(fixed(times), times as f64 * fixed(1), 1e-9));
        let greatest = *spent.iter().max().unwrap() as f64;
        let own = |times: u64| {
            let times = times as f64;
            loudness(spent.iter().map(|spent| *spent as f64 * times / (greatest * times)).collect())
        };
        prop_assert!(close(own(times), own(1), 1e-9));
    }

    /// 6: the deviation is the population's: for outcomes sqrt(k (n - k)) / n, which is what the floor is a value of.
    #[test]
    fn the_deviation_is_the_populations(members in 2usize..60, failures in 1usize..30) {
        prop_assume!(failures < members);
        let successes = members - failures;
        let scored = alone(&scheme(Estimator::Vanilla, phi(0.0, 0.0, 0.3, 0.8)), &outcomes(successes, members)).scored.unwrap();
        let expected = ((successes * failures) as f64).sqrt() / members as f64;
        prop_assert!(close(scored.deviation, expected, 1e-12));
        let share = successes as f64 / members as f64;
        if (P_HIGH_MIN..=P_HIGH_MAX).contains(&share) {
            prop_assert!(close(phi(0.0, 0.0, 0.0, share).sigma_anchor(), scored.deviation, 1e-12));
        }
    }
}

/// 1, with the numbers that are easy to check by hand.
#[test]
fn the_floor_of_eight_members() {
    for (p_high, expected) in [(0.8, vec![0, 1, 7, 8]), (0.9, vec![0, 8])] {
        let care = scheme(Estimator::Care, phi(0.0, 0.0, 0.3, p_high));
        let active: Vec<_> =
            (0..=8).filter(|successes| alone(&care, &outcomes(*successes, 8)).scored.unwrap().floor_active).collect();
        assert_eq!(active, expected);
    }
}

/// 1: outside the middle a rare success is damped as well.
#[test]
fn a_rare_success_is_damped() {
    let phi = phi(0.0, 0.0, 0.3, 0.8);
    let group = outcomes(1, 8);
    let calibrated = advantages(&alone(&scheme(Estimator::Care, phi), &group))[0];
    let uncalibrated = advantages(&alone(&scheme(Estimator::CareUncalibrated, phi), &group))[0];
    // (7/8) / 0.4 against (7/8) / (sqrt(7) / 8).
    assert!(close(calibrated, 2.1875, 1e-12) && close(uncalibrated, 7.0 / 7f64.sqrt(), 1e-12));
}

/// 3: what holds for costs that lie close together is refused for costs that do not.
#[test]
fn a_weight_beyond_one_needs_costs_that_lie_close_together() {
    let values = PhiValues { lambda_prog: 0.1, lambda_eff: 1.5, p_low: 0.3, p_high: 0.6 };
    assert_eq!(Phi::new(values), Err(PhiError::EfficiencyWeight { lambda_eff: 1.5, range: 1.0 }));
    let care = scheme(Estimator::Care, Phi::within(values, CostRange::new(0.5).unwrap()).unwrap());
    let group = |dearest| group_of(3, &[Some((true, 1.0, dearest)), Some((true, 1.0, 0.3)), Some((false, 0.0, 0.3))]);
    let found = advantages(&alone(&care, &group(0.8)));
    assert!(found[0] > found[2], "{found:?}");
    // At a distance of 0.7 the dear success would be worth less than the cheap failure.
    let error = care.assign(&[group(1.0)]).unwrap_err();
    assert_eq!(error, AssignError::CostRange { id: GroupId(3), lambda_eff: 1.5, range: 0.7 });
}

/// 4: literally, a quick failure beats a slow one; optionally, it does not.
#[test]
fn a_quick_failure_beats_a_slow_one_literally() {
    let group = group_of(
        0,
        &[
            Some((true, 1.0, 0.5)),
            Some((true, 1.0, 0.5)),
            Some((true, 1.0, 0.4)),
            Some((true, 1.0, 0.5)),
            Some((false, 0.0, 0.1)),
            Some((false, 0.0, 0.9)),
        ],
    );
    let literal = scheme(Estimator::Care, phi(0.1, 0.2, 0.3, 0.6));
    let found = advantages(&alone(&literal, &group));
    assert!(found[4] > found[5] + 0.1, "{found:?}");
    let options = Options { eff_on: EffOn::Success, ..literal.options };
    let found = advantages(&alone(&Scheme { options, ..literal }, &group));
    assert_eq!(found[4], found[5]);
    assert!(found[2] > found[0] && found[0] > found[4]);
}

/// One parameter under Adam (beta1 0.9, beta2 0.999), for consequence 7.
fn adam(gradients: impl Iterator<Item = f64>) -> f64 {
    let (mut first, mut second, mut moved) = (0.0, 0.0, 0.0);
    for (step, gradient) in (1..).zip(gradients) {
        first = 0.9 * first + 0.1 * gradient;
        second = 0.999 * second + 0.001 * gradient * gradient;
        let (first, second) = (first / (1.0 - 0.9f64.powi(step)), second / (1.0 - 0.999f64.powi(step)));
        moved += 0.01 * first / (second.sqrt() + 1e-8);
    }
    moved
}

/// 7: Adam undoes a factor that all advantages share, so that calibration acts through the weight of saturated against mixed groups.
#[test]
fn adam_forgets_a_common_factor_and_keeps_a_relative_one() {
    let phi = phi(0.1, 0.1, 0.3, 0.8);
    let costs = [0.2, 0.3, 0.5, 0.6, 0.4, 0.4, 0.1, 0.7];
    let quiet = scheme(Estimator::Care, phi);
    let loud = scheme(Estimator::CareUncalibrated, phi);
    let advantage_of_cheapest = |scheme: &Scheme| advantages(&alone(scheme, &saturated(&costs)))[6];
    let (small, large) = (advantage_of_cheapest(&quiet), advantage_of_cheapest(&loud));
    assert!(large / small > 15.0, "{large} {small}");

    // A batch of saturated groups alone: a step of plain descent shrinks as the advantage does, one of Adam hardly does.
    let noise = |step: u32| if step.is_multiple_of(3) { -0.5 } else { 1.0 };
    let moved = |advantage: f64| adam((0..200).map(|step| advantage * noise(step)));
    assert!(close(moved(small), moved(large), 1e-4), "{} {}", moved(small), moved(large));

    // With a mixed group that pulls the other way (a failure that was cheap), the weight of one against the other decides.
    let mixed = group_of(
        1,
        &[Some((true, 1.0, 0.6)), Some((false, 0.0, 0.1)), Some((true, 1.0, 0.5)), Some((false, 0.0, 0.2))],
    );
    let direction = |scheme: &Scheme| {
        let pull = advantages(&alone(scheme, &mixed))[1];
        adam((0..200).map(|_| advantage_of_cheapest(scheme) + pull))
    };
    assert!(direction(&loud) > 0.0 && direction(&quiet) < 0.0, "{} {}", direction(&loud), direction(&quiet));
}
