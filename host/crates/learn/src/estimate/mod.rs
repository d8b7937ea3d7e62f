//! Intervals and tests over runs and families. It knows nothing of what the numbers measure.
//!
//! Every interval is deterministic: resampling takes a seed, and which items are drawn depends on the seed and on how many there are, never on what
//! they are worth.
//!
//! ```
//! use loopwright_learn::estimate::{Binomial, Level, Paired};
//!
//! let level = Level::new(0.95)?;
//! let saved = Paired::between(&[11.2, 11.4, 11.3], &[17.4, 17.9, 17.2])?;
//! assert!(saved.interval(level).high < 0.0);
//! assert!(Binomial::new(990, 1_000)?.clopper_pearson_lower(level) > 0.98);
//! # Ok::<(), loopwright_learn::estimate::EstimateError>(())
//! ```

mod binomial;
mod bootstrap;
mod distribution;
mod error;
mod level;
mod paired;
#[cfg(test)]
mod tests;

pub use binomial::{Binomial, BinomialCounts, TRIALS_MAX};
pub use bootstrap::{Clusters, RESAMPLES_MAX, RESAMPLES_MIN, Resampling};
pub use error::{EstimateError, SIZE_MAX};
pub use level::{Interval, LEVEL_MAX, LEVEL_MIN, Level};
pub use paired::{Equivalence, PAIRS_MAX, Paired};
