//! One claim key at a time: what stands, what is history, and that the order of arrival changes neither.

use std::collections::BTreeSet;

use loopwright_contract::memory::{Layer, Role};
use proptest::prelude::*;

use super::*;
use crate::id::RootKey;
use crate::message::Place;
use crate::moment::{EventTime, Granularity, Moment, Zone};
use crate::unit::Confidence;

fn at(seconds: i64) -> Moment {
    Moment::new(seconds, Zone::utc()).expect("in range")
}

/// A unit by number: what it claims, when it was said, and when it holds.
#[derive(Debug, Clone)]
struct Row {
    value: &'static str,
    negated: bool,
    mentioned: i64,
    event: Option<(i64, Option<i64>)>,
}

fn row(value: &'static str, mentioned: i64) -> Row {
    Row { value, negated: false, mentioned, event: None }
}

fn unit_of(number: u64, predicate: &str, arity: Arity, row: &Row) -> Unit {
    let key = ClaimKey { subject: "user".into(), predicate: predicate.into(), qualifier: None };
    let event = row.event.map(|(start, end)| EventTime {
        start: at(start),
        end,
        granularity: if end.is_some() { Granularity::Day } else { Granularity::Open },
    });
    Unit {
        id: UnitId::of(&RootKey::new([3; 32]), number),
        layer: Layer::Profile,
        category: None,
        tags: Vec::new(),
        text: row.value.to_owned(),
        claim: Some(Claim { key, value: row.value.to_owned(), arity, negated: row.negated }),
        event,
        mentioned: at(row.mentioned),
        ingested: at(1_000_000),
        place: Some(Place {
            dialogue: "d".into(),
            session: "s".into(),
            position: 0,
            speaker: "Lin".into(),
            role: Role::User,
        }),
        evidence: Vec::new(),
        status: Status::Verified,
        supersedes: Vec::new(),
        superseded_by: None,
        conflicts: Vec::new(),
        confidence: Confidence { thousandths: 900, reason: "test".into() },
        activation: None,
        derived_from: Vec::new(),
    }
}

/// Keeps units as a store would.
#[derive(Default, Clone)]
struct Kept(Vec<Unit>);

impl Kept {
    fn add(&mut self, mut new: Unit) -> Decision {
        let known: Vec<&Unit> = self.0.iter().collect();
        let reconciled = reconcile(&new, &known);
        if let Decision::Same { unit } = &reconciled.decision {
            let place = self.0.iter().position(|one| one.id == *unit).expect("a known unit");
            self.0[place] = absorb(&self.0[place], &new);
        }
        let apply = |unit: &mut Unit, standing: &Standing| {
            unit.status = standing.status;
            unit.superseded_by = standing.superseded_by;
            unit.supersedes = standing.supersedes.clone();
            unit.conflicts = standing.conflicts.clone();
        };
        for unit in &mut self.0 {
            if let Some(standing) = reconciled.changes.get(&unit.id) {
                apply(unit, standing);
            }
        }
        if let Some(standing) = &reconciled.standing {
            apply(&mut new, standing);
            self.0.push(new);
        }
        reconciled.decision
    }

    fn heads(&self) -> BTreeSet<(String, bool, Option<i64>)> {
        let current = self.0.iter().filter(|unit| unit.status.is_current());
        current
            .map(|unit| {
                let claim = unit.claim.as_ref().expect("a claim");
                // Where the event is what is said, how it was worded is nobody's answer.
                let worded = !(EVENT_IS_VALUE.contains(&claim.key.predicate.as_str()) && unit.event.is_some());
                let value = if worded { value_key(&claim.value) } else { String::new() };
                (value, claim.negated, unit.event.as_ref().map(|event| event.start.seconds()))
            })
            .collect()
    }

    fn check_links(&self) {
        for unit in &self.0 {
            assert_eq!(unit.superseded_by.is_some(), unit.status == Status::Superseded);
            for other in &unit.supersedes {
                let other = self.0.iter().find(|one| one.id == *other).expect("a known unit");
                assert_eq!(other.superseded_by, Some(unit.id), "linked one way only");
            }
            if let Some(by) = unit.superseded_by {
                let by = self.0.iter().find(|one| one.id == by).expect("a known unit");
                assert!(by.supersedes.contains(&unit.id), "linked one way only");
                assert_eq!(by.claim.as_ref().map(|claim| &claim.key), unit.claim.as_ref().map(|claim| &claim.key));
            }
        }
    }
}

fn decisions(predicate: &str, arity: Arity, rows: &[Row]) -> (Vec<Decision>, Kept) {
    let mut kept = Kept::default();
    let decisions = (0..).zip(rows).map(|(number, row)| kept.add(unit_of(number, predicate, arity, row))).collect();
    kept.check_links();
    (decisions, kept)
}

fn id(number: u64) -> UnitId {
    UnitId::of(&RootKey::new([3; 32]), number)
}

fn heads(kept: &Kept) -> Vec<String> {
    kept.heads().into_iter().map(|(value, negated, _)| if negated { format!("!{value}") } else { value }).collect()
}

#[test]
fn a_later_word_takes_the_place_and_an_older_one_becomes_history() {
    let (found, kept) =
        decisions("lives_in", Arity::Single, &[row("Berlin", 10), row("Paris", 20), row("Rome", 15), row("paris", 30)]);
    assert_eq!(found[0], Decision::Add);
    assert_eq!(found[1], Decision::Supersede { units: vec![id(0)] });
    assert_eq!(found[2], Decision::Older { by: id(1) });
    assert_eq!(found[3], Decision::Same { unit: id(1) });
    assert_eq!(heads(&kept), ["paris"]);
    // History in order: Berlin, Rome, Paris.
    assert_eq!(kept.0[0].superseded_by, Some(id(2)));
}

#[test]
fn the_event_decides_before_the_mention() {
    let began = |value, mentioned, start| Row { event: Some((start, None)), ..row(value, mentioned) };
    // Said first that they moved to Paris in 2023, then that they had moved to Berlin in 2019.
    let (found, kept) = decisions("lives_in", Arity::Single, &[began("Paris", 100, 50), began("Berlin", 200, 20)]);
    assert_eq!(found[1], Decision::Older { by: id(0) });
    assert_eq!(heads(&kept), ["paris"]);
}

#[test]
fn stretches_apart_coexist_and_stretches_that_meet_are_contested() {
    let stretch = |value, start, end| Row { event: Some((start, Some(end))), ..row(value, 100) };
    let (found, kept) = decisions(
        "lives_in",
        Arity::Single,
        &[stretch("Paris", 10, 20), stretch("Berlin", 30, 40), row("Rome", 90), stretch("Oslo", 15, 25)],
    );
    assert_eq!(found[1], Decision::Coexist);
    assert_eq!(found[2], Decision::Coexist, "what ended is history beside what goes on");
    assert_eq!(found[3], Decision::Contest { with: vec![id(0)] });
    assert_eq!(heads(&kept), ["berlin", "oslo", "paris", "rome"]);
    // The same place twice, at two times: two facts.
    let (found, _) = decisions("lives_in", Arity::Single, &[stretch("Paris", 10, 20), stretch("Paris", 30, 40)]);
    assert_eq!(found[1], Decision::Coexist);
}

#[test]
fn one_moment_and_two_values_are_contested_until_somebody_says_more() {
    let (found, mut kept) = decisions("age", Arity::Single, &[row("34", 10), row("35", 10)]);
    assert_eq!(found[1], Decision::Contest { with: vec![id(0)] });
    assert!(kept.0.iter().all(|unit| unit.status == Status::Contested));
    assert_eq!(
        kept.add(unit_of(2, "age", Arity::Single, &row("36", 20))),
        Decision::Supersede { units: vec![id(0), id(1)] }.sorted()
    );
    kept.check_links();
    assert_eq!(heads(&kept), ["36"]);
}

impl Decision {
    fn sorted(mut self) -> Self {
        if let Self::Supersede { units } | Self::Retract { units } = &mut self {
            units.sort_unstable();
        }
        self
    }
}

#[test]
fn sets_add_and_what_is_denied_is_retracted() {
    let not = |value, mentioned| Row { negated: true, ..row(value, mentioned) };
    let (found, kept) = decisions(
        "likes",
        Arity::Set,
        &[row("tea", 10), row("coffee", 20), not("coffee", 30), row("the tea", 40), not("jazz", 50)],
    );
    assert_eq!(found[1], Decision::Coexist);
    assert_eq!(found[2], Decision::Retract { units: vec![id(1)] });
    assert_eq!(found[3], Decision::Same { unit: id(0) });
    assert_eq!(found[4], Decision::Coexist);
    assert_eq!(heads(&kept), ["!coffee", "!jazz", "tea"]);
    // A denial of another value leaves the value alone.
    let (_, kept) = decisions("lives_in", Arity::Single, &[row("Paris", 10), not("Berlin", 20)]);
    assert_eq!(heads(&kept), ["!berlin", "paris"]);
    let (found, kept) = decisions("lives_in", Arity::Single, &[row("Berlin", 10), not("Berlin", 20), row("Paris", 30)]);
    assert_eq!(found[1], Decision::Retract { units: vec![id(0)] });
    assert_eq!(heads(&kept), ["paris"]);
}

#[test]
fn a_date_that_was_moved_takes_the_place_and_the_next_occasion_does_not() {
    let day = 86_400;
    let on = |mentioned, start: i64| Row { event: Some((start, Some(start + day))), ..row("then", mentioned) };
    let (found, _) = decisions("scheduled", Arity::Single, &[on(10, 5 * day), on(20, 8 * day), on(30, 200 * day)]);
    assert_eq!(found[1], Decision::Supersede { units: vec![id(0)] });
    assert_eq!(found[2], Decision::Coexist);
}

#[test]
fn the_same_twice_is_one_unit_with_two_quotes() {
    let mut kept = Kept::default();
    let mut first = unit_of(0, "likes", Arity::Set, &row("tea", 10));
    let evidence = |sequence| crate::unit::Evidence {
        sequence,
        start: 0,
        end: 3,
        digest: loopwright_contract::digest::ContentDigest::of(b"tea"),
        role: Role::User,
        trust: crate::unit::Trust::Stated,
    };
    first.evidence.push(evidence(1));
    let mut second = unit_of(1, "likes", Arity::Set, &row("Tea", 20));
    second.evidence.push(evidence(2));
    kept.add(first);
    kept.add(second.clone());
    kept.add(second);
    assert_eq!(kept.0.len(), 1);
    assert_eq!(kept.0[0].evidence.len(), 2, "no quote twice");
    assert_eq!(kept.0[0].mentioned, at(20));
}

#[test]
fn likeness_decides_nothing() {
    let (found, kept) = decisions("relation", Arity::Set, &[row("Katherine", 10), row("Katharine", 20)]);
    assert_eq!(found[1], Decision::Coexist);
    assert_eq!(kept.0.len(), 2);
}

#[test]
fn what_is_out_of_play_is_left_alone() {
    let mut done = unit_of(0, "lives_in", Arity::Single, &row("Berlin", 10));
    done.status = Status::Redacted;
    let new = unit_of(1, "lives_in", Arity::Single, &row("Paris", 20));
    let reconciled = reconcile(&new, &[&done]);
    assert_eq!((reconciled.decision, reconciled.changes.len()), (Decision::Add, 0));
}

fn rows() -> impl Strategy<Value = Vec<Row>> {
    let value = prop::sample::select(vec!["Berlin", "Paris", "Rome", "berlin"]);
    let event = prop_oneof![
        3 => Just(None),
        1 => (0_i64..60).prop_map(|start| Some((start, None))),
        1 => (0_i64..60, 1_i64..20).prop_map(|(start, length)| Some((start, Some(start + length)))),
    ];
    let row = (value, prop::bool::weighted(0.2), 0_i64..40, event);
    proptest::collection::vec(
        row.prop_map(|(value, negated, mentioned, event)| Row { value, negated, mentioned, event }),
        1..7,
    )
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(1000))]

    #[test]
    fn the_order_of_arrival_changes_no_head(rows in rows(), single in any::<bool>(), seed in any::<u64>(), scheduled in prop::bool::weighted(0.2)) {
        let arity = if single { Arity::Single } else { Arity::Set };
        let predicate = if scheduled { "scheduled" } else { "lives_in" };
        let units: Vec<Unit> = (0..).zip(&rows).map(|(number, row)| unit_of(number, predicate, arity, row)).collect();
        let mut shuffled = units.clone();
        // A shuffle by the seed: Fisher and Yates with a linear congruence.
        let mut state = seed;
        for place in (1..shuffled.len()).rev() {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
            shuffled.swap(place, (state >> 33) as usize % (place + 1));
        }
        let (mut one, mut two) = (Kept::default(), Kept::default());
        units.into_iter().for_each(|unit| { one.add(unit); });
        shuffled.into_iter().for_each(|unit| { two.add(unit); });
        one.check_links();
        two.check_links();
        prop_assert_eq!(one.heads(), two.heads());
    }

    #[test]
    fn adding_what_is_known_changes_nothing(rows in rows()) {
        let mut kept = Kept::default();
        for (number, row) in (0..).zip(&rows) {
            kept.add(unit_of(number, "lives_in", Arity::Single, row));
        }
        let before = kept.heads();
        for unit in kept.0.clone() {
            let known: Vec<&Unit> = kept.0.iter().collect();
            let again = reconcile(&unit, &known);
            let nothing = again.changes.is_empty();
            prop_assert!(nothing, "{:?}", again);
            // The same words once more, as a new unit, go to what is known.
            let mut copy = unit.clone();
            copy.id = id(1_000);
            let copied = reconcile(&copy, &known);
            let same = matches!(copied.decision, Decision::Same { .. });
            prop_assert!(same, "{:?}", copied);
        }
        prop_assert_eq!(kept.heads(), before);
    }

    #[test]
    fn another_key_is_never_touched(rows in rows(), others in rows()) {
        let others: Vec<Unit> = (100..).zip(&others).map(|(number, row)| unit_of(number, "works_at", Arity::Single, row)).collect();
        let mut known: Vec<Unit> = others.clone();
        for (number, row) in (0..).zip(&rows) {
            let new = unit_of(number, "lives_in", Arity::Single, row);
            let reconciled = reconcile(&new, &known.iter().collect::<Vec<_>>());
            for other in &others {
                prop_assert!(!reconciled.changes.contains_key(&other.id));
            }
            known.push(new);
        }
    }
}
