//! What every event must satisfy, whoever wrote it.

use loopwright_contract::digest::ContentDigest;

use super::error::FoldError;
use super::event::{Captured, Content, Outcome, Rejected};
use super::limits::{EVIDENCE_MAX, LABEL_BYTES_MAX, LINKS_MAX, REASON_BYTES_MAX, TAGS_MAX, UNIT_TEXT_BYTES_MAX};
use super::state::State;
use crate::id::UnitId;
use crate::message::NAME_BYTES_MAX;
use crate::unit::{Evidence, Status};

pub(super) fn label(what: &'static str, label: Option<&str>) -> Result<(), FoldError> {
    match label {
        Some("") => Err(FoldError::Empty { what }),
        Some(label) => FoldError::limit(what, label.len(), LABEL_BYTES_MAX),
        None => Ok(()),
    }
}

fn tags(tags: &[String]) -> Result<(), FoldError> {
    FoldError::limit("labels", tags.len(), TAGS_MAX)?;
    tags.iter().try_for_each(|tag| label("label", Some(tag)))
}

pub(super) fn captured(captured: &Captured, scrubbed: bool) -> Result<(), FoldError> {
    if !(scrubbed && captured.message.text.is_empty()) {
        captured.message.check()?;
    }
    label("category", captured.category.as_deref())?;
    label("name of the task", captured.working.as_deref())?;
    tags(&captured.tags)
}

pub(super) fn rejected(state: &State, rejected: &Rejected, scrubbed: bool) -> Result<(), FoldError> {
    FoldError::limit("bytes of the proposal", rejected.text.len(), UNIT_TEXT_BYTES_MAX)?;
    FoldError::limit("bytes of the reason", rejected.reason.len(), REASON_BYTES_MAX)?;
    FoldError::limit("pieces of evidence", rejected.evidence.len(), EVIDENCE_MAX)?;
    if scrubbed { Ok(()) } else { rejected.evidence.iter().try_for_each(|piece| evidence(state, piece)) }
}

/// Checks what a derived unit says. A record that a purge rewrote may lack text and evidence.
pub(super) fn content(state: &State, content: &Content, scrubbed: bool) -> Result<(), FoldError> {
    let withheld = scrubbed && content.text.is_empty();
    if content.text.trim().is_empty() && !withheld {
        return Err(FoldError::Empty { what: "text" });
    }
    if content.evidence.is_empty() && !scrubbed {
        return Err(FoldError::Empty { what: "evidence" });
    }
    FoldError::limit("bytes of the text", content.text.len(), UNIT_TEXT_BYTES_MAX)?;
    FoldError::limit("pieces of evidence", content.evidence.len(), EVIDENCE_MAX)?;
    FoldError::limit("units that it was derived from", content.derived_from.len(), LINKS_MAX)?;
    FoldError::limit("bytes of the reason", content.confidence.reason.len(), REASON_BYTES_MAX)?;
    FoldError::limit("confidence in thousandths", usize::from(content.confidence.thousandths), 1_000)?;
    label("category", content.category.as_deref())?;
    tags(&content.tags)?;
    if let Some(claim) = &content.claim {
        label("subject of the claim", Some(&claim.key.subject))?;
        label("predicate of the claim", Some(&claim.key.predicate))?;
        label("qualifier of the claim", claim.key.qualifier.as_deref())?;
        FoldError::limit("bytes of the claim's value", claim.value.len(), UNIT_TEXT_BYTES_MAX)?;
    }
    if let Some(place) = &content.place {
        for name in [&place.dialogue, &place.session, &place.speaker] {
            FoldError::limit("bytes of a name in the place", name.len(), NAME_BYTES_MAX)?;
        }
    }
    if let Some(condition) = content.activation.as_ref().and_then(|activation| activation.condition.as_ref()) {
        FoldError::limit("bytes of the condition", condition.len(), UNIT_TEXT_BYTES_MAX)?;
    }
    content.derived_from.iter().try_for_each(|id| state.ordinal_of(*id).map(|_| ()))?;
    content.evidence.iter().try_for_each(|piece| evidence(state, piece))
}

/// Checks that a quote is there, word for word, and that it is not relied on more than its message.
pub(super) fn evidence(state: &State, evidence: &Evidence) -> Result<(), FoldError> {
    let refuse =
        |reason| FoldError::Evidence { sequence: evidence.sequence, start: evidence.start, end: evidence.end, reason };
    let (_, slot) = state.captured_at(evidence.sequence).ok_or_else(|| refuse("no message was captured there"))?;
    if slot.unit.status == Status::Redacted {
        return Err(refuse("the message was redacted"));
    }
    let bounds = usize::try_from(evidence.start).ok().zip(usize::try_from(evidence.end).ok());
    let quote = bounds.and_then(|(start, end)| slot.unit.text.get(start..end));
    let quote = quote.ok_or_else(|| refuse("the message has no such bytes, or they cut a character"))?;
    if ContentDigest::of(quote.as_bytes()) != evidence.digest {
        return Err(refuse("the digest is not that of the quoted bytes"));
    }
    let role = slot.unit.place.as_ref().map(|place| place.role);
    if role != Some(evidence.role) {
        return Err(refuse("somebody else said it"));
    }
    let trust = slot.unit.evidence.first().map(|own| own.trust);
    if trust.is_none_or(|trust| evidence.trust > trust) {
        return Err(refuse("it is trusted more than the message"));
    }
    Ok(())
}

/// Refuses that a unit takes the place of another, or contradicts it, when they are not about the same. Of what a purge withheld, nothing is
/// known any more.
pub(super) fn same_claim(state: &State, left: UnitId, right: Option<UnitId>) -> Result<(), FoldError> {
    let Some(right) = right else { return Ok(()) };
    let units = [state.unit(state.ordinal_of(left)?), state.unit(state.ordinal_of(right)?)];
    let [Some(a), Some(b)] = units else { return Err(FoldError::Unknown { id: left }) };
    if a.text.is_empty() || b.text.is_empty() {
        return Ok(());
    }
    match (&a.claim, &b.claim) {
        (Some(a), Some(b)) if a.key == b.key => Ok(()),
        _ => Err(FoldError::Claim { left, right }),
    }
}

/// Adds a link, once.
pub(super) fn link(links: &mut Vec<UnitId>, id: UnitId) -> Result<(), FoldError> {
    if !links.contains(&id) {
        FoldError::limit("links of a unit", links.len() + 1, LINKS_MAX)?;
        links.push(id);
    }
    Ok(())
}

/// Checks the links that a purge leaves to a unit.
pub(super) fn links(state: &State, outcome: &Outcome) -> Result<(), FoldError> {
    for links in [&outcome.supersedes, &outcome.conflicts] {
        FoldError::limit("links of a unit", links.len(), LINKS_MAX)?;
    }
    let own = UnitId::of(&state.key, outcome.ordinal);
    for id in outcome.supersedes.iter().chain(&outcome.conflicts).chain(&outcome.superseded_by) {
        state.ordinal_of(*id)?;
        if *id == own {
            return Err(FoldError::Circle { id: own });
        }
    }
    Ok(())
}
