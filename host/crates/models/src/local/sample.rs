//! Choosing the next token among those that are allowed.

use loopwright_contract::planner::SampledToken;
use rand_chacha::ChaCha8Rng;
use rand_core::Rng as _;

/// How tokens are chosen.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Sampling {
    /// 0: always the most probable token. The log-probabilities are then those at temperature 1.
    pub temperature: f32,
    /// Of the most probable tokens only as many as reach this probability together; 1: all. The others have no part in the log-probabilities.
    pub top_p: f32,
}

impl Default for Sampling {
    fn default() -> Self {
        Self { temperature: 0.0, top_p: 1.0 }
    }
}

/// Chooses one of `allowed`, which is not empty. Ties go to the lowest token, so that greedy output is one output.
pub(crate) fn sample(
    logits: &[f32],
    allowed: &[u32],
    sampling: Sampling,
    random: &mut ChaCha8Rng,
) -> Option<SampledToken> {
    let temperature = if sampling.temperature > 0.0 { sampling.temperature } else { 1.0 };
    let mut scores: Vec<(u32, f64)> = Vec::with_capacity(allowed.len());
    for id in allowed {
        let logit = logits.get(*id as usize).copied().unwrap_or(f32::NEG_INFINITY);
        // A broken model is still bound by the grammar.
        let logit = if logit.is_nan() { f32::MIN } else { logit.clamp(f32::MIN, f32::MAX) };
        scores.push((*id, f64::from(logit) / f64::from(temperature)));
    }
    let highest = scores.iter().map(|(_, score)| *score).fold(f64::NEG_INFINITY, f64::max);
    let chosen = |(id, score): &(u32, f64), total: f64| {
        #[expect(clippy::cast_possible_truncation, reason = "the record holds single precision")]
        let logprob = (score - highest - total.ln()) as f32;
        SampledToken { id: *id, logprob: logprob.max(f32::MIN) }
    };
    let weight = |(_, score): &(u32, f64)| (score - highest).exp();
    if sampling.temperature <= 0.0 {
        let total = scores.iter().map(weight).sum();
        let best = scores.iter().find(|(_, score)| *score == highest)?;
        return Some(chosen(best, total));
    }
    if sampling.top_p < 1.0 {
        scores.sort_by(|a, b| b.1.total_cmp(&a.1).then(a.0.cmp(&b.0)));
        let target = scores.iter().map(weight).sum::<f64>() * f64::from(sampling.top_p.max(0.0));
        let mut reached = 0.0;
        let count = scores
            .iter()
            .take_while(|score| {
                let before = reached;
                reached += weight(score);
                before < target
            })
            .count();
        scores.truncate(count.max(1));
    }
    let total: f64 = scores.iter().map(weight).sum();
    // 53 random bits make a number in [0, 1).
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    let mut left = (random.next_u64() >> 11) as f64 / (1_u64 << 53) as f64 * total;
    for score in &scores {
        left -= weight(score);
        if left < 0.0 {
            return Some(chosen(score, total));
        }
    }
    scores.last().map(|score| chosen(score, total))
}

#[cfg(test)]
mod tests {
    use rand_core::SeedableRng as _;

    use super::*;

    const LOGITS: [f32; 5] = [1.0, 3.0, 2.0, 9.0, 3.0];
    const ALLOWED: [u32; 4] = [0, 1, 2, 4];

    fn draw(sampling: Sampling, seed: u64) -> SampledToken {
        sample(&LOGITS, &ALLOWED, sampling, &mut ChaCha8Rng::seed_from_u64(seed)).unwrap()
    }

    #[test]
    fn greedy_takes_the_best_allowed_token_and_its_masked_probability() {
        let token = draw(Sampling::default(), 1);
        let total: f64 = [1.0_f64, 3.0, 2.0, 3.0].iter().map(|logit| logit.exp()).sum();
        assert_eq!(token.id, 1);
        assert!((f64::from(token.logprob) - (3.0 - total.ln())).abs() < 1e-6);
    }

    #[test]
    fn sampled_frequencies_follow_the_probabilities_that_are_reported() {
        let sampling = Sampling { temperature: 0.7, top_p: 1.0 };
        let mut counts = [0.0_f64; 5];
        let mut reported = [0.0_f64; 5];
        for seed in 0..20_000 {
            let token = draw(sampling, seed);
            counts[token.id as usize] += 1.0 / 20_000.0;
            reported[token.id as usize] = f64::from(token.logprob).exp();
        }
        assert_eq!(counts[3], 0.0);
        assert!((reported.iter().sum::<f64>() - 1.0).abs() < 1e-6);
        for (count, reported) in counts.iter().zip(reported) {
            assert!((count - reported).abs() < 0.015, "{counts:?} against {reported:?}");
        }
    }

    #[test]
    fn the_nucleus_leaves_out_the_tail_and_seeds_decide() {
        let sampling = Sampling { temperature: 1.0, top_p: 0.6 };
        // Tokens 1 and 4 hold 0.39 each.
        assert!((0..200).all(|seed| matches!(draw(sampling, seed).id, 1 | 4)));
        assert!((f64::from(draw(sampling, 1).logprob) - 0.5_f64.ln()).abs() < 1e-6);
        assert_eq!(draw(sampling, 77), draw(sampling, 77));
        assert_eq!(draw(Sampling { temperature: 1.0, top_p: 0.0 }, 5).id, 1);
    }

    #[test]
    fn a_broken_model_still_gives_an_allowed_token() {
        let logits = [f32::NAN, f32::INFINITY, f32::NEG_INFINITY];
        for temperature in [0.0, 1.0] {
            let token =
                sample(&logits, &[0, 2], Sampling { temperature, top_p: 0.9 }, &mut ChaCha8Rng::seed_from_u64(1))
                    .unwrap();
            assert!(matches!(token.id, 0 | 2) && token.logprob.is_finite());
        }
        assert_eq!(sample(&logits, &[], Sampling::default(), &mut ChaCha8Rng::seed_from_u64(1)), None);
    }
}
