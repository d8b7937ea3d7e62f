//! Wording of the contract's state errors, the same for every limit.

use loopwright_contract::state::StateError;

/// A limit named `what`: `allowed` at most, `found` asked for.
pub(crate) fn over(what: &str, allowed: impl std::fmt::Display, found: impl std::fmt::Display) -> StateError {
    StateError::Limit(format!("{what}: at most {allowed} allowed, found {found}"))
}

/// `Ok` while `found` is within `allowed`.
pub(crate) fn within(what: &str, allowed: usize, found: usize) -> Result<(), StateError> {
    if found > allowed { Err(over(what, allowed, found)) } else { Ok(()) }
}
