//! Events, and the days on which a repeated one takes place.

use loopwright_sdk::{Date, DateTime, Failure, PhoneView, Query, Weekday};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::dates::plus_months;

/// The collection.
pub(crate) const EVENTS: &str = "events";

/// How an event repeats.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Repeat {
    Daily,
    Weekly,
    Monthly,
    Weekdays,
}

/// An event. Times are those of the clock in its zone.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub(crate) struct Event {
    pub(crate) id: String,
    pub(crate) title: String,
    /// `YYYY-MM-DDTHH:MM`.
    pub(crate) start: String,
    /// `YYYY-MM-DDTHH:MM`.
    pub(crate) end: String,
    pub(crate) timezone: String,
    pub(crate) location: Option<String>,
    pub(crate) attendees: Vec<String>,
    pub(crate) reminder_min: Option<u32>,
    pub(crate) repeat: Option<Repeat>,
    /// The last day on which it repeats.
    pub(crate) until: Option<String>,
    /// Days on which it does not take place.
    pub(crate) exceptions: Vec<String>,
    pub(crate) response: Option<String>,
    /// Who invited; absent for the owner's own events.
    pub(crate) organizer: Option<String>,
    pub(crate) created: String,
    pub(crate) modified: String,
}

/// One taking place of an event.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Occurrence<'a> {
    pub(crate) event: &'a Event,
    pub(crate) start: DateTime,
    pub(crate) end: DateTime,
}

impl Event {
    /// Start and end.
    pub(crate) fn times(&self) -> Result<(DateTime, DateTime), Failure> {
        match (DateTime::parse(&self.start), DateTime::parse(&self.end)) {
            (Some(start), Some(end)) => Ok((start, end)),
            _ => Err(Failure::fault(format!("event `{}` has a broken time", self.id))),
        }
    }

    /// Whether it takes place on a day that is not before its first.
    fn falls_on(&self, first: Date, day: Date) -> bool {
        let days = day.days_since(first);
        let falls = match self.repeat {
            None => days == 0,
            Some(Repeat::Daily) => days >= 0,
            Some(Repeat::Weekly) => days >= 0 && days % 7 == 0,
            Some(Repeat::Weekdays) => days >= 0 && !matches!(day.weekday(), Weekday::Saturday | Weekday::Sunday),
            Some(Repeat::Monthly) => {
                let months = (i64::from(day.year()) - i64::from(first.year())) * 12 + i64::from(day.month())
                    - i64::from(first.month());
                days >= 0 && plus_months(first, months) == Some(day)
            }
        };
        let text = day.to_string();
        falls && !self.exceptions.contains(&text) && self.until.as_ref().is_none_or(|until| text <= *until)
    }

    /// When it takes place between two days, both included.
    pub(crate) fn occurrences(&self, from: Date, to: Date) -> Result<Vec<Occurrence<'_>>, Failure> {
        let (start, end) = self.times()?;
        let length_s =
            end.date.days_since(start.date) * 86_400 + i64::from(end.time.seconds()) - i64::from(start.time.seconds());
        let mut found = Vec::new();
        // An event that began the day before may still go on.
        let mut day = from.plus_days(-1).unwrap_or(from);
        while day.days_since(to) <= 0 {
            let begins = day.at(start.time);
            if self.falls_on(start.date, day)
                && let Some(ends) = begins.plus_s(length_s)
                && ends.date.days_since(from) >= 0
            {
                found.push(Occurrence { event: self, start: begins, end: ends });
            }
            match day.plus_days(1) {
                Some(next) => day = next,
                None => break,
            }
        }
        Ok(found)
    }
}

/// All events, in the order of their ids.
pub(crate) fn all(phone: &PhoneView) -> Result<Vec<Event>, Failure> {
    Ok(phone.find_all::<Event>(EVENTS, &Query::new())?.into_iter().map(|doc| doc.value).collect())
}

/// Everything that takes place between two days, in the order of time.
pub(crate) fn between(events: &[Event], from: Date, to: Date) -> Result<Vec<Occurrence<'_>>, Failure> {
    let mut found = Vec::new();
    for event in events {
        found.extend(event.occurrences(from, to)?);
    }
    found.sort_by_key(|occurrence| (occurrence.start.to_string(), occurrence.event.id.clone()));
    Ok(found)
}
