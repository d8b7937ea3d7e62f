//! What a run is set to. It is written into every checkpoint, and a run that goes on takes it from there.

use serde::{Deserialize, Serialize};

use crate::care::surrogate::Surrogate;
use crate::care::{GroupSize, Scheme};
use crate::nn::AdamWConfig;

/// Groups of a step.
pub const GROUPS_MAX: usize = 4_096;
/// Times that a step sends out for further groups.
pub const REFILLS_MAX: u32 = 16;
/// Updates that a sample may be older than the policy and still be trained.
pub const STALE_UPDATES_MAX: u32 = 64;
/// Passes over a step's samples.
const EPOCHS_MAX: u32 = 16;

/// What is filled up when a step has too few groups.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RefillOn {
    /// Groups that were dropped, having too few valid members.
    #[default]
    Dropped,
    /// These, and groups whose members nothing tells apart. Two arms then no longer meet the same tasks.
    Silent,
}

/// Settings that have no meaning.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
#[error("`{name}` must be within {least} to {most}, found {found}")]
pub struct SettingsError {
    name: &'static str,
    least: u64,
    most: u64,
    found: u64,
}

/// What a run is set to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Settings {
    /// Seeds the order of the tasks and all rollouts.
    pub seed: u64,
    /// Groups of a step, 1 to [`GROUPS_MAX`].
    pub groups: usize,
    /// Members of a group.
    pub members: GroupSize,
    /// How members are compared. Where a controller is at work, phi is its.
    pub scheme: Scheme,
    /// What a token is worth.
    pub surrogate: Surrogate,
    /// The optimiser.
    pub optimizer: AdamWConfig,
    /// Updates on the samples of one step, at least 1; from the second on the clip is at work.
    pub epochs: u32,
    /// Times that a step sends out for further groups, 0 to [`REFILLS_MAX`]; then it trains on what there is.
    pub refills_max: u32,
    /// What it sends out for.
    #[serde(default)]
    pub refill_on: RefillOn,
    /// Updates that a sample's policy may be behind, 0 to [`STALE_UPDATES_MAX`]. Older samples are masked; their trajectories keep their part in
    /// the group's baseline.
    pub stale_updates_max: u32,
}

impl Settings {
    /// That every number is in its range.
    ///
    /// # Errors
    /// The first that is not.
    pub fn check(&self) -> Result<(), SettingsError> {
        let ranges = [
            ("groups", 1, GROUPS_MAX as u64, self.groups as u64),
            ("epochs", 1, u64::from(EPOCHS_MAX), u64::from(self.epochs)),
            ("refills_max", 0, u64::from(REFILLS_MAX), u64::from(self.refills_max)),
            ("stale_updates_max", 0, u64::from(STALE_UPDATES_MAX), u64::from(self.stale_updates_max)),
        ];
        match ranges.into_iter().find(|(_, least, most, found)| !(least..=most).contains(&found)) {
            Some((name, least, most, found)) => Err(SettingsError { name, least, most, found }),
            None => Ok(()),
        }
    }
}
