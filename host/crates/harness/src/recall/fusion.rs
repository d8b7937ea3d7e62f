//! Joins the rankings of a whole request and of its clauses.

use std::collections::BTreeMap;

/// Tools (by position) that share something with a text, best first, with positive scores.
pub(super) type Ranking = Vec<(usize, f64)>;

/// What share of its domain's best score a tool has for being of the domain; small enough to order only what the
/// words leave open.
const DOMAIN_SHARE: f64 = 0.1;

/// A clause whose best score is below this share of the whole request's best is a remark rather than an intent, and
/// counts in proportion.
const CLAUSE_SHARE: f64 = 0.5;

/// One score from 0 to 1 for each of `tools` tools: the best share that it has of any ranking's top score.
pub(super) fn fuse(whole: &Ranking, parts: &[Ranking], tools: usize) -> Vec<f64> {
    let top_of = |ranking: &Ranking| ranking.first().map_or(0.0, |(_, score)| *score);
    let floor = CLAUSE_SHARE * top_of(whole);
    let mut scores = vec![0.0; tools];
    for ranking in std::iter::once(whole).chain(parts) {
        let top = top_of(ranking).max(floor);
        for (tool, score) in ranking {
            if let Some(best) = scores.get_mut(*tool) {
                *best = f64::max(*best, score / top);
            }
        }
    }
    scores
}

/// Adds to each score a share of the best score in the tool's domain and scales back to at most 1.
pub(super) fn spread_over_domains<'a>(scores: &mut [f64], domain_of: impl Fn(usize) -> &'a str) {
    let mut best: BTreeMap<&str, f64> = BTreeMap::new();
    for (tool, score) in scores.iter().enumerate() {
        let domain = best.entry(domain_of(tool)).or_insert(0.0);
        *domain = domain.max(*score);
    }
    for (tool, score) in scores.iter_mut().enumerate() {
        let shared = best.get(domain_of(tool)).copied().unwrap_or(0.0);
        *score = (*score + DOMAIN_SHARE * shared) / (1.0 + DOMAIN_SHARE);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_clause_brings_up_its_best_tool() {
        let whole = vec![(0, 9.0), (1, 8.0)];
        let clauses = [vec![(0, 5.0), (1, 3.0)], vec![(2, 6.0), (0, 0.5)]];
        assert_eq!(fuse(&whole, &clauses, 4), [1.0, 8.0 / 9.0, 1.0, 0.0]);
    }

    #[test]
    fn a_remark_counts_in_proportion() {
        let whole = vec![(0, 8.0)];
        assert_eq!(fuse(&whole, &[vec![(1, 2.0)]], 2), [1.0, 2.0 / (8.0 * CLAUSE_SHARE)]);
        assert_eq!(fuse(&Vec::new(), &[Vec::new()], 1), [0.0]);
    }

    #[test]
    fn a_domain_orders_what_words_leave_open() {
        let domains = ["a", "b", "b", "c"];
        let mut scores = [0.0, 1.0, 0.0, 0.0];
        spread_over_domains(&mut scores, |tool| domains[tool]);
        assert_eq!(scores, [0.0, 1.0, DOMAIN_SHARE / (1.0 + DOMAIN_SHARE), 0.0]);
    }
}
