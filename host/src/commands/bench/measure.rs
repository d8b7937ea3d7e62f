//! Sampling.

use std::hint::black_box;
use std::time::{Duration, Instant};

use super::costs::Row;

/// In how many alternating blocks the host and its floor are sampled, so that a neighbour's load falls on both.
const BLOCKS: usize = 10;

/// Times of one thing, and the page faults of its process.
#[derive(Debug, Default)]
pub(super) struct Sampled {
    /// Nanoseconds, sorted.
    pub(super) times: Vec<u64>,
    /// Minor page faults of the process while it was sampled, by sample. Of what `sample` prepares too.
    pub(super) faults: Option<f64>,
}

/// Nanoseconds of a time.
pub(super) fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

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
        let time = nanos(started.elapsed());
        if round > samples / 10 {
            times.push(time);
        }
    }
    times.sort_unstable();
    Ok(times)
}

/// How long something took.
pub(super) fn timed(act: impl FnOnce() -> anyhow::Result<()>) -> anyhow::Result<Duration> {
    let started = Instant::now();
    act()?;
    Ok(started.elapsed())
}

/// Samples the host and its floor in alternating blocks of one run; each says how long its own sample took.
pub(super) fn beside(
    samples: usize,
    mut host: impl FnMut() -> anyhow::Result<Duration>,
    mut floor: impl FnMut() -> anyhow::Result<Duration>,
) -> anyhow::Result<[Sampled; 2]> {
    let block = samples.div_ceil(BLOCKS);
    let [mut ours, mut bare] = [Block::default(), Block::default()];
    for _ in 0..BLOCKS {
        ours.run(block, &mut host)?;
        bare.run(block, &mut floor)?;
    }
    Ok([ours.done(), bare.done()])
}

#[derive(Default)]
struct Block {
    times: Vec<u64>,
    faults: Option<u64>,
}

impl Block {
    fn run(&mut self, samples: usize, act: &mut impl FnMut() -> anyhow::Result<Duration>) -> anyhow::Result<()> {
        for _ in 0..samples / 10 + 1 {
            act()?;
        }
        self.times.reserve(samples);
        let before = page_faults();
        for _ in 0..samples {
            self.times.push(nanos(act()?));
        }
        let since = before.zip(page_faults()).map(|(before, after)| after.saturating_sub(before));
        self.faults = since.map(|since| self.faults.unwrap_or(0) + since);
        Ok(())
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of a bench are far below 2^53")]
    fn done(mut self) -> Sampled {
        self.times.sort_unstable();
        let faults = self.faults.map(|faults| faults as f64 / self.times.len().max(1) as f64);
        Sampled { times: self.times, faults }
    }
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
    Row { p50_ns: p50, p99_ns: percentile(times, 99), floor_ns: floor, ratio, ..Row::named(name, aim) }
}

/// A row of what was sampled beside each other.
pub(super) fn row_beside(name: &str, aim: &'static str, [ours, floor]: &[Sampled; 2]) -> Row {
    row(name, aim, &ours.times, Some(&floor.times))
}

/// Bytes of memory that this process holds, by the kernel's count.
pub(super) fn resident_bytes() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/statm").ok()?;
    let pages: u64 = text.split_whitespace().nth(1)?.parse().ok()?;
    Some(pages * 4096)
}

/// Ticks of a second in what the kernel reports to programs; the same on every Linux.
const TICKS_PER_S: u64 = 100;

/// Processor time of this process so far, by the kernel's count.
pub(super) fn processor_time() -> Option<Duration> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // After the name come the state, ten further fields, and then the ticks in the program and in the kernel.
    let (_, rest) = text.rsplit_once(')')?;
    let fields: Vec<&str> = rest.split_whitespace().collect();
    let ticks = fields.get(11)?.parse::<u64>().ok()? + fields.get(12)?.parse::<u64>().ok()?;
    Some(Duration::from_millis(ticks * 1_000 / TICKS_PER_S))
}

/// Minor page faults of this process so far, by the kernel's count.
fn page_faults() -> Option<u64> {
    let text = std::fs::read_to_string("/proc/self/stat").ok()?;
    // The name before it stands in parentheses and may hold spaces; the state is the first field after it, and the faults are the eighth.
    let (_, rest) = text.rsplit_once(')')?;
    rest.split_whitespace().nth(7)?.parse().ok()
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

    #[test]
    fn both_sides_are_sampled_equally_often_and_touched_pages_are_counted() {
        let pages = 256;
        let touch = || {
            // Fresh from the machine: more than the allocator keeps.
            let mut block = vec![0_u8; pages * 4096 * 16];
            block.iter_mut().step_by(4096).for_each(|byte| *byte = 1);
            drop(black_box(block));
            Ok(Duration::ZERO)
        };
        let [touched, idle] = beside(20, touch, || Ok(Duration::ZERO)).unwrap();
        assert_eq!((touched.times.len(), idle.times.len()), (20, 20));
        if let (Some(touched), Some(idle)) = (touched.faults, idle.faults) {
            assert!(touched > idle + 100.0, "{touched} faults against {idle}");
        }
    }
}
