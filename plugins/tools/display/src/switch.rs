//! What the tools share: schedules, percentages and the wording of a switch.

use loopwright_sdk::{Failure, TimeOfDay};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// A daily time span; it may run past midnight.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub(crate) struct Schedule {
    /// Start, `HH:MM`.
    pub(crate) from: String,
    /// End, `HH:MM`.
    pub(crate) to: String,
}

impl Schedule {
    /// Checks both times.
    pub(crate) fn checked(self) -> Result<Self, Failure> {
        for (argument, time) in [("schedule.from", &self.from), ("schedule.to", &self.to)] {
            if time.len() != 5 || TimeOfDay::parse(time).is_none() {
                return Err(Failure::bad_argument(argument, "a time `HH:MM` from 00:00 to 23:59", time.as_str()));
            }
        }
        Ok(self)
    }
}

/// A whole number from 0 to 100 that an action needs.
pub(crate) fn percent(argument: &str, value: Option<i64>, needed_by: &str) -> Result<i64, Failure> {
    match value {
        None => Err(Failure::missing_argument(argument, "0 to 100", needed_by)),
        Some(value) if (0..=100).contains(&value) => Ok(value),
        Some(value) => Err(Failure::bad_argument(argument, "0 to 100", value)),
    }
}

/// How a switch is told.
pub(crate) fn told(what: &str, on: bool, changed: bool) -> String {
    let word = if on { "on" } else { "off" };
    if changed { format!("{what} turned {word}") } else { format!("{what} was already {word}") }
}
