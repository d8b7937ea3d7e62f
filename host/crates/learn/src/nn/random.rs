//! Seeded randomness: streams of one seed that do not depend on the order in which they are asked for.

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng, SeedableRng};
use sha2::{Digest, Sha256};

/// Uniform values added up for one normal one.
const UNIFORMS: usize = 12;

/// One stream of a seed.
pub(crate) struct Stream(ChaCha8Rng);

impl Stream {
    /// The stream with this number.
    pub(crate) fn numbered(seed: u64, number: u64) -> Self {
        let mut random = ChaCha8Rng::seed_from_u64(seed);
        random.set_stream(number);
        Self(random)
    }

    /// The stream of a name, so that a new parameter changes no other.
    pub(crate) fn named(seed: u64, name: &str) -> Self {
        let digest = Sha256::digest(name.as_bytes());
        Self::numbered(seed, digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte)))
    }

    /// 64 random bits.
    pub(crate) fn bits(&mut self) -> u64 {
        self.0.next_u64()
    }

    /// Uniform in [0, 1), a multiple of 2^-53.
    #[expect(clippy::cast_precision_loss, reason = "53 bits fit")]
    pub(crate) fn uniform(&mut self) -> f64 {
        (self.0.next_u64() >> 11) as f64 / (1_u64 << 53) as f64
    }

    /// Nearly normal with mean 0 and variance 1, within 6: a sum of twelve uniform values, because logarithms and cosines differ between
    /// machines in their last bits and sums do not.
    pub(crate) fn normal(&mut self) -> f64 {
        (0..UNIFORMS).map(|_| self.uniform()).sum::<f64>() - 6.0
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn normal_values_have_mean_0_and_variance_1() {
        let mut stream = Stream::named(1, "weight");
        let values: Vec<f64> = (0..20_000).map(|_| stream.normal()).collect();
        let mean = values.iter().sum::<f64>() / 20_000.0;
        let variance = values.iter().map(|value| value * value).sum::<f64>() / 20_000.0;
        assert!(mean.abs() < 0.03 && (variance - 1.0).abs() < 0.03, "{mean}, {variance}");
    }

    #[test]
    fn streams_differ_by_seed_and_by_name() {
        let first = |seed, name| Stream::named(seed, name).uniform();
        assert_eq!(first(1, "a"), first(1, "a"));
        assert_ne!(first(1, "a"), first(2, "a"));
        assert_ne!(first(1, "a"), first(1, "b"));
    }
}
