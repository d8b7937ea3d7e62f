use loopwright_sdk::testing::TestEvidence;
use serde_json::{Value, json};

use super::StateAssertions;

fn world() -> TestEvidence {
    TestEvidence::new(json!({
        "net": {"wifi": {"on": true, "connected": "Café"}},
        "notes": {"note-a": {"title": "Milk", "tags": ["food"], "count": 2}},
    }))
}

/// Whether a check passes, or the error's text.
fn judge(evidence: &TestEvidence, check: Value) -> Result<bool, String> {
    evidence.judge::<StateAssertions>(check).map(|verdict| verdict.passed()).map_err(|error| error.to_string())
}

#[test]
fn rows_hold_on_the_final_state() {
    let evidence = world().call("x", json!({})).changed(json!({"net": {"wifi": {"on": false, "connected": null}}}));
    for (row, expected) in [
        (json!({"collection": "net", "key": "wifi", "field": "/on", "equals": false}), true),
        (json!({"collection": "net", "key": "wifi", "field": "/on", "equals": true}), false),
        (json!({"collection": "net", "key": "wifi", "field": "/connected", "equals": null}), true),
        (json!({"collection": "net", "key": "none", "field": "/on", "equals": null}), false),
        (json!({"collection": "net", "key": "none", "field": "/on", "matches": {"exists": false}}), true),
        (json!({"collection": "notes", "key": "note-a", "field": "/count", "equals": 2.0}), true),
        (json!({"collection": "notes", "key": "note-a", "field": "/count", "matches": {"ge": 2}}), true),
        (json!({"collection": "notes", "key": "note-a", "field": "/count", "matches": {"lt": 2}}), false),
        (json!({"collection": "notes", "key": "note-a", "field": "/tags", "matches": {"contains": "food"}}), true),
        (
            json!({"collection": "notes", "key": "note-a", "field": "/title", "matches": {"one_of": ["Tea", "Milk"]}}),
            true,
        ),
        (json!({"collection": "notes", "key": "note-a", "field": "/title", "matches": {"starts_with": "Mi"}}), true),
        (json!({"collection": "notes", "exists": {"where": [{"at": "/title", "test": "eq", "value": "Milk"}]}}), true),
        (
            json!({"collection": "notes", "exists": {"where": [{"at": "/title", "test": "eq", "value": "Milk"}]}, "count": 2}),
            false,
        ),
        (json!({"collection": "notes", "absent": {"where": [{"at": "/title", "test": "eq", "value": "Tea"}]}}), true),
        (json!({"collection": "notes", "absent": {"where": []}}), false),
    ] {
        assert_eq!(judge(&evidence, json!({"rows": [row]})), Ok(expected), "{row}");
    }
}

#[test]
fn text_compares_in_nfc_and_folds_only_when_asked() {
    let row = |text: &str| json!([{"collection": "net", "key": "wifi", "field": "/connected", "equals": text}]);
    let evidence = world();
    assert_eq!(judge(&evidence, json!({"rows": row("Cafe\u{301}")})), Ok(true));
    assert_eq!(judge(&evidence, json!({"rows": row("CAFÉ")})), Ok(false));
    assert_eq!(judge(&evidence, json!({"rows": row("CAFÉ"), "fold": ["case"]})), Ok(true));
    assert_eq!(judge(&evidence, json!({"rows": row("Ｃafé"), "fold": ["nfkc"]})), Ok(true));
}

#[test]
fn what_the_agent_said_counts_only_when_it_was_said() {
    let asked = world().ask("Which note do you mean?");
    let refused = world().refuse("I can't do that: no such app");
    let finished = world().finish("Wi-Fi is ON, connected to Café");
    for (evidence, row, expected) in [
        (&asked, json!({"asked": ["which", "哪"]}), true),
        (&asked, json!({"asked": ["when"]}), false),
        (&refused, json!({"refused": true}), true),
        (&refused, json!({"refused": ["app", "应用"]}), true),
        (&refused, json!({"refused": ["battery"]}), false),
        (&refused, json!({"finished": true}), false),
        (&finished, json!({"finished": true}), true),
        (&finished, json!({"answer_contains": ["on", "café"]}), true),
        (&finished, json!({"answer_contains": ["on", "office"]}), false),
        (&world(), json!({"refused": true}), false),
        (&world(), json!({"answer_contains": []}), false),
    ] {
        assert_eq!(judge(evidence, json!({"rows": [row]})), Ok(expected), "{row}");
    }
}

#[test]
fn other_changes_fail_unless_they_are_allowed() {
    let evidence = world().bookkeeping("notes", &["/modified"]).call("x", json!({})).changed(json!({
        "net": {"wifi": {"on": false, "connected": null}},
        "notes": {"note-a": {"title": "Milk", "tags": ["food"], "count": 2, "modified": "now"}},
    }));
    for (places, expected) in [
        (json!([]), false),
        (json!(["net"]), true),
        (json!(["net/wifi"]), true),
        (json!(["net/*"]), true),
        (json!(["net/mobile"]), false),
        (json!(["ne"]), false),
    ] {
        assert_eq!(judge(&evidence, json!({"unchanged_except": places})), Ok(expected), "{places}");
    }
}

#[test]
fn progress_counts_only_what_was_false_at_reset() {
    let evidence = world().call("x", json!({})).changed(json!({"net": {"wifi": {"on": false, "connected": "Café"}}}));
    let check = json!({"rows": [
        {"collection": "notes", "exists": {"where": []}},
        {"collection": "net", "key": "wifi", "field": "/on", "equals": false},
        {"collection": "net", "key": "wifi", "field": "/connected", "equals": null, "weight": 3},
    ]});
    let verdicts = evidence.judge_prefixes::<StateAssertions>(check, &[0, 1]).expect("verdicts");
    let progress: Vec<f64> = verdicts.iter().map(loopwright_sdk::Verdict::progress).collect();
    assert_eq!(progress, [0.0, 0.25]);
    assert!(verdicts.iter().all(|verdict| !verdict.passed()));
}

#[test]
fn a_check_that_asks_nothing_or_something_unknown_is_invalid() {
    for (check, part) in [
        (json!({}), "nothing is asked"),
        (json!({"rows": [{}]}), "is not one row"),
        (json!({"rows": [{"finished": false}]}), "true or left out"),
        (json!({"rows": [{"finished": true, "asked": ["a"]}]}), "is not one row"),
        (json!({"rows": [{"key": "a", "field": "/b", "equals": 1}]}), "`collection` is missing"),
        (json!({"rows": [{"collection": "net", "field": "/b", "equals": 1}]}), "`key` is missing"),
        (json!({"rows": [{"collection": "net", "key": "wifi", "field": "/on"}]}), "`equals` or `matches`"),
        (
            json!({"rows": [{"collection": "net", "key": "wifi", "field": "/on", "matches": {"like": 1}}]}),
            "`like`: expected",
        ),
        (json!({"rows": [{"finished": true, "weight": -1}]}), "weight"),
        (json!({"rows": [{"surprise": 1}]}), "surprise"),
    ] {
        let error = judge(&world(), check.clone()).expect_err("an invalid check");
        assert!(error.contains(part), "{check}: `{error}` lacks `{part}`");
    }
}
