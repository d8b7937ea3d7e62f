//! An MCP server over worlds of tools: one world for each client session, over stdio and over streamable HTTP.
//!
//! It deliberately knows no engine, no plugin, no grant, no verifier and no task: it drives [`Worlds`], a small port, and what that port does
//! not have no client can reach. There is no method to reset a world, to read its state, to judge it, or to confirm a call on the user's
//! behalf. It reads no clock of the machine but for time-outs, and no file.
//!
//! - A session is a world of its own from `initialize` to the end of the connection; sessions share nothing.
//! - A call goes through the environment, as a planner's does; what the environment refuses stays refused.
//! - What needs the user's confirmation is asked for by MCP elicitation, for exactly one run of exactly that call.
//! - Worlds are synchronous: each call runs on a blocking thread, one at a time in a session, and waiting for it can be cancelled.
//!
//! The revisions of MCP with an `initialize` handshake are spoken, up to 2025-11-25. Later ones have no sessions over HTTP, and a world that
//! is forgotten between two calls is of no use.

mod catalogue;
mod confirm;
mod http;
pub mod limits;
mod port;
mod result;
mod server;
mod session;

pub use http::{HttpRules, HttpRulesError, PATH, Token, TokenError};
pub use port::{Answer, Opened, World, Worlds};
pub use result::Kind;
pub use rmcp::transport::stdio_pipes;
pub use server::{McpError, Server, Settings};
pub use session::Confirm;
