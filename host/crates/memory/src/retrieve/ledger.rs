//! What retrieval returns: items of evidence, never prose.

use loopwright_contract::memory::{Layer, Role};

use super::settings::QUOTE_BYTES_MAX;
use crate::flags::reads_as_instruction;
use crate::id::UnitId;
use crate::moment::{EventTime, Moment};
use crate::unit::{Evidence, Sequence, Status, Unit};

/// Why an item is in the ledger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// It fits the query.
    Found,
    /// It fits the second query, which a thin or contested ledger gets.
    Reviewed,
    /// It contradicts an item above it.
    OtherSide,
    /// Profile, standing instruction or due: served whatever is asked.
    Standing,
    /// The whole memory fits the budget.
    Whole,
}

/// The scores of an item, by leg.
#[derive(Debug, Clone, Copy, PartialEq, Default)]
pub struct LegScores {
    /// The one that it is ordered by; 0 to about 1, only comparable within one ledger.
    pub total: f32,
    /// Words, dates, neighbours and session: 0 to 1.
    pub lexical: f32,
    /// The cosine; none without vectors, or when the text has none.
    pub dense: Option<f32>,
    /// Whether it lies in the stretch of time that the query names.
    pub in_window: bool,
}

/// One piece of evidence.
#[derive(Debug, Clone, PartialEq)]
pub struct Item {
    /// The unit.
    pub id: UnitId,
    /// Its number in the memory.
    pub ordinal: u64,
    /// Its layer.
    pub layer: Layer,
    /// Its category.
    pub category: Option<String>,
    /// Its text, word for word, at most [`QUOTE_BYTES_MAX`](super::QUOTE_BYTES_MAX) bytes.
    pub quote: String,
    /// Whether the text goes on.
    pub is_cut: bool,
    /// When it was said.
    pub mentioned: Moment,
    /// When it happens or holds.
    pub event: Option<EventTime>,
    /// Who said it.
    pub speaker: Option<String>,
    /// What the speaker is.
    pub role: Option<Role>,
    /// What it rests on.
    pub evidence: Vec<Evidence>,
    /// Where it stands.
    pub status: Status,
    /// What it contradicts.
    pub conflicts: Vec<UnitId>,
    /// What took its place.
    pub superseded_by: Option<UnitId>,
    /// Why it is here.
    pub reason: Reason,
    /// Its scores; all 0 of what was not searched for.
    pub scores: LegScores,
    /// Whether it reads like an instruction to whoever processes it. It is none.
    pub reads_as_instruction: bool,
}

impl Item {
    pub(crate) fn of(unit: &Unit, ordinal: u64, reason: Reason, scores: LegScores) -> Self {
        let end = unit.text.floor_char_boundary(QUOTE_BYTES_MAX);
        let quote = unit.text.get(..end).unwrap_or_default().to_owned();
        Self {
            id: unit.id,
            ordinal,
            layer: unit.layer,
            category: unit.category.clone(),
            is_cut: quote.len() < unit.text.len(),
            mentioned: unit.mentioned.clone(),
            event: unit.event.clone(),
            speaker: unit.place.as_ref().map(|place| place.speaker.clone()),
            role: unit.place.as_ref().map(|place| place.role),
            evidence: unit.evidence.clone(),
            status: unit.status,
            conflicts: unit.conflicts.clone(),
            superseded_by: unit.superseded_by,
            reason,
            scores,
            reads_as_instruction: reads_as_instruction(&unit.text),
            quote,
        }
    }
}

/// What a memory has for a query.
#[derive(Debug, Clone, PartialEq)]
pub struct Ledger {
    /// What fits the query, best first, each with the other sides of what it contradicts; of a whole memory, in its order.
    pub items: Vec<Item>,
    /// What is served whatever is asked.
    pub standing: Vec<Item>,
    /// Nothing speaks to the question: what is listed is the nearest there is, and no answer.
    pub nothing_above_threshold: bool,
    /// All that may be seen is in `items`.
    pub whole: bool,
    /// A second query was made, since the first found little or found a contradiction.
    pub reviewed: bool,
    /// Tokens of all quotes, as [`tokens_of`] counts them.
    pub tokens: usize,
    /// The share of the query's weight in terms that the best text has, 0 to 1.
    pub coverage: f32,
    /// The cosine of the best text; none without vectors.
    pub cosine: Option<f32>,
    /// What is served whatever is asked takes more than the budget: nothing else is listed for want of room.
    pub over_budget: bool,
    /// The place in the log that it shows.
    pub sequence: Sequence,
}

/// About how many tokens of a language model a text has: one for each Chinese, Japanese or Korean character, and one for every four other bytes.
#[must_use]
pub fn tokens_of(text: &str) -> usize {
    let (mut wide, mut narrow) = (0_usize, 0_usize);
    for ch in text.chars() {
        if u32::from(ch) >= 0x1100 {
            wide += 1;
        } else {
            narrow += ch.len_utf8();
        }
    }
    wide + narrow.div_ceil(4)
}
