//! The tokenizer: one for English, Chinese and mixed text, for documents and for queries.

use std::ops::Range;

use rust_stemmers::{Algorithm, Stemmer};

use crate::compound;
use crate::fold::Folded;
use crate::number::digits;
use crate::script::{Class, class, is_word};
use crate::stop::{chinese_stops, is_english_stop};

/// The most characters of one token's text; a longer run keeps its range but matches by its beginning only.
pub const TOKEN_CHARS_MAX: usize = 64;

/// Signs that name a subject as a word would: of arithmetic, of money and of degrees.
pub const SYMBOLS: &[char] = &['%', '+', '×', '÷', '*', '=', '^', '√', '°', '$', '€', '£', '¥', '₩'];

/// What a token was cut from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum TokenKind {
    /// A word of a script with spaces, stemmed when it is plain Latin; of a compound (`dark_mode`, `darkMode`,
    /// `Wi-Fi`, `5g`) all pieces joined.
    Word,
    /// One piece of a compound word.
    Part,
    /// Digits with their decimals, grouping commas removed (`1,200` gives `1200`, `25.0` gives `25`).
    Number,
    /// One of [`SYMBOLS`].
    Symbol,
    /// One Han, kana or hangul character.
    Unigram,
    /// Two neighbouring Han, kana or hangul characters.
    Bigram,
}

/// One term of a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Token {
    /// The folded, stemmed text to match by; never empty, at most [`TOKEN_CHARS_MAX`] characters.
    pub text: String,
    /// The bytes of the original text that it stands for, on character boundaries.
    pub range: Range<usize>,
    /// Place in the text, counted in words and single Chinese characters from 0; a bigram and a whole compound have
    /// the place of their first piece.
    pub position: u32,
    /// What it was cut from.
    pub kind: TokenKind,
    /// Whether it is one of the listed stop words.
    pub stop: bool,
}

/// Cuts a text into tokens, as needed to index it.
///
/// Text is compared after NFKC and case folding. Latin words are stemmed; `snake_case`, `camelCase`, hyphens and
/// changes between letters and digits give the joined word and its parts; Chinese gives unigrams and bigrams.
/// Stop words are marked, not removed. Reads at most [`TEXT_BYTES_MAX`](crate::TEXT_BYTES_MAX) bytes.
///
/// ```
/// let tokens = loopwright_text::tokenize("Turn on darkMode 打开");
/// let texts: Vec<&str> = tokens.iter().map(|token| token.text.as_str()).collect();
/// assert_eq!(texts, ["turn", "on", "darkmod", "dark", "mode", "打", "打开", "开"]);
/// ```
pub fn tokenize(text: &str) -> Vec<Token> {
    let folded = Folded::new(text);
    let mut cutter =
        Cutter { folded: &folded, stemmer: Stemmer::create(Algorithm::English), position: 0, tokens: Vec::new() };
    let mut at = 0;
    while let Some(ch) = folded.ch(at) {
        at = match class(ch) {
            Class::Other => cutter.cut_symbol(at, ch),
            Class::Cjk => cutter.cut_cjk(at),
            Class::Letter | Class::Digit => cutter.cut_word(at),
        };
    }
    cutter.tokens
}

/// Cuts a query into tokens: as [`tokenize`], but without stop words, and with single Chinese characters only where
/// they stand alone. A query of nothing but stop words keeps them.
pub fn query_tokens(text: &str) -> Vec<Token> {
    let tokens = tokenize(text);
    let bigrams: Vec<(u32, u32)> = tokens
        .iter()
        .filter(|token| token.kind == TokenKind::Bigram)
        .map(|token| (token.position, token.position + 1))
        .collect();
    let covered = |token: &Token| {
        token.kind == TokenKind::Unigram
            && bigrams
                .binary_search_by(|(first, last)| {
                    if *last < token.position {
                        std::cmp::Ordering::Less
                    } else if *first > token.position {
                        std::cmp::Ordering::Greater
                    } else {
                        std::cmp::Ordering::Equal
                    }
                })
                .is_ok()
    };
    let long: Vec<Token> = tokens.iter().filter(|token| !covered(token)).cloned().collect();
    if long.iter().all(|token| token.stop) { long } else { long.into_iter().filter(|token| !token.stop).collect() }
}

struct Cutter<'a> {
    folded: &'a Folded,
    stemmer: Stemmer,
    position: u32,
    tokens: Vec<Token>,
}

impl Cutter<'_> {
    /// Keeps a symbol that names a subject; returns the index after it.
    fn cut_symbol(&mut self, at: usize, ch: char) -> usize {
        if SYMBOLS.contains(&ch) {
            self.push(at..at + 1, TokenKind::Symbol, false);
            self.position += 1;
        }
        at + 1
    }

    /// Cuts the Chinese run that begins at `start`; returns the index after it.
    fn cut_cjk(&mut self, start: usize) -> usize {
        let mut end = start;
        let mut run = Vec::new();
        while let Some(ch) = self.folded.ch(end).filter(|ch| class(*ch) == Class::Cjk) {
            run.push(ch);
            end += 1;
        }
        let stops = chinese_stops(&run);
        let is_stop = |offset: usize| stops.get(offset).copied().unwrap_or(false);
        for offset in 0..run.len() {
            let at = start + offset;
            self.push(at..at + 1, TokenKind::Unigram, is_stop(offset));
            if offset + 1 < run.len() {
                self.push(at..at + 2, TokenKind::Bigram, is_stop(offset) && is_stop(offset + 1));
            }
            self.position += 1;
        }
        end
    }

    /// Cuts the word or number that begins at `start`; returns the index after it.
    fn cut_word(&mut self, start: usize) -> usize {
        let end = compound::run_end(self.folded, start);
        let has_letter = self.folded.slice(start..end).iter().any(|folded| class(folded.ch) == Class::Letter);
        if !has_letter {
            let number = digits::scan(self.folded, start);
            let end = number.end;
            self.push_text(digits::canonical(self.folded, &number), start..end, TokenKind::Number, false);
            self.position += 1;
            return end;
        }
        let pieces = compound::pieces(self.folded, start..end);
        if let [piece] = pieces.as_slice() {
            self.push_word(piece.clone(), piece.clone(), TokenKind::Word);
            self.position += 1;
            return end;
        }
        self.push_word(start..end, start..end, TokenKind::Word);
        for piece in pieces {
            self.push_word(piece.clone(), piece, TokenKind::Part);
            self.position += 1;
        }
        end
    }

    fn push_word(&mut self, letters: Range<usize>, range: Range<usize>, kind: TokenKind) {
        let text: String = self
            .folded
            .slice(letters)
            .iter()
            .map(|folded| folded.ch)
            .filter(|ch| is_word(*ch))
            .take(TOKEN_CHARS_MAX)
            .collect();
        let stop = is_english_stop(&text);
        let plain = text.bytes().all(|byte| byte.is_ascii_lowercase());
        let text = if plain && !stop { self.stemmer.stem(&text).into_owned() } else { text };
        self.push_text(text, range, kind, stop);
    }

    fn push(&mut self, range: Range<usize>, kind: TokenKind, stop: bool) {
        self.push_text(self.folded.text(range.clone()), range, kind, stop);
    }

    fn push_text(&mut self, text: String, range: Range<usize>, kind: TokenKind, stop: bool) {
        if !text.is_empty() {
            let range = self.folded.byte_range(range);
            self.tokens.push(Token { text, range, position: self.position, kind, stop });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn texts(text: &str) -> Vec<String> {
        tokenize(text).into_iter().map(|token| token.text).collect()
    }

    #[test]
    fn cuts_words_numbers_and_han() {
        let rows: &[(&str, &[&str])] = &[
            ("Alarms, alarm!", &["alarm", "alarm"]),
            ("manage_dark_mode", &["managedarkmod", "manag", "dark", "mode"]),
            ("targetDeviceName", &["targetdevicenam", "target", "devic", "name"]),
            ("Wi-Fi ＷＩＦＩ wifi", &["wifi", "wi", "fi", "wifi", "wifi"]),
            ("HTTPServer", &["httpserver", "http", "server"]),
            ("5G 1080p", &["5g", "5", "g", "1080p", "1080", "p"]),
            ("it's John’s don't", &["it", "john", "dont"]),
            ("1,200.50 25.0 07:30", &["1200.5", "25", "7", "30"]),
            ("2025-03-04", &["2025", "3", "4"]),
            ("手电筒", &["手", "手电", "电", "电筒", "筒"]),
            ("打开WiFi吧", &["打", "打开", "开", "wifi", "wi", "fi", "吧"]),
            ("５０％ ￥3", &["50", "%", "¥", "3"]),
            ("音量调到50", &["音", "音量", "量", "量调", "调", "调到", "到", "50"]),
            ("", &[]),
            ("…—!?", &[]),
        ];
        for (text, expected) in rows {
            assert_eq!(texts(text), *expected, "tokens of {text:?}");
        }
    }

    #[test]
    fn marks_stop_words_and_keeps_positions() {
        let tokens = tokenize("Please open the map");
        let marked: Vec<(&str, bool, u32)> =
            tokens.iter().map(|token| (token.text.as_str(), token.stop, token.position)).collect();
        assert_eq!(marked, [("please", true, 0), ("open", false, 1), ("the", true, 2), ("map", false, 3)]);
    }

    #[test]
    fn queries_have_bigrams_and_lone_characters_only() {
        let query = |text: &str| query_tokens(text).into_iter().map(|token| token.text).collect::<Vec<_>>();
        assert_eq!(query("请帮我开灯 灯 please"), ["我开", "开灯", "灯"]);
        assert_eq!(query("the"), ["the"]);
    }

    #[test]
    fn a_long_word_keeps_its_range() {
        let long = "x".repeat(1_000);
        let tokens = tokenize(&long);
        assert_eq!(tokens.len(), 1);
        assert_eq!((tokens[0].text.len(), tokens[0].range.clone()), (TOKEN_CHARS_MAX, 0..1_000));
    }
}
