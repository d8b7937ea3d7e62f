//! The crate's behaviour at its public face: one binary, one module a subject.

#![expect(clippy::unwrap_used, clippy::panic, clippy::indexing_slicing, reason = "helpers of tests fail as tests do")]

mod builders;
mod limits;
mod model;
mod queries;
mod sameness;
mod stored;
