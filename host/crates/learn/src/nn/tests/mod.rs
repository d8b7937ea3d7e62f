//! Blocks against slow twins, gradients against finite differences, the optimiser against numbers worked out by hand.

mod adamw;
mod blocks;
mod parameters;
mod ragged;
pub(crate) mod slow;

use super::random::Stream;

/// Values between -1 and 1 that look random and are the same each time.
pub(crate) fn noise(count: usize, seed: u64) -> Vec<f32> {
    let mut stream = Stream::numbered(seed, 0);
    #[expect(clippy::cast_possible_truncation, reason = "values are f32")]
    (0..count).map(|_| (stream.uniform() * 2.0 - 1.0) as f32).collect()
}
