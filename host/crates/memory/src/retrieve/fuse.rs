//! Weighs the signals: neighbours inherit, legs are joined, and what scores alike is ordered without looking at it.

use super::legs::{Dense, Legs};
use super::settings::{Fusion, Settings, Weights};
use crate::index::{Searcher, traits};

/// The constant of reciprocal rank fusion, as its authors chose it.
const RRF_CONSTANT: f32 = 60.0;

/// The scores of one row.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Scored {
    pub(crate) row: usize,
    pub(crate) total: f32,
    /// 0 to 1 among the rows of this request.
    pub(crate) lexical: f32,
    pub(crate) dense: Option<f32>,
}

/// The scores of every row.
#[derive(Debug, Clone)]
pub(crate) struct Totals {
    raw: Vec<f32>,
    lexical: Vec<f32>,
    pub(crate) total: Vec<f32>,
}

/// The dense score of each row that has one, 0 to 1.
pub(crate) type DenseScores = Option<Vec<Option<f32>>>;

/// Weighs the dense signals, which do not depend on the second hop.
pub(crate) fn dense_scores(searcher: &Searcher, legs: &Legs, weights: &Weights) -> DenseScores {
    legs.dense.as_ref().map(|dense| smooth_dense(searcher, legs, dense, weights))
}

/// Weighs the signals of every row.
pub(crate) fn totals(searcher: &Searcher, legs: &Legs, settings: &Settings, dense: &DenseScores) -> Totals {
    let weights = &settings.weights;
    let raw = lexical(searcher, legs, weights);
    let lexical = unit(&raw, &legs.visible);
    let total = match (dense, settings.fusion) {
        (None, _) => add_window(&lexical, legs, weights),
        (Some(dense), Fusion::MinMaxSum) => min_max_sum(&lexical, dense, legs, weights),
        (Some(dense), Fusion::Rrf) => rrf(searcher, &lexical, dense, legs, settings),
    };
    Totals { raw, lexical, total }
}

/// The `most` best rows, best first. Rows that no signal speaks for are left out.
pub(crate) fn rank(
    searcher: &Searcher,
    legs: &Legs,
    settings: &Settings,
    dense: &DenseScores,
    most: usize,
) -> Vec<Scored> {
    let Totals { raw, lexical, total } = totals(searcher, legs, settings, dense);
    let spoken_for = |row: usize| {
        raw.get(row).is_some_and(|score| *score > 0.0)
            || legs.window.get(row).copied().unwrap_or(false)
            || dense.as_ref().is_some_and(|dense| dense.get(row).copied().flatten().is_some())
    };
    let mut scored: Vec<Scored> = (0..total.len())
        .filter(|row| legs.visible.get(*row).copied().unwrap_or(false) && spoken_for(*row))
        .map(|row| Scored {
            row,
            total: at(&total, row),
            lexical: at(&lexical, row),
            dense: legs.dense.as_ref().and_then(|dense| dense.rows.get(row).copied().flatten()),
        })
        .collect();
    let tie = |row: usize| tie(searcher, row, settings.tie_seed);
    let order = |left: &Scored, right: &Scored| {
        right.total.total_cmp(&left.total).then_with(|| tie(left.row).cmp(&tie(right.row)))
    };
    if scored.len() > most && most > 0 {
        scored.select_nth_unstable_by(most - 1, order);
    }
    scored.truncate(most);
    scored.sort_unstable_by(order);
    scored
}

/// What orders rows that score alike: it depends on the ordinal, and says nothing of the order of capture or of the content.
pub(crate) fn tie(searcher: &Searcher, row: usize, seed: u64) -> u64 {
    searcher.rows().get(row).map_or(u64::MAX, |row| mix(row.ordinal ^ seed))
}

/// The finaliser of SplitMix64: a permutation of the numbers that has nothing to do with their order.
fn mix(number: u64) -> u64 {
    let mut z = number.wrapping_add(0x9e37_79b9_7f4a_7c15);
    z = (z ^ (z >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    z = (z ^ (z >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    z ^ (z >> 31)
}

fn at(scores: &[f32], row: usize) -> f32 {
    scores.get(row).copied().unwrap_or(0.0)
}

/// The rows around each row, nearest first: the one before, the one after, two before, two after.
fn around(searcher: &Searcher, row: usize) -> [Option<usize>; 4] {
    let of = |row: usize| searcher.rows().get(row);
    let known = |at: u32| of(at as usize).map(|_| at as usize);
    let (previous, next) = of(row).map_or((None, None), |row| (known(row.previous), known(row.next)));
    let second = previous.and_then(of).and_then(|row| known(row.previous));
    let second_next = next.and_then(of).and_then(|row| known(row.next));
    [previous, next, second, second_next]
}

/// Lets each visible row inherit from those around it.
fn smoothed(searcher: &Searcher, scores: &[f32], visible: &[bool], shares: [f32; 4]) -> Vec<f32> {
    let mut smoothed = scores.to_vec();
    for (row, score) in smoothed.iter_mut().enumerate() {
        if visible.get(row).copied().unwrap_or(false) {
            for (beside, share) in around(searcher, row).into_iter().zip(shares) {
                *score += beside.map_or(0.0, |beside| share * at(scores, beside));
            }
        }
    }
    smoothed
}

/// The lexical score of each row.
pub(crate) fn lexical(searcher: &Searcher, legs: &Legs, weights: &Weights) -> Vec<f32> {
    let own: Vec<f32> = (0..legs.body.len())
        .map(|row| {
            at(&legs.body, row)
                + weights.dates * at(&legs.dates, row)
                + weights.names * at(&legs.names, row)
                + weights.hop * at(&legs.hop, row)
        })
        .collect();
    let shares = [weights.previous, weights.next, weights.previous_second, weights.next_second];
    let mut scores = smoothed(searcher, &own, &legs.visible, shares);
    for (row, score) in scores.iter_mut().enumerate() {
        *score = (*score + weights.session * at(&legs.sessions, row)) * aptness(searcher, legs, weights, row);
    }
    scores
}

/// How well a row suits the form of the question: a factor.
fn aptness(searcher: &Searcher, legs: &Legs, weights: &Weights, row: usize) -> f32 {
    let has = searcher.rows().get(row).map_or(0, |row| row.traits);
    let fits = has & legs.asked;
    let mut factor = 1.0;
    if legs.spoken.get(row).copied().unwrap_or(false) {
        factor += weights.speaker;
    }
    if fits & traits::TIME != 0 {
        factor += weights.asked_time;
    }
    if fits & (traits::NUMBER | traits::NAME) != 0 {
        factor += weights.asked_other;
    }
    if has & traits::USER != 0 {
        factor += weights.user;
    }
    if has & traits::QUESTION != 0 {
        factor -= weights.question;
    }
    factor.max(0.0)
}

fn smooth_dense(searcher: &Searcher, legs: &Legs, dense: &Dense, weights: &Weights) -> Vec<Option<f32>> {
    let known: Vec<f32> = dense.rows.iter().map(|cosine| cosine.unwrap_or(0.0)).collect();
    let (beside, second) = (weights.dense_beside, weights.dense_second);
    let smoothed = smoothed(searcher, &known, &legs.visible, [beside, beside, second, second]);
    let scores: Vec<f32> = smoothed
        .iter()
        .enumerate()
        .map(|(row, score)| score + weights.dense_session * at(&dense.sessions, row))
        .collect();
    let has: Vec<bool> = dense.rows.iter().map(Option::is_some).collect();
    unit(&scores, &has).into_iter().zip(has).map(|(score, has)| has.then_some(score)).collect()
}

/// Stretches the scores of the counted rows to 0 to 1.
fn unit(scores: &[f32], counted: &[bool]) -> Vec<f32> {
    let (mut least, mut most) = (f32::INFINITY, f32::NEG_INFINITY);
    for (score, _) in scores.iter().zip(counted).filter(|(_, counted)| **counted) {
        (least, most) = (least.min(*score), most.max(*score));
    }
    let range = most - least;
    scores
        .iter()
        .zip(counted)
        .map(|(score, counted)| if *counted && range > 0.0 { (score - least) / range } else { 0.0 })
        .collect()
}

fn bonus(set: &[bool], row: usize, weight: f32) -> f32 {
    if set.get(row).copied().unwrap_or(false) { weight } else { 0.0 }
}

fn add_window(scores: &[f32], legs: &Legs, weights: &Weights) -> Vec<f32> {
    scores.iter().enumerate().map(|(row, score)| score + bonus(&legs.window, row, weights.window)).collect()
}

fn min_max_sum(lexical: &[f32], dense: &[Option<f32>], legs: &Legs, weights: &Weights) -> Vec<f32> {
    lexical
        .iter()
        .zip(dense)
        .enumerate()
        .map(|(row, (lexical, dense))| {
            // A row without a vector is judged by its words alone: it is not behind for that.
            let dense = dense.unwrap_or(*lexical);
            weights.lexical * lexical
                + (1.0 - weights.lexical) * dense
                + bonus(&legs.spoken, row, weights.dense_speaker)
                + bonus(&legs.window, row, weights.window)
        })
        .collect()
}

/// Reciprocal ranks. A row that a leg says nothing of has no rank in it; a row without a vector has its lexical rank there too.
fn rrf(searcher: &Searcher, lexical: &[f32], dense: &[Option<f32>], legs: &Legs, settings: &Settings) -> Vec<f32> {
    let weights = &settings.weights;
    let by_words = reciprocal_ranks(searcher, settings.tie_seed, lexical.len(), &|row| {
        Some(at(lexical, row)).filter(|score| *score > 0.0)
    });
    let by_meaning = reciprocal_ranks(searcher, settings.tie_seed, lexical.len(), &|row| {
        let cosine = dense.get(row).copied().flatten()?;
        Some(cosine + bonus(&legs.spoken, row, weights.dense_speaker))
    });
    let joined: Vec<f32> = (0..lexical.len())
        .map(|row| {
            let words = at(&by_words, row);
            let meaning = if dense.get(row).copied().flatten().is_some() { at(&by_meaning, row) } else { words };
            weights.lexical * words + (1.0 - weights.lexical) * meaning
        })
        .collect();
    add_window(&unit(&joined, &legs.visible), legs, weights)
}

fn reciprocal_ranks(searcher: &Searcher, seed: u64, rows: usize, score: &dyn Fn(usize) -> Option<f32>) -> Vec<f32> {
    let mut order: Vec<(usize, f32)> = (0..rows).filter_map(|row| Some((row, score(row)?))).collect();
    order.sort_by(|left, right| {
        right.1.total_cmp(&left.1).then_with(|| tie(searcher, left.0, seed).cmp(&tie(searcher, right.0, seed)))
    });
    let mut ranks = vec![0.0; rows];
    for (rank, (row, _)) in order.into_iter().enumerate() {
        if let Some(slot) = ranks.get_mut(row) {
            *slot = 1.0 / (RRF_CONSTANT + 1.0 + rank as f32);
        }
    }
    ranks
}
