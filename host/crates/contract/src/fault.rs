//! Three families that never mix: what a guest or planner is told ([`crate::tool::Failure`]), what ends a guest ([`GuestFault`]) and what
//! is our own fault ([`HostFault`]).

use serde::{Deserialize, Serialize};

use crate::name::PluginName;

/// A budget that a guest can spend.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Budget {
    /// Instructions.
    Fuel,
    /// Summed linear memories.
    Memory,
    /// Summed tables.
    Tables,
    /// Bytes that the host copied or holds for the guest.
    HostBytes,
    /// Bytes of a result.
    Output,
    /// Live handles.
    Handles,
    /// The native stack of the guest.
    Stack,
}

impl std::fmt::Display for Budget {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        formatter.write_str(match self {
            Self::Fuel => "fuel",
            Self::Memory => "memory",
            Self::Tables => "tables",
            Self::HostBytes => "host bytes",
            Self::Output => "output",
            Self::Handles => "handles",
            Self::Stack => "stack",
        })
    }
}

/// How a guest's code failed. It is the same on every machine, and it becomes data in the trajectory.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum GuestFault {
    /// It trapped.
    #[error("trapped: {reason}")]
    Trapped {
        /// The trap, without addresses.
        reason: String,
    },
    /// It spent a budget.
    #[error("spent its {budget} budget of {limit}")]
    Budget {
        /// Which.
        budget: Budget,
        /// What was allowed.
        limit: u64,
    },
    /// The host refused it something by policy: `busy`, `depth`, or what was not granted.
    #[error("denied: {what}")]
    Denied {
        /// What was denied.
        what: String,
    },
    /// It broke the contract: an answer that is not what the contract says.
    #[error("broke the contract: {what}")]
    Contract {
        /// What was expected and what was found.
        what: String,
    },
}

/// A fault of the host or of the machine. The episode is void.
#[derive(Debug, thiserror::Error)]
pub enum HostFault {
    /// Time ran out. It depends on the machine's load, so it decides nothing.
    #[error("deadline of {limit_ms} ms passed")]
    Deadline {
        /// What was allowed.
        limit_ms: u64,
    },
    /// A file or the network failed.
    #[error("{attempt}")]
    Io {
        /// What was attempted, on what.
        attempt: String,
        /// Why it failed.
        source: std::io::Error,
    },
    /// Something is not installed or not as it was recorded; the text says what to do.
    #[error("{0}")]
    Setup(String),
    /// A defect of ours.
    #[error("internal fault: {0}")]
    Internal(String),
}

/// What ended a call of a plugin.
#[derive(Debug, thiserror::Error)]
pub enum CallFault {
    /// The plugin's code failed.
    #[error("plugin `{plugin}` failed")]
    Guest {
        /// Which plugin.
        plugin: PluginName,
        /// How.
        #[source]
        fault: GuestFault,
    },
    /// The host failed.
    #[error(transparent)]
    Host(#[from] HostFault),
}

/// A fault as text with its causes, for records and reports.
#[must_use]
pub fn chain(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut source = error.source();
    while let Some(cause) = source {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        source = cause.source();
    }
    text
}
