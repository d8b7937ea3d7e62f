//! What holds for every estimator, schedule and batch.

use proptest::prelude::*;

use super::*;

fn batches() -> impl Strategy<Value = Vec<Vec<Slot>>> {
    proptest::collection::vec(any_slots(), 0..6)
}

fn groups_of(batch: &[Vec<Slot>]) -> Vec<Group> {
    (0..).zip(batch).map(|(id, slots)| group_of(id, slots)).collect()
}

proptest! {
    #[test]
    fn counters_add_up(batch in batches(), estimator in any_estimator(), phi in any_phi(), options in any_options()) {
        let groups = groups_of(&batch);
        let assignment = Scheme { estimator, phi, options }.assign(&groups).unwrap();
        let counters = *assignment.counters();
        prop_assert_eq!(counters.groups, batch.len() as u64);
        prop_assert_eq!(counters.groups, counters.too_small + counters.kept);
        prop_assert_eq!(counters.kept, counters.degenerate + counters.informative);
        prop_assert_eq!(counters.members, batch.iter().map(Vec::len).sum::<usize>() as u64);
        prop_assert_eq!(counters.members, counters.void + counters.dropped + counters.assigned);
        prop_assert_eq!(counters.void, counters.void_infrastructure + counters.void_not_finite + counters.void_out_of_range);
        prop_assert_eq!(counters.void, batch.iter().flatten().filter(|slot| slot.is_none()).count() as u64);
        let statistics = Statistics::of(&assignment);
        let sum = |of: fn(&RegimeLine) -> u64| Regime::ALL.iter().map(|regime| of(statistics.line(*regime))).sum::<u64>();
        prop_assert_eq!(sum(|line| line.groups), counters.kept);
        prop_assert_eq!(sum(|line| line.degenerate), counters.degenerate);
        prop_assert_eq!(sum(|line| line.floored), counters.floored);
        prop_assert_eq!(sum(|line| line.members), counters.assigned);
        let shares: Option<f64> = Regime::ALL.iter().map(|regime| statistics.share(*regime)).sum();
        prop_assert!(shares.is_none_or(|shares| close(shares, 1.0, 1e-12)));
        // Two steps added up are one step of both.
        let mut twice = statistics;
        twice.add(&statistics);
        prop_assert_eq!(twice.counters.members, 2 * counters.members);
        prop_assert_eq!(twice.counters.floored, 2 * counters.floored);
        prop_assert_eq!(twice.line(Regime::Efficiency).members, 2 * statistics.efficiency.members);
        for regime in Regime::ALL {
            prop_assert_eq!(twice.share(regime), statistics.share(regime));
            prop_assert_eq!(twice.line(regime).advantage_rms(), statistics.line(regime).advantage_rms());
        }
    }

    #[test]
    fn advantages_are_finite_centred_and_in_their_slots(batch in batches(), estimator in any_estimator(), phi in any_phi(), options in any_options()) {
        let groups = groups_of(&batch);
        let assignment = Scheme { estimator, phi, options }.assign(&groups).unwrap();
        for (slots, credit) in batch.iter().zip(assignment.groups()) {
            prop_assert_eq!(credit.slots.len(), slots.len());
            for (slot, credit_of_slot) in slots.iter().zip(&credit.slots) {
                prop_assert_eq!(credit_of_slot.is_some(), slot.is_some() && credit.scored.is_some());
            }
            let advantages = advantages(credit);
            prop_assert!(advantages.iter().all(|advantage| advantage.is_finite()));
            let greatest = advantages.iter().fold(0.0f64, |greatest, advantage| greatest.max(advantage.abs()));
            prop_assert!(advantages.iter().sum::<f64>().abs() <= 1e-5 * (1.0 + greatest));
            if credit.scored.is_some_and(|scored| scored.degenerate) {
                prop_assert!(advantages.iter().all(|advantage| *advantage == 0.0));
            }
        }
    }

    /// Members change places: their advantages do, and nothing else. Groups of one batch do not touch each other, GDPO apart.
    #[test]
    fn slots_and_groups_may_change_places(batch in batches(), estimator in any_estimator(), phi in any_phi()) {
        let groups = groups_of(&batch);
        let scheme = scheme(estimator, phi);
        let straight = scheme.assign(&groups).unwrap();
        let mut turned: Vec<_> = (0..)
            .zip(&batch)
            .map(|(id, slots)| group_of(id, &slots.iter().rev().copied().collect::<Vec<_>>()))
            .collect();
        turned.reverse();
        let turned = scheme.assign(&turned).unwrap();
        for (left, right) in straight.groups().iter().zip(turned.groups().iter().rev()) {
            prop_assert_eq!(left.id, right.id);
            prop_assert_eq!(left.scored.map(|scored| scored.degenerate), right.scored.map(|scored| scored.degenerate));
            for (left, right) in left.slots.iter().zip(right.slots.iter().rev()) {
                match (left, right) {
                    (Some(left), Some(right)) => prop_assert!(close(left.advantage, right.advantage, 1e-6)),
                    (left, right) => prop_assert_eq!(left, right),
                }
            }
        }
    }

    #[test]
    fn schemes_come_back_from_files(estimator in any_estimator(), phi in any_phi(), options in any_options()) {
        let scheme = Scheme { estimator, phi, options };
        let text = serde_json::to_string(&scheme).unwrap();
        prop_assert_eq!(serde_json::from_str::<Scheme>(&text).unwrap(), scheme);
    }
}

#[test]
fn loudness_is_by_regime() {
    let groups = [
        group_of(1, &[Some((true, 1.0, 0.2)), Some((true, 1.0, 0.4))]),
        group_of(2, &[Some((true, 1.0, 0.5)), Some((false, 0.5, 0.5))]),
        group_of(3, &[Some((false, 0.2, 0.5)), Some((false, 0.6, 0.5))]),
    ];
    let statistics = Statistics::of(&scheme(Estimator::Care, phi(0.1, 0.2, 0.3, 0.8)).assign(&groups).unwrap());
    // 0.2 x 0.1 / 0.4, then 0.5 / 0.5, then 0.1 x 0.2 / 0.4.
    for (regime, expected) in [(Regime::Efficiency, 0.05), (Regime::Consolidation, 1.0), (Regime::Progress, 0.05)] {
        assert!(close(statistics.line(regime).advantage_rms().unwrap(), expected, 1e-9), "{regime:?}");
    }
    assert!(close(statistics.loudness(Regime::Consolidation).unwrap(), 1.0 / 1.005, 1e-9));
    assert!(close(statistics.success().unwrap(), 0.5, 1e-12));
    assert_eq!(Statistics::default().loudness(Regime::Progress), None);
}

#[test]
fn options_are_literal_unless_said_otherwise() {
    let options: Options = serde_json::from_str("{}").unwrap();
    assert_eq!(options, Options::default());
    assert_eq!((options.floor_scope, options.eff_on), (FloorScope::All, EffOn::All));
    assert_eq!(options.epsilon.get(), 1e-6);
    assert!(serde_json::from_str::<Options>(r#"{"floor":"all"}"#).is_err());
    assert!(serde_json::from_str::<Options>(r#"{"epsilon":0.5}"#).is_err());
}
