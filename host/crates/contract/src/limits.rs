//! What a guest, an episode and a planner may use at most. Fuel and counts decide, because they are the same on every machine; time is a
//! backstop, and its end makes an episode void.

use std::time::Duration;

use serde::{Deserialize, Serialize};

/// Tools offered to a planner for one request.
pub const CANDIDATES_MAX: usize = 15;
/// Calls in one turn.
pub const CALLS_PER_TURN_MAX: usize = 16;
/// Prefixes that a verifier judges at once.
pub const PREFIXES_MAX: usize = 64;
/// Bytes of a message of a success, a failure, a question or a reason.
pub const MESSAGE_BYTES_MAX: usize = 4096;
/// Bytes of a skill's guidance.
pub const GUIDANCE_BYTES_MAX: usize = 16 * 1024;
/// Elements of a list that crosses the contract.
pub const LIST_LENGTH_MAX: usize = 1024;

/// What one plugin may use. The operator lowers these; nothing raises them at run time.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct PluginLimits {
    /// Fuel of one call, in wasmtime's units (about one a simple instruction).
    pub call_fuel: u64,
    /// Fuel of instantiation, an allowance of its own.
    pub instantiate_fuel: u64,
    /// Wall time of one call, nested calls included. A nested call gets the smaller of its own and what is left of its caller's.
    pub call_deadline: Duration,
    /// Bytes of all linear memories of an instance together.
    pub memory_bytes: usize,
    /// Elements of all tables of an instance together.
    pub table_elements: usize,
    /// Bytes that the host copies in or out for one call: arguments, results, state, logs. What the host does without copying counts too,
    /// since neither fuel nor the deadline looks into a host call: each crossing, and each document that a query examines.
    pub host_bytes: u64,
    /// Bytes of one result.
    pub output_bytes: usize,
    /// Bytes of log that are kept of one call; the tail is kept, the rest is counted.
    pub log_bytes: usize,
    /// Live resource handles.
    pub handles: u32,
    /// How deep calls nest.
    pub depth: u32,
}

impl Default for PluginLimits {
    fn default() -> Self {
        Self {
            call_fuel: 200_000_000,
            instantiate_fuel: 50_000_000,
            call_deadline: Duration::from_secs(2),
            memory_bytes: 64 * 1024 * 1024,
            table_elements: 20_000,
            host_bytes: 8 * 1024 * 1024,
            output_bytes: 256 * 1024,
            log_bytes: 64 * 1024,
            handles: 256,
            depth: 4,
        }
    }
}

/// What one episode may use.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct EpisodeBudget {
    /// Decisions of the planner. Spent: the episode is invalid.
    pub steps: u32,
    /// Tokens read and written. Spent: invalid.
    pub tokens: u64,
    /// Cost in millionths of the operator's currency. Spent: invalid.
    pub cost_micros: u64,
    /// Wall time. Spent: void, because it depends on the machine.
    pub wall: Duration,
}

impl Default for EpisodeBudget {
    fn default() -> Self {
        Self { steps: 15, tokens: 200_000, cost_micros: 1_000_000, wall: Duration::from_secs(600) }
    }
}

/// What one episode's world may hold.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct WorldLimits {
    /// Bytes of all documents and keys together.
    pub bytes: u64,
    /// Documents of all collections together.
    pub documents: u64,
    /// Collections.
    pub collections: usize,
    /// Bytes of a key.
    pub key_bytes: usize,
}

impl Default for WorldLimits {
    fn default() -> Self {
        Self { bytes: 64 * 1024 * 1024, documents: 1_000_000, collections: 256, key_bytes: 256 }
    }
}
