//! Moments and stretches of time, each with the zone that it was said in.

use std::fmt;
use std::sync::Arc;

use jiff::civil::DateTime;
use jiff::tz::{AmbiguousOffset, TimeZone};
use jiff::{Timestamp, Zoned};
use loopwright_text::Granularity as TextGranularity;
use serde::{Deserialize, Serialize};

/// The longest name of a zone, in bytes.
const ZONE_BYTES_MAX: usize = 64;

/// Why a moment was not made.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum MomentError {
    /// The zone is unknown.
    #[error("time zone `{found}`: expected an IANA name such as `Asia/Shanghai`, or `UTC`")]
    Zone {
        /// What was found, cut to 64 characters.
        found: String,
    },
    /// The text is no moment.
    #[error("`{found}` is not a moment: expected ISO 8601 with an offset, such as `2025-03-04T21:00:00+08:00`")]
    Text {
        /// What was found, cut to 64 characters.
        found: String,
    },
    /// The text names an offset that its zone does not have at that time.
    #[error("`{found}` contradicts its zone: `{zone}` has another offset then")]
    Contradicts {
        /// What was found, cut to 64 characters.
        found: String,
        /// The zone.
        zone: String,
    },
    /// Outside the years -9999 to 9999.
    #[error("{seconds} seconds since 1970 is outside the years -9999 to 9999")]
    Range {
        /// Seconds since 1970-01-01T00:00:00Z.
        seconds: i64,
    },
}

/// A time zone by its IANA name. Only names of the bundled database are made.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct Zone(Arc<str>);

impl Zone {
    /// Checks and keeps a name.
    ///
    /// # Errors
    /// [`MomentError::Zone`] when the database does not have it.
    pub fn new(name: &str) -> Result<Self, MomentError> {
        let known = name.len() <= ZONE_BYTES_MAX && TimeZone::get(name).is_ok();
        if known { Ok(Self(name.into())) } else { Err(MomentError::Zone { found: cut(name) }) }
    }

    /// UTC.
    #[must_use]
    pub fn utc() -> Self {
        Self("UTC".into())
    }

    /// The name.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }

    fn rules(&self) -> TimeZone {
        // The name was looked up when it was made.
        TimeZone::get(&self.0).unwrap_or(TimeZone::UTC)
    }

    /// The instant of a civil time here. A time that the zone skips is read with the offset before the gap, one that it repeats is the first.
    fn instant(&self, civil: DateTime) -> Option<i64> {
        let zone = self.rules();
        let ambiguous = zone.to_ambiguous_timestamp(civil);
        let offset = match ambiguous.offset() {
            AmbiguousOffset::Unambiguous { offset } => offset,
            AmbiguousOffset::Gap { before, .. } | AmbiguousOffset::Fold { before, .. } => before,
        };
        offset.to_timestamp(civil).ok().map(Timestamp::as_second)
    }
}

impl fmt::Display for Zone {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl fmt::Debug for Zone {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "Zone({})", self.0)
    }
}

impl TryFrom<String> for Zone {
    type Error = MomentError;

    fn try_from(name: String) -> Result<Self, MomentError> {
        Self::new(&name)
    }
}

impl From<Zone> for String {
    fn from(zone: Zone) -> Self {
        zone.0.as_ref().to_owned()
    }
}

/// An instant, and the zone in which it was said. Ordered by the instant alone where that decides.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "MomentParts")]
pub struct Moment {
    seconds: i64,
    zone: Zone,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct MomentParts {
    seconds: i64,
    zone: Zone,
}

impl TryFrom<MomentParts> for Moment {
    type Error = MomentError;

    fn try_from(parts: MomentParts) -> Result<Self, MomentError> {
        Self::new(parts.seconds, parts.zone)
    }
}

impl Moment {
    /// A moment from seconds since 1970-01-01T00:00:00Z.
    ///
    /// # Errors
    /// [`MomentError::Range`] outside the years -9999 to 9999.
    pub fn new(seconds: i64, zone: Zone) -> Result<Self, MomentError> {
        match Timestamp::from_second(seconds) {
            Ok(_) => Ok(Self { seconds, zone }),
            Err(_) => Err(MomentError::Range { seconds }),
        }
    }

    /// 1970-01-01T00:00:00Z.
    #[must_use]
    pub fn epoch() -> Self {
        Self { seconds: 0, zone: Zone::utc() }
    }

    /// A moment from a civil time in a zone; see [`EventTime::of`] for times that the zone skips or repeats.
    #[must_use]
    pub fn of_civil(civil: DateTime, zone: Zone) -> Option<Self> {
        let seconds = zone.instant(civil)?;
        Some(Self { seconds, zone })
    }

    /// Reads ISO 8601: with an offset, with an offset and `[zone]`, or with `Z`. Without a zone in brackets the given one is kept.
    ///
    /// # Errors
    /// [`MomentError`] when it is no moment, as 31 February is none, or when offset and zone contradict each other.
    pub fn parse(text: &str, zone: &Zone) -> Result<Self, MomentError> {
        let text = text.trim();
        if text.contains('[') {
            let named = text.split_once('[').and_then(|(_, rest)| rest.split_once(']')).map(|(name, _)| name);
            let zone = Zone::new(named.unwrap_or_default())?;
            let zoned: Zoned = text
                .parse()
                .map_err(|_| MomentError::Contradicts { found: cut(text), zone: zone.as_str().to_owned() })?;
            return Self::new(zoned.timestamp().as_second(), zone);
        }
        let timestamp: Timestamp = text.parse().map_err(|_| MomentError::Text { found: cut(text) })?;
        Self::new(timestamp.as_second(), zone.clone())
    }

    /// Seconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub fn seconds(&self) -> i64 {
        self.seconds
    }

    /// The zone.
    #[must_use]
    pub fn zone(&self) -> &Zone {
        &self.zone
    }

    /// What a clock on the wall showed.
    #[must_use]
    pub fn civil(&self) -> DateTime {
        // The range was checked when it was made.
        let timestamp = Timestamp::from_second(self.seconds).unwrap_or(Timestamp::UNIX_EPOCH);
        self.zone.rules().to_datetime(timestamp)
    }
}

/// ISO 8601 with offset and zone.
impl fmt::Display for Moment {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let timestamp = Timestamp::from_second(self.seconds).unwrap_or(Timestamp::UNIX_EPOCH);
        write!(formatter, "{}", Zoned::new(timestamp, self.zone.rules()))
    }
}

/// How exactly a time was said.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
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
    /// From a moment on, without an end.
    Open,
}

impl From<TextGranularity> for Granularity {
    fn from(granularity: TextGranularity) -> Self {
        match granularity {
            TextGranularity::Second => Self::Second,
            TextGranularity::Minute => Self::Minute,
            TextGranularity::DayPart => Self::DayPart,
            TextGranularity::Day => Self::Day,
            TextGranularity::Weekend => Self::Weekend,
            TextGranularity::MonthPart => Self::MonthPart,
            TextGranularity::Week => Self::Week,
            TextGranularity::Month => Self::Month,
            TextGranularity::Year => Self::Year,
        }
    }
}

/// When something happens or holds.
#[derive(Debug, Clone, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct EventTime {
    /// Its first moment.
    pub start: Moment,
    /// Seconds since 1970 of the first moment after it; none: without an end.
    pub end: Option<i64>,
    /// How exactly it was said.
    pub granularity: Granularity,
}

impl EventTime {
    /// A stretch of civil time in a zone. Civil times that the zone skips are read with the offset before the gap, repeated ones are the first.
    #[must_use]
    pub fn of(interval: &loopwright_text::Interval, zone: &Zone) -> Option<Self> {
        let start = Moment::of_civil(interval.start, zone.clone())?;
        let end = zone.instant(interval.end)?.max(start.seconds + 1);
        Some(Self { start, end: Some(end), granularity: interval.granularity.into() })
    }

    /// Whether the two have a moment in common.
    #[must_use]
    pub fn meets(&self, other: &Self) -> bool {
        let before = |end: Option<i64>, start: i64| end.is_some_and(|end| end <= start);
        !before(self.end, other.start.seconds) && !before(other.end, self.start.seconds)
    }
}

fn cut(text: &str) -> String {
    text.chars().take(ZONE_BYTES_MAX).collect()
}

#[cfg(test)]
mod tests {
    use jiff::civil::date;

    use super::*;

    fn zone(name: &str) -> Zone {
        Zone::new(name).expect("a zone")
    }

    #[test]
    fn a_civil_time_keeps_its_zone() {
        for (name, seconds) in [
            ("Asia/Shanghai", 1_741_093_200),
            ("America/Los_Angeles", 1_741_150_800),
            ("Pacific/Apia", 1_741_075_200),
            ("UTC", 1_741_122_000),
        ] {
            let moment = Moment::of_civil(date(2025, 3, 4).at(21, 0, 0, 0), zone(name)).expect("in range");
            assert_eq!((moment.seconds(), moment.civil()), (seconds, date(2025, 3, 4).at(21, 0, 0, 0)), "{name}");
        }
    }

    #[test]
    fn skipped_and_repeated_times_have_one_reading() {
        let here = zone("America/Los_Angeles");
        // 02:30 does not exist on 9 March 2025; with the offset before, it is 03:30.
        let skipped = Moment::of_civil(date(2025, 3, 9).at(2, 30, 0, 0), here.clone()).expect("in range");
        assert_eq!(skipped.civil(), date(2025, 3, 9).at(3, 30, 0, 0));
        // 01:30 comes twice on 2 November 2025; the first is in daylight time.
        let repeated = Moment::of_civil(date(2025, 11, 2).at(1, 30, 0, 0), here).expect("in range");
        assert_eq!(repeated.to_string(), "2025-11-02T01:30:00-07:00[America/Los_Angeles]");
        // Apia has no 30 December 2011.
        let gone = Moment::of_civil(date(2011, 12, 30).at(12, 0, 0, 0), zone("Pacific/Apia")).expect("in range");
        assert_eq!(gone.civil(), date(2011, 12, 31).at(12, 0, 0, 0));
    }

    #[test]
    fn text_that_is_no_moment_is_refused() {
        let utc = Zone::utc();
        assert_eq!(Moment::parse("2025-03-04T21:00:00+08:00", &utc).map(|moment| moment.seconds()), Ok(1_741_093_200));
        for text in ["", "2025-02-31T00:00:00Z", "yesterday", "2025-03-04T21:00:00", "\0"] {
            assert!(matches!(Moment::parse(text, &utc), Err(MomentError::Text { .. })), "{text}");
        }
        assert!(matches!(
            Moment::parse("2025-03-04T21:00:00+02:00[Asia/Shanghai]", &utc),
            Err(MomentError::Contradicts { .. })
        ));
        assert!(matches!(Moment::parse("2025-03-04T21:00:00+08:00[Mars/Base]", &utc), Err(MomentError::Zone { .. })));
        assert!(Zone::new(&"x".repeat(1_000)).is_err());
        assert!(serde_json::from_str::<Moment>(r#"{"seconds": 9223372036854775807, "zone": "UTC"}"#).is_err());
    }

    #[test]
    fn intervals_meet_or_do_not() {
        let at = |start: i64, end: Option<i64>| EventTime {
            start: Moment::new(start, Zone::utc()).expect("in range"),
            end,
            granularity: Granularity::Second,
        };
        for (left, right, expected) in [
            (at(0, Some(10)), at(10, Some(20)), false),
            (at(0, Some(10)), at(9, Some(20)), true),
            (at(0, None), at(1_000, Some(1_001)), true),
            (at(50, None), at(0, Some(50)), false),
        ] {
            assert_eq!((left.meets(&right), right.meets(&left)), (expected, expected), "{left:?} {right:?}");
        }
    }
}
