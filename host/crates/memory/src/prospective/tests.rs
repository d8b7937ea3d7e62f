//! Reminders in four zones and across changes of the clock.

use jiff::civil::{DateTime, date};
use loopwright_contract::memory::Role;

use super::*;
use crate::extract::extract;
use crate::id::RootKey;
use crate::message::{Message, Place};
use crate::moment::Zone;
use crate::names::KnownNames;
use crate::unit::{Sequence, Status};
use crate::verify::{Captures, verify};

struct One(Message);

impl Captures for One {
    fn message(&self, _: Sequence) -> Option<&Message> {
        Some(&self.0)
    }
}

fn moment(civil: DateTime, zone: &str) -> Moment {
    Moment::of_civil(civil, Zone::new(zone).expect("a zone")).expect("in range")
}

/// The to-do that a message makes.
fn item(number: u64, text: &str, said: &Moment) -> Unit {
    let place =
        Place { dialogue: "d".into(), session: "s".into(), position: 0, speaker: "Lin".into(), role: Role::User };
    let message = Message { place, text: text.to_owned(), mentioned: said.clone() };
    let proposal = extract(&message, &KnownNames::new()).into_iter().find(|one| one.activation.is_some());
    let proposal = proposal.unwrap_or_else(|| panic!("{text}: no to-do"));
    let verified = verify(proposal, 1, &One(message.clone())).expect("verified");
    verified.into_unit(UnitId::of(&RootKey::new([5; 32]), number), &message, said.clone(), None)
}

fn serves(unit: &Unit, now: &Moment) -> bool {
    due(&[unit], now, &Occasion::default()).serve == [unit.id]
}

/// Said at `said`, due from `from` on, and not a second before.
fn check(text: &str, zone: &str, said: DateTime, from: DateTime) {
    let unit = item(0, text, &moment(said, zone));
    let from = moment(from, zone);
    let before = Moment::new(from.seconds() - 1, from.zone().clone()).expect("in range");
    assert!(!serves(&unit, &before), "{text} in {zone}: too early");
    assert!(serves(&unit, &from), "{text} in {zone}: {:?}", unit.activation);
}

#[test]
fn items_fall_due_in_the_zone_they_were_said_in() {
    for zone in ["Asia/Shanghai", "America/Los_Angeles", "Pacific/Apia", "UTC"] {
        let said = date(2025, 3, 4).at(21, 30, 0, 0);
        check("Remind me tomorrow at 9 to water the plants.", zone, said, date(2025, 3, 5).at(9, 0, 0, 0));
        check("提醒我明天早上八点吃药。", zone, said, date(2025, 3, 5).at(8, 0, 0, 0));
        check("Remind me to renew my visa on Friday.", zone, said, date(2025, 3, 7).at(0, 0, 0, 0));
        check("Remind me in 20 minutes to check the oven.", zone, said, date(2025, 3, 4).at(21, 50, 0, 0));
    }
}

#[test]
fn a_change_of_the_clock_between_does_not_move_them() {
    // The clocks go forward at 02:00 on 9 March 2025, and back at 02:00 on 2 November.
    let zone = "America/Los_Angeles";
    check(
        "Remind me tomorrow at 9 am to call mum.",
        zone,
        date(2025, 3, 8).at(20, 0, 0, 0),
        date(2025, 3, 9).at(9, 0, 0, 0),
    );
    check(
        "Remind me tomorrow at 9 am to call mum.",
        zone,
        date(2025, 11, 1).at(20, 0, 0, 0),
        date(2025, 11, 2).at(9, 0, 0, 0),
    );
    // 02:30 does not exist on that day: it is read with the offset before, 03:30.
    check(
        "Remind me tomorrow at 2:30 am to stop the backup.",
        zone,
        date(2025, 3, 8).at(20, 0, 0, 0),
        date(2025, 3, 9).at(3, 30, 0, 0),
    );
    // Apia skipped 30 December 2011.
    check(
        "Remind me on December 31 to call home.",
        "Pacific/Apia",
        date(2011, 12, 29).at(12, 0, 0, 0),
        date(2011, 12, 31).at(0, 0, 0, 0),
    );
    let apart = moment(date(2025, 3, 9).at(9, 0, 0, 0), zone).seconds()
        - moment(date(2025, 3, 8).at(9, 0, 0, 0), zone).seconds();
    assert_eq!(apart, 23 * 3_600);
}

#[test]
fn an_item_fires_once() {
    let said = moment(date(2025, 3, 4).at(10, 0, 0, 0), "UTC");
    let mut unit = item(0, "Remind me tomorrow at 9 to water the plants.", &said);
    let now = moment(date(2025, 3, 5).at(9, 30, 0, 0), "UTC");
    let first = due(&[&unit], &now, &Occasion::default());
    assert_eq!(first.events, [ItemEvent::Fired { unit: unit.id, at: now.clone() }]);
    let just_fired = [unit.id];
    assert_eq!(due(&[&unit], &now, &Occasion { just_fired: &just_fired, situation: None }), Due::default());
    unit.activation.as_mut().expect("an activation").fired = Some(now.clone());
    assert_eq!(due(&[&unit], &now, &Occasion::default()), Due::default());
}

#[test]
fn what_is_done_over_or_stale_does_not_fire() {
    let said = moment(date(2025, 3, 4).at(10, 0, 0, 0), "UTC");
    let later = moment(date(2025, 3, 12).at(9, 0, 0, 0), "UTC");
    let mut done = item(0, "Remind me tomorrow to call Anna.", &said);
    done.activation.as_mut().expect("an activation").completed = Some(said.clone());
    assert_eq!(due(&[&done], &later, &Occasion::default()), Due::default());
    let over = item(1, "Remind me to ask about the refund until March 10.", &said);
    assert_eq!(
        due(&[&over], &later, &Occasion::default()).events,
        [ItemEvent::Expired { unit: over.id, at: later.clone() }]
    );
    let late = item(2, "Remind me tomorrow to call Anna.", &said);
    assert!(serves(&late, &later), "a week late is late, not over");
    let month = moment(date(2025, 4, 20).at(9, 0, 0, 0), "UTC");
    assert_eq!(
        due(&[&late], &month, &Occasion::default()).events,
        [ItemEvent::Expired { unit: late.id, at: month.clone() }]
    );
    let mut shown = item(4, "Remind me tomorrow to call Anna.", &said);
    shown.activation.as_mut().expect("an activation").fired = Some(later.clone());
    assert_eq!(
        due(&[&shown], &month, &Occasion::default()).events,
        [ItemEvent::Expired { unit: shown.id, at: month.clone() }],
        "it is not served for ever"
    );
    let mut retired = item(3, "Remind me tomorrow to call Anna.", &said);
    retired.status = Status::Superseded;
    assert_eq!(due(&[&retired], &later, &Occasion::default()), Due::default());
}

#[test]
fn conditions_wait_for_their_situation() {
    let said = moment(date(2025, 3, 4).at(10, 0, 0, 0), "UTC");
    for (text, meets, not) in [
        ("When I get home, remind me to feed the cat.", "I'm home now", "I'm at the office"),
        ("Remind me to take an umbrella if it rains.", "It is raining outside", "What a sunny day"),
        ("到家的时候提醒我喂猫。", "我到家了", "我在公司"),
        ("如果下雨，提醒我带伞。", "外面下雨了", "今天是晴天"),
    ] {
        let unit = item(0, text, &said);
        let serve = |situation| due(&[&unit], &said, &Occasion { situation, just_fired: &[] }).serve.len();
        assert_eq!((serve(Some(meets)), serve(Some(not)), serve(None)), (1, 0, 0), "{text}: {:?}", unit.activation);
    }
    // Without a date and a condition it waits to be asked for.
    let bare = item(1, "Remind me to buy milk.", &said);
    assert_eq!(due(&[&bare], &said, &Occasion::default()), Due::default());
}

#[test]
fn what_is_due_comes_in_order_and_bounded() {
    let said = moment(date(2025, 3, 4).at(10, 0, 0, 0), "UTC");
    let units: Vec<Unit> =
        (0..FIRED_MAX as u64 + 8).map(|number| item(number, "Remind me tomorrow to call Anna.", &said)).collect();
    let first = item(999, "Remind me today at 11 to call Bob.", &said);
    let all: Vec<&Unit> = units.iter().chain([&first]).collect();
    let found = due(&all, &moment(date(2025, 3, 6).at(0, 0, 0, 0), "UTC"), &Occasion::default());
    assert_eq!(found.serve.len(), FIRED_MAX);
    assert_eq!(found.serve.first(), Some(&first.id));
}

#[test]
fn a_report_completes_the_one_item_that_it_names() {
    let said = moment(date(2025, 3, 4).at(10, 0, 0, 0), "UTC");
    let hotel = item(0, "Remind me to book the hotel in Rome.", &said);
    let flight = item(1, "Remind me to book the flight to Rome.", &said);
    let rent = item(2, "提醒我明天交房租。", &said);
    let all = [&hotel, &flight, &rent];
    assert_eq!(completed_by("booked the hotel in Rome", &all), Some(hotel.id));
    assert_eq!(completed_by("把房租交", &all), Some(rent.id));
    assert_eq!(completed_by("fed the cat", &all), None);
    assert_eq!(completed_by("booked everything for Rome", &all), None, "it may be either");
}
