//! Bounds that hold whatever is proposed, and decisions one by one.

use proptest::prelude::*;

use super::*;
use crate::care::{self, Phi, PhiValues, Regime};
use crate::estimate::{Binomial, Level};

fn phi(lambda_prog: f64, lambda_eff: f64, p_low: f64, p_high: f64) -> Phi {
    Phi::new(values(lambda_prog, lambda_eff, p_low, p_high)).unwrap()
}

fn values(lambda_prog: f64, lambda_eff: f64, p_low: f64, p_high: f64) -> PhiValues {
    PhiValues { lambda_prog, lambda_eff, p_low, p_high }
}

fn guard(target: f64) -> Guard {
    Guard { target, level: Level::new(0.95).unwrap() }
}

fn start() -> Phi {
    phi(0.1, 0.1, 0.3, 0.8)
}

fn governor() -> Governor {
    Governor::new(start(), guard(0.9)).unwrap()
}

fn statistics(step: u64, successes: u64, trials: u64) -> Statistics {
    let train = TrainValues {
        progress_share: 0.2,
        consolidation_share: 0.3,
        efficiency_share: 0.5,
        degenerate_share: 0.1,
        success: 0.7,
    };
    let dev = DevValues { success: Binomial::new(successes, trials).unwrap(), cost_mean: 0.4 };
    Statistics { step, train: Some(Train::new(train).unwrap()), dev: Some(Dev::new(dev).unwrap()) }
}

fn proposal(lambda_prog: f64, lambda_eff: f64, p_low: f64, p_high: f64) -> Answer {
    Answer::Proposal(Proposal::of(values(lambda_prog, lambda_eff, p_low, p_high)))
}

fn causes(decision: &Decision) -> Vec<(Parameter, ClampCause)> {
    decision.clamps.iter().map(|clamp| (clamp.parameter, clamp.cause)).collect()
}

fn any_number() -> impl Strategy<Value = f64> {
    prop_oneof![
        4 => -0.2..1.2f64,
        1 => proptest::sample::select(vec![f64::NAN, f64::INFINITY, f64::NEG_INFINITY, f64::MAX, -0.0, 0.0, 1e-300]),
    ]
}

fn any_answer() -> impl Strategy<Value = Answer> {
    let proposal = (any_number(), any_number(), any_number(), any_number())
        .prop_map(|(lambda_prog, lambda_eff, p_low, p_high)| proposal(lambda_prog, lambda_eff, p_low, p_high));
    let text = prop_oneof![Just(String::new()), ".{0,40}", Just("{\"lambda_prog\":0.2}".to_owned())];
    prop_oneof![6 => proposal, 1 => text.prop_map(|text| Answer::parse(&text)), 1 => Just(Answer::Late), 1 => Just(Answer::Absent)]
}

fn any_statistics() -> impl Strategy<Value = Option<(u64, u64)>> {
    proptest::option::weighted(0.9, (0u64..=200, 200u64..=200))
}

fn any_start() -> impl Strategy<Value = Phi> {
    (0.0..=0.5, prop_oneof![Just(0.0), 0.0..=0.3], 0.55..=0.98f64, 0.0..=1.0f64).prop_map(
        |(lambda_prog, lambda_eff, p_high, low)| phi(lambda_prog, lambda_eff, low * (p_high - 0.1f64).min(0.5), p_high),
    )
}

proptest! {
    /// Whatever is proposed, and whatever dev success does: within bounds, within a step, and no dearer while the gate is shut.
    #[test]
    fn nothing_leads_out_of_bounds(start in any_start(), answers in proptest::collection::vec((any_answer(), any_statistics()), 1..16)) {
        let mut governor = Governor::new(start, guard(0.9)).unwrap();
        for (step, (answer, dev)) in (1..).zip(answers) {
            let mut known = statistics(step, 0, 1);
            known.dev = dev.map(|(successes, trials)| statistics(step, successes, trials).dev.unwrap());
            let decision = governor.decide("any", &known, answer).unwrap();
            prop_assert!(Bounds.contain(&decision.after), "{:?}", decision);
            prop_assert!(Bounds.within_step(&decision.before, &decision.after), "{:?}", decision);
            prop_assert_eq!(decision.after, *governor.phi());
            if decision.outcome == Outcome::Applied {
                prop_assert!(decision.gate.open || decision.after.lambda_eff() <= decision.before.lambda_eff());
            } else if decision.outcome != Outcome::Reverted {
                prop_assert_eq!(decision.before, decision.after);
            }
            // The record is whole: it comes back from the log as it went in.
            let text = serde_json::to_string(&decision).unwrap();
            prop_assert_eq!(&serde_json::from_str::<Decision>(&text).unwrap(), &decision);
        }
        // And so does the state from a checkpoint.
        let state: GovernorState = serde_json::from_str(&serde_json::to_string(governor.state()).unwrap()).unwrap();
        prop_assert_eq!(&Governor::restore(state, guard(0.9)).unwrap(), &governor);
    }

    /// A step back is never longer than the step that it takes back.
    #[test]
    fn steps_lead_both_ways(from in any_start(), to in any_start()) {
        prop_assert_eq!(Bounds.within_step(&from, &to), Bounds.within_step(&to, &from));
    }

    #[test]
    fn the_rule_is_deterministic_and_never_invalid(start in any_start(), successes in 0u64..=200, step in 1u64..9) {
        let known = statistics(step, successes, 200);
        let [first, second] = [(); 2].map(|()| Rule { guard: guard(0.9) }.propose(&known, &start, &Bounds));
        prop_assert!(matches!(&first, Answer::Proposal(proposal) if proposal.check().is_ok()));
        prop_assert_eq!(first, second);
    }
}

#[test]
fn proposals_are_held_within_range_and_step() {
    let mut governor = governor();
    let decision = governor.decide("test", &statistics(1, 200, 200), proposal(0.9, 0.01, 0.7, 0.5)).unwrap();
    assert_eq!(decision.outcome, Outcome::Applied);
    let after = decision.after;
    for (found, expected) in
        [(after.lambda_prog(), 0.15), (after.lambda_eff(), 0.1 / 1.5), (after.p_low(), 0.35), (after.p_high(), 0.75)]
    {
        assert!((found - expected).abs() < 1e-12, "{found} {expected}");
    }
    use ClampCause::{Range, Step};
    use Parameter::{LambdaEff, LambdaProg, PHigh, PLow};
    let expected = [
        (LambdaProg, Range),
        (LambdaProg, Step),
        (LambdaEff, Step),
        (PLow, Range),
        (PLow, Step),
        (PHigh, Range),
        (PHigh, Step),
    ];
    assert_eq!(causes(&decision), expected);
    // A proposal within all limits is taken as it is.
    let decision = governor.decide("test", &statistics(2, 200, 200), proposal(0.14, 0.07, 0.33, 0.76)).unwrap();
    assert_eq!((decision.after, decision.clamps.len()), (phi(0.14, 0.07, 0.33, 0.76), 0));
}

#[test]
fn thresholds_keep_their_distance() {
    let mut governor = Governor::new(phi(0.1, 0.1, 0.5, 0.6), guard(0.9)).unwrap();
    let decision = governor.decide("test", &statistics(1, 200, 200), proposal(0.1, 0.1, 0.5, 0.55)).unwrap();
    assert_eq!(causes(&decision), [(Parameter::PLow, ClampCause::Gap)]);
    assert!((decision.after.p_low() - 0.45).abs() < 1e-12 && decision.after.p_high() == 0.55);
}

#[test]
fn a_weight_of_zero_can_start_and_a_small_one_can_stop() {
    let mut governor = Governor::new(phi(0.1, 0.0, 0.3, 0.8), guard(0.9)).unwrap();
    let decision = governor.decide("test", &statistics(1, 200, 200), proposal(0.1, 0.3, 0.3, 0.8)).unwrap();
    assert!((decision.after.lambda_eff() - WEIGHT_START * WEIGHT_STEP_MAX).abs() < 1e-12);
    let decision = governor.decide("test", &statistics(2, 200, 200), proposal(0.1, 0.0, 0.3, 0.8)).unwrap();
    assert_eq!(decision.after.lambda_eff(), 0.0);
}

/// 186 of 200 is 93 %, but the 95 % lower bound (0.8926) does not reach 0.9; 190 of 200 (0.9163) does.
#[test]
fn the_cost_weighs_more_only_when_dev_success_surely_clears_the_target() {
    for (successes, open, lower) in [(186, false, 0.8926), (190, true, 0.9163)] {
        let decision =
            governor().decide("test", &statistics(1, successes, 200), proposal(0.1, 0.14, 0.3, 0.8)).unwrap();
        assert_eq!(decision.gate.open, open);
        assert!((decision.gate.lower.unwrap() - lower).abs() < 1e-3, "{:?}", decision.gate);
        if open {
            assert_eq!((decision.outcome, decision.after.lambda_eff()), (Outcome::Applied, 0.14));
        } else {
            assert_eq!((decision.outcome, decision.after), (Outcome::Kept(KeptBecause::NoChange), start()));
            assert_eq!(causes(&decision), [(Parameter::LambdaEff, ClampCause::Gate)]);
        }
    }
    // It may always fall.
    let decision = governor().decide("test", &statistics(1, 100, 200), proposal(0.1, 0.08, 0.3, 0.8)).unwrap();
    assert_eq!((decision.gate.open, decision.after.lambda_eff()), (false, 0.08));
}

#[test]
fn a_fall_beyond_the_interval_takes_the_last_change_back() {
    let mut governor = governor();
    let changed = governor.decide("test", &statistics(1, 190, 200), proposal(0.1, 0.14, 0.3, 0.78)).unwrap().after;
    // 184 of 200 is within the 95 % interval of 190 (0.910 to 0.976): nothing is taken back.
    let decision = governor.clone().decide("test", &statistics(2, 184, 200), Answer::Absent).unwrap();
    assert_eq!((decision.outcome, decision.after), (Outcome::Kept(KeptBecause::Absent), changed));
    // 178 is not, whatever is proposed.
    let decision = governor.decide("test", &statistics(2, 178, 200), proposal(0.1, 0.2, 0.3, 0.7)).unwrap();
    assert_eq!((decision.outcome, decision.after, decision.clamps.len()), (Outcome::Reverted, start(), 0));
    // Still below: nothing moves, until what is there becomes the measure.
    for step in 3..=4 {
        let decision = governor.decide("test", &statistics(step, 178, 200), proposal(0.1, 0.08, 0.3, 0.8)).unwrap();
        assert_eq!((decision.outcome, decision.rebased, decision.after), (Outcome::Held, false, start()));
    }
    let decision = governor.decide("test", &statistics(5, 178, 200), proposal(0.1, 0.08, 0.3, 0.8)).unwrap();
    assert_eq!((decision.outcome, decision.rebased, decision.after.lambda_eff()), (Outcome::Applied, true, 0.08));
}

#[test]
fn anything_but_a_proposal_keeps_what_was_in_force() {
    let long = Proposal { reason: Some("x".repeat(REASON_BYTES_MAX + 1)), ..Proposal::of(start().values()) };
    for (answer, because) in [
        (Answer::Late, KeptBecause::Late),
        (Answer::Absent, KeptBecause::Absent),
        (Answer::parse("raise it a little"), KeptBecause::Invalid),
        (Answer::parse(r#"{"lambda_prog":0.1,"lambda_eff":0.1,"p_low":0.3}"#), KeptBecause::Invalid),
        (
            Answer::parse(r#"{"lambda_prog":0.1,"lambda_eff":0.1,"p_low":0.3,"p_high":0.7,"reward":1}"#),
            KeptBecause::Invalid,
        ),
        (Answer::parse(r#"{"lambda_prog":0.1,"lambda_eff":0.1,"p_low":0.3,"p_high":"0.7"}"#), KeptBecause::Invalid),
        (
            Answer::parse(r#"{"lambda_prog":0.1,"lambda_eff":0.1,"p_low":0.3,"p_high":0.7,"p_high":0.6}"#),
            KeptBecause::Invalid,
        ),
        (Answer::parse(&format!("{{\"reason\":\"{}\"}}", "x".repeat(PROPOSAL_JSON.bytes_max))), KeptBecause::Invalid),
        (proposal(0.1, f64::NAN, 0.3, 0.8), KeptBecause::Invalid),
        (Answer::Proposal(long), KeptBecause::Invalid),
        (Answer::Invalid { reason: "é".repeat(REASON_BYTES_MAX) }, KeptBecause::Invalid),
    ] {
        let decision = governor().decide("test", &statistics(1, 200, 200), answer).unwrap();
        assert_eq!((decision.outcome, decision.after), (Outcome::Kept(because), start()));
        if let Answer::Invalid { reason } = &decision.answer {
            assert!(!reason.is_empty() && reason.len() <= REASON_BYTES_MAX);
        }
    }
    let unmeasured = Statistics { dev: None, ..statistics(1, 1, 1) };
    let decision = governor().decide("test", &unmeasured, proposal(0.1, 0.1, 0.3, 0.78)).unwrap();
    assert_eq!((decision.outcome, decision.after), (Outcome::Kept(KeptBecause::NoDev), start()));
    let text = r#"{"lambda_prog":0.1,"lambda_eff":0.1,"p_low":0.3,"p_high":0.78,"reason":"few groups are efficient"}"#;
    let decision = governor().decide("test", &statistics(1, 200, 200), Answer::parse(text)).unwrap();
    assert_eq!((decision.outcome, decision.after.p_high()), (Outcome::Applied, 0.78));
}

#[test]
fn what_a_governor_cannot_start_from_is_refused() {
    for outside in
        [phi(0.6, 0.1, 0.3, 0.8), phi(0.1, 0.31, 0.3, 0.8), phi(0.1, 0.1, 0.55, 0.8), phi(0.1, 0.1, 0.5, 0.58)]
    {
        assert_eq!(Governor::new(outside, guard(0.9)), Err(ControlError::OutOfBounds { found: outside }));
    }
    for found in [0.0, 1.0, -0.1, f64::NAN] {
        assert!(matches!(Governor::new(start(), guard(found)), Err(ControlError::Target { .. })));
    }
    let mut governor = governor();
    governor.decide("test", &statistics(8, 190, 200), Answer::Absent).unwrap();
    let error = governor.decide("test", &statistics(8, 190, 200), Answer::Absent).unwrap_err();
    assert_eq!(error, ControlError::Step { last: 8, found: 8 });
    // A checkpoint that was changed by hand: the parameters to go back to lie more than a step away.
    let mut state = serde_json::to_value(governor.state()).unwrap();
    state["good"]["phi"]["p_high"] = serde_json::json!(0.6);
    let state: GovernorState = serde_json::from_value(state).unwrap();
    assert!(matches!(Governor::restore(state, guard(0.9)), Err(ControlError::OutOfBounds { .. })));
}

#[test]
fn history_is_bounded() {
    let mut governor = governor();
    for step in 1..=HISTORY_MAX as u64 + 3 {
        governor.decide("test", &statistics(step, 190, 200), Answer::Absent).unwrap();
    }
    assert_eq!(governor.history().count(), HISTORY_MAX);
    assert_eq!(governor.history().next().unwrap().statistics.step, 4);
}

#[test]
fn the_rule_raises_retreats_and_helps() {
    let mut governor = governor();
    let mut rule = Rule { guard: guard(0.9) };
    let decision = governor.consult(&mut rule, &statistics(1, 200, 200)).unwrap();
    assert_eq!((decision.controller.as_str(), decision.outcome), ("rule", Outcome::Applied));
    assert!((decision.after.lambda_eff() - 0.125).abs() < 1e-12 && decision.after.p_high() == 0.8);
    // Below the target and beyond the interval: first back, then, when that is the new measure, down.
    let outcomes: Vec<_> =
        (2..=6).map(|step| governor.consult(&mut rule, &statistics(step, 150, 200)).unwrap()).collect();
    assert_eq!(outcomes[0].outcome, Outcome::Reverted);
    assert!(outcomes[1..3].iter().all(|decision| decision.outcome == Outcome::Held));
    assert!(outcomes[3].rebased && (outcomes[3].after.lambda_eff() - 0.1 / 1.5).abs() < 1e-12);
    assert!((outcomes[3].after.p_high() - 0.82).abs() < 1e-12);

    let with_shares = |progress_share: f64, efficiency_share: f64| {
        let train = TrainValues {
            progress_share,
            consolidation_share: 1.0 - progress_share - efficiency_share,
            efficiency_share,
            degenerate_share: 0.0,
            success: 0.5,
        };
        Statistics { train: Some(Train::new(train).unwrap()), ..statistics(1, 200, 200) }
    };
    let hard = Rule { guard: guard(0.9) }.propose(&with_shares(0.8, 0.1), &start(), &Bounds);
    let Answer::Proposal(hard) = hard else { panic!("{hard:?}") };
    assert!((hard.lambda_prog - 0.125).abs() < 1e-12 && (hard.p_high - 0.78).abs() < 1e-12);
    let easy = Rule { guard: guard(0.9) }.propose(&with_shares(0.0, 0.9), &start(), &Bounds);
    let Answer::Proposal(easy) = easy else { panic!("{easy:?}") };
    assert!((easy.lambda_prog - 0.08).abs() < 1e-12 && easy.p_high == 0.8);
    let blind = Statistics { train: None, ..statistics(1, 200, 200) };
    assert_eq!(rule.propose(&blind, &start(), &Bounds), Answer::Absent);
}

#[test]
fn statistics_are_checked_and_come_from_training() {
    let good = *statistics(1, 1, 1).train.unwrap().values();
    for bad in [
        TrainValues { success: 1.1, ..good },
        TrainValues { degenerate_share: f64::NAN, ..good },
        TrainValues { progress_share: -0.1, ..good },
        TrainValues { efficiency_share: 0.6, ..good },
    ] {
        assert!(Train::new(bad).is_err(), "{bad:?}");
    }
    let success = Binomial::new(1, 2).unwrap();
    assert!(Dev::new(DevValues { success, cost_mean: 1.5 }).is_err());
    assert!(serde_json::from_str::<Statistics>(r#"{"step":1,"train":null,"dev":null,"reward":0.5}"#).is_err());

    let mut seen = care::Statistics::default();
    assert_eq!(Train::of(&seen), None);
    seen.counters.kept = 4;
    seen.counters.degenerate = 1;
    seen.progress = care::RegimeLine { groups: 1, members: 8, successes: 0, ..Default::default() };
    seen.efficiency = care::RegimeLine { groups: 3, members: 24, successes: 24, ..Default::default() };
    let train = Train::of(&seen).unwrap();
    assert_eq!(seen.share(Regime::Efficiency), Some(0.75));
    assert_eq!(
        (train.values().efficiency_share, train.values().degenerate_share, train.values().success),
        (0.75, 0.25, 0.75)
    );
}
