//! Cards, guidance and advice.

use loopwright_contract::{
    limits::{GUIDANCE_BYTES_MAX, LIST_LENGTH_MAX},
    skill::{Advice, SkillCard},
};

use super::{bounded, list, localized_in, message, named};
use crate::{Violation, skill::exports::loopwright::afv::skill as wit};

/// Reads a card.
///
/// # Errors
/// [`Violation`] for malformed names or a card without a summary.
pub fn card_in(card: wit::SkillCard) -> Result<SkillCard, Violation> {
    if card.summary.is_empty() {
        return Err(Violation::new("summary", "expected at least one text, found none"));
    }
    let tools = |at: &str, names| list(at, names, LIST_LENGTH_MAX, |name: String| named("name", name.parse()));
    Ok(SkillCard {
        name: named("name", card.name.parse())?,
        summary: localized_in("summary", card.summary)?,
        about: tools("about", card.about)?,
        exposes: tools("exposes", card.exposes)?,
    })
}

/// Reads guidance.
///
/// # Errors
/// [`Violation`] beyond 16 KiB.
pub fn guidance_in(guidance: String) -> Result<String, Violation> {
    bounded("guidance", guidance, GUIDANCE_BYTES_MAX)
}

/// Reads advice.
///
/// # Errors
/// [`Violation`] for a reason with NUL.
pub fn advice_in(advice: wit::Advice) -> Result<Advice, Violation> {
    Ok(match advice {
        wit::Advice::Allow => Advice::Allow,
        wit::Advice::Warn(reason) => Advice::Warn(message("warn", reason)?),
        wit::Advice::Block(reason) => Advice::Block(message("block", reason)?),
    })
}
