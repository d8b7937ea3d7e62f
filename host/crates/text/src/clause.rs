//! Cuts a request of several intents into clauses, and finds what it quotes.

use std::ops::Range;

use crate::fold::Folded;
use crate::script::is_word;

/// The most clauses of one text; what follows stays in the last one.
pub const CLAUSES_MAX: usize = 8;

/// English words between two intents.
const CONNECTIVES_ENGLISH: &[&str] = &[
    "after",
    "afterwards",
    "also",
    "and",
    "before",
    "but",
    "finally",
    "if",
    "once",
    "plus",
    "then",
    "unless",
    "when",
    "while",
];

/// Chinese words between two intents. 并 and 再 are handled by [`chinese_connective`], since they also occur inside words.
const CONNECTIVES_CHINESE: &[&str] = &[
    "与此同时",
    "然后",
    "然後",
    "并且",
    "並且",
    "接着",
    "接著",
    "之后",
    "之後",
    "以后",
    "以後",
    "同时",
    "同時",
    "顺便",
    "順便",
    "另外",
    "还有",
    "還有",
    "而且",
    "以及",
    "随后",
    "最后",
    "如果",
    "要是",
    "的话",
    "否则",
];

/// Words in which 并 or 再 joins nothing.
const NO_CONNECTIVES_CHINESE: &[&str] = &["合并", "合並", "并不", "再见", "再次", "不再"];

/// Opening and closing marks of a quotation, as folding leaves them.
const QUOTES: &[(char, char)] =
    &[('"', '"'), ('\u{201c}', '\u{201d}'), ('\u{2018}', '\u{2019}'), ('「', '」'), ('『', '』'), ('《', '》')];

/// The byte ranges of a text's clauses, in order: between punctuation marks and connectives such as "and then" or 然后.
/// Nothing is cut inside a quotation, a number or a word; a text without separators is one clause, a text without any
/// letter or digit has none. At most [`CLAUSES_MAX`].
///
/// ```
/// let text = "把亮度调到50，然后打开蓝牙";
/// let clauses: Vec<&str> = loopwright_text::clauses(text).into_iter().filter_map(|range| text.get(range)).collect();
/// assert_eq!(clauses, ["把亮度调到50", "打开蓝牙"]);
/// ```
pub fn clauses(text: &str) -> Vec<Range<usize>> {
    let folded = Folded::new(text);
    let quotations = quoted_indices(&folded);
    let mut found = Vec::new();
    let mut quotations = quotations.iter().peekable();
    let mut start = 0;
    let mut at = 0;
    while at < folded.len() && found.len() + 1 < CLAUSES_MAX {
        if let Some(quotation) = quotations.next_if(|quotation| quotation.start <= at) {
            at = at.max(quotation.end);
            continue;
        }
        match separator(&folded, at) {
            Some(length) => {
                push_clause(&folded, start..at, &mut found);
                at += length;
                start = at;
            }
            None => at += 1,
        }
    }
    push_clause(&folded, start..folded.len(), &mut found);
    found
}

/// The byte ranges of a text's quotations, without their marks.
pub fn quotations(text: &str) -> Vec<Range<usize>> {
    let folded = Folded::new(text);
    quoted_indices(&folded).into_iter().map(|range| folded.byte_range(range)).collect()
}

fn quoted_indices(folded: &Folded) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    let mut open: Option<(usize, char)> = None;
    for at in 0..folded.len() {
        let Some(ch) = folded.ch(at) else { break };
        match open {
            Some((start, close)) if ch == close && !is_apostrophe_inside_word(folded, at) => {
                if start < at {
                    found.push(start..at);
                }
                open = None;
            }
            Some(_) => {}
            None => open = QUOTES.iter().find(|(mark, _)| *mark == ch).map(|(_, close)| (at + 1, *close)),
        }
    }
    found
}

fn is_apostrophe_inside_word(folded: &Folded, at: usize) -> bool {
    folded.ch(at) == Some('\u{2019}')
        && folded.ch_before(at).is_some_and(is_word)
        && folded.ch(at + 1).is_some_and(is_word)
}

fn push_clause(folded: &Folded, range: Range<usize>, found: &mut Vec<Range<usize>>) {
    let mut range = range;
    while range.start < range.end && !folded.ch(range.start).is_some_and(char::is_alphanumeric) {
        range.start += 1;
    }
    while range.start < range.end && folded.ch(range.end - 1).is_some_and(char::is_whitespace) {
        range.end -= 1;
    }
    if range.start < range.end {
        found.push(folded.byte_range(range));
    }
}

/// The length of the separator at `at`, if one stands there.
fn separator(folded: &Folded, at: usize) -> Option<usize> {
    let ch = folded.ch(at)?;
    let beside_digits = folded.ch_before(at).is_some_and(|before| before.is_ascii_digit())
        && folded.ch(at + 1).is_some_and(|after| after.is_ascii_digit());
    let ends_sentence = || folded.ch(at + 1).is_none_or(char::is_whitespace);
    match ch {
        ';' | '!' | '?' | '、' | '。' | '\n' => Some(1),
        ',' => (!beside_digits).then_some(1),
        '.' => ends_sentence().then_some(1),
        _ => english_connective(folded, at).or_else(|| chinese_connective(folded, at)),
    }
}

fn english_connective(folded: &Folded, at: usize) -> Option<usize> {
    if folded.ch_before(at).is_some_and(is_word) {
        return None;
    }
    CONNECTIVES_ENGLISH.iter().find_map(|word| {
        let end = at + word.len();
        (folded.starts_with(at, word) && !folded.ch(end).is_some_and(is_word)).then_some(word.len())
    })
}

fn chinese_connective(folded: &Folded, at: usize) -> Option<usize> {
    if let Some(word) = CONNECTIVES_CHINESE.iter().find(|word| folded.starts_with(at, word)) {
        return Some(word.chars().count());
    }
    let inside_word = NO_CONNECTIVES_CHINESE.iter().any(|word| {
        folded.starts_with(at, word) || at.checked_sub(1).is_some_and(|before| folded.starts_with(before, word))
    });
    (matches!(folded.ch(at), Some('并' | '並' | '再')) && !inside_word).then_some(1)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cut(text: &str) -> Vec<&str> {
        clauses(text).into_iter().map(|range| &text[range]).collect()
    }

    #[test]
    fn cuts_between_intents_only() {
        let rows: &[(&str, &[&str])] = &[
            ("Turn on Wi-Fi and then open Maps.", &["Turn on Wi-Fi", "open Maps"]),
            ("set 1,200 and 3.5, please", &["set 1,200", "3.5", "please"]),
            ("Text Bob \"a, b and c\" then lock", &["Text Bob \"a, b and c\"", "lock"]),
            ("打开手电筒，再把音量调低。", &["打开手电筒", "把音量调低"]),
            ("合并联系人并且发短信", &["合并联系人", "发短信"]),
            ("如果静音了，然后关掉", &["静音了", "关掉"]),
            ("Android and sand", &["Android", "sand"]),
            ("just one", &["just one"]),
            ("，。!", &[]),
            ("", &[]),
        ];
        for (text, expected) in rows {
            assert_eq!(cut(text), *expected, "clauses of {text:?}");
        }
    }

    #[test]
    fn the_last_clause_takes_what_is_over_the_limit() {
        let text = "a, ".repeat(CLAUSES_MAX + 5);
        let found = cut(&text);
        assert_eq!(found.len(), CLAUSES_MAX);
        assert!(found[CLAUSES_MAX - 1].starts_with("a, a"));
    }

    #[test]
    fn finds_quotations_in_both_languages() {
        let text = "say “Bob’s here” and 「你好」 but not 'this' or \"\"";
        let found: Vec<&str> = quotations(text).into_iter().map(|range| &text[range]).collect();
        assert_eq!(found, ["Bob’s here", "你好"]);
    }
}
