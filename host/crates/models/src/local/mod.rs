//! A planner with a model of its own: a GGUF file of the Llama, Qwen2 or Qwen3 family, on the CPU.

mod attention;
mod cache;
mod compact;
mod file;
mod kernel;
mod model;
mod planner;
mod prefix;
mod quant;
mod sample;
mod template;
mod vocabulary;
mod write;

use std::path::PathBuf;

pub use planner::{LocalConfig, LocalDescription, LocalPlanner, LocalSpeed};
pub use sample::Sampling;
pub use template::ToolRendering;

/// Why a model file cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum LocalError {
    /// The file cannot be read.
    #[error("reading the model file `{}`", path.display())]
    Read {
        /// Which.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// The file is not a whole GGUF file.
    #[error("`{}` is not a GGUF file: {reason}", path.display())]
    Format {
        /// Which.
        path: PathBuf,
        /// What was wrong.
        reason: String,
    },
    /// The file holds something that is not supported; the text says what and what is.
    #[error("unsupported model: {0}")]
    Unsupported(String),
}

impl LocalError {
    fn tensor(name: &str, error: candle_core::Error) -> Self {
        Self::Unsupported(format!("tensor `{name}`: {}", file::first_line(&error)))
    }
}

#[cfg(test)]
mod tests;
