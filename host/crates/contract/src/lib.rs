//! The vocabulary of Loopwright: plain data, limits and port traits. It knows no Wasm engine, no tensor, no index and no clock.
//!
//! Every other crate speaks in these types, and they meet only through the ports defined here, so a planner or a trainer is compiled and
//! tested without an engine. The symbols are those of the paper (arXiv 2609.29892): a [`task::Task`] carries the request *x*, a
//! [`context::Context`] is *c_t*, an [`action::ActionSpace`] is *A_t*, a [`planner::Planner`] is *pi_theta*, [`evidence::Step`]s are the
//! execution evidence *xi* and a [`verdict::Verdict`] is *v*.
//!
//! ```
//! use loopwright_contract::json;
//!
//! let value = json::parse(r#"{"b": 25.0, "a": [1, null]}"#, &json::JsonLimits::CONTRACT)?;
//! assert_eq!(json::canonical(&value), r#"{"a":[1,null],"b":25}"#);
//! # Ok::<(), json::JsonError>(())
//! ```

pub mod action;
pub mod capability;
pub mod context;
pub mod digest;
pub mod environment;
pub mod episode;
pub mod evidence;
pub mod fault;
pub mod json;
pub mod limits;
pub mod memory;
pub mod name;
pub mod plain;
pub mod planner;
pub mod skill;
pub mod state;
pub mod stopwatch;
pub mod task;
pub mod tool;
pub mod trajectory;
pub mod verdict;
pub mod wide;
