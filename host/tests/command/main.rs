//! The command as its users run it: the real binary, from outside.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends where something is not as it should be"
)]

mod bench;
mod compare;
mod compile;
mod eval;
mod export;
mod grants;
mod hostile;
mod mcp;
mod memory;
mod phone;
mod registry;
mod status;
mod train;
mod train_stops;
mod verifier;

use std::path::Path;

/// The binary that was built for these tests.
fn binary() -> &'static Path {
    Path::new(env!("CARGO_BIN_EXE_loopwright"))
}
