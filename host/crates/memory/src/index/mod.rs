//! The term index of one user: derived from the log, without text, and thrown away rather than repaired. It knows no query and no ranking.
//!
//! A document is a unit's ordinal with its terms and fast fields. The commit says which place in the log it shows and whose key made it. There is one
//! writer, which is not there, with its lock, until something is to be written; a [`Searcher`] is one snapshot of what was committed, and any number
//! of them can be held.

mod error;
mod feed;
mod levels;
mod probe;
mod schema;
mod search;

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use serde::{Deserialize, Serialize};
use tantivy::index::{SegmentId, SegmentMeta};
use tantivy::indexer::NoMergePolicy;
use tantivy::{IndexWriter, TantivyDocument, Term};

pub use error::IndexError;
pub(crate) use feed::{is_indexed, layer_number, name_terms, names_a_day_or_more, speaker_key, status_number, traits};
pub use schema::TermField;
pub(crate) use search::{Bm25, Scores};
pub use search::{Row, Searcher};

use crate::corpus::Corpus;
use crate::unit::{Sequence, Unit};
use schema::{FORMAT, Fields};

/// Memory of the writer before it starts a new segment, in bytes: the least that the engine takes.
pub const WRITER_BYTES: usize = 15_000_000;
/// Documents that [`Index::rebuild`] adds before it commits.
pub const REBUILD_BATCH: u64 = 200_000;

/// A change of one unit.
#[derive(Debug, Clone, Copy)]
pub enum Op<'a> {
    /// The unit is new, or not what it was.
    Put(u64, &'a Unit),
    /// The unit is no longer searched.
    Remove(u64),
}

/// How an index was found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// It shows the log up to this place.
    Shows(Sequence),
    /// It is empty and shows nothing: [`Index::rebuild`] it.
    Empty {
        /// Why what was there was set aside; none when nothing was there.
        because: Option<String>,
    },
}

/// What a purge did.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Purged {
    /// Segments that were written anew.
    pub segments: usize,
    /// Files of no live segment that could not be removed, as on systems that keep files which are mapped: drop every older [`Searcher`] and call
    /// [`Index::collect`] until it says 0.
    pub files_left: usize,
}

/// What a commit says of itself.
#[derive(Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Payload {
    format: u32,
    sequence: Sequence,
    key: String,
    /// Of the rest: the engine keeps no checksum of this.
    check: u64,
}

impl Payload {
    fn of(sequence: Sequence, key: &str) -> Self {
        let check = feed::key(&["payload", &FORMAT.to_string(), &sequence.to_string(), key]);
        Self { format: FORMAT, sequence, key: key.to_owned(), check }
    }
}

type Writer = IndexWriter<TantivyDocument>;

/// The index of one user, and its only writer.
pub struct Index {
    path: PathBuf,
    key: String,
    fields: Fields,
    index: tantivy::Index,
    /// None until something is written: reading takes no lock and writes no file.
    writer: Option<Writer>,
    searcher: RwLock<Arc<Searcher>>,
}

impl Index {
    /// Opens the index at `path`, or makes an empty one. What is of another format, schema or key, or whose files are not as they were written,
    /// is set aside. Every byte is read for that.
    ///
    /// `key` is a fingerprint of the user's key, and never the key.
    ///
    /// # Errors
    /// [`IndexError`] when the disk fails, which sets nothing aside. Another writer is no hindrance: it is met when something is to be written.
    pub fn open(path: &Path, key: &str) -> Result<(Self, State), IndexError> {
        std::fs::create_dir_all(path).map_err(|error| io(path, "made", error))?;
        let because = match Self::existing(path, key)? {
            Existing::Ready(index, searcher, sequence) => {
                return Ok((Self::with(path, key, index, *searcher), State::Shows(sequence)));
            }
            Existing::Unusable(because) => {
                tracing::warn!(path = %path.display(), because, "the index is made anew");
                set_aside(path)?;
                Some(because)
            }
            Existing::None => None,
        };
        let (index, searcher) = create(path)?;
        Ok((Self::with(path, key, index, searcher), State::Empty { because }))
    }

    fn existing(path: &Path, key: &str) -> Result<Existing, IndexError> {
        if !path.join("meta.json").try_exists().map_err(|error| io(path, "read", error))? {
            return Ok(Existing::None);
        }
        let fields = Fields::build();
        let opened = (|| {
            let index = tantivy::Index::open_in_dir(path)?;
            let metas = index.load_metas()?;
            // Before anything is decoded: the engine trusts the bytes of a file.
            if let Some(because) = probe::damage(path, &index, &metas)? {
                return Ok(Err(because));
            }
            if index.schema() != fields.0 {
                return Ok(Err("it has another schema".to_owned()));
            }
            let searcher = Searcher::load(&index, fields.1)?;
            Ok(Ok((index, searcher, metas)))
        })();
        let (index, searcher, metas) = match opened {
            Ok(Ok(opened)) => opened,
            Ok(Err(because)) => return Ok(Existing::Unusable(because)),
            Err(error) if error::is_unreadable(&error) => return Ok(Existing::Unusable(error.to_string())),
            Err(error) => return Err(error::engine(path, "opened", error)),
        };
        let payload = metas.payload.as_deref().and_then(|text| serde_json::from_str::<Payload>(text).ok());
        Ok(match payload {
            Some(payload) if payload == Payload::of(payload.sequence, key) => {
                Existing::Ready(index, Box::new(searcher), payload.sequence)
            }
            Some(payload) if payload.format != FORMAT => {
                Existing::Unusable(format!("it has format {}: expected {FORMAT}", payload.format))
            }
            Some(_) => Existing::Unusable("it was made with another key, or is damaged".to_owned()),
            // Made, and nothing committed: there is nothing to lose.
            None => Existing::Unusable("it was never committed".to_owned()),
        })
    }

    fn with(path: &Path, key: &str, index: tantivy::Index, searcher: Searcher) -> Self {
        let (fields, searcher) = (Fields::build().1, RwLock::new(Arc::new(searcher)));
        Self { path: path.to_owned(), key: key.to_owned(), fields, index, writer: None, searcher }
    }

    /// The writer, which is begun where there is none yet.
    fn writer(&mut self) -> Result<&mut Writer, IndexError> {
        let writer = match self.writer.take() {
            Some(writer) => writer,
            None => begin(&self.index).map_err(|error| error::engine(&self.path, "opened", error))?,
        };
        Ok(self.writer.insert(writer))
    }

    /// The snapshot of the last commit.
    #[must_use]
    pub fn searcher(&self) -> Arc<Searcher> {
        Arc::clone(&self.searcher.read().unwrap_or_else(PoisonError::into_inner))
    }

    /// Where it is.
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Queues changes. They are seen after [`Index::commit`].
    ///
    /// # Errors
    /// [`IndexError`] when the writer has failed.
    pub fn apply(&mut self, ops: &[Op<'_>]) -> Result<(), IndexError> {
        for op in ops {
            let (Op::Put(ordinal, _) | Op::Remove(ordinal)) = *op;
            let fields = self.fields;
            let writer = self.writer()?;
            writer.delete_term(Term::from_field_u64(fields.ordinal, ordinal));
            if let Op::Put(ordinal, unit) = op
                && feed::is_indexed(unit)
            {
                let added = writer.add_document(feed::document(&fields, *ordinal, unit));
                added.map_err(|error| error::engine(&self.path, "written", error))?;
            }
        }
        Ok(())
    }

    /// Makes the queued changes durable and visible, as what the log says up to `through`.
    ///
    /// # Errors
    /// [`IndexError`] when the disk fails; what was committed before stays.
    pub fn commit(&mut self, through: Sequence) -> Result<(), IndexError> {
        self.commit_only(through)?;
        self.merge_levels()?;
        self.refresh()
    }

    fn commit_only(&mut self, through: Sequence) -> Result<(), IndexError> {
        let text = serde_json::to_string(&Payload::of(through, &self.key)).unwrap_or_default();
        let commit = |writer: &mut Writer| {
            let mut prepared = writer.prepare_commit()?;
            prepared.set_payload(&text);
            prepared.commit()
        };
        commit(self.writer()?).map(|_| ()).map_err(|error| error::engine(&self.path, "committed", error))
    }

    /// Writes segments as one.
    fn merge(&mut self, ids: &[SegmentId]) -> Result<(), IndexError> {
        let merged = self.writer()?.merge(ids).wait();
        merged.map(|_| ()).map_err(|error| error::engine(&self.path, "merged", error))
    }

    fn segments(&self) -> Result<Vec<SegmentMeta>, IndexError> {
        self.index.searchable_segment_metas().map_err(|error| error::engine(&self.path, "read", error))
    }

    /// Keeps the number of segments within a few per size.
    fn merge_levels(&mut self) -> Result<(), IndexError> {
        loop {
            let metas = self.segments()?;
            let sizes: Vec<u32> = metas.iter().map(SegmentMeta::num_docs).collect();
            let Some(chosen) = levels::to_merge(&sizes) else { return Ok(()) };
            let ids: Vec<_> = chosen.into_iter().filter_map(|at| metas.get(at)).map(SegmentMeta::id).collect();
            self.merge(&ids)?;
        }
    }

    /// Removes units so that nothing of them is left: not visible, not in a term dictionary, not in a file.
    ///
    /// # Errors
    /// [`IndexError`] when the disk fails. The units may then be gone from searches and not from the disk: call it again.
    pub fn purge(&mut self, ordinals: &[u64], through: Sequence) -> Result<Purged, IndexError> {
        let field = self.fields.ordinal;
        let writer = self.writer()?;
        for ordinal in ordinals {
            writer.delete_term(Term::from_field_u64(field, *ordinal));
        }
        self.commit_only(through)?;
        // A delete is a bit until its segment is written anew; also of segments that were deleted from earlier.
        let merged = self.merge_deleted()?;
        self.refresh()?;
        remove_aside(&self.path)?;
        Ok(Purged { segments: merged, files_left: self.collect()? })
    }

    fn merge_deleted(&mut self) -> Result<usize, IndexError> {
        let mut merged = 0;
        for meta in self.segments()?.iter().filter(|meta| meta.has_deletes()) {
            self.merge(&[meta.id()])?;
            merged += 1;
        }
        Ok(merged)
    }

    /// Removes files that no segment needs any more, and counts those that could not be removed.
    ///
    /// # Errors
    /// [`IndexError`] when the disk fails.
    pub fn collect(&mut self) -> Result<usize, IndexError> {
        let collected = self.writer()?.garbage_collect_files().wait();
        collected.map_err(|error| error::engine(&self.path, "cleaned", error))?;
        Ok(self.strays()?.len())
    }

    /// What lies in the folder and is of no segment: left by a crash, or put there. It may hold terms of what was purged.
    ///
    /// # Errors
    /// [`IndexError`] when the disk fails.
    pub fn strays(&self) -> Result<Vec<PathBuf>, IndexError> {
        let metas = self.index.load_metas().map_err(|error| error::engine(&self.path, "read", error))?;
        probe::strays(&self.path, &metas)
    }

    /// Removes what is of no segment and what was set aside, and says how many files that were. Where there is nothing of the kind it writes nothing.
    ///
    /// # Errors
    /// [`IndexError`] when the disk fails.
    pub fn sweep(&mut self) -> Result<usize, IndexError> {
        let strays = self.strays()?;
        strays.iter().try_for_each(|path| remove(path))?;
        remove_aside(&self.path)?;
        Ok(strays.len())
    }

    /// Reads every file of every live segment, and names those that are not as they were written.
    ///
    /// # Errors
    /// [`IndexError`] when the disk fails.
    pub fn damaged(&self) -> Result<Vec<PathBuf>, IndexError> {
        let metas = match self.index.load_metas() {
            Ok(metas) => metas,
            Err(error) if error::is_unreadable(&error) => return Ok(vec![self.path.join("meta.json")]),
            Err(error) => return Err(error::engine(&self.path, "read", error)),
        };
        let damaged = probe::damaged(&self.path, &self.index, &metas);
        let damaged = damaged.map_err(|error| error::engine(&self.path, "read", error))?;
        Ok(damaged.into_iter().map(|name| self.path.join(name)).collect())
    }

    /// Makes the index anew from what is known. Everything that lies in its folder goes first, and what was set aside.
    ///
    /// # Errors
    /// [`IndexError::Locked`] when another writer has it, and [`IndexError`] when the disk fails. What was there may be gone then.
    pub fn rebuild(&mut self, corpus: &dyn Corpus) -> Result<(), IndexError> {
        if let Err(error @ IndexError::Locked { .. }) = self.writer() {
            return Err(error);
        }
        // With its lock: only now is it sure that nobody else writes.
        self.writer = None;
        let (index, searcher) = create(&self.path)?;
        self.index = index;
        *self.searcher.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(searcher);
        let (fields, mut waiting) = (self.fields, 0);
        for ordinal in 0..corpus.ordinals() {
            let Some(unit) = corpus.unit(ordinal).filter(|unit| feed::is_indexed(unit)) else { continue };
            let added = self.writer()?.add_document(feed::document(&fields, ordinal, unit));
            added.map_err(|error| error::engine(&self.path, "rebuilt", error))?;
            waiting += 1;
            if waiting == REBUILD_BATCH {
                // Sequence 0 until all is there: a rebuild that is cut off shows nothing.
                self.commit_only(0)?;
                waiting = 0;
            }
        }
        self.commit_only(corpus.sequence())?;
        let ids: Vec<_> = self.segments()?.iter().map(SegmentMeta::id).collect();
        if ids.len() > 1 {
            self.merge(&ids)?;
        }
        self.refresh()?;
        self.collect()?;
        remove_aside(&self.path)
    }

    fn refresh(&self) -> Result<(), IndexError> {
        let fresh =
            Searcher::load(&self.index, self.fields).map_err(|error| error::engine(&self.path, "read", error))?;
        *self.searcher.write().unwrap_or_else(PoisonError::into_inner) = Arc::new(fresh);
        Ok(())
    }

    /// Decodes the term dictionary of every live segment and says whether one of them has `term` in any field.
    ///
    /// A scan of the bytes cannot tell: terms are stored as a transducer. Meant for the proof that a purge left nothing.
    ///
    /// # Errors
    /// [`IndexError`] when the disk fails.
    pub fn holds_term(&self, term: &str) -> Result<bool, IndexError> {
        probe::holds_term(&self.index, &self.fields, term).map_err(|error| error::engine(&self.path, "read", error))
    }
}

impl std::fmt::Debug for Index {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("Index").field("path", &self.path).finish_non_exhaustive()
    }
}

enum Existing {
    Ready(tantivy::Index, Box<Searcher>, Sequence),
    Unusable(String),
    None,
}

fn begin(index: &tantivy::Index) -> tantivy::Result<Writer> {
    let writer = index.writer_with_num_threads(1, WRITER_BYTES)?;
    // Merges are ours: two processes that commit the same have the same segments.
    writer.set_merge_policy(Box::new(NoMergePolicy));
    Ok(writer)
}

/// An empty index in a folder from which everything else is removed: the list first, without which the rest is nothing.
fn create(path: &Path) -> Result<(tantivy::Index, Searcher), IndexError> {
    let failed = |error| io(path, "emptied", error);
    let meta = path.join("meta.json");
    if meta.try_exists().map_err(failed)? {
        remove(&meta)?;
    }
    for entry in std::fs::read_dir(path).map_err(failed)? {
        remove(&entry.map_err(failed)?.path())?;
    }
    let (schema, fields) = Fields::build();
    let made = tantivy::Index::create_in_dir(path, schema)
        .and_then(|index| Searcher::load(&index, fields).map(|searcher| (index, searcher)));
    made.map_err(|error| error::engine(path, "made", error))
}

fn remove(path: &Path) -> Result<(), IndexError> {
    let is_folder = std::fs::symlink_metadata(path).is_ok_and(|found| found.is_dir());
    let removed = if is_folder { std::fs::remove_dir_all(path) } else { std::fs::remove_file(path) };
    removed.map_err(|error| io(path, "removed", error))
}

fn io(path: &Path, doing: &'static str, source: std::io::Error) -> IndexError {
    IndexError::Io { path: path.to_owned(), doing, source }
}

/// Where an unusable index waits until its successor is committed.
fn aside(path: &Path) -> PathBuf {
    let mut name = path.file_name().unwrap_or_default().to_owned();
    name.push(".aside");
    path.with_file_name(name)
}

fn set_aside(path: &Path) -> Result<(), IndexError> {
    remove_aside(path)?;
    std::fs::rename(path, aside(path)).map_err(|error| io(path, "set aside", error))?;
    std::fs::create_dir_all(path).map_err(|error| io(path, "made", error))
}

/// What was set aside may hold what has been purged since.
fn remove_aside(path: &Path) -> Result<(), IndexError> {
    match std::fs::remove_dir_all(aside(path)) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => Err(io(&aside(path), "removed", error)),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests;
