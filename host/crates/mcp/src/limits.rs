//! What a client may use at most.

use std::time::Duration;

/// Sessions at a time, unless the operator says otherwise; each is a world of its own.
pub const SESSIONS_DEFAULT: usize = 16;
/// The most sessions that an operator can allow.
pub const SESSIONS_MAX: usize = 64;
/// Calls of one session that run or wait; a further one is refused.
pub const CALLS_WAITING_MAX: usize = 16;
/// Calls of one session in all, since a world keeps the evidence of each.
pub const CALLS_PER_SESSION_MAX: u32 = 2_000;
/// Bytes of the arguments and answers of one session in all, for the same reason.
pub const EVIDENCE_BYTES_MAX: usize = 64 * 1024 * 1024;
/// Bytes of one message of a client, on either transport: arguments at the contract's limit, escaped, and what stands around them.
pub const MESSAGE_BYTES_MAX: usize = 1024 * 1024;
/// Bytes of the arguments that a user is asked to confirm: what nobody can read whole, nobody can confirm.
pub const CONFIRM_BYTES_MAX: usize = 4 * 1024;
/// How long a user may take to confirm a call.
pub const CONFIRM_WAIT: Duration = Duration::from_secs(300);
/// A session without a message for so long ends. Longer than [`CONFIRM_WAIT`], during which nothing need be said.
pub const SESSION_IDLE: Duration = Duration::from_secs(1_800);
/// HTTP connections at a time; further ones wait to be accepted.
pub const CONNECTIONS_MAX: usize = 128;
/// How long a client may take for the head of a request, and a connection may be quiet between two.
pub const HEAD_WAIT: Duration = Duration::from_secs(30);
/// How long a client may take for the body of a request.
pub const BODY_WAIT: Duration = Duration::from_secs(10);
/// How long a server that was told to stop waits for calls in work; a call's own deadline is shorter.
pub const SHUTDOWN_WAIT: Duration = Duration::from_secs(4);
/// Bytes of a bearer token, at least.
pub const TOKEN_BYTES_MIN: usize = 16;
/// Bytes of a bearer token, at most.
pub const TOKEN_BYTES_MAX: usize = 4 * 1024;
