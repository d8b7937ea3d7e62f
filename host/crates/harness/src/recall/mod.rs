//! Tool recall: which tools to offer for a request, out of all that are installed.
//!
//! [`ToolIndex`] ranks tool specs by BM25 over weighted fields, in every language that the specs are written in, and
//! knows neither tasks nor gold: what a request's words do not bring up is not offered. A request of several intents is
//! also ranked clause by clause, and the rankings are joined, so that one intent does not crowd out the others.
//! [`recall_at`] measures it.
//!
//! ```
//! use loopwright_harness::recall::ToolIndex;
//!
//! let index = ToolIndex::build(&[]);
//! assert!(index.candidates("turn on the torch", 15).is_empty());
//! ```

mod evaluation;
mod field;
mod fusion;
mod index;
mod term;
mod value;

#[cfg(test)]
mod tests;

pub use evaluation::{LanguageRecall, MISSES_MAX, Miss, RecallCase, recall_at};
pub use index::{BM25_B, BM25_K1, ToolIndex};
