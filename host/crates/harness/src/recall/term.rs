//! Terms: what a token of a spec or of a request is looked up by, and how much it counts.

use std::collections::BTreeMap;
use std::ops::Range;

use loopwright_text::{Token, TokenKind, quotations, tokenize};

use super::value::values;

/// The most distinct terms of one request; further ones are ignored.
const QUERY_TERMS_MAX: usize = 256;
/// A word also counts by its first letters, so that *brighter* finds *brightness*.
const PREFIX_CHARS: usize = 5;
/// Weight of such a prefix against the whole word.
const PREFIX_WEIGHT: f64 = 0.4;
/// Weight of a single Chinese character against a pair: characters alone are weak evidence.
const UNIGRAM_WEIGHT: f64 = 0.35;
/// Weight of a number: it is nearly always a value, not a subject.
const NUMBER_WEIGHT: f64 = 0.3;
/// Weight of what the request quotes: a message's text says little about the tool that sends it.
const QUOTED_WEIGHT: f64 = 0.3;

/// Weight of the words of a date or a time: they are values as well.
const TIME_WEIGHT: f64 = 0.5;
/// Weight of naming a kind of value that a tool takes.
const KIND_WEIGHT: f64 = 1.0;

/// The terms of a spec's text; a term that occurs twice is listed twice.
pub(super) fn spec_terms(text: &str) -> Vec<String> {
    tokenize(text).iter().filter(|token| !token.stop).flat_map(terms_of).map(|(term, _)| term).collect()
}

/// The distinct terms of a request with their weights, in the order of their text.
pub(super) fn query_terms(request: &str) -> BTreeMap<String, f64> {
    let quoted = quotations(request);
    let values = values(request, &quoted);
    let mut terms: BTreeMap<String, f64> = values.kinds.iter().map(|kind| ((*kind).to_owned(), KIND_WEIGHT)).collect();
    let lies_in = |token: &Token, ranges: &[Range<usize>]| {
        ranges.iter().any(|range| range.start <= token.range.start && token.range.end <= range.end)
    };
    for token in tokenize(request).iter().filter(|token| !token.stop) {
        let share = if lies_in(token, &quoted) {
            QUOTED_WEIGHT
        } else if lies_in(token, &values.times) {
            TIME_WEIGHT
        } else {
            1.0
        };
        for (term, weight) in terms_of(token) {
            if terms.len() < QUERY_TERMS_MAX || terms.contains_key(&term) {
                let best = terms.entry(term).or_insert(0.0);
                *best = best.max(weight * share);
            }
        }
    }
    terms
}

fn terms_of(token: &Token) -> Vec<(String, f64)> {
    let weight = match token.kind {
        TokenKind::Word | TokenKind::Part | TokenKind::Symbol | TokenKind::Bigram => 1.0,
        TokenKind::Unigram => UNIGRAM_WEIGHT,
        TokenKind::Number => NUMBER_WEIGHT,
    };
    let mut terms = vec![(token.text.clone(), weight)];
    let is_word = matches!(token.kind, TokenKind::Word | TokenKind::Part);
    if is_word && token.text.chars().count() >= PREFIX_CHARS {
        let prefix: String = token.text.chars().take(PREFIX_CHARS).collect();
        terms.push((format!("{prefix}*"), PREFIX_WEIGHT));
    }
    terms
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_quoted_word_counts_less_than_one_that_is_asked_for() {
        let terms = query_terms("call Bob \"call 5\"");
        assert_eq!(terms.get("call"), Some(&1.0));
        assert_eq!(terms.get("5"), Some(&(NUMBER_WEIGHT * QUOTED_WEIGHT)));
    }

    #[test]
    fn a_request_has_a_bounded_number_of_terms() {
        let request: String = (0..QUERY_TERMS_MAX * 2).map(|number| format!("w{number}x ")).collect();
        assert_eq!(query_terms(&request).len(), QUERY_TERMS_MAX);
    }

    #[test]
    fn forms_of_a_word_share_a_prefix() {
        assert!(
            query_terms("brighter").contains_key("brigh*") && spec_terms("brightness").contains(&"brigh*".to_owned())
        );
    }
}
