//! Days of the week and times of day, as arguments and documents write them.

use loopwright_sdk::{Failure, Phone, TimeOfDay};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A day of the week.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub(crate) enum Day {
    Mon,
    Tue,
    Wed,
    Thu,
    Fri,
    Sat,
    Sun,
}

/// Days in the order of the week, each once.
pub(crate) fn sorted(mut days: Vec<Day>) -> Vec<Day> {
    days.sort_unstable();
    days.dedup();
    days
}

/// A time of day in the form `HH:MM`.
pub(crate) fn time(argument: &str, text: &str) -> Result<String, Failure> {
    if text.len() == 5 && TimeOfDay::parse(text).is_some() {
        Ok(text.to_owned())
    } else {
        Err(Failure::bad_argument(argument, "a time `HH:MM` from 00:00 to 23:59", text))
    }
}

/// Now, as bookkeeping fields write it.
pub(crate) fn stamp(phone: &Phone) -> String {
    let now = phone.now();
    now.to_rfc3339(phone.offset_s(now))
}
