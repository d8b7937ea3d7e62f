//! Finds what a memory has for a question and returns it as a ledger of evidence. It knows no store, no clock and no model but the [`Embedder`] port.
//!
//! A request runs in this order: what may be seen; the whole memory, if it fits the budget; the signals (words, dates, names, session, speaker, time,
//! vectors); their sum, in which a turn inherits from the turns around it; the other sides of what is contested; and a second, bounded query when the
//! first found little. Equal snapshots, requests and settings give equal ledgers.

pub(crate) mod fuse;
mod ledger;
pub(crate) mod legs;
mod query;
mod render;
mod settings;
mod visible;
mod words;

use std::collections::BTreeSet;

use loopwright_contract::memory::{Embedder, Layer, MemoryError};

pub use ledger::{Item, Ledger, LegScores, Reason, tokens_of};
pub use query::Query;
pub use settings::{
    CONFLICTS_MAX, Fusion, HOP_NAMES_MAX, HOP_SEEDS, HOP_SHARE_DIVISOR, ITEMS_MAX, QUERY_BYTES_MAX, QUERY_TERMS_MAX,
    QUOTE_BYTES_MAX, SERVED_MAX, Settings, THIN_ITEMS, WEIGHTS, Weights,
};

use fuse::{DenseScores, Scored, dense_scores, rank};
pub(crate) use query::Parsed;

use crate::corpus::Corpus;
use crate::index::{Searcher, layer_number};
use crate::unit::{Status, Unit};
use crate::vectors::{VectorError, Vectors};
use legs::Legs;

/// Rows that are ranked for one ledger beyond its limit, since the corpus may know better than the index what may be seen.
const SPARE: usize = 16;
/// What the second hop counts for in the second query.
const REVIEW_HOP: f32 = 1.0;

/// Why a request was not answered.
#[derive(Debug, thiserror::Error)]
pub enum RetrieveError {
    /// The index cannot be read.
    #[error("the index cannot be searched\nhint: `memory rebuild` makes it anew from the log")]
    Index(#[source] tantivy::TantivyError),
    /// The embedder failed.
    #[error("the question cannot be embedded")]
    Embedder(#[source] MemoryError),
    /// The vectors cannot be kept.
    #[error("the vectors cannot be kept")]
    Vectors(#[source] VectorError),
    /// The embedder gave a vector of another width than it said.
    #[error("the question's vector has {found} numbers: expected {expected}, as the stored vectors have")]
    Width {
        /// Of the stored vectors.
        expected: usize,
        /// What the embedder gave.
        found: usize,
    },
}

/// Where a request is answered from: one snapshot each of the memory, its index and its vectors.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// The memory.
    pub corpus: &'a dyn Corpus,
    /// Its index. Where it is behind the memory, the memory decides what may be seen.
    pub searcher: &'a Searcher,
    /// Its vectors.
    pub vectors: Option<&'a Vectors>,
    /// What made the vectors.
    pub embedder: Option<&'a dyn Embedder>,
}

/// Answers a request.
///
/// # Errors
/// [`RetrieveError`] when the index cannot be read or the embedder fails.
pub fn retrieve(sources: &Sources<'_>, query: &Query, settings: &Settings) -> Result<Ledger, RetrieveError> {
    let mut builder =
        Builder { sources, query, settings, ledger: Ledger::empty(sources.corpus.sequence()), listed: BTreeSet::new() };
    builder.serve();
    if builder.whole() {
        return Ok(builder.ledger);
    }
    builder.search()?;
    Ok(builder.ledger)
}

impl Ledger {
    fn empty(sequence: u64) -> Self {
        Self {
            items: Vec::new(),
            standing: Vec::new(),
            nothing_above_threshold: false,
            whole: false,
            reviewed: false,
            tokens: 0,
            over_budget: false,
            coverage: 0.0,
            cosine: None,
            sequence,
        }
    }
}

struct Builder<'a> {
    sources: &'a Sources<'a>,
    query: &'a Query,
    settings: &'a Settings,
    ledger: Ledger,
    listed: BTreeSet<u64>,
}

impl Builder<'_> {
    fn seen(&self, ordinal: u64) -> Option<&Unit> {
        let corpus = self.sources.corpus;
        corpus.unit(ordinal).filter(|unit| visible::unit_is_seen(unit, corpus, self.query))
    }

    /// Profile, standing instructions and what is due, newest first when there are too many. They count for the budget and are never left out for it.
    fn serve(&mut self) {
        let corpus = self.sources.corpus;
        // Whatever layers are searched: these are served.
        let query = Query { layers: BTreeSet::new(), history: false, ..self.query.clone() };
        let mut served: Vec<u64> = self
            .standing_ordinals()
            .into_iter()
            .rev()
            .filter(|ordinal| {
                corpus
                    .unit(*ordinal)
                    .is_some_and(|unit| visible::is_served(unit, &query) && visible::unit_is_seen(unit, corpus, &query))
            })
            .take(SERVED_MAX)
            .collect();
        served.reverse();
        for ordinal in served {
            let Some(unit) = corpus.unit(ordinal) else { continue };
            let item = Item::of(unit, ordinal, Reason::Standing, LegScores::default());
            self.ledger.tokens += tokens_of(&item.quote);
            self.listed.insert(ordinal);
            self.ledger.standing.push(item);
        }
        self.ledger.over_budget = self.ledger.tokens > self.query.token_budget;
    }

    /// Units of the layers that are served, ascending, and what the index does not show yet.
    fn standing_ordinals(&self) -> Vec<u64> {
        let rows = self.sources.searcher.rows();
        let layers = [Layer::Profile, Layer::Prospective].map(layer_number);
        let mut ordinals: Vec<u64> =
            rows.iter().filter(|row| layers.contains(&u64::from(row.layer))).map(|row| row.ordinal).collect();
        let shown = rows.iter().map(|row| row.ordinal + 1).max().unwrap_or(0);
        ordinals.extend(shown..self.sources.corpus.ordinals());
        ordinals.sort_unstable();
        ordinals
    }

    /// Lists everything, when everything fits.
    fn whole(&mut self) -> bool {
        if !self.query.whole {
            return false;
        }
        let corpus = self.sources.corpus;
        let (mut fitting, mut tokens) = (Vec::new(), self.ledger.tokens);
        for ordinal in (0..corpus.ordinals()).filter(|ordinal| !self.listed.contains(ordinal)) {
            let Some(unit) = self.seen(ordinal) else { continue };
            tokens += tokens_of(&unit.text);
            if tokens > self.query.token_budget || fitting.len() == ITEMS_MAX || unit.text.len() > QUOTE_BYTES_MAX {
                return false;
            }
            fitting.push((ordinal, unit));
        }
        let searcher = self.sources.searcher;
        let window =
            Parsed::of(self.query).window.map(|(from, until)| searcher.happens(from, until)).unwrap_or_default();
        let item = |(ordinal, unit): (u64, &Unit)| {
            let in_window = searcher.row(ordinal).and_then(|row| window.get(row).copied()).unwrap_or(false);
            Item::of(unit, ordinal, Reason::Whole, LegScores { in_window, ..LegScores::default() })
        };
        let items = fitting.into_iter().map(item).collect();
        (self.ledger.items, self.ledger.tokens, self.ledger.whole) = (items, tokens, true);
        true
    }

    fn search(&mut self) -> Result<(), RetrieveError> {
        let Sources { corpus, searcher, vectors, embedder } = *self.sources;
        let parsed = Parsed::of(self.query);
        let visible = visible::rows(searcher, corpus, self.query);
        let mut legs = Legs::of(&legs::From { searcher, vectors, embedder }, &parsed, visible)?;
        let limit = self.query.limit.min(ITEMS_MAX);
        let dense = dense_scores(searcher, &legs, &self.settings.weights);
        let mut hits = rank(searcher, &legs, self.settings, &dense, limit + SPARE);
        if self.settings.weights.hop > 0.0 {
            let rows: Vec<usize> = hits.iter().map(|hit| hit.row).collect();
            legs.hop(searcher, corpus, &parsed, &rows)?;
            hits = rank(searcher, &legs, self.settings, &dense, limit + SPARE);
        }
        self.judge(&legs);
        self.list(&legs, &hits, limit, Reason::Found);
        if self.settings.review && self.is_thin_or_contested(limit) {
            self.review(&mut legs, &parsed, &dense, &hits, limit)?;
        }
        Ok(())
    }

    /// Whether anything speaks to the question.
    fn judge(&mut self, legs: &Legs) {
        let coverage = legs.coverage();
        let cosine = legs.dense.as_ref().map(|dense| dense.best);
        let in_window = legs.window.iter().any(|inside| *inside);
        let speaks = self.settings.speaks(coverage, cosine) || in_window;
        (self.ledger.coverage, self.ledger.cosine, self.ledger.nothing_above_threshold) = (coverage, cosine, !speaks);
    }

    fn is_thin_or_contested(&self, limit: usize) -> bool {
        self.ledger.items.len() < THIN_ITEMS.min(limit)
            || self.ledger.nothing_above_threshold
            || self.ledger.items.iter().any(|item| item.status == Status::Contested)
    }

    /// Asks once more, with the names of what was found.
    fn review(
        &mut self,
        legs: &mut Legs,
        parsed: &Parsed,
        dense: &DenseScores,
        hits: &[Scored],
        limit: usize,
    ) -> Result<(), RetrieveError> {
        let searcher = self.sources.searcher;
        let rows: Vec<usize> = hits.iter().map(|hit| hit.row).collect();
        legs.hop(searcher, self.sources.corpus, parsed, &rows)?;
        let weights = Weights { hop: REVIEW_HOP, ..self.settings.weights };
        let settings = Settings { weights, ..*self.settings };
        let again = rank(searcher, legs, &settings, dense, limit + SPARE);
        // What the first query found stays where it is: the second one only adds.
        self.list(legs, &again, limit + THIN_ITEMS, Reason::Reviewed);
        self.ledger.reviewed = true;
        Ok(())
    }

    fn list(&mut self, legs: &Legs, hits: &[Scored], limit: usize, reason: Reason) {
        for hit in hits {
            let Some(row) = self.sources.searcher.rows().get(hit.row) else { continue };
            let scores = LegScores {
                total: hit.total,
                lexical: hit.lexical,
                dense: hit.dense,
                in_window: legs.window.get(hit.row).copied().unwrap_or(false),
            };
            let found = self.ledger.items.iter().filter(|item| item.reason != Reason::OtherSide).count();
            if found >= limit || !self.add(row.ordinal, reason, scores) {
                return;
            }
        }
    }

    /// Adds a unit and the other sides of it; false when the budget is spent.
    fn add(&mut self, ordinal: u64, reason: Reason, scores: LegScores) -> bool {
        if self.listed.contains(&ordinal) {
            return true;
        }
        let Some(unit) = self.seen(ordinal) else { return true };
        let item = Item::of(unit, ordinal, reason, scores);
        let tokens = self.ledger.tokens + tokens_of(&item.quote);
        if tokens > self.query.token_budget {
            return false;
        }
        let conflicts = item.conflicts.clone();
        self.ledger.tokens = tokens;
        self.listed.insert(ordinal);
        self.ledger.items.push(item);
        for other in conflicts.iter().take(CONFLICTS_MAX) {
            if let Some(ordinal) = self.sources.corpus.ordinal(other)
                && reason != Reason::OtherSide
                && !self.add(ordinal, Reason::OtherSide, LegScores::default())
            {
                return false;
            }
        }
        true
    }
}

#[cfg(test)]
pub(crate) mod testing;
#[cfg(test)]
mod tests;
