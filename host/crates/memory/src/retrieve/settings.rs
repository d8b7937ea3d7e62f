//! The figures of the ranking, each measured or with its reason. They were fitted on LoCoMo (English dialogue); `bench` fits them anew on other data.

use crate::index::Bm25;

/// The most items of a ledger.
pub const ITEMS_MAX: usize = 200;
/// The longest quote of an item, in bytes.
pub const QUOTE_BYTES_MAX: usize = 2_048;
/// The most standing items of a ledger: profile, instructions and what is due.
pub const SERVED_MAX: usize = 64;
/// The longest query, in bytes; what lies beyond is not read.
pub const QUERY_BYTES_MAX: usize = 4_096;
/// The most terms of a query.
pub const QUERY_TERMS_MAX: usize = 64;
/// The most other sides that are shown of one item that is contested.
pub const CONFLICTS_MAX: usize = 4;
/// Hits whose names make the second query.
pub const HOP_SEEDS: usize = 5;
/// The most names that the second query looks for.
pub const HOP_NAMES_MAX: usize = 8;
/// A name that more of the memory has than this, as a divisor of its size, tells nothing.
pub const HOP_SHARE_DIVISOR: usize = 20;
/// A ledger with fewer items than this is thin, and asked for once more.
pub const THIN_ITEMS: usize = 3;

/// How repetition and length count in the body: short turns are compared with short turns.
pub(crate) const BODY_WEIGHING: Bm25 = Bm25 { k1: 1.2, b: 0.4 };
/// Names and dates are there or not.
pub(crate) const PRESENCE_WEIGHING: Bm25 = Bm25 { k1: 1.2, b: 0.0 };

/// How the lexical and the dense leg are joined.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fusion {
    /// Each leg is stretched to 0 to 1 and they are added.
    MinMaxSum,
    /// The reciprocals of the ranks are added.
    Rrf,
}

/// What each signal counts for.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Weights {
    /// What a turn inherits of the turn before it.
    pub previous: f32,
    /// Of the turn after it.
    pub next: f32,
    /// Of the turn two before it.
    pub previous_second: f32,
    /// Of the turn two after it.
    pub next_second: f32,
    /// The BM25 of its whole session.
    pub session: f32,
    /// The query names its speaker and nobody else: a factor, less 1.
    pub speaker: f32,
    /// Dates of the query.
    pub dates: f32,
    /// Names of the query.
    pub names: f32,
    /// Names of the first hits.
    pub hop: f32,
    /// It has the kind of thing that is asked for, a time: a factor, less 1.
    pub asked_time: f32,
    /// A number or a name.
    pub asked_other: f32,
    /// It asks itself: what is taken from the factor.
    pub question: f32,
    /// It was said, or happens, in the stretch of time that the query names: of a scale of 0 to 1.
    pub window: f32,
    /// The share of the lexical leg; the dense leg has the rest.
    pub lexical: f32,
    /// What a turn inherits of the dense score of each turn beside it.
    pub dense_beside: f32,
    /// Of each turn two away.
    pub dense_second: f32,
    /// The mean of the three best of its session.
    pub dense_session: f32,
    /// The query names its speaker: of a scale of 0 to 1.
    pub dense_speaker: f32,
}

/// What most of ten fits on LoCoMo chose, each on nine of its conversations, categories 1 to 4. The figures that are reported are not of these but of the
/// fits, each measured on the conversation that it had not seen.
pub const WEIGHTS: Weights = Weights {
    previous: 0.5,
    next: 0.4,
    previous_second: 0.3,
    next_second: 0.1,
    session: 1.0,
    speaker: 0.8,
    dates: 1.0,
    names: 0.0,
    hop: 0.5,
    asked_time: 0.6,
    asked_other: 0.3,
    question: 0.3,
    // Not fitted: no question of LoCoMo names a stretch of time by its distance from now.
    window: 0.25,
    lexical: 0.5,
    dense_beside: 0.2,
    dense_second: 0.0,
    dense_session: 0.3,
    dense_speaker: 0.1,
};

/// How retrieval works.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Settings {
    /// What each signal counts for.
    pub weights: Weights,
    /// How the legs are joined.
    pub fusion: Fusion,
    /// Below this share of the query's weight in terms that the best text has, the lexical leg has found nothing.
    pub lexical_least: f32,
    /// The same where there is a dense leg too, which finds what has few words in common.
    pub lexical_least_beside_dense: f32,
    /// Below this cosine of the best text, the dense leg has found nothing.
    pub dense_least: f32,
    /// Orders what scores alike; it says nothing of the content.
    pub tie_seed: u64,
    /// Whether a thin or contested ledger is asked for a second time.
    pub review: bool,
}

impl Default for Settings {
    fn default() -> Self {
        Self {
            weights: WEIGHTS,
            fusion: Fusion::MinMaxSum,
            // Measured on LoCoMo by asking each conversation the questions of another one: with vectors 93 of 100 own questions are kept and 60 of 100
            // foreign ones refused; higher figures refuse more of both.
            lexical_least: 0.10,
            lexical_least_beside_dense: 0.20,
            dense_least: 0.40,
            tie_seed: 0x005e_ed00,
            review: true,
        }
    }
}

impl Settings {
    /// Whether a memory whose best text has this coverage of the query, and this cosine where there is one, says anything of it.
    #[must_use]
    pub fn speaks(&self, coverage: f32, cosine: Option<f32>) -> bool {
        match cosine {
            None => coverage >= self.lexical_least,
            Some(cosine) => coverage >= self.lexical_least_beside_dense || cosine >= self.dense_least,
        }
    }
}
