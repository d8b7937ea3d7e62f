use loopwright_sdk::testing::{TestPhone, assert_valid_plugin};
use loopwright_sdk::{Code, Date};
use serde_json::{Value, json};

use super::Calendar;
use super::dates::plus_months;

fn phone() -> TestPhone {
    TestPhone::new().plugin::<Calendar>().clock("2026-03-02T09:00:00+08:00").zone("Asia/Shanghai", 8 * 3600)
}

fn data(test: &mut TestPhone, tool: &str, arguments: Value) -> Value {
    let shown = arguments.to_string();
    test.call(tool, arguments).unwrap_or_else(|failure| panic!("{tool} {shown}: {}", failure.message())).data
}

/// The starts of what takes place in a range.
fn starts(test: &mut TestPhone, from: &str, to: &str) -> Vec<String> {
    data(test, "manage_schedule", json!({"action": "query", "dateRange": {"from": from, "to": to}}))["events"]
        .as_array()
        .expect("events")
        .iter()
        .map(|event| event["start"].as_str().expect("a start").to_owned())
        .collect()
}

#[test]
fn the_plugin_is_valid() {
    assert_valid_plugin::<Calendar>();
}

#[test]
fn an_event_is_created_with_its_zone_and_told_of_overlaps() {
    let mut test = phone();
    let first = data(
        &mut test,
        "manage_schedule",
        json!({"action": "create", "event": "Review", "datetime": "2026-03-05T10:00", "attendees": ["Alice Wang"]}),
    );
    assert_eq!(
        (&first["eventId"], &first["end"], &first["conflicts"]),
        (&json!("event-0001"), &json!("2026-03-05T11:00"), &json!([]))
    );
    assert_eq!(test.document("events", "event-0001").expect("the event")["timezone"], json!("Asia/Shanghai"));
    let second = data(
        &mut test,
        "manage_schedule",
        json!({"action": "create", "event": "Dentist", "datetime": "2026-03-05T10:30", "endTime": "2026-03-05T11:30"}),
    );
    assert_eq!(second["conflicts"][0]["title"], json!("Review"));
    let touching = data(
        &mut test,
        "manage_schedule",
        json!({"action": "create", "event": "Lunch", "datetime": "2026-03-05T11:30"}),
    );
    assert_eq!(touching["conflicts"], json!([]));
}

#[test]
fn repetitions_follow_the_calendar() {
    for (repeat, start, from, to, expected) in [
        ("daily", "2026-03-02T08:00", "2026-03-03", "2026-03-04", vec!["2026-03-03T08:00", "2026-03-04T08:00"]),
        ("weekly", "2026-03-02T08:00", "2026-03-03", "2026-03-17", vec!["2026-03-09T08:00", "2026-03-16T08:00"]),
        (
            "weekdays",
            "2026-03-05T08:00",
            "2026-03-05",
            "2026-03-09",
            vec!["2026-03-05T08:00", "2026-03-06T08:00", "2026-03-09T08:00"],
        ),
        (
            "monthly",
            "2026-01-31T08:00",
            "2026-02-01",
            "2026-04-30",
            vec!["2026-02-28T08:00", "2026-03-31T08:00", "2026-04-30T08:00"],
        ),
    ] {
        let mut test = phone();
        data(
            &mut test,
            "manage_schedule",
            json!({"action": "create", "event": "X", "datetime": start, "repeat": repeat}),
        );
        assert_eq!(starts(&mut test, from, to), expected, "{repeat}");
    }
}

#[test]
fn a_repeated_event_changes_only_in_the_stated_scope() {
    let series = || {
        let mut test = phone();
        data(
            &mut test,
            "manage_schedule",
            json!({"action": "create", "event": "Standup", "datetime": "2026-03-02T09:30", "repeat": "daily"}),
        );
        test
    };
    let mut test = series();
    let failure = test
        .call("manage_schedule", json!({"action": "update", "eventId": "event-0001", "datetime": "2026-03-04T10:00"}))
        .expect_err("no scope");
    assert_eq!(failure.code(), Some(Code::BAD_ARGUMENT));
    assert!(failure.message().contains("scope") && failure.message().contains("following"), "{}", failure.message());

    data(
        &mut test,
        "manage_schedule",
        json!({"action": "update", "eventId": "event-0001", "scope": "this", "occurrenceDate": "2026-03-04", "datetime": "2026-03-04T15:00"}),
    );
    assert_eq!(
        starts(&mut test, "2026-03-03", "2026-03-05"),
        ["2026-03-03T09:30", "2026-03-04T15:00", "2026-03-05T09:30"]
    );

    let mut test = series();
    data(
        &mut test,
        "manage_schedule",
        json!({"action": "update", "eventId": "event-0001", "scope": "following", "occurrenceDate": "2026-03-04", "datetime": "2026-03-04T10:00"}),
    );
    assert_eq!(
        starts(&mut test, "2026-03-03", "2026-03-05"),
        ["2026-03-03T09:30", "2026-03-04T10:00", "2026-03-05T10:00"]
    );

    let mut test = series();
    data(
        &mut test,
        "manage_schedule",
        json!({"action": "delete", "eventId": "event-0001", "scope": "this", "occurrenceDate": "2026-03-04"}),
    );
    assert_eq!(starts(&mut test, "2026-03-03", "2026-03-05"), ["2026-03-03T09:30", "2026-03-05T09:30"]);
    data(
        &mut test,
        "manage_schedule",
        json!({"action": "delete", "eventId": "event-0001", "scope": "following", "occurrenceDate": "2026-03-05"}),
    );
    assert_eq!(starts(&mut test, "2026-03-02", "2026-03-08"), ["2026-03-02T09:30", "2026-03-03T09:30"]);
    data(&mut test, "manage_schedule", json!({"action": "delete", "eventId": "event-0001", "scope": "all"}));
    assert!(test.keys("events").is_empty());
}

#[test]
fn free_time_is_what_events_leave() {
    let mut test = phone();
    for (start, end) in [
        ("2026-03-05T09:00", "2026-03-05T10:00"),
        ("2026-03-05T09:30", "2026-03-05T12:00"),
        ("2026-03-05T12:20", "2026-03-05T17:00"),
    ] {
        data(
            &mut test,
            "manage_schedule",
            json!({"action": "create", "event": "X", "datetime": start, "endTime": end}),
        );
    }
    let free = data(
        &mut test,
        "query_free_busy",
        json!({"dateRange": {"from": "2026-03-05", "to": "2026-03-05"}, "minDurationMin": 30}),
    );
    assert_eq!(free["free"], json!([{"date": "2026-03-05", "start": "17:00", "end": "18:00", "minutes": 60}]));
    let short = data(
        &mut test,
        "query_free_busy",
        json!({"dateRange": {"from": "2026-03-05", "to": "2026-03-05"}, "minDurationMin": 15}),
    );
    assert_eq!(short["free"].as_array().map(Vec::len), Some(2));
}

#[test]
fn invitations_are_answered_and_own_events_are_not() {
    let invited = json!({"id": "event-a", "title": "Launch", "start": "2026-03-04T14:00", "end": "2026-03-04T15:00", "timezone": "Asia/Shanghai", "location": null, "attendees": [], "reminder_min": null, "repeat": null, "until": null, "exceptions": [], "response": null, "organizer": "Bob Li", "created": "", "modified": ""});
    let mut test = phone().state(json!({"events": {"event-a": invited}}));
    let arguments = json!({"eventId": "event-a", "response": "decline"});
    assert_eq!(data(&mut test, "respond_calendar_invite", arguments.clone())["changed"], json!(true));
    assert_eq!(data(&mut test, "respond_calendar_invite", arguments)["changed"], json!(false));
    data(&mut test, "manage_schedule", json!({"action": "create", "event": "Own", "datetime": "2026-03-04T14:00"}));
    assert_eq!(
        test.call("respond_calendar_invite", json!({"eventId": "event-0001", "response": "accept"}))
            .expect_err("an own event")
            .code(),
        Some(Code::CONFLICT)
    );
}

#[test]
fn facts_and_date_arithmetic() {
    for (date, query, field, expected) in [
        ("2026-03-02", "weekday", "weekday", json!("Monday")),
        ("2026-05-01", "holiday", "holiday", json!("Labour Day")),
        ("2026-05-02", "holiday", "isHoliday", json!(false)),
        ("2026-05-01", "workday", "isWorkday", json!(false)),
        ("2026-05-09", "workday", "isWorkday", json!(true)),
        ("2026-03-07", "workday", "isWorkday", json!(false)),
    ] {
        assert_eq!(
            data(&mut phone(), "calendar_service", json!({"date": date, "query": query}))[field],
            expected,
            "{date} {query}"
        );
    }
    for (arguments, field, expected) in [
        (json!({"base": "2026-03-02", "offset": 30}), "date", json!("2026-04-01")),
        (json!({"base": "2026-01-31", "offset": 1, "unit": "months"}), "date", json!("2026-02-28")),
        (json!({"base": "2024-02-29", "offset": 1, "unit": "years"}), "date", json!("2025-02-28")),
        (json!({"base": "2026-03-06", "offset": 1, "workdaysOnly": true}), "date", json!("2026-03-09")),
        (json!({"base": "2026-03-02", "other": "2026-12-25"}), "days", json!(298)),
        (json!({"base": "2026-03-09", "other": "2026-03-02", "workdaysOnly": true}), "days", json!(-5)),
    ] {
        assert_eq!(data(&mut phone(), "calculate_date", arguments.clone())[field], expected, "{arguments}");
    }
    let leap = Date::new(2024, 1, 31).expect("a date");
    assert_eq!(plus_months(leap, 1).map(|date| date.to_string()).as_deref(), Some("2024-02-29"));
    assert_eq!(plus_months(leap, -2).map(|date| date.to_string()).as_deref(), Some("2023-11-30"));
}

#[test]
fn refusals_name_the_argument_and_what_is_allowed() {
    for (tool, arguments, code, part) in [
        ("manage_schedule", json!({"action": "create", "datetime": "2026-03-05T10:00"}), Code::BAD_ARGUMENT, "event"),
        ("manage_schedule", json!({"action": "create", "event": "X"}), Code::BAD_ARGUMENT, "datetime"),
        (
            "manage_schedule",
            json!({"action": "create", "event": "X", "datetime": "tomorrow"}),
            Code::BAD_ARGUMENT,
            "YYYY-MM-DDTHH:MM",
        ),
        (
            "manage_schedule",
            json!({"action": "create", "event": "X", "datetime": "2026-03-05T10:00", "endTime": "2026-03-05T09:00"}),
            Code::BAD_ARGUMENT,
            "after 2026-03-05T10:00",
        ),
        ("manage_schedule", json!({"action": "update", "event": "X"}), Code::BAD_ARGUMENT, "eventId"),
        ("manage_schedule", json!({"action": "delete", "eventId": "event-9"}), Code::NOT_FOUND, "event-9"),
        (
            "manage_schedule",
            json!({"action": "query", "dateRange": {"from": "2026-03-05", "to": "2026-03-01"}}),
            Code::BAD_ARGUMENT,
            "dateRange.to",
        ),
        (
            "manage_schedule",
            json!({"action": "query", "dateRange": {"from": "2026-02-30", "to": "2026-03-01"}}),
            Code::BAD_ARGUMENT,
            "dateRange.from",
        ),
        (
            "query_free_busy",
            json!({"dateRange": {"from": "2026-03-01", "to": "2026-06-01"}}),
            Code::BAD_ARGUMENT,
            "30 days",
        ),
        ("calendar_service", json!({"date": "2026-03-02", "query": "lunar"}), Code::UNAVAILABLE, "weekday"),
        ("calculate_date", json!({"base": "2026-03-02"}), Code::BAD_ARGUMENT, "not both"),
        (
            "calculate_date",
            json!({"base": "2026-03-02", "offset": 1, "unit": "weeks", "workdaysOnly": true}),
            Code::BAD_ARGUMENT,
            "days",
        ),
    ] {
        let failure = phone().call(tool, arguments.clone()).expect_err("a refusal");
        assert_eq!(failure.code(), Some(code), "{tool} {arguments}: {}", failure.message());
        assert!(failure.message().contains(part), "{tool} {arguments}: `{}` lacks `{part}`", failure.message());
    }
}
