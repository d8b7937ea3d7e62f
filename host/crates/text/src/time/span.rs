//! Lengths of time in calendar units.

use crate::number::Number;

/// The longest length that is read, in years.
pub const SPAN_YEARS_MAX: i32 = 1_000;

const DAY_SECONDS: i64 = 86_400;

/// A length of time: months, days and seconds stay apart, since a month has no fixed number of days and a day no
/// fixed number of seconds.
///
/// No part is negative and none is longer than [`SPAN_YEARS_MAX`] years.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub struct CivilSpan {
    months: i32,
    days: i32,
    seconds: i64,
}

/// A unit of time, from large to small.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Unit {
    Year,
    Month,
    Week,
    Day,
    Hour,
    QuarterHour,
    Minute,
    Second,
}

impl CivilSpan {
    /// A length from its parts; nothing when a part is negative or longer than [`SPAN_YEARS_MAX`] years.
    #[must_use]
    pub fn new(months: i32, days: i32, seconds: i64) -> Option<Self> {
        let days_max = SPAN_YEARS_MAX * 366;
        let fits = (0..=SPAN_YEARS_MAX * 12).contains(&months)
            && (0..=days_max).contains(&days)
            && (0..=i64::from(days_max) * DAY_SECONDS).contains(&seconds);
        fits.then_some(Self { months, days, seconds })
    }

    /// Calendar months; a year is 12.
    #[must_use]
    pub fn months(self) -> i32 {
        self.months
    }

    /// Calendar days; a week is 7.
    #[must_use]
    pub fn days(self) -> i32 {
        self.days
    }

    /// Seconds; an hour is 3,600.
    #[must_use]
    pub fn seconds(self) -> i64 {
        self.seconds
    }

    pub(crate) fn plus(self, other: Self) -> Option<Self> {
        Self::new(
            self.months.checked_add(other.months)?,
            self.days.checked_add(other.days)?,
            self.seconds.checked_add(other.seconds)?,
        )
    }

    /// `amount` units. Half a month is 15 days, half a day 12 hours; what leaves a part of a second is refused.
    pub(crate) fn of(amount: Number, unit: Unit) -> Option<Self> {
        match unit {
            Unit::Year => Self::of(amount.times(Number::integer(12))?, Unit::Month),
            Unit::Month => {
                let months = amount.numerator().div_euclid(amount.denominator());
                let rest = amount.plus(Number::integer(months.checked_neg()?))?.times(Number::integer(30))?;
                Self::new(i32::try_from(months).ok()?, i32::try_from(rest.as_integer()?).ok()?, 0)
            }
            Unit::Week => Self::of(amount.times(Number::integer(7))?, Unit::Day),
            Unit::Day => match amount.as_integer() {
                Some(days) => Self::new(0, i32::try_from(days).ok()?, 0),
                None => Self::seconds_of(amount, DAY_SECONDS),
            },
            Unit::Hour => Self::seconds_of(amount, 3_600),
            Unit::QuarterHour => Self::seconds_of(amount, 900),
            Unit::Minute => Self::seconds_of(amount, 60),
            Unit::Second => Self::seconds_of(amount, 1),
        }
    }

    fn seconds_of(amount: Number, seconds: i64) -> Option<Self> {
        Self::new(0, 0, amount.times(Number::integer(seconds))?.as_integer()?)
    }
}
