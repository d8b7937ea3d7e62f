//! Small readers over folded text that the number and the time grammar share.

use crate::fold::Folded;
use crate::script::is_word;

/// The most spaces between two words of one expression.
const SPACES_MAX: usize = 4;
/// The longest word of either grammar, in characters.
const WORD_CHARS_MAX: usize = 16;

/// A run of Latin letters.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Word {
    pub(crate) text: String,
    /// Index after it.
    pub(crate) end: usize,
}

/// The whole word that begins at `at`: no letter or digit touches it on either side.
pub(crate) fn word_at(folded: &Folded, at: usize) -> Option<Word> {
    if folded.ch_before(at).is_some_and(is_word) {
        return None;
    }
    letters_at(folded, at)
}

/// The letters that begin at `at`, perhaps right after a digit (`7am`); nothing follows that belongs to the word.
pub(crate) fn letters_at(folded: &Folded, at: usize) -> Option<Word> {
    let text: String = folded
        .slice(at..at + WORD_CHARS_MAX)
        .iter()
        .map(|folded| folded.ch)
        .take_while(char::is_ascii_lowercase)
        .collect();
    let end = at + text.len();
    (!text.is_empty() && !folded.ch(end).is_some_and(is_word)).then_some(Word { text, end })
}

/// The index of the first character at or after `at` that is no space.
pub(crate) fn skip_spaces(folded: &Folded, at: usize) -> usize {
    let spaces = folded.slice(at..at + SPACES_MAX).iter().take_while(|folded| folded.ch.is_whitespace()).count();
    at + spaces
}

/// The word after `at` and at least one space.
pub(crate) fn next_word(folded: &Folded, at: usize) -> Option<Word> {
    let start = skip_spaces(folded, at);
    if start == at { None } else { word_at(folded, start) }
}

/// The index after `phrase`, whose words are separated by one space, when it stands at `at`.
pub(crate) fn phrase_end(folded: &Folded, at: usize, phrase: &str) -> Option<usize> {
    let mut end = at;
    for (place, expected) in phrase.split(' ').enumerate() {
        let found = if place == 0 { word_at(folded, at)? } else { next_word(folded, end)? };
        if found.text != expected {
            return None;
        }
        end = found.end;
    }
    Some(end)
}

/// The index after the first of `words` that stands at `at`, with its place in the list; for Chinese, which has no
/// word boundaries. List longer words before their beginnings.
pub(crate) fn one_of(folded: &Folded, at: usize, words: &[&str]) -> Option<(usize, usize)> {
    words
        .iter()
        .position(|word| folded.starts_with(at, word))
        .map(|place| (place, at + words.get(place).map_or(0, |word| word.chars().count())))
}
