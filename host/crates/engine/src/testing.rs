//! The guests of `tests/`, for the tests that look inside.
#![allow(
    dead_code,
    unreachable_pub,
    missing_docs,
    clippy::unwrap_used,
    clippy::panic,
    reason = "shared with tests/, which uses all of it"
)]

#[path = "../tests/all/support/guest.rs"]
pub mod guest;
