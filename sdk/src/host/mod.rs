//! The one door to the host: the same functions over the imports of the component and over the in-memory world of the tests.

#[cfg(not(target_family = "wasm"))]
mod native;
#[cfg(target_family = "wasm")]
mod wasm;

#[cfg(not(target_family = "wasm"))]
pub(crate) use native::{EvidencePort, Grants, Port, SnapshotPort};
#[cfg(target_family = "wasm")]
pub(crate) use wasm::{EvidencePort, Port, SnapshotPort, lift_actor, lift_call, write_log};
