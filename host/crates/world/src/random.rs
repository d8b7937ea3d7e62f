//! Seeded randomness: the same seed and label give the same numbers on every machine.

use loopwright_contract::state::StateError;
use rand_chacha::ChaCha12Rng;
use rand_core::{Rng as _, SeedableRng as _};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

use crate::{error::over, limits::STREAM_LABEL_BYTES_LIMIT};

/// A stream of random numbers, named by the task's seed and a label.
///
/// Streams with different labels are independent, so that one more draw by one plugin does not shift the numbers of another.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SeededRandom {
    generator: ChaCha12Rng,
}

/// A stream as it is stored.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct RandomState {
    /// The stream's key: 64 hexadecimal digits.
    pub key: String,
    /// How many 32-bit words were drawn, as decimal text.
    pub position: String,
}

impl SeededRandom {
    /// The stream `label` of the task's seed, at its beginning.
    ///
    /// # Errors
    /// `Limit` for a label of more than 256 bytes.
    pub fn new(seed: u64, label: &str) -> Result<Self, StateError> {
        if label.len() > STREAM_LABEL_BYTES_LIMIT {
            return Err(over("bytes of a random stream's label", STREAM_LABEL_BYTES_LIMIT, label.len()));
        }
        let key = Sha256::new_with_prefix(b"loopwright random 1\n")
            .chain_update(seed.to_le_bytes())
            .chain_update(label)
            .finalize();
        Ok(Self { generator: ChaCha12Rng::from_seed(key.into()) })
    }

    /// The next 64 random bits.
    pub fn next_u64(&mut self) -> u64 {
        self.generator.next_u64()
    }

    /// A number below `bound`, each with the same chance; 0 when `bound` is 0.
    ///
    /// Lemire, "Fast Random Integer Generation in an Interval" (2019), algorithm 5: a draw in the biased part of the range is repeated, which
    /// happens at most every second time.
    pub fn next_below(&mut self, bound: u64) -> u64 {
        if bound == 0 {
            return 0;
        }
        let threshold = bound.wrapping_neg() % bound;
        loop {
            let product = u128::from(self.next_u64()) * u128::from(bound);
            #[expect(clippy::cast_possible_truncation, reason = "the low and the high half of the product are wanted")]
            let (low, high) = (product as u64, (product >> 64) as u64);
            if low >= threshold {
                return high;
            }
        }
    }

    /// The stream as it is stored.
    #[must_use]
    pub fn state(&self) -> RandomState {
        RandomState { key: hex::encode(self.generator.get_seed()), position: self.generator.get_word_pos().to_string() }
    }

    /// The stream that was stored; `None` for a malformed key or position.
    #[must_use]
    pub fn restore(state: &RandomState) -> Option<Self> {
        let mut key = [0u8; 32];
        hex::decode_to_slice(&state.key, &mut key).ok()?;
        let mut generator = ChaCha12Rng::from_seed(key);
        generator.set_word_pos(state.position.parse().ok()?);
        Some(Self { generator })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_stream_is_named_by_seed_and_label() {
        let draw =
            |seed, label: &str| SeededRandom::new(seed, label).map(|mut random| [random.next_u64(), random.next_u64()]);
        assert_eq!(draw(1, "tools"), draw(1, "tools"));
        assert_ne!(draw(1, "tools"), draw(2, "tools"));
        assert_ne!(draw(1, "tools"), draw(1, "environment"));
        assert!(matches!(draw(1, &"x".repeat(STREAM_LABEL_BYTES_LIMIT + 1)), Err(StateError::Limit(_))));
    }

    #[test]
    fn the_numbers_of_a_seed_never_change() {
        let mut random = SeededRandom::new(7, "golden").unwrap();
        let drawn: Vec<u64> = (0..3).map(|_| random.next_u64()).collect();
        assert_eq!(drawn, GOLDEN);
    }

    /// Computed from RFC 8439 with 12 rounds and a 64-bit counter, in another language; stored trajectories depend on them.
    const GOLDEN: [u64; 3] = [6_464_405_876_808_186_028, 10_589_426_582_549_306_779, 2_680_286_577_695_126_851];

    #[test]
    fn a_stored_stream_goes_on_where_it_was() {
        let mut random = SeededRandom::new(3, "x").unwrap();
        for drawn in 0..40 {
            let mut restored = SeededRandom::restore(&random.state()).unwrap();
            assert_eq!(restored.next_u64(), random.clone().next_u64(), "after {drawn} draws");
            random.next_u64();
        }
        let bad = |key: &str, position: &str| RandomState { key: key.into(), position: position.into() };
        assert_eq!(SeededRandom::restore(&bad("00", "0")), None);
        assert_eq!(SeededRandom::restore(&bad(&"0".repeat(64), "-1")), None);
    }

    #[test]
    fn numbers_below_a_bound_are_below_it_and_spread() {
        let mut random = SeededRandom::new(5, "dice").unwrap();
        let mut seen = [0u32; 6];
        for _ in 0..6_000 {
            seen[usize::try_from(random.next_below(6)).unwrap()] += 1;
        }
        assert!(seen.iter().all(|count| (850..1_150).contains(count)), "{seen:?}");
        // Just above half the range, about every second draw must be repeated.
        let mut repeated = SeededRandom::new(5, "repeated").unwrap();
        (0..100).for_each(|_| assert!(repeated.next_below((1 << 63) + 1) <= 1 << 63));
        let words: u32 = repeated.state().position.parse().unwrap();
        assert!((300..500).contains(&words), "100 draws of two words each took {words} words");
        assert_eq!(random.next_below(0), 0);
        assert_eq!(random.next_below(1), 0);
        assert!(random.next_below(u64::MAX) < u64::MAX);
    }
}
