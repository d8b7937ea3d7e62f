//! What a message says that is worth keeping, by rules alone, in English and Chinese.
//!
//! Pure functions: no store, no clock, no model. A [`Proposal`] is not yet believed; `verify` checks it against the captures,
//! `reconcile` places it among what is known. It knows nothing of other messages: "actually, it's Thursday" is proposed as a
//! correction without a claim.
//!
//! Predicates of the rules. One value at a time: `name`, `called`, `pronouns`, `age`, `birthday`, `phone`, `email`, `lives_in`, `from`, `works_at`,
//! `works_in`, `job`, `studies`, `studies_at`, `education`, `diet`, `favourite` (of a kind), `prefers` (of a kind), `routine` (of an activity),
//! `scheduled` (of an occasion), `place`, `duration`, `size`, `content` (of an event by its name). Several: `lived_in`, `relation`, `has_family`,
//! `pet`, `allergic_to`, `health`, `avoids`, `likes`, `instruction`, `decided`, `event`, `trip_city`, `todo`.

mod chinese;
mod claim;
mod english;
mod model;
mod pattern;
mod quoted;
mod rule;
mod sentence;
mod standing;
mod value;
pub(crate) mod view;
mod when;
mod words;

#[cfg(test)]
mod tests;

use std::ops::Range;
use std::sync::LazyLock;

use loopwright_contract::memory::{Layer, Role};
use serde::{Deserialize, Serialize};

use crate::flags::reads_as_instruction;
use crate::message::{Message, TEXT_BYTES_MAX};
use crate::moment::EventTime;
use crate::names::KnownNames;
use crate::unit::{Activation, Claim, Confidence};

use rule::{Compiled, compiled};
use sentence::{Sentence, has_role_label};
pub(crate) use sentence::{looks_ahead, sentences};
use view::{View, is_han};

pub(crate) use model::MODEL_REASON;
pub use model::{ModelError, PROPOSED_MAX, from_model};
pub(crate) use pattern::compile;
pub use sentence::{SENTENCE_BYTES_MAX, SENTENCES_MAX};
pub(crate) use standing::{Standing, standing};
pub use value::{LIST_MAX, VALUE_CHARS_MAX};

/// The most proposals of one message; what is found after them is left.
pub const PROPOSALS_MAX: usize = 64;
/// How much less sure a proposal is, in thousandths, when its message also holds text that reads as an instruction to the assistant.
const INJECTION_DISCOUNT: u16 = 300;

/// A category of the catalogue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Category {
    /// Who the user is and what they like.
    UserProfile,
    /// What they do regularly.
    RoutinesHabits,
    /// Facts and decisions.
    ImportantInfo,
    /// What happened or will happen.
    ImportantEvent,
    /// How the assistant is to behave.
    StandingInstruction,
    /// What is to be done.
    ToDo,
}

impl Category {
    /// The name in the catalogue.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::UserProfile => "user_profile",
            Self::RoutinesHabits => "routines_habits",
            Self::ImportantInfo => "important_info",
            Self::ImportantEvent => "important_event",
            Self::StandingInstruction => "standing_instruction",
            Self::ToDo => "to_do",
        }
    }

    /// The category of that name; none when the catalogue has none.
    #[must_use]
    pub fn of(name: &str) -> Option<Self> {
        let all = [
            Self::UserProfile,
            Self::RoutinesHabits,
            Self::ImportantInfo,
            Self::ImportantEvent,
            Self::StandingInstruction,
            Self::ToDo,
        ];
        all.into_iter().find(|category| category.as_str() == name)
    }
}

/// What kind of thing is proposed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ProposalKind {
    /// Something that holds or happens.
    Fact,
    /// How the assistant is to behave.
    Instruction,
    /// Something to do. It has an activation.
    ToDo,
    /// Something is done: [`prospective::completed_by`](crate::prospective::completed_by) tells which to-do. Never a unit by itself.
    Done,
    /// What was said before is wrong. Without a claim: the caller links it to what it corrects, or leaves it episodic.
    Correction,
}

/// Something worth keeping that was found in a message.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proposal {
    /// What kind of thing.
    pub kind: ProposalKind,
    /// Where it belongs.
    pub layer: Layer,
    /// Its category.
    pub category: Category,
    /// The sentence that it rests on, in its own language.
    pub text: String,
    /// What it claims, where that was found.
    pub claim: Option<Claim>,
    /// The bytes of the message's text that it rests on.
    pub quote: Range<usize>,
    /// The bytes of the value inside the quote.
    pub value: Range<usize>,
    /// When it happens or holds.
    pub event: Option<EventTime>,
    /// When it is to be done: of to-dos.
    pub activation: Option<Activation>,
    /// How sure it is, and why; also why a time that was named gave none.
    pub confidence: Confidence,
}

static ENGLISH: LazyLock<Vec<Compiled>> =
    LazyLock::new(|| english::RULES.iter().flat_map(|table| compiled(table)).collect());
static CHINESE: LazyLock<Vec<Compiled>> =
    LazyLock::new(|| chinese::RULES.iter().flat_map(|table| compiled(table)).collect());

/// What a message says that is worth keeping, in the order of its sentences; at most [`PROPOSALS_MAX`].
///
/// Only a user's and another person's words propose anything: what the assistant, a tool, the system or this memory said proposes nothing.
/// Questions, suppositions, quotations and reported speech are passed over, and so are sentences that
/// [read as an instruction](reads_as_instruction) to the assistant to set its rules aside. Times are resolved against the message's moment and
/// zone. Reads at most [`TEXT_BYTES_MAX`] bytes, [`SENTENCES_MAX`] sentences and [`SENTENCE_BYTES_MAX`] bytes of each.
#[must_use]
pub fn extract(message: &Message, known: &KnownNames) -> Vec<Proposal> {
    if !matches!(message.place.role, Role::User | Role::Other) {
        return Vec::new();
    }
    let view = View::new(&message.text, TEXT_BYTES_MAX);
    let quotations = quoted::quoted(view.text());
    let mut reader = claim::Reader::new(message, known, &view, &quotations);
    let mut suspicious = false;
    let mut labelled_until = 0;
    for sentence in sentences(view.text()) {
        if sentence.start < labelled_until {
            continue;
        }
        if has_role_label(sentence.text) {
            // A line that somebody else is made to say, to its end.
            labelled_until = line_end(view.text(), sentence.start);
            suspicious = true;
            continue;
        }
        if reads_as_instruction(sentence.text) {
            suspicious = true;
            continue;
        }
        read(&mut reader, &sentence);
        if reader.found.len() >= PROPOSALS_MAX {
            break;
        }
    }
    let mut found = reader.found;
    found.truncate(PROPOSALS_MAX);
    if suspicious {
        found.iter_mut().for_each(discount);
    }
    found
}

fn read(reader: &mut claim::Reader<'_>, sentence: &Sentence<'_>) {
    let chinese = sentence.text.chars().any(is_han);
    if chinese {
        CHINESE.iter().for_each(|rule| reader.apply(rule, sentence));
    }
    if sentence.text.chars().any(|ch| ch.is_ascii_alphabetic()) {
        ENGLISH.iter().for_each(|rule| reader.apply(rule, sentence));
    }
}

fn line_end(text: &str, from: usize) -> usize {
    text.get(from..).and_then(|rest| rest.find('\n')).map_or(text.len(), |at| from + at)
}

fn discount(proposal: &mut Proposal) {
    let confidence = &mut proposal.confidence;
    confidence.thousandths = confidence.thousandths.saturating_sub(INJECTION_DISCOUNT);
    confidence.reason.push_str("; the message also holds text that reads as an instruction to the assistant");
}
