//! Draws of parameters: a stream of SHA-256 blocks, so that an instance depends on the seed, its family and its number and on nothing else.

use sha2::{Digest as _, Sha256};

/// A text in both languages: English, Chinese.
pub(super) type Two = (&'static str, &'static str);

/// The language of an instance. Twins draw the same values and differ in words only.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tongue {
    English,
    Chinese,
}

impl Tongue {
    pub(super) fn of(self, two: Two) -> &'static str {
        match self {
            Self::English => two.0,
            Self::Chinese => two.1,
        }
    }

    pub(super) fn tag(self) -> &'static str {
        self.of(("en", "zh"))
    }
}

/// The stream of draws of one instance.
pub(super) struct Draw {
    key: [u8; 32],
    count: u64,
    instance: u32,
    tongue: Tongue,
}

impl Draw {
    /// `label` names what is drawn; equal labels give equal streams.
    pub(super) fn new(label: &str, instance: u32, tongue: Tongue) -> Self {
        Self { key: Sha256::digest(label.as_bytes()).into(), count: 0, instance, tongue }
    }

    fn next(&mut self) -> u64 {
        let mut hasher = Sha256::new();
        hasher.update(self.key);
        hasher.update(self.count.to_le_bytes());
        self.count = self.count.wrapping_add(1);
        let block: [u8; 32] = hasher.finalize().into();
        block.iter().take(8).fold(0, |word, byte| (word << 8) | u64::from(*byte))
    }

    /// An index below `length`; 0 for an empty range. The bias of the remainder is below 2^-50 for pools of words.
    pub(super) fn index(&mut self, length: usize) -> usize {
        let length = u64::try_from(length).unwrap_or(u64::MAX).max(1);
        usize::try_from(self.next() % length).unwrap_or(0)
    }

    pub(super) fn pick<T: Copy + Default>(&mut self, pool: &[T]) -> T {
        let index = self.index(pool.len());
        pool.get(index).copied().unwrap_or_default()
    }

    /// Two different ones of a pool.
    pub(super) fn pair<T: Copy + Default>(&mut self, pool: &[T]) -> (T, T) {
        let first = self.index(pool.len());
        let step = self.index(pool.len().saturating_sub(1)).saturating_add(1);
        let second = first.saturating_add(step) % pool.len().max(1);
        (pool.get(first).copied().unwrap_or_default(), pool.get(second).copied().unwrap_or_default())
    }

    /// A text of a pool in the instance's language.
    pub(super) fn word(&mut self, pool: &[Two]) -> &'static str {
        let two = self.pick(pool);
        self.tongue.of(two)
    }

    /// A multiple of `step` from `low` to `high`.
    pub(super) fn number(&mut self, low: i64, high: i64, step: i64) -> i64 {
        let steps = usize::try_from((high.saturating_sub(low)) / step.max(1)).unwrap_or(0);
        let index = i64::try_from(self.index(steps.saturating_add(1))).unwrap_or(0);
        low.saturating_add(index.saturating_mul(step))
    }

    /// A time of day with hours from `low` to `high` and minutes in steps of five.
    pub(super) fn time(&mut self, low: i64, high: i64) -> Time {
        Time { hour: self.number(low, high, 1), minute: self.number(0, 55, 5) }
    }

    /// A day of March 2026, after the Monday, the 2nd, on which episodes begin.
    pub(super) fn day(&mut self) -> Day {
        Day(self.number(4, 28, 1))
    }

    /// A telephone number that no default contact has.
    pub(super) fn phone(&mut self) -> String {
        format!("13{}{:04}{:04}", self.pick(&["5", "6", "7"]), self.number(0, 9999, 1), self.number(0, 9999, 1))
    }

    /// Alternates between the instances of a family, so that both branches of a condition occur.
    pub(super) fn branch(&self) -> bool {
        self.instance.is_multiple_of(2)
    }

    pub(super) fn tongue(&self) -> Tongue {
        self.tongue
    }

    /// The text in the instance's language.
    pub(super) fn say(&self, english: &'static str, chinese: &'static str) -> &'static str {
        self.tongue.of((english, chinese))
    }
}

/// A time of day.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Time {
    pub(super) hour: i64,
    pub(super) minute: i64,
}

impl Time {
    /// `HH:MM`.
    pub(super) fn text(self) -> String {
        format!("{:02}:{:02}", self.hour, self.minute)
    }

    /// Earlier by some minutes, within the day.
    pub(super) fn earlier(self, minutes: i64) -> Self {
        let total = (self.hour * 60 + self.minute - minutes).rem_euclid(24 * 60);
        Self { hour: total / 60, minute: total % 60 }
    }

    /// As people say it.
    pub(super) fn spoken(self, tongue: Tongue) -> String {
        let hour = match self.hour % 12 {
            0 => 12,
            hour => hour,
        };
        match tongue {
            Tongue::English => {
                let half = if self.hour < 12 { "am" } else { "pm" };
                if self.minute == 0 { format!("{hour} {half}") } else { format!("{hour}:{:02} {half}", self.minute) }
            }
            Tongue::Chinese => {
                let part = match self.hour {
                    0..=5 => "凌晨",
                    6..=11 => "上午",
                    12 => "中午",
                    13..=17 => "下午",
                    _ => "晚上",
                };
                match self.minute {
                    0 => format!("{part}{hour}点"),
                    30 => format!("{part}{hour}点半"),
                    minute => format!("{part}{hour}点{minute:02}分"),
                }
            }
        }
    }
}

/// A day of March 2026.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Day(pub(super) i64);

impl Day {
    /// `YYYY-MM-DD`.
    pub(super) fn text(self) -> String {
        format!("2026-03-{:02}", self.0)
    }

    /// A civil date-time.
    pub(super) fn at(self, time: Time) -> String {
        format!("{}T{}", self.text(), time.text())
    }

    /// As people say it.
    pub(super) fn spoken(self, tongue: Tongue) -> String {
        match tongue {
            Tongue::English => format!("March {}", self.0),
            Tongue::Chinese => format!("3月{}号", self.0),
        }
    }
}
