//! The term index of one user: derived from the log, without text, and thrown away rather than repaired. It knows no query and no ranking.
//!
//! A document is a unit's ordinal with its terms and fast fields. The commit says which place in the log it shows and whose key made it. There is one
//! writer; a [`Searcher`] is one snapshot of what was committed, and any number of them can be held.

mod error;
mod feed;
mod levels;
mod probe;
mod schema;
mod search;

use std::path::{Path, PathBuf};
use std::sync::{Arc, PoisonError, RwLock};

use serde::{Deserialize, Serialize};
use tantivy::indexer::NoMergePolicy;
use tantivy::{IndexWriter, TantivyDocument, Term};

pub use error::IndexError;
pub(crate) use feed::{layer_number, name_terms, names_a_day_or_more, speaker_key, status_number, traits};
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
#[derive(Debug, Serialize, Deserialize)]
struct Payload {
    format: u32,
    sequence: Sequence,
    key: String,
}

/// The index of one user, and its only writer.
pub struct Index {
    path: PathBuf,
    key: String,
    fields: Fields,
    index: tantivy::Index,
    writer: IndexWriter<TantivyDocument>,
    searcher: RwLock<Arc<Searcher>>,
}

impl Index {
    /// Opens the index at `path`, or makes an empty one. What is of another format, schema or key, or cannot be read, is set aside.
    ///
    /// `key` is a fingerprint of the user's key, and never the key.
    ///
    /// # Errors
    /// [`IndexError::Locked`] when another writer has it, and [`IndexError`] when the disk fails: neither sets anything aside.
    pub fn open(path: &Path, key: &str) -> Result<(Self, State), IndexError> {
        std::fs::create_dir_all(path).map_err(|error| io(path, "made", error))?;
        let because = match Self::existing(path, key)? {
            Existing::Ready(index, sequence) => return Ok((Self::with(path, key, index)?, State::Shows(sequence))),
            Existing::Unusable(because) => {
                tracing::warn!(path = %path.display(), because, "the index is made anew");
                set_aside(path)?;
                Some(because)
            }
            Existing::None => None,
        };
        let index = tantivy::Index::create_in_dir(path, Fields::build().0)
            .map_err(|error| error::engine(path, "made", error))?;
        Ok((Self::with(path, key, index)?, State::Empty { because }))
    }

    fn existing(path: &Path, key: &str) -> Result<Existing, IndexError> {
        if !path.join("meta.json").try_exists().map_err(|error| io(path, "read", error))? {
            return Ok(Existing::None);
        }
        let opened = tantivy::Index::open_in_dir(path).and_then(|index| {
            // Opens every segment: damage shows here, and not at the first query.
            index.reader().map(|_| index)
        });
        let index = match opened {
            Ok(index) => index,
            Err(error) if error::is_unreadable(&error) => return Ok(Existing::Unusable(error.to_string())),
            Err(error) => return Err(error::engine(path, "opened", error)),
        };
        if index.schema() != Fields::build().0 {
            return Ok(Existing::Unusable("it has another schema".to_owned()));
        }
        let metas = index.load_metas().map_err(|error| error::engine(path, "opened", error))?;
        let payload = metas.payload.as_deref().and_then(|text| serde_json::from_str::<Payload>(text).ok());
        Ok(match payload {
            Some(payload) if payload.format == FORMAT && payload.key == key => Existing::Ready(index, payload.sequence),
            Some(payload) if payload.format != FORMAT => {
                Existing::Unusable(format!("it has format {}: expected {FORMAT}", payload.format))
            }
            Some(_) => Existing::Unusable("it was made with another key".to_owned()),
            // Made, and nothing committed: there is nothing to lose.
            None => Existing::Unusable("it was never committed".to_owned()),
        })
    }

    fn with(path: &Path, key: &str, index: tantivy::Index) -> Result<Self, IndexError> {
        let opened = || {
            let writer = index.writer_with_num_threads(1, WRITER_BYTES)?;
            // Merges are ours: two processes that commit the same have the same segments.
            writer.set_merge_policy(Box::new(NoMergePolicy));
            let fields = Fields::build().1;
            let searcher = Searcher::load(&index, fields)?;
            Ok((writer, fields, searcher))
        };
        let (writer, fields, searcher) = opened().map_err(|error| error::engine(path, "opened", error))?;
        let searcher = RwLock::new(Arc::new(searcher));
        Ok(Self { path: path.to_owned(), key: key.to_owned(), fields, index, writer, searcher })
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
            self.writer.delete_term(Term::from_field_u64(self.fields.ordinal, ordinal));
            if let Op::Put(ordinal, unit) = op
                && feed::is_indexed(unit)
            {
                let document = feed::document(&self.fields, *ordinal, unit);
                self.writer.add_document(document).map_err(|error| error::engine(&self.path, "written", error))?;
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
        self.merge_levels().map_err(|error| error::engine(&self.path, "merged", error))?;
        self.refresh()
    }

    fn commit_only(&mut self, through: Sequence) -> Result<(), IndexError> {
        let payload = Payload { format: FORMAT, sequence: through, key: self.key.clone() };
        let text = serde_json::to_string(&payload).unwrap_or_default();
        let commit = |writer: &mut IndexWriter<TantivyDocument>| {
            let mut prepared = writer.prepare_commit()?;
            prepared.set_payload(&text);
            prepared.commit()
        };
        commit(&mut self.writer).map(|_| ()).map_err(|error| error::engine(&self.path, "committed", error))
    }

    /// Keeps the number of segments within a few per size.
    fn merge_levels(&mut self) -> tantivy::Result<()> {
        loop {
            let metas = self.index.searchable_segment_metas()?;
            let sizes: Vec<u32> = metas.iter().map(tantivy::index::SegmentMeta::num_docs).collect();
            let Some(chosen) = levels::to_merge(&sizes) else { return Ok(()) };
            let ids: Vec<_> = chosen.into_iter().filter_map(|at| metas.get(at)).map(|meta| meta.id()).collect();
            self.writer.merge(&ids).wait()?;
        }
    }

    /// Removes units so that nothing of them is left: not visible, not in a term dictionary, not in a file.
    ///
    /// # Errors
    /// [`IndexError`] when the disk fails. The units may then be gone from searches and not from the disk: call it again.
    pub fn purge(&mut self, ordinals: &[u64], through: Sequence) -> Result<Purged, IndexError> {
        for ordinal in ordinals {
            self.writer.delete_term(Term::from_field_u64(self.fields.ordinal, *ordinal));
        }
        self.commit_only(through)?;
        // A delete is a bit until its segment is written anew; also of segments that were deleted from earlier.
        let merged = self.merge_deleted().map_err(|error| error::engine(&self.path, "merged", error))?;
        self.refresh()?;
        remove_aside(&self.path)?;
        Ok(Purged { segments: merged, files_left: self.collect()? })
    }

    fn merge_deleted(&mut self) -> tantivy::Result<usize> {
        let mut merged = 0;
        for meta in self.index.searchable_segment_metas()?.iter().filter(|meta| meta.has_deletes()) {
            self.writer.merge(&[meta.id()]).wait()?;
            merged += 1;
        }
        Ok(merged)
    }

    /// Removes files that no segment needs any more, and counts those that could not be removed.
    ///
    /// # Errors
    /// [`IndexError`] when the disk fails.
    pub fn collect(&mut self) -> Result<usize, IndexError> {
        self.writer.garbage_collect_files().wait().map_err(|error| error::engine(&self.path, "cleaned", error))?;
        probe::files_of_no_segment(&self.path, &self.index)
    }

    /// Makes the index anew from what is known, and removes what was set aside.
    ///
    /// # Errors
    /// [`IndexError`] when the disk fails.
    pub fn rebuild(&mut self, corpus: &dyn Corpus) -> Result<(), IndexError> {
        let failed = |error| error::engine(&self.path, "rebuilt", error);
        self.writer.delete_all_documents().map_err(failed)?;
        let mut waiting = 0;
        for ordinal in 0..corpus.ordinals() {
            let Some(unit) = corpus.unit(ordinal).filter(|unit| feed::is_indexed(unit)) else { continue };
            let document = feed::document(&self.fields, ordinal, unit);
            self.writer.add_document(document).map_err(|error| error::engine(&self.path, "rebuilt", error))?;
            waiting += 1;
            if waiting == REBUILD_BATCH {
                // Sequence 0 until all is there: a rebuild that is cut off shows nothing.
                self.commit_only(0)?;
                waiting = 0;
            }
        }
        self.commit_only(corpus.sequence())?;
        self.merge_all().map_err(|error| error::engine(&self.path, "merged", error))?;
        self.refresh()?;
        self.collect()?;
        remove_aside(&self.path)
    }

    fn merge_all(&mut self) -> tantivy::Result<()> {
        let ids = self.index.searchable_segment_ids()?;
        if ids.len() > 1 {
            self.writer.merge(&ids).wait()?;
        }
        Ok(())
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
    Ready(tantivy::Index, Sequence),
    Unusable(String),
    None,
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
