//! What cannot be estimated. It knows no estimator.

/// The greatest size of a number: beyond it squares and sums would overflow.
pub const SIZE_MAX: f64 = 1e100;

/// Why there is no estimate.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum EstimateError {
    /// Too few or too many items.
    #[error("`{what}` must number {least} to {greatest}, found {found}")]
    Count {
        /// What was counted.
        what: &'static str,
        /// The fewest.
        least: u64,
        /// The most.
        greatest: u64,
        /// Found.
        found: u64,
    },
    /// Two lists that should stand side by side differ in length.
    #[error("pairs must stand side by side, found {left} on the left and {right} on the right")]
    Unpaired {
        /// On the left.
        left: usize,
        /// On the right.
        right: usize,
    },
    /// A number is NaN, infinite or too large.
    #[error(
        "item {index} must be a finite number of a size of at most {SIZE_MAX:e}, found {found}\nhint: leave void items out on both sides of a pair"
    )]
    NotFinite {
        /// Its place, from 0.
        index: usize,
        /// What it was.
        found: f64,
    },
    /// A number is outside its range.
    #[error("`{what}` must be within {least} to {greatest}, found {found}")]
    Range {
        /// Which number.
        what: &'static str,
        /// The least.
        least: f64,
        /// The greatest.
        greatest: f64,
        /// What it was.
        found: f64,
    },
    /// More successes than trials.
    #[error("successes must not exceed trials, found {successes} of {trials}")]
    Successes {
        /// Successes.
        successes: u64,
        /// Trials.
        trials: u64,
    },
}

/// `Ok` for finite numbers, as many as allowed.
pub(crate) fn check_items(what: &'static str, items: &[f64], least: u64, greatest: u64) -> Result<(), EstimateError> {
    check_count(what, items.len() as u64, least, greatest)?;
    match items.iter().enumerate().find(|(_, item)| !item.is_finite() || item.abs() > SIZE_MAX) {
        Some((index, found)) => Err(EstimateError::NotFinite { index, found: *found }),
        None => Ok(()),
    }
}

/// `Ok` for a number of items that is allowed.
pub(crate) fn check_count(what: &'static str, found: u64, least: u64, greatest: u64) -> Result<(), EstimateError> {
    if (least..=greatest).contains(&found) {
        Ok(())
    } else {
        Err(EstimateError::Count { what, least, greatest, found })
    }
}
