//! The guest SDK: write a tool, environment, verifier or skill plugin. It knows the contract in `wit/` and no host.
mod access;
mod call;
mod environment;
mod evidence;
mod export;
mod failure;
mod host;
mod json;
mod phone;
mod plugin;
mod query;
mod schema;
mod skill;
mod state;
mod storage;
#[cfg(not(target_family = "wasm"))]
pub mod testing;
mod time;
mod tool;
mod update;
mod verifier;

#[cfg(target_family = "wasm")]
#[doc(hidden)]
pub mod bindings;
#[cfg(target_family = "wasm")]
#[doc(hidden)]
pub mod glue;

pub use access::{ArgumentValues, Effect, Requirement};
pub use call::{Actor, Reply, Success, ToolCall};
pub use environment::{
    AccessNeeds, Answer, EnvironmentPlugin, Feedback, Observation, Outcome, ToolFault, Turn, TurnResult, World,
};
pub use evidence::{Action, Bookkeeping, Change, Evidence, Snapshot, Step};
pub use failure::{Allowed, Code, Failure, Fault};
pub use json::{Json, ShapeError};
pub use phone::{Level, Phone, PhoneView};
pub use plugin::{Identity, ToolPlugin};
pub use query::Query;
pub use skill::{Advice, Card, Guidance, SkillPlugin};
pub use state::{Cursor, Doc, Page, StateError};
pub use storage::{Collection, Storage};
pub use time::{Date, DateTime, Instant, TimeOfDay, Weekday};
pub use tool::{Handler, NeedsAccess, NeedsDomain, NeedsEffect, NeedsEnglish, NeedsLastRule, NoArguments, Tool};
pub use update::Updated;
pub use verifier::{Criterion, JudgeError, Verdict, VerifierPlugin};
