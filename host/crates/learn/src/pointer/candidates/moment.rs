//! Moments as people and results say them, and the forms that schemas ask for.

use jiff::Span;
use jiff::civil::{Date, DateTime, Time};
use loopwright_text::{DateExpression, Prefer, Reference, TimeExpression, resolve};

/// How a schema wants a moment written.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::pointer) enum Format {
    /// `HH:MM`.
    Time,
    /// `YYYY-MM-DD`.
    Date,
    /// `YYYY-MM-DDTHH:MM`.
    DateTime,
}

/// A time of day, a date, or both.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(in crate::pointer) struct Moment {
    /// The day.
    pub(in crate::pointer) date: Option<Date>,
    /// The time of day, to the minute.
    pub(in crate::pointer) time: Option<Time>,
    /// Whether the day was said, and not only taken to be the next one.
    pub(in crate::pointer) said: bool,
}

impl Moment {
    /// A day.
    pub(in crate::pointer) fn day(date: Date) -> Self {
        Self { date: Some(date), time: None, said: true }
    }

    /// This day at another's time.
    pub(in crate::pointer) fn at(self, other: Self) -> Option<Self> {
        Some(Self { date: Some(self.date?), time: Some(other.time?), said: true })
    }

    /// Written in a form; none where a part is missing.
    pub(in crate::pointer) fn written(self, format: Format) -> Option<String> {
        let time = |time: Time| format!("{:02}:{:02}", time.hour(), time.minute());
        Some(match format {
            Format::Time => time(self.time?),
            Format::Date => self.date?.to_string(),
            Format::DateTime => format!("{}T{}", self.date?, time(self.time?)),
        })
    }

    /// Moved by a length of months, days and seconds; a time of day without a date stays within its day.
    pub(in crate::pointer) fn moved(self, (months, days, seconds): (i32, i32, i64), later: bool) -> Option<Self> {
        let span = Span::new().try_months(months).ok()?.try_days(days).ok()?.try_seconds(seconds).ok()?;
        match (self.date, self.time) {
            (Some(date), Some(time)) => {
                let from = date.to_datetime(time);
                let to = if later { from.checked_add(span) } else { from.checked_sub(span) }.ok()?;
                Some(Self { date: Some(to.date()), time: Some(to.time()), said: self.said })
            }
            (Some(date), None) if seconds == 0 => {
                let to = if later { date.checked_add(span) } else { date.checked_sub(span) }.ok()?;
                Some(Self { date: Some(to), ..self })
            }
            (None, Some(time)) if months == 0 && days == 0 => {
                let span = Span::new().try_seconds(seconds).ok()?;
                Some(Self { time: Some(if later { time.wrapping_add(span) } else { time.wrapping_sub(span) }), ..self })
            }
            _ => None,
        }
    }
}

/// What an expression means when it is said at a moment; none for what has no place, and for stretches without a first day that is meant.
pub(in crate::pointer) fn of_expression(expression: &TimeExpression, now: DateTime) -> Option<Moment> {
    let interval = resolve(expression, &Reference { now, prefer: Prefer::Future })?;
    let start = interval.start;
    match expression {
        TimeExpression::Date(DateExpression::Year(_)) | TimeExpression::Length(_) => None,
        TimeExpression::Date(_) => Some(Moment::day(start.date())),
        TimeExpression::Clock(_) => Some(Moment { date: Some(start.date()), time: Some(start.time()), said: false }),
        TimeExpression::DateClock(..) => {
            Some(Moment { date: Some(start.date()), time: Some(start.time()), said: true })
        }
        TimeExpression::Offset { span, .. } => {
            let whole_days = span.seconds() == 0;
            Some(Moment { date: Some(start.date()), time: (!whole_days).then(|| start.time()), said: true })
        }
    }
}

/// The moment that a text of a result writes: `HH:MM`, `YYYY-MM-DD`, or both with anything behind it.
pub(in crate::pointer) fn of_written(text: &str) -> Option<Moment> {
    if text.len() == 5 && text.get(2..3) == Some(":") {
        return Some(Moment { date: None, time: Some(clock(text)?), said: false });
    }
    let date: Date = text.get(..10)?.parse().ok()?;
    match text.get(10..) {
        Some("") => Some(Moment::day(date)),
        Some(rest) if rest.starts_with(['T', ' ']) => {
            Some(Moment { date: Some(date), time: Some(clock(rest.get(1..6)?)?), said: true })
        }
        _ => None,
    }
}

/// The moment with which the phone's clock begins: `2026-03-02T09:00:00+08:00[Asia/Shanghai]`.
pub(in crate::pointer) fn of_now(text: &str) -> Option<DateTime> {
    text.get(..19)?.parse().ok()
}

fn clock(text: &str) -> Option<Time> {
    let (hour, minute) = text.split_once(':')?;
    Time::new(hour.parse().ok()?, minute.parse().ok()?, 0, 0).ok()
}

/// The days that people mean without a date: today, tomorrow, the last day of this week and of this month.
pub(in crate::pointer) fn anchors(now: DateTime) -> Vec<Date> {
    let today = now.date();
    let later = |days: i32| Span::new().try_days(days).ok().and_then(|span| today.checked_add(span).ok());
    let sunday = later(6 - i32::from(today.weekday().to_monday_zero_offset()));
    let mut days: Vec<Date> =
        [Some(today), later(1), sunday, Some(today.last_of_month())].into_iter().flatten().collect();
    days.sort();
    days.dedup();
    days
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_written_as_schemas_ask() {
        let moment = of_written("2026-03-02T14:05:00+08:00").expect("a moment");
        assert_eq!(moment.written(Format::Time).as_deref(), Some("14:05"));
        assert_eq!(moment.written(Format::Date).as_deref(), Some("2026-03-02"));
        assert_eq!(moment.written(Format::DateTime).as_deref(), Some("2026-03-02T14:05"));
        assert_eq!(of_written("07:30").and_then(|moment| moment.written(Format::Date)), None);
        for text in ["7:30", "25:00", "2026-13-01", "hello", ""] {
            assert_eq!(of_written(text), None, "{text}");
        }
    }

    #[test]
    fn a_time_of_day_stays_within_its_day() {
        let moment = of_written("00:10").expect("a moment");
        let before = moment.moved((0, 0, 1_200), false).and_then(|moment| moment.written(Format::Time));
        assert_eq!(before.as_deref(), Some("23:50"));
        assert_eq!(moment.moved((0, 1, 0), true), None);
    }

    #[test]
    fn anchors_follow_the_clock() {
        let now = of_now("2026-03-02T09:00:00+08:00[Asia/Shanghai]").expect("a clock");
        let days: Vec<String> = anchors(now).iter().map(ToString::to_string).collect();
        assert_eq!(days, ["2026-03-02", "2026-03-03", "2026-03-08", "2026-03-31"]);
    }
}
