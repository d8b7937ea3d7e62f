use loopwright_sdk::testing::TestEvidence;
use serde_json::{Value, json};

use super::ToolCalls;

fn world() -> TestEvidence {
    TestEvidence::new(json!({"lamp": {"main": {"on": false}}}))
}

fn passes(evidence: &TestEvidence, check: Value) -> bool {
    evidence.judge::<ToolCalls>(check.clone()).unwrap_or_else(|error| panic!("{check}: {error}")).passed()
}

#[test]
fn a_sequence_wants_its_order_and_a_partial_order_only_what_it_names() {
    let ab = world().call("a", json!({})).call("b", json!({}));
    let ba = world().call("b", json!({})).call("a", json!({}));
    let calls = json!([{"id": "a", "tool": "a", "arguments": {}}, {"id": "b", "tool": "b", "arguments": {}}]);
    let after =
        json!([{"id": "a", "tool": "a", "arguments": {}}, {"id": "b", "tool": "b", "arguments": {}, "after": ["a"]}]);
    for (evidence, calls, order, expected) in [
        (&ab, &calls, "sequence", true),
        (&ba, &calls, "sequence", false),
        (&ab, &calls, "partial", true),
        (&ba, &calls, "partial", true),
        (&ab, &after, "partial", true),
        (&ba, &after, "partial", false),
    ] {
        assert_eq!(passes(evidence, json!({"calls": calls, "order": order})), expected, "{order} {calls}");
    }
}

#[test]
fn arguments_are_exact_by_value() {
    let check = |arguments: Value| json!({"calls": [{"tool": "set", "arguments": arguments}], "order": "sequence"});
    let evidence = world().call("set", json!({"level": 25.0, "name": "Cafe\u{301}", "list": [1, {"b": 2, "a": 1}]}));
    assert!(passes(&evidence, check(json!({"level": 25, "name": "Café", "list": [1.0, {"a": 1, "b": 2}]}))));
    for wrong in [
        json!({"level": 26, "name": "Café", "list": [1, {"b": 2, "a": 1}]}),
        json!({"level": 25, "name": "Café"}),
        json!({"level": "25", "name": "Café", "list": [1, {"b": 2, "a": 1}]}),
    ] {
        assert!(!passes(&evidence, check(wrong.clone())), "{wrong}");
    }
    assert!(passes(
        &evidence,
        json!({"calls": [{"tool": "set", "arguments": {"level": 25}}], "order": "sequence", "ignore_arguments": ["name", "list"]})
    ));
}

#[test]
fn an_alternative_is_as_good_and_each_made_call_counts_once() {
    let check = json!({"calls": [{"tool": "a", "arguments": {"x": 1}, "or": [{"arguments": {"x": 2}}, {"tool": "b", "arguments": {}}]}], "order": "sequence"});
    for (tool, arguments, expected) in
        [("a", json!({"x": 2}), true), ("b", json!({}), true), ("b", json!({"x": 1}), false)]
    {
        assert_eq!(passes(&world().call(tool, arguments.clone()), check.clone()), expected, "{tool} {arguments}");
    }
    let twice = json!({"calls": [{"tool": "a", "arguments": {}}, {"tool": "a", "arguments": {}}], "order": "partial"});
    assert!(!passes(&world().call("a", json!({})), twice.clone()));
    assert!(passes(&world().call("a", json!({})).call("a", json!({})), twice));
}

#[test]
fn a_greedy_choice_does_not_spoil_a_possible_one() {
    // The first wanted call fits both made ones; only one choice leaves a call for the second.
    let check = json!({"calls": [{"tool": "a", "arguments": {"x": 1}, "or": [{"arguments": {"x": 2}}]}, {"tool": "a", "arguments": {"x": 1}}], "order": "partial"});
    assert!(passes(&world().call("a", json!({"x": 1})).call("a", json!({"x": 2})), check));
}

#[test]
fn failed_calls_are_not_counted_and_extra_ones_only_as_allowed() {
    let read = || world().call("read", json!({})).call("a", json!({}));
    let write =
        || world().call("a", json!({})).call("write", json!({})).changed(json!({"lamp": {"main": {"on": true}}}));
    let failed = || world().failed_call("a", json!({"x": 1}), 409).call("a", json!({}));
    for (name, evidence, extra, expected) in [
        ("read", read(), "reads", true),
        ("read", read(), "none", false),
        ("write", write(), "reads", false),
        ("write", write(), "any", true),
        ("failed", failed(), "none", true),
    ] {
        let check = json!({"calls": [{"tool": "a", "arguments": {}}], "order": "sequence", "extra": extra});
        assert_eq!(passes(&evidence, check), expected, "{name} {extra}");
    }
    assert!(!passes(
        &world().failed_call("a", json!({}), 409),
        json!({"calls": [{"tool": "a", "arguments": {}}], "order": "sequence"})
    ));
}

#[test]
fn progress_is_the_share_of_wanted_calls() {
    let evidence = world().call("a", json!({})).call("b", json!({}));
    let check = json!({"calls": [{"tool": "a", "arguments": {}}, {"tool": "b", "arguments": {}}], "order": "sequence"});
    let progress: Vec<f64> = evidence
        .judge_prefixes::<ToolCalls>(check, &[0, 1, 2])
        .expect("verdicts")
        .iter()
        .map(loopwright_sdk::Verdict::progress)
        .collect();
    assert_eq!(progress, [0.0, 0.5, 1.0]);
}

#[test]
fn a_check_without_calls_or_with_a_dangling_order_is_invalid() {
    for (check, part) in [
        (json!({"calls": [], "order": "sequence"}), "1 to 32"),
        (json!({"calls": [{"tool": "a", "arguments": {}, "after": ["z"]}], "order": "partial"}), "names `z`"),
        (json!({"calls": [{"tool": "a", "arguments": {}}], "order": "random"}), "random"),
    ] {
        let error = world().judge::<ToolCalls>(check.clone()).expect_err("an invalid check").to_string();
        assert!(error.contains(part), "{check}: `{error}` lacks `{part}`");
    }
}
