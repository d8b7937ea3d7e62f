//! The edge cases, one test for each row of their table.

use super::*;

/// Thresholds are compared in counts, so that rounding of a share decides nothing.
#[test]
fn shares_are_compared_in_counts() {
    // In f64, 3 x 0.1 is above 0.3 and 3 x 0.2 is above 0.6; three and six of ten have reached them.
    let phi = phi(0.1, 0.1, 3.0 * 0.1, 3.0 * 0.2);
    assert!(phi.p_low() * 10.0 > 3.0 && phi.p_high() * 10.0 > 6.0, "the thresholds are not what this test is about");
    let regime = |successes| Regime::of(Tally { successes, valid: 10 }, &phi);
    assert_eq!(regime(2), Regime::Progress);
    assert_eq!(regime(3), Regime::Consolidation);
    assert_eq!(regime(5), Regime::Consolidation);
    assert_eq!(regime(6), Regime::Efficiency);
}

#[test]
fn a_group_of_one_is_refused_and_one_that_shrinks_to_it_is_dropped() {
    for found in [0, 1, GROUP_SIZE_MAX + 1] {
        assert_eq!(GroupSize::new(found), Err(GroupSizeError { found }));
        assert!(serde_json::from_value::<GroupSize>(serde_json::json!(found)).is_err());
    }
    assert!(GroupSize::new(GROUP_SIZE_MAX).is_ok());
    let error = Group::new(GroupId(4), GroupSize::new(2).unwrap(), vec![Err(Void::Infrastructure)]).unwrap_err();
    assert_eq!(error, GroupError { id: GroupId(4), expected: 2, found: 1 });

    let groups = [group_of(1, &[Some((true, 1.0, 0.2)), None, None]), group_of(2, &[None, None])];
    for estimator in Estimator::ALL {
        let assignment = scheme(estimator, phi(0.1, 0.1, 0.3, 0.8)).assign(&groups).unwrap();
        for group in assignment.groups() {
            assert!(group.scored.is_none() && group.slots.iter().all(Option::is_none) && group.is_silent());
        }
        let counters = assignment.counters();
        assert_eq!((counters.too_small, counters.all_void, counters.dropped, counters.kept), (2, 1, 1, 0));
        assert_eq!(Statistics::of(&assignment).share(Regime::Progress), None);
    }
}

/// What must give exact zeros, though a naive deviation need not be zero: seven times 0.7, and the like.
#[test]
fn equal_rewards_give_exact_zeros() {
    let fail = |progress: f64, members: usize| group_of(0, &vec![Some((false, progress, 0.3)); members]);
    let tiny = group_of(0, &[Some((true, 1.0, 0.3)), Some((true, 1.0, 0.3 + 1e-10)), Some((true, 1.0, 0.3))]);
    let unlike = group_of(0, &[Some((false, 0.1, 0.2)), Some((false, 0.9, 0.8))]);
    let shaped = phi(0.1, 0.1, 0.3, 0.8);
    for (name, group, phi, regime) in [
        ("all fail alike", fail(0.7, 7), shaped, Regime::Progress),
        ("progress without weight", unlike.clone(), phi(0.0, 0.1, 0.3, 0.8), Regime::Progress),
        ("all fail in consolidation, p_low 0", unlike, phi(0.1, 0.1, 0.0, 0.8), Regime::Consolidation),
        ("all succeed alike", saturated(&[0.7; 7]), shaped, Regime::Efficiency),
        ("cost without weight", saturated(&[0.1, 0.9]), phi(0.1, 0.0, 0.3, 0.8), Regime::Efficiency),
        ("a spread that is rounding", tiny, shaped, Regime::Efficiency),
    ] {
        for estimator in [Estimator::Care, Estimator::CareUncalibrated, Estimator::MeanCentred] {
            let assignment = scheme(estimator, phi).assign(std::slice::from_ref(&group)).unwrap();
            let credit = &assignment.groups()[0];
            assert!(advantages(credit).iter().all(|advantage| *advantage == 0.0), "{name}");
            let scored = credit.scored.unwrap();
            assert!(scored.degenerate && scored.regime == regime && scored.deviation == 0.0, "{name}");
            assert_eq!((assignment.counters().degenerate, assignment.counters().informative), (1, 0), "{name}");
        }
    }
}

#[test]
fn a_spread_just_above_the_limit_counts() {
    let credit = alone(&scheme(Estimator::CareUncalibrated, phi(0.1, 0.5, 0.3, 0.8)), &saturated(&[0.0, 4e-9]));
    assert!(!credit.scored.unwrap().degenerate && close(advantages(&credit)[0], 1.0, 1e-6));
}

#[test]
fn schedules_without_meaning_are_refused() {
    let good = PhiValues { lambda_prog: 0.1, lambda_eff: 0.2, p_low: 0.3, p_high: 0.8 };
    assert!(Phi::new(good).is_ok());
    let with = |change: fn(&mut PhiValues)| {
        let mut values = good;
        change(&mut values);
        values
    };
    for (values, words) in [
        (with(|values| values.p_high = 1.0), "`p_high` must be within 0.55 to 0.98"),
        (with(|values| values.p_high = 0.981), "`p_high` must be within 0.55 to 0.98"),
        (with(|values| values.p_high = 0.0), "`p_high` must be within 0.55 to 0.98"),
        (with(|values| values.p_high = 0.549), "`p_high` must be within 0.55 to 0.98"),
        (with(|values| values.p_low = 0.81), "`p_low` must not exceed `p_high`, found 0.81 and 0.8"),
        (with(|values| values.lambda_prog = 1.0), "`lambda_prog` must be less than 1"),
        (with(|values| values.lambda_eff = 1.0), "`lambda_eff` times the range of the cost must be less than 1"),
        (with(|values| values.lambda_prog = -0.1), "`lambda_prog` must not be negative"),
        (with(|values| values.lambda_eff = -0.1), "`lambda_eff` must not be negative"),
        (with(|values| values.p_low = -0.1), "`p_low` must not be negative"),
        (with(|values| values.p_low = f64::NAN), "`p_low` must be a finite number"),
        (with(|values| values.p_high = f64::INFINITY), "`p_high` must be a finite number"),
        (with(|values| values.lambda_eff = f64::NEG_INFINITY), "`lambda_eff` must be a finite number"),
    ] {
        let error = Phi::new(values).unwrap_err().to_string();
        assert!(error.starts_with(words), "{error}");
        // A file goes through the same door; JSON itself knows no infinity.
        if let Ok(value) = serde_json::to_value(values) {
            assert!(serde_json::from_value::<Phi>(value).is_err(), "{words}");
        }
    }
    for (p_low, p_high) in [(0.0, P_HIGH_MIN), (P_HIGH_MAX, P_HIGH_MAX)] {
        let edge = phi(0.0, 0.0, p_low, p_high);
        assert_eq!(serde_json::from_str::<Phi>(&serde_json::to_string(&edge).unwrap()).unwrap(), edge);
    }
    for found in [0.0, -0.5, 1.1, f64::NAN] {
        assert!(CostRange::new(found).is_err());
    }
    let unknown = r#"{"lambda_prog":0.1,"lambda_eff":0.2,"p_low":0.3,"p_high":0.8,"p_mid":0.5}"#;
    assert!(serde_json::from_str::<Phi>(unknown).is_err());
    for found in [-1e-9, EPSILON_MAX * 1.01, f64::NAN] {
        assert!(Epsilon::new(found).is_err());
    }
}

/// p_low = p_high leaves out consolidation; p_low = 0 leaves out progress; 0 < p_low <= 1/G is for groups without any success.
#[test]
fn thresholds_at_their_limits() {
    let regimes = |phi: Phi, members: usize| -> Vec<_> {
        (0..=members).map(|successes| Regime::of(Tally { successes, valid: members }, &phi)).collect()
    };
    use Regime::{Consolidation, Efficiency, Progress};
    assert_eq!(regimes(phi(0.1, 0.1, 0.75, 0.75), 4), [Progress, Progress, Progress, Efficiency, Efficiency]);
    assert_eq!(
        regimes(phi(0.1, 0.1, 0.0, 0.75), 4),
        [Consolidation, Consolidation, Consolidation, Efficiency, Efficiency]
    );
    assert_eq!(regimes(phi(0.1, 0.1, 0.25, 0.75), 4)[..2], [Progress, Consolidation]);
    // p_high above 1 - 1/G: unanimous groups alone.
    assert_eq!(regimes(phi(0.1, 0.1, 0.25, 0.76), 4)[3..], [Consolidation, Efficiency]);
}

/// The floor binds in a saturated group iff p_high (1 - p_high) >= lambda_eff^2 sigma_e^2.
#[test]
fn a_floor_below_the_deviation_does_not_bind() {
    let costs = [0.0, 1.0];
    for (lambda_eff, expected) in [(0.3, false), (0.2, true)] {
        // sigma_e is one half; sigma_anchor at 0.98 is 0.14.
        let scored =
            alone(&scheme(Estimator::Care, phi(0.1, lambda_eff, 0.3, 0.98)), &saturated(&costs)).scored.unwrap();
        assert_eq!(scored.floor_active, expected);
        assert!(close(scored.divisor, if expected { 0.14 } else { lambda_eff / 2.0 }, 1e-12));
    }
}

#[test]
fn numbers_that_are_none_make_a_member_void() {
    let with = |progress, cost| Member::new(Measured { success: true, progress, cost });
    for value in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY] {
        assert_eq!(with(value, 0.5), Err(Void::NotFinite { measure: Measure::Progress }));
        assert_eq!(with(0.5, value), Err(Void::NotFinite { measure: Measure::Cost }));
    }
    assert_eq!(with(0.5, 1.01), Err(Void::OutOfRange { measure: Measure::Cost, found: 1.01 }));
    assert_eq!(with(-0.01, 0.5), Err(Void::OutOfRange { measure: Measure::Progress, found: -0.01 }));
    assert!(serde_json::from_str::<Member>(r#"{"success":true,"progress":0.5,"cost":2.0}"#).is_err());

    let slots = vec![with(1.0, 0.2), with(1.0, f64::NAN), with(1.0, 0.4), with(7.0, 0.4), Err(Void::Infrastructure)];
    let group = Group::new(GroupId(0), GroupSize::new(5).unwrap(), slots).unwrap();
    let assignment = scheme(Estimator::Care, phi(0.1, 0.2, 0.3, 0.8)).assign(&[group]).unwrap();
    let slots = &assignment.groups()[0].slots;
    assert_eq!(slots.iter().map(Option::is_some).collect::<Vec<_>>(), [true, false, true, false, false]);
    assert!(close(slots[0].unwrap().advantage, 0.05, 1e-12) && close(slots[2].unwrap().advantage, -0.05, 1e-12));
    let counters = assignment.counters();
    assert_eq!(
        (counters.void, counters.void_not_finite, counters.void_out_of_range, counters.void_infrastructure),
        (3, 1, 1, 1)
    );
}

/// A void member changes nothing for the others: not the share of successes, not the mean, not the deviation.
#[test]
fn void_members_are_left_out() {
    let valid = [Some((true, 1.0, 0.3)), Some((false, 0.4, 0.5)), Some((true, 1.0, 0.6)), Some((true, 1.0, 0.2))];
    let [first, second, third, fourth] = valid;
    let thinned = [None, first, second, None, None, third, None, fourth];
    for estimator in Estimator::ALL {
        let scheme = scheme(estimator, phi(0.1, 0.2, 0.3, 0.75));
        let (whole, thin) = (alone(&scheme, &group_of(0, &valid)), alone(&scheme, &group_of(0, &thinned)));
        assert_eq!(whole.scored, thin.scored);
        assert_eq!(whole.credits().collect::<Vec<_>>(), thin.credits().collect::<Vec<_>>());
        assert!(thin.slots[0].is_none() && thin.slots[6].is_none() && thin.slots[7].is_some());
    }
}

#[test]
fn a_group_that_comes_twice_is_refused() {
    let group = outcomes(1, 2);
    let error = scheme(Estimator::Care, phi(0.1, 0.2, 0.3, 0.8)).assign(&[group.clone(), group]).unwrap_err();
    assert_eq!(error, AssignError::Repeated { id: GroupId(0) });
}

#[test]
fn spending_over_the_budget_costs_it_whole() {
    let budget = std::num::NonZeroU64::new(40).unwrap();
    for (spent, expected) in [(0, 0.0), (10, 0.25), (40, 1.0), (41, 1.0), (u64::MAX, 1.0)] {
        assert_eq!(cost_of(spent, budget), expected);
    }
}
