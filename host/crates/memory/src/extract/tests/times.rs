//! When things happen: against the message's moment and zone.

use super::*;
use crate::moment::Granularity;

/// The event of the first proposal: its start and end on the wall, and how exactly it was said.
fn event(text: &str) -> Option<(String, Option<String>, Granularity)> {
    let message = said(Role::User, text);
    let found = extract(&message, &KnownNames::new());
    let event = found.first().unwrap_or_else(|| panic!("{text}: nothing was found")).event.clone()?;
    let zone = event.start.zone().clone();
    let end = event.end.map(|end| Moment::new(end, zone).expect("in range").civil().to_string());
    Some((event.start.civil().to_string(), end, event.granularity))
}

fn check(rows: &[(&str, &str, Option<&str>, Granularity)]) {
    for (text, start, end, granularity) in rows {
        let expected = (format!("{start}:00"), end.map(|end| format!("{end}:00")), *granularity);
        assert_eq!(event(text), Some(expected), "{text}");
    }
}

#[test]
fn reports_lie_in_the_past_and_plans_in_the_future() {
    check(&[
        ("I went to a concert on Friday.", "2025-02-28T00:00", Some("2025-03-01T00:00"), Granularity::Day),
        ("I have a dentist appointment on Friday.", "2025-03-07T00:00", Some("2025-03-08T00:00"), Granularity::Day),
        ("I got married in 2019.", "2019-01-01T00:00", Some("2020-01-01T00:00"), Granularity::Year),
        ("我昨天参加了同学聚会。", "2025-03-03T00:00", Some("2025-03-04T00:00"), Granularity::Day),
        ("我明天下午三点有个面试。", "2025-03-05T15:00", Some("2025-03-05T15:01"), Granularity::Minute),
        (
            "Remind me tomorrow at 9 to water the plants.",
            "2025-03-05T09:00",
            Some("2025-03-05T09:01"),
            Granularity::Minute,
        ),
        ("I lived in Paris from 2015 to 2018.", "2015-01-01T00:00", Some("2019-01-01T00:00"), Granularity::Year),
        ("We're flying to Rome from June 3 to June 9.", "2025-06-03T00:00", Some("2025-06-10T00:00"), Granularity::Day),
    ]);
}

#[test]
fn what_goes_on_has_a_start_and_no_end() {
    check(&[
        ("I moved to Berlin last month.", "2025-02-01T00:00", None, Granularity::Open),
        ("I've lived in Lisbon since 2021.", "2021-01-01T00:00", None, Granularity::Open),
        ("I'm moving to Oslo next year.", "2026-01-01T00:00", None, Granularity::Open),
        ("我上个月搬到了深圳。", "2025-02-01T00:00", None, Granularity::Open),
    ]);
    assert_eq!(event("I live in Berlin."), None);
}

#[test]
fn a_day_that_does_not_exist_gives_no_time_and_says_so() {
    for (text, date) in [
        ("I have a meeting on February 31.", "February 31"),
        ("Remind me on 2025-02-30 to call Anna.", "2025-02-30"),
        ("我2月30日有个面试。", "2月30日"),
        ("My birthday is February 30.", "February 30"),
    ] {
        let found = extract(&said(Role::User, text), &KnownNames::new());
        let first = found.first().unwrap_or_else(|| panic!("{text}: the claim is gone"));
        assert_eq!(first.event, None, "{text}");
        let reason = &first.confidence.reason;
        assert!(reason.contains(&format!("there is no `{date}`")), "{text}: {reason}");
    }
}

#[test]
fn a_zone_that_is_named_counts_and_two_give_no_time() {
    assert_eq!(
        event("I have a call tomorrow at 9 am Pacific time.").map(|(start, ..)| start),
        Some("2025-03-04T09:00:00".to_owned()),
        "it is 3 March, 18:20, in Los Angeles"
    );
    let found =
        extract(&said(Role::User, "I have a call tomorrow at 9 am London time, 9 am Tokyo time."), &KnownNames::new());
    let first = found.first().expect("the call");
    assert!(first.event.is_none() && first.confidence.reason.contains("two time zones"), "{first:?}");
}

#[test]
fn what_a_to_do_waits_for_is_kept() {
    let activation = |text: &str| {
        let found = extract(&said(Role::User, text), &KnownNames::new());
        found.into_iter().find_map(|proposal| proposal.activation).unwrap_or_else(|| panic!("{text}: no to-do"))
    };
    for (text, condition) in [
        ("When I get home, remind me to feed the cat.", "When I get home"),
        ("Remind me to take an umbrella if it rains.", "if it rains"),
        ("到家的时候提醒我喂猫。", "到家的时候"),
        ("如果下雨，提醒我带伞。", "如果下雨"),
    ] {
        let activation = activation(text);
        assert_eq!((activation.condition.as_deref(), activation.due), (Some(condition), None), "{text}");
    }
    let until = activation("Remind me to ask about the refund until March 10.");
    assert_eq!(until.valid_until.map(|moment| moment.civil().to_string()), Some("2025-03-11T00:00:00".to_owned()));
}

#[test]
fn known_names_have_claims_of_their_own_and_other_speakers_too() {
    let mut known = KnownNames::new();
    known.add("Anna Weber", &["Anna"]);
    let text = "Anna lives in Vienna.";
    let found = extract(&said(Role::User, text), &known);
    let claims: Vec<String> = found.iter().map(|proposal| summary(&said(Role::User, text), proposal)).collect();
    assert_eq!(claims, ["anna weber:lives_in=Vienna"]);
    let found = extract(&said(Role::Other, "I live in Vienna."), &known);
    assert_eq!(found.first().and_then(|one| one.claim.clone()).map(|claim| claim.key.subject), Some("lin".to_owned()));
    for role in [Role::Assistant, Role::Tool, Role::System, Role::Memory] {
        assert!(extract(&said(role, "I live in Vienna. My name is Bob."), &known).is_empty(), "{role:?}");
    }
}
