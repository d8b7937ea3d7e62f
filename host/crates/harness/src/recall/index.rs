//! The index: BM25 over weighted fields (BM25F).
//!
//! The formula is that of Robertson and Zaragoza, *The Probabilistic Relevance Framework: BM25 and Beyond* (2009),
//! section 3.6: occurrences are normalised by their field's length, weighted and added before they saturate.

use std::collections::BTreeMap;

use loopwright_contract::name::ToolName;
use loopwright_contract::tool::ToolSpec;

use super::field::{Field, FieldKey, fields};
use super::fusion::{self, Ranking};
use super::term::query_terms;

/// How soon further occurrences of a term stop counting; the usual value.
pub const BM25_K1: f64 = 1.2;
/// How far a field's length counts, 0 to 1. Specs are short and of similar length, so less than the usual 0.75.
pub const BM25_B: f64 = 0.5;

/// All installed tools, ready to be searched.
///
/// Build it once for each catalogue, not for each request: it never changes.
#[derive(Debug, Clone)]
pub struct ToolIndex {
    /// Sorted by name, so that equal scores keep the order of the names.
    tools: Vec<IndexedTool>,
    /// For each term, the tools that have it with their weighted, normalised occurrences; positions in `tools`.
    postings: BTreeMap<String, Vec<(usize, f64)>>,
}

#[derive(Debug, Clone)]
struct IndexedTool {
    name: ToolName,
    domain: String,
}

impl ToolIndex {
    /// Indexes the specs, in any order. Of two specs with one name the first is kept.
    #[must_use]
    pub fn build(specs: &[ToolSpec]) -> Self {
        let mut by_name: BTreeMap<&ToolName, &ToolSpec> = BTreeMap::new();
        for spec in specs {
            by_name.entry(&spec.name).or_insert(spec);
        }
        let documents: Vec<_> = by_name.values().map(|spec| fields(spec)).collect();
        let lengths = average_lengths(&documents);
        let mut postings: BTreeMap<String, Vec<(usize, f64)>> = BTreeMap::new();
        for (tool, document) in documents.iter().enumerate() {
            for (term, occurrences) in weighted_occurrences(document, &lengths) {
                postings.entry(term.to_owned()).or_default().push((tool, occurrences));
            }
        }
        let tools =
            by_name.values().map(|spec| IndexedTool { name: spec.name.clone(), domain: spec.domain.clone() }).collect();
        Self { tools, postings }
    }

    /// Number of tools.
    #[must_use]
    pub fn len(&self) -> usize {
        self.tools.len()
    }

    /// Whether there is no tool.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.tools.is_empty()
    }

    /// The `n` best tools for a request, best first, with scores from 0 to 1 that never rise down the list.
    ///
    /// The score is relative to the best tool of the request or of the clause that brought the tool up. Equal scores
    /// are ordered by name. When fewer than `n` tools share a word with the request, the list is filled up with tools
    /// of the same domains, then with the rest; a tool with score 0 shares nothing. The same specs and request give
    /// the same list, whatever the order of the specs.
    #[must_use]
    pub fn candidates(&self, request: &str, n: usize) -> Vec<(ToolName, f64)> {
        let whole = self.rank(request);
        let clauses = loopwright_text::clauses(request);
        let parts: Vec<Ranking> = match clauses.as_slice() {
            [] | [_] => Vec::new(),
            clauses => {
                clauses.iter().filter_map(|range| request.get(range.clone())).map(|clause| self.rank(clause)).collect()
            }
        };
        let mut scores = fusion::fuse(&whole, &parts, self.tools.len());
        fusion::spread_over_domains(&mut scores, |tool| self.tools.get(tool).map_or("", |tool| tool.domain.as_str()));
        let mut ranked: Vec<(&IndexedTool, f64)> = self.tools.iter().zip(scores).collect();
        // A stable sort: equal scores stay in the order of their names.
        ranked.sort_by(|left, right| right.1.total_cmp(&left.1));
        ranked.into_iter().take(n).map(|(tool, score)| (tool.name.clone(), score)).collect()
    }

    /// The tools that share a term with `text`, best first, with their BM25 scores.
    fn rank(&self, text: &str) -> Ranking {
        let mut scores: BTreeMap<usize, f64> = BTreeMap::new();
        for (term, weight) in query_terms(text) {
            let Some(found) = self.postings.get(&term) else { continue };
            let rarity = inverse_document_frequency(self.tools.len(), found.len());
            for (tool, occurrences) in found {
                *scores.entry(*tool).or_insert(0.0) +=
                    weight * rarity * occurrences * (BM25_K1 + 1.0) / (BM25_K1 + occurrences);
            }
        }
        let mut ranking: Ranking = scores.into_iter().collect();
        ranking.sort_by(|left, right| right.1.total_cmp(&left.1));
        ranking
    }
}

/// How telling a term is that `found` of `all` tools have; positive, and smaller for common terms.
fn inverse_document_frequency(all: usize, found: usize) -> f64 {
    let (all, found) = (all as f64, found as f64);
    (1.0 + (all - found + 0.5) / (found + 0.5)).ln()
}

type Document = Vec<(FieldKey, Vec<String>)>;

/// The mean number of terms of each field over the tools that have it.
fn average_lengths(documents: &[Document]) -> BTreeMap<&FieldKey, f64> {
    let mut sums: BTreeMap<&FieldKey, (usize, usize)> = BTreeMap::new();
    for (key, terms) in documents.iter().flatten() {
        let (length, count) = sums.entry(key).or_default();
        *length += terms.len();
        *count += 1;
    }
    sums.into_iter().map(|(key, (length, count))| (key, length as f64 / count as f64)).collect()
}

fn weighted_occurrences<'a>(document: &'a Document, lengths: &BTreeMap<&FieldKey, f64>) -> BTreeMap<&'a str, f64> {
    let mut occurrences: BTreeMap<&str, f64> = BTreeMap::new();
    for (key, terms) in document {
        let field: Field = key.0;
        let average = lengths.get(key).copied().unwrap_or(0.0).max(1.0);
        let norm = 1.0 - BM25_B + BM25_B * terms.len() as f64 / average;
        for term in terms {
            *occurrences.entry(term).or_insert(0.0) += field.weight() / norm;
        }
    }
    occurrences
}
