//! Runs of a text that say something together: names and codes, measures, sums.

use std::ops::Range;

use super::{bits, is_possessive, json_number};
use crate::pointer::glossary::{measure_at, operator_at};
use crate::pointer::grams::is_han;

/// Runs of Latin letters and digits: codes, and names of capitalised words. Among Han each run is a name.
pub(super) fn latin_runs(text: &str) -> Vec<(Range<usize>, u32)> {
    let words = latin_words(text);
    let mut runs: Vec<(Range<usize>, u32)> = Vec::new();
    let among_han = text.chars().any(is_han);
    let mut name: Option<Range<usize>> = None;
    for bytes in &words {
        let word = text.get(bytes.clone()).unwrap_or_default();
        let digits = word.chars().filter(char::is_ascii_digit).count();
        let letters = word.chars().filter(char::is_ascii_alphabetic).count();
        if digits >= 3 || (digits > 0 && (letters > 0 || word.contains('.'))) {
            runs.push((bytes.clone(), bits::CODE));
        }
        let named = letters > 0 && (among_han || word.starts_with(char::is_uppercase));
        let beside = name.as_ref().is_some_and(|name| text.get(name.end..bytes.start) == Some(" "));
        name = match name.take() {
            Some(open) if named && beside => Some(open.start..bytes.end),
            open => {
                add_name(text, open, &mut runs);
                named.then(|| bytes.clone())
            }
        };
    }
    add_name(text, name, &mut runs);
    runs
}

/// A name, and what is left of it without the capital of a sentence's first word.
fn add_name(text: &str, name: Option<Range<usize>>, runs: &mut Vec<(Range<usize>, u32)>) {
    let Some(name) = name else { return };
    let before = text.get(..name.start).unwrap_or_default().trim_end();
    let first = before.is_empty() || before.ends_with(['.', '!', '?', ';', ':', '"', '\u{201c}']);
    let rest = text.get(name.clone()).and_then(|words| words.find(' ')).filter(|_| first);
    if let Some(rest) = rest {
        runs.push((name.start + rest + 1..name.end, bits::NAME));
    }
    runs.push((name, bits::NAME));
}

/// Runs of Latin letters, digits and the signs inside identifiers.
fn latin_words(text: &str) -> Vec<Range<usize>> {
    let inside = |character: char| matches!(character, '-' | '_' | '.' | '@' | '+' | ':' | '/' | '#' | '&' | '\'');
    let part = |character: char| character.is_alphanumeric() && !is_han(character);
    let mut words: Vec<Range<usize>> = Vec::new();
    let mut start = None;
    for (at, character) in text.char_indices().chain([(text.len(), ' ')]) {
        let next = text.get(at + character.len_utf8()..).and_then(|rest| rest.chars().next());
        let belongs = part(character)
            || (character == '+' && start.is_none() && next.is_some_and(|next| next.is_ascii_digit()))
            || (start.is_some()
                && inside(character)
                && next.is_some_and(part)
                && !(character == '\'' && is_possessive(text.get(at + 1..).unwrap_or_default())));
        match (start, belongs) {
            (None, true) => start = Some(at),
            (Some(first), false) => {
                words.push(first..at);
                start = None;
            }
            _ => {}
        }
    }
    words
}

pub(super) fn measures(text: &str) -> Vec<(Range<usize>, &'static str)> {
    let folded = text.to_lowercase();
    // Folding that moves bytes would give wrong places.
    if folded.len() != text.len() {
        return Vec::new();
    }
    let mut found = Vec::new();
    let mut at = 0;
    let mut before = ' ';
    while let Some(rest) = folded.get(at..) {
        let Some(character) = rest.chars().next() else { break };
        let begins = !(before.is_ascii_alphabetic() && character.is_ascii_alphabetic());
        match measure_at(rest).filter(|_| begins) {
            Some((name, length)) => {
                found.push((at..at + length, name));
                at += length;
                before = ' ';
            }
            None => {
                at += character.len_utf8();
                before = character;
            }
        }
    }
    found
}

/// The whole number whose digits end right before a place.
pub(super) fn digits_before(text: &str, end: usize) -> Option<(Range<usize>, serde_json::Number)> {
    let before = text.get(..end)?;
    let start = before.trim_end_matches(|character: char| character.is_ascii_digit()).len();
    let decimals = before.get(..start)?.ends_with(['.', ',']);
    let number: i64 = before.get(start..)?.parse().ok()?;
    (!decimals).then(|| (start..end, number.into()))
}

/// Sums: numbers with operators between them, as a calculator writes them.
pub(super) fn sums(text: &str) -> Vec<(Range<usize>, String)> {
    let folded = text.to_lowercase();
    let mut found: Vec<(Range<usize>, String)> = Vec::new();
    let mut open: Option<(Range<usize>, String, bool)> = None;
    if folded.len() != text.len() {
        return found;
    }
    for number in loopwright_text::find_numbers(text) {
        let Some(value) = json_number(number.value) else { continue };
        let operator = open.as_ref().and_then(|(range, ..)| joined(folded.get(range.end..number.range.start)?));
        open = match (open.take(), operator) {
            (Some((range, sum, _)), Some(operator)) => {
                Some((range.start..number.range.end, format!("{sum} {operator} {value}"), true))
            }
            (before, _) => {
                found.extend(before.filter(|(.., whole)| *whole).map(|(range, sum, _)| (range, sum)));
                Some((number.range, value.to_string(), false))
            }
        };
    }
    found.extend(open.filter(|(.., whole)| *whole).map(|(range, sum, _)| (range, sum)));
    found
}

/// The operator between two numbers, where nothing else stands there but commas, spaces and words that join.
fn joined(between: &str) -> Option<&'static str> {
    let fill = |text: &str| -> usize {
        let mut rest = text;
        loop {
            let next = rest.trim_start_matches(|c: char| c.is_whitespace() || matches!(c, ',' | '，' | '再' | '后'));
            let next = next.strip_prefix("and ").or_else(|| next.strip_prefix("then ")).unwrap_or(next);
            if next.len() == rest.len() {
                return text.len() - rest.len();
            }
            rest = next;
        }
    };
    let start = between.get(fill(between)..)?;
    let (operator, length) = operator_at(start)?;
    let rest = start.get(length..)?;
    (fill(rest) == rest.len()).then_some(operator)
}
