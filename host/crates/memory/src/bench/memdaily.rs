//! Chinese messages among those of other people, in the form of MemDaily: is the message found, and does the ranking beat plain BM25 over characters
//! and pairs of them in the same run?

use rand_chacha::ChaCha8Rng;
use rand_core::SeedableRng as _;
use serde::Serialize;

use super::corpus::Listed;
use super::metrics::Outcome;
use super::synthetic::Draw;
use crate::index::{Bm25, Searcher, TermField};
use crate::message::Message;
use crate::moment::Moment;
use crate::retrieve::fuse::{rank, tie};
use crate::retrieve::legs::{From, Legs};
use crate::retrieve::{Parsed, Query, RetrieveError, Settings};

/// The weighing of the plain BM25 that is compared with.
const PLAIN: Bm25 = Bm25 { k1: 1.2, b: 0.75 };

/// The messages of one person and a question about them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trajectory {
    /// The messages, in order.
    pub messages: Vec<Message>,
    /// The question.
    pub question: String,
    /// The places of the messages that answer it.
    pub gold: Vec<usize>,
}

/// Strict recall of one ranking.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct ChineseRow {
    /// `bm25_unigrams_bigrams` or `lexical`.
    pub ranking: &'static str,
    /// Messages of other people that were added.
    pub distractors: usize,
    /// Questions.
    pub questions: usize,
    /// At 5.
    pub recall_5: f64,
    /// At 10.
    pub recall_10: f64,
    /// At 20.
    pub recall_20: f64,
}

/// Puts trajectories into an order that only the seed and their number decide, so that those after one are of anybody.
pub fn mix(trajectories: &mut [Trajectory], seed: u64) {
    Draw(ChaCha8Rng::seed_from_u64(seed)).shuffle(trajectories);
}

/// Asks each question of its own messages with `distractors` messages of the trajectories after it.
///
/// # Errors
/// [`RetrieveError`] when the index fails.
pub fn chinese(trajectories: &[Trajectory], distractors: usize) -> Result<[ChineseRow; 2], RetrieveError> {
    let (mut plain, mut ours) = (Vec::new(), Vec::new());
    for (number, trajectory) in trajectories.iter().enumerate() {
        let others = trajectories.iter().cycle().skip(number + 1).take(trajectories.len().saturating_sub(1));
        let added = others.flat_map(|other| &other.messages).take(distractors);
        let messages: Vec<Message> = trajectory.messages.iter().chain(added).cloned().collect();
        let corpus = Listed::of(&messages);
        let searcher = Searcher::of(&corpus).map_err(RetrieveError::Index)?;
        let visible = vec![true; searcher.rows().len()];
        let terms: Vec<(String, f32)> =
            loopwright_text::tokenize(&trajectory.question).into_iter().map(|token| (token.text, 1.0)).collect();
        let scores = searcher.bm25(TermField::Body, &terms, &visible, PLAIN).map_err(RetrieveError::Index)?;
        let settings = Settings::default();
        let mut order: Vec<usize> = (0..scores.rows.len()).collect();
        let score = |row: usize| scores.rows.get(row).copied().unwrap_or_default();
        order.sort_by_key(|row| tie(&searcher, *row, settings.tie_seed));
        order.sort_by(|left, right| score(*right).total_cmp(&score(*left)));
        plain.push(outcome(&searcher, &order, trajectory));

        let now = messages.last().map_or_else(Moment::epoch, |message| message.mentioned.clone());
        let parsed = Parsed::of(&Query::new(trajectory.question.clone(), now));
        let legs = Legs::of(&From { searcher: &searcher, vectors: None, embedder: None }, &parsed, visible)?;
        let hits: Vec<usize> =
            rank(&searcher, &legs, &settings, &None, messages.len()).iter().map(|hit| hit.row).collect();
        ours.push(outcome(&searcher, &hits, trajectory));
    }
    Ok([row("bm25_unigrams_bigrams", distractors, &plain), row("lexical", distractors, &ours)])
}

fn outcome(searcher: &Searcher, order: &[usize], trajectory: &Trajectory) -> Outcome {
    let ranks: Vec<usize> = trajectory
        .gold
        .iter()
        .map(|gold| {
            let row = searcher.row(*gold as u64);
            order.iter().position(|ranked| Some(*ranked) == row).unwrap_or(usize::MAX - 1)
        })
        .collect();
    Outcome::of(0, 4, &ranks)
}

fn row(ranking: &'static str, distractors: usize, outcomes: &[Outcome]) -> ChineseRow {
    let mean = |at: usize| {
        let sum: f64 =
            outcomes.iter().filter_map(|outcome| outcome.recall.get(at)).map(|recall| f64::from(*recall)).sum();
        sum / outcomes.len().max(1) as f64
    };
    ChineseRow {
        ranking,
        distractors,
        questions: outcomes.len(),
        recall_5: mean(0),
        recall_10: mean(1),
        recall_20: mean(2),
    }
}
