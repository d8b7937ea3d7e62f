//! Folded text: NFKC and case folding that remember where each character came from.

use std::ops::Range;

use unicode_normalization::UnicodeNormalization;
use unicode_normalization::char::{canonical_combining_class, is_combining_mark};

/// The most bytes of one text that this crate reads, 64 KiB; what lies beyond is ignored.
pub const TEXT_BYTES_MAX: usize = 64 * 1024;

/// One folded character with the bytes of the original text that it stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct FoldedChar {
    pub(crate) ch: char,
    /// First byte of the original cluster.
    pub(crate) start: usize,
    /// One past the last byte of the original cluster.
    pub(crate) end: usize,
    /// Whether the original character was an upper-case letter (a camelCase boundary).
    pub(crate) upper: bool,
}

/// A text after NFKC, case folding and NFKC again, one entry for each resulting character.
///
/// Normalisation works on a base character with its marks (a cluster), so every folded character carries the byte
/// range of its whole cluster and ranges always lie on character boundaries.
#[derive(Debug, Clone, Default)]
pub(crate) struct Folded {
    chars: Vec<FoldedChar>,
}

impl Folded {
    /// Folds at most [`TEXT_BYTES_MAX`] bytes of `text`.
    pub(crate) fn new(text: &str) -> Self {
        let (text, _) = text.split_at(text.floor_char_boundary(TEXT_BYTES_MAX));
        let mut folded = Self { chars: Vec::with_capacity(text.len()) };
        let mut rest = text.char_indices().peekable();
        let mut cluster = String::new();
        while let Some((start, first)) = rest.next() {
            let mut end = start + first.len_utf8();
            cluster.clear();
            cluster.push(first);
            let mut previous = first;
            while let Some(&(at, next)) = rest.peek() {
                if !extends_cluster(previous, next) {
                    break;
                }
                cluster.push(next);
                previous = next;
                end = at + next.len_utf8();
                rest.next();
            }
            folded.push_cluster(&cluster, first, start..end);
        }
        folded
    }

    fn push_cluster(&mut self, cluster: &str, first: char, range: Range<usize>) {
        let upper = first.is_uppercase();
        if cluster.len() == 1 {
            // One byte: ASCII, where folding is lower-casing and nothing composes.
            let ch = first.to_ascii_lowercase();
            self.chars.push(FoldedChar { ch, start: range.start, end: range.end, upper });
            return;
        }
        let case_folded: String = cluster.nfkc().flat_map(char::to_uppercase).flat_map(char::to_lowercase).collect();
        for ch in case_folded.nfkc().filter(|ch| !is_ignorable(*ch)) {
            self.chars.push(FoldedChar { ch, start: range.start, end: range.end, upper });
        }
    }

    /// Number of folded characters.
    pub(crate) fn len(&self) -> usize {
        self.chars.len()
    }

    /// The folded character at `index`.
    pub(crate) fn get(&self, index: usize) -> Option<&FoldedChar> {
        self.chars.get(index)
    }

    /// The character at `index`, without its origin.
    pub(crate) fn ch(&self, index: usize) -> Option<char> {
        self.chars.get(index).map(|folded| folded.ch)
    }

    /// Whether a character of ASCII that is no digit stands at `index`: nothing Chinese begins with one.
    pub(crate) fn is_plain(&self, index: usize) -> bool {
        self.ch(index).is_some_and(|ch| ch.is_ascii() && !ch.is_ascii_digit())
    }

    /// Whether `index` begins a cluster or ends the text: an expression may not take half of `½`.
    pub(crate) fn is_boundary(&self, index: usize) -> bool {
        let start = |index: usize| self.chars.get(index).map(|folded| folded.start);
        index.checked_sub(1).is_none_or(|before| start(before) != start(index))
    }

    /// The character before `index`.
    pub(crate) fn ch_before(&self, index: usize) -> Option<char> {
        index.checked_sub(1).and_then(|before| self.ch(before))
    }

    /// The folded characters of `range` as text; indices past the end are ignored.
    pub(crate) fn text(&self, range: Range<usize>) -> String {
        self.slice(range).iter().map(|folded| folded.ch).collect()
    }

    /// The folded characters of `range`; empty when it lies past the end.
    pub(crate) fn slice(&self, range: Range<usize>) -> &[FoldedChar] {
        let end = range.end.min(self.chars.len());
        self.chars.get(range.start.min(end)..end).unwrap_or(&[])
    }

    /// Whether the characters from `index` on begin with `word`.
    pub(crate) fn starts_with(&self, index: usize, word: &str) -> bool {
        word.chars().enumerate().all(|(offset, ch)| self.ch(index + offset) == Some(ch))
    }

    /// The bytes of the original text that the folded characters of `range` stand for.
    pub(crate) fn byte_range(&self, range: Range<usize>) -> Range<usize> {
        match (self.slice(range.clone()).first(), self.slice(range).last()) {
            (Some(first), Some(last)) => first.start..last.end,
            _ => 0..0,
        }
    }
}

/// Whether `next` belongs to the cluster that `previous` is in.
fn extends_cluster(previous: char, next: char) -> bool {
    if next.is_ascii() {
        return false;
    }
    let half_width_voice = matches!(next, '\u{ff9e}' | '\u{ff9f}');
    half_width_voice
        || is_combining_mark(next)
        || canonical_combining_class(next) != 0
        || (is_jamo_vowel_or_tail(next) && is_hangul(previous))
}

fn is_jamo_vowel_or_tail(ch: char) -> bool {
    matches!(ch, '\u{1160}'..='\u{11ff}')
}

fn is_hangul(ch: char) -> bool {
    matches!(ch, '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7a3}')
}

/// Characters without a width or a meaning of their own: soft hyphen, zero-width marks, variation selectors.
fn is_ignorable(ch: char) -> bool {
    matches!(
        ch,
        '\u{ad}' | '\u{200b}'..='\u{200f}' | '\u{2060}'..='\u{2064}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folded_text(text: &str) -> String {
        let folded = Folded::new(text);
        folded.text(0..folded.len())
    }

    #[test]
    fn folds_width_case_and_composition() {
        let rows = [
            ("Wi-Fi", "wi-fi"),
            ("ＷｉＦｉ５０％", "wifi50%"),
            ("Straße", "strasse"),
            ("ΣΊΣΥΦΟΣ", "σίσυφοσ"),
            ("Cafe\u{301}", "caf\u{e9}"),
            ("ﬁle", "file"),
            ("ｶﾞ", "ガ"),
            ("\u{1112}\u{1161}\u{11ab}", "한"),
            ("dark\u{200b}mode", "darkmode"),
            ("½", "1\u{2044}2"),
        ];
        for (text, expected) in rows {
            assert_eq!(folded_text(text), expected, "folding {text:?}");
        }
    }

    #[test]
    fn ranges_cover_whole_clusters() {
        let folded = Folded::new("aé\u{301}b");
        assert_eq!(folded.byte_range(0..1), 0..1);
        assert_eq!(folded.byte_range(folded.len() - 1..folded.len()), 5..6);
        assert_eq!(folded.byte_range(1..folded.len() - 1), 1..5);
    }

    #[test]
    fn text_past_the_limit_is_ignored() {
        let long = "a".repeat(TEXT_BYTES_MAX - 1) + "灯灯";
        assert_eq!(Folded::new(&long).len(), TEXT_BYTES_MAX - 1);
    }
}
