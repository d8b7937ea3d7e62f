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
mod step;
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
pub use step::Difference;

use crate::corpus::Corpus as _;
use crate::id::{UserId, WorkspaceId};
use crate::index::{Index, State};
use crate::moment::Moment;
use crate::names::KnownNames;
use crate::retrieve::Settings;
use crate::store::{INDEX, LOG, Lead, Root, Store, StoreError, Transaction, VECTORS};
use crate::unit::Unit;
use crate::vectors::{State as VectorState, Vectors};

/// Texts that are embedded at a time.
const EMBED_BATCH: usize = 64;
/// Texts without a vector that are embedded when a memory is opened: a few seconds of a small model. More wait for the next time, or a rebuild.
pub const EMBEDDED_AT_OPENING_MAX: usize = 512;
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
    /// Those of the embedder; without one, those that lie there, which are not searched and lose what is forgotten.
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
    remarks: Vec<String>,
    /// Given back when index and vectors are closed.
    _lead: Lead,
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
        let folder = store.folder().to_path_buf();
        let locked = || StoreError::Locked { path: folder.clone() };
        let lead = store.lead().ok_or_else(locked)?;
        // Of the key, and not the key: it lies beside the index.
        let key = hex::encode(store.key().digest("index", &[]));
        let (index, state) = Index::open(&folder.join(INDEX), &key)?;
        let (vectors, found) = match &helpers.embedder {
            Some(embedder) => {
                let (vectors, found) = Vectors::open(&folder.join(VECTORS), embedder.fingerprint(), embedder.width())?;
                (Some(vectors), found)
            }
            None => Vectors::open_any(&folder.join(VECTORS))?,
        };
        let mut remarks = Vec::new();
        if let Some(torn) = &store.opening().torn {
            let (file, bytes, at) = (torn.file.display(), torn.bytes, torn.offset);
            remarks.push(format!(
                "`{file}` ended in the middle of a commit that had never returned: {bytes} bytes from byte {at} on were cut"
            ));
        }
        if let State::Empty { because: Some(because) } = &state {
            remarks.push(format!("the index was made anew: {because}"));
        }
        if let VectorState::Empty { because: Some(because) } = found {
            remarks.push(format!("the vectors were removed: {because}"));
        }
        let derived = Derived { index, vectors, speakers: BTreeSet::new(), names: KnownNames::new() };
        let (derived, writing) = (RwLock::new(derived), Mutex::default());
        let settings = Settings::default();
        let mut memory = Self { store, helpers, settings, derived, writing, remarks, _lead: lead };
        memory.remarks.extend(memory.catch_up(&state)?);
        Ok(memory)
    }

    /// What opening found that is not as it should have been, and what was done about it, for whoever asked.
    #[must_use]
    pub fn remarks(&self) -> &[String] {
        &self.remarks
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

    /// Commits a transaction, and lets what is derived follow.
    fn write(&self, transaction: Transaction, now: &Moment) -> Result<(), MemoryFault> {
        let _writing = self.writing();
        let before = self.store.snapshot().sequence();
        self.store.commit(transaction, now)?;
        self.keep_step(before)
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
