//! The vectors of one user: exact, by ordinal, without a graph that could be damaged or could keep what was deleted. It knows no model and no ranking.
//!
//! The file is a head with the embedder's fingerprint and one record for each vector, each with a checksum. Vectors are appended; dropping one writes
//! the file anew. Like the index it is derived: what cannot be read is thrown away and computed again.

mod dot;
mod file;

use std::collections::BTreeSet;
use std::fs::File;
use std::io::Write as _;
use std::path::{Path, PathBuf};

pub use dot::dot;

/// The longest fingerprint of an embedder, in bytes.
pub const FINGERPRINT_BYTES_MAX: usize = 512;
/// The most numbers in a vector.
pub const WIDTH_MAX: usize = 8_192;

/// Why the vectors did not do what they were asked to.
#[derive(Debug, thiserror::Error)]
pub enum VectorError {
    /// The file system refused.
    #[error("the vectors `{}` cannot be {doing}", .path.display())]
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

/// The vectors of one user, and their only writer.
#[derive(Debug)]
pub struct Vectors {
    /// None: they are in memory only.
    file: Option<(PathBuf, File)>,
    fingerprint: String,
    width: usize,
    ordinals: Vec<u64>,
    numbers: Vec<f32>,
    known: BTreeSet<u64>,
}

impl Vectors {
    /// Opens the vectors that the embedder of this fingerprint and width made. Others, and a damaged file, are thrown away; a torn tail is cut.
    ///
    /// # Errors
    /// [`VectorError`] when the disk fails, or the embedder's own figures are out of range.
    pub fn open(path: &Path, fingerprint: &str, width: usize) -> Result<(Self, State), VectorError> {
        if !(1..=WIDTH_MAX).contains(&width) || !(1..=FINGERPRINT_BYTES_MAX).contains(&fingerprint.len()) {
            return Err(VectorError::Embedder { width, bytes: fingerprint.len() });
        }
        let (read, state) = match file::read(path, fingerprint, width).map_err(|error| io(path, "read", error))? {
            file::Found::Records(records) => {
                let state = State::Holds(records.ordinals.len());
                (records, state)
            }
            file::Found::Unusable(because) => {
                tracing::warn!(path = %path.display(), because, "the vectors are made anew");
                (file::Records::default(), State::Empty { because: Some(because) })
            }
            file::Found::None => (file::Records::default(), State::Empty { because: None }),
        };
        let file = if read.whole && !matches!(state, State::Empty { .. }) {
            file::append(path).map_err(|error| io(path, "opened", error))?
        } else {
            file::replace(path, fingerprint, width, &read).map_err(|error| io(path, "written", error))?
        };
        let known = read.ordinals.iter().copied().collect();
        let (ordinals, numbers) = (read.ordinals, read.numbers);
        let file = Some((path.to_owned(), file));
        Ok((Self { file, fingerprint: fingerprint.to_owned(), width, ordinals, numbers, known }, state))
    }

    /// Vectors without a file, gone when they are dropped.
    #[must_use]
    pub fn in_memory(fingerprint: &str, width: usize) -> Self {
        let (width, fingerprint) = (width.max(1), fingerprint.to_owned());
        Self { file: None, fingerprint, width, ordinals: Vec::new(), numbers: Vec::new(), known: BTreeSet::new() }
    }

    /// Adds vectors of units that have none yet; a unit that has one keeps it. They are on the disk when this returns.
    ///
    /// # Errors
    /// [`VectorError`] when a vector is not of the embedder's width or not finite (nothing is added then), or when the disk fails.
    pub fn add(&mut self, vectors: &[(u64, Vec<f32>)]) -> Result<(), VectorError> {
        for (ordinal, vector) in vectors {
            if vector.len() != self.width {
                return Err(VectorError::Width { expected: self.width, found: vector.len() });
            }
            if let Some(at) = vector.iter().position(|number| !number.is_finite()) {
                return Err(VectorError::NotFinite { ordinal: *ordinal, at });
            }
        }
        let mut bytes = Vec::new();
        let mut fresh = Vec::new();
        let mut seen = BTreeSet::new();
        for (ordinal, vector) in vectors {
            if !self.known.contains(ordinal) && seen.insert(*ordinal) {
                file::encode(&mut bytes, *ordinal, vector);
                fresh.push((*ordinal, vector));
            }
        }
        if let Some((path, file)) = &mut self.file {
            let written = file.write_all(&bytes).and_then(|()| file.sync_data());
            written.map_err(|error| io(path, "written", error))?;
        }
        for (ordinal, vector) in fresh {
            self.known.insert(ordinal);
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
        let gone: BTreeSet<u64> = ordinals.iter().copied().filter(|ordinal| self.known.contains(ordinal)).collect();
        if gone.is_empty() {
            return Ok(0);
        }
        let mut kept = file::Records::default();
        for (ordinal, vector) in self.iter().filter(|(ordinal, _)| !gone.contains(ordinal)) {
            kept.ordinals.push(ordinal);
            kept.numbers.extend_from_slice(vector);
        }
        if let Some((path, file)) = &mut self.file {
            *file = file::replace(path, &self.fingerprint, self.width, &kept)
                .map_err(|error| io(path, "written", error))?;
        }
        (self.ordinals, self.numbers) = (kept.ordinals, kept.numbers);
        self.known.retain(|ordinal| !gone.contains(ordinal));
        Ok(gone.len())
    }

    /// Whether a unit has a vector.
    #[must_use]
    pub fn has(&self, ordinal: u64) -> bool {
        self.known.contains(&ordinal)
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

    /// Each unit and its vector, in the order in which they were added.
    pub fn iter(&self) -> impl Iterator<Item = (u64, &[f32])> {
        self.ordinals.iter().copied().zip(self.numbers.chunks_exact(self.width))
    }
}

fn io(path: &Path, doing: &'static str, source: std::io::Error) -> VectorError {
    VectorError::Io { path: path.to_owned(), doing, source }
}

#[cfg(test)]
mod tests;
