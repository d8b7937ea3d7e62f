//! One user's memory, whole: the log, what was understood from it, its index and its vectors, kept in step.
//!
//! It joins the parts and decides nothing that they decide: what a message says (`extract`), whether that may be believed (`verify`), how it
//! stands to what is known (`reconcile`), what is kept (`store`) and what is found (`retrieve`). Every step is an event of the log. Index and
//! vectors follow the log; when they are behind, or gone, they are made again from it.

mod capture;
mod fault;
mod find;
mod forget;
mod port;
mod share;
#[cfg(test)]
mod tests;

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, RwLock, RwLockReadGuard, RwLockWriteGuard};

use loopwright_contract::memory::{Embedder, Layer, Proposer};

pub use capture::{Understood, trust_of};
pub use fault::MemoryFault;
pub use find::Sought;
pub use forget::{Checked, Forgotten, Trace};
pub use port::{EpisodeRanker, Live, OpenPool};
pub use share::{Pool, Shared, Sharing, UserForgotten, finish_purges, forget_user};

use crate::corpus::Corpus as _;
use crate::id::{UserId, WorkspaceId};
use crate::index::{Index, Op, State};
use crate::moment::Moment;
use crate::names::KnownNames;
use crate::retrieve::Settings;
use crate::store::{Root, Snapshot, Store, Transaction};
use crate::unit::{Sequence, Unit};
use crate::vectors::Vectors;

/// The folder of the index, in the user's folder.
const INDEX: &str = "index";
/// The file of the vectors.
const VECTORS: &str = "vectors";
/// Texts that are embedded at a time.
const EMBED_BATCH: usize = 64;
/// Speakers whose names are taken for speakers in a question.
const SPEAKERS_MAX: usize = 256;
/// Predicates whose values are names of people and pets.
const NAMING: [&str; 4] = ["name", "called", "relation", "pet"];

/// What works for a memory beside the rules.
#[derive(Clone, Default)]
pub struct Helpers {
    /// For the dense leg; none: search is by words alone.
    pub embedder: Option<Arc<dyn Embedder>>,
    /// A model that proposes what to remember, beside the rules. What it proposes passes the same verification.
    pub proposer: Option<Arc<dyn Proposer>>,
}

/// What is derived from the log.
struct Derived {
    index: Index,
    vectors: Option<Vectors>,
    speakers: BTreeSet<String>,
    names: KnownNames,
}

/// One user's memory. One at a time writes; searches run beside it and wait at most while index or vectors take in what is ready.
pub struct Memory {
    store: Store,
    helpers: Helpers,
    settings: Settings,
    derived: RwLock<Derived>,
    /// Held by whoever writes, from the log to what follows it.
    writing: Mutex<()>,
}

impl std::fmt::Debug for Memory {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Memory").field("store", &self.store).finish_non_exhaustive()
    }
}

impl Memory {
    /// Opens a user's memory, and begins one when there is none. What is derived is brought up to the log.
    ///
    /// # Errors
    /// [`MemoryFault`] when another process has it open, when its log is not as it was written, or when a disk or the embedder fails.
    pub fn open(root: &Root, workspace: &WorkspaceId, user: &UserId, helpers: Helpers) -> Result<Self, MemoryFault> {
        Self::over(root.user(workspace, user)?, helpers)
    }

    /// Opens a user's memory, and goes on with everything that a process left in it, or beside it, which ended in the middle: purges of whole
    /// memories, contributions that are to leave the pool, what was to be derived. A pool that another process has open is told the next time.
    ///
    /// # Errors
    /// As [`Memory::open`], and [`MemoryFault`] when the pool's disk refuses.
    pub fn open_for_work(
        root: &Root,
        workspace: &WorkspaceId,
        user: &UserId,
        helpers: Helpers,
        now: &Moment,
    ) -> Result<Self, MemoryFault> {
        finish_purges(root, workspace, helpers.clone(), now)?;
        let memory = Self::open(root, workspace, user, helpers.clone())?;
        memory.recover(now)?;
        if memory.snapshot().withdrawals().next().is_some()
            && let Some(pool) = Pool::open_free(root, workspace, helpers)?
        {
            memory.settle(&pool, now)?;
        }
        Ok(memory)
    }

    /// The same over a store that is open.
    fn over(store: Store, helpers: Helpers) -> Result<Self, MemoryFault> {
        // Of the key, and not the key: it lies beside the index.
        let key = hex::encode(store.key().digest("index", &[]));
        let (index, state) = Index::open(&store.folder().join(INDEX), &key)?;
        let vectors = match &helpers.embedder {
            Some(embedder) => {
                Some(Vectors::open(&store.folder().join(VECTORS), embedder.fingerprint(), embedder.width())?.0)
            }
            None => None,
        };
        let derived = Derived { index, vectors, speakers: BTreeSet::new(), names: KnownNames::new() };
        let (derived, writing) = (RwLock::new(derived), Mutex::default());
        let memory = Self { store, helpers, settings: Settings::default(), derived, writing };
        let snapshot = memory.store.snapshot();
        let behind = match state {
            State::Shows(sequence) if sequence <= snapshot.sequence() => snapshot.changed_since(sequence),
            State::Shows(_) | State::Empty { .. } => None,
        };
        match behind {
            Some(changed) => memory.follow(&snapshot, &changed)?,
            None => memory.make_anew(&snapshot)?,
        }
        let mut derived = memory.derived_mut();
        snapshot.units().for_each(|(_, unit)| derived.learn(unit));
        drop(derived);
        Ok(memory)
    }

    /// The same with other settings of retrieval.
    #[must_use]
    pub fn with_settings(mut self, settings: Settings) -> Self {
        self.settings = settings;
        self
    }

    /// The log and its state, for what only they know: statistics, histories, exports.
    #[must_use]
    pub fn store(&self) -> &Store {
        &self.store
    }

    // What a panic left behind is behind the log at worst, and follows it at the next step.
    fn derived(&self) -> RwLockReadGuard<'_, Derived> {
        self.derived.read().unwrap_or_else(PoisonError::into_inner)
    }

    fn derived_mut(&self) -> RwLockWriteGuard<'_, Derived> {
        self.derived.write().unwrap_or_else(PoisonError::into_inner)
    }

    fn writing(&self) -> MutexGuard<'_, ()> {
        self.writing.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Brings index and vectors to a snapshot, given the units that changed.
    fn follow(&self, snapshot: &Snapshot, changed: &[u64]) -> Result<(), MemoryFault> {
        let ops: Vec<Op<'_>> = changed
            .iter()
            .map(|ordinal| snapshot.unit(*ordinal).map_or(Op::Remove(*ordinal), |unit| Op::Put(*ordinal, unit)))
            .collect();
        let mut derived = self.derived_mut();
        derived.index.apply(&ops)?;
        derived.index.commit(snapshot.sequence())?;
        drop(derived);
        self.embed(snapshot, changed)
    }

    /// Makes index and vectors from nothing but the snapshot.
    fn make_anew(&self, snapshot: &Snapshot) -> Result<(), MemoryFault> {
        let mut derived = self.derived_mut();
        derived.index.rebuild(snapshot)?;
        if let Some(vectors) = &mut derived.vectors {
            let gone: Vec<u64> = vectors.iter().map(|(ordinal, _)| ordinal).collect();
            vectors.drop_units(&gone)?;
        }
        drop(derived);
        let all: Vec<u64> = snapshot.units().map(|(ordinal, _)| ordinal).collect();
        self.embed(snapshot, &all)
    }

    /// Gives units their vectors, as far as the embedder knows their language, and takes them from those that say something else. Embedding
    /// takes long, and no search waits for it.
    fn embed(&self, snapshot: &Snapshot, changed: &[u64]) -> Result<(), MemoryFault> {
        let Some(embedder) = &self.helpers.embedder else { return Ok(()) };
        if let Some(vectors) = &mut self.derived_mut().vectors {
            // A captured message never says something else; what is derived may be revised.
            let is_stale = |ordinal: &u64| vectors.has(*ordinal) && !snapshot.is_captured(*ordinal);
            let stale: Vec<u64> = changed.iter().copied().filter(is_stale).collect();
            vectors.drop_units(&stale)?;
        }
        let known = self.derived();
        let has = |ordinal: &u64| known.vectors.as_ref().is_some_and(|vectors| vectors.has(*ordinal));
        let wanted: Vec<(u64, &str)> = changed
            .iter()
            .filter(|ordinal| !has(ordinal))
            .filter_map(|ordinal| Some((*ordinal, snapshot.unit(*ordinal)?.text.as_str())))
            .filter(|(_, text)| embedder.covers(text))
            .collect();
        drop(known);
        for batch in wanted.chunks(EMBED_BATCH) {
            let texts: Vec<&str> = batch.iter().map(|(_, text)| *text).collect();
            let made = embedder.embed(&texts)?;
            let rows: Vec<(u64, Vec<f32>)> = batch.iter().map(|(ordinal, _)| *ordinal).zip(made).collect();
            if let Some(vectors) = &mut self.derived_mut().vectors {
                vectors.add(&rows)?;
            }
        }
        Ok(())
    }

    /// Commits a transaction, and lets what is derived follow.
    fn write(&self, transaction: Transaction, now: &Moment) -> Result<(), MemoryFault> {
        let _writing = self.writing();
        let before = self.store.snapshot().sequence();
        self.store.commit(transaction, now)?;
        self.keep_step(before)
    }

    /// After a write of the store: what is derived follows.
    fn keep_step(&self, before: Sequence) -> Result<(), MemoryFault> {
        let snapshot = self.store.snapshot();
        let Some(changed) = snapshot.changed_since(before) else { return self.make_anew(&snapshot) };
        self.follow(&snapshot, &changed)?;
        let mut derived = self.derived_mut();
        changed.iter().filter_map(|ordinal| snapshot.unit(*ordinal)).for_each(|unit| derived.learn(unit));
        Ok(())
    }
}

impl Derived {
    /// Notes who speaks and who is named.
    fn learn(&mut self, unit: &Unit) {
        if let Some(place) = &unit.place
            && self.speakers.len() < SPEAKERS_MAX
            && !self.speakers.contains(&place.speaker)
        {
            self.speakers.insert(place.speaker.clone());
        }
        let naming = unit.claim.as_ref().filter(|claim| NAMING.contains(&claim.key.predicate.as_str()));
        if let Some(claim) = naming.filter(|_| unit.layer != Layer::Episodic) {
            self.names.add(&claim.value, &[]);
        }
    }
}
