//! The sizes of a BERT, from its `config.json`.

use std::path::Path;

use serde::Deserialize;

use super::{EmbedderError, format_error};

/// The largest `config.json`, in bytes.
const CONFIG_BYTES_MAX: u64 = 64 * 1024;
/// Largest values that a shape may have; a file beyond them is broken or hostile.
const LAYERS_MAX: usize = 64;
const WIDTH_MAX: usize = 4_096;
const POSITIONS_MAX: usize = 8_192;
const VOCABULARY_MAX: usize = 1 << 20;

/// Sizes of a model.
#[derive(Debug, Clone, Copy, PartialEq, Deserialize)]
pub(super) struct Shape {
    #[serde(rename = "hidden_size")]
    pub(super) width: usize,
    #[serde(rename = "num_hidden_layers")]
    pub(super) layers: usize,
    #[serde(rename = "num_attention_heads")]
    pub(super) heads: usize,
    #[serde(rename = "intermediate_size")]
    pub(super) inner_width: usize,
    #[serde(rename = "max_position_embeddings")]
    pub(super) positions: usize,
    #[serde(rename = "vocab_size")]
    pub(super) vocabulary: usize,
    #[serde(rename = "layer_norm_eps")]
    pub(super) norm_epsilon: f64,
}

/// What decides whether the forward pass is the one that we have.
#[derive(Deserialize)]
struct Kind {
    model_type: String,
    hidden_act: String,
    #[serde(default = "absolute")]
    position_embedding_type: String,
}

fn absolute() -> String {
    "absolute".to_owned()
}

impl Shape {
    pub(super) fn read(path: &Path) -> Result<Self, EmbedderError> {
        let read = |source| EmbedderError::Read { path: path.to_owned(), source };
        let bytes = std::fs::metadata(path).map_err(read)?.len();
        if bytes > CONFIG_BYTES_MAX {
            return Err(format_error(path, &format!("{bytes} bytes, expected at most {CONFIG_BYTES_MAX}")));
        }
        let text = std::fs::read_to_string(path).map_err(read)?;
        Self::parse(&text).map_err(|reason| EmbedderError::Format { path: path.to_owned(), reason })
    }

    pub(super) fn parse(text: &str) -> Result<Self, String> {
        let kind: Kind = serde_json::from_str(text).map_err(|error| error.to_string())?;
        for (field, found, expected) in [
            ("model_type", kind.model_type, "bert"),
            ("hidden_act", kind.hidden_act, "gelu"),
            ("position_embedding_type", kind.position_embedding_type, "absolute"),
        ] {
            if found != expected {
                return Err(format!("`{field}` is `{found}`, expected `{expected}`"));
            }
        }
        let shape: Self = serde_json::from_str(text).map_err(|error| error.to_string())?;
        for (field, found, max) in [
            ("hidden_size", shape.width, WIDTH_MAX),
            ("num_hidden_layers", shape.layers, LAYERS_MAX),
            ("num_attention_heads", shape.heads, shape.width),
            ("intermediate_size", shape.inner_width, 4 * WIDTH_MAX),
            ("max_position_embeddings", shape.positions, POSITIONS_MAX),
            ("vocab_size", shape.vocabulary, VOCABULARY_MAX),
        ] {
            if !(1..=max).contains(&found) {
                return Err(format!("`{field}` is {found}, expected 1 to {max}"));
            }
        }
        if !shape.width.is_multiple_of(shape.heads) {
            return Err(format!("a width of {} does not split into {} heads", shape.width, shape.heads));
        }
        if !(shape.norm_epsilon.is_finite() && (0.0..=0.1).contains(&shape.norm_epsilon)) {
            return Err(format!("`layer_norm_eps` is {}, expected 0 to 0.1", shape.norm_epsilon));
        }
        Ok(shape)
    }
}
