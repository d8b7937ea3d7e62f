//! The change log of open calls: what each touched document was before, so that a failed call can be rolled back.
//!
//! The maps are persistent, so that a savepoint could be a clone of them; but then the first write of each call would copy
//! the path to its document even when nobody else looks at the world. The log keeps one entry for each touched document and level.

use std::collections::BTreeMap;

use loopwright_contract::state::StateError;

use crate::{Document, Key, error::over, limits::SAVEPOINTS_LIMIT};

/// A point that a world can be rolled back to. Used once: by `commit` or by `rollback`.
#[derive(Debug, PartialEq, Eq)]
#[must_use = "a savepoint stays open until it is committed or rolled back"]
pub struct Savepoint {
    depth: usize,
}

/// Which document, by the position of its collection.
pub(crate) type Touched = (usize, Key);
/// The first known state of each document touched since a savepoint.
pub(crate) type Level = BTreeMap<Touched, Option<Document>>;

/// One level for each open savepoint, the outermost first.
#[derive(Default)]
pub(crate) struct ChangeLog {
    levels: Vec<Level>,
}

impl ChangeLog {
    pub(crate) fn begin(&mut self) -> Result<Savepoint, StateError> {
        if self.levels.len() >= SAVEPOINTS_LIMIT {
            return Err(over("open savepoints", SAVEPOINTS_LIMIT, self.levels.len() + 1));
        }
        self.levels.push(Level::new());
        Ok(Savepoint { depth: self.levels.len() })
    }

    /// Whether writes must be logged.
    pub(crate) fn is_open(&self) -> bool {
        !self.levels.is_empty()
    }

    /// Logs a write that has just happened.
    pub(crate) fn note(&mut self, touched: Touched, before: Option<Document>) {
        if let Some(level) = self.levels.last_mut() {
            level.entry(touched).or_insert(before);
        }
    }

    /// Closes the savepoint and all inner ones, and returns what their documents were.
    pub(crate) fn close(&mut self, savepoint: &Savepoint) -> Result<Level, StateError> {
        let Some(outer) = savepoint.depth.checked_sub(1).filter(|outer| *outer < self.levels.len()) else {
            let open = self.levels.len();
            return Err(StateError::Other(format!("savepoint {} is closed already: {open} are open", savepoint.depth)));
        };
        let mut merged = Level::new();
        // Inner levels first, so that the outer, earlier states replace theirs.
        while self.levels.len() > outer {
            merged.extend(self.levels.pop().unwrap_or_default());
        }
        Ok(merged)
    }

    /// Hands closed entries to the level that is now innermost, which keeps its own where it has one.
    pub(crate) fn absorb(&mut self, level: Level) {
        if self.is_open() {
            level.into_iter().for_each(|(touched, before)| self.note(touched, before));
        }
    }

    /// The first known states since the savepoint, which stays open.
    pub(crate) fn since(&self, savepoint: &Savepoint) -> Level {
        let levels = self.levels.get(savepoint.depth.saturating_sub(1)..).unwrap_or_default();
        let mut merged = Level::new();
        for level in levels.iter().rev() {
            merged.extend(level.iter().map(|(touched, before)| (touched.clone(), before.clone())));
        }
        merged
    }
}
