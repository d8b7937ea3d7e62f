//! An embedder with a model of its own: a BERT of the sentence-transformers kind (safetensors, `config.json`, `tokenizer.json`), on the CPU.
//!
//! Each text goes through the model by itself, so a vector does not depend on what else was embedded with it, and no padding is computed.

mod forward;
mod shape;
#[cfg(test)]
mod tests;

use std::fs::File;
use std::io::Read as _;
use std::path::{Path, PathBuf};

use candle_core::Device;
use loopwright_contract::digest::ContentDigest;
use loopwright_contract::memory::{Embedder, MemoryError};
use rayon::iter::{IntoParallelRefIterator as _, ParallelIterator as _};
use sha2::{Digest as _, Sha256};
use tokenizers::{Tokenizer, TruncationDirection, TruncationParams, TruncationStrategy};

use forward::Bert;
use shape::Shape;

/// Files of a model, in the order in which the fingerprint covers them.
const FILES: [&str; 3] = ["config.json", "tokenizer.json", "model.safetensors"];
/// The largest file of a model, in bytes.
const FILE_BYTES_MAX: u64 = 4 << 30;
/// Tokens of a text that are read; the rest is cut off. What models of this kind were trained with.
const TOKENS_MAX: usize = 256;
/// Letters outside Latin, in percent, from which on a text is not in a language that the model knows.
const FOREIGN_PERCENT_MAX: usize = 20;

/// Why an embedder was not loaded.
#[derive(Debug, thiserror::Error)]
pub enum EmbedderError {
    /// A file cannot be read.
    #[error("reading `{}`", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is not what its name says.
    #[error("`{}`: {reason}", path.display())]
    Format {
        /// Which.
        path: PathBuf,
        /// What was expected and what was found.
        reason: String,
    },
}

/// A BERT that was loaded from a folder.
pub struct LocalEmbedder {
    bert: Bert,
    tokenizer: Tokenizer,
    fingerprint: String,
}

impl std::fmt::Debug for LocalEmbedder {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.debug_struct("LocalEmbedder").field("fingerprint", &self.fingerprint).finish_non_exhaustive()
    }
}

impl LocalEmbedder {
    /// Loads the model in a folder: `config.json`, `tokenizer.json` and `model.safetensors`. English models only: see [`Embedder::covers`].
    ///
    /// # Errors
    /// [`EmbedderError`] when a file cannot be read or does not fit the others.
    pub fn load(folder: &Path) -> Result<Self, EmbedderError> {
        let path = |name: &str| folder.join(name);
        let shape = Shape::read(&path("config.json"))?;
        let tokenizer = tokenizer(&path("tokenizer.json"), shape.positions.min(TOKENS_MAX))?;
        let known = tokenizer.get_vocab_size(true);
        if known > shape.vocabulary {
            let reason = format!("{known} tokens, expected at most the {} of `config.json`", shape.vocabulary);
            return Err(EmbedderError::Format { path: path("tokenizer.json"), reason });
        }
        let weights = path("model.safetensors");
        let tensors =
            candle_core::safetensors::load(&weights, &Device::Cpu).map_err(|error| format_error(&weights, &error))?;
        let bert = Bert::new(shape, tensors).map_err(|reason| EmbedderError::Format { path: weights, reason })?;
        Ok(Self { bert, tokenizer, fingerprint: fingerprint(folder)? })
    }

    fn vector(&self, text: &str) -> Result<Vec<f32>, MemoryError> {
        let failed = |reason: String| MemoryError(format!("embedding a text of {} bytes: {reason}", text.len()));
        let encoding = self.tokenizer.encode_fast(text, true).map_err(|error| failed(error.to_string()))?;
        self.bert.pooled(encoding.get_ids()).map_err(|error| failed(first_line(&error)))
    }
}

impl Embedder for LocalEmbedder {
    fn fingerprint(&self) -> &str {
        &self.fingerprint
    }

    fn width(&self) -> usize {
        self.bert.width()
    }

    fn covers(&self, text: &str) -> bool {
        let letters = text.chars().filter(|ch| ch.is_alphabetic());
        let (mut latin, mut foreign) = (0_usize, 0_usize);
        // Latin with its accented letters ends before U+0250.
        letters.for_each(|ch| if ch < '\u{250}' { latin += 1 } else { foreign += 1 });
        latin > 0 && foreign * 100 <= FOREIGN_PERCENT_MAX * (latin + foreign)
    }

    fn embed(&self, texts: &[&str]) -> Result<Vec<Vec<f32>>, MemoryError> {
        texts.par_iter().map(|text| self.vector(text)).collect()
    }
}

fn tokenizer(path: &Path, tokens_max: usize) -> Result<Tokenizer, EmbedderError> {
    let mut tokenizer = Tokenizer::from_file(path).map_err(|error| format_error(path, &error))?;
    // The file may pad every text to a fixed length: that would cost as much as the longest text, and change nothing.
    tokenizer.with_padding(None);
    let truncation = TruncationParams {
        direction: TruncationDirection::Right,
        max_length: tokens_max,
        strategy: TruncationStrategy::LongestFirst,
        stride: 0,
    };
    tokenizer.with_truncation(Some(truncation)).map_err(|error| format_error(path, &error))?;
    Ok(tokenizer)
}

fn format_error(path: &Path, error: &dyn std::fmt::Display) -> EmbedderError {
    EmbedderError::Format { path: path.to_owned(), reason: first_line(error) }
}

fn first_line(error: &dyn std::fmt::Display) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}

/// The folder's name and a digest over its files, each behind its length.
fn fingerprint(folder: &Path) -> Result<String, EmbedderError> {
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; 1 << 20];
    for name in FILES {
        let path = folder.join(name);
        let read = |source| EmbedderError::Read { path: path.clone(), source };
        let mut file = File::open(&path).map_err(read)?;
        let bytes = file.metadata().map_err(read)?.len();
        if bytes > FILE_BYTES_MAX {
            let reason = format!("{bytes} bytes, expected at most {FILE_BYTES_MAX}");
            return Err(EmbedderError::Format { path, reason });
        }
        hasher.update(bytes.to_le_bytes());
        loop {
            let count = file.read(&mut chunk).map_err(read)?;
            if count == 0 {
                break;
            }
            hasher.update(chunk.get(..count).unwrap_or_default());
        }
    }
    let name = folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default();
    Ok(format!("{name}@{}", ContentDigest(hasher.finalize().into())))
}
