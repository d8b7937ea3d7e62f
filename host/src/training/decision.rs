//! A decision of the controller for people: what was proposed, what was corrected, the gate, what came of it and why. It decides nothing.

use loopwright_contract::plain::Plain;
use loopwright_learn::care::{Phi, PhiValues};
use loopwright_learn::control::{Answer, Clamp, ClampCause, Decision, Gate, KeptBecause, Outcome, Parameter};

/// What came of it, in one line: for the progress of a run.
#[must_use]
pub fn headline(decision: &Decision) -> String {
    let Decision { controller, statistics, outcome, rebased, before, after, .. } = decision;
    let word = match outcome {
        Outcome::Applied => "applied",
        Outcome::Kept(KeptBecause::Invalid) => "kept, because the answer was no proposal",
        Outcome::Kept(KeptBecause::Late) => "kept, because no answer came in time",
        Outcome::Kept(KeptBecause::Absent) => "kept, because there was no answer",
        Outcome::Kept(KeptBecause::NoDev) => "kept, because nothing is known of dev success",
        Outcome::Kept(KeptBecause::NoChange) => "kept, because nothing is left of the proposal",
        Outcome::Reverted => "reverted, because dev success fell below its interval",
        Outcome::Held => "held, because dev success is still below its interval",
    };
    let changes = changes(before, after);
    let changed = if changes.is_empty() { String::new() } else { format!(": {}", changes.join(", ")) };
    let rebased = if *rebased { "; what dev success fell to is its measure from now on" } else { "" };
    format!("controller `{}` at step {}: {word}{changed}{rebased}", Plain(controller), statistics.step)
}

/// The same, and below it how it came to be: for looking back.
#[must_use]
pub fn lines(decision: &Decision) -> Vec<String> {
    let mut lines = vec![headline(decision), format!("  {}", said(&decision.answer))];
    if !decision.clamps.is_empty() {
        lines.push(format!("  corrected {}", decision.clamps.iter().map(corrected).collect::<Vec<_>>().join(", ")));
    }
    lines.push(format!("  {}", gate(&decision.gate)));
    lines
}

fn said(answer: &Answer) -> String {
    match answer {
        Answer::Proposal(proposal) => {
            let PhiValues { lambda_prog, lambda_eff, p_low, p_high } = proposal.values();
            let reason = proposal.reason.as_deref().filter(|reason| !reason.is_empty());
            let because = reason.map_or_else(String::new, |reason| format!(": {}", Plain(reason)));
            format!(
                "proposed lambda_prog {lambda_prog:.4}, lambda_eff {lambda_eff:.4}, p_low {p_low:.4}, p_high {p_high:.4}{because}"
            )
        }
        Answer::Invalid { reason } => format!("no proposal: {}", Plain(reason)),
        Answer::Late => "nothing proposed in time".to_owned(),
        Answer::Absent => "nothing proposed".to_owned(),
    }
}

fn corrected(clamp: &Clamp) -> String {
    let cause = match clamp.cause {
        ClampCause::Range => "its range",
        ClampCause::Step => "one step",
        ClampCause::Gap => "the gap of the thresholds",
        ClampCause::Gate => "the gate",
    };
    format!("{} {:.4} -> {:.4} by {cause}", name(clamp.parameter), clamp.from, clamp.to)
}

fn gate(gate: &Gate) -> String {
    let state = if gate.open { "open" } else { "closed" };
    match gate.lower {
        Some(lower) => {
            format!("gate {state}: dev success is surely at least {lower:.4}, the target is {:.4}", gate.target)
        }
        None => format!("gate {state}: dev success is not known, the target is {:.4}", gate.target),
    }
}

/// What is in force now and was not before.
fn changes(before: &Phi, after: &Phi) -> Vec<String> {
    let change = |parameter: Parameter| {
        let (from, to) = (value(before, parameter), value(after, parameter));
        (from.to_bits() != to.to_bits()).then(|| format!("{} {from:.4} -> {to:.4}", name(parameter)))
    };
    Parameter::ALL.into_iter().filter_map(change).collect()
}

fn name(parameter: Parameter) -> &'static str {
    match parameter {
        Parameter::LambdaProg => "lambda_prog",
        Parameter::LambdaEff => "lambda_eff",
        Parameter::PLow => "p_low",
        Parameter::PHigh => "p_high",
    }
}

fn value(phi: &Phi, parameter: Parameter) -> f64 {
    match parameter {
        Parameter::LambdaProg => phi.lambda_prog(),
        Parameter::LambdaEff => phi.lambda_eff(),
        Parameter::PLow => phi.p_low(),
        Parameter::PHigh => phi.p_high(),
    }
}

#[cfg(test)]
mod tests {
    use loopwright_learn::control::{Dev, DevValues, Governor, Guard, Proposal, Statistics};
    use loopwright_learn::estimate::{Binomial, Level};

    use super::*;

    const START: PhiValues = PhiValues { lambda_prog: 0.1, lambda_eff: 0.2, p_low: 0.3, p_high: 0.8 };

    fn guard() -> Guard {
        Guard { target: 0.5, level: Level::new(0.95).unwrap() }
    }

    fn governor() -> Governor {
        Governor::new(Phi::new(START).unwrap(), guard()).unwrap()
    }

    /// One decision, with so many of a hundred dev episodes passed.
    fn decide(governor: &mut Governor, step: u64, passed: Option<u64>, answer: Answer) -> Vec<String> {
        let dev = |passed| DevValues { success: Binomial::new(passed, 100).unwrap(), cost_mean: 0.5 };
        let dev = passed.map(|passed| Dev::new(dev(passed)).unwrap());
        lines(&governor.decide("rule", &Statistics { step, train: None, dev }, answer).unwrap())
    }

    fn proposal(values: PhiValues, reason: &str) -> Answer {
        Answer::Proposal(Proposal { reason: Some(reason.to_owned()), ..Proposal::of(values) })
    }

    #[test]
    fn a_proposal_that_is_taken_is_shown_with_what_was_corrected_and_the_gate() {
        let values = PhiValues { lambda_prog: 0.9, lambda_eff: 0.25, p_low: 0.3, p_high: 0.78 };
        assert_eq!(
            decide(&mut governor(), 20, Some(90), proposal(values, "it is time")),
            [
                "controller `rule` at step 20: applied: lambda_prog 0.1000 -> 0.1500, lambda_eff 0.2000 -> 0.2500, \
                 p_high 0.8000 -> 0.7800",
                "  proposed lambda_prog 0.9000, lambda_eff 0.2500, p_low 0.3000, p_high 0.7800: it is time",
                "  corrected lambda_prog 0.9000 -> 0.5000 by its range, lambda_prog 0.5000 -> 0.1500 by one step",
                "  gate open: dev success is surely at least 0.8363, the target is 0.5000",
            ]
        );
    }

    #[test]
    fn a_closed_gate_says_so_and_what_is_kept_says_why() {
        let dearer = PhiValues { lambda_eff: 0.25, ..START };
        assert_eq!(
            decide(&mut governor(), 20, Some(50), proposal(dearer, "")),
            [
                "controller `rule` at step 20: kept, because nothing is left of the proposal",
                "  proposed lambda_prog 0.1000, lambda_eff 0.2500, p_low 0.3000, p_high 0.8000",
                "  corrected lambda_eff 0.2500 -> 0.2000 by the gate",
                "  gate closed: dev success is surely at least 0.4136, the target is 0.5000",
            ]
        );
        let wide = Phi::new(PhiValues { p_low: 0.5, p_high: 0.62, ..START }).unwrap();
        let mut close = Governor::new(wide, guard()).unwrap();
        let near = PhiValues { p_low: 0.5, p_high: 0.56, ..START };
        let found = decide(&mut close, 1, Some(50), proposal(near, ""));
        let corrected = "p_high 0.5600 -> 0.5700 by one step, p_low 0.5000 -> 0.4700 by the gap of the thresholds";
        assert_eq!(found[2], format!("  corrected {corrected}"));
        for (answer, headline, said) in [
            (Answer::Late, "kept, because no answer came in time", "  nothing proposed in time"),
            (Answer::Absent, "kept, because there was no answer", "  nothing proposed"),
            (
                Answer::Invalid { reason: "it\nsang".to_owned() },
                "kept, because the answer was no proposal",
                "  no proposal: it\\u{a}sang",
            ),
        ] {
            let found = decide(&mut governor(), 7, Some(90), answer);
            assert_eq!(found[..2], [format!("controller `rule` at step 7: {headline}"), said.to_owned()]);
            assert_eq!(found.len(), 3, "nothing is corrected where nothing was weighed: {found:?}");
        }
        let found = decide(&mut governor(), 7, None, proposal(dearer, "why not"));
        assert_eq!(
            found,
            [
                "controller `rule` at step 7: kept, because nothing is known of dev success",
                "  proposed lambda_prog 0.1000, lambda_eff 0.2500, p_low 0.3000, p_high 0.8000: why not",
                "  gate closed: dev success is not known, the target is 0.5000",
            ]
        );
    }

    #[test]
    fn a_fall_of_dev_success_is_told_from_the_change_that_is_taken_back_to_the_new_measure() {
        let mut governor = governor();
        let dearer = |lambda_eff| proposal(PhiValues { lambda_eff, ..START }, "");
        decide(&mut governor, 1, Some(90), dearer(0.25));
        let told = |step, governor: &mut Governor| decide(governor, step, Some(60), dearer(0.3)).swap_remove(0);
        assert_eq!(
            told(2, &mut governor),
            "controller `rule` at step 2: reverted, because dev success fell below its interval: lambda_eff 0.2500 -> 0.2000"
        );
        for step in 3..5 {
            let held = "held, because dev success is still below its interval";
            assert_eq!(told(step, &mut governor), format!("controller `rule` at step {step}: {held}"));
        }
        assert_eq!(
            told(5, &mut governor),
            "controller `rule` at step 5: applied: lambda_eff 0.2000 -> 0.3000; what dev success fell to is its measure \
             from now on"
        );
    }
}
