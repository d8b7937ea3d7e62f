//! Tests on tiny model files that are written here, and on the default model where it was fetched.

mod forward;
mod planning;
mod tiny;
mod writing;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};

/// Numbers between -1 and 1.
pub(crate) fn noise(count: usize, seed: u64) -> Vec<f32> {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    (0..count).map(|_| (random.next_u32() >> 8) as f32 / (1 << 23) as f32 - 1.0).collect()
}
