//! Whether a unit that is kept, or comes in a file, follows from what was said. It knows no store; whoever wrote the unit is not trusted.
//!
//! [`verify_evidence`] asks what capture asked: that is what a check of a memory needs, and no later change of a rule makes an old unit false.
//! [`derive_again`] asks for more: that the rules, or a model's reading, make this unit of its quote. That is what a file of a stranger needs.

use std::collections::BTreeMap;
use std::ops::Range;

use loopwright_contract::digest::ContentDigest;
use loopwright_contract::memory::{Layer, ProposedClaim, ProposedMemory, Role};

use super::{Captures, Rejection, cut, slice, verify};
use crate::extract::view::View;
use crate::extract::{Category, MODEL_REASON, Proposal, ProposalKind, extract, from_model};
use crate::message::{Message, TEXT_BYTES_MAX};
use crate::names::{KnownNames, fold};
use crate::unit::{Activation, Arity, Claim, Confidence, Evidence, Sequence, Unit};

/// The most places of a quote at which its value is looked for.
const PLACES_MAX: usize = 8;

/// Messages by their place in a log.
impl Captures for BTreeMap<Sequence, Message> {
    fn message(&self, sequence: Sequence) -> Option<&Message> {
        self.get(&sequence)
    }
}

/// Checks a unit against the captures, as after an import: every quote is there and is its speaker's, and one of them is the unit's text, holds
/// its value and may become what the unit is, by the rules of [`verify`].
///
/// # Errors
/// [`Rejection`] with the first reason against it.
pub fn verify_evidence(unit: &Unit, captures: &dyn Captures) -> Result<(), Rejection> {
    check_quotes(unit, captures)?;
    if unit.layer == Layer::Episodic {
        return Ok(());
    }
    carriers(unit, captures)?.map(|result| result.map(|_| ())).reduce(Result::or).unwrap_or_else(|| Err(no_text(unit)))
}

/// Checks a unit of a file, as [`verify_evidence`] does, and derives it again: it is refused when neither the rules make it of a quote nor, where it
/// says that a model proposed it, a model could have. Returns how sure it is, which the file does not decide.
///
/// # Errors
/// [`Rejection`] with the first reason against it.
pub fn derive_again(unit: &Unit, captures: &dyn Captures) -> Result<Confidence, Rejection> {
    verify_evidence(unit, captures)?;
    let found = unit.evidence.iter().flat_map(|evidence| proposals(unit, evidence, captures)).collect::<Vec<_>>();
    let made = found.iter().find(|proposal| makes(proposal, unit)).ok_or(Rejection::NotDerived)?;
    let said = unit.evidence.iter().filter_map(|evidence| captures.message(evidence.sequence));
    let mut said = said.filter(|said| Some(&said.place) == unit.place.as_ref());
    if !said.any(|said| said.mentioned == unit.mentioned) {
        return Err(Rejection::Unsound { why: "it was not said where and when it says" });
    }
    if !unit.tags.is_empty() {
        return Err(Rejection::Unsound { why: "what is derived has no labels" });
    }
    // Of several quotes of one claim the surer one counts.
    let key = |proposal: &Proposal| proposal.claim.as_ref().map(|claim| claim.key.clone());
    let mut sure = found.iter().filter(|proposal| key(proposal) == key(made)).map(|proposal| &proposal.confidence);
    Ok(sure.find(|confidence| **confidence == unit.confidence).unwrap_or(&made.confidence).clone())
}

fn check_quotes(unit: &Unit, captures: &dyn Captures) -> Result<(), Rejection> {
    if unit.evidence.is_empty() {
        return Err(Rejection::NoEvidence);
    }
    for evidence in &unit.evidence {
        let sequence = evidence.sequence;
        let message = captures.message(sequence).ok_or(Rejection::NoCapture { sequence })?;
        let quote = slice(message, sequence, &range(evidence))?;
        if ContentDigest::of(quote.as_bytes()) != evidence.digest {
            return Err(Rejection::Digest { sequence });
        }
        let role = message.place.role;
        let enough = unit.layer == Layer::Episodic || matches!(role, Role::User | Role::Other);
        if role != evidence.role || !enough {
            return Err(Rejection::Role { role });
        }
    }
    Ok(())
}

fn range(evidence: &Evidence) -> Range<usize> {
    evidence.start as usize..evidence.end as usize
}

fn no_text(unit: &Unit) -> Rejection {
    let sequence = unit.evidence.first().map_or(0, |evidence| evidence.sequence);
    Rejection::Misquoted { sequence, quote: cut(&unit.text) }
}

/// What verification says of each quote that is the unit's text.
fn carriers<'a>(
    unit: &'a Unit,
    captures: &'a dyn Captures,
) -> Result<impl Iterator<Item = Result<super::Verified, Rejection>> + 'a, Rejection> {
    let category = match unit.category.as_deref() {
        Some(name) => Category::of(name).ok_or(Rejection::Unsound { why: "its category is none of the catalogue" })?,
        None => return Err(Rejection::Unsound { why: "it has no category" }),
    };
    let quoting = unit.evidence.iter().filter_map(move |evidence| {
        let quote = captures.message(evidence.sequence)?.text.get(range(evidence))?;
        same_words(quote, &unit.text).then_some((evidence, quote))
    });
    Ok(quoting.map(move |(evidence, text)| {
        let quote = range(evidence);
        let invented = || {
            let value = unit.claim.as_ref().map_or("", |claim| &claim.value);
            Err(Rejection::Invented { value: cut(value) })
        };
        let places = value_places(unit, text);
        let results = places.into_iter().map(|value| {
            let value = quote.start + value.start..quote.start + value.end;
            verify(proposal_of(unit, category, (text, quote.clone()), value), evidence.sequence, captures)
        });
        results.reduce(Result::or).unwrap_or_else(invented)
    }))
}

/// Whether two texts have the same letters and digits. When one of two quotes is forgotten, the unit keeps a text that may differ from the other in
/// marks and capitals alone.
fn same_words(left: &str, right: &str) -> bool {
    let words = |text: &str| fold(text).chars().filter(|ch| ch.is_alphanumeric()).collect::<String>();
    left == right || words(left) == words(right)
}

/// Where the quote has the value, as the rules read both.
fn value_places(unit: &Unit, quote: &str) -> Vec<Range<usize>> {
    let whole = || std::iter::once(0..quote.len()).collect();
    let Some(claim) = &unit.claim else { return whole() };
    let (text, value) = (View::new(quote, TEXT_BYTES_MAX), View::new(&claim.value, TEXT_BYTES_MAX));
    if value.text().trim().is_empty() {
        return Vec::new();
    }
    let found = text.text().match_indices(value.text()).take(PLACES_MAX);
    let found: Vec<Range<usize>> = found.map(|(at, value)| text.origin(at..at + value.len())).collect();
    // In other capitals it is there too, somewhere.
    if found.is_empty() && fold(quote).contains(&fold(&claim.value)) { whole() } else { found }
}

fn proposal_of(unit: &Unit, category: Category, (text, quote): (&str, Range<usize>), value: Range<usize>) -> Proposal {
    let instruction = unit.claim.as_ref().is_some_and(|claim| claim.key.predicate == "instruction");
    let kind = match &unit.activation {
        Some(_) => ProposalKind::ToDo,
        None if instruction => ProposalKind::Instruction,
        None => ProposalKind::Fact,
    };
    Proposal {
        kind,
        layer: unit.layer,
        category,
        text: text.to_owned(),
        claim: unit.claim.clone(),
        quote,
        value,
        event: unit.event.clone(),
        activation: unit.activation.as_ref().map(as_proposed),
        confidence: unit.confidence.clone(),
    }
}

/// An activation before anything happened to it.
fn as_proposed(activation: &Activation) -> Activation {
    Activation { fired: None, completed: None, ..activation.clone() }
}

/// What is proposed of a quote: by the rules, and as a model might, if the unit says that one did.
fn proposals(unit: &Unit, evidence: &Evidence, captures: &dyn Captures) -> Vec<Proposal> {
    let Some(message) = captures.message(evidence.sequence) else { return Vec::new() };
    // That the memory knew the name of whom the unit is about is taken from the unit: who is known may have been forgotten since.
    let mut names = KnownNames::new();
    if let Some(claim) = &unit.claim {
        names.add(&claim.key.subject, &[]);
    }
    let mut found = extract(message, &names);
    if unit.confidence.reason.starts_with(MODEL_REASON) {
        let proposed = [false, true].map(|future| as_a_model_says(unit, future));
        found.extend(from_model(message, &proposed).0);
    }
    found.retain(|proposal| proposal.quote == range(evidence) || proposal.text != unit.text);
    found.retain(|proposal| verify(proposal.clone(), evidence.sequence, captures).is_ok());
    found
}

fn as_a_model_says(unit: &Unit, future: bool) -> ProposedMemory {
    let claim = unit.claim.as_ref().map(|claim| ProposedClaim {
        subject: claim.key.subject.clone(),
        predicate: claim.key.predicate.clone(),
        qualifier: claim.key.qualifier.clone(),
        value: claim.value.clone(),
        set: claim.arity == Arity::Set,
        negated: claim.negated,
    });
    ProposedMemory { layer: unit.layer, category: unit.category.clone(), quote: unit.text.clone(), claim, future }
}

/// Whether a proposal becomes this unit.
fn makes(proposal: &Proposal, unit: &Unit) -> bool {
    proposal.layer == unit.layer
        && same_words(&proposal.text, &unit.text)
        && same_claim(proposal.claim.as_ref(), unit.claim.as_ref())
        && Some(proposal.category.as_str()) == unit.category.as_deref()
        && proposal.event == unit.event
        && proposal.activation == unit.activation.as_ref().map(as_proposed)
}

fn same_claim(left: Option<&Claim>, right: Option<&Claim>) -> bool {
    match (left, right) {
        (Some(left), Some(right)) => {
            let same = (&left.key, left.arity, left.negated) == (&right.key, right.arity, right.negated);
            same && fold(&left.value) == fold(&right.value)
        }
        (left, right) => left.is_none() && right.is_none(),
    }
}
