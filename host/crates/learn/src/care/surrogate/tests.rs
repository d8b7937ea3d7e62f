//! Equation (10), term by term, and against finite differences.

use proptest::prelude::*;

use super::*;
use crate::care::tests::{group_of, phi, scheme};
use crate::care::{Assignment, Estimator, GroupSize};

const CONSTANT: Denominator = Denominator::TokenMean;

fn surrogate(beta: f64) -> Surrogate {
    Surrogate::new(SurrogateValues { clip_low: 0.2, clip_high: 0.28, weight_cap: 2.5, beta, denominator: CONSTANT })
        .unwrap()
}

fn any_log_probs() -> impl Strategy<Value = LogProbs> {
    (-6.0..-0.01, -6.0..-0.01, -6.0..-0.01).prop_map(|(policy, sampled, reference)| LogProbs {
        policy,
        sampled,
        reference: Some(reference),
    })
}

proptest! {
    /// Up to the cap the first part is the clipped surrogate as it is usually written.
    #[test]
    fn below_the_cap_it_is_the_usual_minimum(log_probs in any_log_probs(), advantage in -3.0..3.0) {
        let ratio: f64 = (log_probs.policy - log_probs.sampled).exp();
        let term = surrogate(0.0).token(advantage, log_probs).unwrap();
        let usual = (ratio * advantage).min(ratio.clamp(0.8, 1.28) * advantage);
        if ratio <= 2.5 || advantage > 0.0 {
            prop_assert!((term.objective - usual).abs() < 1e-9);
        } else {
            // Truncated: a bound from above that is looser than the usual one, never a steeper one.
            prop_assert!(term.truncated && term.objective > usual);
        }
        prop_assert_eq!(term.clipped, (advantage > 0.0 && ratio > 1.28) || (advantage < 0.0 && ratio < 0.8));
    }

    /// The gradient factor is the derivative of the term, and never larger than the cap lets it be.
    #[test]
    fn the_gradient_is_the_derivative(log_probs in any_log_probs(), advantage in -3.0..3.0f64, beta in 0.0..0.1) {
        let surrogate = surrogate(beta);
        let step = 1e-6;
        let at = |policy| surrogate.token(advantage, LogProbs { policy, ..log_probs }).unwrap();
        let (term, above, below) = (at(log_probs.policy), at(log_probs.policy + step), at(log_probs.policy - step));
        // At a kink there is no derivative.
        prop_assume!(above.clipped == below.clipped);
        let difference = (above.objective - below.objective) / (2.0 * step);
        prop_assert!((term.gradient - difference).abs() < 1e-5 * (1.0 + difference.abs()), "{} {}", term.gradient, difference);
        let first = surrogate_only(&surrogate, advantage, log_probs);
        prop_assert!(first.abs() <= 2.5 * advantage.abs() + 1e-12);
    }

    /// k3 is never negative, and zero only where the policies agree.
    #[test]
    fn kl_is_never_negative(log_probs in any_log_probs()) {
        let term = surrogate(0.1).token(0.0, log_probs).unwrap();
        let difference = log_probs.reference.unwrap() - log_probs.policy;
        prop_assert!(term.kl >= 0.0);
        prop_assert!((term.kl - (difference.exp() - 1.0 - difference)).abs() < 1e-12);
        let same = surrogate(0.1).token(0.0, LogProbs { reference: Some(log_probs.policy), ..log_probs }).unwrap();
        prop_assert_eq!((same.kl, same.objective, same.gradient), (0.0, 0.0, 0.0));
    }
}

fn surrogate_only(surrogate: &Surrogate, advantage: f64, log_probs: LogProbs) -> f64 {
    let without = SurrogateValues { beta: 0.0, ..*surrogate.values() };
    Surrogate::new(without).unwrap().token(advantage, log_probs).unwrap().gradient
}

#[test]
fn terms_worked_out_by_hand() {
    let ln = |ratio: f64| LogProbs { policy: ratio.ln() - 3.0, sampled: -3.0, reference: None };
    for (ratio, advantage, objective, gradient, clipped, truncated) in [
        (1.0, 2.0, 2.0, 2.0, false, false),
        (1.2, 2.0, 2.4, 2.4, false, false),
        (1.5, 2.0, 2.56, 0.0, true, false),
        (0.5, 2.0, 1.0, 1.0, false, false),
        (0.5, -2.0, -1.6, 0.0, true, false),
        (1.5, -2.0, -3.0, -3.0, false, false),
        (5.0, -2.0, -5.0 * (1.0 + 2f64.ln()), -5.0, false, true),
        (5.0, 2.0, 2.56, 0.0, true, false),
    ] {
        let term = surrogate(0.0).token(advantage, ln(ratio)).unwrap();
        assert!((term.objective - objective).abs() < 1e-12, "{ratio} {advantage}: {term:?}");
        assert!((term.gradient - gradient).abs() < 1e-12, "{ratio} {advantage}: {term:?}");
        assert_eq!((term.clipped, term.truncated), (clipped, truncated), "{ratio} {advantage}");
    }
}

/// A trained policy that is far above the sampling one would overflow a ratio; its gradient stays capped.
#[test]
fn huge_ratios_are_never_formed() {
    let far = LogProbs { policy: -1.0, sampled: -600.0, reference: None };
    let term = surrogate(0.0).token(-1.0, far).unwrap();
    assert_eq!(term.gradient, -2.5);
    assert!(term.objective.is_finite());
    let beyond = LogProbs { sampled: -1e6, ..far };
    assert!(matches!(surrogate(0.0).token(-1.0, beyond), Err(TokenFault::NotFinite { .. })));
}

#[test]
fn what_is_no_log_probability_is_refused() {
    let good = LogProbs { policy: -1.0, sampled: -1.0, reference: Some(-1.0) };
    for bad in [f64::NAN, f64::INFINITY, f64::NEG_INFINITY, LOG_PROB_MAX * 1.01] {
        for (name, log_probs) in [
            ("policy", LogProbs { policy: bad, ..good }),
            ("sampled", LogProbs { sampled: bad, ..good }),
            ("reference", LogProbs { reference: Some(bad), ..good }),
        ] {
            let error = surrogate(0.1).token(1.0, log_probs).unwrap_err();
            assert!(matches!(error, TokenFault::LogProb { name: found, .. } if found == name), "{error}");
        }
    }
    assert!(surrogate(0.0).token(1.0, LogProbs { policy: LOG_PROB_MAX, ..good }).is_ok());
    let missing = LogProbs { reference: None, ..good };
    assert_eq!(surrogate(0.1).token(1.0, missing), Err(TokenFault::NoReference { beta: 0.1 }));
    assert!(matches!(surrogate(0.0).token(f64::NAN, good), Err(TokenFault::NotFinite { .. })));
    assert!(matches!(surrogate(0.0).token(f64::INFINITY, good), Err(TokenFault::NotFinite { .. })));
}

#[test]
fn constants_outside_their_ranges_are_refused() {
    let good = *surrogate(0.0).values();
    for (name, values) in [
        ("clip_low", SurrogateValues { clip_low: CLIP_LOW_MAX * 1.01, ..good }),
        ("clip_low", SurrogateValues { clip_low: -0.01, ..good }),
        ("clip_high", SurrogateValues { clip_high: CLIP_HIGH_MAX * 1.01, ..good }),
        ("weight_cap", SurrogateValues { weight_cap: WEIGHT_CAP_MIN * 0.99, ..good }),
        ("weight_cap", SurrogateValues { weight_cap: WEIGHT_CAP_MAX * 1.01, ..good }),
        ("beta", SurrogateValues { beta: BETA_MAX * 1.01, ..good }),
        ("beta", SurrogateValues { beta: f64::NAN, ..good }),
    ] {
        let error = Surrogate::new(values).unwrap_err();
        assert!(matches!(error, SurrogateError::Range { name: found, .. } if found == name), "{error}");
    }
    let group_size = GroupSize::new(8).unwrap();
    for (groups, token_budget) in [(0, 48), (16, 0)] {
        let denominator = Denominator::Constant { groups, group_size, token_budget };
        assert_eq!(Surrogate::usual(denominator), Err(SurrogateError::Denominator { groups, token_budget }));
    }
    let text = serde_json::to_string(&surrogate(0.1)).unwrap();
    assert_eq!(serde_json::from_str::<Surrogate>(&text).unwrap(), surrogate(0.1));
    assert!(serde_json::from_str::<Surrogate>(&text.replace("2.5", "9.5")).is_err());
}

/// A group that teaches, one whose members are all alike, and one that was dropped.
fn three_groups() -> Assignment {
    let groups = [
        group_of(1, &[Some((true, 1.0, 0.5)), Some((false, 0.0, 0.5)), None]),
        group_of(2, &[Some((true, 1.0, 0.5)), Some((true, 1.0, 0.5)), Some((true, 1.0, 0.5))]),
        group_of(3, &[Some((true, 1.0, 0.5)), None, None]),
    ];
    scheme(Estimator::Vanilla, phi(0.1, 0.1, 0.3, 0.8)).assign(&groups).unwrap()
}

/// One trained token, one observation, one trained token, everywhere.
fn tokens(reference: f64) -> Vec<Vec<Vec<Option<LogProbs>>>> {
    let token = Some(LogProbs { policy: -1.0, sampled: -1.0, reference: Some(reference) });
    vec![vec![vec![token, None, token]; 3]; 3]
}

#[test]
fn silent_groups_void_members_and_masked_tokens_are_worth_nothing() {
    let far_reference = tokens(-0.2);
    let step = surrogate(0.1).step(&three_groups(), &far_reference).unwrap();
    // KL pulls on every token of the first group's two members, and on no other: degenerate groups are left alone too.
    let live: Vec<Vec<bool>> =
        step.gradients.iter().flatten().map(|row| row.iter().map(|factor| *factor != 0.0).collect()).collect();
    let (yes, no) = (vec![true, false, true], vec![false; 3]);
    assert_eq!(live[..2], [yes.clone(), yes]);
    assert!(live[2..].iter().all(|row| *row == no), "{live:?}");
    assert_eq!((step.figures.tokens, step.figures.informative), (10, 4));
    let kl = 0.8f64.exp() - 1.8;
    assert!((step.figures.kl_mean - kl).abs() < 1e-12);
    // Advantages are +1 and -1, so only the KL is left of the sum.
    assert!((step.objective + 0.1 * kl * 4.0 / 10.0).abs() < 1e-12, "{}", step.objective);
    assert_eq!(step.figures.mismatch_kl_mean, 0.0);
}

#[test]
fn the_denominator_is_constant_or_counts_tokens() {
    let group_size = GroupSize::new(3).unwrap();
    for (denominator, expected) in
        [(Denominator::Constant { groups: 3, group_size, token_budget: 5 }, 45.0), (Denominator::TokenMean, 10.0)]
    {
        let step = Surrogate::usual(denominator).unwrap().step(&three_groups(), &tokens(-1.0)).unwrap();
        assert_eq!(step.denominator, expected);
        assert!((step.gradients[0][0][0] - 1.0 / expected).abs() < 1e-12);
        assert!((step.gradients[0][1][2] + 1.0 / expected).abs() < 1e-12);
    }
    let nothing = Surrogate::usual(Denominator::TokenMean).unwrap();
    let step = nothing.step(&three_groups(), &vec![vec![Vec::new(); 3]; 3]).unwrap();
    assert_eq!((step.objective, step.denominator), (0.0, 1.0));
}

#[test]
fn a_step_is_refused_as_a_whole() {
    let surrogate = surrogate(0.0);
    let error = surrogate.step(&three_groups(), &tokens(-1.0)[..2]).unwrap_err();
    assert_eq!(error, StepFault::Shape { what: "groups", expected: 3, found: 2 });
    let mut ragged = tokens(-1.0);
    ragged[1].pop();
    let error = surrogate.step(&three_groups(), &ragged).unwrap_err();
    assert_eq!(error, StepFault::Shape { what: "slots", expected: 3, found: 2 });
    let mut broken = tokens(-1.0);
    broken[0][1][2] = Some(LogProbs { policy: f64::NAN, sampled: -1.0, reference: None });
    let error = surrogate.step(&three_groups(), &broken).unwrap_err();
    assert_eq!(error.to_string(), "group 1, slot 1, token 2 has no term");
    assert!(
        std::error::Error::source(&error).unwrap().to_string().contains("`policy` must be a finite log-probability")
    );
}
