//! Planners that ask a language model (OpenAI-compatible HTTP, local GGUF), and an embedder of texts. It knows no episode, no tool's code, no
//! world and no memory: it reads a context and proposes, or a text and gives its vector.
//!
//! Both planners render the same messages from a [`Context`](loopwright_contract::context::Context) and offer the same functions; they
//! differ in where the tokens come from.

pub mod embed;
pub mod http;
pub mod local;

mod chat;
mod grammar;
mod offer;
mod reading;

pub use chat::{Spoken, transcript};
