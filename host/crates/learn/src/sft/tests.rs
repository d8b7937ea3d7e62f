//! Trajectories for the tests of the cold start, and the cold start itself.

use loopwright_contract::digest::ContentDigest;
use loopwright_contract::evidence::Change;
use loopwright_contract::name::PluginName;
use loopwright_contract::trajectory::{Trajectory, VerifiedTrajectory};
use serde_json::{Value, json};

use super::*;
use crate::ablation::tests::{requests, taught};
use crate::ablation::{Mark, demonstration, shape};
use crate::checkpoint::{Checkpoints, Disk, read_newest};
use crate::decoder::{Choice, Decoder, Sequence, Shape};
use crate::nn::{AdamWConfig, Allowed, Schedule};
use crate::rl::{PluginStamp, PolicyFault};

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
    let mut wide = Decoder::new(Shape { width: 16, ..small() }, 1).unwrap();
    let before = wide.digest().unwrap();
    let error = Fit::resume(&mut wide, &examples, &found).unwrap_err().to_string();
    assert!(error.contains("\"width\":16") && error.contains("\"width\":12"), "{error}");
    assert_eq!(wide.digest().unwrap(), before);
}

#[test]
fn a_cold_start_goes_on_with_the_same_examples_and_plugins_alone() {
    let stamp = |name: &str, bytes: &[u8]| PluginStamp {
        name: PluginName::new(name).unwrap(),
        digest: ContentDigest::of(bytes),
    };
    let plugins = || vec![stamp("ablation", b"1"), stamp("ablation-verdict", b"1")];
    let of = |samples, plugins| Examples::new::<Decoder>(samples).unwrap().made_with(plugins);
    let examples = of(demonstrations(20), plugins());
    let mut policy = Decoder::new(small(), 1).unwrap();
    let mut fit = Fit::new(settings(2), &policy, &examples).unwrap();
    fit.step(&mut policy, &examples).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let mut checkpoints =
        Checkpoints::open(std::sync::Arc::new(Disk), folder.path().join("c"), std::num::NonZeroUsize::MIN).unwrap();
    checkpoints.write(1, &fit.checkpoint(&policy).unwrap()).unwrap();
    let found = read_newest(&Disk, &folder.path().join("c")).unwrap().unwrap().checkpoint;
    let before = policy.digest().unwrap();
    let mut refused = |samples, plugins| {
        let error = Fit::resume(&mut policy, &of(samples, plugins), &found).unwrap_err().to_string();
        assert_eq!(policy.digest().unwrap(), before, "nothing was changed");
        error
    };
    let fewer = refused(demonstrations(19), plugins());
    assert!(fewer.contains("in their number: the run is pinned to 20, found 19"), "{fewer}");
    // As many, of as many tokens, and one symbol of the context is another; then the order is.
    let mut other = demonstrations(20);
    let at = other[7].choices[0].at;
    other[7].symbols[at - 1] ^= 1;
    for samples in [other, demonstrations(20).into_iter().rev().collect()] {
        let error = refused(samples, plugins());
        assert!(error.contains("in their content") && error.contains("hint:"), "{error}");
    }
    let swapped = refused(demonstrations(20), vec![stamp("ablation", b"1"), stamp("ablation-verdict", b"2")]);
    assert!(swapped.contains("plugin `ablation-verdict` has changed"), "{swapped}");
    assert!(refused(demonstrations(20), plugins()[..1].to_vec()).contains("found no such plugin"));
    assert!(Fit::resume(&mut policy, &examples, &found).is_ok());
}

#[test]
fn what_is_not_finite_is_refused_and_makes_no_checkpoint() {
    let examples = Examples::new::<Decoder>(demonstrations(8)).unwrap();
    // So large a rate that the weights leave f32 at once.
    let optimizer = AdamWConfig::new(Schedule::constant(1e38));
    let mut policy = Decoder::new(small(), 1).unwrap();
    let mut fit = Fit::new(FitSettings { optimizer, ..settings(4) }, &policy, &examples).unwrap();
    let (mut before, mut taken) = (policy.digest().unwrap(), 0);
    let error = loop {
        match fit.step(&mut policy, &examples) {
            Ok(_) => (before, taken) = (policy.digest().unwrap(), taken + 1),
            Err(error) => break error,
        }
    };
    assert!(matches!(error, FitError::Policy(PolicyFault::NotFinite(_))), "{error:?}");
    assert_eq!((policy.digest().unwrap(), fit.taken()), (before, taken), "the step was not taken");
    // A loss that is not a number: of weights that are none.
    let broken = policy.parameters().values().unwrap().into_iter().map(|slot| vec![f32::NAN; slot.len()]).collect();
    policy.parameters_mut().set(broken).unwrap();
    let mut fit = Fit::new(settings(4), &policy, &examples).unwrap();
    let error = fit.step(&mut policy, &examples).unwrap_err();
    assert!(matches!(error, FitError::Policy(PolicyFault::NotFinite(_))), "{error:?}");
    assert_eq!(fit.taken(), 0);
    let error = fit.checkpoint(&policy).unwrap_err();
    assert!(matches!(error, FitError::Checkpoint(crate::checkpoint::CheckpointError::NotFinite(_))), "{error:?}");
}

#[test]
fn a_step_that_is_dropped_changes_nothing_and_can_be_taken_again() {
    let examples = Examples::new::<Decoder>(demonstrations(40)).unwrap();
    let start = || Decoder::new(small(), 1).unwrap();
    let (mut whole, mut policy) = (start(), start());
    let mut straight = Fit::new(settings(1), &whole, &examples).unwrap();
    let mut fit = Fit::new(settings(1), &policy, &examples).unwrap();
    let change = |_, samples| samples;
    for _ in 0..2 {
        straight.step(&mut whole, &examples).unwrap();
        let before = fit.checkpoint(&policy).unwrap();
        // Before the step, and in the middle of it: after the first look.
        for looks in [0_u32, 1] {
            let left = std::cell::Cell::new(looks);
            let wanted = || left.replace(left.get().saturating_sub(1)) > 0;
            let error = fit.step_while(&mut policy, &examples, &change, &wanted).unwrap_err();
            assert!(matches!(error, FitError::Dropped), "{error:?}");
            assert_eq!(fit.checkpoint(&policy).unwrap().parts(), before.parts());
        }
        fit.step(&mut policy, &examples).unwrap();
    }
    assert_eq!(fit.checkpoint(&policy).unwrap().parts(), straight.checkpoint(&whole).unwrap().parts());
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
