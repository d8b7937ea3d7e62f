//! Vectors of a bench that are kept between runs: embedding is what takes the time, and a run that was killed goes on where it was.

use std::collections::HashMap;
use std::fs::{File, OpenOptions};
use std::io::Write as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use anyhow::Context as _;
use indicatif::ProgressBar;
use loopwright_contract::digest::ContentDigest;
use loopwright_contract::memory::{Embedder, MemoryError};

/// Bytes of a digest.
const DIGEST_BYTES: usize = 32;

/// An embedder that embeds each text once.
pub(super) struct Keeping {
    inner: Arc<dyn Embedder>,
    kept: Mutex<Kept>,
    bar: ProgressBar,
}

struct Kept {
    vectors: HashMap<[u8; DIGEST_BYTES], Vec<f32>>,
    file: File,
}

impl Keeping {
    /// Keeps vectors in a file of the folder that is named after the embedder. A record that broke off at its end is cut.
    pub(super) fn open(inner: Arc<dyn Embedder>, folder: &Path, bar: ProgressBar) -> anyhow::Result<Self> {
        std::fs::create_dir_all(folder).with_context(|| format!("`{}`", folder.display()))?;
        let name = ContentDigest::of(inner.fingerprint().as_bytes()).to_string().replace(':', "-");
        let path = folder.join(format!("{name}.vectors"));
        let at = || format!("`{}`", path.display());
        let bytes = if path.exists() { std::fs::read(&path).with_context(at)? } else { Vec::new() };
        let record = DIGEST_BYTES + inner.width() * 4;
        let mut vectors = HashMap::new();
        for part in bytes.chunks_exact(record) {
            let (digest, numbers) = part.split_at(DIGEST_BYTES);
            let numbers = numbers.chunks_exact(4).filter_map(|number| number.try_into().ok()).map(f32::from_le_bytes);
            if let Ok(digest) = digest.try_into() {
                vectors.insert(digest, numbers.collect());
            }
        }
        let file = OpenOptions::new().create(true).append(true).open(&path).with_context(at)?;
        file.set_len((bytes.len() / record * record) as u64).with_context(at)?;
        Ok(Self { inner, kept: Mutex::new(Kept { vectors, file }), bar })
    }
}

impl Embedder for Keeping {
    fn fingerprint(&self) -> &str {
        self.inner.fingerprint()
    }

    fn width(&self) -> usize {
        self.inner.width()
    }

    fn covers(&self, text: &str) -> bool {
        self.inner.covers(text)
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, MemoryError> {
        let digest = |text: &str| ContentDigest::of(text.as_bytes()).0;
        let mut kept = self.kept.lock().unwrap_or_else(PoisonError::into_inner);
        let missing: Vec<&str> =
            texts.iter().copied().filter(|text| !kept.vectors.contains_key(&digest(text))).collect();
        if !missing.is_empty() {
            let made = self.inner.embed(&missing)?;
            let mut bytes = Vec::new();
            for (text, vector) in missing.iter().zip(&made) {
                bytes.extend(digest(text));
                bytes.extend(vector.iter().flat_map(|number| number.to_le_bytes()));
            }
            kept.file.write_all(&bytes).map_err(|error| MemoryError(format!("keeping vectors: {error}")))?;
            for (text, vector) in missing.iter().zip(made) {
                kept.vectors.insert(digest(text), vector);
            }
        }
        self.bar.inc(texts.len() as u64);
        texts
            .iter()
            .map(|text| {
                kept.vectors.get(&digest(text)).cloned().ok_or_else(|| MemoryError("a vector is missing".to_owned()))
            })
            .collect()
    }
}
