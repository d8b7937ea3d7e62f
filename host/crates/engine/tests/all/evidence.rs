//! What verifiers see, and what becomes of verdicts that are none.

use loopwright_contract::fault::{CallFault, GuestFault};
use serde_json::json;

use crate::{
    episode::notes,
    support::{call, candidate, check, environment, guest::VerifierGuest, host, open, step, task, tool, with_check},
};

fn judge(guest: &VerifierGuest, upto: &[u32]) -> Result<Vec<loopwright_contract::verdict::JudgedCheck>, CallFault> {
    let host = host(&[tool(&notes()), environment(), candidate(&guest.name, guest.build())]);
    let mut episode = open(&host, &with_check(task("world"), &guest.name));
    for id in ["k1", "k2", "k3"] {
        step(&mut *episode, call(id, "put", json!({}))).unwrap();
    }
    let before = episode.state_digest();
    let judged = episode.judge(0, &check(&guest.name), upto);
    assert_eq!((episode.state_digest(), episode.steps().len()), (before, 3));
    judged
}

#[test]
fn one_instance_judges_many_prefixes() {
    let judged = judge(&VerifierGuest::new("judge", ""), &[0, 1, 3]).unwrap();
    let seen: Vec<(u32, u32, bool)> =
        judged.iter().map(|judged| (judged.check, judged.upto, judged.verdict.passed())).collect();
    assert_eq!(seen, [(0, 0, true), (0, 1, true), (0, 3, true)]);
    assert!(judged[0].fuel > 0 && judged[0].verifier == "judge");
}

#[test]
fn forged_verdicts_are_faults_of_the_verifier() {
    for (verdict, surplus) in [
        ((0, f64::NAN, 1.0), 0),
        ((0, 1.5, 1.0), 0),
        ((0, 1.0, f64::INFINITY), 0),
        ((1, 1.0, 0.0), 0),
        ((0, 0.5, 0.0), 0),
        ((1, -0.5, 0.0), 0),
        ((0, 1.0, 1.0), 1),
        ((0, 1.0, 1.0), -1),
    ] {
        let verdict_text = format!("{verdict:?} {surplus}");
        let guest = VerifierGuest { verdict, surplus, ..VerifierGuest::new("judge", "") };
        match judge(&guest, &[0, 3]) {
            Err(CallFault::Guest { plugin, fault: GuestFault::Contract { .. } }) => assert_eq!(plugin, *"judge"),
            other => panic!("{verdict_text}: {other:?}"),
        }
    }
}

#[test]
fn a_verifier_that_traps_or_loops_gives_no_verdict() {
    for (body, part) in [("unreachable", "unreachable"), ("(loop $again (br $again))", "fuel")] {
        let fault = judge(&VerifierGuest::new("judge", body), &[3]).err().unwrap();
        assert!(loopwright_contract::fault::chain(&fault).contains(part), "{fault:?}");
    }
}

#[test]
fn prefixes_are_ones_of_the_episode() {
    for upto in [vec![], vec![4], vec![1, 1], vec![2, 1], (0..=64).collect()] {
        assert!(matches!(judge(&VerifierGuest::new("judge", ""), &upto), Err(CallFault::Host(_))), "{upto:?}");
    }
}

#[test]
fn snapshots_are_of_the_step_that_was_asked_for() {
    // Passes when the states after 1 and after 3 steps differ and those after 3 and 3 do not, and there is no state after 4.
    let body = "
        (local.set $a (call $alloc (i32.const 8))) (call $after (i32.const 1) (local.get $a))
        (local.set $b (call $alloc (i32.const 8))) (call $after (i32.const 3) (local.get $b))
        (local.set $c (call $alloc (i32.const 8)))
        (call $differences (i32.load offset=4 (local.get $a)) (i32.load offset=4 (local.get $b)) (i32.const 8) (i32.const 0) (local.get $c))
        (if (i32.ne (i32.load offset=4 (local.get $c)) (i32.const 2)) (then unreachable))
        (call $differences (i32.load offset=4 (local.get $b)) (i32.load offset=4 (local.get $b)) (i32.const 8) (i32.const 0) (local.get $c))
        (if (i32.load offset=4 (local.get $c)) (then unreachable))
        (call $after (i32.const 4) (local.get $a))
        (if (i32.load8_u (local.get $a)) (then unreachable))
        (call $target (local.get $a))
        (if (i32.load8_u (local.get $a)) (then unreachable))
        (if (i32.ne (call $steps) (i32.const 3)) (then unreachable))";
    let judged = judge(&VerifierGuest::new("judge", body), &[3]);
    assert!(judged.is_ok(), "{judged:?}");
}

#[test]
fn a_verifier_keeps_nothing_from_one_trajectory_to_the_next() {
    // It traps when it is asked a second time.
    let host = host(&[
        tool(&notes()),
        environment(),
        candidate(
            "once",
            VerifierGuest::new(
                "once",
                "(if (i32.load (i32.const 512)) (then unreachable)) (i32.store (i32.const 512) (i32.const 1))",
            )
            .build(),
        ),
    ]);
    let mut episode = open(&host, &with_check(task("world"), "once"));
    for _ in 0..3 {
        assert!(episode.judge(0, &check("once"), &[0]).is_ok());
    }
}
