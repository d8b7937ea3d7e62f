//! Prepared tasks that are kept for the next episode of an equal task. What two of them have in common they share, so that one holds little.

use std::{
    collections::{HashMap, VecDeque},
    sync::{Arc, Mutex, MutexGuard, PoisonError},
};

use loopwright_contract::{
    digest::{MemoryDigest, TaskDigest},
    fault::CallFault,
    json::canonical_of,
    memory::MemorySnapshot,
    task::Task,
};

use crate::{installed::Installed, prepare::Prepared};

/// How many of them.
const KEPT_TASKS_MAX: usize = 1_024;

/// The tasks that a host prepared last.
#[derive(Default)]
pub(crate) struct KeptTasks(Mutex<Kept<Arc<Prepared>>>);

impl KeptTasks {
    /// The task as it was prepared before, or prepared now. Two threads that ask for the same one at once may both prepare it.
    pub(crate) fn get(
        &self,
        installed: &Arc<Installed>,
        task: &Task,
        snapshot: Option<&MemorySnapshot>,
    ) -> Result<Arc<Prepared>, CallFault> {
        let key = (task.digest(), snapshot.map(content));
        if let Some(kept) = self.lock().values.get(&key) {
            return Ok(Arc::clone(kept));
        }
        let prepared = Arc::new(Prepared::new(installed, task, snapshot)?);
        self.lock().keep(key, Arc::clone(&prepared));
        Ok(prepared)
    }

    fn lock(&self) -> MutexGuard<'_, Kept<Arc<Prepared>>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Of what is laid in, not of the store: two snapshots of one store may have taken other records.
fn content(snapshot: &MemorySnapshot) -> MemoryDigest {
    let text = canonical_of(&snapshot.records).unwrap_or_default();
    MemoryDigest::of(text.as_bytes())
}

/// A task, and what was laid over its world.
type Of = (TaskDigest, Option<MemoryDigest>);

struct Kept<V> {
    values: HashMap<Of, V>,
    /// In the order in which they came.
    order: VecDeque<Of>,
}

impl<V> Default for Kept<V> {
    fn default() -> Self {
        Self { values: HashMap::new(), order: VecDeque::new() }
    }
}

impl<V> Kept<V> {
    /// Keeps a value, and lets go of the one that came first when there are too many.
    fn keep(&mut self, digest: Of, value: V) {
        if self.values.insert(digest, value).is_none() {
            self.order.push_back(digest);
        }
        if self.order.len() > KEPT_TASKS_MAX
            && let Some(oldest) = self.order.pop_front()
        {
            self.values.remove(&oldest);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_oldest_goes_when_there_are_too_many() {
        let digest = |number: usize| (TaskDigest::of(number.to_string().as_bytes()), None);
        let mut kept = Kept::default();
        for number in 0..=KEPT_TASKS_MAX {
            kept.keep(digest(number), number);
            kept.keep(digest(number), number);
        }
        assert_eq!((kept.values.len(), kept.order.len()), (KEPT_TASKS_MAX, KEPT_TASKS_MAX));
        assert_eq!(kept.values.get(&digest(0)), None);
        assert_eq!(kept.values.get(&digest(KEPT_TASKS_MAX)), Some(&KEPT_TASKS_MAX));
    }
}
