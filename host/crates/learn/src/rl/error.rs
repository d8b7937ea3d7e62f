//! Why training does not go on.

use loopwright_contract::name::PluginName;
use serde_json::Value;

use super::policy::PolicyFault;
use super::settings::SettingsError;
use crate::care::{AssignError, GroupId};
use crate::checkpoint::CheckpointError;
use crate::control::ControlError;
use crate::nn::NnError;

/// A plugin is not the one that a run is pinned to.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "plugin `{name}` has changed: the run is pinned to {expected}, found {found}\nhint: install the old one again, or begin a new run"
)]
pub struct PluginChanged {
    /// The plugin.
    pub name: PluginName,
    /// Its digest in the run, or that it had none.
    pub expected: String,
    /// Its digest now, or that there is none.
    pub found: String,
}

/// Rollouts that could not be made at all.
#[derive(Debug, thiserror::Error)]
#[error("no rollouts: {what}")]
pub struct RolloutFault {
    /// What was tried, and why it failed.
    pub what: String,
}

/// A failure of training. The trainer is as it was before the call.
#[derive(Debug, thiserror::Error)]
pub enum TrainError {
    /// Settings without a meaning.
    #[error("the settings of the run")]
    Settings(#[from] SettingsError),
    /// There is nothing to sample from.
    #[error("there are no tasks to train on")]
    NoTasks,
    /// The port failed.
    #[error("the rollouts of step {step}")]
    Rollouts {
        /// The step.
        step: u64,
        /// Why.
        source: RolloutFault,
    },
    /// The port returned something else than was ordered.
    #[error("the rollouts of step {step} are not what was ordered: {what}")]
    Returned {
        /// The step.
        step: u64,
        /// Expected against found.
        what: String,
    },
    /// A recording does not fit its sample.
    #[error("group {group}, slot {slot}: {found} log-probabilities for {expected} choices")]
    Recording {
        /// The group.
        group: GroupId,
        /// The member.
        slot: usize,
        /// Choices of the sample.
        expected: usize,
        /// Log-probabilities of the recording.
        found: usize,
    },
    /// Groups that cannot be compared.
    #[error("the groups of step {step} cannot be compared")]
    Assign {
        /// The step.
        step: u64,
        /// Why.
        source: AssignError,
    },
    /// A plugin is not the one that the run began with.
    #[error(transparent)]
    PluginChanged(#[from] PluginChanged),
    /// The tasks are not those that the run began with.
    #[error(
        "the tasks have changed: the run is pinned to {expected} tasks, found {found}, of which number {first} is the first other one\nhint: generate the pack with the run's seed, or begin a new run"
    )]
    TasksChanged {
        /// Tasks of the run.
        expected: usize,
        /// Tasks now.
        found: usize,
        /// The first that differs, from 0.
        first: usize,
    },
    /// A checkpoint of another architecture.
    #[error(
        "the checkpoint is of another architecture: expected {expected}, found {found}\nhint: build the policy that the run was begun with"
    )]
    Architecture {
        /// The policy's.
        expected: Value,
        /// The checkpoint's.
        found: Value,
    },
    /// A checkpoint whose state cannot be read.
    #[error("the checkpoint's part `{part}` cannot be read: {reason}")]
    State {
        /// The part.
        part: &'static str,
        /// Why not.
        reason: String,
    },
    /// A reference policy where none is expected, or the other way round, or another one.
    #[error(
        "the reference policy: expected {expected}, found {found}\nhint: `beta` above 0 needs the one that the run began with"
    )]
    Reference {
        /// What the settings or the checkpoint ask for.
        expected: String,
        /// What there is.
        found: String,
    },
    /// It was asked to drop the step.
    #[error("step {step} was dropped")]
    Dropped {
        /// The step.
        step: u64,
    },
    /// Steps that were refused one after the other.
    #[error(
        "{steps} steps in a row were refused: {reason}\nhint: go back to the newest checkpoint with a lower learning rate"
    )]
    Stuck {
        /// How many.
        steps: u32,
        /// Why the last one was.
        reason: String,
    },
    /// A checkpoint.
    #[error("a checkpoint of the run")]
    Checkpoint(#[from] CheckpointError),
    /// Weights or moments.
    #[error("the optimiser")]
    Nn(#[from] NnError),
    /// The policy.
    #[error("the policy")]
    Policy(#[from] PolicyFault),
    /// The controller.
    #[error("the controller")]
    Control(#[from] ControlError),
}
