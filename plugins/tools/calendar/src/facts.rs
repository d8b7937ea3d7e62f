//! Facts of the calendar, and arithmetic with dates.

use loopwright_sdk::{Date, Failure, Phone, Reply, Weekday};
use schemars::JsonSchema;
use serde::Deserialize;
use serde_json::json;
use std::collections::BTreeMap;

use crate::dates::{date, plus_months};

#[derive(Debug, Deserialize)]
struct Facts {
    holidays: BTreeMap<String, String>,
    /// Weekend days that are worked.
    workdays: Vec<String>,
}

#[derive(Debug, Clone, Copy, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Fact {
    Weekday,
    Holiday,
    Workday,
    Lunar,
    SolarTerm,
    Almanac,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct CalendarService {
    /// The day, `YYYY-MM-DD`.
    date: String,
    /// What to tell. Lunar dates, solar terms and the almanac are not on this phone.
    query: Fact,
}

#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
enum Unit {
    #[default]
    Days,
    Weeks,
    Months,
    Years,
}

#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields, rename_all = "camelCase")]
pub(crate) struct CalculateDate {
    /// The day to start from, `YYYY-MM-DD`.
    base: String,
    /// How many units later (or earlier, when negative), -10000 to 10000; either this or `other`.
    #[schemars(range(min = -10_000, max = 10_000))]
    offset: Option<i64>,
    /// The unit of `offset`; days when absent.
    unit: Option<Unit>,
    /// A second day, `YYYY-MM-DD`: the days from `base` to it.
    other: Option<String>,
    /// Counts working days only; with unit days.
    workdays_only: Option<bool>,
}

fn name(day: Weekday) -> &'static str {
    match day {
        Weekday::Monday => "Monday",
        Weekday::Tuesday => "Tuesday",
        Weekday::Wednesday => "Wednesday",
        Weekday::Thursday => "Thursday",
        Weekday::Friday => "Friday",
        Weekday::Saturday => "Saturday",
        Weekday::Sunday => "Sunday",
    }
}

impl Facts {
    fn is_workday(&self, day: Date) -> bool {
        let text = day.to_string();
        let weekend = matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday);
        !self.holidays.contains_key(&text) && (!weekend || self.workdays.contains(&text))
    }
}

pub(crate) fn query(phone: &mut Phone, arguments: CalendarService) -> Result<Reply, Failure> {
    let day = date("date", &arguments.date)?;
    let facts: Facts = phone.require("calendar", "facts")?;
    match arguments.query {
        Fact::Weekday => Ok(Reply::new(
            format!("{day} is a {}", name(day.weekday())),
            json!({"date": day.to_string(), "weekday": name(day.weekday())}),
        )),
        Fact::Holiday => {
            let holiday = facts.holidays.get(&day.to_string());
            let text =
                holiday.map_or_else(|| format!("{day} is no public holiday"), |holiday| format!("{day} is {holiday}"));
            Ok(Reply::new(text, json!({"date": day.to_string(), "isHoliday": holiday.is_some(), "holiday": holiday})))
        }
        Fact::Workday => {
            let workday = facts.is_workday(day);
            Ok(Reply::new(
                format!("{day} is {} working day", if workday { "a" } else { "no" }),
                json!({"date": day.to_string(), "isWorkday": workday}),
            ))
        }
        Fact::Lunar | Fact::SolarTerm | Fact::Almanac => {
            Err(Failure::unavailable("this calendar table: only weekday, holiday and workday are on this phone")
                .with_allowed(["weekday", "holiday", "workday"]))
        }
    }
}

pub(crate) fn calculate(phone: &mut Phone, arguments: CalculateDate) -> Result<Reply, Failure> {
    let base = date("base", &arguments.base)?;
    let facts: Facts = phone.require("calendar", "facts")?;
    let workdays_only = arguments.workdays_only.unwrap_or(false);
    let unit = arguments.unit.unwrap_or_default();
    if workdays_only && unit != Unit::Days {
        return Err(Failure::bad_argument("unit", ["days"], "another unit with workdaysOnly"));
    }
    match (arguments.offset, &arguments.other) {
        (Some(offset), None) if (-10_000..=10_000).contains(&offset) => {
            let result = shift(&facts, base, offset, unit, workdays_only)
                .ok_or_else(|| Failure::bad_argument("offset", "a result from year 0 to 9999", offset))?;
            Ok(Reply::new(
                format!("it is {result}"),
                json!({"date": result.to_string(), "weekday": name(result.weekday())}),
            ))
        }
        (Some(offset), None) => Err(Failure::bad_argument("offset", "-10000 to 10000", offset)),
        (None, Some(other)) => {
            let other = date("other", other)?;
            let days = if workdays_only { workdays_between(&facts, base, other) } else { other.days_since(base) };
            Ok(Reply::new(format!("{days} days"), json!({"days": days})))
        }
        _ => Err(Failure::missing_argument("offset", "a whole number, or other, and not both", "a calculation")),
    }
}

fn shift(facts: &Facts, base: Date, offset: i64, unit: Unit, workdays_only: bool) -> Option<Date> {
    match unit {
        Unit::Days if workdays_only => {
            let mut day = base;
            let mut left = offset.abs();
            while left > 0 {
                day = day.plus_days(offset.signum())?;
                left -= i64::from(facts.is_workday(day));
            }
            Some(day)
        }
        Unit::Days => base.plus_days(offset),
        Unit::Weeks => base.plus_days(offset * 7),
        Unit::Months => plus_months(base, offset),
        Unit::Years => plus_months(base, offset * 12),
    }
}

/// Working days after `base` up to `other`; negative when `other` is earlier. Dates of four digits keep the loop below four million.
fn workdays_between(facts: &Facts, base: Date, other: Date) -> i64 {
    let days = other.days_since(base);
    let counted = (1..=days.abs())
        .filter(|step| base.plus_days(step * days.signum()).is_some_and(|day| facts.is_workday(day)))
        .count();
    i64::try_from(counted).unwrap_or(i64::MAX) * days.signum()
}
