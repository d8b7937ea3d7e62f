//! Generated bindings of `wit/` and their conversions to contract types. It knows no store, no limit of an episode and no policy: it turns
//! one shape into another, and refuses what the contract does not allow.
//!
//! [`afv`] holds every interface that the host serves, generated once. The four worlds add what their plugins export, on the same types:
//! [`tool`], [`environment`], [`verifier`] and [`skill`]. [`convert`] checks names, lengths and JSON on the way in.

pub mod convert;
mod generated;
mod violation;

pub use generated::{afv, environment, skill, tool, verifier};
pub use violation::Violation;

/// The package that every plugin is built against, with the version that this host serves.
pub const WIT_PACKAGE: &str = "loopwright:afv@0.1.0";

/// What a guest's handle of an evidence snapshot stands for. The snapshot itself stays in the engine's table: a handle is a number there.
#[derive(Debug)]
pub enum SnapshotHandle {}
