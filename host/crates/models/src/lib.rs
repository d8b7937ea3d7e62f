//! Planners that ask a language model: OpenAI-compatible HTTP and local GGUF. It knows no episode, no tool's code and no world: it reads a
//! context and proposes.
//!
//! Both planners render the same messages from a [`Context`](loopwright_contract::context::Context) and offer the same functions; they
//! differ in where the tokens come from.

pub mod http;
pub mod local;

mod chat;
mod grammar;
mod offer;
mod reading;

pub use chat::{Spoken, transcript};
