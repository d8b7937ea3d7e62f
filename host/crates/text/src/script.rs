//! Which kind of run a folded character belongs to.

/// The class that decides how a run of characters is cut into tokens.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Class {
    /// Han, kana or hangul: written without spaces, cut into unigrams and bigrams.
    Cjk,
    /// A letter of any other script, or a mark that stayed on its own.
    Letter,
    /// An ASCII digit (full-width digits have been folded to these).
    Digit,
    /// Spaces, punctuation, symbols.
    Other,
}

/// The class of a folded character.
pub(crate) fn class(ch: char) -> Class {
    if ch.is_ascii_digit() {
        Class::Digit
    } else if ch.is_ascii() {
        if ch.is_ascii_alphabetic() { Class::Letter } else { Class::Other }
    } else if is_cjk(ch) {
        Class::Cjk
    } else if ch.is_alphanumeric() || unicode_normalization::char::is_combining_mark(ch) {
        Class::Letter
    } else {
        Class::Other
    }
}

/// Whether the character is a letter or a digit of a script that is written with spaces.
pub(crate) fn is_word(ch: char) -> bool {
    matches!(class(ch), Class::Letter | Class::Digit)
}

fn is_cjk(ch: char) -> bool {
    matches!(ch,
        '\u{3005}' | '\u{3007}'
        | '\u{3041}'..='\u{30ff}' | '\u{31f0}'..='\u{31ff}'
        | '\u{3400}'..='\u{4dbf}' | '\u{4e00}'..='\u{9fff}' | '\u{f900}'..='\u{faff}'
        | '\u{1100}'..='\u{11ff}' | '\u{ac00}'..='\u{d7a3}'
        | '\u{20000}'..='\u{3ffff}')
        && ch != '\u{30fb}'
}
