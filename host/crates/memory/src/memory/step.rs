//! Keeping step: index and vectors follow the log. It decides what of them is to be dropped or made, and knows neither files nor models.
//!
//! What an opening or a write leaves right is told by the sets: the index has the units that are searched, and a vector is of a unit that is there and of
//! the text that it has now. So it is found out too when an old file was put back, and without the embedder.

use std::collections::BTreeSet;

use super::{EMBED_BATCH, EMBEDDED_AT_OPENING_MAX, LOG, Memory, MemoryFault, VECTORS};
use crate::corpus::Corpus as _;
use crate::index::{Index, Op, State, is_indexed};
use crate::store::{Snapshot, StoreError};
use crate::unit::Sequence;
use crate::vectors::{Marked, Vectors};

/// How what follows the log differs from it, in units.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Difference {
    /// Units that the index should have and has not.
    pub not_indexed: usize,
    /// Units that the index has and should not.
    pub indexed_in_vain: usize,
    /// Units whose text the embedder knows and that have no vector; 0 without an embedder.
    pub without_vector: usize,
    /// Vectors of units that are gone, or that said something else.
    pub vectors_in_vain: usize,
}

impl Memory {
    /// Brings what was found at opening up to the log, and says what was out of step with it.
    pub(super) fn catch_up(&self, state: &State) -> Result<Vec<String>, MemoryFault> {
        let snapshot = self.store.snapshot();
        self.refuse_lost(&snapshot, state)?;
        let mut remarks = Vec::new();
        let behind = match state {
            State::Shows(sequence) => snapshot.changed_since(*sequence),
            State::Empty { .. } => None,
        };
        match behind {
            Some(changed) => self.index_changed(&snapshot, &changed)?,
            None => self.derived_mut().index.rebuild(snapshot.as_ref())?,
        }
        let mut derived = self.derived_mut();
        if index_differs(&derived.index, &snapshot) != (0, 0) {
            derived.index.rebuild(snapshot.as_ref())?;
            remarks.push("the index was made anew: it did not have the units of the log".to_owned());
        }
        let swept = derived.index.sweep()?;
        if swept > 0 {
            remarks.push(format!("{swept} files that are of no part of the index were removed from it"));
        }
        drop(derived);
        let (dropped, left) = self.settle_vectors(&snapshot, EMBEDDED_AT_OPENING_MAX)?;
        if dropped > 0 {
            remarks.push(format!("{dropped} vectors were removed: they were not of what the log says"));
        }
        if left > 0 {
            remarks.push(format!(
                "{left} units have no vector yet: the next openings make some, `memory rebuild` makes them all"
            ));
        }
        let mut derived = self.derived_mut();
        snapshot.units().for_each(|(_, unit)| derived.learn(unit));
        Ok(remarks)
    }

    /// Index and vectors are written when the log is on the disk: when they are ahead of it, it has lost what was committed.
    fn refuse_lost(&self, snapshot: &Snapshot, state: &State) -> Result<(), MemoryFault> {
        let folder = self.store.folder().join(LOG);
        let last = snapshot.sequence();
        if let State::Shows(shown) = *state
            && shown > last
        {
            return Err(StoreError::Lost { folder, last, shown, by: "the index" }.into());
        }
        let derived = self.derived();
        let newest = derived.vectors.as_ref().and_then(|vectors| vectors.marks().next_back());
        if let Some((ordinal, _)) = newest.filter(|(ordinal, _)| *ordinal >= snapshot.ordinals()) {
            return Err(MemoryFault::Lost { folder, units: snapshot.ordinals(), ordinal });
        }
        Ok(())
    }

    /// Stands for a text, and tells nothing of it without the key.
    fn mark(&self, text: &str) -> u64 {
        let digest = self.store.key().digest("vector", &[text.as_bytes()]);
        digest.iter().take(8).fold(0, |mark, byte| (mark << 8) | u64::from(*byte))
    }

    /// Whether a vector with this mark is of what a unit says now.
    fn is_of(&self, snapshot: &Snapshot, ordinal: u64, mark: u64) -> bool {
        snapshot.unit(ordinal).is_some_and(|unit| !unit.text.is_empty() && self.mark(&unit.text) == mark)
    }

    /// Brings index and vectors to a snapshot, given the units that changed.
    pub(super) fn follow(&self, snapshot: &Snapshot, changed: &[u64]) -> Result<(), MemoryFault> {
        self.index_changed(snapshot, changed)?;
        if let Some(vectors) = &mut self.derived_mut().vectors {
            let is_stale =
                |ordinal: &u64| vectors.mark(*ordinal).is_some_and(|mark| !self.is_of(snapshot, *ordinal, mark));
            let stale: Vec<u64> = changed.iter().copied().filter(is_stale).collect();
            vectors.drop_units(&stale)?;
        }
        self.embed(snapshot, changed, usize::MAX).map(|_| ())
    }

    /// Where nothing changed nothing is written: the index then shows an earlier record, after which there is nothing for it.
    fn index_changed(&self, snapshot: &Snapshot, changed: &[u64]) -> Result<(), MemoryFault> {
        if changed.is_empty() {
            return Ok(());
        }
        let ops: Vec<Op<'_>> = changed
            .iter()
            .map(|ordinal| snapshot.unit(*ordinal).map_or(Op::Remove(*ordinal), |unit| Op::Put(*ordinal, unit)))
            .collect();
        let mut derived = self.derived_mut();
        derived.index.apply(&ops)?;
        Ok(derived.index.commit(snapshot.sequence())?)
    }

    /// Drops vectors that are not of what the snapshot says, and makes at most `most` of those that lack. Says how many were dropped, and how
    /// many lack still.
    fn settle_vectors(&self, snapshot: &Snapshot, most: usize) -> Result<(usize, usize), MemoryFault> {
        let mut dropped = 0;
        if let Some(vectors) = &mut self.derived_mut().vectors {
            let strays = vectors.marks().filter(|(ordinal, mark)| !self.is_of(snapshot, *ordinal, *mark));
            let strays: Vec<u64> = strays.map(|(ordinal, _)| ordinal).collect();
            dropped = vectors.drop_units(&strays)?;
        }
        let all: Vec<u64> = snapshot.units().map(|(ordinal, _)| ordinal).collect();
        Ok((dropped, self.embed(snapshot, &all, most)?))
    }

    /// Gives at most `most` of the units that have none their vectors, as far as the embedder knows their language. Embedding takes long, and no
    /// search waits for it. Says how many lack theirs still.
    fn embed(&self, snapshot: &Snapshot, changed: &[u64], most: usize) -> Result<usize, MemoryFault> {
        let Some(embedder) = &self.helpers.embedder else { return Ok(0) };
        let known = self.derived();
        let has = |ordinal: &u64| known.vectors.as_ref().is_some_and(|vectors| vectors.has(*ordinal));
        let wanted: Vec<(u64, &str)> = changed
            .iter()
            .filter(|ordinal| !has(ordinal))
            .filter_map(|ordinal| Some((*ordinal, snapshot.unit(*ordinal)?.text.as_str())))
            .filter(|(_, text)| !text.is_empty() && embedder.covers(text))
            .collect();
        drop(known);
        let (now, later) = wanted.split_at(wanted.len().min(most));
        for batch in now.chunks(EMBED_BATCH) {
            let texts: Vec<&str> = batch.iter().map(|(_, text)| *text).collect();
            let made = embedder.embed(&texts)?;
            let marked = |((ordinal, text), vector): (&(u64, &str), Vec<f32>)| Marked {
                ordinal: *ordinal,
                mark: self.mark(text),
                vector,
            };
            let rows: Vec<Marked> = batch.iter().zip(made).map(marked).collect();
            if let Some(vectors) = &mut self.derived_mut().vectors {
                vectors.add_marked(&rows)?;
            }
        }
        Ok(later.len())
    }

    /// After a write of the store: what is derived follows.
    pub(super) fn keep_step(&self, before: Sequence) -> Result<(), MemoryFault> {
        let snapshot = self.store.snapshot();
        let Some(changed) = snapshot.changed_since(before) else {
            self.derived_mut().index.rebuild(snapshot.as_ref())?;
            return self.settle_vectors(&snapshot, usize::MAX).map(|_| ());
        };
        self.follow(&snapshot, &changed)?;
        let mut derived = self.derived_mut();
        changed.iter().filter_map(|ordinal| snapshot.unit(*ordinal)).for_each(|unit| derived.learn(unit));
        Ok(())
    }

    /// Throws index and vectors away and makes them from the log. Without the embedder vectors cannot be made: then those stay that are whole
    /// and of what the log says.
    ///
    /// # Errors
    /// [`MemoryFault`] when a disk or the embedder fails.
    pub fn rebuild(&self) -> Result<(), MemoryFault> {
        let _writing = self.writing();
        let snapshot = self.store.snapshot();
        let mut derived = self.derived_mut();
        derived.index.rebuild(snapshot.as_ref())?;
        if self.helpers.embedder.is_none() {
            derived.vectors = Vectors::open_any(&self.store.folder().join(VECTORS))?.0;
        } else if let Some(vectors) = &mut derived.vectors {
            vectors.clear()?;
        }
        drop(derived);
        self.settle_vectors(&snapshot, usize::MAX).map(|_| ())
    }

    /// Compares what follows the log with it: the index as it is searched, and the vectors as they lie on the disk; none: these do not read.
    pub(super) fn difference(&self, snapshot: &Snapshot) -> Result<(Difference, Option<usize>), MemoryFault> {
        let (not_indexed, indexed_in_vain) = index_differs(&self.derived().index, snapshot);
        let mut difference = Difference { not_indexed, indexed_in_vain, ..Difference::default() };
        let kept = Vectors::on_disk(&self.store.folder().join(VECTORS))?;
        let known: BTreeSet<u64> = kept.iter().flatten().map(|(ordinal, _)| *ordinal).collect();
        let in_vain = |(ordinal, mark): &&(u64, u64)| !self.is_of(snapshot, *ordinal, *mark);
        difference.vectors_in_vain = kept.iter().flatten().filter(in_vain).count();
        if let Some(embedder) = &self.helpers.embedder {
            let lacks =
                |(ordinal, text): &(u64, &str)| !known.contains(ordinal) && !text.is_empty() && embedder.covers(text);
            let texts = snapshot.units().map(|(ordinal, unit)| (ordinal, unit.text.as_str()));
            difference.without_vector = texts.filter(lacks).count();
        }
        Ok((difference, kept.map(|kept| kept.len())))
    }
}

/// How many units the index lacks, and how many it has that it should not.
fn index_differs(index: &Index, snapshot: &Snapshot) -> (usize, usize) {
    let searched: BTreeSet<u64> = index.searcher().rows().iter().map(|row| row.ordinal).collect();
    let wanted: BTreeSet<u64> =
        snapshot.units().filter(|(_, unit)| is_indexed(unit)).map(|(ordinal, _)| ordinal).collect();
    let twice = index.searcher().rows().len() - searched.len();
    (wanted.difference(&searched).count(), searched.difference(&wanted).count() + twice)
}
