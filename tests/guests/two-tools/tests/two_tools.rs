//! The README example does what it says, in as few lines as it says.

use loopwright_guest_two_tools::Lamp;
use loopwright_sdk::testing::{TestPhone, assert_valid_plugin, specs};
use serde_json::json;

const LINES_MAX: usize = 40;

#[test]
fn the_example_has_at_most_forty_lines() {
    let lines = include_str!("../src/lib.rs").lines().count();
    assert!(lines <= LINES_MAX, "expected at most {LINES_MAX} lines, found {lines}");
}

#[test]
fn the_guided_tour_shows_the_same_program() {
    let tour = include_str!("../../../../sdk/src/lib.rs");
    let shown: String =
        tour.lines().map(|line| line.trim_start_matches("//! ").trim_start_matches("//!").to_owned() + "\n").collect();
    let program: Vec<&str> = include_str!("../src/lib.rs").lines().skip(1).collect();
    assert!(shown.contains(&program.join("\n")), "the tour in the SDK's docs differs from the program");
}

#[test]
fn its_declarations_are_valid_and_in_two_languages() {
    assert_valid_plugin::<Lamp>();
    let specs = specs::<Lamp>();
    assert_eq!(
        specs.pointer("/tools/0/arguments_schema/properties/level"),
        Some(&json!({
            "type": "integer", "minimum": 0, "maximum": 255, "description": "How bright, from 0 (off) to 255.",
        })),
    );
    assert_eq!(specs.pointer("/tools/1/description/zh"), Some(&json!("查询台灯亮度。")));
}

#[test]
fn what_is_set_is_what_is_got() {
    let mut test = TestPhone::new().plugin::<Lamp>();
    let before = test.call("get_lamp", json!({})).unwrap();
    assert_eq!(before.data, json!({"level": 0}));
    test.call("set_lamp", json!({"level": 40})).unwrap();
    let after = test.call("get_lamp", json!({})).unwrap();
    assert_eq!(after.data, json!({"level": 40}));
    assert_eq!(test.document("lamp", "main"), Some(json!({"level": 40})));
}
