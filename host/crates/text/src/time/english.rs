//! English dates, times of day and lengths.

use jiff::civil::Weekday;

use super::expression::{DateExpression, DayPart, MonthPart, MonthReference, TimeOfDay, YearReference};
use super::numeric::{self, is_continuation, month_day, month_of, short_number, time_of_day};
use super::{Component, Setting};
use crate::fold::Folded;
use crate::lex::{Word, letters_at, next_word, phrase_end, skip_spaces, word_at};
use crate::number::{self, NumberKind};
use crate::script::is_word;

const MONTHS: &[&str] = &[
    "january",
    "february",
    "march",
    "april",
    "may",
    "june",
    "july",
    "august",
    "september",
    "october",
    "november",
    "december",
];
const MONTHS_SHORT: &[&str] = &["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"];
const WEEKDAYS: &[&str] = &["monday", "tuesday", "wednesday", "thursday", "friday", "saturday", "sunday"];
/// Short names that are no other word; `sat`, `sun`, `wed` and `mon` count only after "this", "next" and the like.
const WEEKDAYS_SHORT: &[(&str, i8)] = &[("tue", 1), ("tues", 1), ("thu", 3), ("thur", 3), ("thurs", 3), ("fri", 4)];
const WEEKDAYS_AMBIGUOUS: &[(&str, i8)] = &[("mon", 0), ("wed", 2), ("sat", 5), ("sun", 6)];
/// Years that are read as years without more: "in 2025", "March 2025".
const YEARS: std::ops::RangeInclusive<i64> = 1900..=2100;
/// Words that may follow "at seven": with any other word the number counts something.
const AFTER_HOUR: &[&str] = &[
    "and",
    "but",
    "every",
    "for",
    "if",
    "in",
    "next",
    "on",
    "or",
    "please",
    "sharp",
    "so",
    "then",
    "this",
    "to",
    "today",
    "tomorrow",
    "tonight",
    "until",
    "when",
    "with",
    "monday",
    "tuesday",
    "wednesday",
    "thursday",
    "friday",
    "saturday",
    "sunday",
];

/// The date, time or part of the day that begins at `at`.
pub(crate) fn component(folded: &Folded, at: usize, setting: Setting) -> Option<(Component, usize)> {
    relative_date(folded, at)
        .or_else(|| named_date(folded, at).map(|(date, end)| (Component::Date(date), end)))
        .or_else(|| clock(folded, at, setting).map(|(time, end)| (Component::Clock(time), end)))
        .or_else(|| day_part(folded, at, setting).map(|(part, end)| (Component::Part(part), end)))
}

fn relative_date(folded: &Folded, at: usize) -> Option<(Component, usize)> {
    let word = word_at(folded, at)?;
    let date = |date, end| Some((Component::Date(date), end));
    match word.text.as_str() {
        "today" => date(DateExpression::Day(0), word.end),
        "tomorrow" => date(DateExpression::Day(1), word.end),
        "yesterday" => date(DateExpression::Day(-1), word.end),
        "tonight" => Some((Component::DatePart(DateExpression::Day(0), DayPart::Evening), word.end)),
        "the" | "day" => {
            let start = if word.text == "the" { skip_spaces(folded, word.end) } else { at };
            let phrases = [
                ("day after tomorrow", DateExpression::Day(2)),
                ("day before yesterday", DateExpression::Day(-2)),
                ("weekend", DateExpression::Weekend(0)),
            ];
            let found =
                phrases.iter().find_map(|(phrase, found)| Some((*found, phrase_end(folded, start, phrase)?)))?;
            date(found.0, found.1)
        }
        "this" | "next" | "last" | "coming" => after_modifier(folded, &word),
        name => {
            let weekday = weekday(name, false)?;
            date(DateExpression::Weekday { weekday, week: None }, word.end)
        }
    }
}

/// "this morning", "next Friday", "last month".
fn after_modifier(folded: &Folded, modifier: &Word) -> Option<(Component, usize)> {
    let step = match modifier.text.as_str() {
        "next" => 1,
        "last" => -1,
        _ => 0,
    };
    let noun = next_word(folded, modifier.end)?;
    let date = |date| Some((Component::Date(date), noun.end));
    match (noun.text.as_str(), step) {
        ("morning", 0) => Some((Component::DatePart(DateExpression::Day(0), DayPart::Morning), noun.end)),
        ("afternoon", 0) => Some((Component::DatePart(DateExpression::Day(0), DayPart::Afternoon), noun.end)),
        ("evening", 0) => Some((Component::DatePart(DateExpression::Day(0), DayPart::Evening), noun.end)),
        ("night", -1) => Some((Component::DatePart(DateExpression::Day(-1), DayPart::Evening), noun.end)),
        ("week", _) => date(DateExpression::Week(step)),
        ("weekend", _) => date(DateExpression::Weekend(step)),
        ("month", _) => date(DateExpression::Month { month: MonthReference::Offset(step), part: MonthPart::Whole }),
        ("year", _) => date(DateExpression::Year(YearReference::Offset(step))),
        (name, _) => match (weekday(name, true), month(name)) {
            (Some(weekday), _) => {
                let week = if modifier.text == "coming" { None } else { Some(step) };
                date(DateExpression::Weekday { weekday, week })
            }
            // "this March" is this year's, and "this March 17" its day; which March is the next or the last one depends on the day.
            (None, Some(month)) if step == 0 => {
                let day = month_first(folded, month, noun.end).and_then(|(date, end)| match date {
                    DateExpression::Month {
                        month: MonthReference::Named { year: YearReference::Unstated, .. },
                        part,
                    } => Some((month_of(YearReference::Offset(0), month, part)?, end)),
                    _ => None,
                });
                let (found, end) = match day {
                    Some(day) => day,
                    None => (month_of(YearReference::Offset(0), month, MonthPart::Whole)?, noun.end),
                };
                Some((Component::Date(found), end))
            }
            _ => None,
        },
    }
}

fn weekday(name: &str, ambiguous: bool) -> Option<Weekday> {
    let long = WEEKDAYS.iter().position(|entry| *entry == name).and_then(|place| i8::try_from(place).ok());
    let short = |list: &[(&str, i8)]| list.iter().find(|(entry, _)| *entry == name).map(|(_, place)| *place);
    let place =
        long.or_else(|| short(WEEKDAYS_SHORT)).or_else(|| if ambiguous { short(WEEKDAYS_AMBIGUOUS) } else { None })?;
    Weekday::from_monday_zero_offset(place).ok()
}

/// The number of a month's name, 1 to 12.
fn month(name: &str) -> Option<i64> {
    let place = |list: &[&str]| list.iter().position(|entry| *entry == name);
    let place = place(MONTHS).or_else(|| place(MONTHS_SHORT)).or((name == "sept").then_some(8))?;
    i64::try_from(place + 1).ok()
}

/// "March 4, 2025", "4th of March", "on the 15th", "in May 2025", "in 2025".
fn named_date(folded: &Folded, at: usize) -> Option<(DateExpression, usize)> {
    let Some(word) = word_at(folded, at) else { return day_first(folded, at, false) };
    match word.text.as_str() {
        "in" => {
            let start = skip_spaces(folded, word.end);
            if let Some((year, end)) = year_at(folded, start) {
                return Some((DateExpression::Year(year), end));
            }
            let name = word_at(folded, start)?;
            let month = month(&name.text)?;
            let (year, end) = year_after(folded, name.end).unwrap_or((YearReference::Unstated, name.end));
            Some((month_of(year, month, MonthPart::Whole)?, end))
        }
        "on" => {
            let the = next_word(folded, word.end).filter(|word| word.text == "the")?;
            let start = skip_spaces(folded, the.end);
            day_first(folded, start, true).or_else(|| {
                let (day, end) = ordinal_day(folded, start)?;
                let part = MonthPart::Day(i8::try_from(day).ok()?);
                Some((DateExpression::Month { month: MonthReference::Unstated, part }, end))
            })
        }
        "the" => day_first(folded, skip_spaces(folded, word.end), true),
        name => month_first(folded, month(name)?, word.end),
    }
}

/// "March 4", "Mar. 4th, 2025", "March 2025"; `end` is after the month's name.
fn month_first(folded: &Folded, month: i64, end: usize) -> Option<(DateExpression, usize)> {
    let dot = usize::from(folded.ch(end) == Some('.'));
    if let Some((year, end)) = year_after(folded, end) {
        return Some((month_of(year, month, MonthPart::Whole)?, end));
    }
    let start = skip_spaces(folded, end + dot);
    let (day, end) = ordinal_day(folded, start).or_else(|| {
        let (day, end) = short_number(folded, start, 2)?;
        // "march 5 minutes" is no date; "march 5:30" neither.
        let counts = letters_at(folded, skip_spaces(folded, end))
            .is_some_and(|word| super::span_unit_english(&word.text).is_some());
        let touches = folded.ch(end).is_some_and(|ch| is_word(ch) || matches!(ch, ':' | '%'));
        (start > end - 3 && !counts && !touches).then_some((day, end))
    })?;
    let (year, end) = year_after(folded, end).unwrap_or((YearReference::Unstated, end));
    Some((month_day(year, month, day)?, end))
}

/// "4 March", "4th of March 2025".
fn day_first(folded: &Folded, at: usize, after_the: bool) -> Option<(DateExpression, usize)> {
    if is_continuation(folded, at) {
        return None;
    }
    let (day, end) = ordinal_day(folded, at).or_else(|| short_number(folded, at, 2).filter(|_| !after_the))?;
    let word = next_word(folded, end)?;
    let word = if word.text == "of" { next_word(folded, word.end)? } else { word };
    let month = month(&word.text)?;
    let (year, end) = year_after(folded, word.end).unwrap_or((YearReference::Unstated, word.end));
    Some((month_day(year, month, day)?, end))
}

/// "15th", "fifteenth": a day of a month.
fn ordinal_day(folded: &Folded, at: usize) -> Option<(i64, usize)> {
    let number = number::scan(folded, at).filter(|number| number.kind == NumberKind::Ordinal)?;
    let day = number.value.as_integer().filter(|day| (1..=31).contains(day))?;
    Some((day, number.end))
}

fn year_after(folded: &Folded, end: usize) -> Option<(YearReference, usize)> {
    let comma = usize::from(folded.ch(end) == Some(','));
    let start = skip_spaces(folded, end + comma);
    if start == end { None } else { year_at(folded, start) }
}

fn year_at(folded: &Folded, at: usize) -> Option<(YearReference, usize)> {
    let (year, end) = short_number(folded, at, 4).filter(|(year, _)| YEARS.contains(year))?;
    let touches = folded.ch(end).is_some_and(|ch| is_word(ch) || matches!(ch, ':' | '%' | '-' | '/'));
    let unit = next_word(folded, end).is_some_and(|word| super::span_unit_english(&word.text).is_some());
    (!touches && !unit).then_some((YearReference::Number(i16::try_from(year).ok()?), end))
}

/// "7:30 pm", "7 am", "seven o'clock", "half past seven", "noon"; after "at" also "seven" and "seven thirty".
fn clock(folded: &Folded, at: usize, setting: Setting) -> Option<(TimeOfDay, usize)> {
    if let Some((time, end)) = numeric::clock(folded, at) {
        return match meridiem(folded, end) {
            Some((afternoon, after)) => Some((on_half(time, afternoon)?, after)),
            None => (!folded.ch(end).is_some_and(|ch| is_word(ch) && ch != 'z')).then_some((time, end)),
        };
    }
    named_clock(folded, at).or_else(|| past_or_to(folded, at)).or_else(|| spoken_clock(folded, at, setting))
}

fn named_clock(folded: &Folded, at: usize) -> Option<(TimeOfDay, usize)> {
    let word = word_at(folded, at)?;
    let hour = match word.text.as_str() {
        "noon" | "midday" => 12,
        "midnight" => 24,
        _ => return None,
    };
    time_of_day(hour, 0, 0, true).map(|time| (time, word.end))
}

/// "half past seven", "a quarter to eight", "ten minutes past six".
fn past_or_to(folded: &Folded, at: usize) -> Option<(TimeOfDay, usize)> {
    let first = word_at(folded, at);
    let is = |text: &str| first.as_ref().is_some_and(|word| word.text == text);
    let (minutes, end) = if is("half") {
        (30, first.as_ref()?.end)
    } else if is("quarter") {
        (15, first.as_ref()?.end)
    } else if is("a") {
        (15, phrase_end(folded, at, "a quarter")?)
    } else {
        let (minutes, end) = small_number(folded, at)?;
        let unit = next_word(folded, end).filter(|word| matches!(word.text.as_str(), "minutes" | "minute" | "min"));
        let spelled = first.is_some();
        let end = unit.map_or(end, |word| word.end);
        // "10 to 8" in bare digits is a range.
        (spelled || next_word(folded, end).is_some_and(|word| word.text == "past")).then_some((minutes, end))?
    };
    let side = next_word(folded, end)?;
    let (hour, end) =
        small_number(folded, skip_spaces(folded, side.end)).filter(|(hour, _)| (1..=12).contains(hour))?;
    let (hour, minute) = match side.text.as_str() {
        "past" => (hour, minutes),
        "to" if minutes < 60 => (if hour == 1 { 12 } else { hour - 1 }, 60 - minutes),
        _ => return None,
    };
    let time = time_of_day(hour, minute, 0, false)?;
    match meridiem(folded, end) {
        Some((afternoon, after)) => Some((on_half(time, afternoon)?, after)),
        None => Some((time, end)),
    }
}

/// "seven am", "7 o'clock", "seven thirty pm"; bare after "at".
fn spoken_clock(folded: &Folded, at: usize, setting: Setting) -> Option<(TimeOfDay, usize)> {
    let (hour, hour_end) = small_number(folded, at).filter(|(hour, _)| (0..=24).contains(hour))?;
    let (minute, end) = match spoken_minute(folded, hour_end) {
        Some(found) if word_at(folded, at).is_some() => found,
        _ => (0, hour_end),
    };
    let time = time_of_day(hour, minute, 0, false)?;
    if let Some((afternoon, after)) = meridiem(folded, end) {
        return Some((on_half(time, afternoon)?, after));
    }
    if let Some(after) = o_clock_end(folded, end) {
        return Some((time, after));
    }
    (setting.bare_hour && ends_hour(folded, end)).then_some((time, end))
}

/// The minutes in "seven thirty" and "seven oh five".
fn spoken_minute(folded: &Folded, hour_end: usize) -> Option<(i64, usize)> {
    let word = next_word(folded, hour_end)?;
    let start = if word.text == "oh" { skip_spaces(folded, word.end) } else { word.end - word.text.len() };
    let (minute, end) = small_number(folded, start)?;
    let fits = if word.text == "oh" { 1..10 } else { 10..60 };
    fits.contains(&minute).then_some((minute, end))
}

/// Whether what follows a bare hour lets it be one.
fn ends_hour(folded: &Folded, end: usize) -> bool {
    match next_word(folded, end) {
        Some(word) => AFTER_HOUR.contains(&word.text.as_str()),
        None => match folded.ch(end) {
            Some('.' | ',' | ':') => !folded.ch(end + 1).is_some_and(|ch| ch.is_ascii_digit()),
            Some(ch) => {
                !ch.is_alphanumeric()
                    && !matches!(ch, '%' | '°' | '-' | '/' | '$' | '€' | '+' | '*')
                    && (!ch.is_whitespace() || !next_is_digit(folded, end))
            }
            None => true,
        },
    }
}

fn next_is_digit(folded: &Folded, end: usize) -> bool {
    folded.ch(skip_spaces(folded, end)).is_some_and(|ch| ch.is_ascii_digit())
}

/// A whole number below 100 in digits or words.
fn small_number(folded: &Folded, at: usize) -> Option<(i64, usize)> {
    if folded.ch(at).is_some_and(|ch| ch.is_ascii_digit()) {
        return if is_continuation(folded, at) { None } else { short_number(folded, at, 2) };
    }
    let first = word_at(folded, at)?;
    let number = number::english::scan(folded, at).filter(|number| number.kind == NumberKind::Cardinal)?;
    let value = number.value.as_integer().filter(|value| (0..100).contains(value))?;
    // "seven thirty" stops after the hour by itself; "a dozen" is no time.
    (!matches!(first.text.as_str(), "a" | "an" | "minus" | "negative")).then_some((value, number.end))
}

/// "am", "p.m.": whether it is afternoon, and the index after it.
fn meridiem(folded: &Folded, end: usize) -> Option<(bool, usize)> {
    let start = skip_spaces(folded, end);
    let afternoon = match folded.ch(start)? {
        'a' => false,
        'p' => true,
        _ => return None,
    };
    let after = if folded.starts_with(start + 1, "m") {
        start + 2
    } else if folded.starts_with(start + 1, ".m.") {
        start + 4
    } else if folded.starts_with(start + 1, ".m") {
        start + 3
    } else {
        return None;
    };
    (!folded.ch(after).is_some_and(is_word)).then_some((afternoon, after))
}

fn on_half(time: TimeOfDay, afternoon: bool) -> Option<TimeOfDay> {
    let hour = match (time.hour, afternoon) {
        (12, false) => 0,
        (12, true) => 12,
        (1..=11, _) => time.hour + if afternoon { 12 } else { 0 },
        // "19:30 pm" says twice what is clear.
        (13..=23, true) => time.hour,
        _ => return None,
    };
    Some(TimeOfDay { hour, half_stated: true, ..time })
}

fn o_clock_end(folded: &Folded, end: usize) -> Option<usize> {
    let start = skip_spaces(folded, end);
    let (o, apostrophe) = (folded.ch(start)?, folded.ch(start + 1)?);
    if o != 'o' || !crate::compound::is_apostrophe(apostrophe) {
        return letters_at(folded, start).filter(|word| word.text == "oclock").map(|word| word.end);
    }
    letters_at(folded, start + 2).filter(|word| word.text == "clock").map(|word| word.end)
}

/// "in the morning", "at night"; right after a date also "morning" alone.
fn day_part(folded: &Folded, at: usize, setting: Setting) -> Option<(DayPart, usize)> {
    if let Some(end) = phrase_end(folded, at, "at night") {
        return Some((DayPart::Night, end));
    }
    let start = phrase_end(folded, at, "in the").map(|end| skip_spaces(folded, end));
    let word = match start {
        Some(start) => word_at(folded, start)?,
        None if setting.bare_part => word_at(folded, at)?,
        None => return None,
    };
    let part = match word.text.as_str() {
        "morning" => DayPart::Morning,
        "afternoon" => DayPart::Afternoon,
        "evening" => DayPart::Evening,
        "night" => DayPart::Evening,
        _ => return None,
    };
    Some((part, word.end))
}
