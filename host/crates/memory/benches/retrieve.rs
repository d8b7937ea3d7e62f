//! How long a request takes at 1,000 and 20,000 units with vectors, on drawn messages. `loopwright memory bench speed` prints the whole table, with the
//! index's size, a cold open and 1,000,000 units.

#![expect(clippy::expect_used, reason = "a benchmark may stop")]

use std::hint::black_box;
use std::time::{Duration, Instant};

use criterion::Criterion;
use loopwright_contract::stopwatch::Stopwatch;
use loopwright_memory::bench::Drawing;
use loopwright_memory::vectors::dot;

const WIDTH: usize = 384;

struct Clock(Instant);

impl Stopwatch for Clock {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

fn main() {
    let mut criterion = Criterion::default().configure_from_args().sample_size(20);
    let clock = Clock(Instant::now());
    for units in [1_000, 20_000] {
        let folder = tempfile::tempdir().expect("a folder");
        let (drawing, _) = Drawing::of(folder.path(), units, true, &clock).expect("drawn");
        let mut at = 0;
        criterion.bench_function(&format!("retrieve/{units}"), |bencher| {
            bencher.iter(|| {
                at += 1;
                drawing.ask(at).expect("answered")
            });
        });
    }
    let number = |at: usize| (at * 2_654_435_761 % 1_000) as f32 / 1_000.0 - 0.5;
    let (numbers, query): (Vec<f32>, Vec<f32>) =
        ((0..20_000 * WIDTH).map(number).collect(), (0..WIDTH).map(number).collect());
    criterion.bench_function("dot/20000x384", |bencher| {
        bencher.iter(|| numbers.chunks_exact(WIDTH).map(|row| dot(black_box(&query), row)).fold(f32::MIN, f32::max));
    });
    criterion.final_summary();
}
