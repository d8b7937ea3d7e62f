//! `bench hostile`, from a folder that holds nothing.

use std::process::Command;

use serde_json::Value;

use crate::binary;

fn hostile(arguments: &[&str]) -> (Option<i32>, String) {
    let nowhere = tempfile::tempdir().unwrap();
    let output =
        Command::new(binary()).current_dir(nowhere.path()).args(["bench", "hostile"]).args(arguments).output().unwrap();
    let errors = String::from_utf8(output.stderr).unwrap();
    assert!(!errors.contains("panicked"), "{errors}");
    assert_eq!(std::fs::read_dir(nowhere.path()).unwrap().count(), 0, "it left something behind");
    (output.status.code(), String::from_utf8(output.stdout).unwrap())
}

#[test]
fn every_guest_is_contained() {
    let (code, text) = hostile(&["--json"]);
    let rows: Vec<Value> = serde_json::from_str(&text).unwrap();
    assert_eq!(rows.len(), loopwright_testkit::guests::hostile::rows().unwrap().len());
    for row in &rows {
        assert_eq!(row["seen"], row["expected"], "{row}");
        assert!(
            row["contained"] == true && row["ms"].as_f64().is_some_and(|ms| ms > 0.0) && row["guest"].is_string(),
            "{row}"
        );
        assert_eq!(row.as_object().unwrap().len(), 5, "{row}");
    }
    assert_eq!(code, Some(0));
}

#[test]
fn people_get_a_table() {
    let (code, text) = hostile(&["--filter", "recursion"]);
    assert_eq!(code, Some(0));
    let (head, row) = (text.lines().next().unwrap(), text.lines().nth(1).unwrap());
    assert!(["guest", "expected", "seen", "time"].iter().all(|word| head.contains(word)), "{text}");
    assert!(row.starts_with("recursion") && row.contains("stack") && row.contains("contained"), "{text}");
}
