//! The episode's clock: it stands still until somebody moves it.

use jiff::{Timestamp, Zoned, tz::TimeZone};
use serde::{Deserialize, Serialize};

/// The last instant that a clock can show, in nanoseconds since 1970-01-01T00:00:00Z: the end of the type, in the year 2554.
pub const INSTANT_NS_MAX: u64 = u64::MAX;
/// Nanoseconds of one second.
const SECOND_NS: u64 = 1_000_000_000;
/// How far a clock moves for each turn unless the episode says otherwise: 30 seconds, in nanoseconds.
pub const TURN_NS_DEFAULT: u64 = 30 * SECOND_NS;

/// Why a clock was not made or not moved.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ClockError {
    /// Time does not run backwards.
    #[error("the clock stands at {now_ns} ns and cannot go back to {at_ns} ns")]
    Backwards {
        /// Where the clock stands, in nanoseconds since 1970-01-01T00:00:00Z.
        now_ns: u64,
        /// Where it was asked to go.
        at_ns: u64,
    },
    /// The instant is later than a clock can show.
    #[error("the clock stands at {now_ns} ns and cannot move {by_ns} ns further")]
    Overflow {
        /// Where the clock stands, in nanoseconds since 1970-01-01T00:00:00Z.
        now_ns: u64,
        /// How far it was asked to move, in nanoseconds.
        by_ns: u64,
    },
    /// The zone is neither an IANA name nor a fixed offset.
    #[error("time zone {zone:?}: expected an IANA name such as `Asia/Shanghai`, or an offset such as `+08:00`")]
    Zone {
        /// What was found.
        zone: String,
    },
}

/// A virtual clock with an explicit zone. It never reads the machine's.
///
/// Within a turn it stands still, and between turns it moves a fixed amount, so that an extra read does not shift the time
/// stamps of a later write.
#[derive(Debug, Clone, PartialEq)]
pub struct Clock {
    now_ns: u64,
    turn_ns: u64,
    zone_name: std::sync::Arc<str>,
    zone: TimeZone,
}

/// A clock as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockState {
    /// Nanoseconds since 1970-01-01T00:00:00Z, as decimal text: JSON numbers do not reach that far.
    pub now_ns: String,
    /// Nanoseconds of one turn, as decimal text.
    pub turn_ns: String,
    /// The zone, as [`Clock::new`] takes it.
    pub zone: String,
}

impl Clock {
    /// A clock that stands at `now_ns` nanoseconds since 1970-01-01T00:00:00Z and moves [`TURN_NS_DEFAULT`] for each turn.
    ///
    /// # Errors
    /// `Zone` unless `zone` is an IANA name or an offset `+hh:mm` or `-hh:mm`.
    pub fn new(now_ns: u64, zone: &str) -> Result<Self, ClockError> {
        Ok(Self { now_ns, turn_ns: TURN_NS_DEFAULT, zone: parse_zone(zone)?, zone_name: zone.into() })
    }

    /// The same clock, moving `turn_ns` nanoseconds for each turn.
    #[must_use]
    pub fn with_turn_ns(self, turn_ns: u64) -> Self {
        Self { turn_ns, ..self }
    }

    /// Nanoseconds since 1970-01-01T00:00:00Z.
    #[must_use]
    pub fn now_ns(&self) -> u64 {
        self.now_ns
    }

    /// How far one turn moves the clock, in nanoseconds.
    #[must_use]
    pub fn turn_ns(&self) -> u64 {
        self.turn_ns
    }

    /// The zone, as it was given.
    #[must_use]
    pub fn zone(&self) -> &str {
        &self.zone_name
    }

    /// The present instant as people in the zone write it.
    #[must_use]
    pub fn zoned(&self) -> Zoned {
        // A `u64` of nanoseconds ends in the year 2554, well within a timestamp's range.
        let timestamp = Timestamp::from_nanosecond(i128::from(self.now_ns)).unwrap_or(Timestamp::UNIX_EPOCH);
        timestamp.to_zoned(self.zone.clone())
    }

    /// The present instant with the zone's offset, as RFC 3339 writes it, such as `2026-03-02T09:00:00+08:00`.
    #[must_use]
    pub fn rfc3339(&self) -> String {
        let zoned = self.zoned();
        zoned.timestamp().display_with_offset(zoned.offset()).to_string()
    }

    /// Moves the clock forward to an instant; to where it stands already is fine.
    ///
    /// # Errors
    /// `Backwards` for an earlier instant.
    pub fn advance_to(&mut self, at_ns: u64) -> Result<(), ClockError> {
        if at_ns < self.now_ns {
            return Err(ClockError::Backwards { now_ns: self.now_ns, at_ns });
        }
        self.now_ns = at_ns;
        Ok(())
    }

    /// Moves the clock forward by a number of nanoseconds.
    ///
    /// # Errors
    /// `Overflow` past [`INSTANT_NS_MAX`].
    pub fn advance_by(&mut self, by_ns: u64) -> Result<(), ClockError> {
        let Some(now_ns) = self.now_ns.checked_add(by_ns) else {
            return Err(ClockError::Overflow { now_ns: self.now_ns, by_ns });
        };
        self.now_ns = now_ns;
        Ok(())
    }

    /// Moves the clock by one turn.
    ///
    /// # Errors
    /// `Overflow` past [`INSTANT_NS_MAX`].
    pub fn advance_turn(&mut self) -> Result<(), ClockError> {
        self.advance_by(self.turn_ns)
    }

    /// The clock as it is stored.
    #[must_use]
    pub fn state(&self) -> ClockState {
        ClockState {
            now_ns: self.now_ns.to_string(),
            turn_ns: self.turn_ns.to_string(),
            zone: self.zone_name.to_string(),
        }
    }

    /// The clock that was stored; `None` for a malformed instant or zone.
    #[must_use]
    pub fn restore(state: &ClockState) -> Option<Self> {
        let clock = Self::new(state.now_ns.parse().ok()?, &state.zone).ok()?;
        Some(clock.with_turn_ns(state.turn_ns.parse().ok()?))
    }
}

fn parse_zone(zone: &str) -> Result<TimeZone, ClockError> {
    let unknown = || ClockError::Zone { zone: zone.chars().take(80).collect() };
    if zone.starts_with(['+', '-']) {
        return parse_offset(zone).ok_or_else(unknown);
    }
    TimeZone::get(zone).map_err(|_| unknown())
}

fn parse_offset(zone: &str) -> Option<TimeZone> {
    let (hours, minutes) = zone.get(1..)?.split_once(':')?;
    let two_digits = |text: &str| {
        if text.len() == 2 && text.bytes().all(|byte| byte.is_ascii_digit()) { text.parse::<i32>().ok() } else { None }
    };
    let (hours, minutes) = (two_digits(hours)?, two_digits(minutes)?);
    if hours > 23 || minutes > 59 {
        return None;
    }
    let seconds = (hours * 60 + minutes) * 60;
    let seconds = if zone.starts_with('-') { -seconds } else { seconds };
    Some(TimeZone::fixed(jiff::tz::Offset::from_seconds(seconds).ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// 2026-03-02T01:00:00Z.
    const MONDAY_NS: u64 = 1_772_413_200 * SECOND_NS;

    #[test]
    fn a_zone_is_a_name_or_an_offset() {
        let rows = [
            ("UTC", "2026-03-02T01:00:00+00:00"),
            ("Asia/Shanghai", "2026-03-02T09:00:00+08:00"),
            ("America/New_York", "2026-03-01T20:00:00-05:00"),
            ("+05:30", "2026-03-02T06:30:00+05:30"),
            ("-03:30", "2026-03-01T21:30:00-03:30"),
        ];
        for (zone, expected) in rows {
            let clock = Clock::new(MONDAY_NS, zone).unwrap();
            assert_eq!(clock.rfc3339(), expected, "{zone}");
            assert_eq!(Clock::restore(&clock.state()), Some(clock));
        }
        for zone in ["", "Mars/Olympus", "+8", "+24:00", "+08:60", "+0800", "+-1:00", "+08:0x"] {
            assert!(matches!(Clock::new(0, zone), Err(ClockError::Zone { .. })), "{zone:?}");
        }
    }

    #[test]
    fn daylight_saving_is_the_zones_business() {
        // Clocks in New York went from 02:00 to 03:00 on 2026-03-08, at 07:00 UTC.
        let mut clock = Clock::new(1_772_953_199 * SECOND_NS, "America/New_York").unwrap();
        assert_eq!(clock.rfc3339(), "2026-03-08T01:59:59-05:00");
        clock.advance_by(SECOND_NS).unwrap();
        assert_eq!(clock.rfc3339(), "2026-03-08T03:00:00-04:00");
    }

    #[test]
    fn time_moves_forward_only() {
        let mut clock = Clock::new(10, "UTC").unwrap().with_turn_ns(5);
        assert_eq!(clock.advance_to(9), Err(ClockError::Backwards { now_ns: 10, at_ns: 9 }));
        clock.advance_to(10).unwrap();
        clock.advance_turn().unwrap();
        clock.advance_turn().unwrap();
        assert_eq!(clock.now_ns(), 20);
        assert_eq!(clock.advance_by(u64::MAX), Err(ClockError::Overflow { now_ns: 20, by_ns: u64::MAX }));
        assert_eq!(clock.now_ns(), 20);
        clock.advance_to(INSTANT_NS_MAX).unwrap();
        assert!(clock.rfc3339().starts_with("2554-07-21T23:34:33"), "{}", clock.rfc3339());
    }
}
