//! A verifier over fake evidence.

use loopwright_sdk::testing::{TestEvidence, TestPhone};
use loopwright_sdk::{
    Action, Actor, Bookkeeping, Change, Criterion, Evidence, Identity, JudgeError, Query, Verdict, VerifierPlugin,
    identity,
};
use serde::Deserialize;
use serde_json::{Value, json};

/// Passes when a document has this value.
struct Has;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Check {
    collection: String,
    key: String,
    value: Value,
}

impl VerifierPlugin for Has {
    const IDENTITY: Identity = identity!("has");
    type Check = Check;

    fn judge(evidence: &Evidence, check: &Check, upto: &[u32]) -> Result<Vec<Verdict>, JudgeError> {
        let holds = |count: u32| -> Result<bool, JudgeError> {
            let missing = || JudgeError::MissingEvidence(format!("state after {count} steps"));
            let state = evidence.after(count).ok_or_else(missing)?;
            let found: Option<Value> = state.get(&check.collection, &check.key)?;
            Ok(found.as_ref() == Some(&check.value))
        };
        let held_at_reset = holds(0)?;
        let verdict = |count: &u32| -> Result<Verdict, JudgeError> {
            Ok(Verdict::of(vec![Criterion {
                id: "value".to_owned(),
                passed: holds(*count)?,
                held_at_reset,
                weight: 1.0,
                reason: String::new(),
            }]))
        };
        upto.iter().map(verdict).collect()
    }
}

fn lamp() -> TestEvidence {
    TestEvidence::new(json!({"lamp": {"main": {"on": false, "at": 1}}, "other": {"a": 1}}))
        .bookkeeping("lamp", &["/at"])
        .call("toggle_lamp", json!({}))
        .changed(json!({"lamp": {"main": {"on": true, "at": 2}}}))
        .failed_call("toggle_lamp", json!({"x": 1}), 400)
        .same_turn()
        .ask("really?")
        .finish("it is on")
}

#[test]
fn each_prefix_gets_its_verdict() {
    let check = json!({"collection": "lamp", "key": "main", "value": {"on": true, "at": 2}});
    let verdicts = lamp().judge_prefixes::<Has>(check.clone(), &[0, 1, 4]).unwrap();
    let passed: Vec<bool> = verdicts.iter().map(Verdict::passed).collect();
    assert_eq!(passed, [false, true, true]);
    assert!(lamp().judge::<Has>(check).unwrap().passed());
}

#[test]
fn a_check_that_does_not_fit_is_told_with_its_place() {
    let error = lamp().judge::<Has>(json!({"collection": "lamp", "key": 7, "value": 1})).unwrap_err();
    assert!(matches!(&error, JudgeError::InvalidCheck(what) if what.contains("`/key`")), "{error}");
    let error = lamp().judge::<Has>(json!({"collection": "Lamp!", "key": "k", "value": 1})).unwrap_err();
    assert!(matches!(error, JudgeError::InvalidCheck(_)), "{error}");
    let check = json!({"collection": "lamp", "key": "main", "value": 1});
    let error = lamp().judge_prefixes::<Has>(check, &[9]).unwrap_err();
    assert!(matches!(error, JudgeError::MissingEvidence(_)), "{error}");
}

#[test]
fn steps_carry_turns_actions_and_claims() {
    let evidence = lamp().evidence();
    let steps = evidence.steps(0, u32::MAX);
    assert_eq!(evidence.step_count(), 4);
    assert_eq!(steps.iter().map(|step| step.turn).collect::<Vec<_>>(), [0, 0, 1, 2]);
    assert_eq!(steps.iter().map(|step| step.ok).collect::<Vec<_>>(), [true, false, true, true]);
    assert_eq!(steps[0].call().map(|call| call.tool.as_str()), Some("toggle_lamp"));
    assert!(matches!(&steps[2].action, Action::Ask(question) if question == "really?"));
    assert_eq!(steps[3].claim().as_deref(), Some("it is on"));
    assert_eq!(steps[0].claim(), None);
    assert_eq!(evidence.steps(3, 5).len(), 1);
    assert!(evidence.steps(9, 5).is_empty());
}

#[test]
fn other_actions_and_actors_are_recorded() {
    let evidence = TestEvidence::new(json!({}))
        .call_with(Actor::Automation, "toggle_lamp", &json!({}), true, &json!({"success": true}))
        .other("load-skill", json!({"skill": "x"}))
        .refuse("unsafe")
        .evidence();
    let steps = evidence.steps(0, 3);
    assert_eq!(steps[0].by, Actor::Automation);
    assert!(matches!(&steps[1].action, Action::Other(name, _) if name == "load-skill"));
    assert!(matches!(&steps[2].action, Action::Refuse(reason) if reason == "unsafe"));
}

#[test]
fn changes_come_in_order_with_and_without_bookkeeping() {
    let evidence = TestEvidence::new(json!({"a": {"x": {"n": 1, "at": 1}, "y": {"n": 1, "at": 1}, "z": 3}}))
        .bookkeeping("a", &["/at"])
        .call("t", json!({}))
        .changed(json!({"a": {"x": {"n": 1.0, "at": 2}, "y": {"n": 2, "at": 2}, "w": 4}}))
        .removed("a", "z")
        .evidence();
    let (before, after) = (evidence.initial(), evidence.after(1).unwrap());
    let keys = |changes: Vec<Change>| changes.into_iter().map(|change| change.key).collect::<Vec<_>>();
    assert_eq!(keys(evidence.changes(&before, &after, Bookkeeping::Ignored)), ["w", "y", "z"]);
    assert_eq!(keys(evidence.changes(&before, &after, Bookkeeping::Included)), ["w", "x", "y", "z"]);
    let changes = evidence.changes(&before, &after, Bookkeeping::Ignored);
    assert!(changes[0].before.is_none() && changes[2].after.is_none());
}

#[test]
fn many_changes_come_whole() {
    let many: serde_json::Map<String, Value> = (0..600).map(|n| (format!("k{n:04}"), json!(n))).collect();
    let evidence = TestEvidence::new(json!({"a": {}})).call("t", json!({})).changed(json!({"a": many})).evidence();
    let changes = evidence.changes(&evidence.initial(), &evidence.after(1).unwrap(), Bookkeeping::Included);
    assert_eq!(changes.len(), 600);
    assert_eq!(changes.last().map(|change| change.key.as_str()), Some("k0599"));
}

#[test]
fn differences_leave_out_bookkeeping_and_named_collections() {
    let evidence = lamp().target(json!({"lamp": {"main": {"on": true, "at": 9}}, "other": {"a": 2}})).evidence();
    let (last, target) = (evidence.after(4).unwrap(), evidence.target().unwrap());
    assert_eq!(evidence.differences(&last, &target, &[]).len(), 1);
    assert!(evidence.differences(&last, &target, &["other".to_owned()]).is_empty());
    assert!(lamp().evidence().target().is_none());
}

#[test]
fn snapshots_are_queried_like_a_phone() {
    let phone = TestPhone::new().state(json!({"a": {"x": {"n": 1}, "y": {"n": 2}}, "b": {}}));
    let evidence = TestEvidence::starting_at(&phone).evidence();
    let state = evidence.initial();
    assert_eq!(state.collections(), ["a", "b"]);
    assert_eq!(state.digest(), evidence.after(0).unwrap().digest());
    let page = state.find::<Value>("a", &Query::new().gt("/n", 1)).unwrap();
    assert_eq!((page.total, page.docs[0].key.as_str()), (1, "y"));
    assert_eq!(state.find_all::<Value>("a", &Query::new().limit(1)).unwrap().len(), 2);
}
