//! What of a unit goes into the index.

use jiff::civil::DateTime;
use loopwright_contract::memory::{Layer, Role};
use loopwright_text::{
    Prefer, Reference, TimeExpression, TimeMatch, Token, TokenKind, find_numbers, find_times, resolve, tokenize,
};
use sha2::{Digest as _, Sha256};
use tantivy::TantivyDocument;
use tantivy::tokenizer::{PreTokenizedString, Token as IndexToken};

use super::schema::Fields;
use crate::extract::looks_ahead;
use crate::moment::{EventTime, Granularity};
use crate::unit::{Status, Unit};

/// The most time expressions of one text whose dates are indexed.
const TIMES_MAX: usize = 8;

/// What a text has, for questions that ask for it.
pub(crate) mod traits {
    /// A time or a length of time.
    pub(crate) const TIME: u8 = 1;
    /// A number.
    pub(crate) const NUMBER: u8 = 2;
    /// A name.
    pub(crate) const NAME: u8 = 4;
    /// It ends as a question: it asks, and seldom answers.
    pub(crate) const QUESTION: u8 = 8;
    /// The user said it, and not who answers or another.
    pub(crate) const USER: u8 = 16;
}

/// The traits of a text, as bits.
fn traits_of(text: &str, has_time: bool, has_name: bool) -> u8 {
    let asks = text.trim_end().ends_with(['?', '？']);
    let bit = |has: bool, bit: u8| if has { bit } else { 0 };
    bit(has_time, traits::TIME)
        | bit(!find_numbers(text).is_empty(), traits::NUMBER)
        | bit(has_name, traits::NAME)
        | bit(asks, traits::QUESTION)
}

/// Whether a unit is searched at all.
pub(crate) fn is_indexed(unit: &Unit) -> bool {
    !matches!(unit.status, Status::Candidate | Status::Redacted)
}

/// The terms of a text, in the form in which queries look for them.
pub(crate) fn body_terms(text: &str) -> Vec<String> {
    // Stop words are in no query, and would only make texts look longer than they are.
    tokenize(text).into_iter().filter(|token| !token.stop).map(|token| token.text).collect()
}

/// Words that begin with a capital and do not begin a sentence, as terms.
pub(crate) fn name_terms(text: &str) -> Vec<String> {
    let mut names: Vec<String> = tokenize(text)
        .into_iter()
        .filter(|token| !token.stop && token.kind == TokenKind::Word && is_name(text, token))
        .map(|token| token.text)
        .collect();
    names.sort();
    names.dedup();
    names
}

fn is_name(text: &str, token: &Token) -> bool {
    let capital = text.get(token.range.clone()).and_then(|word| word.chars().next()).is_some_and(char::is_uppercase);
    let before = text.get(..token.range.start).unwrap_or_default().trim_end();
    capital && before.chars().next_back().is_some_and(|ch| !matches!(ch, '.' | '!' | '?' | '"' | '“' | ':' | '…'))
}

/// The terms of a day, a month or a year.
pub(crate) fn date_terms(at: DateTime, granularity: Granularity) -> Vec<String> {
    let mut terms = vec![format!("y{}", at.year())];
    if granularity < Granularity::Year {
        terms.push(format!("m{}", at.month()));
    }
    if granularity < Granularity::Weekend {
        terms.push(format!("d{}", at.day()));
    }
    terms
}

/// What was said when, and what happens when.
fn dates(unit: &Unit, times: &[TimeMatch]) -> Vec<String> {
    let mentioned = unit.mentioned.civil();
    let mut terms = date_terms(mentioned, Granularity::Second);
    if let Some(event) = &unit.event {
        terms.extend(date_terms(event.start.civil(), event.granularity));
    }
    for interval in times.iter().take(TIMES_MAX).filter_map(|found| interval(unit, found)) {
        terms.extend(date_terms(interval.start, interval.granularity.into()));
    }
    terms.sort();
    terms.dedup();
    terms
}

/// What a time of a unit's text means, said when it was said.
fn interval(unit: &Unit, found: &TimeMatch) -> Option<loopwright_text::Interval> {
    let prefer = if looks_ahead(&unit.text, found.range.start) { Prefer::Future } else { Prefer::Past };
    resolve(&found.expression, &Reference { now: unit.mentioned.civil(), prefer })
}

/// "At seven" is a time of every day, and "two hours" of none.
pub(crate) fn names_a_day_or_more(expression: &TimeExpression) -> bool {
    !matches!(expression, TimeExpression::Clock(_) | TimeExpression::Length(_))
}

/// When what a unit says happens, in seconds since 1970: its event, or else the days that the text of a message names.
fn spans(unit: &Unit, times: &[TimeMatch]) -> Vec<(i64, i64)> {
    let seconds = |event: &EventTime| (event.start.seconds(), event.end.unwrap_or(i64::MAX));
    if let Some(event) = &unit.event {
        return vec![seconds(event)];
    }
    if unit.layer != Layer::Episodic {
        return Vec::new();
    }
    let named = times.iter().take(TIMES_MAX).filter(|found| names_a_day_or_more(&found.expression));
    let events = named.filter_map(|found| EventTime::of(&interval(unit, found)?, unit.mentioned.zone()));
    events.map(|event| seconds(&event)).collect()
}

/// A name in the form in which names are compared.
pub(crate) fn folded(name: &str) -> String {
    tokenize(name).into_iter().map(|token| token.text).collect::<Vec<_>>().join(" ")
}

/// A number that stands for a name. Two names of one user share one with a probability of 2⁻⁶⁴.
pub(crate) fn key(parts: &[&str]) -> u64 {
    let mut digest = Sha256::new();
    for part in parts {
        digest.update((part.len() as u64).to_le_bytes());
        digest.update(part);
    }
    digest.finalize().iter().take(8).fold(0, |key, byte| (key << 8) | u64::from(*byte))
}

/// The number that stands for a speaker.
pub(crate) fn speaker_key(name: &str) -> u64 {
    key(&["speaker", &folded(name)])
}

pub(crate) fn layer_number(layer: Layer) -> u64 {
    match layer {
        Layer::Profile => 0,
        Layer::Episodic => 1,
        Layer::LongTerm => 2,
        Layer::Prospective => 3,
    }
}

pub(crate) fn status_number(status: Status) -> u64 {
    match status {
        Status::Candidate => 0,
        Status::Verified => 1,
        Status::Contested => 2,
        Status::Superseded => 3,
        Status::Expired => 4,
        Status::Completed => 5,
        Status::Redacted => 6,
    }
}

fn cut(terms: Vec<String>) -> PreTokenizedString {
    let tokens = terms
        .into_iter()
        .enumerate()
        .map(|(position, text)| IndexToken { position, text, ..IndexToken::default() })
        .collect();
    PreTokenizedString { text: String::new(), tokens }
}

/// The document of a unit.
pub(crate) fn document(fields: &Fields, ordinal: u64, unit: &Unit) -> TantivyDocument {
    let mut document = TantivyDocument::new();
    document.add_u64(fields.ordinal, ordinal);
    document.add_pre_tokenized_text(fields.body, cut(body_terms(&unit.text)));
    let (mut names, times) = (name_terms(&unit.text), find_times(&unit.text));
    let traits = traits_of(&unit.text, !times.is_empty(), !names.is_empty());
    let said_by_user = unit.place.as_ref().is_some_and(|place| place.role == Role::User);
    let traits = if said_by_user { traits | traits::USER } else { traits };
    if let Some(place) = &unit.place {
        names.extend(body_terms(&place.speaker));
    }
    document.add_pre_tokenized_text(fields.names, cut(names));
    document.add_pre_tokenized_text(fields.dates, cut(dates(unit, &times)));
    document.add_u64(fields.traits, u64::from(traits));
    document.add_u64(fields.layer, layer_number(unit.layer));
    document.add_u64(fields.status, status_number(unit.status));
    document.add_i64(fields.mentioned, unit.mentioned.seconds());
    for (start, end) in spans(unit, &times) {
        document.add_i64(fields.event_start, start);
        document.add_i64(fields.event_end, end);
    }
    if let Some(place) = &unit.place {
        document.add_u64(fields.speaker, speaker_key(&place.speaker));
        // Only messages are neighbours: what was derived from a message has its place too.
        if unit.layer == Layer::Episodic {
            document.add_u64(fields.session, key(&[&place.dialogue, &place.session]));
            document.add_u64(fields.position, u64::from(place.position));
        }
    }
    document
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_capitals_inside_a_sentence() {
        assert_eq!(name_terms("Yesterday I met Anna in Paris. Nice! \"Well\" said Bob"), ["anna", "bob", "pari"]);
        assert!(name_terms("我在北京").is_empty() && name_terms("").is_empty());
    }

    #[test]
    fn dates_are_as_fine_as_they_were_said() {
        let at = jiff::civil::date(2023, 5, 8).at(13, 0, 0, 0);
        assert_eq!(date_terms(at, Granularity::Day), ["y2023", "m5", "d8"]);
        assert_eq!(date_terms(at, Granularity::Month), ["y2023", "m5"]);
        assert_eq!(date_terms(at, Granularity::Year), ["y2023"]);
    }

    #[test]
    fn parts_of_a_key_do_not_run_together() {
        assert_ne!(key(&["ab", "c"]), key(&["a", "bc"]));
        assert_eq!(speaker_key("Caroline"), speaker_key(" caroline "));
    }
}
