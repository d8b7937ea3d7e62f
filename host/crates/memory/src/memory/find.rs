//! Reading: a search's ledger, what is served always, one unit and its history.

use std::sync::Arc;

use super::{Memory, MemoryFault};
use crate::corpus::Corpus as _;
use crate::id::UnitId;
use crate::moment::Moment;
use crate::prospective::{ItemEvent, Occasion, due};
use crate::retrieve::{Ledger, Query, Sources, retrieve};
use crate::store::{Past, Snapshot, Transaction};
use crate::unit::{ClaimKey, Unit};

/// A unit and what became of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sought {
    /// The unit.
    pub unit: Unit,
    /// What it quotes, for each piece of its evidence; none: what was said there is gone.
    pub quotes: Vec<Option<String>>,
    /// What happened to it, in order.
    pub past: Vec<Past>,
}

impl Memory {
    /// The snapshot that a search of now reads.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.store.snapshot()
    }

    /// Answers a question with evidence. Who speaks in this memory is added to the query's speakers.
    ///
    /// # Errors
    /// [`MemoryFault::Retrieve`] when the index cannot be read or the embedder fails.
    pub fn search(&self, query: &Query) -> Result<Ledger, MemoryFault> {
        let mut query = query.clone();
        let derived = self.derived();
        query.speakers.extend(derived.speakers.iter().filter(|speaker| !speaker.is_empty()).cloned());
        query.speakers.sort_unstable();
        query.speakers.dedup();
        let (snapshot, searcher) = (self.store.snapshot(), derived.index.searcher());
        let sources = Sources {
            corpus: snapshot.as_ref(),
            searcher: &searcher,
            vectors: derived.vectors.as_ref(),
            embedder: self.helpers.embedder.as_deref(),
        };
        Ok(retrieve(&sources, &query, &self.settings)?)
    }

    /// What falls due at `now` fires, once, and what is over leaves; both are events of the log. Returns what fired, in the order in which it
    /// fell due. `situation` is what is going on, for to-dos that wait for something to happen.
    ///
    /// # Errors
    /// [`MemoryFault`] when a disk fails; then nothing fired.
    pub fn fire(&self, now: &Moment, situation: Option<&str>) -> Result<Vec<Unit>, MemoryFault> {
        let _writing = self.writing();
        let snapshot = self.store.snapshot();
        let units: Vec<&Unit> = snapshot.units().map(|(_, unit)| unit).collect();
        let found = due(&units, now, &Occasion { situation, just_fired: &[] });
        if found.events.is_empty() {
            return Ok(Vec::new());
        }
        let mut transaction = Transaction::at(&snapshot);
        for event in found.events {
            match event {
                ItemEvent::Fired { unit, at } => transaction.fire(unit, at),
                ItemEvent::Expired { unit, at } => transaction.expire(unit, at),
                ItemEvent::Completed { unit, at } => transaction.complete(unit, at),
            }
        }
        self.store.commit(transaction, now)?;
        self.keep_step(snapshot.sequence())?;
        let served = found.serve.iter().filter_map(|id| snapshot.ordinal(id)).filter_map(|at| snapshot.unit(at));
        Ok(served.cloned().collect())
    }

    /// One unit with its quotes and its past.
    ///
    /// # Errors
    /// [`MemoryFault::Unknown`] when there is none; [`MemoryFault::Store`] when the log does not read.
    pub fn show(&self, id: UnitId) -> Result<Sought, MemoryFault> {
        let snapshot = self.store.snapshot();
        let unit = unit_of(&snapshot, id)?.clone();
        let quotes = unit
            .evidence
            .iter()
            .map(|evidence| {
                let (_, said) = snapshot.captured_at(evidence.sequence)?;
                said.text.get(evidence.start as usize..evidence.end as usize).map(str::to_owned)
            })
            .collect();
        Ok(Sought { unit, quotes, past: self.store.history(&id)? })
    }

    /// How a claim changed: its units by the time from which they hold.
    #[must_use]
    pub fn history(&self, key: &ClaimKey) -> Vec<Unit> {
        let snapshot = self.store.snapshot();
        let mut units: Vec<Unit> = snapshot.claimed(key).map(|(_, unit)| unit.clone()).collect();
        let since = |unit: &Unit| {
            let event = unit.event.as_ref().map_or(unit.mentioned.seconds(), |event| event.start.seconds());
            (event, unit.mentioned.seconds(), unit.id)
        };
        units.sort_by_key(since);
        units
    }
}

/// The unit, whatever its status.
pub(super) fn unit_of(snapshot: &Snapshot, id: UnitId) -> Result<&Unit, MemoryFault> {
    snapshot.ordinal(&id).and_then(|ordinal| snapshot.unit(ordinal)).ok_or(MemoryFault::Unknown { id })
}
