//! Each rival is what its definition says, worked out here once more and in another way.

use proptest::prelude::*;

use super::*;

fn success(member: Member) -> f64 {
    if member.success() { 1.0 } else { 0.0 }
}

/// Centred and divided by the deviation and epsilon; zeros where nothing differs.
fn standardised(values: &[f64], epsilon: f64) -> Vec<f64> {
    let (mean, deviation) = population(values);
    let differs = values.iter().any(|value| (value - values[0]).abs() > SPREAD_MAX);
    values.iter().map(|value| if differs { (value - mean) / (deviation + epsilon) } else { 0.0 }).collect()
}

/// Whether rewards are clearly the same or clearly not: what lies near the limit is not what a definition is about.
fn is_clear(values: &[f64]) -> bool {
    let (_, deviation) = population(values);
    !(1e-13..=1e-5).contains(&deviation)
}

fn check(slots: &[Slot], scheme: Scheme, reward: impl Fn(Member) -> f64, divides: bool) -> Result<(), TestCaseError> {
    let group = group_of(0, slots);
    let rewards: Vec<_> = group.members().map(reward).collect();
    prop_assume!(rewards.len() >= 2 && is_clear(&rewards));
    let credit = alone(&scheme, &group);
    let (mean, _) = population(&rewards);
    let expected = if divides {
        standardised(&rewards, scheme.options.epsilon.get())
    } else {
        rewards.iter().map(|reward| reward - mean).collect()
    };
    for ((found, reward), expected) in credit.credits().zip(&rewards).zip(expected) {
        prop_assert!(close(found.reward, *reward, 1e-12));
        prop_assert!(close(found.advantage, expected, 1e-6), "{} {}", found.advantage, expected);
    }
    Ok(())
}

proptest! {
    #[test]
    fn vanilla_is_the_outcome_alone(slots in any_slots(), phi in any_phi(), options in any_options()) {
        check(&slots, Scheme { estimator: Estimator::Vanilla, phi, options }, success, true)?;
    }

    #[test]
    fn composite_takes_the_cost_from_every_group(slots in any_slots(), phi in any_phi(), options in any_options()) {
        let reward = |member: Member| success(member) - phi.lambda_eff() * member.cost();
        check(&slots, Scheme { estimator: Estimator::Composite, phi, options }, reward, true)?;
    }

    #[test]
    fn the_schedule_is_that_of_equation_5(slots in any_slots(), phi in any_phi(), options in any_options()) {
        let group = group_of(0, &slots);
        let (successes, valid) = group.members().fold((0.0, 0.0), |(successes, valid), member| (successes + success(member), valid + 1.0));
        let share = successes / valid;
        prop_assume!((share - phi.p_low()).abs() > 1e-6 && (share - phi.p_high()).abs() > 1e-6);
        let reward = |member: Member| {
            if share < phi.p_low() {
                success(member) + phi.lambda_prog() * member.progress()
            } else if share < phi.p_high() {
                success(member)
            } else if options.eff_on == EffOn::All || member.success() {
                success(member) - phi.lambda_eff() * member.cost()
            } else {
                success(member)
            }
        };
        check(&slots, Scheme { estimator: Estimator::CareUncalibrated, phi, options }, reward, true)?;
        check(&slots, Scheme { estimator: Estimator::MeanCentred, phi, options }, reward, false)?;
    }

    /// Equation (9) against (6): the same but for the divisor.
    #[test]
    fn care_is_the_uncalibrated_advantage_over_the_larger_divisor(slots in any_slots(), phi in any_phi(), options in any_options()) {
        let group = group_of(0, &slots);
        let nine = alone(&Scheme { estimator: Estimator::Care, phi, options }, &group);
        let six = alone(&Scheme { estimator: Estimator::CareUncalibrated, phi, options }, &group);
        let (Some(nine_scored), Some(six_scored)) = (nine.scored, six.scored) else { return Ok(()) };
        let applies = options.floor_scope == FloorScope::All || nine_scored.regime == Regime::Efficiency;
        let larger = if applies { six_scored.deviation.max((phi.p_high() * (1.0 - phi.p_high())).sqrt()) } else { six_scored.deviation };
        prop_assert!(close(nine_scored.divisor, larger, 1e-12));
        let epsilon = options.epsilon.get();
        for (nine, six) in nine.credits().zip(six.credits()) {
            prop_assert_eq!(nine.reward, six.reward);
            prop_assert!(close(nine.advantage * (larger + epsilon), six.advantage * (six_scored.deviation + epsilon), 1e-9));
        }
    }

    /// GDPO: each component within the group, weighted, then whitened over all members of the batch.
    #[test]
    fn gdpo_is_normalised_by_component_and_whitened_over_the_batch(
        batch in proptest::collection::vec(any_slots(), 1..6), phi in any_phi(), options in any_options()
    ) {
        let groups: Vec<_> = (0..).zip(&batch).map(|(id, slots)| group_of(id, slots)).collect();
        let epsilon = options.epsilon.get();
        let mut sums = Vec::new();
        for group in groups.iter().filter(|group| group.members().count() >= 2) {
            let outcome: Vec<_> = group.members().map(success).collect();
            let cost: Vec<_> = group.members().map(|member| member.cost()).collect();
            prop_assume!(is_clear(&cost));
            let parts = standardised(&outcome, epsilon).into_iter().zip(standardised(&cost, epsilon));
            sums.extend(parts.map(|(outcome, cost)| outcome - phi.lambda_eff() * cost));
        }
        prop_assume!(!sums.is_empty() && is_clear(&sums));
        let expected = standardised(&sums, epsilon);
        let assignment = Scheme { estimator: Estimator::Gdpo, phi, options }.assign(&groups).unwrap();
        let found: Vec<_> = assignment.groups().iter().flat_map(advantages).collect();
        prop_assert_eq!(found.len(), expected.len());
        for (found, expected) in found.iter().zip(&expected) {
            prop_assert!(close(*found, *expected, 1e-6), "{} {}", found, expected);
        }
    }

    /// The rules compared: how loud economy is in a saturated group.
    #[test]
    fn gdpo_is_as_loud_whatever_the_costs_deviation(costs in proptest::collection::vec(0.0..=1.0, 4..12), squeeze in 0.1..0.9) {
        prop_assume!(population(&costs).1 > 0.05);
        let mixed = group_of(1, &[Some((true, 1.0, 0.5)), Some((false, 0.0, 0.5))]);
        let loudness = |estimator, costs: &[f64]| {
            let assignment = scheme(estimator, phi(0.1, 0.2, 0.3, 0.8)).assign(&[saturated(costs), mixed.clone()]).unwrap();
            rms(&advantages(&assignment.groups()[0]))
        };
        let squeezed: Vec<_> = costs.iter().map(|cost| cost * squeeze).collect();
        prop_assert!(close(loudness(Estimator::Gdpo, &costs), loudness(Estimator::Gdpo, &squeezed), 1e-9));
        let centred = loudness(Estimator::MeanCentred, &costs);
        prop_assert!(close(centred, 0.2 * population(&costs).1, 1e-9));
        prop_assert!(close(loudness(Estimator::MeanCentred, &squeezed), centred * squeeze, 1e-9));
    }
}

#[test]
fn gdpo_leaves_degenerate_groups_at_exact_zeros() {
    let groups = [
        group_of(0, &[Some((true, 1.0, 0.5)); 3]),
        group_of(1, &[Some((true, 1.0, 0.5)), Some((false, 0.0, 0.1)), Some((false, 0.0, 0.7))]),
        group_of(2, &[Some((true, 1.0, 0.5)), None, None]),
    ];
    let gdpo = scheme(Estimator::Gdpo, phi(0.1, 0.2, 0.3, 0.8));
    let assignment = gdpo.assign(&groups).unwrap();
    assert_eq!(advantages(&assignment.groups()[0]), [0.0; 3]);
    let counters = assignment.counters();
    assert_eq!((counters.degenerate, counters.informative, counters.too_small), (1, 1, 1));
    // A batch of nothing else is silent as a whole.
    let silent = gdpo.assign(&groups[..1]).unwrap();
    assert_eq!(advantages(&silent.groups()[0]), [0.0; 3]);
    // Without a weight the cost tells nobody apart.
    let weightless = scheme(Estimator::Gdpo, phi(0.1, 0.0, 0.3, 0.8)).assign(&[saturated(&[0.1, 0.9])]).unwrap();
    assert_eq!(weightless.counters().degenerate, 1);
}

#[test]
fn names_are_those_that_files_use() {
    let names: Vec<_> = Estimator::ALL.iter().map(|estimator| serde_json::to_value(estimator).unwrap()).collect();
    assert_eq!(names, ["vanilla", "composite", "care_uncalibrated", "care", "mean_centred", "gdpo"]);
}
