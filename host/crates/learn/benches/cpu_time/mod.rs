//! CPU time as what benchmarks measure, so that a busy machine changes little.

use std::time::Duration;

use criterion::Throughput;
use criterion::measurement::{Measurement, ValueFormatter};
use rustix::time::{ClockId, clock_gettime};

/// The CPU time of the whole process, with the name of what is counted in it.
pub(crate) struct CpuTime(pub(crate) &'static str);

fn now() -> Duration {
    let time = clock_gettime(ClockId::ProcessCPUTime);
    Duration::new(time.tv_sec.unsigned_abs(), u32::try_from(time.tv_nsec).unwrap_or(0))
}

impl Measurement for CpuTime {
    type Intermediate = Duration;
    type Value = Duration;

    fn start(&self) -> Duration {
        now()
    }

    fn end(&self, start: Duration) -> Duration {
        now().saturating_sub(start)
    }

    fn add(&self, a: &Duration, b: &Duration) -> Duration {
        *a + *b
    }

    fn zero(&self) -> Duration {
        Duration::ZERO
    }

    fn to_f64(&self, value: &Duration) -> f64 {
        value.as_nanos() as f64
    }

    fn formatter(&self) -> &dyn ValueFormatter {
        self
    }
}

impl ValueFormatter for CpuTime {
    fn scale_values(&self, _: f64, values: &mut [f64]) -> &'static str {
        values.iter_mut().for_each(|value| *value /= 1e6);
        "CPU-ms"
    }

    fn scale_throughputs(&self, _: f64, throughput: &Throughput, values: &mut [f64]) -> &'static str {
        let count = if let Throughput::Elements(count) = throughput { *count as f64 } else { 1.0 };
        values.iter_mut().for_each(|value| *value = count / *value * 1e9);
        self.0
    }

    fn scale_for_machines(&self, _: &mut [f64]) -> &'static str {
        "CPU-ns"
    }
}
