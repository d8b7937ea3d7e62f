//! A GGUF file: its metadata, its tensors, and the shape of the model they make.

use std::fs::File;
use std::io::{BufReader, Read as _};
use std::path::Path;

use candle_core::Device;
use candle_core::quantized::QTensor;
use candle_core::quantized::gguf_file::{Content, Value};
use loopwright_contract::digest::PolicyDigest;
use sha2::{Digest as _, Sha256};

use super::LocalError;

/// Largest values that a shape may have; a file beyond them is broken or hostile.
const LAYERS_MAX: usize = 512;
const WIDTH_MAX: usize = 1 << 17;
const HEADS_MAX: usize = 1024;
/// Tokens a vocabulary may have.
const VOCABULARY_MAX: usize = 1 << 20;

/// An open file.
pub(crate) struct ModelFile {
    content: Content,
    reader: BufReader<File>,
}

/// Which family a file is of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Family {
    /// Rotates pairs of neighbours.
    Llama,
    /// Biases on queries, keys and values.
    Qwen2,
    /// Norms on queries and keys.
    Qwen3,
}

/// Sizes of a model.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Shape {
    pub(crate) family: Family,
    pub(crate) layers: usize,
    pub(crate) width: usize,
    pub(crate) heads: usize,
    pub(crate) kv_heads: usize,
    pub(crate) head_width: usize,
    pub(crate) inner_width: usize,
    pub(crate) vocabulary: usize,
    pub(crate) context: usize,
    pub(crate) rope_base: f32,
    /// Leading dimensions of a head that are rotated.
    pub(crate) rope_width: usize,
    pub(crate) norm_epsilon: f32,
}

impl Shape {
    /// Width of all keys, or all values, of one position.
    pub(crate) fn kv_width(&self) -> usize {
        self.kv_heads * self.head_width
    }

    /// Width of all queries of one position.
    pub(crate) fn query_width(&self) -> usize {
        self.heads * self.head_width
    }
}

/// The digest of a model file.
pub(crate) fn digest(path: &Path) -> Result<PolicyDigest, LocalError> {
    let read = |source| LocalError::Read { path: path.to_owned(), source };
    let mut file = File::open(path).map_err(read)?;
    let mut hasher = Sha256::new();
    let mut chunk = vec![0; 1 << 20];
    loop {
        let count = file.read(&mut chunk).map_err(read)?;
        if count == 0 {
            return Ok(PolicyDigest(hasher.finalize().into()));
        }
        hasher.update(chunk.get(..count).unwrap_or_default());
    }
}

impl ModelFile {
    pub(crate) fn open(path: &Path) -> Result<Self, LocalError> {
        let file = File::open(path).map_err(|source| LocalError::Read { path: path.to_owned(), source })?;
        let mut reader = BufReader::new(file);
        let content = Content::read(&mut reader)
            .map_err(|error| LocalError::Format { path: path.to_owned(), reason: first_line(&error) })?;
        Ok(Self { content, reader })
    }

    pub(crate) fn content(&self) -> &Content {
        &self.content
    }

    pub(crate) fn text(&self, key: &str) -> Option<&str> {
        match self.content.metadata.get(key) {
            Some(Value::String(text)) => Some(text),
            _ => None,
        }
    }

    pub(crate) fn flag(&self, key: &str) -> Option<bool> {
        match self.content.metadata.get(key) {
            Some(Value::Bool(flag)) => Some(*flag),
            _ => None,
        }
    }

    /// A whole number, however it is stored.
    pub(crate) fn number(&self, key: &str) -> Option<u64> {
        match self.content.metadata.get(key)? {
            Value::U8(value) => Some(u64::from(*value)),
            Value::U16(value) => Some(u64::from(*value)),
            Value::U32(value) => Some(u64::from(*value)),
            Value::U64(value) => Some(*value),
            Value::I8(value) => u64::try_from(*value).ok(),
            Value::I16(value) => u64::try_from(*value).ok(),
            Value::I32(value) => u64::try_from(*value).ok(),
            Value::I64(value) => u64::try_from(*value).ok(),
            _ => None,
        }
    }

    fn float(&self, key: &str) -> Option<f32> {
        match self.content.metadata.get(key)? {
            Value::F32(value) => Some(*value),
            #[expect(
                clippy::cast_possible_truncation,
                reason = "a hyper-parameter; single precision is what models use"
            )]
            Value::F64(value) => Some(*value as f32),
            _ => None,
        }
    }

    /// The entries of a list of texts.
    pub(crate) fn texts(&self, key: &str) -> Option<Vec<&str>> {
        let Value::Array(values) = self.content.metadata.get(key)? else {
            return None;
        };
        values.iter().map(|value| if let Value::String(text) = value { Some(text.as_str()) } else { None }).collect()
    }

    /// The entries of a list of whole numbers.
    pub(crate) fn numbers(&self, key: &str) -> Option<Vec<u32>> {
        let Value::Array(values) = self.content.metadata.get(key)? else {
            return None;
        };
        values
            .iter()
            .map(|value| match value {
                Value::I32(value) => u32::try_from(*value).ok(),
                Value::U32(value) => Some(*value),
                Value::U8(value) => Some(u32::from(*value)),
                Value::U16(value) => Some(u32::from(*value)),
                _ => None,
            })
            .collect()
    }

    pub(crate) fn has_tensor(&self, name: &str) -> bool {
        self.content.tensor_infos.contains_key(name)
    }

    /// Reads a tensor of the expected shape.
    pub(crate) fn tensor(&mut self, name: &str, expected: &[usize]) -> Result<QTensor, LocalError> {
        let Some(info) = self.content.tensor_infos.get(name) else {
            return Err(LocalError::Unsupported(format!("the file has no tensor `{name}`")));
        };
        if info.shape.dims() != expected {
            let found = info.shape.dims();
            return Err(LocalError::Unsupported(format!("tensor `{name}` has shape {found:?}, expected {expected:?}")));
        }
        self.content.tensor(&mut self.reader, name, &Device::Cpu).map_err(|error| LocalError::tensor(name, error))
    }

    /// The sizes that the metadata gives.
    pub(crate) fn shape(&self) -> Result<Shape, LocalError> {
        let architecture = self.text("general.architecture").unwrap_or_default();
        let family = match architecture {
            "llama" => Family::Llama,
            "qwen2" => Family::Qwen2,
            "qwen3" => Family::Qwen3,
            other => {
                return Err(LocalError::Unsupported(format!(
                    "model family `{other}`, expected `llama`, `qwen2` or `qwen3`"
                )));
            }
        };
        let given =
            |key: &str| self.number(&format!("{architecture}.{key}")).and_then(|value| usize::try_from(value).ok());
        let size = |key: &str, max: usize| match given(key) {
            Some(value) if (1..=max).contains(&value) => Ok(value),
            found => Err(LocalError::Unsupported(format!(
                "metadata `{architecture}.{key}` is {found:?}, expected 1 to {max}"
            ))),
        };
        let (width, heads) = (size("embedding_length", WIDTH_MAX)?, size("attention.head_count", HEADS_MAX)?);
        let head_width = given("attention.key_length").unwrap_or(width / heads);
        let vocabulary = self
            .content
            .tensor_infos
            .get("token_embd.weight")
            .and_then(|info| info.shape.dims().first().copied())
            .unwrap_or(0);
        let shape = Shape {
            family,
            layers: size("block_count", LAYERS_MAX)?,
            width,
            heads,
            kv_heads: given("attention.head_count_kv").unwrap_or(heads),
            head_width,
            inner_width: size("feed_forward_length", WIDTH_MAX)?,
            vocabulary,
            context: size("context_length", usize::MAX)?,
            rope_base: self.float(&format!("{architecture}.rope.freq_base")).unwrap_or(10_000.0),
            rope_width: given("rope.dimension_count").unwrap_or(head_width),
            norm_epsilon: self.float(&format!("{architecture}.attention.layer_norm_rms_epsilon")).unwrap_or(1e-5),
        };
        check(&shape)?;
        Ok(shape)
    }
}

fn check(shape: &Shape) -> Result<(), LocalError> {
    let rules = [
        ((1..=VOCABULARY_MAX).contains(&shape.vocabulary), "a token embedding of 1 to 1048576 tokens"),
        (
            shape.kv_heads >= 1 && shape.heads.is_multiple_of(shape.kv_heads),
            "a number of heads that is a multiple of the key heads",
        ),
        ((1..=WIDTH_MAX).contains(&shape.head_width) && shape.query_width() <= WIDTH_MAX, "a head width in range"),
        (
            shape.rope_width.is_multiple_of(2) && shape.rope_width <= shape.head_width,
            "an even rotation width within the head",
        ),
    ];
    match rules.into_iter().find(|(holds, _)| !holds) {
        Some((_, expected)) => Err(LocalError::Unsupported(format!("the shape {shape:?}, expected {expected}"))),
        None => Ok(()),
    }
}

/// Errors of candle may carry a backtrace behind their first line.
pub(super) fn first_line(error: &dyn std::fmt::Display) -> String {
    error.to_string().lines().next().unwrap_or_default().to_owned()
}
