//! Whether a proposal may be believed: its evidence is looked for in the captured messages, and whose words it rests on decides what it can become.
//!
//! The policy, in one place:
//!
//! - The user's words can become anything, with trust [`Trust::Stated`].
//! - Another person's words can become a fact about that person or others, with trust [`Trust::Heard`]; never a fact about the user, never an
//!   instruction to the assistant, never something to do.
//! - What the assistant, a tool, the system or this memory said becomes nothing by itself, whoever proposes it.
//! - Questions, suppositions, quotations, lines with a role's label and text that reads as an instruction to the assistant become nothing.
//!
//! It knows no store: captures are looked up through [`Captures`]. It does not judge whether what somebody said is true.

mod kept;

use std::ops::Range;

use loopwright_contract::digest::ContentDigest;
use loopwright_contract::memory::{Layer, Role};

use crate::extract::{Proposal, ProposalKind, Standing, standing};
use crate::id::UnitId;
use crate::message::Message;
use crate::moment::Moment;
use crate::names::fold;
use crate::unit::{Evidence, Sequence, Status, Trust, Unit};

pub use kept::{derive_again, verify_evidence};

/// The most a confidence can be, in thousandths.
const THOUSANDTHS_MAX: u16 = 1_000;

/// Where captured messages are looked up.
pub trait Captures {
    /// The message that was captured at that place of the log; none when nothing was, or when it was purged.
    fn message(&self, sequence: Sequence) -> Option<&Message>;
}

/// Why a proposal was not believed.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Rejection {
    /// Nothing was captured there.
    #[error("no message was captured at {sequence} of the log: expected the evidence there")]
    NoCapture {
        /// Where it was looked for.
        sequence: Sequence,
    },
    /// The range is no part of the message.
    #[error("bytes {start} to {end} are no part of the message at {sequence}, which has {length}")]
    Range {
        /// The message's place in the log.
        sequence: Sequence,
        /// First byte.
        start: usize,
        /// Byte after the last.
        end: usize,
        /// Bytes of the message.
        length: usize,
    },
    /// The quote is not what stands there.
    #[error("the message at {sequence} does not say `{quote}` where it is quoted")]
    Misquoted {
        /// The message's place in the log.
        sequence: Sequence,
        /// The quote, cut to 80 characters.
        quote: String,
    },
    /// The quote does not hold the value.
    #[error("the quote does not hold the value `{value}`")]
    Invented {
        /// The value, cut to 80 characters.
        value: String,
    },
    /// These words by themselves become no fact.
    #[error("the words of {role:?} by themselves become no fact\nhint: a message of the user has to say it")]
    Role {
        /// Whose words.
        role: Role,
    },
    /// Another person cannot say that for the user.
    #[error("another person's words become no {what} of the user")]
    Hearsay {
        /// What it would have become.
        what: &'static str,
    },
    /// It is part of a question.
    #[error("the quote is part of a question")]
    Asked,
    /// It is supposed, wished or reported.
    #[error("the quote is supposed, wished or reported, not said")]
    NotOwn,
    /// It is inside quotation marks, or on a line that is labelled as another role's.
    #[error("the quote is somebody else's words inside the message")]
    Quoted,
    /// It reads as an instruction to the assistant.
    #[error("the quote reads as an instruction to the assistant to set its rules aside")]
    Instruction,
    /// The proposal contradicts itself.
    #[error("the proposal is unsound: {why}")]
    Unsound {
        /// What is wrong.
        why: &'static str,
    },
    /// The evidence of a unit has another digest than the bytes that it points at.
    #[error("the evidence at {sequence} of the log has another digest than the bytes that it points at")]
    Digest {
        /// The message's place in the log.
        sequence: Sequence,
    },
    /// A unit without evidence.
    #[error("the unit has no evidence")]
    NoEvidence,
    /// Nobody derives this of what it quotes.
    #[error(
        "the rules make no such unit of what it quotes: expected its layer, category, claim and times as they follow from the quote"
    )]
    NotDerived,
}

/// A proposal whose evidence was found. Only [`verify`] makes one.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Verified {
    proposal: Proposal,
    evidence: Evidence,
}

impl Verified {
    /// What was proposed.
    #[must_use]
    pub fn proposal(&self) -> &Proposal {
        &self.proposal
    }

    /// What it rests on.
    #[must_use]
    pub fn evidence(&self) -> &Evidence {
        &self.evidence
    }

    /// The unit that it becomes. `source` is the unit of the message that it was found in.
    #[must_use]
    pub fn into_unit(self, id: UnitId, message: &Message, ingested: Moment, source: Option<UnitId>) -> Unit {
        Unit {
            id,
            layer: self.proposal.layer,
            category: Some(self.proposal.category.as_str().to_owned()),
            tags: Vec::new(),
            text: self.proposal.text,
            claim: self.proposal.claim,
            event: self.proposal.event,
            mentioned: message.mentioned.clone(),
            ingested,
            place: Some(message.place.clone()),
            evidence: vec![self.evidence],
            status: Status::Verified,
            supersedes: Vec::new(),
            superseded_by: None,
            conflicts: Vec::new(),
            confidence: self.proposal.confidence,
            activation: self.proposal.activation,
            derived_from: source.into_iter().collect(),
        }
    }
}

/// Checks a proposal against the message that was captured at `sequence`.
///
/// # Errors
/// [`Rejection`] with the first reason against it.
pub fn verify(proposal: Proposal, sequence: Sequence, captures: &dyn Captures) -> Result<Verified, Rejection> {
    let message = captures.message(sequence).ok_or(Rejection::NoCapture { sequence })?;
    let role = message.place.role;
    if !matches!(role, Role::User | Role::Other) {
        return Err(Rejection::Role { role });
    }
    let quote = slice(message, sequence, &proposal.quote)?;
    if quote != proposal.text {
        return Err(Rejection::Misquoted { sequence, quote: cut(&proposal.text) });
    }
    check_value(message, sequence, &proposal)?;
    check_sound(&proposal)?;
    if role == Role::Other {
        check_hearsay(&proposal)?;
    }
    check_standing(message, &proposal)?;
    let evidence = Evidence {
        sequence,
        start: offset(proposal.quote.start, sequence, message)?,
        end: offset(proposal.quote.end, sequence, message)?,
        digest: ContentDigest::of(quote.as_bytes()),
        role,
        trust: if role == Role::User { Trust::Stated } else { Trust::Heard },
    };
    Ok(Verified { proposal, evidence })
}

fn slice<'a>(message: &'a Message, sequence: Sequence, range: &Range<usize>) -> Result<&'a str, Rejection> {
    let found = message.text.get(range.clone()).filter(|quote| !quote.trim().is_empty());
    found.ok_or(Rejection::Range { sequence, start: range.start, end: range.end, length: message.text.len() })
}

fn offset(at: usize, sequence: Sequence, message: &Message) -> Result<u32, Rejection> {
    u32::try_from(at).map_err(|_| Rejection::Range { sequence, start: at, end: at, length: message.text.len() })
}

fn check_value(message: &Message, sequence: Sequence, proposal: &Proposal) -> Result<(), Rejection> {
    let (quote, value) = (&proposal.quote, &proposal.value);
    if value.start < quote.start || value.end > quote.end {
        return Err(Rejection::Range { sequence, start: value.start, end: value.end, length: message.text.len() });
    }
    let there = slice(message, sequence, value)?;
    let Some(claim) = &proposal.claim else { return Ok(()) };
    let folded = fold(&claim.value);
    // The value as it was said, or a spelling of it that is the same when folded.
    let said = there == claim.value || (!folded.is_empty() && fold(&proposal.text).contains(&folded));
    if said { Ok(()) } else { Err(Rejection::Invented { value: cut(&claim.value) }) }
}

fn check_sound(proposal: &Proposal) -> Result<(), Rejection> {
    let unsound = |why| Err(Rejection::Unsound { why });
    if proposal.layer == Layer::Episodic {
        return unsound("the episodic layer holds captured messages only");
    }
    if proposal.confidence.thousandths > THOUSANDTHS_MAX {
        return unsound("its confidence is over 1,000 thousandths");
    }
    if (proposal.kind == ProposalKind::ToDo) != proposal.activation.is_some() {
        return unsound("a to-do has an activation, and nothing else has one");
    }
    if proposal.activation.as_ref().is_some_and(|found| found.fired.is_some() || found.completed.is_some()) {
        return unsound("what is proposed has not fired and is not completed");
    }
    if proposal.kind == ProposalKind::ToDo && proposal.layer != Layer::Prospective {
        return unsound("a to-do belongs to the prospective layer");
    }
    let key = proposal.claim.as_ref().map(|claim| &claim.key);
    if key.is_some_and(|key| key.subject.trim().is_empty() || key.predicate.trim().is_empty()) {
        return unsound("its claim key has an empty part");
    }
    Ok(())
}

fn check_hearsay(proposal: &Proposal) -> Result<(), Rejection> {
    let hearsay = |what| Err(Rejection::Hearsay { what });
    match proposal.kind {
        ProposalKind::Instruction => return hearsay("instruction"),
        ProposalKind::ToDo | ProposalKind::Done => return hearsay("to-do"),
        ProposalKind::Correction => return hearsay("correction"),
        ProposalKind::Fact => {}
    }
    match &proposal.claim {
        Some(claim) if fold(&claim.key.subject) != "user" => Ok(()),
        _ => hearsay("fact"),
    }
}

fn check_standing(message: &Message, proposal: &Proposal) -> Result<(), Rejection> {
    let request = matches!(proposal.kind, ProposalKind::Instruction | ProposalKind::ToDo);
    match standing(&message.text, &proposal.quote, &proposal.value, request) {
        Standing::Said => Ok(()),
        Standing::Asked => Err(Rejection::Asked),
        Standing::NotOwn => Err(Rejection::NotOwn),
        Standing::Quoted | Standing::Labelled => Err(Rejection::Quoted),
        Standing::Instruction => Err(Rejection::Instruction),
    }
}

fn cut(text: &str) -> String {
    text.chars().take(80).collect()
}

#[cfg(test)]
mod tests;
