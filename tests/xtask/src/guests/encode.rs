//! From core module to component.

use anyhow::Result;

use crate::file;

/// Goes up when the same module makes other bytes.
const REVISION: u32 = 1;

/// Names a module together with the way in which it is encoded: equal keys give equal components.
pub(super) fn key(module: &[u8]) -> String {
    format!("{REVISION}-{}", file::sha256(module))
}

/// Encodes and validates a component, as the kit does for every author.
///
/// # Errors
/// When the module carries no world, or does not fit the one that it carries.
pub(super) fn component(module: &[u8]) -> Result<Vec<u8>> {
    Ok(loopwright_kit::component(module)?)
}
