use std::cell::RefCell;

use candle_core::{Device, Tensor, Var};
use proptest::prelude::*;

use super::super::loss::{LossFigures, TokenData, surrogate_loss};
use crate::care::surrogate::{Denominator, LogProbs, Surrogate, SurrogateValues};
use crate::care::tests::{group_of, phi, scheme};
use crate::care::{Estimator, GroupSize};
use crate::nn::random::Stream;

const TOKENS: usize = 3;

/// Log-probabilities of a step's tokens, by group and slot.
type Tokens = Vec<Vec<Vec<Option<LogProbs>>>>;

/// Log-probabilities of tokens in f32, as scores are, with ratios on all sides of the clip and the cap.
fn tokens(groups: usize, members: usize, seed: u64, with_reference: bool) -> Tokens {
    let mut stream = Stream::numbered(seed, 3);
    let mut token = || {
        let policy = f64::from(-(stream.uniform() * 3.0 + 0.01) as f32);
        let near = stream.uniform() * 2.4 - 1.2;
        let reference = with_reference.then(|| -(stream.uniform() * 3.0));
        Some(LogProbs { policy, sampled: (policy + near).min(0.0), reference })
    };
    (0..groups).map(|_| (0..members).map(|_| (0..TOKENS).map(|_| token()).collect()).collect()).collect()
}

proptest! {
    #[test]
    fn the_loss_over_tensors_is_the_surrogate_of_care(seed in 0_u64..1_000, beta in prop::sample::select(vec![0.0, 0.05])) {
        let groups = [
            group_of(1, &[Some((true, 1.0, 0.2)), Some((false, 0.3, 0.5)), Some((true, 1.0, 0.4))]),
            group_of(2, &[Some((true, 1.0, 0.2)), Some((true, 1.0, 0.6)), Some((true, 1.0, 0.1))]),
            group_of(3, &[Some((false, 0.0, 0.9)), Some((false, 0.6, 0.9)), Some((true, 1.0, 0.9))]),
        ];
        let assignment = scheme(Estimator::Care, phi(0.1, 0.2, 0.3, 0.8)).assign(&groups).unwrap();
        let denominator = Denominator::Constant { groups: 3, group_size: GroupSize::new(3).unwrap(), token_budget: 7 };
        let values = SurrogateValues { clip_low: 0.2, clip_high: 0.28, weight_cap: 2.0, beta, denominator };
        let surrogate = Surrogate::new(values).unwrap();
        let tokens = tokens(3, 3, seed, true);
        let expected = surrogate.step(&assignment, &tokens).unwrap();

        let flat: Vec<LogProbs> = tokens.iter().flatten().flatten().flatten().copied().collect();
        let advantages = assignment.groups().iter().flat_map(|group| group.credits());
        let data = TokenData {
            advantages: advantages.flat_map(|credit| std::iter::repeat_n(credit.advantage, TOKENS)).collect(),
            sampled: flat.iter().map(|token| token.sampled).collect(),
            reference: Some(flat.iter().map(|token| token.reference.unwrap()).collect()),
        };
        let policy: Vec<f32> = flat.iter().map(|token| token.policy as f32).collect();
        let figures = RefCell::new(LossFigures::default());
        let (mut loss, mut gradients) = (0.0, Vec::new());
        // In two parts, as a batch is.
        for range in [0..10, 10..flat.len()] {
            let part = Var::from_slice(&policy[range.clone()], range.len(), &Device::Cpu).unwrap();
            let value =
                surrogate_loss(&part, range, &surrogate, &data, expected.denominator, &figures).unwrap();
            loss += f64::from(value.to_scalar::<f32>().unwrap());
            gradients.extend(value.backward().unwrap().get(&part).unwrap().to_vec1::<f32>().unwrap());
        }
        let figures = figures.into_inner();
        prop_assert!((loss + expected.objective).abs() < 1e-5, "{loss} against {}", -expected.objective);
        prop_assert!((figures.loss(expected.denominator) + expected.objective).abs() < 1e-12);
        for (found, expected) in gradients.iter().zip(expected.gradients.iter().flatten().flatten()) {
            prop_assert!((f64::from(*found) + expected).abs() < 1e-6 * (1.0 + expected.abs()), "{found} against {expected}");
        }
        prop_assert_eq!(gradients.len(), 27);
        let found = figures.figures(expected.figures.tokens);
        prop_assert_eq!((found.clipped, found.truncated), (expected.figures.clipped, expected.figures.truncated));
        prop_assert!((found.mismatch_kl_mean - expected.figures.mismatch_kl_mean).abs() < 1e-12);
        prop_assert!((found.kl_mean - expected.figures.kl_mean).abs() < 1e-12);
    }

    /// Against the same written out of candle's own operations, where no weight is truncated.
    #[test]
    fn it_is_the_clipped_surrogate_as_it_is_usually_written(seed in 0_u64..1_000) {
        let flat: Vec<LogProbs> = tokens(1, 8, seed, false).into_iter().flatten().flatten().flatten()
            .filter(|token| token.policy - token.sampled < 0.69).collect();
        let denominator = Denominator::TokenMean;
        let surrogate = Surrogate::usual(denominator).unwrap();
        let advantages: Vec<f64> = (0..flat.len()).map(|place| [0.7, -1.3, 0.2][place % 3]).collect();
        let tensor = |values: Vec<f64>| Tensor::from_vec(values.iter().map(|value| *value as f32).collect::<Vec<f32>>(), flat.len(), &Device::Cpu).unwrap();
        let policy = Var::from_tensor(&tensor(flat.iter().map(|token| token.policy).collect())).unwrap();
        let sampled = tensor(flat.iter().map(|token| token.sampled).collect());
        let weights = tensor(advantages.clone());
        let ratio = policy.sub(&sampled).unwrap().exp().unwrap();
        let free = ratio.mul(&weights).unwrap();
        let held = ratio.clamp(0.8_f32, 1.28_f32).unwrap().mul(&weights).unwrap();
        let usual = free.minimum(&held).unwrap().sum_all().unwrap().affine(-1.0 / flat.len() as f64, 0.0).unwrap();
        let data = TokenData { advantages, sampled: flat.iter().map(|token| f64::from(token.sampled as f32)).collect(), reference: None };
        let figures = RefCell::new(LossFigures::default());
        let ours = surrogate_loss(&policy, 0..flat.len(), &surrogate, &data, flat.len() as f64, &figures).unwrap();
        let value = |tensor: &Tensor| tensor.to_scalar::<f32>().unwrap();
        prop_assert!((value(&ours) - value(&usual)).abs() < 1e-4, "{} against {}", value(&ours), value(&usual));
        let gradient = |loss: &Tensor| loss.backward().unwrap().get(&policy).unwrap().to_vec1::<f32>().unwrap();
        // At the very edge of the clip the two may fall on different sides.
        let edge = |token: &LogProbs| [0.8_f64.ln(), 1.28_f64.ln()].iter().any(|edge| (token.policy - token.sampled - edge).abs() < 1e-5);
        for ((ours, usual), token) in gradient(&ours).iter().zip(gradient(&usual)).zip(&flat).filter(|(_, token)| !edge(token)) {
            prop_assert!((ours - usual).abs() < 1e-4, "{ours} against {usual} at {token:?}");
        }
    }
}

#[test]
fn a_token_without_a_term_says_which_one_it_is() {
    let surrogate = Surrogate::usual(Denominator::TokenMean).unwrap();
    let data = TokenData { advantages: vec![1.0; 3], sampled: vec![-1.0, f64::NAN, -1.0], reference: None };
    let figures = RefCell::new(LossFigures::default());
    let chosen = Var::from_slice(&[-1.0_f32; 3], 3, &Device::Cpu).unwrap();
    assert!(surrogate_loss(&chosen, 0..3, &surrogate, &data, 3.0, &figures).is_err());
    let fault = figures.borrow_mut().take_fault().unwrap().to_string();
    assert_eq!(fault, "token 1 has no term");
    assert!(surrogate_loss(&chosen, 1..4, &surrogate, &data, 3.0, &figures).is_err());
    assert!(figures.borrow_mut().take_fault().unwrap().to_string().contains("3 tokens"));
}
