//! Measures recall against known answers.

use std::collections::{BTreeMap, BTreeSet};

use loopwright_contract::name::{Lang, ToolName};

use super::index::ToolIndex;

/// The most misses that a report lists for one language; the counts are always of all cases.
pub const MISSES_MAX: usize = 100;

/// A request with the tools that it needs.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RecallCase {
    /// The request's language.
    pub lang: Lang,
    /// What the user says.
    pub request: String,
    /// The tools to find.
    pub gold: BTreeSet<ToolName>,
}

/// A case with tools that were not found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Miss {
    /// What the user said.
    pub request: String,
    /// The tools that it needs and that are not among the candidates.
    pub missing: BTreeSet<ToolName>,
}

/// Recall in one language.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct LanguageRecall {
    /// Number of requests.
    pub cases: usize,
    /// Number of requests of which every gold tool was found.
    pub complete: usize,
    /// Number of gold tools over all requests.
    pub gold: usize,
    /// Number of gold tools that were found.
    pub found: usize,
    /// The first [`MISSES_MAX`] requests with a tool missing.
    pub misses: Vec<Miss>,
}

impl LanguageRecall {
    /// Found gold tools by all gold tools, 0 to 1; 1 when there is nothing to find.
    #[must_use]
    pub fn recall(&self) -> f64 {
        share(self.found, self.gold)
    }

    /// Requests of which everything was found by all requests, 0 to 1; 1 without requests.
    #[must_use]
    pub fn complete_share(&self) -> f64 {
        share(self.complete, self.cases)
    }
}

fn share(part: usize, all: usize) -> f64 {
    if all == 0 { 1.0 } else { part as f64 / all as f64 }
}

/// Recall at `k` for each language: how many of the gold tools are among the first `k` candidates of their request.
/// The index sees the request only.
#[must_use]
pub fn recall_at(index: &ToolIndex, cases: &[RecallCase], k: usize) -> BTreeMap<Lang, LanguageRecall> {
    let mut by_language: BTreeMap<Lang, LanguageRecall> = BTreeMap::new();
    for case in cases {
        let found: BTreeSet<ToolName> = index.candidates(&case.request, k).into_iter().map(|(name, _)| name).collect();
        let missing: BTreeSet<ToolName> = case.gold.difference(&found).cloned().collect();
        let recall = by_language.entry(case.lang.clone()).or_default();
        recall.cases += 1;
        recall.gold += case.gold.len();
        recall.found += case.gold.len() - missing.len();
        if missing.is_empty() {
            recall.complete += 1;
        } else if recall.misses.len() < MISSES_MAX {
            recall.misses.push(Miss { request: case.request.clone(), missing });
        }
    }
    by_language
}
