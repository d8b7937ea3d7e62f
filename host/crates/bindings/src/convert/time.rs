//! Moments and random bits, as two numbers that every guest language holds exactly.

use crate::{Violation, afv::types::Instant};

const NS_PER_S: u64 = 1_000_000_000;

/// A moment as a guest gets it.
#[must_use]
pub fn instant_out(at_ns: u64) -> Instant {
    let nanoseconds = u32::try_from(at_ns % NS_PER_S).unwrap_or_default();
    Instant { seconds: at_ns / NS_PER_S, nanoseconds }
}

/// A moment from a guest, in nanoseconds since 1970.
///
/// # Errors
/// [`Violation`] for a moment that the clock cannot show.
pub fn instant_in(at: &str, instant: Instant) -> Result<u64, Violation> {
    let Instant { seconds, nanoseconds } = instant;
    if u64::from(nanoseconds) >= NS_PER_S {
        let what = format_args!("expected nanoseconds below {NS_PER_S}, found {nanoseconds}");
        return Err(Violation::new(at, what));
    }
    let ns = seconds.checked_mul(NS_PER_S).and_then(|whole| whole.checked_add(u64::from(nanoseconds)));
    ns.ok_or_else(|| Violation::new(at, format_args!("expected a moment before 2555, found {seconds} s after 1970")))
}

/// 64 bits as a guest gets them: the high half, then the low one.
#[must_use]
pub fn halves_out(bits: u64) -> (u32, u32) {
    let low = u32::try_from(bits & u64::from(u32::MAX)).unwrap_or_default();
    (u32::try_from(bits >> 32).unwrap_or_default(), low)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_come_back_as_they_went() {
        for ns in [0, 1, NS_PER_S - 1, NS_PER_S, 1_772_413_200_000_000_001, u64::MAX] {
            let instant = instant_out(ns);
            // A double holds either field exactly.
            assert!(instant.seconds < 1 << 53 && u64::from(instant.nanoseconds) < NS_PER_S);
            assert_eq!(instant_in("at", instant), Ok(ns));
        }
    }

    #[test]
    fn what_is_no_moment_is_refused() {
        for (seconds, nanoseconds) in [(0, 1_000_000_000), (18_446_744_073, 999_999_999), (u64::MAX, 0)] {
            assert!(instant_in("at", Instant { seconds, nanoseconds }).is_err(), "{seconds} {nanoseconds}");
        }
    }

    #[test]
    fn bits_are_split_in_the_middle() {
        assert_eq!(halves_out(0x0123_4567_89ab_cdef), (0x0123_4567, 0x89ab_cdef));
    }
}
