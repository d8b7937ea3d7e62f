//! The bounded controller of the schedule. It never sees or sets a reward.
//!
//! Every so many steps a [`Controller`] reads [`Statistics`] of training and of dev episodes and proposes new parameters. A [`Governor`] decides: it
//! holds them inside [`Bounds`], lets the weight of the cost rise only while the lower confidence bound of dev success clears the target, takes the
//! last change back when dev success falls beyond its interval, and keeps what was in force when the answer is invalid, late or missing. Whatever a
//! controller says, each decision is one [`Decision`] for the log.
//!
//! Deadlines are the caller's: it hands in [`Answer::Late`]. Nothing here reads a clock.

mod answer;
mod bounds;
mod decision;
mod governor;
mod rule;
mod statistics;
#[cfg(test)]
mod tests;

pub use answer::{Answer, Controller, PROPOSAL_JSON, Proposal, ProposalError, REASON_BYTES_MAX};
pub use bounds::{Bounds, GAP_MIN, Parameter, THRESHOLD_STEP_MAX, WEIGHT_START, WEIGHT_STEP_MAX};
pub use decision::{Clamp, ClampCause, Decision, Gate, KeptBecause, Outcome};
pub use governor::{ControlError, Governor, GovernorState, Guard, HELD_MAX, HISTORY_MAX};
pub use rule::Rule;
pub use statistics::{Dev, DevValues, Statistics, StatisticsError, Train, TrainValues};
