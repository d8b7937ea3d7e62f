//! Fits the weights of the ranking: a search along one weight at a time, from the same start and over the same few values each time.

use std::collections::HashMap;

use crate::retrieve::Weights;

/// How often each weight is tried again.
const PASSES: usize = 3;
/// What recall at 5, 10 and 20 count for.
const OBJECTIVE: [f64; 3] = [0.25, 1.0, 0.5];
/// A gain below this is none.
const GAIN_LEAST: f64 = 1e-6;

/// A weight and the values that are tried.
pub(crate) struct Axis {
    pub(crate) of: fn(&mut Weights) -> &mut f32,
    pub(crate) values: &'static [f32],
}

macro_rules! axes {
    ($($field:ident: $values:expr),* $(,)?) => {
        &[$(Axis { of: |weights| &mut weights.$field, values: &$values }),*]
    };
}

/// The weights of the lexical leg.
pub(crate) const LEXICAL: &[Axis] = axes! {
    previous: [0.3, 0.4, 0.5, 0.6],
    next: [0.2, 0.3, 0.4],
    previous_second: [0.0, 0.1, 0.2, 0.3, 0.4],
    next_second: [0.0, 0.1, 0.2, 0.3],
    session: [0.4, 0.7, 1.0, 1.3, 1.7],
    speaker: [0.0, 0.3, 0.5, 0.8, 1.2],
    user: [0.5, 1.0, 2.0],
    dates: [0.0, 0.5, 1.0, 1.5],
    names: [0.0, 0.3, 0.6],
    hop: [0.0, 0.2, 0.5],
    asked_time: [0.0, 0.2, 0.4, 0.6, 0.9],
    asked_other: [0.0, 0.1, 0.2, 0.3, 0.45],
    question: [0.0, 0.1, 0.2, 0.3, 0.4],
};

/// The weights that join the dense leg to it.
pub(crate) const DENSE: &[Axis] = axes! {
    lexical: [0.3, 0.4, 0.5, 0.6, 0.7],
    dense_beside: [0.0, 0.1, 0.2, 0.3],
    dense_second: [0.0, 0.1, 0.2],
    dense_session: [0.0, 0.3, 0.6, 1.0],
    dense_speaker: [0.0, 0.05, 0.1, 0.15, 0.2],
};

/// Where every search starts: the figures of the first design, before anything was fitted.
pub(crate) const START: Weights = Weights {
    previous: 0.5,
    next: 0.3,
    previous_second: 0.0,
    next_second: 0.0,
    session: 0.4,
    speaker: 0.3,
    user: 1.0,
    dates: 1.0,
    names: 0.0,
    hop: 0.0,
    asked_time: 0.0,
    asked_other: 0.0,
    question: 0.0,
    window: 0.25,
    lexical: 0.5,
    dense_beside: 0.2,
    dense_second: 0.0,
    dense_session: 0.0,
    dense_speaker: 0.1,
};

/// Sums of recall at 5, 10 and 20 over the questions of each conversation, and how many those are.
pub(crate) type Sums = Vec<([f64; 3], usize)>;

/// Weights as a key: every axis, bit for bit.
fn key(weights: &Weights) -> Vec<u32> {
    let mut weights = *weights;
    LEXICAL.iter().chain(DENSE).map(|axis| (axis.of)(&mut weights).to_bits()).collect()
}

/// A search that remembers what it has measured.
pub(crate) struct Fit<'a> {
    measure: &'a dyn Fn(&Weights) -> Sums,
    known: HashMap<Vec<u32>, Sums>,
}

impl<'a> Fit<'a> {
    pub(crate) fn new(measure: &'a dyn Fn(&Weights) -> Sums) -> Self {
        Self { measure, known: HashMap::new() }
    }

    /// How many weights were measured.
    pub(crate) fn measured(&self) -> usize {
        self.known.len()
    }

    fn value(&mut self, weights: &Weights, left_out: Option<usize>) -> f64 {
        let measure = self.measure;
        let sums = self.known.entry(key(weights)).or_insert_with(|| measure(weights));
        let (mut total, mut count) = (0.0, 0);
        for (conversation, (sum, questions)) in sums.iter().enumerate() {
            if left_out != Some(conversation) {
                total += sum.iter().zip(OBJECTIVE).map(|(sum, share)| sum * share).sum::<f64>();
                count += questions;
            }
        }
        total / count.max(1) as f64
    }

    /// The best weights that the search finds without looking at one conversation.
    pub(crate) fn search(&mut self, axes: &[Axis], start: Weights, left_out: Option<usize>) -> Weights {
        let (mut best, mut most) = (start, self.value(&start, left_out));
        for _ in 0..PASSES {
            let before = most;
            for axis in axes {
                for value in axis.values {
                    let mut tried = best;
                    *(axis.of)(&mut tried) = *value;
                    let found = self.value(&tried, left_out);
                    if found > most + GAIN_LEAST {
                        (best, most) = (tried, found);
                    }
                }
            }
            if most <= before {
                break;
            }
        }
        best
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_search_does_not_look_at_what_is_left_out() {
        // Conversation 0 wants a large weight, the others a small one.
        let measure = |weights: &Weights| -> Sums {
            (0..4)
                .map(|conversation| {
                    let value = f64::from(if conversation == 0 { weights.previous } else { 1.0 - weights.previous });
                    ([if conversation == 0 { value * 100.0 } else { value }; 3], 1)
                })
                .collect()
        };
        let mut fit = Fit::new(&measure);
        assert_eq!(fit.search(LEXICAL, START, None).previous, 0.6);
        assert_eq!(fit.search(LEXICAL, START, Some(0)).previous, 0.3);
        assert!(fit.measured() < 100, "what is known is not measured again");
    }
}
