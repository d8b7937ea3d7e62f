//! English numerals: "minus two hundred and five point two", "twenty-first", "three quarters", "half a dozen".

use super::{NumberKind, Scanned};
use crate::fold::Folded;
use crate::lex::{Word, next_word, word_at};
use crate::number::value::Number;

/// The most words of one numeral.
const WORDS_MAX: usize = 32;

const SMALL: &[&str] = &[
    "zero",
    "one",
    "two",
    "three",
    "four",
    "five",
    "six",
    "seven",
    "eight",
    "nine",
    "ten",
    "eleven",
    "twelve",
    "thirteen",
    "fourteen",
    "fifteen",
    "sixteen",
    "seventeen",
    "eighteen",
    "nineteen",
];
const SMALL_ORDINALS: &[&str] = &[
    "zeroth",
    "first",
    "second",
    "third",
    "fourth",
    "fifth",
    "sixth",
    "seventh",
    "eighth",
    "ninth",
    "tenth",
    "eleventh",
    "twelfth",
    "thirteenth",
    "fourteenth",
    "fifteenth",
    "sixteenth",
    "seventeenth",
    "eighteenth",
    "nineteenth",
];
const TENS: &[&str] = &["twenty", "thirty", "forty", "fifty", "sixty", "seventy", "eighty", "ninety"];
const TENS_ORDINALS: &[&str] =
    &["twentieth", "thirtieth", "fortieth", "fiftieth", "sixtieth", "seventieth", "eightieth", "ninetieth"];
const SCALES: &[(&str, i64)] =
    &[("thousand", 1_000), ("million", 1_000_000), ("billion", 1_000_000_000), ("trillion", 1_000_000_000_000)];

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Numeral {
    /// 0 to 19.
    Small(i64),
    /// 20, 30, ... 90.
    Tens(i64),
    Hundred,
    Scale(i64),
}

fn numeral(word: &str) -> Option<Numeral> {
    let place =
        |list: &[&str]| list.iter().position(|entry| *entry == word).and_then(|place| i64::try_from(place).ok());
    place(SMALL)
        .map(Numeral::Small)
        .or_else(|| place(TENS).map(|place| Numeral::Tens((place + 2) * 10)))
        .or_else(|| (word == "hundred").then_some(Numeral::Hundred))
        .or_else(|| scale(word).map(Numeral::Scale))
}

fn ordinal(word: &str) -> Option<Numeral> {
    let place =
        |list: &[&str]| list.iter().position(|entry| *entry == word).and_then(|place| i64::try_from(place).ok());
    let stem = word.strip_suffix("th");
    place(SMALL_ORDINALS)
        .map(Numeral::Small)
        .or_else(|| place(TENS_ORDINALS).map(|place| Numeral::Tens((place + 2) * 10)))
        .or_else(|| {
            stem.and_then(
                |stem| if stem == "hundred" { Some(Numeral::Hundred) } else { scale(stem).map(Numeral::Scale) },
            )
        })
}

/// The value of a scale word: 1,000 for "thousand".
pub(crate) fn scale(word: &str) -> Option<i64> {
    SCALES.iter().find(|(name, _)| *name == word).map(|(_, value)| *value)
}

/// Adds numerals up as they are spoken and refuses what does not continue the number.
#[derive(Debug, Clone, Copy)]
struct Sum {
    total: i64,
    current: i64,
    last: Option<Numeral>,
    scale: i64,
}

impl Sum {
    const EMPTY: Self = Self { total: 0, current: 0, last: None, scale: i64::MAX };

    fn push(self, numeral: Numeral) -> Option<Self> {
        let mut next = Self { last: Some(numeral), ..self };
        let opens_group = matches!(self.last, None | Some(Numeral::Hundred | Numeral::Scale(_)));
        match numeral {
            Numeral::Small(value) => {
                let after_tens = matches!(self.last, Some(Numeral::Tens(_))) && (1..=9).contains(&value);
                let after_group = opens_group && (value > 0 || self.last.is_none());
                (after_tens || after_group).then_some(())?;
                next.current += value;
            }
            Numeral::Tens(value) => {
                opens_group.then_some(())?;
                next.current += value;
            }
            Numeral::Hundred => {
                (1..=99).contains(&self.current).then_some(())?;
                next.current *= 100;
            }
            Numeral::Scale(value) => {
                ((1..=9_999).contains(&self.current) && value < self.scale).then_some(())?;
                next.total += self.current * value;
                next.current = 0;
                next.scale = value;
            }
        }
        Some(next)
    }

    fn value(self) -> i64 {
        self.total + self.current
    }
}

/// The numeral that begins at `at`.
pub(crate) fn scan(folded: &Folded, at: usize) -> Option<Scanned> {
    let first = word_at(folded, at)?;
    match first.text.as_str() {
        "minus" | "negative" => {
            let number = scan_unsigned(folded, next_word(folded, first.end)?, false)?;
            (number.kind == NumberKind::Cardinal).then_some(())?;
            Some(Scanned { value: number.value.negated()?, ..number })
        }
        "a" | "an" => scan_unsigned(folded, next_word(folded, first.end)?, true),
        _ => scan_unsigned(folded, first, false),
    }
}

fn scan_unsigned(folded: &Folded, first: Word, article: bool) -> Option<Scanned> {
    let cardinal = |value, end| Some(Scanned { end, value, kind: NumberKind::Cardinal });
    match first.text.as_str() {
        "half" => {
            let dozen = next_word(folded, first.end)
                .filter(|word| word.text == "a")
                .and_then(|word| next_word(folded, word.end));
            return match dozen.filter(|word| word.text == "dozen" && !article) {
                Some(word) => cardinal(Number::integer(6), word.end),
                None => cardinal(Number::ratio(1, 2)?, first.end),
            };
        }
        "quarter" if article => return cardinal(Number::ratio(1, 4)?, first.end),
        "dozen" if article => return cardinal(Number::integer(12), first.end),
        _ => {}
    }
    if !article && let Some(value) = ordinal(&first.text) {
        let sum = match value {
            Numeral::Hundred => 100,
            Numeral::Scale(scale) => scale,
            other => Sum::EMPTY.push(other)?.value(),
        };
        return Some(Scanned { end: first.end, value: Number::integer(sum), kind: NumberKind::Ordinal });
    }
    let opening = numeral(&first.text)?;
    let big = matches!(opening, Numeral::Hundred | Numeral::Scale(_));
    let sum = match (article, big) {
        (true, true) => Sum::EMPTY.push(Numeral::Small(1))?.push(opening)?,
        (false, false) => Sum::EMPTY.push(opening)?,
        _ => return None,
    };
    continue_numeral(folded, sum, first.end)
}

/// Reads on after the first numeral; stops before the first word that does not fit.
fn continue_numeral(folded: &Folded, sum: Sum, end: usize) -> Option<Scanned> {
    let (mut sum, mut end) = (sum, end);
    for _ in 0..WORDS_MAX {
        let Some((word, hyphen)) = following(folded, end) else { break };
        if let Some(closed) = close(folded, sum, &word, hyphen) {
            return Some(closed);
        }
        let (word, joined) = match word.text.as_str() {
            "and" if matches!(sum.last, Some(Numeral::Hundred | Numeral::Scale(_))) => {
                match next_word(folded, word.end) {
                    Some(next) => (next, true),
                    None => break,
                }
            }
            _ => (word, false),
        };
        if let Some(last) = close_with_ordinal(sum, &word).filter(|_| joined) {
            return Some(last);
        }
        match numeral(&word.text).and_then(|numeral| sum.push(numeral).filter(|_| !joined || !is_big(numeral))) {
            Some(next) => (sum, end) = (next, word.end),
            None => break,
        }
    }
    Some(Scanned { end, value: Number::integer(sum.value()), kind: NumberKind::Cardinal })
}

fn is_big(numeral: Numeral) -> bool {
    matches!(numeral, Numeral::Hundred | Numeral::Scale(_))
}

/// The next word after spaces or one hyphen, and whether it was a hyphen.
fn following(folded: &Folded, end: usize) -> Option<(Word, bool)> {
    if folded.ch(end) == Some('-') {
        return word_at(folded, end + 1).map(|word| (word, true));
    }
    next_word(folded, end).map(|word| (word, false))
}

/// What ends a numeral: an ordinal, a fraction, a dozen, decimals, "and a half".
fn close(folded: &Folded, sum: Sum, word: &Word, hyphen: bool) -> Option<Scanned> {
    let whole = Number::integer(sum.value());
    let cardinal = |value: Option<Number>, end| Some(Scanned { end, value: value?, kind: NumberKind::Cardinal });
    match word.text.as_str() {
        "dozen" => return cardinal(whole.times(Number::integer(12)), word.end),
        "point" => return decimals(folded, sum, word.end),
        "and" => return and_a_part(folded, word).and_then(|(part, end)| cardinal(whole.plus(part), end)),
        "half" | "halves" => return cardinal(Number::ratio(sum.value(), 2), word.end),
        "quarter" | "quarters" => return cardinal(Number::ratio(sum.value(), 4), word.end),
        // "twenty second timer": only a hyphen makes it the twenty-second.
        "second" if !hyphen => return None,
        _ => {}
    }
    if let Some(last) = close_with_ordinal(sum, word) {
        return Some(last);
    }
    let singular = word.text.strip_suffix('s').unwrap_or(&word.text);
    match ordinal(singular) {
        Some(Numeral::Small(parts @ 3..=12)) if (1..=99).contains(&sum.value()) => {
            cardinal(Number::ratio(sum.value(), parts), word.end)
        }
        _ => None,
    }
}

fn close_with_ordinal(sum: Sum, word: &Word) -> Option<Scanned> {
    let next = sum.push(ordinal(&word.text)?)?;
    Some(Scanned { end: word.end, value: Number::integer(next.value()), kind: NumberKind::Ordinal })
}

/// "and a half", "and a quarter": the part, when `and` is followed by one.
pub(crate) fn and_a_part(folded: &Folded, and: &Word) -> Option<(Number, usize)> {
    let article = next_word(folded, and.end).filter(|word| matches!(word.text.as_str(), "a" | "one"))?;
    let part = next_word(folded, article.end)?;
    let parts = match part.text.as_str() {
        "half" => 2,
        "quarter" => 4,
        "third" => 3,
        _ => return None,
    };
    Number::ratio(1, parts).map(|value| (value, part.end))
}

fn decimals(folded: &Folded, sum: Sum, point: usize) -> Option<Scanned> {
    let mut digits = String::new();
    let mut end = point;
    while digits.len() < WORDS_MAX {
        let Some(word) = next_word(folded, end) else { break };
        let digit = if word.text == "oh" { Some(0) } else { SMALL.iter().take(10).position(|name| *name == word.text) };
        let Some(digit) = digit else { break };
        digits.push_str(&digit.to_string());
        end = word.end;
    }
    if digits.is_empty() {
        return None;
    }
    let value = Number::from_digits(&sum.value().to_string(), &digits)?;
    Some(Scanned { end, value, kind: NumberKind::Cardinal })
}
