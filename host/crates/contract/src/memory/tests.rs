use std::collections::BTreeMap;

use serde_json::json;

use super::*;
use crate::action::{Action, reserved};
use crate::environment::Reply;
use crate::name::{CallId, MemoryId};
use crate::state::StateError;

#[derive(Debug, Clone, Default)]
struct Table {
    records: BTreeMap<MemoryId, MemoryRecord>,
    issued: usize,
}

impl MemoryTable for Table {
    fn records(&self) -> Result<BTreeMap<MemoryId, MemoryRecord>, StateError> {
        Ok(self.records.clone())
    }

    fn put(&mut self, record: &MemoryRecord) -> Result<(), StateError> {
        self.records.insert(record.id.clone(), record.clone());
        Ok(())
    }

    fn remove(&mut self, id: &MemoryId) -> Result<(), StateError> {
        self.records.remove(id);
        Ok(())
    }

    fn next_id(&mut self) -> Result<MemoryId, StateError> {
        self.issued += 1;
        MemoryId::new(format!("memory-{:04}", self.issued)).map_err(|error| StateError::Other(error.to_string()))
    }

    fn issued(&self) -> usize {
        self.issued
    }
}

fn time(text: &str) -> CivilTime {
    CivilTime::new(text).expect("a time")
}

fn id(text: &str) -> MemoryId {
    MemoryId::new(text).expect("an id")
}

fn now() -> CivilTime {
    time("2026-03-02T09:00:00")
}

fn record(key: &str, content: &str) -> MemoryRecord {
    let document = json!({"id": key, "layer": "long_term", "content": content, "source": "user",
        "created": "2026-02-01T08:00:00", "updated": "2026-02-01T08:00:00"});
    record_of(key, document).expect("a record")
}

fn table(records: Vec<MemoryRecord>) -> Table {
    Table { records: records.into_iter().map(|record| (record.id.clone(), record)).collect(), issued: 0 }
}

fn run(table: &mut Table, action: &Action, confirmed: bool) -> Reply {
    let write_of = MemoryWrite::of(action).expect("a write");
    write(table, &write_of, &now(), confirmed).expect("the table works")
}

fn remember(content: &str) -> Action {
    Action::Remember { content: content.to_owned(), category: None, title: None, tags: Vec::new(), valid_until: None }
}

fn code(reply: &Reply) -> u16 {
    match reply {
        Reply::Done(_) => 200,
        Reply::Failed(failure) | Reply::NeedsConfirmation(failure) => failure.code,
    }
}

#[test]
fn times_are_read_or_refused() {
    for (text, expected) in [
        ("2026-03-02T09:00", "2026-03-02T09:00:00"),
        ("2026-03-02T09:00:07", "2026-03-02T09:00:07"),
        (" 2024-02-29T00:00 ", "2024-02-29T00:00:00"),
        ("2000-02-29T00:00", "2000-02-29T00:00:00"),
    ] {
        assert_eq!(CivilTime::new(text).map(String::from), Ok(expected.to_owned()), "{text}");
    }
    assert_eq!(CivilTime::until("2026-03-31").map(String::from), Ok("2026-03-31T23:59:59".to_owned()));
    for text in [
        "",
        "2026-03-02",
        "2026-02-31T00:00",
        "2026-02-29T00:00",
        "1900-02-29T00:00",
        "2026-13-01T00:00",
        "2026-00-01T00:00",
        "2026-04-31T00:00",
        "2026-03-02T24:00",
        "2026-03-02T09:60",
        "2026-03-02T09:00:60",
        "2026-03-02T09:00+08:00",
        "2026-03-02T09:00Z",
        "2026-3-2T09:00",
        "2026-03-02T9:00",
        "2026-03-02 09:00",
        "2026-03-02T09:00:00.5",
        "２026-03-02T09:00",
    ] {
        assert!(CivilTime::new(text).is_err(), "`{text}` was read");
    }
    assert!(CivilTime::until("2026-02-31").is_err());
    let shown = "2026-03-02T09:00:00.25+08:00[Asia/Shanghai]";
    assert_eq!(CivilTime::of_clock(shown), Ok(now()));
    assert!(time("2026-03-02T09:00") < time("2026-03-02T09:00:01"));
}

#[test]
fn a_record_is_its_document_and_reads_back() {
    let mut whole = record("m-7", "likes tea");
    whole.category = Some("user_profile".to_owned());
    whole.tags = vec!["tea".to_owned()];
    whole.due = Some(time("2026-03-02T10:00"));
    whole.superseded_by = Some(id("m-8"));
    whole.claim = Some("drink".to_owned());
    assert_eq!(record_of("m-7", whole.document()), Ok(whole.clone()));
    assert!(matches!(record_of("m-8", whole.document()), Err(RecordError::Key { .. })));
    let mut strange = whole.document();
    strange["colour"] = json!("red");
    assert!(matches!(record_of("m-7", strange), Err(RecordError::Form { .. })));
    for (field, value) in [
        ("content", json!("")),
        ("content", json!("x".repeat(4097))),
        ("category", json!("x".repeat(65))),
        ("title", json!("x".repeat(257))),
        ("tags", json!(vec!["x"; 17])),
        ("tags", json!(["x".repeat(65)])),
    ] {
        let mut long = whole.document();
        long[field] = value;
        assert!(matches!(record_of("m-7", long), Err(RecordError::Length { .. })), "{field}");
    }
    assert_eq!(
        record("m-7", "likes tea").document(),
        json!({"id": "m-7", "layer": "long_term", "content": "likes tea", "source": "user",
            "created": "2026-02-01T08:00:00", "updated": "2026-02-01T08:00:00"})
    );
}

#[test]
fn what_no_longer_holds_is_not_current() {
    let base = record("m-1", "a");
    let until = |text: &str| MemoryRecord { valid_until: Some(time(text)), ..base.clone() };
    for (changed, expected) in [
        (base.clone(), RecordStatus::Current),
        (until("2026-03-02T09:00:00"), RecordStatus::Current),
        (until("2026-03-02T08:59:59"), RecordStatus::Expired),
        (MemoryRecord { completed: true, ..base.clone() }, RecordStatus::Completed),
        (MemoryRecord { superseded_by: Some(id("m-2")), ..until("2020-01-01T00:00") }, RecordStatus::Superseded),
    ] {
        assert_eq!(changed.status(&now()), expected);
    }
}

#[test]
fn adding_keeps_once_and_within_limits() {
    let mut memory = table(Vec::new());
    assert_eq!(code(&run(&mut memory, &remember(" likes tea "), false)), 200);
    let again = run(&mut memory, &remember("likes tea"), false);
    assert_eq!(again.envelope().pointer("/data"), Some(&json!({"memoryId": "memory-0001", "changed": false})));
    assert_eq!(memory.records.len(), 1);
    let past = Action::Remember {
        content: "x".to_owned(),
        category: None,
        title: None,
        tags: Vec::new(),
        valid_until: Some(time("2026-03-01T00:00")),
    };
    assert_eq!(code(&run(&mut memory, &past, false)), 400);
    assert_eq!(code(&run(&mut memory, &remember("  "), false)), 400);
    for number in 1..ADDED_MAX {
        assert_eq!(code(&run(&mut memory, &remember(&format!("fact {number}")), false)), 200, "{number}");
    }
    assert_eq!(code(&run(&mut memory, &remember("one more"), false)), 429);
    assert_eq!(memory.records.len(), ADDED_MAX);
}

#[test]
fn replacing_marks_the_old_one_and_takes_over_what_still_holds() {
    let mut old = record("m-1", "parks on level 3");
    old.claim = Some("parking".to_owned());
    old.valid_until = Some(time("2026-03-01T00:00"));
    let mut memory = table(vec![old, record("m-2", "likes tea")]);
    let replace = |memory: &str| Action::Replace { memory: id(memory), content: "parks on level 5".to_owned() };
    let reply = run(&mut memory, &replace("m-1"), false);
    assert_eq!(
        reply.envelope().pointer("/data"),
        Some(&json!({"memoryId": "memory-0001", "replaced": "m-1", "changed": true}))
    );
    let new = &memory.records["memory-0001"];
    assert_eq!((new.claim.as_deref(), &new.valid_until, &new.supersedes), (Some("parking"), &None, &Some(id("m-1"))));
    assert_eq!(memory.records["m-1"].superseded_by, Some(id("memory-0001")));
    assert_eq!(memory.records["m-2"], record("m-2", "likes tea"));
    assert_eq!(code(&run(&mut memory, &replace("m-1"), false)), 409);
    assert_eq!(code(&run(&mut memory, &replace("m-9"), false)), 404);
}

#[test]
fn removing_waits_for_the_user_and_removes_one() {
    let mut memory = table(vec![record("m-1", "a"), record("m-2", "b")]);
    let forget = Action::Forget { memory: id("m-1"), call: None };
    let asked = run(&mut memory, &forget, false);
    assert!(matches!(&asked, Reply::NeedsConfirmation(failure) if failure.code == 423), "{asked:?}");
    assert_eq!(memory.records.len(), 2);
    assert_eq!(code(&run(&mut memory, &forget, true)), 200);
    assert_eq!(memory.records.keys().map(MemoryId::as_str).collect::<Vec<_>>(), ["m-2"]);
    assert_eq!(code(&run(&mut memory, &forget, true)), 404);
    let named = Action::Forget { memory: id("m-2"), call: CallId::new("c4").ok() };
    let call = named.confirmable().expect("it has an id");
    assert_eq!((call.tool.as_str(), &call.arguments), (reserved::FORGET, &json!({"memoryId": "m-2"})));
    assert_eq!(forget.confirmable(), None);
}

#[test]
fn what_is_due_fires_once() {
    let due = |key: &str, due: &str| MemoryRecord { due: Some(time(due)), ..record(key, key) };
    let mut expired = due("m-3", "2026-03-01T08:00");
    expired.valid_until = Some(time("2026-03-01T23:59"));
    let mut done = due("m-4", "2026-03-01T08:00");
    done.completed = true;
    let mut memory = table(vec![due("m-1", "2026-03-02T09:00"), due("m-2", "2026-03-02T08:00"), expired, done]);
    memory.put(&due("m-5", "2026-03-02T09:00:01")).expect("a table");
    let fired = |memory: &mut Table, now: &str| -> Vec<String> {
        remind(memory, &time(now)).expect("a table").iter().map(|record| record.id.to_string()).collect()
    };
    assert_eq!(fired(&mut memory, "2026-03-02T09:00"), ["m-2", "m-1"]);
    assert_eq!(fired(&mut memory, "2026-03-02T09:00"), Vec::<String>::new());
    assert_eq!(fired(&mut memory, "2026-03-02T09:00:30"), ["m-5"]);
    let many = (0..REMINDERS_MAX + 3).map(|number| due(&format!("n-{number:02}"), "2026-03-02T08:00")).collect();
    let mut memory = table(many);
    assert_eq!(fired(&mut memory, "2026-03-02T09:00").len(), REMINDERS_MAX);
    assert_eq!(fired(&mut memory, "2026-03-02T09:00").len(), 3);
}

#[test]
fn actions_of_older_records_read_and_write_as_they_were() {
    for text in [
        r#"{"action":"recall","limit":3,"query":"car"}"#,
        r#"{"action":"remember","category":null,"content":"likes tea"}"#,
        r#"{"action":"remember","category":"a","content":"b","tags":["c"],"title":"d","valid_until":"2026-03-02T09:00:00"}"#,
        r#"{"action":"recall","category":"a","limit":3,"mode":"time","query":"car"}"#,
        r#"{"action":"replace","content":"b","memory":"m-1"}"#,
        r#"{"action":"forget","memory":"m-1"}"#,
        r#"{"action":"forget","call":"c1","memory":"m-1"}"#,
    ] {
        let action: Action = serde_json::from_str(text).expect("an action");
        assert_eq!(crate::json::canonical_of(&action).expect("JSON"), text);
    }
}

#[test]
fn short_names_stand_for_whole_ones_and_all_are_reserved() {
    for (short, full) in reserved::ALIASES {
        assert_eq!(reserved::full(short), full);
        assert!(reserved::NAMES.contains(&short) && reserved::NAMES.contains(&full));
    }
    assert_eq!(reserved::full("ask_user"), "ask_user");
}
