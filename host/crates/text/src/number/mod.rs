//! Numbers written in digits, in English words and in Chinese characters.

pub(crate) mod chinese;
pub(crate) mod digits;
pub(crate) mod english;
mod value;

use std::ops::Range;

use crate::fold::Folded;
use crate::lex::{letters_at, next_word, one_of, skip_spaces};
use crate::script::is_word;

pub use value::Number;

/// How a number is used.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum NumberKind {
    /// A count or a measure.
    Cardinal,
    /// A place in an order: "third", 第三.
    Ordinal,
    /// Hundredths; the value is the number before the sign: 50 for `50%`.
    Percent,
}

/// A number found in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NumberMatch {
    /// The bytes of the text that it was read from, on character boundaries.
    pub range: Range<usize>,
    /// Its exact value.
    pub value: Number,
    /// How it is used.
    pub kind: NumberKind,
}

/// A number that was read from folded text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Scanned {
    /// Index after it.
    pub(crate) end: usize,
    pub(crate) value: Number,
    pub(crate) kind: NumberKind,
}

/// Finds the numbers of a text, in order and without overlap.
///
/// Reads digits with grouping commas, decimals, signs, percent signs and vulgar fractions, English numerals up to
/// trillions and Chinese numerals up to 亿亿, ordinals and fractions in both. It reads words, not sense: "one" in
/// "this one" is 1, and the parts of a date or a time are numbers too. Reads at most
/// [`TEXT_BYTES_MAX`](crate::TEXT_BYTES_MAX) bytes.
///
/// ```
/// use loopwright_text::{Number, find_numbers};
///
/// let found: Vec<_> = find_numbers("twenty-five or 二十五 or ２５").into_iter().map(|found| found.value).collect();
/// assert_eq!(found, [Number::integer(25); 3]);
/// ```
pub fn find_numbers(text: &str) -> Vec<NumberMatch> {
    let folded = Folded::new(text);
    let mut found = Vec::new();
    let mut at = 0;
    while at < folded.len() {
        match scan(&folded, at) {
            Some(number) => {
                found.push(NumberMatch {
                    range: folded.byte_range(at..number.end),
                    value: number.value,
                    kind: number.kind,
                });
                at = number.end.max(at + 1);
            }
            None => at = after_failure(&folded, at),
        }
    }
    found
}

/// Reads a text that is one number and nothing else but spaces around it.
pub fn parse_number(text: &str) -> Option<NumberMatch> {
    let start = text.len() - text.trim_start().len();
    let trimmed = text.trim();
    let folded = Folded::new(trimmed);
    let number = scan(&folded, 0)?;
    let range = folded.byte_range(0..number.end);
    (range == (0..trimmed.len())).then_some(NumberMatch {
        range: start..start + trimmed.len(),
        value: number.value,
        kind: number.kind,
    })
}

/// The number that begins at `at`, in either language.
pub(crate) fn scan(folded: &Folded, at: usize) -> Option<Scanned> {
    folded.is_boundary(at).then_some(())?;
    let number = scan_digits(folded, at).or_else(|| english::scan(folded, at)).or_else(|| chinese::scan(folded, at))?;
    folded.is_boundary(number.end).then_some(())?;
    match percent_end(folded, number.end).filter(|_| number.kind == NumberKind::Cardinal) {
        Some(end) => Some(Scanned { end, kind: NumberKind::Percent, ..number }),
        None => Some(number),
    }
}

/// Where the search goes on after nothing was read at `at`. A Chinese numeral that cannot be read is passed as a
/// whole, so that no part of it is taken for a number.
fn after_failure(folded: &Folded, at: usize) -> usize {
    let run = folded.slice(at..folded.len()).iter().take_while(|folded| chinese::is_numeral(folded.ch)).count();
    at + run.max(1)
}

/// The number that begins with a digit, or a minus sign and a digit, at `at`.
pub(crate) fn scan_digits(folded: &Folded, at: usize) -> Option<Scanned> {
    let before = folded.ch_before(at);
    if matches!(folded.ch(at), Some('-' | '\u{2212}'))
        && !before.is_some_and(|ch| is_word(ch) || matches!(ch, '-' | ')' | '.'))
    {
        let number = scan_unsigned_digits(folded, at + 1)?;
        return Some(Scanned { value: number.value.negated()?, ..number });
    }
    if before.is_some_and(is_word) {
        return None;
    }
    scan_unsigned_digits(folded, at)
}

fn scan_unsigned_digits(folded: &Folded, at: usize) -> Option<Scanned> {
    folded.ch(at).filter(char::is_ascii_digit)?;
    let run = digits::scan(folded, at);
    if let Some(fraction) = vulgar_fraction(folded, &run) {
        return Some(fraction);
    }
    let (whole, decimals) = digits::parts(folded, &run);
    let value = Number::from_digits(&whole, &decimals)?;
    let cardinal = |value, end| Some(Scanned { end, value, kind: NumberKind::Cardinal });
    if let Some(suffix) = letters_at(folded, run.end).filter(|_| decimals.is_empty()) {
        return match suffix.text.as_str() {
            "st" | "nd" | "rd" | "th" => Some(Scanned { end: suffix.end, value, kind: NumberKind::Ordinal }),
            _ => cardinal(value, run.end),
        };
    }
    if let Some((factor, end)) = multiplier(folded, run.end) {
        return cardinal(value.times(Number::integer(factor))?, end);
    }
    match next_word(folded, run.end).filter(|word| word.text == "and").and_then(|and| english::and_a_part(folded, &and))
    {
        Some((part, end)) => cardinal(value.plus(part)?, end),
        None => match one_of(folded, run.end, &["个半", "個半"]) {
            Some((_, end)) => cardinal(value.plus(Number::ratio(1, 2)?)?, end),
            None => cardinal(value, run.end),
        },
    }
}

/// A scale after digits: 3 million, 1.2万, 5千.
fn multiplier(folded: &Folded, end: usize) -> Option<(i64, usize)> {
    if let Some(word) = next_word(folded, end) {
        return english::scale(&word.text).or((word.text == "hundred").then_some(100)).map(|factor| (factor, word.end));
    }
    let ch = folded.ch(end)?;
    let factor = chinese::large_unit(ch).or(match ch {
        '百' => Some(100),
        '千' => Some(1_000),
        _ => None,
    })?;
    Some((factor, end + 1))
}

/// `½`, `1½`, `1⁄2`: digits around a fraction slash. A vulgar fraction is one original character, so what stands
/// before it in the same run of digits is the whole part.
fn vulgar_fraction(folded: &Folded, run: &digits::DigitRun) -> Option<Scanned> {
    let slash = folded.get(run.end).filter(|slash| slash.ch == '\u{2044}')?;
    let own = |index: usize| folded.get(index).is_some_and(|folded| folded.start == slash.start);
    let split = (run.start..run.end).find(|index| own(*index));
    let numerator = split.unwrap_or(run.start);
    let mut end = run.end + 1;
    while folded.ch(end).is_some_and(|ch| ch.is_ascii_digit()) && (split.is_none() || own(end)) {
        end += 1;
    }
    let read = |range: Range<usize>| Number::from_digits(&folded.text(range), "").and_then(Number::as_integer);
    let whole = Number::integer(read(run.start..numerator)?);
    let fraction = Number::ratio(read(numerator..run.end)?, read(run.end + 1..end)?)?;
    Some(Scanned { end, value: whole.plus(fraction)?, kind: NumberKind::Cardinal })
}

fn percent_end(folded: &Folded, end: usize) -> Option<usize> {
    if let Some(sign) = Some(skip_spaces(folded, end)).filter(|at| folded.ch(*at) == Some('%')) {
        return Some(sign + 1);
    }
    let word = next_word(folded, end)?;
    match word.text.as_str() {
        "percent" => Some(word.end),
        "per" => next_word(folded, word.end).filter(|next| next.text == "cent").map(|next| next.end),
        _ => None,
    }
}

#[cfg(test)]
mod tests;
