//! Trajectories for the tests of the cold start, and the cold start itself.

use loopwright_contract::evidence::Change;
use loopwright_contract::trajectory::{Trajectory, VerifiedTrajectory};
use serde_json::{Value, json};

use super::*;
use crate::ablation::tests::{requests, taught};
use crate::ablation::{Mark, demonstration, shape};
use crate::checkpoint::{Checkpoints, Disk, read_newest};
use crate::decoder::{Choice, Decoder, Sequence, Shape};
use crate::nn::{AdamWConfig, Allowed, Schedule};

/// A turn of one call.
pub(crate) struct Turn {
    pub(crate) tool: String,
    pub(crate) arguments: Value,
    /// Data of the answer, or the code of a refusal.
    pub(crate) reply: Result<Value, u16>,
    pub(crate) changes: Vec<Change>,
    /// Criteria after it: whether each holds, and whether it held at reset.
    pub(crate) criteria: Vec<(String, bool, bool)>,
}

/// The change of one document, if it changed.
pub(crate) fn change(collection: &str, key: &str, before: &Value, after: &Value) -> Vec<Change> {
    let (collection, key) = (collection.to_owned(), key.to_owned());
    let some = |value: &Value| (!value.is_null()).then(|| value.clone());
    if before == after {
        Vec::new()
    } else {
        vec![Change { collection, key, before: some(before), after: some(after) }]
    }
}

/// A verified trajectory; `each` also judges every turn's end.
pub(crate) fn trajectory(
    request: &str,
    gold: &[(String, Value)],
    turns: &[Turn],
    passed: bool,
    each: bool,
) -> VerifiedTrajectory {
    let digest = format!("sha256:{}", "0".repeat(64));
    let call = |id: String, tool: &str, arguments: &Value| json!({"action": "call", "id": id, "tool": tool, "arguments": arguments});
    let gold: Vec<Value> = gold.iter().map(|(tool, arguments)| json!([call("g".into(), tool, arguments)])).collect();
    let task = json!({
        "id": "t", "family": "f", "category": "c", "split": "train", "lang": "en", "request": request, "environment": "phone",
        "start": {"now_ns": "1", "zone": "UTC", "seed": "1"}, "gold": gold, "checks": [{"verifier": "v", "check": {}}],
    });
    let header = json!({
        "format": "loopwright-trajectory/1", "episode": "e", "task": task, "task_digest": digest,
        "policy": {"name": "teacher", "digest": digest, "sampling": {}}, "harness": digest, "settings": {}, "plugins": [],
        "skill_files": [], "seed": "1", "wit": "0", "engine": "0", "record": "full", "initial": digest, "target": null,
        "observation": {"notices": []},
    });
    let record = |(place, turn): (usize, &Turn)| {
        let id = format!("c{place}");
        let reply = match &turn.reply {
            Ok(data) => json!({"reply": "done", "message": "", "data": data}),
            Err(code) => json!({"reply": "failed", "code": code, "message": "no", "data": null}),
        };
        json!({
            "turn": place, "at_ns": "1", "decision": {"proposed": [], "text": "", "tokens": [], "grammar": null, "usage": usage()},
            "actions": [call(id.clone(), &turn.tool, &turn.arguments)], "coercions": [], "malformed": [], "advice": [],
            "result": {"full": {"feedback": [{"call_id": id, "reply": reply, "effects": []}], "observation": {"notices": []}}},
            "answers": [], "invocations": [], "changes": {"full": turn.changes}, "state": digest,
        })
    };
    let verdict = |upto: usize, criteria: &[(String, bool, bool)], passed: bool| {
        let criteria: Vec<Value> = criteria
            .iter()
            .map(|(id, passed, held)| json!({"id": id, "passed": passed, "held_at_reset": held, "weight": 1.0, "reason": ""}))
            .collect();
        let score = if passed { 1.0 } else { 0.0 };
        json!({
            "check": 0, "verifier": "v", "verifier_digest": digest, "engine": "0", "input": digest, "upto": upto, "fuel": 0,
            "verdict": {"passed": passed, "score": score, "progress": 0.0, "criteria": criteria},
        })
    };
    let first = if each { 0 } else { turns.len().saturating_sub(1) };
    let verdicts = turns.iter().enumerate().skip(first);
    let verdicts = verdicts.map(|(place, turn)| {
        let last = place + 1 == turns.len();
        verdict(place + 1, &turn.criteria, last && passed)
    });
    let footer = json!({
        "outcome": {"outcome": if passed { "pass" } else { "fail" }}, "ending": "terminated", "turns": turns.len(),
        "steps": turns.len(), "usage": usage(),
    });
    let read = |value: Value| serde_json::from_value(value);
    VerifiedTrajectory::new(Trajectory {
        header: serde_json::from_value(header).expect("a header"),
        turns: turns.iter().enumerate().map(record).map(|turn| serde_json::from_value(turn).expect("a turn")).collect(),
        verdicts: verdicts.map(|verdict| read(verdict).expect("a verdict")).collect(),
        footer: Some(serde_json::from_value(footer).expect("a footer")),
    })
    .expect("a verified trajectory")
}

fn usage() -> Value {
    json!({"tokens_in": 0, "tokens_out": 0, "tokens_reasoning": 0, "cost_micros": 0})
}

pub(crate) fn demonstrations(count: u64) -> Vec<Sequence> {
    (0..count)
        .map(|seed| {
            let mark = if seed % 2 == 0 { Mark::Reliable } else { Mark::Fragile };
            demonstration(&taught(mark, seed), &requests(), &Default::default()).unwrap()
        })
        .collect()
}

pub(crate) fn settings(epochs: u32) -> FitSettings {
    FitSettings { seed: 3, batch: 32, epochs, optimizer: AdamWConfig::new(Schedule::constant(3e-3)) }
}

fn small() -> Shape {
    Shape { width: 12, layers: 1, heads: 2, hidden: 8, ..shape() }
}

#[test]
fn masked_turns_are_context_and_have_no_gradient() {
    let decoder = Decoder::new(small(), 1).unwrap();
    let whole = demonstrations(1).remove(0);
    let mut masked = whole.clone();
    let choice = masked.choices.remove(2);
    // L of the masked one, by hand: the mean over the choices that are left, in the same context.
    let scores = decoder.score(std::slice::from_ref(&whole)).unwrap().chosen.to_vec1::<f32>().unwrap();
    let left: Vec<f32> = scores.iter().enumerate().filter(|(place, _)| *place != 2).map(|(_, score)| *score).collect();
    let expected = -left.iter().map(|score| f64::from(*score)).sum::<f64>() / left.len() as f64;
    let examples = Examples::new::<Decoder>(vec![masked.clone()]).unwrap();
    assert_eq!(examples.tokens(), whole.choices.len() as u64 - 1);
    let mut policy = Decoder::new(small(), 1).unwrap();
    let record = Fit::new(settings(1), &policy, &examples).unwrap().step(&mut policy, &examples).unwrap().unwrap();
    assert!((record.loss - expected).abs() < 1e-5, "{} against {expected}", record.loss);
    // What was masked may be anything allowed: only later context would tell.
    let mut other = masked.clone();
    other.choices.retain(|kept| kept.at < choice.at);
    let mut changed = other.clone();
    changed.symbols[choice.at] = if changed.symbols[choice.at] == 2 { 3 } else { 2 };
    let gradients = |sequence: &Sequence| {
        let loss = |chosen: &candle_core::Tensor, _| chosen.sum_all();
        decoder.gradients(std::slice::from_ref(sequence), |scores, range| Ok(loss(&scores.chosen, range)?)).unwrap()
    };
    assert_eq!(gradients(&other).values(), gradients(&changed).values());
}

#[test]
fn a_trajectory_of_which_nothing_is_left_is_refused() {
    let given = Sequence { symbols: vec![0, 2, 3], choices: Vec::new() };
    let good = Sequence { choices: vec![Choice { at: 1, allowed: Allowed::of(&[2, 3]).unwrap() }], ..given.clone() };
    let error = Examples::new::<Decoder>(vec![good, given]).unwrap_err();
    assert!(error.to_string().starts_with("example 1 has no token"), "{error}");
    assert!(matches!(Examples::new::<Decoder>(Vec::new()), Err(FitError::NoExamples)));
}

#[test]
fn settings_without_meaning_are_refused() {
    let policy = Decoder::new(small(), 1).unwrap();
    let examples = Examples::new::<Decoder>(demonstrations(4)).unwrap();
    for bad in [
        FitSettings { batch: 0, ..settings(1) },
        FitSettings { batch: BATCH_MAX + 1, ..settings(1) },
        settings(0),
        settings(EPOCHS_MAX + 1),
    ] {
        assert!(matches!(Fit::new(bad, &policy, &examples), Err(FitError::Setting { .. })));
    }
}

#[test]
fn a_cold_start_that_was_stopped_ends_the_same_to_the_bit() {
    let examples = Examples::new::<Decoder>(demonstrations(80)).unwrap();
    let mut whole = Decoder::new(small(), 1).unwrap();
    let mut fit = Fit::new(settings(2), &whole, &examples).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut checkpoints =
        Checkpoints::open(std::sync::Arc::new(Disk), folder.path().join("c"), std::num::NonZeroUsize::MIN).unwrap();
    while fit.step(&mut whole, &examples).unwrap().is_some() {
        if fit.taken() == 4 {
            checkpoints.write(4, &fit.checkpoint(&whole).unwrap()).unwrap();
        }
    }
    assert_eq!((fit.taken(), fit.steps()), (6, 6));
    let found = read_newest(&Disk, &folder.path().join("c")).unwrap().unwrap().checkpoint;
    let mut other = Decoder::new(small(), 99).unwrap();
    let mut again = Fit::resume(&mut other, &examples, &found).unwrap();
    while again.step(&mut other, &examples).unwrap().is_some() {}
    assert_eq!(other.digest().unwrap(), whole.digest().unwrap());
    assert_eq!(again.checkpoint(&other).unwrap().parts(), fit.checkpoint(&whole).unwrap().parts());
    let fewer = Examples::new::<Decoder>(demonstrations(79)).unwrap();
    assert!(matches!(Fit::resume(&mut other, &fewer, &found), Err(FitError::Other { .. })));
    let mut wide = Decoder::new(Shape { width: 16, ..small() }, 1).unwrap();
    let before = wide.digest().unwrap();
    let error = Fit::resume(&mut wide, &examples, &found).unwrap_err().to_string();
    assert!(error.contains("\"width\":16") && error.contains("\"width\":12"), "{error}");
    assert_eq!(wide.digest().unwrap(), before);
}

#[test]
fn the_policy_comes_to_do_as_the_teacher_does() {
    let examples = Examples::new::<Decoder>(demonstrations(256)).unwrap();
    let mut policy = Decoder::new(shape(), 1).unwrap();
    let mut fit = Fit::new(settings(6), &policy, &examples).unwrap();
    let (mut first, mut last) = (None, 0.0);
    while let Some(record) = fit.step(&mut policy, &examples).unwrap() {
        first.get_or_insert(record.loss);
        last = record.loss;
    }
    // The teacher's own entropy is about 0.59 nats a call.
    assert!(first.unwrap() > 1.4 && last < 0.75, "{first:?} to {last}");
    assert!(policy.parameters().check_finite().is_ok());
}
