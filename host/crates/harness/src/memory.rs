//! What an episode remembers. An episode reads the shared memory through the [`Recall`] port and keeps what it adds to itself; after it
//! was verified, [`commit`] hands that to the [`Remember`] port, so that an episode which came to nothing leaves no trace.

use std::collections::{BTreeSet, VecDeque};
use std::sync::{Arc, Mutex, PoisonError};

use loopwright_contract::memory::{MemoryError, MemoryItem, Recall, Remember};
use loopwright_contract::tool::{Failure, Success};
use serde_json::{Value, json};

/// The most items that one search returns.
pub const RECALL_LIMIT_MAX: u32 = 20;
/// The items that a search returns when it does not say how many.
pub const RECALL_LIMIT_DEFAULT: u32 = 5;
/// The items that are served before the first step.
pub const SERVED_MAX: u32 = 5;
/// Things that one episode can remember.
pub const REMEMBERED_MAX: usize = 64;

/// One thing that an episode asked to keep.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Remembered {
    /// The text.
    pub content: String,
    /// A category, where there is one.
    pub category: Option<String>,
}

/// A memory in this process: ranks by the share of the query's words that an item has. Good for tests and small runs.
#[derive(Debug, Default)]
pub struct InMemory {
    items: Mutex<Vec<Remembered>>,
}

impl InMemory {
    /// An empty memory.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }
}

impl Recall for InMemory {
    fn recall(&self, query: &str, limit: u32) -> Result<Vec<MemoryItem>, MemoryError> {
        let items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(ranked(&items, "m", query, limit))
    }
}

impl Remember for InMemory {
    fn remember(&self, content: &str, category: Option<&str>) -> Result<String, MemoryError> {
        let mut items = self.items.lock().unwrap_or_else(PoisonError::into_inner);
        items.push(Remembered { content: content.to_owned(), category: category.map(str::to_owned) });
        Ok(format!("m{}", items.len()))
    }
}

fn words(text: &str) -> BTreeSet<String> {
    loopwright_text::tokenize(text).into_iter().map(|token| token.text).collect()
}

#[expect(clippy::cast_precision_loss, reason = "counts of words are far below 2^52")]
fn ranked(items: &[Remembered], prefix: &str, query: &str, limit: u32) -> Vec<MemoryItem> {
    let wanted: BTreeSet<String> = loopwright_text::query_tokens(query).into_iter().map(|token| token.text).collect();
    let mut found: Vec<MemoryItem> = Vec::new();
    for (position, item) in items.iter().enumerate() {
        let shared = words(&item.content).intersection(&wanted).count();
        if shared > 0 {
            let score = shared as f64 / wanted.len() as f64;
            found.push(MemoryItem {
                id: format!("{prefix}{}", position + 1),
                content: item.content.clone(),
                category: item.category.clone(),
                score,
            });
        }
    }
    best(found, limit)
}

/// The best items, best first; equal scores keep their order.
fn best(mut items: Vec<MemoryItem>, limit: u32) -> Vec<MemoryItem> {
    items.sort_by(|left, right| right.score.total_cmp(&left.score));
    items.truncate(limit.min(RECALL_LIMIT_MAX) as usize);
    items
}

/// The memory of one episode: the shared one, read only, and what the episode added.
#[derive(Clone, Default)]
pub(crate) struct EpisodeMemory {
    shared: Option<Arc<dyn Recall>>,
    added: Vec<Remembered>,
    /// In a replay: the answers of the recorded searches, in order. The shared memory may have changed since.
    recorded: Option<VecDeque<Value>>,
}

impl EpisodeMemory {
    pub(crate) fn new(shared: Option<Arc<dyn Recall>>) -> Self {
        Self { shared, ..Self::default() }
    }

    pub(crate) fn replaying(answers: VecDeque<Value>) -> Self {
        Self { recorded: Some(answers), ..Self::default() }
    }

    /// What is served before the first step. A memory that does not answer serves nothing.
    pub(crate) fn served(&self, request: &str) -> Vec<MemoryItem> {
        let items = self.shared.as_ref().and_then(|shared| shared.recall(request, SERVED_MAX).ok()).unwrap_or_default();
        best(items.into_iter().filter(|item| item.score.is_finite()).collect(), SERVED_MAX)
    }

    /// Searches, and answers with the one result envelope.
    pub(crate) fn recall(&mut self, query: &str, limit: u32) -> Value {
        if let Some(recorded) = &mut self.recorded {
            return recorded.pop_front().unwrap_or(Value::Null);
        }
        let shared = self.shared.as_ref().map_or(Ok(Vec::new()), |shared| shared.recall(query, limit));
        match shared {
            Ok(mut items) => {
                items.retain(|item| item.score.is_finite());
                items.extend(ranked(&self.added, "e", query, limit));
                let items = best(items, limit);
                Success { message: format!("{} found", items.len()), data: json!({"items": items}) }.envelope()
            }
            Err(error) => Failure::new(503, error.to_string()).envelope(),
        }
    }

    /// Keeps one thing, and answers with the one result envelope.
    pub(crate) fn remember(&mut self, content: &str, category: Option<&str>) -> Value {
        if self.added.len() >= REMEMBERED_MAX {
            return Failure::new(429, format!("at most {REMEMBERED_MAX} things are kept in one episode")).envelope();
        }
        self.added.push(Remembered { content: content.to_owned(), category: category.map(str::to_owned) });
        Success { message: "kept".to_owned(), data: json!({"id": format!("e{}", self.added.len())}) }.envelope()
    }

    pub(crate) fn into_added(self) -> Vec<Remembered> {
        self.added
    }
}

/// Hands what episodes remembered to the shared memory, in order. Call it with verified episodes only, between rounds.
///
/// # Errors
/// [`MemoryError`] of the port; what came before it was kept.
pub fn commit(remembered: &[Remembered], memory: &dyn Remember) -> Result<(), MemoryError> {
    remembered.iter().try_for_each(|item| memory.remember(&item.content, item.category.as_deref()).map(|_| ()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_in_common_bring_a_memory_up_in_both_languages() {
        let memory = InMemory::new();
        for content in ["Parks the car on level 3", "Drinks tea in the morning", "每天早上七点起床"] {
            memory.remember(content, Some("routines_habits")).expect("in memory");
        }
        for (query, expected) in [("where is the car", "m1"), ("morning tea", "m2"), ("早上几点起床", "m3")] {
            let found = memory.recall(query, 1).expect("in memory");
            assert_eq!(found.iter().map(|item| item.id.as_str()).collect::<Vec<_>>(), [expected], "{query}");
        }
        assert_eq!(memory.recall("nothing shared", 5), Ok(Vec::new()));
    }

    #[test]
    fn what_an_episode_adds_is_its_own_until_it_is_committed() {
        let shared = Arc::new(InMemory::new());
        let mut episode = EpisodeMemory::new(Some(shared.clone()));
        assert_eq!(episode.remember("likes jazz", None).pointer("/data/id"), Some(&json!("e1")));
        assert_eq!(episode.recall("jazz", 5).pointer("/data/items/0/content"), Some(&json!("likes jazz")));
        assert_eq!(shared.recall("jazz", 5), Ok(Vec::new()));
        commit(&episode.into_added(), &*shared).expect("in memory");
        assert_eq!(shared.recall("jazz", 5).map(|found| found.len()), Ok(1));
    }

    #[test]
    fn an_episode_remembers_a_bounded_number_of_things() {
        let mut episode = EpisodeMemory::new(None);
        let answers: Vec<Value> =
            (0..=REMEMBERED_MAX).map(|number| episode.remember(&number.to_string(), None)).collect();
        assert_eq!(
            answers.iter().filter(|answer| answer.pointer("/success") == Some(&json!(true))).count(),
            REMEMBERED_MAX
        );
        assert_eq!(answers.last().and_then(|answer| answer.pointer("/code")), Some(&json!(429)));
    }
}
