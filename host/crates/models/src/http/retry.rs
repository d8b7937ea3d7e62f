//! When to try again, and how long to wait. Chance comes from the request's seed.

use std::time::Duration;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};

/// How often and how patiently a request is repeated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct RetryPolicy {
    /// Tries in all, 1 or more.
    pub attempts_max: u32,
    /// Wait after the first failure; doubled after each.
    pub wait_first: Duration,
    /// The longest wait between two tries, whatever the server asks for.
    pub wait_max: Duration,
}

impl Default for RetryPolicy {
    fn default() -> Self {
        Self { attempts_max: 4, wait_first: Duration::from_millis(500), wait_max: Duration::from_secs(60) }
    }
}

impl RetryPolicy {
    /// The wait before attempt `next` (the second is 1): what the server asked for, else doubling with a jitter of up to one half.
    pub(crate) fn wait(&self, next: u32, seed: u64, asked: Option<Duration>) -> Duration {
        if let Some(asked) = asked {
            return asked.min(self.wait_max);
        }
        let doubled = self
            .wait_first
            .saturating_mul(1_u32.checked_shl(next.saturating_sub(1)).unwrap_or(u32::MAX))
            .min(self.wait_max);
        let mut random = ChaCha8Rng::seed_from_u64(seed ^ (u64::from(next) << 32));
        // Thousandths of the half that varies.
        let part = random.next_u32() % 1001;
        doubled / 2 + doubled.saturating_mul(part) / 2000
    }
}

/// Whether a status is worth another try.
pub(crate) fn is_passing(status: u16) -> bool {
    matches!(status, 408 | 425 | 429 | 500 | 502 | 503 | 504 | 529)
}

/// What `Retry-After` asks for: seconds, or a date, which is measured against the server's own `Date`, so that no clock is needed here.
pub(crate) fn asked_wait(retry_after: Option<&str>, date: Option<&str>) -> Option<Duration> {
    let asked = retry_after?.trim();
    if let Ok(seconds) = asked.parse::<f64>() {
        return Duration::try_from_secs_f64(seconds.max(0.0)).ok();
    }
    let until = httpdate::parse_http_date(asked).ok()?;
    let now = httpdate::parse_http_date(date?.trim()).ok()?;
    Some(until.duration_since(now).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn retry_after_is_read_as_seconds_and_as_a_date() {
        let now = Some("Sun, 06 Nov 1994 08:49:37 GMT");
        for (asked, date, expected) in [
            (Some("7"), None, Some(7.0)),
            (Some(" 0.5 "), None, Some(0.5)),
            (Some("-3"), None, Some(0.0)),
            (Some("Sun, 06 Nov 1994 08:49:57 GMT"), now, Some(20.0)),
            (Some("Sunday, 06-Nov-94 08:50:37 GMT"), now, Some(60.0)),
            (Some("Sun, 06 Nov 1994 08:00:00 GMT"), now, Some(0.0)),
            (Some("Sun, 06 Nov 1994 08:49:57 GMT"), None, None),
            (Some("soon"), now, None),
            (Some("1e400"), None, None),
            (None, now, None),
        ] {
            assert_eq!(asked_wait(asked, date), expected.map(Duration::from_secs_f64), "{asked:?}");
        }
    }

    #[test]
    fn waits_double_within_the_jitter_and_the_bound() {
        let policy =
            RetryPolicy { attempts_max: 9, wait_first: Duration::from_secs(1), wait_max: Duration::from_secs(5) };
        for (next, longest) in [(1, 1), (2, 2), (3, 4), (4, 5), (40, 5)] {
            let waits: Vec<Duration> = (0..50).map(|seed| policy.wait(next, seed, None)).collect();
            let longest = Duration::from_secs(longest);
            assert!(waits.iter().all(|wait| (longest / 2..=longest).contains(wait)), "{waits:?}");
            assert!(waits.iter().any(|wait| *wait != waits[0]), "no jitter");
        }
        assert_eq!(policy.wait(2, 7, None), policy.wait(2, 7, None));
        assert_eq!(policy.wait(1, 7, Some(Duration::from_secs(3))), Duration::from_secs(3));
        assert_eq!(policy.wait(1, 7, Some(Duration::from_secs(900))), Duration::from_secs(5));
    }
}
