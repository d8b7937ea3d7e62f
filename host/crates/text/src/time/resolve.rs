//! Places a time expression on the calendar, given the moment it was said.

use jiff::civil::{Date, DateTime, Weekday};
use jiff::{Span, ToSpan};

use super::expression::{
    ClockExpression, DateExpression, Direction, MonthPart, MonthReference, TimeExpression, TimeOfDay, YearReference,
};
use super::span::CivilSpan;

/// The most years, or months, that are tried to find a day that exists (29 February, the 31st).
const TRIES_MAX: i32 = 9;

/// Where to look when a text leaves it open, as "Friday", "March 4" and "at seven" do.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Prefer {
    /// The next one, today included: requests and plans.
    Future,
    /// The last one, today included: reports and memories.
    Past,
}

/// The moment that relative expressions count from, in the speaker's civil time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Reference {
    /// When it was said.
    pub now: DateTime,
    /// Where to look when the text leaves it open.
    pub prefer: Prefer,
}

/// How exact an interval is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Granularity {
    /// One second.
    Second,
    /// One minute.
    Minute,
    /// A part of a day.
    DayPart,
    /// One day.
    Day,
    /// Saturday and Sunday.
    Weekend,
    /// A part of a month.
    MonthPart,
    /// Monday to Sunday.
    Week,
    /// A calendar month.
    Month,
    /// A calendar year.
    Year,
}

/// A stretch of civil time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Interval {
    /// Its first moment.
    pub start: DateTime,
    /// The first moment after it, later than `start`.
    pub end: DateTime,
    /// How exactly it was said.
    pub granularity: Granularity,
}

/// The interval that an expression means when it is said at the reference.
///
/// Nothing for a length, which has no place; for a day that does not exist (30 February); and for what lies outside
/// the years -9999 to 9999. Weeks begin on Monday; "next Friday" and 下周五 are the Friday of next week. A time of day
/// without a date is today's, or the next (or last) day's when the reference asks for a later (or earlier) moment;
/// hours without am or pm are read as on a 24-hour clock. Days, months and years of an offset keep the date and drop
/// the time of day. Civil times that a zone skips or repeats are the caller's to settle.
///
/// ```
/// use jiff::civil::date;
/// use loopwright_text::{Prefer, Reference, find_times, resolve};
///
/// let reference = Reference { now: date(2025, 3, 4).at(21, 0, 0, 0), prefer: Prefer::Future };
/// let said = find_times("明天早上七点半叫我");
/// let interval = said.first().and_then(|found| resolve(&found.expression, &reference));
/// assert_eq!(interval.map(|interval| interval.start), Some(date(2025, 3, 5).at(7, 30, 0, 0)));
/// ```
pub fn resolve(expression: &TimeExpression, reference: &Reference) -> Option<Interval> {
    match *expression {
        TimeExpression::Date(date) => days(date, reference),
        TimeExpression::DateClock(date, clock) => clock_on(days(date, reference)?.start.date(), clock),
        TimeExpression::Clock(clock) => nearest_clock(clock, reference),
        TimeExpression::Offset { span, direction } => offset(span, direction, reference),
        TimeExpression::Length(_) => None,
    }
}

fn interval(start: DateTime, length: Span, granularity: Granularity) -> Option<Interval> {
    Some(Interval { start, end: start.checked_add(length).ok()?, granularity })
}

fn from_date(date: Date, length: Span, granularity: Granularity) -> Option<Interval> {
    interval(date.at(0, 0, 0, 0), length, granularity)
}

fn add_days(date: Date, days: i32) -> Option<Date> {
    date.checked_add(Span::new().try_days(days).ok()?).ok()
}

fn add_months(date: Date, months: i32) -> Option<Date> {
    date.checked_add(Span::new().try_months(months).ok()?).ok()
}

fn days(expression: DateExpression, reference: &Reference) -> Option<Interval> {
    let today = reference.now.date();
    let monday = |week: i32| {
        let this = add_days(today, -i32::from(today.weekday().to_monday_zero_offset()))?;
        add_days(this, week.checked_mul(7)?)
    };
    match expression {
        DateExpression::Day(offset) => from_date(add_days(today, offset)?, 1.day(), Granularity::Day),
        DateExpression::Weekday { weekday, week: Some(week) } => {
            let day = add_days(monday(week)?, i32::from(weekday.to_monday_zero_offset()))?;
            from_date(day, 1.day(), Granularity::Day)
        }
        DateExpression::Weekday { weekday, week: None } => {
            from_date(nearest_weekday(today, weekday, reference.prefer)?, 1.day(), Granularity::Day)
        }
        DateExpression::Weekend(week) => from_date(add_days(monday(week)?, 5)?, 2.days(), Granularity::Weekend),
        DateExpression::Week(week) => from_date(monday(week)?, 1.week(), Granularity::Week),
        DateExpression::Month { month, part } => month_part(month, part, reference),
        DateExpression::Year(year) => {
            let first = Date::new(year_number(year, today)?, 1, 1).ok()?;
            from_date(first, 1.year(), Granularity::Year)
        }
    }
}

fn nearest_weekday(today: Date, weekday: Weekday, prefer: Prefer) -> Option<Date> {
    match prefer {
        Prefer::Future => add_days(today, i32::from(today.weekday().until(weekday))),
        Prefer::Past => add_days(today, -i32::from(weekday.until(today.weekday()))),
    }
}

fn year_number(year: YearReference, today: Date) -> Option<i16> {
    match year {
        YearReference::Unstated => Some(today.year()),
        YearReference::Number(year) => Some(year),
        YearReference::Offset(offset) => i16::try_from(i32::from(today.year()).checked_add(offset)?).ok(),
    }
}

fn month_part(month: MonthReference, part: MonthPart, reference: &Reference) -> Option<Interval> {
    let today = reference.now.date();
    let this_month = Date::new(today.year(), today.month(), 1).ok()?;
    match month {
        MonthReference::Offset(offset) => part_of(add_months(this_month, offset)?, part),
        MonthReference::Named { year: YearReference::Unstated, month } => {
            let this_year = Date::new(today.year(), month, 1).ok()?;
            nearest(reference, |step| part_of(add_months(this_year, step.checked_mul(12)?)?, part))
        }
        MonthReference::Named { year, month } => part_of(Date::new(year_number(year, today)?, month, 1).ok()?, part),
        MonthReference::Unstated => nearest(reference, |step| part_of(add_months(this_month, step)?, part)),
    }
}

/// The first candidate, stepping to the preferred side from the current one, that is not wholly on the other side.
fn nearest(reference: &Reference, candidate: impl Fn(i32) -> Option<Interval>) -> Option<Interval> {
    let today = reference.now.date().at(0, 0, 0, 0);
    (0..TRIES_MAX).find_map(|step| match reference.prefer {
        Prefer::Future => candidate(step).filter(|interval| interval.end > today),
        Prefer::Past => candidate(-step).filter(|interval| interval.start <= today),
    })
}

fn part_of(first: Date, part: MonthPart) -> Option<Interval> {
    let day = |day: i8| Date::new(first.year(), first.month(), day).ok();
    match part {
        MonthPart::Whole => from_date(first, 1.month(), Granularity::Month),
        MonthPart::Start => from_date(first, 10.days(), Granularity::MonthPart),
        MonthPart::Middle => from_date(day(11)?, 10.days(), Granularity::MonthPart),
        MonthPart::End => from_date(day(21)?, i64::from(first.days_in_month() - 20).days(), Granularity::MonthPart),
        MonthPart::Day(number) => from_date(day(number)?, 1.day(), Granularity::Day),
    }
}

fn clock_on(date: Date, clock: ClockExpression) -> Option<Interval> {
    let midnight = date.at(0, 0, 0, 0);
    match clock {
        ClockExpression::At(TimeOfDay { hour, minute, second, .. }) => {
            let length = Span::new().try_hours(hour).ok()?.try_minutes(minute).ok()?.try_seconds(second).ok()?;
            let start = midnight.checked_add(length).ok()?;
            if second == 0 {
                interval(start, 1.minute(), Granularity::Minute)
            } else {
                interval(start, 1.second(), Granularity::Second)
            }
        }
        ClockExpression::Part(part) => {
            let (first, last) = part.hours();
            let start = midnight.checked_add(i64::from(first).hours()).ok()?;
            interval(start, i64::from(last - first).hours(), Granularity::DayPart)
        }
    }
}

fn nearest_clock(clock: ClockExpression, reference: &Reference) -> Option<Interval> {
    let today = reference.now.date();
    let found = clock_on(today, clock)?;
    let (step, other_side) = match reference.prefer {
        Prefer::Future => (1, found.end <= reference.now),
        Prefer::Past => (-1, found.start > reference.now),
    };
    if other_side { clock_on(add_days(today, step)?, clock) } else { Some(found) }
}

fn offset(span: CivilSpan, direction: Direction, reference: &Reference) -> Option<Interval> {
    let length =
        Span::new().try_months(span.months()).ok()?.try_days(span.days()).ok()?.try_seconds(span.seconds()).ok()?;
    let moment = match direction {
        Direction::Forward => reference.now.checked_add(length).ok()?,
        Direction::Back => reference.now.checked_sub(length).ok()?,
    };
    let whole_days = span.seconds() == 0 && (span.days() > 0 || span.months() > 0);
    match span.seconds() % 60 {
        _ if whole_days => from_date(moment.date(), 1.day(), Granularity::Day),
        0 => interval(moment, 1.minute(), Granularity::Minute),
        _ => interval(moment, 1.second(), Granularity::Second),
    }
}
