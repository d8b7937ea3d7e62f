//! `bench`: what the host's own share costs, beside bare wasmtime with the same component and imports in the same run.

use crate::cli::{BenchArgs, Shared};
use crate::exit::Exit;

/// Runs it.
///
/// # Errors
/// Something that is not installed.
pub fn bench(_shared: &Shared, _args: &BenchArgs) -> anyhow::Result<Exit> {
    anyhow::bail!("not measured yet")
}
