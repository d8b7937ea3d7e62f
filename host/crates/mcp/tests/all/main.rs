//! The server from outside: a client of the MCP library over pipes, raw requests over HTTP, and worlds in memory that misbehave on request.

#![allow(
    clippy::expect_used,
    clippy::unwrap_used,
    clippy::panic,
    clippy::indexing_slicing,
    reason = "a test ends where something is not as it should be"
)]

mod confirmation;
mod http;
mod limits;
mod session;
mod support;
