//! The ranking that works without any index: the share of the query's words that a record has.

use std::collections::BTreeSet;

use loopwright_contract::memory::{Hit, MemoryError, MemoryRecord, MemorySearch, Ranker};

use super::order::instruction_like;

/// The fingerprint of [`WordOverlap`].
pub const WORD_OVERLAP: &str = "word-overlap/1";
/// The least score with which a record is found.
pub const SCORE_MIN: f64 = 0.1;

/// Ranks by the share of the query's words that text, title and tags of a record have. Good enough for the memory of one episode.
#[derive(Debug, Clone, Copy, Default)]
pub struct WordOverlap;

impl Ranker for WordOverlap {
    fn fingerprint(&self) -> &'static str {
        WORD_OVERLAP
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of words are far below 2^52")]
    fn rank(&self, search: &MemorySearch<'_>, records: &[MemoryRecord]) -> Result<Vec<Hit>, MemoryError> {
        let wanted: BTreeSet<String> =
            loopwright_text::query_tokens(search.query).into_iter().map(|token| token.text).collect();
        let mut hits: Vec<Hit> = Vec::new();
        for record in records {
            let shared = words(record).intersection(&wanted).count();
            let score = if wanted.is_empty() { 0.0 } else { shared as f64 / wanted.len() as f64 };
            if score >= SCORE_MIN {
                hits.push(Hit {
                    id: record.id.clone(),
                    score,
                    conflicts: Vec::new(),
                    instruction_like: instruction_like(&record.content),
                });
            }
        }
        hits.sort_by(|left, right| right.score.total_cmp(&left.score).then_with(|| left.id.cmp(&right.id)));
        hits.truncate(search.limit as usize);
        Ok(hits)
    }
}

fn words(record: &MemoryRecord) -> BTreeSet<String> {
    let texts = [Some(&record.content), record.title.as_ref(), record.category.as_ref()];
    let texts = texts.into_iter().flatten().chain(&record.tags);
    texts.flat_map(|text| loopwright_text::tokenize(text)).map(|token| token.text).collect()
}
