//! The vectors of one user: exact, by ordinal, without a graph that could be damaged or could keep what was deleted. It knows no model and no ranking.
//!
//! The file is a head with the embedder's fingerprint and one record for each vector, each with a mark that stands for the text it was made of, and a
//! checksum. So it can be told without the embedder which vectors are of what is still said. Vectors are appended; dropping one writes the file
//! anew. Like the index it is derived: what cannot be read is removed and computed again.

mod dot;
mod file;

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub use dot::dot;

use crate::store::disk_hint;

/// The longest fingerprint of an embedder, in bytes.
pub const FINGERPRINT_BYTES_MAX: usize = 512;
/// Threads that compare vectors with a query.
const THREADS_MAX: usize = 4;
/// Fewer vectors than these are not worth a thread: it takes about as long to start one as to compare a thousand.
const VECTORS_PER_THREAD_MIN: usize = 4_096;
/// The most numbers in a vector.
pub const WIDTH_MAX: usize = 8_192;

/// Why the vectors did not do what they were asked to.
#[derive(Debug, thiserror::Error)]
pub enum VectorError {
    /// The file system refused.
    #[error("the vectors `{}` cannot be {doing}{}", .path.display(), disk_hint(.source))]
    Io {
        /// Where.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// A vector of another length.
    #[error("a vector has {found} numbers: expected {expected}, as the embedder said")]
    Width {
        /// What the embedder said.
        expected: usize,
        /// What it gave.
        found: usize,
    },
    /// A number that is none.
    #[error("the vector of unit {ordinal} has a number that is not finite at {at}")]
    NotFinite {
        /// The unit.
        ordinal: u64,
        /// From 0.
        at: usize,
    },
    /// What the embedder says of itself is out of range.
    #[error(
        "an embedder of width {width} with a fingerprint of {bytes} bytes: expected a width of 1 to {WIDTH_MAX} and 1 to {FINGERPRINT_BYTES_MAX} bytes"
    )]
    Embedder {
        /// Its width.
        width: usize,
        /// Bytes of its fingerprint.
        bytes: usize,
    },
}

/// How vectors were found.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum State {
    /// There were this many.
    Holds(usize),
    /// There are none; every text is to be embedded.
    Empty {
        /// Why what was there was thrown away; none when nothing was there.
        because: Option<String>,
    },
}

/// A unit's vector, and the mark of the text that it was made of.
#[derive(Debug, Clone, PartialEq)]
pub struct Marked {
    /// The unit.
    pub ordinal: u64,
    /// The same for the same text.
    pub mark: u64,
    /// As wide as the embedder says.
    pub vector: Vec<f32>,
}

/// The vectors of one user, and their only writer.
#[derive(Debug)]
pub struct Vectors {
    /// None: they are in memory only.
    path: Option<PathBuf>,
    /// Whether there is a file with the embedder's head: it is begun with the first vector.
    begun: bool,
    fingerprint: String,
    width: usize,
    ordinals: Vec<u64>,
    numbers: Vec<f32>,
    /// The mark of each.
    known: BTreeMap<u64, u64>,
}

impl Vectors {
    /// Opens the vectors that the embedder of this fingerprint and width made. Others, and a damaged file, are removed; a torn tail is cut. Nothing is
    /// written where nothing is wrong.
    ///
    /// # Errors
    /// [`VectorError`] when the disk fails, or the embedder's own figures are out of range.
    pub fn open(path: &Path, fingerprint: &str, width: usize) -> Result<(Self, State), VectorError> {
        if !(1..=WIDTH_MAX).contains(&width) || !(1..=FINGERPRINT_BYTES_MAX).contains(&fingerprint.len()) {
            return Err(VectorError::Embedder { width, bytes: fingerprint.len() });
        }
        let because = match Self::existing(path)? {
            Existing::Ready(vectors) if vectors.fingerprint == fingerprint && vectors.width == width => {
                let state = State::Holds(vectors.len());
                return Ok((vectors, state));
            }
            Existing::Ready(vectors) => {
                file::remove(path).map_err(|error| io(path, "removed", error))?;
                Some(format!("it is of the embedder `{}`", vectors.fingerprint.escape_debug()))
            }
            Existing::Unusable(because) => Some(because),
            Existing::None => None,
        };
        let vectors = Self { path: Some(path.to_owned()), ..Self::in_memory(fingerprint, width) };
        Ok((vectors, State::Empty { because }))
    }

    /// Opens the vectors of whatever embedder, to take out of them what is forgotten. A damaged file is removed, since what it shows is not known.
    ///
    /// # Errors
    /// [`VectorError`] when the disk fails.
    pub fn open_any(path: &Path) -> Result<(Option<Self>, State), VectorError> {
        Ok(match Self::existing(path)? {
            Existing::Ready(vectors) => {
                let state = State::Holds(vectors.len());
                (Some(vectors), state)
            }
            Existing::Unusable(because) => (None, State::Empty { because: Some(because) }),
            Existing::None => (None, State::Empty { because: None }),
        })
    }

    fn existing(path: &Path) -> Result<Existing, VectorError> {
        file::remove_unfinished(path).map_err(|error| io(path, "tidied", error))?;
        Ok(match file::read(path).map_err(|error| io(path, "read", error))? {
            file::Found::Records(fingerprint, width, read) => {
                if !read.whole {
                    let cut = file::replace(path, &fingerprint, width, &read);
                    cut.map_err(|error| io(path, "written", error))?;
                }
                let known = read.ordinals.iter().copied().zip(read.marks).collect();
                let (ordinals, numbers, path) = (read.ordinals, read.numbers, Some(path.to_owned()));
                Existing::Ready(Self { path, begun: true, fingerprint, width, ordinals, numbers, known })
            }
            file::Found::Unusable(because) => {
                tracing::warn!(path = %path.display(), because, "the vectors are made anew");
                file::remove(path).map_err(|error| io(path, "removed", error))?;
                Existing::Unusable(because)
            }
            file::Found::None => Existing::None,
        })
    }

    /// Which units have a vector in a file, with the mark of its text, as it lies on the disk now; none when it is damaged.
    ///
    /// # Errors
    /// [`VectorError`] when the disk fails.
    pub fn on_disk(path: &Path) -> Result<Option<Vec<(u64, u64)>>, VectorError> {
        Ok(match file::read(path).map_err(|error| io(path, "read", error))? {
            file::Found::Records(_, _, read) => read.whole.then(|| read.ordinals.into_iter().zip(read.marks).collect()),
            file::Found::Unusable(_) => None,
            file::Found::None => Some(Vec::new()),
        })
    }

    /// Vectors without a file, gone when they are dropped.
    #[must_use]
    pub fn in_memory(fingerprint: &str, width: usize) -> Self {
        let (width, fingerprint) = (width.max(1), fingerprint.to_owned());
        let (ordinals, numbers, known) = (Vec::new(), Vec::new(), BTreeMap::new());
        Self { path: None, begun: false, fingerprint, width, ordinals, numbers, known }
    }

    /// Adds vectors of units that have none yet, without a mark of their text; a unit that has one keeps it.
    ///
    /// # Errors
    /// As [`Vectors::add_marked`].
    pub fn add(&mut self, vectors: &[(u64, Vec<f32>)]) -> Result<(), VectorError> {
        self.put(vectors.iter().map(|(ordinal, vector)| (*ordinal, 0, vector.as_slice())).collect())
    }

    /// Adds vectors of units that have none yet; a unit that has one keeps it. They are on the disk when this returns.
    ///
    /// # Errors
    /// [`VectorError`] when a vector is not of the embedder's width or not finite (nothing is added then), or when the disk fails.
    pub fn add_marked(&mut self, vectors: &[Marked]) -> Result<(), VectorError> {
        self.put(vectors.iter().map(|one| (one.ordinal, one.mark, one.vector.as_slice())).collect())
    }

    fn put(&mut self, mut vectors: Vec<(u64, u64, &[f32])>) -> Result<(), VectorError> {
        for (ordinal, _, vector) in &vectors {
            if vector.len() != self.width {
                return Err(VectorError::Width { expected: self.width, found: vector.len() });
            }
            if let Some(at) = vector.iter().position(|number| !number.is_finite()) {
                return Err(VectorError::NotFinite { ordinal: *ordinal, at });
            }
        }
        let mut seen = BTreeSet::new();
        vectors.retain(|(ordinal, ..)| !self.known.contains_key(ordinal) && seen.insert(*ordinal));
        if vectors.is_empty() {
            return Ok(());
        }
        if let Some(path) = &self.path {
            if !self.begun {
                let begun = file::replace(path, &self.fingerprint, self.width, &file::Records::default());
                begun.map_err(|error| io(path, "written", error))?;
                self.begun = true;
            }
            let mut bytes = Vec::new();
            vectors.iter().for_each(|(ordinal, mark, vector)| file::encode(&mut bytes, *ordinal, *mark, vector));
            file::append(path, &bytes).map_err(|error| io(path, "written", error))?;
        }
        for (ordinal, mark, vector) in vectors {
            self.known.insert(ordinal, mark);
            self.ordinals.push(ordinal);
            self.numbers.extend_from_slice(vector);
        }
        Ok(())
    }

    /// Removes the vectors of units and writes the file anew, so that nothing of them is left in it.
    ///
    /// # Errors
    /// [`VectorError`] when the disk fails; then all of them are still there.
    pub fn drop_units(&mut self, ordinals: &[u64]) -> Result<usize, VectorError> {
        let gone: BTreeSet<u64> = ordinals.iter().copied().filter(|ordinal| self.has(*ordinal)).collect();
        if gone.is_empty() {
            return Ok(0);
        }
        let mut kept = file::Records::default();
        for (ordinal, vector) in self.iter().filter(|(ordinal, _)| !gone.contains(ordinal)) {
            kept.ordinals.push(ordinal);
            kept.marks.push(self.mark(ordinal).unwrap_or_default());
            kept.numbers.extend_from_slice(vector);
        }
        if let Some(path) = &self.path {
            let written = file::replace(path, &self.fingerprint, self.width, &kept);
            written.map_err(|error| io(path, "written", error))?;
        }
        (self.ordinals, self.numbers) = (kept.ordinals, kept.numbers);
        self.known.retain(|ordinal, _| !gone.contains(ordinal));
        Ok(gone.len())
    }

    /// Removes all of them with their file, whatever lies there now.
    ///
    /// # Errors
    /// [`VectorError`] when the disk fails; then all of them are still there.
    pub fn clear(&mut self) -> Result<(), VectorError> {
        if let Some(path) = &self.path {
            file::remove(path).map_err(|error| io(path, "removed", error))?;
        }
        self.begun = false;
        (self.ordinals, self.numbers, self.known) = (Vec::new(), Vec::new(), BTreeMap::new());
        Ok(())
    }

    /// Whether a unit has a vector.
    #[must_use]
    pub fn has(&self, ordinal: u64) -> bool {
        self.known.contains_key(&ordinal)
    }

    /// The mark of the text that a unit's vector was made of; none without a vector.
    #[must_use]
    pub fn mark(&self, ordinal: u64) -> Option<u64> {
        self.known.get(&ordinal).copied()
    }

    /// Each unit that has a vector, in order, with the mark of its text.
    pub fn marks(&self) -> impl DoubleEndedIterator<Item = (u64, u64)> {
        self.known.iter().map(|(ordinal, mark)| (*ordinal, *mark))
    }

    /// How many units have one.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ordinals.len()
    }

    /// Whether none has.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ordinals.is_empty()
    }

    /// The embedder that made them.
    #[must_use]
    pub fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    /// Numbers in a vector.
    #[must_use]
    pub fn width(&self) -> usize {
        self.width
    }

    /// The dot product of each vector with the query, in the order in which they were added; several threads share many of them, and each product
    /// is the same whichever thread makes it.
    #[must_use]
    pub fn dots(&self, query: &[f32]) -> Vec<f32> {
        let mut dots = vec![0.0; self.ordinals.len()];
        let threads = std::thread::available_parallelism().map_or(1, std::num::NonZero::get).min(THREADS_MAX);
        let share = dots.len().div_ceil(threads).max(VECTORS_PER_THREAD_MIN);
        let part = |dots: &mut [f32], numbers: &[f32]| {
            dots.iter_mut().zip(numbers.chunks_exact(self.width)).for_each(|(slot, row)| *slot = dot(query, row));
        };
        let mut parts = dots.chunks_mut(share).zip(self.numbers.chunks(share * self.width));
        let first = parts.next();
        std::thread::scope(|scope| {
            parts.for_each(|(dots, numbers)| _ = scope.spawn(move || part(dots, numbers)));
            if let Some((dots, numbers)) = first {
                part(dots, numbers);
            }
        });
        dots
    }

    /// Each unit and its vector, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &[f32])> {
        self.ordinals.iter().copied().zip(self.numbers.chunks_exact(self.width))
    }
}

enum Existing {
    Ready(Vectors),
    Unusable(String),
    None,
}

fn io(path: &Path, doing: &'static str, source: std::io::Error) -> VectorError {
    VectorError::Io { path: path.to_owned(), doing, source }
}

#[cfg(test)]
mod tests;
