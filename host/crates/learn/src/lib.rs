//! Training: what turns verified trajectories into a better policy.
//!
//! It knows no plugin, no engine, no episode loop and no terminal: rollouts come through a port, and clocks, randomness and folders are passed in.
//! It never gives a reward of its own: success, progress and cost are what verdicts and records say.

pub mod ablation;
pub mod care;
pub mod checkpoint;
pub mod control;
pub mod decoder;
pub mod estimate;
pub mod nn;
pub mod pointer;
pub mod rl;
pub mod sft;
