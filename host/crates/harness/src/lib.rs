//! One episode, from task to verified trajectory. It knows no Wasm engine, no model, no network and no machine clock.
//!
//! A [`Harness`] stands on a host (the engine port) and is shared by all episodes of a run. [`run_tasks`] runs tasks with a planner: it
//! resets the environment, recalls candidate tools for the request, assembles the context, reads the planner's decision, runs it, and goes
//! on until the planner finishes or refuses or a budget is spent; then the verifiers judge. Whatever a planner writes that is no allowed
//! action becomes an observation which says what to mend. [`trajectory`] keeps what happened; [`Replayer`] runs it again and must get the
//! same bytes, or judges it with another verifier.
//!
//! ```
//! use std::sync::Arc;
//!
//! use loopwright_contract::verdict::Outcome;
//! use loopwright_harness::{Harness, RunOptions, Settings, planners::Scripted, run_tasks};
//! use loopwright_testkit::{host::FakeHost, stopwatch::CountingStopwatch, task::torch_task};
//!
//! let harness = Harness::new(Arc::new(FakeHost::new()), Settings::default(), Vec::new())?;
//! let tasks = [torch_task("torch-1")];
//! let options = RunOptions::new(Arc::new(CountingStopwatch::default()));
//! let results = run_tasks(&harness, &Scripted::new(&tasks), &tasks, &options, &|_| {});
//! assert!(matches!(results.as_slice(), [result] if result.outcome == Outcome::Pass));
//! # Ok::<(), loopwright_harness::HarnessError>(())
//! ```

pub mod context;
mod decode;
mod episode;
pub mod groups;
mod harness;
pub mod memory;
pub mod planners;
mod random;
pub mod recall;
mod record;
mod replay;
mod result;
mod run;
mod settings;
mod skills;
pub mod trajectory;
mod user;
mod verdict;
mod watch;

#[cfg(test)]
mod testing;

pub use decode::{PATTERN_BYTES_MAX, SCHEMA_DEPTH_MAX, SCHEMA_NODES_MAX, ToolArguments, reserved_schema};
pub use harness::{Harness, HarnessError};
pub use replay::{Difference, Judgement, ReplayError, ReplayReport, Replayer, VerifierChoice};
pub use result::{EpisodeResult, Tally, VoidCause};
pub use run::{JOBS_MAX, Noise, Output, Progress, RunOptions, run_forked, run_tasks};
pub use settings::{Offer, Prefixes, Settings, WIT_VERSION};
pub use skills::{
    SKILL_FILE_BYTES_MAX, SKILL_FOLDERS_MAX, SkillFile, SkillFileError, SkillFolderError, read_skill_folder,
};
pub use watch::{Busy, Doing, Stuck, Watch};
