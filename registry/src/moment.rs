//! A point in time, in whole seconds, written as `2026-11-30T00:00:00Z`. Which moment it is now is passed in.

use std::{fmt, str::FromStr};

use jiff::Timestamp;
use serde::{Deserialize, Serialize};

use crate::name::{NameError, as_text};

/// Seconds since 1970, within the years 1970 to 9999.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Moment(Timestamp);

/// The last second of the year 9999 in UTC, less a day, so that every zone can show it.
const SECONDS_MAX: i64 = 253_402_207_200;

impl Moment {
    /// So many seconds after the start of 1970; none outside the years 1970 to 9999.
    #[must_use]
    pub fn from_seconds(seconds: u64) -> Option<Self> {
        let seconds = i64::try_from(seconds).ok().filter(|seconds| *seconds <= SECONDS_MAX)?;
        Timestamp::from_second(seconds).ok().map(Self)
    }

    /// Seconds since the start of 1970.
    #[must_use]
    pub fn seconds(self) -> u64 {
        self.0.as_second().unsigned_abs()
    }
}

impl fmt::Display for Moment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(formatter)
    }
}

impl FromStr for Moment {
    type Err = NameError;

    fn from_str(text: &str) -> Result<Self, NameError> {
        // Only the form that is written is read, so that a statement has one text.
        let moment = text
            .parse::<Timestamp>()
            .ok()
            .and_then(|time| Self::from_seconds(u64::try_from(time.as_second()).ok()?))
            .filter(|moment| moment.to_string() == text);
        moment
            .ok_or_else(|| NameError::new("time", text, "a UTC time in whole seconds, such as `2026-11-30T00:00:00Z`"))
    }
}

as_text!(Moment, NameError);

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_form_is_read() {
        let moment = Moment::from_seconds(1_796_000_000).unwrap();
        assert_eq!(moment.to_string(), "2026-11-30T00:53:20Z");
        assert_eq!(moment.to_string().parse(), Ok(moment));
        for text in
            ["2026-11-30", "2026-11-30T00:53:20.5Z", "2026-11-30T00:53:20+00:00", "1969-12-31T23:59:59Z", "", "now"]
        {
            assert!(text.parse::<Moment>().is_err(), "`{text}` was read");
        }
        assert_eq!(Moment::from_seconds(u64::MAX), None);
    }
}
