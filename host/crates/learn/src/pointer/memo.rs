//! What was made before, kept by what it was made of. It knows nothing of what it keeps; whether something is kept changes no result.

use std::borrow::Borrow;
use std::collections::HashMap;
use std::hash::Hash;
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Things that were made before; when there are more than its limit, all are made again.
#[derive(Debug)]
pub(super) struct Memo<K, V> {
    most: usize,
    known: Mutex<HashMap<K, V>>,
}

impl<K: Eq + Hash, V: Clone> Memo<K, V> {
    /// None yet, and never more than `most`.
    pub(super) fn new(most: usize) -> Self {
        Self { most, known: Mutex::default() }
    }

    /// What was made of this.
    pub(super) fn get<Q>(&self, key: &Q) -> Option<V>
    where
        K: Borrow<Q>,
        Q: Eq + Hash + ?Sized,
    {
        self.lock().get(key).cloned()
    }

    /// Keeps what was made; of the same the later counts.
    pub(super) fn keep(&self, key: K, value: V) {
        let mut known = self.lock();
        if known.len() >= self.most && !known.contains_key(&key) {
            known.clear();
        }
        known.insert(key, value);
    }

    /// How many are kept.
    #[cfg(test)]
    pub(super) fn len(&self) -> usize {
        self.lock().len()
    }

    fn lock(&self) -> MutexGuard<'_, HashMap<K, V>> {
        self.known.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_more_than_the_limit_are_kept() {
        let memo: Memo<usize, usize> = Memo::new(3);
        for number in 0..7 {
            memo.keep(number, number * 2);
            assert!(memo.len() <= 3);
            assert_eq!(memo.get(&number), Some(number * 2));
        }
        assert_eq!(memo.get(&0), None);
        let full: Memo<usize, usize> = Memo::new(2);
        [(1, 1), (2, 2), (2, 3)].into_iter().for_each(|(key, value)| full.keep(key, value));
        assert_eq!((full.get(&1), full.get(&2)), (Some(1), Some(3)), "what is kept already pushes nothing out");
    }
}
