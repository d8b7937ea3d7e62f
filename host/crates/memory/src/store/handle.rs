//! One user's memory, open: one writer, many readers.

use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use arc_swap::ArcSwap;

use super::batch::Batch;
use super::error::StoreError;
use super::event::Event;
use super::files::{Files, Lock};
use super::fold::Meta;
use super::frame::Record;
use super::image;
use super::limits::Sizes;
use super::log::{self, Log, TornTail};
use super::note;
use super::root::Slots;
use super::snapshot::Snapshot;
use super::state::State;
use super::transaction::{Capture, Committed, Kept, Transaction};
use crate::id::RootKey;
use crate::moment::Moment;
use crate::unit::Sequence;

/// The folder of the log, in that of the user.
pub(crate) const LOG: &str = "log";
/// The snapshot file.
pub(super) const SNAPSHOT: &str = "snapshot";
/// The lock file.
pub(super) const LOCK: &str = "lock";
/// Where a repair puts what it replaced.
pub(super) const ASIDE: &str = "aside";

/// The folder of the index, which follows the log.
pub(crate) const INDEX: &str = "index";
/// The file of the vectors, which follow the log.
pub(crate) const VECTORS: &str = "vectors";

/// What opening a memory found and did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Opening {
    /// What a process left that ended in the middle of a commit. It had never returned; nothing committed is lost.
    pub torn: Option<TornTail>,
    /// How many old files were removed that an unfinished rewrite had left.
    pub removed: usize,
    /// The record up to which the snapshot file had the state; none: it was missing or of no use, and all records were followed.
    pub snapshot: Option<Sequence>,
    /// How many records were followed.
    pub followed: u64,
}

pub(super) struct Writer {
    pub(super) log: Log,
    pub(super) state: State,
    /// The last record in the snapshot file.
    pub(super) imaged: Sequence,
    /// Held as long as this lives.
    _lock: Box<dyn Lock>,
}

pub(super) struct Shared {
    pub(super) files: Arc<dyn Files>,
    pub(super) folder: PathBuf,
    pub(super) key: RootKey,
    pub(super) sizes: Sizes,
    pub(super) writer: Mutex<Option<Writer>>,
    pub(super) published: ArcSwap<Snapshot>,
    pub(super) purges: Arc<AtomicU64>,
    pub(super) opening: Opening,
    pub(super) led: Arc<AtomicBool>,
}

/// Held by the one who lets index and vectors follow this memory, as long as they do.
#[derive(Debug)]
pub(crate) struct Lead(Arc<AtomicBool>);

impl Drop for Lead {
    fn drop(&mut self) {
        self.0.store(false, Ordering::Release);
    }
}

/// One user's memory. Clones are the same memory; the lock is released when the last one is dropped.
pub struct Store {
    pub(super) shared: Arc<Shared>,
    pub(super) slots: Arc<Slots>,
}

impl std::fmt::Debug for Store {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Store").field("folder", &self.shared.folder).finish_non_exhaustive()
    }
}

pub(super) fn guard<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    // A state is only put in place whole: a panic elsewhere leaves the old one.
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

/// Follows one record of a file.
pub(super) fn follow(state: &mut State, folder: &Path, record: &Record<'_>) -> Result<(), StoreError> {
    let sequence = record.sequence;
    let refuse = |source| StoreError::Record { folder: folder.to_path_buf(), sequence, source };
    let event = Event::read(record.kind, record.payload).map_err(refuse)?;
    state.apply(Meta { sequence, at: record.at, scrubbed: record.is_scrubbed() }, event).map_err(refuse)
}

impl Shared {
    /// Opens the memory in a folder that is there.
    pub(super) fn open(files: Arc<dyn Files>, folder: &Path, key: RootKey, sizes: Sizes) -> Result<Self, StoreError> {
        let lock = lock(files.as_ref(), folder)?;
        let logs = folder.join(LOG);
        files.create_folder(&logs).map_err(|error| StoreError::io("create", &logs, error))?;
        files.sync_folder(folder).map_err(|error| StoreError::io("create", &logs, error))?;
        let image = files.read(&folder.join(SNAPSHOT)).ok();
        let shown = image.as_deref().and_then(image::shown);
        let lost = |shown| StoreError::Lost { folder: logs.clone(), last: 0, shown, by: "the snapshot" };
        if let Some((_, shown)) = shown.filter(|(_, shown)| *shown > 0)
            && files.list(&logs).is_ok_and(|entries| entries.is_empty())
        {
            // A log that is gone is not begun anew as if there had been none.
            return Err(lost(shown));
        }
        let list = log::list(files.as_ref(), &logs)?;
        if let Some((_, shown)) = shown.filter(|(generation, _)| *generation > list.generation) {
            return Err(lost(shown));
        }
        let image = image.and_then(|bytes| image::decode(&bytes, &key, sizes.units_max, list.generation));
        let snapshot = image.as_ref().map(|state| state.sequence);
        if snapshot.is_none() {
            // It may show what was purged.
            remove_image(files.as_ref(), folder)?;
        }
        let mut state = image.unwrap_or_else(|| State::new(key.clone(), sizes.units_max));
        let (after, mut followed) = (state.sequence, 0);
        let mut each = |record: &Record<'_>| {
            followed += 1;
            follow(&mut state, &logs, record)
        };
        let (log, opened) = log::open(files.clone(), &logs, list, sizes, after, &mut each)?;
        if log.last != state.sequence {
            return Err(StoreError::Damaged {
                file: logs.join(log::LIST),
                offset: 0,
                expected: format!("records up to {}, which the snapshot shows", state.sequence),
                found: log.last.to_string(),
            });
        }
        state.settled().map_err(|(sequence, source)| StoreError::Record { folder: logs, sequence, source })?;
        let purges = Arc::new(AtomicU64::new(state.last_purge));
        let published = ArcSwap::from_pointee(Snapshot { state: state.clone(), purges: purges.clone() });
        let opening = Opening { torn: opened.torn, removed: opened.removed, snapshot, followed };
        let writer = Writer { log, state, imaged: snapshot.unwrap_or_default(), _lock: lock };
        Ok(Self {
            files,
            folder: folder.to_path_buf(),
            key,
            sizes,
            writer: Mutex::new(Some(writer)),
            published,
            purges,
            opening,
            led: Arc::default(),
        })
    }

    /// Runs `work` as the one writer.
    pub(super) fn write<T>(&self, work: impl FnOnce(&mut Writer) -> Result<T, StoreError>) -> Result<T, StoreError> {
        let mut writer = guard(&self.writer);
        work(writer.as_mut().ok_or(StoreError::Gone)?)
    }

    /// Makes a state the one that readers see.
    pub(super) fn publish(&self, writer: &mut Writer, state: State) {
        self.purges.fetch_max(state.last_purge, Ordering::AcqRel);
        writer.state = state;
        let snapshot = Snapshot { state: writer.state.clone(), purges: self.purges.clone() };
        self.published.store(Arc::new(snapshot));
    }

    /// Commits a batch and shows it.
    pub(super) fn commit(&self, writer: &mut Writer, batch: Batch, now: &Moment) -> Result<(), StoreError> {
        if batch.lines.is_empty() {
            return Ok(());
        }
        writer.log.append(&batch.lines, now.seconds())?;
        self.publish(writer, batch.state);
        let grown = writer.state.sequence.saturating_sub(writer.imaged);
        if grown >= self.sizes.snapshot_records_min.max(writer.state.live / 2)
            && let Err(error) = self.checkpoint(writer)
        {
            // The log has it all: the snapshot only makes opening quick.
            tracing::warn!(error = &error as &dyn std::error::Error, "no snapshot was written");
        }
        Ok(())
    }

    /// Ends this memory: nothing is shown and nothing written any more.
    pub(super) fn withdraw(&self, writer: &mut Option<Writer>) {
        *writer = None;
        self.purges.store(u64::MAX, Ordering::Release);
        let state = State::new(self.key.clone(), self.sizes.units_max);
        self.published.store(Arc::new(Snapshot { state, purges: self.purges.clone() }));
    }

    pub(super) fn checkpoint(&self, writer: &mut Writer) -> Result<(), StoreError> {
        if writer.log.doubt {
            return Err(StoreError::Doubt { folder: writer.log.folder.clone() });
        }
        let bytes = image::encode(&writer.state, writer.log.list.generation)?;
        note::replace(self.files.as_ref(), &self.folder.join(SNAPSHOT), &bytes)?;
        writer.imaged = writer.state.sequence;
        Ok(())
    }
}

pub(super) fn lock(files: &dyn Files, folder: &Path) -> Result<Box<dyn Lock>, StoreError> {
    let path = folder.join(LOCK);
    files.lock(&path).map_err(|error| match error.kind() {
        std::io::ErrorKind::WouldBlock => StoreError::Locked { path },
        _ => StoreError::io("lock", &path, error),
    })
}

/// Removes the snapshot file, and one that was not finished.
pub(super) fn remove_image(files: &dyn Files, folder: &Path) -> Result<(), StoreError> {
    let path = folder.join(SNAPSHOT);
    let mut removed = false;
    for path in [note::temporary(&path), path] {
        match files.remove(&path) {
            Ok(()) => removed = true,
            Err(error) if error.kind() == std::io::ErrorKind::NotFound => {}
            Err(source) => return Err(StoreError::Leftover { path, source }),
        }
    }
    if removed {
        files.sync_folder(folder).map_err(|source| StoreError::Leftover { path: folder.to_path_buf(), source })?;
    }
    Ok(())
}

impl Store {
    /// The user's own key, from which ids and marks are made.
    #[must_use]
    pub fn key(&self) -> &RootKey {
        &self.shared.key
    }

    /// The user's folder. What is derived, such as `index/` and `vectors`, lies in it, and goes with it when the user is purged.
    #[must_use]
    pub fn folder(&self) -> &Path {
        &self.shared.folder
    }

    /// Takes the lead of what follows this memory; none while somebody else in this process has it.
    pub(crate) fn lead(&self) -> Option<Lead> {
        let taken = self.shared.led.swap(true, Ordering::AcqRel);
        (!taken).then(|| Lead(self.shared.led.clone()))
    }

    /// What opening found and did.
    #[must_use]
    pub fn opening(&self) -> &Opening {
        &self.shared.opening
    }

    /// What is known now.
    #[must_use]
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.shared.published.load_full()
    }

    /// Captures messages, all in one commit. One that was captured before, at the same place or under the same key, is not captured again,
    /// and one that was purged does not come back; the answer says so for each. `now` is when they are kept.
    ///
    /// # Errors
    /// [`StoreError::Message`] and [`StoreError::KeyReused`] for the first that is refused, [`StoreError::Refused`] past a limit; then none
    /// is captured. [`StoreError::Io`] when the disk refuses, as when it is full; nothing is lost then, and it can be tried again.
    pub fn capture(&self, captures: Vec<Capture>, now: &Moment) -> Result<Vec<Kept>, StoreError> {
        self.shared.write(|writer| {
            let mut batch = Batch::new(&writer.state, now);
            let kept = captures.into_iter().enumerate().map(|(index, capture)| batch.capture(capture, index, now));
            let kept = kept.collect::<Result<Vec<_>, _>>()?;
            self.shared.commit(writer, batch, now)?;
            Ok(kept)
        })
    }

    /// Commits a transaction, if nothing that it rests on has changed.
    ///
    /// # Errors
    /// [`StoreError::Stale`] when something has; [`StoreError::Tombstoned`] when it adds what was purged; [`StoreError::Refused`] when a step
    /// cannot be; [`StoreError::Io`] when the disk refuses. Nothing is changed then.
    pub fn commit(&self, transaction: Transaction, now: &Moment) -> Result<Committed, StoreError> {
        self.shared.write(|writer| {
            let mut batch = Batch::new(&writer.state, now);
            batch.refuse_stale(&transaction)?;
            let added = batch.follow(transaction, now)?;
            let sequence = batch.state.sequence;
            self.shared.commit(writer, batch, now)?;
            Ok(Committed { sequence, added })
        })
    }

    /// Writes the snapshot file, so that the next opening is quick.
    ///
    /// # Errors
    /// [`StoreError::Io`] when the disk refuses. The log has everything in any case.
    pub fn checkpoint(&self) -> Result<(), StoreError> {
        self.shared.write(|writer| self.shared.checkpoint(writer))
    }
}
