//! The notes app as a planner meets it.

use loopwright_sdk::testing::{TestPhone, assert_valid_plugin, specs};
use loopwright_sdk::{Code, Failure, Reply};
use serde_json::{Value, json};

use super::Notes;

fn notes() -> TestPhone {
    let note = |title: &str, body: &str, folder: &str, pinned: bool, updated: &str| {
        json!({
            "title": title, "body": body, "folder": folder, "tags": [], "pinned": pinned,
            "created": "2026-01-01T08:00:00+08:00", "updated": updated,
        })
    };
    TestPhone::new().clock("2026-03-02T09:00:00+08:00").zone("Asia/Shanghai", 8 * 3600).plugin::<Notes>().state(json!({
        "notes": {
            "note-shopping": note("Shopping list", "milk\neggs\nbread", "Notes", true, "2026-01-01T08:00:00+08:00"),
            "note-reading": note("Reading list", "The Art of Computer Programming", "Personal", false, "2026-01-01T08:05:00+08:00"),
        },
    }))
}

fn ok(test: &mut TestPhone, arguments: Value) -> Reply {
    test.call("manage_note", arguments).unwrap()
}

fn refused(test: &mut TestPhone, arguments: Value) -> Failure {
    let before: Vec<_> = test.keys("notes");
    let failure = test.call("manage_note", arguments).unwrap_err();
    assert!(failure.as_fault().is_none(), "{failure}");
    assert_eq!(test.keys("notes"), before);
    failure
}

fn code(failure: &Failure) -> Option<u16> {
    failure.code().map(Code::get)
}

#[test]
fn the_declarations_are_valid_and_in_both_languages() {
    assert_valid_plugin::<Notes>();
    let specs = specs::<Notes>();
    let tool = &specs["tools"][0];
    assert_eq!(tool["name"], "manage_note");
    assert!(tool["description"]["zh"].is_string() && tool["keywords"]["zh"].is_string());
    assert_eq!(
        tool["arguments_schema"]["properties"]["action"]["enum"],
        json!(["create", "update", "append", "delete", "search", "query"])
    );
    let effects: Vec<&Value> = tool["access"].as_array().unwrap().iter().map(|rule| &rule["effect"]).collect();
    assert_eq!(effects, ["read", "destructive", "write"]);
}

#[test]
fn create_gives_an_id_and_stamps_the_note() {
    let mut test = notes();
    let reply = ok(&mut test, json!({"action": "create", "title": "Ideas", "content": "one"}));
    assert_eq!(reply.data["note"]["noteId"], "note-0001");
    assert_eq!(reply.data["changed"], true);
    let stored = test.document("notes", "note-0001").unwrap();
    let expected = json!({
        "title": "Ideas", "body": "one", "folder": "Notes", "tags": [], "pinned": false,
        "created": "2026-03-02T09:00:00+08:00", "updated": "2026-03-02T09:00:00+08:00",
    });
    assert_eq!(stored, expected);
}

#[test]
fn create_refuses_what_is_no_title() {
    let mut test = notes();
    assert_eq!(code(&refused(&mut test, json!({"action": "create", "content": "x"}))), Some(400));
    for title in ["", "  ", "two\nlines", &"x".repeat(201)] {
        let failure = refused(&mut test, json!({"action": "create", "title": title}));
        assert_eq!(code(&failure), Some(400));
        assert!(failure.message().contains("1 to 200"), "{failure}");
    }
    let long = "x".repeat(20_001);
    assert_eq!(code(&refused(&mut test, json!({"action": "create", "title": "t", "content": long}))), Some(429));
}

#[test]
fn a_full_app_takes_no_further_note() {
    let full: serde_json::Map<String, Value> =
        (0..1_000).map(|n| (format!("n{n:04}"), json!({"title": "t", "body": "", "folder": "Notes"}))).collect();
    let mut test = TestPhone::new().state(json!({ "notes": full })).plugin::<Notes>();
    let failure = refused(&mut test, json!({"action": "create", "title": "one more"}));
    assert_eq!(code(&failure), Some(429));
    assert!(failure.message().contains("1000"), "{failure}");
}

#[test]
fn update_changes_what_is_given_and_is_idempotent() {
    let mut test = notes();
    let arguments = json!({"action": "update", "noteId": "note-shopping", "content": "tea", "folder": "Home"});
    let reply = ok(&mut test, arguments.clone());
    assert_eq!(reply.data["changed"], true);
    let stored = test.document("notes", "note-shopping").unwrap();
    assert_eq!(
        (&stored["title"], &stored["body"], &stored["folder"]),
        (&json!("Shopping list"), &json!("tea"), &json!("Home"))
    );
    assert_eq!(stored["updated"], "2026-03-02T09:00:00+08:00");
    let again = ok(&mut test, arguments);
    assert_eq!(again.data["changed"], false);
    assert_eq!(test.document("notes", "note-shopping"), Some(stored));
}

#[test]
fn update_needs_an_id_and_something_new() {
    let mut test = notes();
    assert_eq!(code(&refused(&mut test, json!({"action": "update", "title": "x"}))), Some(400));
    assert_eq!(code(&refused(&mut test, json!({"action": "update", "noteId": "note-shopping"}))), Some(400));
    for (field, value) in [("title", ""), ("folder", " ")] {
        let failure = refused(&mut test, json!({"action": "update", "noteId": "note-shopping", field: value}));
        assert_eq!(code(&failure), Some(400));
    }
}

#[test]
fn an_unknown_note_is_not_found_and_the_known_ones_are_named() {
    let mut test = notes();
    for action in ["update", "append", "delete", "query"] {
        let failure = refused(&mut test, json!({"action": action, "noteId": "note-9", "content": "x"}));
        assert_eq!(code(&failure), Some(404), "{action}");
        assert_eq!(failure.data().unwrap()["allowed"], json!(["note-reading", "note-shopping"]));
    }
    assert_eq!(code(&refused(&mut test, json!({"action": "delete", "noteId": ""}))), Some(404));
    assert_eq!(code(&refused(&mut test, json!({"action": "delete", "title": "shopping list"}))), Some(404));
}

#[test]
fn append_adds_a_line_by_id_or_title() {
    let mut test = notes();
    ok(&mut test, json!({"action": "append", "title": "Shopping list", "content": "jam"}));
    ok(&mut test, json!({"action": "append", "noteId": "note-shopping", "content": "salt"}));
    assert_eq!(test.document("notes", "note-shopping").unwrap()["body"], "milk\neggs\nbread\njam\nsalt");
    ok(&mut test, json!({"action": "create", "title": "Empty"}));
    ok(&mut test, json!({"action": "append", "title": "Empty", "content": "first"}));
    assert_eq!(test.document("notes", "note-0001").unwrap()["body"], "first");
    assert_eq!(code(&refused(&mut test, json!({"action": "append", "title": "Empty"}))), Some(400));
    assert_eq!(code(&refused(&mut test, json!({"action": "append", "content": "x"}))), Some(400));
    let long = "x".repeat(19_999);
    assert_eq!(code(&refused(&mut test, json!({"action": "append", "title": "Empty", "content": long}))), Some(429));
}

#[test]
fn a_title_that_fits_two_notes_is_ambiguous() {
    let mut test = notes();
    ok(&mut test, json!({"action": "create", "title": "Shopping list", "folder": "Party"}));
    let failure = refused(&mut test, json!({"action": "delete", "title": "Shopping list"}));
    assert_eq!(code(&failure), Some(422));
    let ids: Vec<&Value> =
        failure.data().unwrap()["candidates"].as_array().unwrap().iter().map(|one| &one["noteId"]).collect();
    assert_eq!(ids, ["note-0001", "note-shopping"]);
}

#[test]
fn delete_removes_exactly_one_note() {
    let mut test = notes();
    let reply = ok(&mut test, json!({"action": "delete", "title": "Reading list"}));
    assert_eq!(reply.data["note"]["noteId"], "note-reading");
    assert_eq!(test.keys("notes"), ["note-shopping"]);
    assert_eq!(code(&refused(&mut test, json!({"action": "delete"}))), Some(400));
}

#[test]
fn search_finds_parts_in_any_case_and_writes_nothing() {
    let mut test = notes();
    let found = |test: &mut TestPhone, arguments: Value| -> Vec<Value> {
        let reply = ok(test, arguments);
        assert_eq!(reply.data["changed"], false);
        reply.data["notes"].as_array().unwrap().iter().map(|note| note["noteId"].clone()).collect()
    };
    assert_eq!(found(&mut test, json!({"action": "search", "title": "LIST"})), ["note-shopping", "note-reading"]);
    assert_eq!(found(&mut test, json!({"action": "search", "content": "computer"})), ["note-reading"]);
    assert_eq!(found(&mut test, json!({"action": "search", "folder": "Personal"})), ["note-reading"]);
    assert!(found(&mut test, json!({"action": "search", "title": "list", "content": "xyz"})).is_empty());
    assert_eq!(code(&refused(&mut test, json!({"action": "search"}))), Some(400));
}

#[test]
fn query_lists_pinned_then_latest_first() {
    let mut test = notes();
    ok(&mut test, json!({"action": "create", "title": "Newest"}));
    let reply = ok(&mut test, json!({"action": "query"}));
    let ids: Vec<&Value> = reply.data["notes"].as_array().unwrap().iter().map(|note| &note["noteId"]).collect();
    assert_eq!(ids, ["note-shopping", "note-0001", "note-reading"]);
    assert_eq!(reply.data["total"], 3);
    let one = ok(&mut test, json!({"action": "query", "noteId": "note-reading"}));
    assert_eq!(one.data["note"]["title"], "Reading list");
    let folder = ok(&mut test, json!({"action": "query", "folder": "Personal"}));
    assert_eq!(folder.data["total"], 1);
}

#[test]
fn a_long_list_is_cut_and_says_so() {
    let many: serde_json::Map<String, Value> =
        (0..60).map(|n| (format!("n{n:04}"), json!({"title": "t", "body": "", "folder": "Many"}))).collect();
    let mut test = notes().state(json!({ "notes": many }));
    let reply = ok(&mut test, json!({"action": "query", "folder": "Many"}));
    assert_eq!(reply.data["notes"].as_array().unwrap().len(), 50);
    assert_eq!(reply.data["total"], 60);
    assert!(reply.message.contains("first 50"), "{}", reply.message);
}
