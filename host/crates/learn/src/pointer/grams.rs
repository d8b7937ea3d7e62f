//! Words as hashed n-grams and as terms. It knows no language beyond which characters are written without spaces.

use super::choice::Bag;

/// The longest n-gram of a Latin word, in characters with its marks.
const GRAM_CHARS_MAX: usize = 4;
/// Characters of one word that are hashed; what follows tells no more words apart.
const WORD_CHARS_MAX: usize = 24;
/// Marks where a word begins and ends.
const MARKS: (char, char) = ('<', '>');
/// The offset basis and the prime of FNV-1a with 64 bits.
const FNV: (u64, u64) = (0xcbf2_9ce4_8422_2325, 0x0100_0000_01b3);

/// The prime's second and third power.
const TWICE: u64 = FNV.1.wrapping_mul(FNV.1);
const THRICE: u64 = TWICE.wrapping_mul(FNV.1);

/// FNV-1a of some characters, each as four bytes, after a mark that keeps kinds of words apart.
pub(super) fn hash(mark: &str, characters: impl IntoIterator<Item = char>) -> u64 {
    let seed = mark.bytes().fold(FNV.0, |hash, byte| step(hash, u32::from(byte)));
    characters.into_iter().fold(seed, |hash, character| {
        let [low, next, ..] = u32::from(character).to_le_bytes().map(u32::from);
        match u32::from(character) {
            // The bytes that are 0 only multiply.
            code @ 0..=0xff => step(hash, code).wrapping_mul(THRICE),
            0x100..=0xffff => step(step(hash, low), next).wrapping_mul(TWICE),
            code => step(step(step(hash, low), next), code >> 16).wrapping_mul(FNV.1),
        }
    })
}

fn step(hash: u64, byte: u32) -> u64 {
    (hash ^ u64::from(byte)).wrapping_mul(FNV.1)
}

/// Folded to 32 bits; a bag folds it further.
fn short(hash: u64) -> u32 {
    let [a, b, c, d, e, f, g, h] = hash.to_le_bytes();
    u32::from_le_bytes([a ^ e, b ^ f, c ^ g, d ^ h])
}

/// Whether a character stands for a word or a part of one by itself: Han, kana, hangul.
pub(super) fn is_han(character: char) -> bool {
    matches!(u32::from(character), 0x2E80..=0x2FDF | 0x3005..=0x3007 | 0x3040..=0x30FF | 0x3400..=0x4DBF | 0x4E00..=0x9FFF | 0xAC00..=0xD7AF | 0xF900..=0xFAFF | 0x20000..=0x3FFFF)
}

/// A run of characters of a text: a word, a number, or a stretch of Han.
fn runs(text: &str) -> Vec<(bool, Vec<char>)> {
    let mut runs: Vec<(bool, Vec<char>)> = Vec::new();
    let mut open = false;
    for character in text.chars().flat_map(char::to_lowercase) {
        if !character.is_alphanumeric() {
            open = false;
            continue;
        }
        let han = is_han(character);
        match runs.last_mut().filter(|(kind, _)| open && *kind == han) {
            Some((_, run)) => run.push(character),
            None => runs.push((han, vec![character])),
        }
        open = true;
    }
    runs
}

/// Collects grams: whole words and pairs of Han characters before what is finer, so that a long text loses the finest.
#[derive(Debug, Default)]
pub(super) struct Grams {
    coarse: Vec<u32>,
    fine: Vec<u32>,
}

impl Grams {
    /// The words of a text.
    pub(super) fn text(mut self, text: &str) -> Self {
        for (han, run) in runs(text) {
            if han { self.han(&run) } else { self.latin(&run) }
        }
        self
    }

    /// The words of a text as whole words, kept apart from others by a mark: which part a text plays.
    pub(super) fn marked(mut self, mark: &str, text: &str) -> Self {
        for (han, run) in runs(text) {
            if han {
                self.coarse.extend(run.iter().map(|character| short(hash(mark, [*character]))));
            } else {
                self.coarse.push(short(hash(mark, run.iter().take(WORD_CHARS_MAX).copied())));
            }
        }
        self
    }

    fn latin(&mut self, run: &[char]) {
        let word: Vec<char> =
            [MARKS.0].into_iter().chain(run.iter().take(WORD_CHARS_MAX).copied()).chain([MARKS.1]).collect();
        self.coarse.push(short(hash("w", word.iter().copied())));
        for length in (1..=GRAM_CHARS_MAX).rev() {
            self.fine.extend(word.windows(length).map(|gram| short(hash("g", gram.iter().copied()))));
        }
    }

    fn han(&mut self, run: &[char]) {
        self.coarse.extend(run.windows(2).map(|pair| short(hash("h", pair.iter().copied()))));
        self.coarse.extend(run.iter().map(|character| short(hash("h", [*character]))));
    }

    /// The bag of all that was added.
    pub(super) fn bag(self) -> Bag {
        Bag::new(self.coarse.into_iter().chain(self.fine))
    }
}

/// The terms of a text that carry a subject, sorted and each once: stemmed words, numbers, pairs of Han characters and those that stand alone.
pub(super) fn terms(text: &str) -> Vec<u64> {
    let mut terms: Vec<u64> =
        loopwright_text::query_tokens(text).iter().map(|token| hash("t", token.text.chars())).collect();
    terms.sort_unstable();
    terms.dedup();
    terms
}

/// The terms that are in both, where each is sorted.
pub(super) fn shared<'a>(left: &'a [u64], right: &'a [u64]) -> impl Iterator<Item = u64> + 'a {
    left.iter().copied().filter(|term| right.binary_search(term).is_ok())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::pointer::{BUCKETS, GRAMS_MAX};

    #[test]
    fn words_are_folded_and_marked() {
        let bag = |text: &str| Grams::default().text(text).bag();
        assert_eq!(bag("Alarm"), bag("alarm"));
        assert_ne!(bag("alarm"), bag("larm"));
        assert_eq!(bag("闹钟").grams().len(), 3);
        assert_ne!(Grams::default().marked("l", "at").bag(), Grams::default().marked("r", "at").bag());
    }

    #[test]
    fn a_long_text_keeps_its_whole_words() {
        let text: String = (0..400).map(|number| format!("word{number} ")).collect();
        let bag = Grams::default().text(&text).bag();
        assert_eq!(bag.grams().len(), GRAMS_MAX);
        assert!(bag.grams().iter().all(|gram| *gram < BUCKETS));
        let first = Grams::default().marked("w", "<word0>").bag();
        assert_eq!(first.grams().len(), 1);
    }

    #[test]
    fn hashes_are_those_of_every_byte() {
        let slow = |mark: &str, text: &str| {
            let bytes = mark.bytes().chain(text.chars().flat_map(|character| u32::from(character).to_le_bytes()));
            bytes.fold(FNV.0, |hash, byte| (hash ^ u64::from(byte)).wrapping_mul(FNV.1))
        };
        for text in ["", "<alarm>", "caf\u{e9}\u{ff}\u{100}", "闹钟\u{ffff}", "\u{10000}😀\u{20bb7}\u{10ffff}"] {
            assert_eq!(hash("g", text.chars()), slow("g", text), "{text}");
        }
    }

    #[test]
    fn terms_meet_across_inflections() {
        let (left, right) = (terms("Turn on the alarms"), terms("alarm, wake me up"));
        assert_eq!(shared(&left, &right).count(), 1);
        assert_eq!(shared(&terms("把闹钟打开"), &terms("闹钟")).count(), 1);
    }
}
