//! Sequences of several lengths laid end to end, so that no padding is computed. It knows no token.

use std::ops::Range;
use std::sync::Arc;

/// The lengths of sequences whose rows lie end to end.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Segments {
    lengths: Arc<[usize]>,
}

impl Segments {
    /// Segments of these lengths, in this order.
    #[must_use]
    pub fn new(lengths: &[usize]) -> Self {
        Self { lengths: lengths.into() }
    }

    /// Rows of all of them together.
    #[must_use]
    pub fn rows(&self) -> usize {
        self.lengths.iter().sum()
    }

    /// The longest, in rows.
    #[must_use]
    pub fn longest(&self) -> usize {
        self.lengths.iter().copied().max().unwrap_or(0)
    }

    /// The rows of each.
    pub fn ranges(&self) -> impl Iterator<Item = Range<usize>> + '_ {
        self.lengths.iter().scan(0, |end, length| {
            let start = *end;
            *end += length;
            Some(start..*end)
        })
    }

    /// The place of each row within its segment.
    pub fn positions(&self) -> impl Iterator<Item = usize> + '_ {
        self.lengths.iter().flat_map(|length| 0..*length)
    }
}
