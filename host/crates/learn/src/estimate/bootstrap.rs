//! Intervals by resampling pairs or whole clusters. It knows not what the numbers measure.

use rand_chacha::ChaCha12Rng;
use rand_core::{Rng as _, SeedableRng as _};
use serde::Serialize;
use sha2::{Digest as _, Sha256};

use super::error::{EstimateError, check_count, check_items};
use super::level::{Interval, Level};
use super::paired::{PAIRS_MAX, Paired};

/// The fewest resamples: with fewer the ends of an interval are noise.
pub const RESAMPLES_MIN: u64 = 100;
/// The most.
pub const RESAMPLES_MAX: u64 = 100_000;

/// How often and from which seed is resampled.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct Resampling {
    resamples: u64,
    seed: u64,
}

impl Resampling {
    /// `resamples` times; 10,000 is usual.
    ///
    /// # Errors
    /// [`EstimateError::Count`] outside [`RESAMPLES_MIN`] to [`RESAMPLES_MAX`].
    pub fn new(resamples: u64, seed: u64) -> Result<Self, EstimateError> {
        check_count("resamples", resamples, RESAMPLES_MIN, RESAMPLES_MAX)?;
        Ok(Self { resamples, seed })
    }

    /// The percentile interval of a mean over `items`, each a sum and a count. What is drawn depends on the seed and the number of items alone.
    fn interval(self, items: &[(f64, u64)], level: Level) -> Interval {
        let mut draws = Draws::new(self.seed);
        let mut means: Vec<f64> = (0..self.resamples)
            .map(|_| {
                let (mut sum, mut count) = (0.0, 0);
                for _ in items {
                    let (item_sum, item_count) = draws.one_of(items);
                    sum += item_sum;
                    count += item_count;
                }
                sum / count.max(1) as f64
            })
            .collect();
        means.sort_by(f64::total_cmp);
        let tail = level.each_tail();
        Interval { low: quantile(&means, tail), high: quantile(&means, 1.0 - tail) }
    }
}

impl Paired {
    /// The percentile interval of the mean difference, resampling pairs.
    #[must_use]
    pub fn bootstrap(&self, level: Level, resampling: Resampling) -> Interval {
        let items: Vec<_> = self.differences().iter().map(|difference| (*difference, 1)).collect();
        resampling.interval(&items, level)
    }
}

/// Numbers in at least two clusters, such as episodes by family: those of one cluster are not independent of each other.
#[derive(Debug, Clone, PartialEq)]
pub struct Clusters(Vec<(f64, u64)>);

impl Clusters {
    /// From the numbers of each cluster. Keep one order of the clusters (by name), so that the same seed draws the same ones.
    ///
    /// # Errors
    /// [`EstimateError`] for less than two clusters, an empty one, too many numbers, and one that is not finite.
    pub fn new(clusters: &[Vec<f64>]) -> Result<Self, EstimateError> {
        check_count("clusters", clusters.len() as u64, 2, PAIRS_MAX)?;
        let mut items = Vec::with_capacity(clusters.len());
        for cluster in clusters {
            check_items("numbers of a cluster", cluster, 1, PAIRS_MAX)?;
            items.push((cluster.iter().sum(), cluster.len() as u64));
        }
        Ok(Self(items))
    }

    /// The mean over all numbers, so that a cluster counts by its size.
    #[must_use]
    pub fn mean(&self) -> f64 {
        let (sum, count) = self.0.iter().fold((0.0, 0), |(sum, count), item| (sum + item.0, count + item.1));
        sum / count.max(1) as f64
    }

    /// The percentile interval of that mean, resampling whole clusters.
    #[must_use]
    pub fn bootstrap(&self, level: Level, resampling: Resampling) -> Interval {
        resampling.interval(&self.0, level)
    }
}

/// The value below which a share of sorted numbers lies, on the line between the two nearest.
fn quantile(sorted: &[f64], share: f64) -> f64 {
    let last = sorted.len().saturating_sub(1);
    let place = share * last as f64;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "the share is within 0 to 1")]
    let below = (place.floor() as usize).min(last);
    let value = |index: usize| sorted.get(index).copied().unwrap_or(f64::NAN);
    let (low, high) = (value(below), value((below + 1).min(last)));
    low + (high - low) * (place - below as f64)
}

/// Random choices from a seed, the same on every machine.
struct Draws(ChaCha12Rng);

impl Draws {
    fn new(seed: u64) -> Self {
        let key = Sha256::new_with_prefix(b"loopwright resampling 1\n").chain_update(seed.to_le_bytes()).finalize();
        Self(ChaCha12Rng::from_seed(key.into()))
    }

    /// One item, each with the same chance but for 2^-44 (a million items against 64 random bits); nothing of no items.
    fn one_of(&mut self, items: &[(f64, u64)]) -> (f64, u64) {
        let product = u128::from(self.0.next_u64()) * items.len() as u128;
        let index = usize::try_from(product >> 64).unwrap_or(0);
        items.get(index).copied().unwrap_or((0.0, 0))
    }
}
