//! Numbers written in digits: `1,200.50`.

use crate::fold::Folded;

/// Digits found in folded text.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct DigitRun {
    /// Index of the first digit.
    pub(crate) start: usize,
    /// Index of the decimal point, or `end` without one.
    pub(crate) point: usize,
    /// Index after the last digit.
    pub(crate) end: usize,
}

/// Length of one comma-separated group.
const GROUP_DIGITS: usize = 3;

/// Reads the digits that begin at `start`: groups of three after commas belong to the number, and so do decimals,
/// unless a second point follows or precedes (`1.2.3` is a version or a date, not a number).
pub(crate) fn scan(folded: &Folded, start: usize) -> DigitRun {
    let mut end = digits_end(folded, start);
    if end - start <= GROUP_DIGITS {
        while is_group(folded, end) {
            end += 1 + GROUP_DIGITS;
        }
    }
    let point = end;
    let fraction_end = digits_end(folded, point + 1);
    let has_fraction = is_point(folded, point) && fraction_end > point + 1;
    let is_version = (start > 0 && is_point(folded, start - 1) && start > 1 && is_digit(folded, start - 2))
        || (is_point(folded, fraction_end) && is_digit(folded, fraction_end + 1));
    if has_fraction && !is_version {
        DigitRun { start, point, end: fraction_end }
    } else {
        DigitRun { start, point, end }
    }
}

/// The whole part and the decimals of a run, as digits only.
pub(crate) fn parts(folded: &Folded, run: &DigitRun) -> (String, String) {
    let digits = |range: std::ops::Range<usize>| -> String {
        folded.slice(range).iter().map(|folded| folded.ch).filter(char::is_ascii_digit).collect()
    };
    (digits(run.start..run.point), digits(run.point..run.end))
}

/// The text by which equal numbers match: no commas, no zeros at the end of the decimals, no zero before a lone digit.
pub(crate) fn canonical(folded: &Folded, run: &DigitRun) -> String {
    let (whole, fraction) = parts(folded, run);
    let whole = match whole.strip_prefix('0') {
        Some(digit) if digit.len() == 1 => digit,
        _ => &whole,
    };
    let fraction = fraction.trim_end_matches('0');
    let text = if fraction.is_empty() { whole.to_owned() } else { format!("{whole}.{fraction}") };
    text.chars().take(crate::token::TOKEN_CHARS_MAX).collect()
}

fn digits_end(folded: &Folded, start: usize) -> usize {
    let mut at = start;
    while is_digit(folded, at) {
        at += 1;
    }
    at
}

fn is_digit(folded: &Folded, at: usize) -> bool {
    folded.ch(at).is_some_and(|ch| ch.is_ascii_digit())
}

fn is_point(folded: &Folded, at: usize) -> bool {
    folded.ch(at) == Some('.')
}

/// Whether a comma with exactly three digits stands at `at`. A full-width comma separates a list, not a group.
fn is_group(folded: &Folded, at: usize) -> bool {
    folded.get(at).is_some_and(|comma| comma.ch == ',' && comma.end - comma.start == 1)
        && digits_end(folded, at + 1) == at + 1 + GROUP_DIGITS
}
