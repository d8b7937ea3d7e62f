//! The crate's behaviour at its public face: one binary, one module a subject.

mod builders;
mod limits;
mod model;
mod queries;
mod sameness;
mod stored;
