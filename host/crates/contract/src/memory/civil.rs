//! A time as the phone's clock shows it.

use std::fmt;

use serde::{Deserialize, Serialize};

/// Why a text is no time of a record.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "`{found}` is not a time of the phone: expected `YYYY-MM-DD` or `YYYY-MM-DDTHH:MM`, perhaps with `:SS`, as its clock shows it, without an offset or a zone"
)]
pub struct CivilError {
    /// What stood there, cut to 40 characters.
    pub found: String,
}

/// A time as the phone's clock shows it, to the second and without a zone: `2026-03-02T09:00:00`. Texts sort as the times do.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct CivilTime(String);

impl CivilTime {
    /// Reads `YYYY-MM-DDTHH:MM:SS`, or `YYYY-MM-DDTHH:MM` for its first second.
    ///
    /// # Errors
    /// [`CivilError`] for anything else, days that no month has included.
    pub fn new(text: impl AsRef<str>) -> Result<Self, CivilError> {
        let text = text.as_ref();
        read(text, false).ok_or_else(|| wrong(text))
    }

    /// The end of what a text says: of the whole day where it names a day only, else as [`CivilTime::new`].
    ///
    /// # Errors
    /// As [`CivilTime::new`].
    pub fn until(text: impl AsRef<str>) -> Result<Self, CivilError> {
        let text = text.as_ref();
        read(text, true).ok_or_else(|| wrong(text))
    }

    /// What a clock shows that writes `2026-03-02T09:00:00+08:00[Asia/Shanghai]`: offset, zone and parts of a second are left out.
    ///
    /// # Errors
    /// [`CivilError`] when the text does not begin with a time.
    pub fn of_clock(text: &str) -> Result<Self, CivilError> {
        Self::new(text.get(..19).unwrap_or(text))
    }

    /// The text.
    #[must_use]
    pub fn as_str(&self) -> &str {
        &self.0
    }
}

fn wrong(text: &str) -> CivilError {
    CivilError { found: text.chars().take(40).collect() }
}

fn read(text: &str, day_is_enough: bool) -> Option<CivilTime> {
    let text = text.trim();
    let (date, time) = match text.split_once('T') {
        Some((date, time)) => (date, time.to_owned()),
        None if day_is_enough => (text, "23:59:59".to_owned()),
        None => return None,
    };
    let [year, month, day] = numbers(date, '-', [4, 2, 2])?;
    let time = if time.len() == 5 { format!("{time}:00") } else { time };
    let [hour, minute, second] = numbers(&time, ':', [2, 2, 2])?;
    let right =
        (1..=12).contains(&month) && (1..=days(year, month)).contains(&day) && hour < 24 && minute < 60 && second < 60;
    right.then(|| CivilTime(format!("{date}T{time}")))
}

/// Three numbers of exactly these many digits.
fn numbers(text: &str, separator: char, digits: [usize; 3]) -> Option<[u32; 3]> {
    let mut parts = text.split(separator);
    let mut found = [0; 3];
    for (place, length) in found.iter_mut().zip(digits) {
        let part = parts.next()?;
        if part.len() != length || !part.bytes().all(|byte| byte.is_ascii_digit()) {
            return None;
        }
        *place = part.parse().ok()?;
    }
    parts.next().is_none().then_some(found)
}

fn days(year: u32, month: u32) -> u32 {
    match month {
        2 if year.is_multiple_of(4) && (!year.is_multiple_of(100) || year.is_multiple_of(400)) => 29,
        2 => 28,
        4 | 6 | 9 | 11 => 30,
        _ => 31,
    }
}

impl fmt::Display for CivilTime {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(&self.0)
    }
}

impl TryFrom<String> for CivilTime {
    type Error = CivilError;

    fn try_from(text: String) -> Result<Self, CivilError> {
        Self::new(text)
    }
}

impl From<CivilTime> for String {
    fn from(time: CivilTime) -> String {
        time.0
    }
}
