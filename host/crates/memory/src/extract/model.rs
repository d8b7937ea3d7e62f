//! What a model proposes, read as data: quotes are looked for in the message, times are resolved here, and nothing is taken on trust.

use std::ops::Range;

use loopwright_contract::memory::{Layer, ProposedClaim, ProposedMemory, Role};

use super::rule::Tense;
use super::{Category, Proposal, ProposalKind, VALUE_CHARS_MAX, when};
use crate::message::Message;
use crate::names::fold;
use crate::unit::{Activation, Arity, Claim, ClaimKey, Confidence};

/// The most proposals of a model for one message.
pub const PROPOSED_MAX: usize = 64;
/// The longest subject, predicate or qualifier, in characters.
const KEY_CHARS_MAX: usize = 64;
/// How sure a model's proposal is when it passes, in thousandths.
const MODEL_SURE: u16 = 600;
/// Why it is: how the reason of a model's proposal begins.
pub(crate) const MODEL_REASON: &str = "proposed by a model, and quoted";

/// Why a model's proposal was not read.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ModelError {
    /// There are too many.
    #[error("proposal {place} of the model: expected at most {PROPOSED_MAX}")]
    TooMany {
        /// From 0.
        place: usize,
    },
    /// The quote is not in the message.
    #[error("proposal {place} of the model quotes `{quote}`, which the message does not hold byte for byte")]
    NotQuoted {
        /// From 0.
        place: usize,
        /// The quote, cut to 80 characters.
        quote: String,
    },
    /// The value is not in the quote.
    #[error("proposal {place} of the model has the value `{value}`, which its quote does not hold")]
    Invented {
        /// From 0.
        place: usize,
        /// The value, cut to 80 characters.
        value: String,
    },
    /// A part of the claim is empty or too long.
    #[error("the {of} of proposal {place} of the model is empty or longer than {KEY_CHARS_MAX} characters")]
    Key {
        /// From 0.
        place: usize,
        /// Which part.
        of: &'static str,
    },
    /// The layer holds only what was said.
    #[error("proposal {place} of the model is for the episodic layer, which holds captured messages only")]
    Layer {
        /// From 0.
        place: usize,
    },
    /// Nobody whose words could be a fact said it.
    #[error("proposal {place} of the model rests on the words of {role:?}, which by themselves become no fact")]
    Role {
        /// From 0.
        place: usize,
        /// Whose words.
        role: Role,
    },
}

/// Reads a model's proposals for a message: what can be placed in it becomes a [`Proposal`], to be verified as those of the rules; the rest is
/// refused with its reason, in order.
#[must_use]
pub fn from_model(message: &Message, proposed: &[ProposedMemory]) -> (Vec<Proposal>, Vec<ModelError>) {
    let (mut read, mut refused) = (Vec::new(), Vec::new());
    for (place, one) in proposed.iter().take(PROPOSED_MAX).enumerate() {
        match convert(message, place, one) {
            Ok(proposal) => read.push(proposal),
            Err(error) => refused.push(error),
        }
    }
    if proposed.len() > PROPOSED_MAX {
        refused.push(ModelError::TooMany { place: PROPOSED_MAX });
    }
    (read, refused)
}

fn convert(message: &Message, place: usize, one: &ProposedMemory) -> Result<Proposal, ModelError> {
    if !matches!(message.place.role, Role::User | Role::Other) {
        return Err(ModelError::Role { place, role: message.place.role });
    }
    if one.layer == Layer::Episodic {
        return Err(ModelError::Layer { place });
    }
    let quote =
        find(&message.text, &one.quote).ok_or_else(|| ModelError::NotQuoted { place, quote: cut(&one.quote) })?;
    let (claim, value) = match &one.claim {
        None => (None, quote.clone()),
        Some(claim) => {
            let value = find(&one.quote, &claim.value).filter(|_| claim.value.chars().count() <= VALUE_CHARS_MAX);
            let value = value.ok_or_else(|| ModelError::Invented { place, value: cut(&claim.value) })?;
            (Some(read_claim(place, claim)?), quote.start + value.start..quote.start + value.end)
        }
    };
    let (event, activation, note) = times(message, one);
    let mut reason = MODEL_REASON.to_owned();
    if let Some(note) = note {
        reason.push_str("; ");
        reason.push_str(&note);
    }
    Ok(Proposal {
        kind: kind(one.layer, claim.as_ref()),
        layer: one.layer,
        category: category(one),
        text: one.quote.clone(),
        claim,
        quote,
        value,
        event,
        activation,
        confidence: Confidence { thousandths: MODEL_SURE, reason },
    })
}

fn times(
    message: &Message,
    one: &ProposedMemory,
) -> (Option<crate::moment::EventTime>, Option<Activation>, Option<String>) {
    if one.layer == Layer::Prospective {
        let (activation, note) = when::activation(&one.quote, &message.mentioned);
        return (activation.due.clone(), Some(activation), note);
    }
    let tense = if one.future { Tense::Future } else { Tense::Past };
    let dated = when::dated(&one.quote, &message.mentioned, tense);
    (dated.event, None, dated.note)
}

fn read_claim(place: usize, claim: &ProposedClaim) -> Result<Claim, ModelError> {
    let part = |of: &'static str, text: &str| {
        let folded = fold(text);
        let fits = (1..=KEY_CHARS_MAX).contains(&folded.chars().count());
        if fits { Ok(folded) } else { Err(ModelError::Key { place, of }) }
    };
    let qualifier = claim.qualifier.as_deref().map(|text| part("qualifier", text)).transpose()?;
    Ok(Claim {
        key: ClaimKey {
            subject: part("subject", &claim.subject)?,
            predicate: part("predicate", &claim.predicate)?,
            qualifier,
        },
        value: claim.value.clone(),
        arity: if claim.set { Arity::Set } else { Arity::Single },
        negated: claim.negated,
    })
}

fn find(text: &str, part: &str) -> Option<Range<usize>> {
    (!part.trim().is_empty()).then(|| text.find(part)).flatten().map(|start| start..start + part.len())
}

fn kind(layer: Layer, claim: Option<&Claim>) -> ProposalKind {
    match layer {
        Layer::Prospective => ProposalKind::ToDo,
        Layer::Profile if claim.is_some_and(|claim| claim.key.predicate == "instruction") => ProposalKind::Instruction,
        _ => ProposalKind::Fact,
    }
}

fn category(one: &ProposedMemory) -> Category {
    let named = one.category.as_deref().and_then(Category::of);
    named.unwrap_or(match one.layer {
        Layer::Profile => Category::UserProfile,
        Layer::Prospective => Category::ToDo,
        Layer::Episodic | Layer::LongTerm => Category::ImportantInfo,
    })
}

fn cut(text: &str) -> String {
    text.chars().take(80).collect()
}
