//! Reading dates and clock times, and stepping through months.

use loopwright_sdk::{Date, DateTime, Failure};
use schemars::JsonSchema;
use serde::Deserialize;

/// A span of days, both included.
#[derive(Debug, Clone, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct DateRange {
    /// The first day, `YYYY-MM-DD`.
    pub(crate) from: String,
    /// The last day, `YYYY-MM-DD`.
    pub(crate) to: String,
}

/// Days that a range spans at most.
const RANGE_DAYS_MAX: i64 = 366;

impl DateRange {
    /// Both days, in order and not too far apart.
    pub(crate) fn read(&self) -> Result<(Date, Date), Failure> {
        let from = date("dateRange.from", &self.from)?;
        let to = date("dateRange.to", &self.to)?;
        match to.days_since(from) {
            days if days < 0 => {
                Err(Failure::bad_argument("dateRange.to", format!("a day from {from} on"), self.to.as_str()))
            }
            days if days > RANGE_DAYS_MAX => Err(Failure::bad_argument(
                "dateRange.to",
                format!("at most {RANGE_DAYS_MAX} days after {from}"),
                self.to.as_str(),
            )),
            _ => Ok((from, to)),
        }
    }
}

/// A day `YYYY-MM-DD`.
pub(crate) fn date(argument: &str, text: &str) -> Result<Date, Failure> {
    Date::parse(text).ok_or_else(|| Failure::bad_argument(argument, "a day `YYYY-MM-DD`", text))
}

/// A time on the phone's clock, `YYYY-MM-DDTHH:MM`.
pub(crate) fn date_time(argument: &str, text: &str) -> Result<DateTime, Failure> {
    DateTime::parse(text).ok_or_else(|| Failure::bad_argument(argument, "a time `YYYY-MM-DDTHH:MM`", text))
}

/// A time as documents write it.
pub(crate) fn written(at: DateTime) -> String {
    format!("{}T{}", at.date, at.time.to_minutes())
}

/// The date some months later, on the last day where the month is too short.
pub(crate) fn plus_months(date: Date, months: i64) -> Option<Date> {
    let index = i64::from(date.year()) * 12 + i64::from(date.month()) - 1 + months;
    let year = u16::try_from(index.div_euclid(12)).ok()?;
    let month = u8::try_from(index.rem_euclid(12) + 1).ok()?;
    (28..=date.day()).rev().chain([date.day()]).find_map(|day| Date::new(year, month, day))
}
