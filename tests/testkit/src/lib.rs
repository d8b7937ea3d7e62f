//! Fakes of every port, for all crates' own tests. They know no engine and no harness.
//!
//! [`host::FakeHost`] is an [`loopwright_contract::episode::EpisodeHost`] in memory: a phone with a torch and some notes, enough to run
//! whole episodes without a sandbox. [`planner`] has planners that err in every way that models do. With the feature `guests`, `guests` makes
//! components out of WAT, the hostile ones among them; it knows their shape and not what runs them.
//!
//! ```
//! use loopwright_contract::episode::EpisodeHost;
//! use loopwright_testkit::host::FakeHost;
//! use loopwright_testkit::task::torch_task;
//!
//! let prepared = FakeHost::new().prepare(&torch_task("torch-1"))?;
//! let mut episode = prepared.open()?;
//! assert_eq!(episode.reset()?.exposed.map(|tools| tools.len()), Some(3));
//! # Ok::<(), loopwright_contract::fault::CallFault>(())
//! ```
#![expect(clippy::expect_used, reason = "fakes are for tests: what they are built from is constant")]

pub mod episode;
#[cfg(feature = "guests")]
pub mod guests;
pub mod host;
pub mod planner;
pub mod stopwatch;
pub mod task;
pub mod tool;
