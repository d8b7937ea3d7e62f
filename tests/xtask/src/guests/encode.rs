//! From core module to component.

use anyhow::Result;

use crate::file;

/// Goes up when the same module makes other bytes.
const REVISION: u32 = 1;

/// Names a module and its request together with the way in which they are encoded: equal keys give equal components.
pub(super) fn key(module: &[u8], request: Option<&str>) -> String {
    let request = request.map_or_else(String::new, |request| format!("-{}", file::sha256(request.as_bytes())));
    format!("{REVISION}-{}{request}", file::sha256(module))
}

/// Encodes and validates a component, and puts its request in, as the kit does for every author.
///
/// # Errors
/// When the module carries no world, or does not fit the one that it carries.
pub(super) fn component(module: &[u8], request: Option<&str>) -> Result<Vec<u8>> {
    let component = loopwright_kit::component(module)?;
    Ok(match request {
        Some(request) => loopwright_kit::embed(&component, request)?,
        None => component,
    })
}
