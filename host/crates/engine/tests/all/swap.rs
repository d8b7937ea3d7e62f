//! Verifiers that are replaced while episodes run.

use std::sync::atomic::{AtomicBool, Ordering};

use loopwright_contract::{
    digest::ContentDigest,
    episode::{Episode, EpisodeHost as _},
    fault::CallFault,
    verdict::JudgedCheck,
};
use loopwright_engine::{
    Candidate, FAULTS_MAX, PluginHost, ShadowRule, SwapError, SwapEvent, SwapMode, VerifierStatus,
};
use serde_json::json;

use crate::support::{
    call, candidate, check, environment, guest::VerifierGuest, host, open, step, task, tool, with_check,
};

const PASSES: (u8, f64, f64) = (0, 1.0, 1.0);
const FAILS: (u8, f64, f64) = (1, 0.0, 0.5);

/// A verifier that always says the same.
fn says(verdict: (u8, f64, f64)) -> Candidate {
    candidate("judge", VerifierGuest { verdict, ..VerifierGuest::new("judge", "") }.build())
}

/// A verifier that fails on every episode in which something happened, so that its trial tells nothing.
fn fails_later(body: &str) -> Candidate {
    let body = format!("(if (call $steps) (then {body}))");
    candidate("judge", VerifierGuest::new("judge", &body).build())
}

fn serving(verdict: (u8, f64, f64)) -> PluginHost {
    let notes = crate::episode::notes();
    host(&[tool(&notes), environment(), says(verdict)])
}

/// An episode with one step.
fn played(host: &PluginHost) -> Box<dyn Episode> {
    let mut episode = open(host, &with_check(task("world"), "judge"));
    step(&mut *episode, call("a", "put", json!({"value": 1}))).unwrap();
    episode
}

fn judge(episode: &mut dyn Episode) -> Result<JudgedCheck, CallFault> {
    Ok(episode.judge(0, &check("judge"), &[1])?.remove(0))
}

fn status(host: &PluginHost) -> VerifierStatus {
    host.verifiers().into_iter().find(|status| status.name == "judge").unwrap()
}

#[test]
fn a_swap_counts_from_the_next_verdict_on_and_can_be_undone() {
    let host = serving(PASSES);
    let mut episode = played(&host);
    let pinned = host.pinned();
    let mut kept = played(&pinned);
    let before = judge(&mut *episode).unwrap();
    let new = says(FAILS);
    let receipt = host.swap_verifier(&new, SwapMode::Immediate).unwrap();
    assert_eq!((receipt.generation, receipt.replaced, receipt.serves), (2, before.verifier_digest, true));
    let after = judge(&mut *episode).unwrap();
    assert_eq!((after.verifier_digest, after.verdict.passed()), (new.digest, false));
    assert_eq!(before.input, after.input, "both judged the same evidence");
    let digest = |host: &PluginHost| host.serving().into_iter().find(|plugin| plugin.name == "judge").unwrap().digest;
    assert_eq!(
        (digest(&host), digest(&pinned), digest(&host.pinned())),
        (new.digest, before.verifier_digest, new.digest)
    );
    assert_eq!(judge(&mut *kept).unwrap(), before, "a pinned episode keeps its verifier");
    assert_eq!(judge(&mut *kept.fork().unwrap()).unwrap().verifier_digest, before.verifier_digest);
    assert_eq!(judge(&mut *played(&pinned)).unwrap().verifier_digest, before.verifier_digest);
    let back = host.rollback_verifier(&"judge".parse().unwrap()).unwrap();
    assert_eq!((back.generation, back.digest, back.replaced), (1, before.verifier_digest, new.digest));
    assert_eq!(judge(&mut *episode).unwrap(), before);
    assert_eq!(host.serving(), host.plugins());
    let nothing = host.rollback_verifier(&"judge".parse().unwrap());
    assert!(matches!(nothing, Err(SwapError::NoPrevious { .. })));
    assert_eq!(status(&host).events, [SwapEvent::Serves(1), SwapEvent::Serves(2), SwapEvent::RolledBack(1)]);
}

#[test]
fn what_fails_on_the_way_leaves_the_old_one_serving() {
    let host = serving(PASSES);
    let traps = candidate("judge", VerifierGuest::new("judge", "unreachable").build());
    let spins = candidate("judge", VerifierGuest::new("judge", "(loop $l (br $l))").build());
    let fickle = "(i32.store (i32.const 0) (i32.add (i32.load (i32.const 0)) (i32.const 1)))";
    let cut = Candidate::new("judge".parse().unwrap(), says(FAILS).bytes[..40].to_vec());
    let other = candidate("nobody", VerifierGuest::new("nobody", "").build());
    let named_else = candidate("judge", VerifierGuest::new("other", "").build());
    let kind = candidate("judge", crate::support::guest::EnvironmentGuest::new("judge").build());
    for (what, candidate, expected) in [
        ("a trap", &traps, "failed its trial"),
        ("a spinning one", &spins, "failed its trial"),
        ("half a component", &cut, "is not installed"),
        ("an unknown name", &other, "verifier `nobody` is not installed; there are: judge"),
        ("another identity", &named_else, "is not installed"),
        ("another kind", &kind, "expected a verifier"),
        ("the same again", &says(PASSES), "is there already"),
    ] {
        let error = host.swap_verifier(candidate, SwapMode::Immediate).err().map(|error| error.to_string());
        assert!(error.as_ref().is_some_and(|error| error.contains(expected)), "{what}: {error:?}");
        assert!(judge(&mut *played(&host)).unwrap().verdict.passed(), "after {what}");
    }
    assert_eq!(status(&host).events, [SwapEvent::Serves(1)]);
    // Its memory is fresh each time, so that it cannot tell the second judgement from the first.
    let counts = candidate("judge", VerifierGuest::new("judge", fickle).build());
    host.swap_verifier(&counts, SwapMode::Immediate).unwrap();
}

#[test]
fn a_shadow_is_promoted_by_agreement_and_never_counts_before() {
    let host = serving(PASSES);
    let same = candidate("judge", VerifierGuest::new("judge", "(drop (call $steps))").build());
    let rule = ShadowRule { verdicts: 3, disagreements_max: 0 };
    assert!(!host.swap_verifier(&same, SwapMode::Shadow(rule)).unwrap().serves);
    assert!(matches!(host.swap_verifier(&same, SwapMode::Immediate), Err(SwapError::Same { .. })));
    let digests: Vec<ContentDigest> = (0..4).map(|_| judge(&mut *played(&host)).unwrap().verifier_digest).collect();
    let old = says(PASSES).digest;
    assert_eq!(digests, [old, old, old, same.digest], "three verdicts are compared, then it serves");
    let status = status(&host);
    assert_eq!((status.digest, status.previous, status.shadow), (same.digest, vec![old], None));
    assert_eq!(status.events.last(), Some(&SwapEvent::Promoted(2)));
}

#[test]
fn a_shadow_that_disagrees_is_dropped_with_both_reasons_kept_until_then() {
    let host = serving(PASSES);
    let rule = ShadowRule { verdicts: 2, disagreements_max: 1 };
    host.swap_verifier(&says(FAILS), SwapMode::Shadow(rule)).unwrap();
    assert!(judge(&mut *played(&host)).unwrap().verdict.passed());
    let shadow = status(&host).shadow.unwrap();
    assert_eq!((shadow.verdicts, shadow.disagreements, shadow.last.len()), (1, 1, 1));
    let theirs = shadow.last[0].shadow.as_ref().unwrap();
    assert_eq!(theirs.input, shadow.last[0].serving.input);
    assert!(!theirs.verdict.passed() && shadow.last[0].serving.verdict.passed());
    assert!(judge(&mut *played(&host)).unwrap().verdict.passed());
    let status = status(&host);
    assert_eq!((status.shadow, status.events.last()), (None, Some(&SwapEvent::Rejected(2))));
    assert!(judge(&mut *played(&host)).unwrap().verdict.passed());
}

#[test]
fn a_shadow_that_fails_is_put_aside_and_the_verdicts_go_on() {
    let host = serving(PASSES);
    let rule = ShadowRule { verdicts: 1_000, disagreements_max: 1_000 };
    let broken = fails_later("unreachable");
    host.swap_verifier(&broken, SwapMode::Shadow(rule)).unwrap();
    for _ in 0..=FAULTS_MAX {
        assert!(judge(&mut *played(&host)).unwrap().verdict.passed());
    }
    let status = status(&host);
    assert_eq!((status.shadow, status.quarantined), (None, vec![(broken.digest, FAULTS_MAX)]));
    let again = host.swap_verifier(&broken, SwapMode::Immediate);
    assert!(matches!(again, Err(SwapError::Quarantined { .. })));
}

#[test]
fn a_verifier_that_fails_too_often_is_put_aside_by_itself() {
    let host = serving(PASSES);
    let old = status(&host).digest;
    let broken = fails_later("unreachable");
    host.swap_verifier(&broken, SwapMode::Immediate).unwrap();
    for _ in 1..FAULTS_MAX {
        assert!(matches!(judge(&mut *played(&host)), Err(CallFault::Guest { .. })));
    }
    let rescued = judge(&mut *played(&host)).unwrap();
    assert_eq!(rescued.verifier_digest, old, "the fault that is one too many is judged by the one before");
    let status = status(&host);
    assert_eq!((status.digest, status.quarantined), (old, vec![(broken.digest, FAULTS_MAX)]));
    assert_eq!(status.events.last(), Some(&SwapEvent::Quarantined(2)));
}

#[test]
fn a_refused_check_is_no_fault_of_the_verifier() {
    // It answers `invalid-check` with an empty text, whatever it is asked.
    let refuses = "(local.set $ret (call $alloc (i32.const 16)))
        (i32.store (local.get $ret) (i32.const 1))
        (i32.store offset=4 (local.get $ret) (i32.const 0))
        (i64.store offset=8 align=4 (local.get $ret) (i64.const 8))
        (return (local.get $ret))";
    let host = serving(PASSES);
    host.swap_verifier(&candidate("judge", VerifierGuest::new("judge", refuses).build()), SwapMode::Immediate).unwrap();
    for _ in 0..=FAULTS_MAX {
        assert!(judge(&mut *played(&host)).is_err());
    }
    assert_eq!((status(&host).generation, status(&host).faults), (2, 0));
}

#[test]
fn verdicts_under_swaps_are_neither_lost_nor_mixed() {
    let host = serving(PASSES);
    let (one, two) = (says(PASSES), says(FAILS));
    let done = AtomicBool::new(false);
    std::thread::scope(|scope| {
        let judges: Vec<_> = (0..2)
            .map(|_| {
                scope.spawn(|| {
                    let mut episode = played(&host);
                    let mut count = 0_u32;
                    while !done.load(Ordering::Relaxed) || count == 0 {
                        let judged = judge(&mut *episode).unwrap();
                        let expected = if judged.verdict.passed() { one.digest } else { two.digest };
                        assert_eq!(
                            judged.verifier_digest, expected,
                            "a verdict of one generation under the name of another"
                        );
                        count += 1;
                    }
                    count
                })
            })
            .collect();
        for round in 0..200 {
            host.swap_verifier(if round % 2 == 0 { &two } else { &one }, SwapMode::Immediate).unwrap();
        }
        done.store(true, Ordering::Relaxed);
        for judge in judges {
            assert!(judge.join().unwrap() > 0);
        }
    });
    assert_eq!(status(&host).generation, 201);
}

#[test]
fn the_input_of_a_verdict_is_the_check_and_the_evidence() {
    let host = serving(PASSES);
    let input = |value: i64, check: serde_json::Value, upto: u32| {
        let mut episode = open(&host, &with_check(task("world"), "judge"));
        step(&mut *episode, call("a", "put", json!({"value": value}))).unwrap();
        let check = loopwright_contract::task::Check { verifier: "judge".parse().unwrap(), check };
        episode.judge(0, &check, &[0, 1]).unwrap().remove(upto as usize).input
    };
    let base = input(1, json!({}), 1);
    assert_eq!(input(1, json!({}), 1), base);
    let others = [input(2, json!({}), 1), input(1, json!({"a": 1}), 1), input(1, json!({}), 0)];
    for (position, other) in others.iter().enumerate() {
        assert!(*other != base && !others[..position].contains(other), "{position}");
    }
}
