//! States of sequences that were computed, so that a prompt which begins like an earlier one starts from there.

use std::collections::BTreeSet;

use super::cache::Cache;

/// Sequences that are kept, and how much of them.
#[derive(Debug)]
pub(crate) struct PrefixStore {
    entries: Vec<Entry>,
    entries_max: usize,
    bytes_max: usize,
    block_bytes: usize,
    uses: u64,
}

#[derive(Debug)]
struct Entry {
    tokens: Vec<u32>,
    cache: Cache,
    last_use: u64,
}

impl PrefixStore {
    /// A store of at most `entries_max` sequences whose blocks, shared ones counted once, take at most `bytes_max`.
    pub(crate) fn new(entries_max: usize, bytes_max: usize, block_bytes: usize) -> Self {
        Self { entries: Vec::new(), entries_max, bytes_max, block_bytes, uses: 0 }
    }

    /// The state after the longest known beginning of `tokens` that leaves at least one to compute; absent when nothing is known.
    pub(crate) fn find(&mut self, tokens: &[u32]) -> Option<Cache> {
        let usable = tokens.len().checked_sub(1)?;
        let shared = |entry: &Entry| entry.tokens.iter().zip(tokens).take_while(|(a, b)| a == b).count().min(usable);
        let best = self.entries.iter_mut().max_by_key(|entry| shared(entry))?;
        let length = shared(best);
        if length == 0 {
            return None;
        }
        self.uses += 1;
        best.last_use = self.uses;
        let mut cache = best.cache.clone();
        cache.truncate(length);
        Some(cache)
    }

    /// Keeps the state after `tokens`. Sequences that it continues are replaced; of the others the longest unused go first.
    pub(crate) fn keep(&mut self, tokens: Vec<u32>, cache: Cache) {
        if self.entries_max == 0 || cache.length() != tokens.len() {
            return;
        }
        self.entries.retain(|entry| !tokens.starts_with(&entry.tokens));
        self.uses += 1;
        self.entries.push(Entry { tokens, cache, last_use: self.uses });
        while self.entries.len() > self.entries_max || (self.bytes() > self.bytes_max && !self.entries.is_empty()) {
            let oldest =
                self.entries.iter().enumerate().min_by_key(|(_, entry)| entry.last_use).map(|(place, _)| place);
            self.entries.swap_remove(oldest.unwrap_or(0));
        }
    }

    fn bytes(&self) -> usize {
        let blocks: BTreeSet<*const ()> = self.entries.iter().flat_map(|entry| entry.cache.block_addresses()).collect();
        blocks.len() * self.block_bytes
    }
}
