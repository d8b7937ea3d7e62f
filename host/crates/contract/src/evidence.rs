//! What happened, as the host recorded it: the execution evidence *xi*.

use serde::{Deserialize, Serialize};
use serde_json::Value;

use crate::environment::Actor;
use crate::tool::ToolCall;

/// A document that differs between two states.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Change {
    /// Its collection.
    pub collection: String,
    /// Its key.
    pub key: String,
    /// As it was; absent: it did not exist.
    pub before: Option<Value>,
    /// As it is; absent: it is gone.
    pub after: Option<Value>,
}

/// What was done in a step.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "kind")]
pub enum Deed {
    /// A tool was called.
    Call {
        /// The call.
        call: ToolCall,
    },
    /// The user was asked.
    Ask {
        /// The question.
        question: String,
    },
    /// The agent refused.
    Refuse {
        /// Why.
        reason: String,
    },
    /// The agent finished.
    Finish {
        /// `{"answer": text, ...}`.
        claim: Value,
    },
    /// Another action.
    Other {
        /// Its name, such as `load-skill`.
        name: String,
        /// What it carried.
        value: Value,
    },
}

/// One thing that was done, with what came of it. Calls of one turn are steps of their own.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Step {
    /// From 0, without gaps.
    pub index: u32,
    /// The turn it belongs to, from 0.
    pub turn: u32,
    /// Nanoseconds since 1970 on the episode's clock.
    #[serde(with = "crate::wide")]
    pub at_ns: u64,
    /// By whom.
    pub by: Actor,
    /// What.
    pub deed: Deed,
    /// Whether it did what was asked, by the host's own record of the invocation.
    pub ok: bool,
    /// What the planner was told: for calls the one result envelope.
    pub answer: Value,
}
