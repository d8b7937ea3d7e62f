//! Moments, dates and times of day in the proleptic Gregorian calendar, without a clock of its own and without a zone table.

use core::fmt;

const NS_PER_S: u64 = 1_000_000_000;
const S_PER_DAY: i64 = 86_400;

/// A moment: nanoseconds since 1970-01-01T00:00:00Z on the episode's virtual clock. The last is in the year 2554.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Instant(u64);

impl Instant {
    /// From nanoseconds since 1970.
    pub const fn from_unix_ns(ns: u64) -> Self {
        Self(ns)
    }

    /// From seconds since 1970; none before 1970 or after the last moment.
    pub fn from_unix_s(seconds: i64) -> Option<Self> {
        u64::try_from(seconds).ok()?.checked_mul(NS_PER_S).map(Self)
    }

    /// From the two numbers that cross the contract. The host gives no moment that the clock cannot show, so that none is cut here.
    #[cfg_attr(not(any(test, target_family = "wasm")), expect(dead_code, reason = "the contract is on Wasm alone"))]
    pub(crate) const fn from_parts(seconds: u64, nanoseconds: u32) -> Self {
        Self(seconds.saturating_mul(NS_PER_S).saturating_add(nanoseconds as u64))
    }

    /// The two numbers that cross the contract: whole seconds, and nanoseconds within the second.
    #[cfg_attr(not(any(test, target_family = "wasm")), expect(dead_code, reason = "the contract is on Wasm alone"))]
    pub(crate) const fn to_parts(self) -> (u64, u32) {
        // Less than 10^9, which fits.
        (self.0 / NS_PER_S, (self.0 % NS_PER_S) as u32)
    }

    /// Nanoseconds since 1970.
    pub const fn unix_ns(self) -> u64 {
        self.0
    }

    /// Whole seconds since 1970.
    pub const fn unix_s(self) -> i64 {
        // A u64 of nanoseconds holds fewer than 2^35 seconds.
        (self.0 / NS_PER_S) as i64
    }

    /// This moment moved by whole seconds; none where it would leave the clock's range.
    pub fn plus_s(self, seconds: i64) -> Option<Self> {
        let moved = i128::from(self.0) + i128::from(seconds) * i128::from(NS_PER_S);
        u64::try_from(moved).ok().map(Self)
    }

    /// What a clock shows that is `offset_s` seconds east of UTC. Fractions of a second are dropped.
    pub fn civil(self, offset_s: i32) -> DateTime {
        DateTime::from_seconds_as_utc(self.unix_s() + i64::from(offset_s))
    }

    /// RFC 3339 with this offset, such as `2026-03-02T09:00:00+08:00`; `Z` for 0. Fractions of a second are dropped.
    ///
    /// ```
    /// use loopwright_sdk::Instant;
    ///
    /// let moment = Instant::from_unix_ns(1_772_413_200_000_000_000);
    /// assert_eq!(moment.to_rfc3339(8 * 3600), "2026-03-02T09:00:00+08:00");
    /// ```
    pub fn to_rfc3339(self, offset_s: i32) -> String {
        let civil = self.civil(offset_s);
        if offset_s == 0 {
            return format!("{civil}Z");
        }
        let sign = if offset_s < 0 { '-' } else { '+' };
        let minutes = offset_s.unsigned_abs() / 60;
        format!("{civil}{sign}{:02}:{:02}", minutes / 60, minutes % 60)
    }

    /// Reads RFC 3339 with an offset or `Z`. Fractions of a second are dropped; none when it is not one, or out of range.
    ///
    /// ```
    /// use loopwright_sdk::Instant;
    ///
    /// let moment = Instant::parse_rfc3339("2026-03-02T09:00:00+08:00");
    /// assert_eq!(moment.map(|moment| moment.to_rfc3339(0)).as_deref(), Some("2026-03-02T01:00:00Z"));
    /// ```
    pub fn parse_rfc3339(text: &str) -> Option<Self> {
        let (civil, rest) = text.split_at_checked(19)?;
        let local = DateTime::parse(civil)?;
        let rest = rest
            .strip_prefix('.')
            .map_or(rest, |fraction| fraction.trim_start_matches(|digit: char| digit.is_ascii_digit()));
        let offset_s = match rest {
            "Z" | "z" => 0,
            _ => {
                let sign = match rest.get(..1)? {
                    "+" => 1,
                    "-" => -1,
                    _ => return None,
                };
                let (hours, minutes) = rest.get(1..)?.split_once(':')?;
                let (hours, minutes) = (number(hours, 2)?, number(minutes, 2)?);
                if hours > 23 || minutes > 59 {
                    return None;
                }
                sign * i64::from(hours * 3600 + minutes * 60)
            }
        };
        Self::from_unix_s(local.seconds_as_utc() - offset_s)
    }
}

/// A day of the week.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Weekday {
    /// Monday.
    Monday,
    /// Tuesday.
    Tuesday,
    /// Wednesday.
    Wednesday,
    /// Thursday.
    Thursday,
    /// Friday.
    Friday,
    /// Saturday.
    Saturday,
    /// Sunday.
    Sunday,
}

impl Weekday {
    /// All of them, Monday first.
    pub const ALL: [Self; 7] =
        [Self::Monday, Self::Tuesday, Self::Wednesday, Self::Thursday, Self::Friday, Self::Saturday, Self::Sunday];

    /// 1 for Monday to 7 for Sunday.
    pub const fn number(self) -> u8 {
        self as u8 + 1
    }
}

/// A date from 0000-01-01 to 9999-12-31. `Display` and [`parse`](Self::parse) use `2026-03-02`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Date {
    year: u16,
    month: u8,
    day: u8,
}

impl Date {
    /// A date; none when the calendar has no such day.
    pub fn new(year: u16, month: u8, day: u8) -> Option<Self> {
        let fits = year <= 9999 && (1..=12).contains(&month) && day >= 1 && day <= days_in_month(year, month);
        fits.then_some(Self { year, month, day })
    }

    /// Reads `2026-03-02`; none when it is not a date.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split('-');
        let (year, month, day) = (parts.next()?, parts.next()?, parts.next()?);
        if parts.next().is_some() {
            return None;
        }
        let year = u16::try_from(number(year, 4)?).ok()?;
        let month = u8::try_from(number(month, 2)?).ok()?;
        Self::new(year, month, u8::try_from(number(day, 2)?).ok()?)
    }

    /// The year.
    pub const fn year(self) -> u16 {
        self.year
    }

    /// The month, 1 to 12.
    pub const fn month(self) -> u8 {
        self.month
    }

    /// The day of the month, 1 to 31.
    pub const fn day(self) -> u8 {
        self.day
    }

    /// The day of the week.
    pub fn weekday(self) -> Weekday {
        // 1970-01-01 was a Thursday, the fourth day.
        let index = (self.days() + 3).rem_euclid(7);
        usize::try_from(index).ok().and_then(|index| Weekday::ALL.get(index).copied()).unwrap_or(Weekday::Monday)
    }

    /// The date so many days later, or earlier for a negative number; none outside the calendar's range.
    ///
    /// ```
    /// use loopwright_sdk::Date;
    ///
    /// let leap = Date::new(2028, 2, 28).and_then(|date| date.plus_days(1));
    /// assert_eq!(leap.map(|date| date.to_string()).as_deref(), Some("2028-02-29"));
    /// ```
    pub fn plus_days(self, days: i64) -> Option<Self> {
        Self::from_days(self.days().checked_add(days)?)
    }

    /// The days from `earlier` to this date.
    pub fn days_since(self, earlier: Self) -> i64 {
        self.days() - earlier.days()
    }

    /// This date at a time of day.
    pub const fn at(self, time: TimeOfDay) -> DateTime {
        DateTime { date: self, time }
    }

    /// Days since 1970-01-01. The year is counted from March, so that the leap day comes last (Hinnant's `days_from_civil`).
    fn days(self) -> i64 {
        let (month, day) = (i64::from(self.month), i64::from(self.day));
        let year = i64::from(self.year) - i64::from(month <= 2);
        let era = year.div_euclid(400);
        let year_of_era = year.rem_euclid(400);
        let day_of_year = (153 * ((month + 9) % 12) + 2) / 5 + day - 1;
        let day_of_era = year_of_era * 365 + year_of_era / 4 - year_of_era / 100 + day_of_year;
        era * 146_097 + day_of_era - 719_468
    }

    /// The inverse of [`days`](Self::days).
    fn from_days(days: i64) -> Option<Self> {
        let days = days.checked_add(719_468)?;
        let era = days.div_euclid(146_097);
        let day_of_era = days.rem_euclid(146_097);
        let year_of_era = (day_of_era - day_of_era / 1460 + day_of_era / 36_524 - day_of_era / 146_096) / 365;
        let day_of_year = day_of_era - (365 * year_of_era + year_of_era / 4 - year_of_era / 100);
        let shifted_month = (5 * day_of_year + 2) / 153;
        let day = day_of_year - (153 * shifted_month + 2) / 5 + 1;
        let month = if shifted_month < 10 { shifted_month + 3 } else { shifted_month - 9 };
        let year = year_of_era + era * 400 + i64::from(month <= 2);
        Self::new(u16::try_from(year).ok()?, u8::try_from(month).ok()?, u8::try_from(day).ok()?)
    }
}

impl fmt::Display for Date {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:04}-{:02}-{:02}", self.year, self.month, self.day)
    }
}

/// A time of day to the second. `Display` uses `09:30:00`; [`parse`](Self::parse) also reads `09:30`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct TimeOfDay {
    hour: u8,
    minute: u8,
    second: u8,
}

impl TimeOfDay {
    /// A time of day; none when a part is out of range.
    pub fn new(hour: u8, minute: u8, second: u8) -> Option<Self> {
        (hour <= 23 && minute <= 59 && second <= 59).then_some(Self { hour, minute, second })
    }

    /// Reads `09:30` or `09:30:00`; none when it is neither.
    pub fn parse(text: &str) -> Option<Self> {
        let mut parts = text.split(':');
        let (hour, minute, second) = (parts.next()?, parts.next()?, parts.next());
        if parts.next().is_some() {
            return None;
        }
        let part = |text: &str| u8::try_from(number(text, 2)?).ok();
        let second = match second {
            Some(second) => part(second)?,
            None => 0,
        };
        Self::new(part(hour)?, part(minute)?, second)
    }

    /// The hour, 0 to 23.
    pub const fn hour(self) -> u8 {
        self.hour
    }

    /// The minute, 0 to 59.
    pub const fn minute(self) -> u8 {
        self.minute
    }

    /// The second, 0 to 59.
    pub const fn second(self) -> u8 {
        self.second
    }

    /// `09:30`, without the second.
    pub fn to_minutes(self) -> String {
        format!("{:02}:{:02}", self.hour, self.minute)
    }

    /// Seconds since midnight.
    pub fn seconds(self) -> u32 {
        u32::from(self.hour) * 3600 + u32::from(self.minute) * 60 + u32::from(self.second)
    }
}

impl fmt::Display for TimeOfDay {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{:02}:{:02}:{:02}", self.hour, self.minute, self.second)
    }
}

/// What a clock and a calendar show together, in no particular zone: `2026-03-02T09:30:00`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct DateTime {
    /// The date.
    pub date: Date,
    /// The time of day.
    pub time: TimeOfDay,
}

impl DateTime {
    /// Reads `2026-03-02T09:30` or `2026-03-02T09:30:00`, with a space for the `T` too; none when it is neither.
    pub fn parse(text: &str) -> Option<Self> {
        let (date, time) = text.split_once(['T', ' '])?;
        Some(Self { date: Date::parse(date)?, time: TimeOfDay::parse(time)? })
    }

    /// The reading so many seconds later, or earlier for a negative number, on a clock that never changes; none outside the calendar.
    pub fn plus_s(self, seconds: i64) -> Option<Self> {
        let moved = self.seconds_as_utc().checked_add(seconds)?;
        let date = Date::from_days(moved.div_euclid(S_PER_DAY))?;
        Some(date.at(time_at(moved.rem_euclid(S_PER_DAY))))
    }

    /// Seconds since 1970 if this were UTC.
    pub(crate) fn seconds_as_utc(self) -> i64 {
        self.date.days() * S_PER_DAY + i64::from(self.time.seconds())
    }

    /// The inverse, held to the calendar's range.
    fn from_seconds_as_utc(seconds: i64) -> Self {
        const LAST: Date = Date { year: 9999, month: 12, day: 31 };
        let date = Date::from_days(seconds.div_euclid(S_PER_DAY)).unwrap_or(LAST);
        date.at(time_at(seconds.rem_euclid(S_PER_DAY)))
    }
}

impl fmt::Display for DateTime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "{}T{}", self.date, self.time)
    }
}

/// The time of day at a second of the day, 0 to 86,399.
fn time_at(second_of_day: i64) -> TimeOfDay {
    // Each part is below 60, so no cast loses anything.
    TimeOfDay {
        hour: (second_of_day / 3600) as u8,
        minute: (second_of_day / 60 % 60) as u8,
        second: (second_of_day % 60) as u8,
    }
}

/// A number of exactly so many ASCII digits.
fn number(text: &str, digits: usize) -> Option<u32> {
    (text.len() == digits && text.bytes().all(|byte| byte.is_ascii_digit())).then(|| text.parse().ok())?
}

fn days_in_month(year: u16, month: u8) -> u8 {
    let leap = year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400));
    match month {
        2 => 28 + u8::from(leap),
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_cross_as_two_numbers() {
        for ns in [0, 999_999_999, 1_772_413_200_000_000_001, u64::MAX] {
            let (seconds, nanoseconds) = Instant::from_unix_ns(ns).to_parts();
            assert_eq!(Instant::from_parts(seconds, nanoseconds), Instant::from_unix_ns(ns));
        }
    }

    #[test]
    fn every_day_of_four_centuries_follows_the_one_before() {
        let mut date = Date::new(1899, 12, 31).unwrap();
        let mut weekday = 0; // 1900-01-01 was a Monday.
        for _ in 0..146_097 {
            let next = date.plus_days(1).unwrap();
            let expected = Date::new(date.year, date.month, date.day + 1)
                .or_else(|| Date::new(date.year, date.month + 1, 1))
                .or_else(|| Date::new(date.year + 1, 1, 1))
                .unwrap();
            assert_eq!(next, expected);
            assert_eq!(next.weekday(), Weekday::ALL[weekday]);
            assert_eq!(next.days_since(date), 1);
            weekday = (weekday + 1) % 7;
            date = next;
        }
    }

    #[test]
    fn known_moments_print_and_parse() {
        // From the examples of RFC 3339, section 5.8, and the Unix second 2,000,000,000.
        let cases = [
            ("1985-04-12T23:20:50Z", 482_196_050),
            ("1996-12-19T16:39:57-08:00", 851_042_397),
            ("2033-05-18T03:33:20Z", 2_000_000_000),
        ];
        for (text, seconds) in cases {
            let moment = Instant::parse_rfc3339(text).unwrap();
            assert_eq!(moment.unix_s(), seconds, "{text}");
        }
        let fraction = Instant::parse_rfc3339("1985-04-12T23:20:50.52Z").unwrap();
        assert_eq!(fraction.unix_s(), 482_196_050);
        let pacific = Instant::from_unix_s(851_042_397).unwrap();
        assert_eq!(pacific.to_rfc3339(-8 * 3600), "1996-12-19T16:39:57-08:00");
        assert_eq!(pacific.to_rfc3339(0), "1996-12-20T00:39:57Z");
    }

    #[test]
    fn what_is_no_date_is_refused() {
        for text in
            ["2026-02-29", "2026-13-01", "2026-00-01", "2026-1-01", "26-01-01", "2026-01-01-01", "", "2026-01-0x"]
        {
            assert_eq!(Date::parse(text), None, "{text}");
        }
        for text in ["24:00", "9:30", "09:60", "09:30:60", "09", "09:30:00:00", "+9:30"] {
            assert_eq!(TimeOfDay::parse(text), None, "{text}");
        }
        for text in
            ["2026-03-02T09:00:00", "2026-03-02T09:00:00+8", "2026-03-02T09:00:00+25:00", "1969-12-31T23:59:59Z", "x"]
        {
            assert_eq!(Instant::parse_rfc3339(text), None, "{text}");
        }
    }

    #[test]
    fn moving_past_midnight_changes_the_date() {
        let late = DateTime::parse("2026-12-31T23:59:30").unwrap();
        assert_eq!(late.plus_s(45).unwrap().to_string(), "2027-01-01T00:00:15");
        assert_eq!(late.plus_s(-86_400).unwrap().to_string(), "2026-12-30T23:59:30");
        assert_eq!(DateTime::parse("2026-12-31 23:59").unwrap().time.to_minutes(), "23:59");
    }

    #[test]
    fn the_range_of_the_clock_is_kept() {
        assert_eq!(Instant::from_unix_s(-1), None);
        assert_eq!(Instant::from_unix_ns(5).plus_s(-1), None);
        assert_eq!(Instant::from_unix_ns(u64::MAX).plus_s(1), None);
        assert_eq!(Instant::from_unix_ns(u64::MAX).civil(0).date.year(), 2554);
        assert_eq!(Date::new(9999, 12, 31).unwrap().plus_days(1), None);
    }
}
