//! The engine at its public face, with guests that are made out of WAT as the tests run: no toolchain, no file, no waiting. `echo` alone
//! reads components that `cargo xtask` built, because other languages have no WAT.

#![allow(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    clippy::indexing_slicing,
    unreachable_pub,
    reason = "helpers of tests may end them, and modules of one binary have no outside"
)]

mod cache;
mod caller;
mod capabilities;
mod compile;
mod echo;
mod episode;
mod evidence;
mod fresh;
mod install;
mod limits;
mod policies;
mod properties;
mod support;
mod swap;
