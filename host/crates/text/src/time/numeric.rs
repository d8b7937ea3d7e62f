//! Dates and times in digits alone, the same in both languages: `2025-03-04`, `7:30`, `07:30:15`.

use super::expression::{DateExpression, MonthPart, MonthReference, TimeOfDay, YearReference};
use crate::fold::Folded;
use crate::script::is_word;

/// A number of at most `digits_max` digits at `at`, with the index after it; more digits are no match.
pub(crate) fn short_number(folded: &Folded, at: usize, digits_max: usize) -> Option<(i64, usize)> {
    let digits: String =
        folded.slice(at..at + digits_max + 1).iter().map(|folded| folded.ch).take_while(char::is_ascii_digit).collect();
    if digits.is_empty() || digits.len() > digits_max {
        return None;
    }
    Some((digits.parse().ok()?, at + digits.len()))
}

/// Whether a number that begins at `at` would continue something that stands before it.
pub(crate) fn is_continuation(folded: &Folded, at: usize) -> bool {
    match folded.ch_before(at) {
        Some(ch) if is_word(ch) => true,
        Some('.' | ',' | ':' | '/' | '-') => at.checked_sub(2).and_then(|index| folded.ch(index)).is_some_and(is_word),
        _ => false,
    }
}

/// A day of a month of a year, checked against the calendar.
pub(crate) fn calendar_day(year: i64, month: i64, day: i64) -> Option<DateExpression> {
    let (year, month, day) = (i16::try_from(year).ok()?, i8::try_from(month).ok()?, i8::try_from(day).ok()?);
    jiff::civil::Date::new(year, month, day).ok()?;
    (year > 0).then_some(DateExpression::Month {
        month: MonthReference::Named { year: YearReference::Number(year), month },
        part: MonthPart::Day(day),
    })
}

/// A day of a month without a year; the 29 February exists.
pub(crate) fn month_day(year: YearReference, month: i64, day: i64) -> Option<DateExpression> {
    if let YearReference::Number(year) = year {
        return calendar_day(i64::from(year), month, day);
    }
    const LEAP_YEAR: i64 = 2000;
    calendar_day(LEAP_YEAR, month, day)?;
    let (month, day) = (i8::try_from(month).ok()?, i8::try_from(day).ok()?);
    Some(DateExpression::Month { month: MonthReference::Named { year, month }, part: MonthPart::Day(day) })
}

/// A whole month of a year.
pub(crate) fn month_of(year: YearReference, month: i64, part: MonthPart) -> Option<DateExpression> {
    let month = i8::try_from(month).ok().filter(|month| (1..=12).contains(month))?;
    Some(DateExpression::Month { month: MonthReference::Named { year, month }, part })
}

/// `2025-03-04`, `2025/3/4`, `2025.3.4`: year first. Other orders differ between countries and are not read.
pub(crate) fn date(folded: &Folded, at: usize) -> Option<(DateExpression, usize)> {
    if is_continuation(folded, at) {
        return None;
    }
    let (year, end) = short_number(folded, at, 4).filter(|(_, end)| end - at == 4)?;
    let separator = folded.ch(end).filter(|ch| matches!(ch, '-' | '/' | '.'))?;
    let (month, end) = short_number(folded, end + 1, 2)?;
    if folded.ch(end) != Some(separator) {
        return None;
    }
    let (day, end) = short_number(folded, end + 1, 2)?;
    Some((calendar_day(year, month, day)?, end))
}

/// `7:30`, `07:30:15`, on a clock of 12 or 24 hours; from 13 on and with a leading zero the half of the day is clear.
pub(crate) fn clock(folded: &Folded, at: usize) -> Option<(TimeOfDay, usize)> {
    if is_continuation(folded, at) && !is_after_iso_date(folded, at) {
        return None;
    }
    let (hour, hour_end) = short_number(folded, at, 2)?;
    let (minute, end) = after_colon(folded, hour_end)?;
    let (second, end) = after_colon(folded, end).unwrap_or((0, end));
    if folded.ch(end).is_some_and(|ch| ch == ':' || ch.is_ascii_digit()) {
        return None;
    }
    let leading_zero = hour_end - at == 2 && hour < 10;
    time_of_day(hour, minute, second, leading_zero || hour > 12).map(|time| (time, end))
}

/// Checks the ranges of a time that was said as it is.
pub(crate) fn time_of_day(hour: i64, minute: i64, second: i64, half_stated: bool) -> Option<TimeOfDay> {
    let fits = (0..=24).contains(&hour) && (0..60).contains(&minute) && (0..60).contains(&second);
    (fits && (hour < 24 || (minute == 0 && second == 0))).then_some(())?;
    Some(TimeOfDay {
        hour: i8::try_from(hour).ok()?,
        minute: i8::try_from(minute).ok()?,
        second: i8::try_from(second).ok()?,
        half_stated: half_stated || hour == 0 || hour > 12,
    })
}

fn after_colon(folded: &Folded, at: usize) -> Option<(i64, usize)> {
    (folded.ch(at) == Some(':')).then_some(())?;
    short_number(folded, at + 1, 2).filter(|(_, end)| end - at == 3)
}

/// Whether the `T` of `2025-03-04T07:30` stands before `at`.
fn is_after_iso_date(folded: &Folded, at: usize) -> bool {
    folded.ch_before(at) == Some('t')
        && at.checked_sub(11).is_some_and(|start| date(folded, start).is_some_and(|(_, end)| end + 1 == at))
}
