//! Recall, and how sure it is.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};
use serde::Serialize;

/// How many items are looked at.
pub const KS: [usize; 3] = [5, 10, 20];
/// The name of LoCoMo's row over categories 1 to 4.
pub const CATEGORY_OVERALL: &str = "overall_1_4";
/// The abilities of BEAM that mark turns, in the order of their categories from 1. What is to be abstained from marks none.
pub(crate) const ABILITIES: [&str; 9] = [
    "contradiction_resolution",
    "event_ordering",
    "information_extraction",
    "instruction_following",
    "knowledge_update",
    "multi_session_reasoning",
    "preference_following",
    "summarization",
    "temporal_reasoning",
];
/// Samples of conversations for an interval.
const SAMPLES: usize = 2_000;
/// Their seed.
const SAMPLES_SEED: u64 = 4;

/// Whose categories a question has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Form {
    /// LoCoMo's five; the fifth, adversarial questions, is reported and counts for nothing else.
    Locomo,
    /// BEAM's abilities, all of which count.
    Beam,
}

impl Form {
    /// Whether a category counts for the whole.
    #[must_use]
    pub fn counts(self, category: u8) -> bool {
        self == Self::Beam || category < 5
    }

    /// The name of the row of everything that counts.
    #[must_use]
    pub fn overall(self) -> &'static str {
        match self {
            Self::Locomo => CATEGORY_OVERALL,
            Self::Beam => "overall",
        }
    }

    /// The names of the categories, from 1.
    #[must_use]
    pub fn categories(self) -> &'static [&'static str] {
        match self {
            Self::Locomo => &["1_multi_hop", "2_temporal", "3_open_domain", "4_single_hop", "5_adversarial"],
            Self::Beam => &ABILITIES,
        }
    }
}

/// Which signals were used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Leg {
    /// BM25 of the words alone, to compare with.
    Words,
    /// Words, dates, neighbours and sessions.
    Lexical,
    /// And vectors.
    Hybrid,
}

/// What one question got.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Outcome {
    pub(crate) conversation: usize,
    pub(crate) category: u8,
    /// For each of [`KS`].
    pub(crate) recall: [f32; 3],
    pub(crate) all: [f32; 3],
    pub(crate) reciprocal: f32,
    /// Tokens of the first ten.
    pub(crate) tokens: usize,
}

impl Outcome {
    /// The outcome of a question whose marked turns have these ranks, from 0.
    pub(crate) fn of(conversation: usize, category: u8, ranks: &[usize]) -> Self {
        let count = ranks.len().max(1) as f32;
        let within = |k: usize| ranks.iter().filter(|rank| **rank < k).count() as f32;
        let first = ranks.iter().min().copied().unwrap_or(usize::MAX);
        Self {
            conversation,
            category,
            recall: KS.map(|k| within(k) / count),
            all: KS.map(|k| if within(k) >= count { 1.0 } else { 0.0 }),
            reciprocal: 1.0 / (1.0 + first as f32),
            tokens: 0,
        }
    }
}

/// One line of the report.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Row {
    /// The category's name, or [`Form::overall`].
    pub category: String,
    /// How many items are looked at.
    pub k: usize,
    /// Strict recall, 0 to 1.
    pub recall: f64,
    /// The share of questions all of whose turns are among the first k.
    pub all: f64,
    /// The mean reciprocal rank of the first marked turn, at any rank.
    pub mrr: f64,
    /// Questions.
    pub questions: usize,
    /// Which signals were used.
    pub leg: Leg,
    /// Where 95 of 100 samples of conversations have their recall.
    pub interval: [f64; 2],
}

/// The rows of one leg: each category and everything that counts together, each at every k.
pub(crate) fn rows(outcomes: &[Outcome], leg: Leg, form: Form) -> Vec<Row> {
    let mut rows = Vec::new();
    let mut add = |label: &str, chosen: &[&Outcome]| {
        for (at, k) in KS.into_iter().enumerate() {
            let mean = |of: &dyn Fn(&Outcome) -> f32| {
                chosen.iter().map(|outcome| f64::from(of(outcome))).sum::<f64>() / chosen.len().max(1) as f64
            };
            let pick = |values: &[f32; 3]| values.get(at).copied().unwrap_or_default();
            rows.push(Row {
                category: label.to_owned(),
                k,
                recall: mean(&|outcome| pick(&outcome.recall)),
                all: mean(&|outcome| pick(&outcome.all)),
                mrr: mean(&|outcome| outcome.reciprocal),
                questions: chosen.len(),
                leg,
                interval: interval(chosen, &|outcome| pick(&outcome.recall)),
            });
        }
    };
    for (name, category) in form.categories().iter().zip(1_u8..) {
        let chosen: Vec<&Outcome> = outcomes.iter().filter(|outcome| outcome.category == category).collect();
        if !chosen.is_empty() {
            add(name, &chosen);
        }
    }
    add(form.overall(), &outcomes.iter().filter(|outcome| form.counts(outcome.category)).collect::<Vec<_>>());
    rows
}

/// The middle 95 % of the means of samples of whole conversations, drawn with replacement: questions of one conversation are not independent.
fn interval(outcomes: &[&Outcome], value: &dyn Fn(&Outcome) -> f32) -> [f64; 2] {
    let mut sums: std::collections::BTreeMap<usize, (f64, usize)> = std::collections::BTreeMap::new();
    for outcome in outcomes {
        let sum = sums.entry(outcome.conversation).or_default();
        (sum.0, sum.1) = (sum.0 + f64::from(value(outcome)), sum.1 + 1);
    }
    let sums: Vec<(f64, usize)> = sums.into_values().collect();
    let mut random = ChaCha8Rng::seed_from_u64(SAMPLES_SEED);
    let mut means: Vec<f64> = (0..SAMPLES)
        .map(|_| {
            let (mut total, mut count) = (0.0, 0);
            for _ in 0..sums.len() {
                // The modulus favours small numbers by less than 2⁻³⁰ with so few conversations.
                let drawn = random.next_u64() % (sums.len() as u64);
                let (sum, questions) = sums.get(drawn as usize).copied().unwrap_or_default();
                (total, count) = (total + sum, count + questions);
            }
            total / count.max(1) as f64
        })
        .collect();
    means.sort_by(f64::total_cmp);
    let at = |share: f64| means.get((share * SAMPLES as f64) as usize).copied().unwrap_or_default();
    [at(0.025), at(0.975)]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn recall_is_strict() {
        let outcome = Outcome::of(0, 1, &[0, 7, 30]);
        let third = 1.0 / 3.0;
        assert_eq!((outcome.recall, outcome.all), ([third, 2.0 * third, 2.0 * third], [0.0; 3]));
        assert_eq!((Outcome::of(0, 1, &[4]).all, Outcome::of(0, 1, &[4]).reciprocal), ([1.0; 3], 0.2));
    }

    #[test]
    fn the_interval_is_by_conversation() {
        let outcomes: Vec<Outcome> = (0..10)
            .flat_map(|conversation| {
                (0..20).map(move |_| Outcome::of(conversation, 4, &[if conversation < 5 { 0 } else { 99 }]))
            })
            .collect();
        let rows = rows(&outcomes, Leg::Lexical, Form::Locomo);
        let overall = rows.iter().find(|row| row.category == CATEGORY_OVERALL && row.k == 10).expect("a row");
        assert_eq!((overall.recall, overall.questions), (0.5, 200));
        // Ten conversations, half of which have 1: a mean of ten draws, ±0.3 in 95 of 100.
        assert!(
            (0.1..=0.3).contains(&overall.interval[0]) && (0.7..=0.9).contains(&overall.interval[1]),
            "{overall:?}"
        );
    }

    #[test]
    fn adversarial_questions_do_not_count_for_the_whole() {
        let rows = rows(&[Outcome::of(0, 4, &[0]), Outcome::of(0, 5, &[99])], Leg::Hybrid, Form::Locomo);
        let of = |category: &str| rows.iter().find(|row| row.category == category && row.k == 5).map(|row| row.recall);
        assert_eq!((of(CATEGORY_OVERALL), of("5_adversarial"), of("1_multi_hop")), (Some(1.0), Some(0.0), None));
    }
}
