//! Which segments are merged: those of about one size, when there are many of them, so that a document is rewritten a few times only.

use std::collections::BTreeMap;

/// Segments of one level before they are merged.
const SEGMENTS_PER_LEVEL_MAX: usize = 8;
/// A level's segments have up to four times the documents of the level below.
const LEVEL_BITS: u32 = 2;

/// The places of the segments to merge, given their documents; none when all is well.
pub(crate) fn to_merge(documents: &[u32]) -> Option<Vec<usize>> {
    let mut levels: BTreeMap<u32, Vec<usize>> = BTreeMap::new();
    for (at, documents) in documents.iter().enumerate() {
        levels.entry(documents.max(&1).ilog2() / LEVEL_BITS).or_default().push(at);
    }
    levels.into_values().find(|segments| segments.len() >= SEGMENTS_PER_LEVEL_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_full_level_is_merged_and_others_stay() {
        assert_eq!(to_merge(&[1; 7]), None);
        assert_eq!(to_merge(&[1, 1, 1, 1, 5_000, 1, 1, 1, 1]), Some(vec![0, 1, 2, 3, 5, 6, 7, 8]));
    }

    #[test]
    fn one_document_at_a_time_is_rewritten_a_few_times() {
        let (mut segments, mut rewritten): (Vec<u32>, u64) = (Vec::new(), 0);
        for documents in std::iter::repeat_n(1, 20_000) {
            segments.push(documents);
            while let Some(chosen) = to_merge(&segments) {
                let merged: u32 = chosen.iter().map(|at| segments[*at]).sum();
                rewritten += u64::from(merged);
                let mut at = 0;
                segments.retain(|_| (chosen.binary_search(&at).is_err(), at += 1).0);
                segments.push(merged);
            }
        }
        assert!(segments.len() < 64 && rewritten < 20_000 * 8, "{} segments, {rewritten} rewritten", segments.len());
    }
}
