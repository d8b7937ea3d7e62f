//! What a phone offers besides documents: time, ids, randomness, the log.

use loopwright_sdk::testing::TestPhone;
use loopwright_sdk::{DateTime, Instant, Level, StateError};
use serde_json::{Value, json};

/// Central European summer time of 2026: 2026-03-29T01:00Z to 2026-10-25T01:00Z, by the rule of directive 2000/84/EC.
fn berlin(at: Instant) -> i32 {
    let summer = Instant::parse_rfc3339("2026-03-29T01:00:00Z")..Instant::parse_rfc3339("2026-10-25T01:00:00Z");
    if summer.contains(&Some(at)) { 7200 } else { 3600 }
}

fn moment(local: &str) -> Option<String> {
    let test = TestPhone::new().zone_with("Europe/Berlin", berlin);
    let moment = test.phone().moment(DateTime::parse(local)?)?;
    Some(moment.to_rfc3339(0))
}

#[test]
fn a_clock_reading_becomes_a_moment_by_the_offset_of_its_day() {
    assert_eq!(moment("2026-01-15T12:00").as_deref(), Some("2026-01-15T11:00:00Z"));
    assert_eq!(moment("2026-07-15T12:00").as_deref(), Some("2026-07-15T10:00:00Z"));
    assert_eq!(moment("2026-03-29T01:59:59").as_deref(), Some("2026-03-29T00:59:59Z"));
    assert_eq!(moment("2026-03-29T03:00").as_deref(), Some("2026-03-29T01:00:00Z"));
}

#[test]
fn a_reading_that_occurs_twice_is_the_earlier_and_a_skipped_one_moves_on() {
    assert_eq!(moment("2026-10-25T02:30").as_deref(), Some("2026-10-25T00:30:00Z"));
    assert_eq!(moment("2026-10-25T03:00").as_deref(), Some("2026-10-25T02:00:00Z"));
    assert_eq!(moment("2026-03-29T02:30").as_deref(), Some("2026-03-29T01:30:00Z"));
}

#[test]
fn a_reading_outside_the_clock_is_no_moment() {
    assert_eq!(moment("1969-12-01T00:00"), None);
    assert_eq!(moment("9999-12-31T00:00"), None);
}

#[test]
fn ids_count_for_each_prefix() {
    let test = TestPhone::new();
    let mut phone = test.phone();
    let ids = ["note", "alarm", "note"].map(|prefix| phone.next_id(prefix));
    assert_eq!(ids, ["note-0001", "alarm-0001", "note-0002"]);
}

#[test]
fn the_same_seed_gives_the_same_numbers() {
    let draw = |seed| {
        let test = TestPhone::new().seed(seed);
        let mut phone = test.phone();
        [phone.random(), phone.random()]
    };
    assert_eq!(draw(7), draw(7));
    assert_ne!(draw(7), draw(8));
    // The first two numbers of SplitMix64 from 0, as its authors' reference code prints them.
    assert_eq!(draw(0), [0xe220_a839_7b1d_cdaf, 0x6e78_9e6a_a1b9_65f4]);
}

#[test]
fn lines_and_facts_reach_the_world() {
    let test = TestPhone::new().clock("2026-03-02T09:00:00+08:00").zone("Asia/Shanghai", 28_800);
    let phone = test.phone();
    phone.log(Level::Warn, "odd");
    assert_eq!(test.log(), [(Level::Warn, "odd".to_owned())]);
    assert_eq!(phone.zone(), "Asia/Shanghai");
    assert_eq!(phone.now().to_rfc3339(phone.offset_s(phone.now())), "2026-03-02T09:00:00+08:00");
}

#[test]
fn many_documents_come_in_the_order_of_their_keys() {
    let test = TestPhone::new().state(json!({"a": {"x": 1}, "b": {"y": 2}}));
    let found = test.phone().get_many::<u8>(&[("b", "y"), ("a", "nope"), ("a", "x")]);
    assert_eq!(found, Ok(vec![Some(2), None, Some(1)]));
    let many = vec![("a", "x"); 257];
    assert!(matches!(test.phone().get_many::<u8>(&many), Err(StateError::Limit(_))));
}

#[test]
fn all_pages_of_a_query_are_read() {
    let documents: serde_json::Map<String, Value> = (0..600).map(|n| (format!("k{n:04}"), json!({ "n": n }))).collect();
    let test = TestPhone::new().state(json!({ "many": documents }));
    let found = test.phone().find_all::<Value>("many", &loopwright_sdk::Query::new().ge("/n", 100)).unwrap();
    assert_eq!(found.len(), 500);
    assert_eq!(found.last().map(|doc| doc.key.as_str()), Some("k0599"));
}

#[test]
fn matches_are_counted_and_named_without_reading_them() {
    let test = TestPhone::new().state(json!({"a": {"x": 1, "y": "two", "z": {"n": 3}}}));
    let query = loopwright_sdk::Query::new();
    assert_eq!(test.phone().count("a", &query), Ok(3));
    assert_eq!(test.phone().count("a", &query.clone().present("/n")), Ok(1));
    assert_eq!(test.phone().keys("a", &query.limit(2)), Ok(vec!["x".to_owned(), "y".to_owned()]));
}

#[test]
fn a_merge_changes_the_fields_that_it_names() {
    let test = TestPhone::new().state(json!({"a": {"x": {"n": 1, "m": 2}}}));
    test.phone().patch("a", "x", &json!({"n": null, "k": 3})).unwrap();
    assert_eq!(test.document("a", "x"), Some(json!({"m": 2, "k": 3})));
    let missing = test.phone().patch("a", "y", &json!({}));
    assert!(matches!(missing, Err(StateError::NotFound { key, .. }) if key == "y"));
}

#[test]
fn an_update_writes_only_what_differs() {
    let test = TestPhone::new().state(json!({"a": {"x": 1}}));
    let mut phone = test.phone();
    let same = phone.update("a", "x", |_: &mut u8| Ok(())).unwrap();
    assert_eq!((same.changed, same.value), (false, 1));
    let more = phone
        .update("a", "x", |n: &mut u8| {
            *n += 1;
            Ok(())
        })
        .unwrap();
    assert_eq!((more.changed, more.value), (true, 2));
    assert_eq!(test.document("a", "x"), Some(json!(2)));
    let none = phone.update("a", "y", |_: &mut u8| Ok(())).unwrap_err();
    assert!(none.as_fault().is_some());
}
