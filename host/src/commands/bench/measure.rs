//! Sampling.

use std::hint::black_box;
use std::time::Instant;

use super::costs::Row;

/// Times `act` once for each sample, after a tenth as many rounds to warm up; `prepare` runs before each and is not timed.
pub(super) fn sample<S>(
    samples: usize,
    mut prepare: impl FnMut() -> anyhow::Result<S>,
    mut act: impl FnMut(S) -> anyhow::Result<()>,
) -> anyhow::Result<Vec<u64>> {
    let mut times = Vec::with_capacity(samples);
    for round in 0..samples + samples / 10 + 1 {
        let input = prepare()?;
        let started = Instant::now();
        act(black_box(input))?;
        let nanos = u64::try_from(started.elapsed().as_nanos()).unwrap_or(u64::MAX);
        if round > samples / 10 {
            times.push(nanos);
        }
    }
    times.sort_unstable();
    Ok(times)
}

/// The value below which `percent` of the sorted samples lie.
pub(super) fn percentile(sorted: &[u64], percent: usize) -> Option<u64> {
    sorted.get((sorted.len().saturating_sub(1)) * percent / 100).copied()
}

/// A row of two samplings.
#[expect(clippy::cast_precision_loss, reason = "nanoseconds of a sample are far below 2^53")]
pub(super) fn row(name: &str, aim: &'static str, times: &[u64], floor: Option<&[u64]>) -> Row {
    let p50 = percentile(times, 50);
    let floor = floor.and_then(|floor| percentile(floor, 50));
    let ratio = match (p50, floor) {
        (Some(p50), Some(floor)) if floor > 0 => Some(p50 as f64 / floor as f64),
        _ => None,
    };
    Row { name: name.to_owned(), p50_ns: p50, p99_ns: percentile(times, 99), floor_ns: floor, ratio, bytes: None, aim }
}

/// Bytes of memory that this process holds, by the kernel's count.
pub(super) fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn percentiles_are_of_the_sorted_samples() {
        let sorted: Vec<u64> = (0..=100).collect();
        assert_eq!((percentile(&sorted, 50), percentile(&sorted, 99), percentile(&[], 50)), (Some(50), Some(99), None));
        let row = row("x", "", &sorted, Some(&[25, 25, 25]));
        assert_eq!((row.p50_ns, row.floor_ns, row.ratio), (Some(50), Some(25), Some(2.0)));
    }
}
