//! Vectors that were computed elsewhere and written to a file, behind the embedder's port: so that a measurement can be repeated without a model.

use std::collections::HashMap;

use loopwright_contract::memory::{Embedder, MemoryError};
use sha2::{Digest as _, Sha256};

/// Bytes of a digest.
const DIGEST_BYTES: usize = 32;
const NUMBER_BYTES: usize = 4;
/// The largest file, in bytes.
const BYTES_MAX: usize = 1024 * 1024 * 1024;

/// Why a file of vectors was not read.
#[derive(Debug, thiserror::Error, PartialEq, Eq)]
pub enum RecordedError {
    /// The file does not consist of whole records.
    #[error(
        "the file has {bytes} bytes: expected a 4-byte width of 1 to 8,192 and records of a 32-byte SHA-256 and that many 4-byte numbers, at most 1 GiB"
    )]
    Size {
        /// Its bytes.
        bytes: usize,
    },
    /// A number that is none.
    #[error("record {record} has a number that is not finite")]
    NotFinite {
        /// From 0.
        record: usize,
    },
}

/// Vectors by the SHA-256 of their text.
#[derive(Debug)]
pub struct RecordedEmbedder {
    fingerprint: String,
    width: usize,
    vectors: HashMap<[u8; DIGEST_BYTES], Vec<f32>>,
}

impl RecordedEmbedder {
    /// Reads a width of four bytes, and then for each text the SHA-256 of its UTF-8 and its numbers; all little-endian.
    ///
    /// # Errors
    /// [`RecordedError`] when the file is not of that form.
    pub fn read(bytes: &[u8]) -> Result<Self, RecordedError> {
        let size = || RecordedError::Size { bytes: bytes.len() };
        let (width, records) = bytes.split_first_chunk::<4>().ok_or_else(size)?;
        let width = u32::from_le_bytes(*width) as usize;
        let record = DIGEST_BYTES + width * NUMBER_BYTES;
        if !(1..=crate::vectors::WIDTH_MAX).contains(&width) || records.len() % record != 0 || bytes.len() > BYTES_MAX {
            return Err(size());
        }
        let mut vectors = HashMap::new();
        for (number, record) in records.chunks_exact(record).enumerate() {
            let Some((digest, numbers)) = record.split_first_chunk::<DIGEST_BYTES>() else { return Err(size()) };
            let vector: Vec<f32> =
                numbers.as_chunks::<NUMBER_BYTES>().0.iter().map(|bytes| f32::from_le_bytes(*bytes)).collect();
            if vector.iter().any(|number| !number.is_finite()) {
                return Err(RecordedError::NotFinite { record: number });
            }
            vectors.insert(*digest, vector);
        }
        let digest = hex::encode(Sha256::digest(bytes));
        Ok(Self { fingerprint: format!("recorded:{digest}"), width, vectors })
    }

    fn get(&self, text: &str) -> Option<&Vec<f32>> {
        self.vectors.get::<[u8; DIGEST_BYTES]>(&Sha256::digest(text.as_bytes()).into())
    }
}

impl Embedder for RecordedEmbedder {
    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    fn width(&self) -> usize {
        self.width
    }

    /// Whether the text was recorded.
    fn covers(&self, text: &str) -> bool {
        self.get(text).is_some()
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, MemoryError> {
        texts
            .iter()
            .map(|text| {
                self.get(text).cloned().ok_or_else(|| {
                    MemoryError(format!("no vector was recorded for `{}`", text.chars().take(80).collect::<String>()))
                })
            })
            .collect()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn only_whole_files_are_read() {
        let mut bytes = 2_u32.to_le_bytes().to_vec();
        bytes.extend_from_slice(&Sha256::digest(b"a"));
        bytes.extend([1.0_f32, 0.5].iter().flat_map(|number| number.to_le_bytes()));
        let embedder = RecordedEmbedder::read(&bytes).expect("whole");
        assert_eq!(embedder.embed(&["a"]), Ok(vec![vec![1.0, 0.5]]));
        assert!(embedder.covers("a") && !embedder.covers("b") && embedder.embed(&["b"]).is_err());
        for cut in [0, 3, bytes.len() - 1] {
            assert_eq!(RecordedEmbedder::read(&bytes[..cut]).expect_err("cut"), RecordedError::Size { bytes: cut });
        }
        let end = bytes.len();
        bytes[end - 4..].copy_from_slice(&f32::NAN.to_le_bytes());
        assert_eq!(RecordedEmbedder::read(&bytes).expect_err("no number"), RecordedError::NotFinite { record: 0 });
        assert!(RecordedEmbedder::read(&0_u32.to_le_bytes()).is_err());
    }
}
