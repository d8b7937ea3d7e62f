//! A stopwatch that moves when it is read, so that tests need no real time.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use loopwright_contract::stopwatch::Stopwatch;

/// Moves by a fixed amount each time it is read.
#[derive(Debug, Default)]
pub struct CountingStopwatch {
    step_ms: u64,
    readings: AtomicU64,
}

impl CountingStopwatch {
    /// Moves by `step_ms` milliseconds a reading; 0 stands still.
    #[must_use]
    pub fn new(step_ms: u64) -> Self {
        Self { step_ms, readings: AtomicU64::new(0) }
    }
}

impl Stopwatch for CountingStopwatch {
    fn elapsed(&self) -> Duration {
        let readings = self.readings.fetch_add(1, Ordering::Relaxed);
        Duration::from_millis(readings.saturating_mul(self.step_ms))
    }
}
