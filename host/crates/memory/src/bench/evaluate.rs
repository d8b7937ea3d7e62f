//! Runs the questions of a set of conversations against the ranking.

use std::collections::BTreeSet;

use loopwright_contract::memory::Embedder;

use super::corpus::Listed;
use super::fit::{DENSE, Fit, LEXICAL, START, Sums};
use super::locomo::{Conversation, Question};
use super::metrics::{Form, Leg, Outcome, Row, rows};
use crate::corpus::Corpus as _;
use crate::index::Searcher;
use crate::moment::Moment;
use crate::retrieve::fuse::{DenseScores, dense_scores, rank, tie, totals};
use crate::retrieve::legs::{From, Legs};
use crate::retrieve::{Fusion, Parsed, Query, RetrieveError, Settings, WEIGHTS, Weights, tokens_of};
use crate::vectors::Vectors;

/// Items whose tokens are counted.
const TOKENS_AT: usize = 10;
/// Texts that are embedded in one call.
const EMBED_BATCH: usize = 64;

/// Nothing but the words.
const WORDS: Weights = Weights {
    previous: 0.0,
    next: 0.0,
    previous_second: 0.0,
    next_second: 0.0,
    session: 0.0,
    speaker: 0.0,
    user: 0.0,
    dates: 0.0,
    names: 0.0,
    hop: 0.0,
    asked_time: 0.0,
    asked_other: 0.0,
    question: 0.0,
    window: 0.0,
    lexical: 1.0,
    dense_beside: 0.0,
    dense_second: 0.0,
    dense_session: 0.0,
    dense_speaker: 0.0,
};

/// How to measure.
#[derive(Clone, Copy)]
pub struct Options<'a> {
    /// Whose categories the questions have.
    pub form: Form,
    /// Fit the weights for each conversation on the others; otherwise the default weights are measured, which were fitted on LoCoMo itself.
    pub cross_validate: bool,
    /// How the legs are joined.
    pub fusion: Fusion,
    /// Without one there is no hybrid leg.
    pub embedder: Option<&'a dyn Embedder>,
}

/// What was measured.
#[derive(Debug, Clone, PartialEq)]
pub struct Report {
    /// Every category at every k, for each leg.
    pub rows: Vec<Row>,
    /// The weights for each conversation of each leg.
    pub weights: Vec<(Leg, Weights)>,
    /// Mean tokens of the first ten items of a question that counts, for each leg.
    pub tokens: Vec<(Leg, f64)>,
    /// Questions that were left out, since none of their turns exists.
    pub skipped: usize,
    /// Turns that questions name and that do not exist.
    pub unknown: usize,
}

/// One conversation, ready to be asked.
pub(crate) struct Prepared<'a> {
    pub(crate) conversation: &'a Conversation,
    pub(crate) corpus: Listed,
    pub(crate) searcher: Searcher,
    pub(crate) vectors: Option<Vectors>,
    pub(crate) asked: Vec<Asked<'a>>,
}

/// One question with its signals.
pub(crate) struct Asked<'a> {
    pub(crate) question: &'a Question,
    pub(crate) legs: Legs,
    gold: Vec<usize>,
}

impl<'a> Prepared<'a> {
    pub(crate) fn of(conversation: &'a Conversation, embedder: Option<&dyn Embedder>) -> Result<Self, RetrieveError> {
        let corpus = Listed::of(&conversation.messages);
        let searcher = Searcher::of(&corpus).map_err(RetrieveError::Index)?;
        let vectors = embedder.map(|embedder| embedded(conversation, embedder)).transpose()?;
        let mut prepared = Self { conversation, corpus, searcher, vectors, asked: Vec::new() };
        let mut asked = Vec::with_capacity(conversation.questions.len());
        for question in &conversation.questions {
            let legs = prepared.legs(&prepared.query(&question.text, &conversation.speakers), embedder)?;
            let gold = question.gold.iter().filter_map(|ordinal| prepared.searcher.row(*ordinal)).collect();
            asked.push(Asked { question, legs, gold });
        }
        prepared.asked = asked;
        Ok(prepared)
    }

    /// A question, asked at the end of the conversation.
    pub(crate) fn query(&self, text: &str, speakers: &[String]) -> Query {
        let last =
            self.conversation.messages.iter().map(|message| &message.mentioned).max_by_key(|moment| moment.seconds());
        let mut query = Query::new(text, last.cloned().unwrap_or_else(Moment::epoch));
        query.speakers = speakers.to_vec();
        query
    }

    pub(crate) fn legs(&self, query: &Query, embedder: Option<&dyn Embedder>) -> Result<Legs, RetrieveError> {
        let parsed = Parsed::of(query);
        let from = From { searcher: &self.searcher, vectors: self.vectors.as_ref(), embedder };
        let mut legs = Legs::of(&from, &parsed, vec![true; self.searcher.rows().len()])?;
        // The first hits do not depend on anything that was fitted.
        let first = Settings { weights: START, ..Settings::default() };
        let hits: Vec<usize> =
            rank(&self.searcher, &legs, &first, &dense_scores(&self.searcher, &legs, &first.weights), TOKENS_AT)
                .into_iter()
                .map(|hit| hit.row)
                .collect();
        legs.hop(&self.searcher, &self.corpus, &parsed, &hits)?;
        Ok(legs)
    }

    fn dense(&self, asked: &Asked<'_>, settings: &Settings) -> DenseScores {
        dense_scores(&self.searcher, &asked.legs, &settings.weights)
    }

    fn outcome(&self, number: usize, asked: &Asked<'_>, settings: &Settings) -> Outcome {
        let total = totals(&self.searcher, &asked.legs, settings, &self.dense(asked, settings)).total;
        let score = |row: usize| total.get(row).copied().unwrap_or(f32::NEG_INFINITY);
        let key = |row: usize| tie(&self.searcher, row, settings.tie_seed);
        let ranks: Vec<usize> = asked
            .gold
            .iter()
            .map(|gold| {
                let (own, own_key) = (score(*gold), key(*gold));
                let is_before = |row: &usize| score(*row) > own || (score(*row) == own && key(*row) < own_key);
                (0..total.len()).filter(is_before).count()
            })
            .collect();
        Outcome::of(number, asked.question.category, &ranks)
    }

    fn tokens(&self, asked: &Asked<'_>, settings: &Settings) -> usize {
        rank(&self.searcher, &asked.legs, settings, &self.dense(asked, settings), TOKENS_AT)
            .iter()
            .filter_map(|hit| self.corpus.unit(self.searcher.rows().get(hit.row)?.ordinal))
            .map(|unit| tokens_of(&unit.text))
            .sum()
    }
}

pub(crate) fn embedded(conversation: &Conversation, embedder: &dyn Embedder) -> Result<Vectors, RetrieveError> {
    let mut vectors = Vectors::in_memory(embedder.fingerprint(), embedder.width());
    let covered: Vec<(u64, &str)> = conversation
        .messages
        .iter()
        .zip(0..)
        .map(|(message, ordinal)| (ordinal, message.text.as_str()))
        .filter(|(_, text)| embedder.covers(text))
        .collect();
    for batch in covered.chunks(EMBED_BATCH) {
        let texts: Vec<&str> = batch.iter().map(|(_, text)| *text).collect();
        let embedded = embedder.embed(&texts).map_err(RetrieveError::Embedder)?;
        let with_ordinals: Vec<(u64, Vec<f32>)> = batch.iter().map(|(ordinal, _)| *ordinal).zip(embedded).collect();
        vectors.add(&with_ordinals).map_err(RetrieveError::Vectors)?;
    }
    Ok(vectors)
}

/// Measures the conversations.
///
/// # Errors
/// [`RetrieveError`] when the index or the embedder fails.
pub fn run(conversations: &[Conversation], options: &Options<'_>) -> Result<Report, RetrieveError> {
    let prepared: Vec<Prepared<'_>> = conversations
        .iter()
        .map(|conversation| Prepared::of(conversation, options.embedder))
        .collect::<Result<_, _>>()?;
    let mut report = Report {
        rows: Vec::new(),
        weights: Vec::new(),
        tokens: Vec::new(),
        skipped: conversations.iter().map(|conversation| conversation.skipped).sum(),
        unknown: conversations.iter().map(|conversation| conversation.unknown).sum(),
    };
    if options.form == Form::Beam {
        report.add(&prepared, Leg::Words, &vec![WORDS; prepared.len()], options);
    }
    let lexical = lexical_weights(&prepared, options);
    report.add(&prepared, Leg::Lexical, &lexical, options);
    if options.embedder.is_some() {
        let hybrid = hybrid_weights(&prepared, &lexical, options);
        report.add(&prepared, Leg::Hybrid, &hybrid, options);
    }
    Ok(report)
}

impl Report {
    fn add(&mut self, prepared: &[Prepared<'_>], leg: Leg, weights: &[Weights], options: &Options<'_>) {
        let (mut outcomes, mut tokens) = (Vec::new(), Vec::new());
        for ((number, prepared), weights) in prepared.iter().enumerate().zip(weights) {
            let settings = settings(*weights, leg, options.fusion);
            for asked in &prepared.asked {
                outcomes.push(prepared.outcome(number, asked, &settings));
                if options.form.counts(asked.question.category) {
                    tokens.push(prepared.tokens(asked, &settings) as f64);
                }
            }
            self.weights.push((leg, *weights));
        }
        self.rows.extend(rows(&outcomes, leg, options.form));
        self.tokens.push((leg, tokens.iter().sum::<f64>() / tokens.len().max(1) as f64));
    }
}

/// The lexical leg is the hybrid one with nothing of the dense leg in it.
fn settings(weights: Weights, leg: Leg, fusion: Fusion) -> Settings {
    match leg {
        Leg::Words | Leg::Lexical => {
            let weights = Weights { lexical: 1.0, dense_speaker: 0.0, ..weights };
            Settings { weights, fusion: Fusion::MinMaxSum, ..Settings::default() }
        }
        Leg::Hybrid => Settings { weights, fusion, ..Settings::default() },
    }
}

fn lexical_weights(prepared: &[Prepared<'_>], options: &Options<'_>) -> Vec<Weights> {
    if !options.cross_validate {
        return vec![WEIGHTS; prepared.len()];
    }
    let measure = |weights: &Weights| sums(prepared, &settings(*weights, Leg::Lexical, options.fusion), options.form);
    let mut fit = Fit::new(&measure);
    let found = (0..prepared.len()).map(|left_out| fit.search(LEXICAL, START, Some(left_out))).collect();
    tracing::info!(measured = fit.measured(), "fitted the lexical leg");
    found
}

fn hybrid_weights(prepared: &[Prepared<'_>], lexical: &[Weights], options: &Options<'_>) -> Vec<Weights> {
    if !options.cross_validate {
        return lexical.to_vec();
    }
    let measure = |weights: &Weights| sums(prepared, &settings(*weights, Leg::Hybrid, options.fusion), options.form);
    let mut fit = Fit::new(&measure);
    let found = lexical.iter().enumerate().map(|(left_out, start)| fit.search(DENSE, *start, Some(left_out))).collect();
    tracing::info!(measured = fit.measured(), "fitted the hybrid leg");
    found
}

/// Recall over what counts, one thread for each core.
fn sums(prepared: &[Prepared<'_>], settings: &Settings, form: Form) -> Sums {
    let of = |number: usize, prepared: &Prepared<'_>| {
        let (mut sum, mut count) = ([0.0; 3], 0);
        for asked in prepared.asked.iter().filter(|asked| form.counts(asked.question.category)) {
            let outcome = prepared.outcome(number, asked, settings);
            sum.iter_mut().zip(outcome.recall).for_each(|(sum, recall)| *sum += f64::from(recall));
            count += 1;
        }
        (sum, count)
    };
    let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(prepared.len().max(1));
    let mut found: Vec<(usize, ([f64; 3], usize))> = std::thread::scope(|scope| {
        let parts: Vec<_> = (0..threads)
            .map(|part| {
                scope.spawn(move || {
                    let mine = prepared.iter().enumerate().skip(part).step_by(threads);
                    mine.map(|(number, prepared)| (number, of(number, prepared))).collect::<Vec<_>>()
                })
            })
            .collect();
        parts.into_iter().flat_map(|part| part.join().unwrap_or_default()).collect()
    });
    found.sort_by_key(|(number, _)| *number);
    found.into_iter().map(|(_, sums)| sums).collect()
}

/// The texts that an embedder is asked for, for whoever records vectors: messages, and questions without the speakers' names.
#[must_use]
pub fn texts(conversations: &[Conversation]) -> BTreeSet<String> {
    let mut texts = BTreeSet::new();
    for conversation in conversations {
        texts.extend(conversation.messages.iter().map(|message| message.text.clone()));
        for question in &conversation.questions {
            let mut query = Query::new(question.text.clone(), Moment::epoch());
            query.speakers.clone_from(&conversation.speakers);
            texts.insert(Parsed::of(&query).stripped);
        }
    }
    texts
}
