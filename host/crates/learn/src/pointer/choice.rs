//! A decision as a row of choices among options, with all that scoring them again needs. It knows no context, no tool and no weight.
//!
//! These tables are made when a policy acts and stored with what it took. Training scores the same tables: nothing is derived a second time.

use std::ops::Range;
use std::sync::Arc;

/// Rows of the table that n-grams are hashed to.
pub const BUCKETS: u32 = 8_192;
/// N-grams of a bag, at most; the first ones count.
pub const GRAMS_MAX: usize = 256;
/// Units of a request, at most: Latin words, numbers and Han characters.
pub const UNITS_MAX: usize = 64;
/// Bits that say of what type a unit is.
pub const TYPE_BITS: usize = 16;
/// Numbers that describe a question.
pub const QUESTION_FACTS: usize = 16;
/// Numbers that describe an option.
pub const OPTION_FACTS: usize = 32;
/// Facts are within this and its negative.
pub const FACT_MAX: f32 = 4.0;
/// Earlier calls that a choice looks back on.
pub const PAST_MAX: usize = 8;
/// Options of a choice, at most.
pub const OPTIONS_MAX: usize = 192;
/// What may have become of an earlier call.
pub const STATUSES: usize = 8;

/// Words as hashed n-grams, in ascending order, each once and each below [`BUCKETS`]. Clones share their grams.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Default)]
pub struct Bag(Arc<[u32]>);

impl Bag {
    /// A bag of these grams: those beyond [`BUCKETS`] are folded into it, and of more than [`GRAMS_MAX`] the first are kept.
    #[must_use]
    pub fn new(grams: impl IntoIterator<Item = u32>) -> Self {
        let mut kept = Vec::new();
        let mut seen = [0_u64; BUCKETS.div_ceil(u64::BITS) as usize];
        for gram in grams {
            if kept.len() == GRAMS_MAX {
                break;
            }
            let gram = gram % BUCKETS;
            let bit = 1 << (gram % u64::BITS);
            if let Some(word) = seen.get_mut((gram / u64::BITS) as usize).filter(|word| **word & bit == 0) {
                *word |= bit;
                kept.push(gram);
            }
        }
        kept.sort_unstable();
        Self(kept.into())
    }

    /// Its grams.
    #[must_use]
    pub fn grams(&self) -> &[u32] {
        &self.0
    }
}

/// One unit of the request.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct Unit {
    /// Its n-grams.
    pub bag: Bag,
    /// Its types: the lowest [`TYPE_BITS`] bits.
    pub types: u32,
}

/// What is asked.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Kind {
    /// What to do next: a tool, or one of the acts that are none.
    Act,
    /// What a slot of the tool that was taken gets.
    Slot,
    /// Whether another call follows in this turn.
    More,
}

impl Kind {
    /// All of them.
    pub const ALL: [Self; 3] = [Self::Act, Self::Slot, Self::More];
}

/// A question.
#[derive(Debug, Clone, PartialEq)]
pub struct Question {
    /// What is asked.
    pub kind: Kind,
    /// What it is about: the slot, and the tool that it is a slot of.
    pub bag: Bag,
    /// Numbers about it, each within -[`FACT_MAX`] to it; those that are not used are 0.
    pub facts: [f32; QUESTION_FACTS],
}

/// One answer that could be taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Answer {
    /// Its words.
    pub bag: Bag,
    /// Numbers about it, each within -[`FACT_MAX`] to it; those that are not used are 0.
    pub facts: [f32; OPTION_FACTS],
    /// The units of the request that it points to, where it does: not empty, and within the request.
    pub span: Option<Range<usize>>,
}

/// An earlier call of the episode.
#[derive(Debug, Clone, PartialEq)]
pub struct Past {
    /// The tool or act.
    pub bag: Bag,
    /// What became of it: below [`STATUSES`].
    pub status: u8,
    /// Whether it changed something.
    pub changed: bool,
}

/// A question with its answers: all that are allowed, and at least one.
#[derive(Debug, Clone, PartialEq)]
pub struct Choice {
    /// The question.
    pub question: Question,
    /// The answers, 1 to [`OPTIONS_MAX`].
    pub answers: Vec<Answer>,
    /// The last calls before this turn, oldest first, at most [`PAST_MAX`]; shared by the choices of a turn.
    pub past: Arc<[Past]>,
}

/// A choice, and which answer was taken.
#[derive(Debug, Clone, PartialEq)]
pub struct Taken {
    /// The choice.
    pub choice: Choice,
    /// A place in its answers.
    pub answer: usize,
}

/// What was chosen in one episode: a sample to train on.
#[derive(Debug, Clone, PartialEq)]
pub struct Play {
    /// The request, encoded once for all choices; at most [`UNITS_MAX`], and perhaps empty.
    pub units: Arc<[Unit]>,
    /// Its choices in order. Those of erroneous turns are left out.
    pub choices: Vec<Taken>,
}
