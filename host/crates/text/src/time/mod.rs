//! Dates, times of day, offsets and lengths in English and Chinese: finding them in a text, and placing them on a calendar.

mod chinese;
mod english;
mod expression;
mod length;
mod numeric;
mod resolve;
mod span;

use std::ops::Range;

use crate::fold::Folded;
use crate::lex::{one_of, skip_spaces, word_at};

pub use expression::{
    ClockExpression, DateExpression, DayPart, Direction, MonthPart, MonthReference, TimeExpression, TimeOfDay,
    YearReference,
};
pub use resolve::{Granularity, Interval, Prefer, Reference, resolve};
pub use span::{CivilSpan, SPAN_YEARS_MAX};

pub(crate) use length::unit_english as span_unit_english;

/// The most parts of one point in time: date, weekday, part of the day, time and one to spare.
const COMPONENTS_MAX: usize = 5;

/// A time expression found in a text.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct TimeMatch {
    /// The bytes of the text that it was read from, on character boundaries.
    pub range: Range<usize>,
    /// What it says.
    pub expression: TimeExpression,
}

/// One part of a point in time.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Component {
    Date(DateExpression),
    /// A date and a part of the day in one word: "tonight", 今晚.
    DatePart(DateExpression, DayPart),
    Clock(TimeOfDay),
    Part(DayPart),
}

/// What stands before a component, so far as it matters.
#[derive(Debug, Clone, Copy, Default)]
pub(crate) struct Setting {
    /// A bare number may be an hour: after "at", after 早上.
    pub(crate) bare_hour: bool,
    /// "morning" may stand alone: after a date.
    pub(crate) bare_part: bool,
}

/// Finds the time expressions of a text, in order and without overlap.
///
/// Reads points in time (dates, times of day, both together), offsets from now and lengths. Numbers may be digits or
/// words. Not read: repetition ("every Monday" gives the Monday), ranges (both ends are found, each for itself), dates
/// in digits without a year or with the year last, since countries order them differently, and lunar dates. Reads at
/// most [`TEXT_BYTES_MAX`](crate::TEXT_BYTES_MAX) bytes.
///
/// ```
/// let text = "Wake me tomorrow at 7:30 am, in 20 minutes play jazz";
/// let found: Vec<&str> = loopwright_text::find_times(text).into_iter().filter_map(|found| text.get(found.range)).collect();
/// assert_eq!(found, ["tomorrow at 7:30 am", "in 20 minutes"]);
/// ```
pub fn find_times(text: &str) -> Vec<TimeMatch> {
    let folded = Folded::new(text);
    let mut found = Vec::new();
    let mut at = 0;
    while at < folded.len() {
        match scan(&folded, at) {
            Some(scanned) => {
                found.push(TimeMatch {
                    range: folded.byte_range(scanned.start..scanned.end),
                    expression: scanned.expression,
                });
                at = scanned.end.max(at + 1);
            }
            None => at += 1,
        }
    }
    found
}

/// Reads a text that is one time expression and nothing else but spaces around it and perhaps "at"
/// before it.
pub fn parse_time(text: &str) -> Option<TimeExpression> {
    let trimmed = text.trim();
    let folded = Folded::new(trimmed);
    let scanned = scan(&folded, 0)?;
    (folded.byte_range(0..scanned.end) == (0..trimmed.len())).then_some(scanned.expression)
}

struct Scanned {
    start: usize,
    end: usize,
    expression: TimeExpression,
}

/// The longer of what can be read at `at`.
fn scan(folded: &Folded, at: usize) -> Option<Scanned> {
    let (before, ch) = (folded.ch_before(at), folded.ch(at)?);
    let inside_word = ch.is_ascii_alphabetic() && before.is_some_and(|before| before.is_ascii_alphanumeric());
    (ch.is_alphanumeric() && !inside_word && folded.is_boundary(at)).then_some(())?;
    let is_whole = |scanned: &Scanned| folded.is_boundary(scanned.start) && folded.is_boundary(scanned.end);
    let point = point(folded, at).filter(is_whole);
    let length =
        length::scan(folded, at).map(|(expression, end)| Scanned { start: at, end, expression }).filter(is_whole);
    match (point, length) {
        (Some(point), Some(length)) => Some(if length.end >= point.end { length } else { point }),
        (point, length) => point.or(length),
    }
}

/// Date, part of the day and time, in any order.
#[derive(Debug, Clone, Copy, Default)]
struct Point {
    date: Option<DateExpression>,
    clock: Option<TimeOfDay>,
    part: Option<DayPart>,
}

impl Point {
    /// Adds a component; nothing when its place is taken. A weekday beside a day of a month only repeats it.
    fn with(self, component: Component) -> Option<Self> {
        match component {
            Component::Date(date) => Some(Self { date: Some(joined_date(self.date, date)?), ..self }),
            Component::DatePart(date, part) if self.part.is_none() => {
                Some(Self { date: Some(joined_date(self.date, date)?), part: Some(part), ..self })
            }
            Component::Clock(time) if self.clock.is_none() => Some(Self { clock: Some(time), ..self }),
            Component::Part(part) if self.part.is_none() => Some(Self { part: Some(part), ..self }),
            _ => None,
        }
    }

    fn expression(self) -> Option<TimeExpression> {
        let clock = match (self.clock, self.part) {
            (Some(time), Some(part)) if !time.half_stated => {
                Some(ClockExpression::At(TimeOfDay { hour: part.place(time.hour), half_stated: true, ..time }))
            }
            (Some(time), _) => Some(ClockExpression::At(time)),
            (None, part) => part.map(ClockExpression::Part),
        };
        match (self.date, clock) {
            (Some(date), Some(clock)) => Some(TimeExpression::DateClock(date, clock)),
            (Some(date), None) => Some(TimeExpression::Date(date)),
            (None, clock) => clock.map(TimeExpression::Clock),
        }
    }

    /// What the next component may be.
    fn setting(self, after_at: bool) -> Setting {
        Setting { bare_hour: after_at || self.part.is_some(), bare_part: self.date.is_some() }
    }
}

fn joined_date(known: Option<DateExpression>, date: DateExpression) -> Option<DateExpression> {
    let is_weekday = |date: &DateExpression| matches!(date, DateExpression::Weekday { .. });
    match known {
        None => Some(date),
        Some(known) if is_weekday(&known) && !is_weekday(&date) && is_day(&date) => Some(date),
        Some(known) if is_weekday(&date) && !is_weekday(&known) && is_day(&known) => Some(known),
        Some(_) => None,
    }
}

/// Whether the date is one day.
fn is_day(date: &DateExpression) -> bool {
    matches!(
        date,
        DateExpression::Day(_) | DateExpression::Weekday { .. } | DateExpression::Month { part: MonthPart::Day(_), .. }
    )
}

fn point(folded: &Folded, at: usize) -> Option<Scanned> {
    // "at seven" begins at the hour.
    let after_at = word_at(folded, at).filter(|word| word.text == "at");
    let start = after_at.as_ref().map_or(at, |word| skip_spaces(folded, word.end));
    let setting = Setting { bare_hour: after_at.is_some() || follows_at(folded, at), bare_part: false };
    let (first, mut end) = component(folded, start, setting)?;
    let mut point = Point::default().with(first)?;
    for _ in 1..COMPONENTS_MAX {
        let (next_start, said_at) = glue(folded, end);
        // A date of more than a day has no time: "next week at 7" is two things.
        let Some((next, next_end)) = component(folded, next_start, point.setting(said_at)) else { break };
        let is_clock = matches!(next, Component::Clock(_) | Component::Part(_));
        let whole_day = point.date.as_ref().is_none_or(is_day);
        let Some(joined) = point.with(next).filter(|joined| (whole_day || !is_clock) && joined.is_sound()) else {
            break;
        };
        (point, end) = (joined, next_end);
    }
    Some(Scanned { start, end, expression: point.expression()? })
}

impl Point {
    /// Whether the date, if there is a time too, is one day.
    fn is_sound(self) -> bool {
        (self.clock.is_none() && self.part.is_none()) || self.date.as_ref().is_none_or(is_day)
    }
}

/// Whether "at" and spaces stand before `at`: the search has passed them.
fn follows_at(folded: &Folded, at: usize) -> bool {
    at >= 3 && word_at(folded, at - 3).is_some_and(|word| word.text == "at" && skip_spaces(folded, word.end) == at)
}

fn component(folded: &Folded, at: usize, setting: Setting) -> Option<(Component, usize)> {
    let iso = || numeric::date(folded, at).map(|(date, end)| (Component::Date(date), end));
    iso().or_else(|| english::component(folded, at, setting)).or_else(|| chinese::component(folded, at, setting))
}

/// Steps over what may stand between two components; whether an "at" was among it.
fn glue(folded: &Folded, end: usize) -> (usize, bool) {
    if folded.ch(end) == Some('t') && folded.ch(end + 1).is_some_and(|ch| ch.is_ascii_digit()) {
        return (end + 1, false);
    }
    if let Some((_, end)) = one_of(folded, end, &["的"]) {
        return (end, false);
    }
    let comma = usize::from(folded.ch(end) == Some(','));
    let start = skip_spaces(folded, end + comma);
    match word_at(folded, start) {
        Some(word) if word.text == "at" => (skip_spaces(folded, word.end), true),
        Some(word) if matches!(word.text.as_str(), "by" | "around" | "on") => {
            let after = skip_spaces(folded, word.end);
            // "on the 15th" is a date as it stands.
            if word.text == "on" && word_at(folded, after).is_some_and(|next| next.text == "the") {
                (start, false)
            } else {
                (after, false)
            }
        }
        _ => (start, false),
    }
}

#[cfg(test)]
mod tests;
