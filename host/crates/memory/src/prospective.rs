//! What is due: which to-dos fire at a moment, which are over, and which was just done.
//!
//! Pure functions from units, a moment and what is going on to the events that are to be appended; the caller appends them before it serves
//! anything, so that an item fires once even when the process dies between the two. It knows no store and reads no clock.

use std::collections::{BTreeMap, BTreeSet};

use loopwright_contract::memory::Layer;
use loopwright_text::{TokenKind, tokenize};

use crate::id::UnitId;
use crate::moment::Moment;
use crate::names::fold;
use crate::unit::{Activation, Unit};

/// An item whose time passed by more than this, seen or not, is no longer of use, in seconds: 30 days.
pub const STALE_AFTER_SECONDS: i64 = 30 * 86_400;
/// The most items that fire at one moment; the rest fires at the next.
pub const FIRED_MAX: usize = 32;
/// The part of a to-do's words that have to be among those that say it is done, in thousandths.
const DONE_WORDS_THOUSANDTHS: usize = 600;

/// What is going on, against which conditions are read.
#[derive(Debug, Clone, Copy, Default)]
pub struct Occasion<'a> {
    /// What the user says or what was observed, in either language; none: only dates count.
    pub situation: Option<&'a str>,
    /// Items that fired in events that the units do not show yet.
    pub just_fired: &'a [UnitId],
}

/// Something that happens to an item. Appended to the log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ItemEvent {
    /// It is due and is announced now, once. It is served until it is done or over.
    Fired {
        /// Which.
        unit: UnitId,
        /// When.
        at: Moment,
    },
    /// Its validity is over, or its time passed too long ago. It leaves default retrieval.
    Expired {
        /// Which.
        unit: UnitId,
        /// When it was noticed.
        at: Moment,
    },
    /// It was done.
    Completed {
        /// Which.
        unit: UnitId,
        /// When it was said to be done.
        at: Moment,
    },
}

/// What a moment brings.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Due {
    /// To be appended, in this order.
    pub events: Vec<ItemEvent>,
    /// To be served, in the order in which they fell due.
    pub serve: Vec<UnitId>,
}

/// What is due at `now`. An item with a date is due from the first moment of it on, in the zone in which it was said; one with a condition when
/// the situation meets it; one with both when both hold. What fired, was completed or is over does not fire.
#[must_use]
pub fn due(units: &[&Unit], now: &Moment, occasion: &Occasion<'_>) -> Due {
    let fired: BTreeSet<UnitId> = occasion.just_fired.iter().copied().collect();
    let mut found = Due::default();
    let mut firing = BTreeMap::new();
    for unit in units.iter().filter(|unit| unit.layer == Layer::Prospective && unit.status.is_current()) {
        let Some(activation) = &unit.activation else { continue };
        if activation.completed.is_some() {
            continue;
        }
        let done_firing = activation.fired.is_some() || fired.contains(&unit.id);
        if is_over(activation, now) || is_stale(activation, now) {
            found.events.push(ItemEvent::Expired { unit: unit.id, at: now.clone() });
        } else if !done_firing && is_due(activation, now, occasion.situation) {
            let since = activation.due.as_ref().map_or(now.seconds(), |due| due.start.seconds());
            firing.insert((since, unit.mentioned.seconds(), unit.id), unit.id);
        }
    }
    for unit in firing.into_values().take(FIRED_MAX) {
        found.events.push(ItemEvent::Fired { unit, at: now.clone() });
        found.serve.push(unit);
    }
    found
}

fn is_over(activation: &Activation, now: &Moment) -> bool {
    activation.valid_until.as_ref().is_some_and(|until| until.seconds() <= now.seconds())
}

/// What has a time is measured from its end, what waited for something to happen from then.
fn is_stale(activation: &Activation, now: &Moment) -> bool {
    let end = match &activation.due {
        Some(due) => due.end,
        None => activation.fired.as_ref().map(Moment::seconds),
    };
    end.is_some_and(|end| now.seconds().saturating_sub(end) > STALE_AFTER_SECONDS)
}

fn is_due(activation: &Activation, now: &Moment, situation: Option<&str>) -> bool {
    let in_time = activation.due.as_ref().is_none_or(|due| due.start.seconds() <= now.seconds());
    let met = activation
        .condition
        .as_deref()
        .is_none_or(|condition| situation.is_some_and(|situation| meets(condition, situation)));
    // Without a date and without a condition it waits to be asked for.
    (activation.due.is_some() || activation.condition.is_some()) && in_time && met
}

/// Words that say when, not what.
const NO_CONTENT: &[&str] = &[
    "when", "whenev", "whenever", "onc", "once", "soon", "after", "befor", "before", "next", "time", "get", "got",
    "arriv", "come", "go", "am", "case", "back",
];
const NO_CONTENT_HAN: &[&str] =
    &["的时候", "之后", "以后", "的话", "如果", "要是", "假如", "一旦", "时", "后", "等", "当", "我", "了"];

/// Whether a situation meets a condition: all its words, apart from those that only say when, are in it.
#[must_use]
pub fn meets(condition: &str, situation: &str) -> bool {
    let words = content(condition);
    let (condition, situation_folded) = (fold(condition), fold(situation));
    let mut core = condition;
    for word in NO_CONTENT_HAN {
        core = core.replace(word, "");
    }
    let core = core.trim_matches(|ch: char| !ch.is_alphanumeric());
    if core.chars().any(crate::extract::view::is_han) {
        return !core.is_empty() && situation_folded.contains(core);
    }
    let there = content(situation);
    !words.is_empty() && words.iter().all(|word| there.contains(word))
}

fn content(text: &str) -> BTreeSet<String> {
    // Single Han characters: 交房租 and 把房租交了 have no pair in common but one.
    tokenize(text)
        .into_iter()
        .filter(|token| {
            !token.stop
                && !matches!(token.kind, TokenKind::Symbol | TokenKind::Bigram)
                && !NO_CONTENT.contains(&token.text.as_str())
        })
        .map(|token| token.text)
        .collect()
}

/// The open to-do that a report such as "booked the hotel" completes: the one of which most words are in it. None when it is none of them, and
/// none when it may be two: completing the wrong one loses it.
#[must_use]
pub fn completed_by(report: &str, units: &[&Unit]) -> Option<UnitId> {
    let said = content(report);
    let share = |unit: &&Unit| -> Option<(usize, UnitId)> {
        unit.activation.as_ref().filter(|found| found.completed.is_none())?;
        let open = unit.layer == Layer::Prospective && unit.status.is_current();
        let words = content(unit.claim.as_ref().map_or(unit.text.as_str(), |claim| claim.value.as_str()));
        let common = words.intersection(&said).count();
        let thousandths = (common * 1_000).checked_div(words.len())?;
        (open && thousandths >= DONE_WORDS_THOUSANDTHS).then_some((thousandths, unit.id))
    };
    let mut found: Vec<(usize, UnitId)> = units.iter().filter_map(share).collect();
    found.sort_unstable_by(|left, right| right.cmp(left));
    match found.as_slice() {
        [] => None,
        [(best, _), (next, _), ..] if best == next => None,
        [(_, unit), ..] => Some(*unit),
    }
}

#[cfg(test)]
mod tests;
