//! What a checkpoint holds of a run beside weights and moments. It is hostile until it is checked.

use loopwright_contract::digest::PolicyDigest;
use serde::{Deserialize, Serialize};
use serde_json::Value;

use super::batch::Versions;
use super::error::{PluginChanged, TrainError};
use super::port::{PluginStamp, Source};
use super::sampler::Sampler;
use super::settings::Settings;
use crate::care::Statistics;
use crate::control::{GovernorState, Guard};

/// The part with the run's settings, place, schedule, controller and digests, as JSON.
pub const TRAINER_PART: &str = "trainer.json";
/// What this code writes and reads.
const FORMAT: u32 = 1;

/// The governor, with what dev success is held against.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Governed {
    pub(super) state: GovernorState,
    pub(super) guard: Guard,
}

/// A run between two steps.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct State {
    format: u32,
    pub(super) architecture: Value,
    pub(super) settings: Settings,
    pub(super) source: Source,
    pub(super) reference: Option<PolicyDigest>,
    pub(super) step: u64,
    pub(super) sampler: Sampler,
    pub(super) versions: Versions,
    pub(super) refused_in_a_row: u32,
    /// Statistics since the controller last decided.
    pub(super) since: Statistics,
    pub(super) governed: Option<Governed>,
    pub(super) loss: f64,
}

impl State {
    pub(super) fn new(
        architecture: Value,
        settings: Settings,
        source: Source,
        reference: Option<PolicyDigest>,
    ) -> Self {
        let sampler = Sampler::new(settings.seed);
        Self {
            format: FORMAT,
            architecture,
            settings,
            source,
            reference,
            step: 0,
            sampler,
            versions: Versions::new(),
            refused_in_a_row: 0,
            since: Statistics::default(),
            governed: None,
            loss: 0.0,
        }
    }

    pub(super) fn to_bytes(&self) -> Result<Vec<u8>, TrainError> {
        let mut bytes = serde_json::to_vec_pretty(self).map_err(|error| unreadable(error.to_string()))?;
        bytes.push(b'\n');
        Ok(bytes)
    }

    /// Reads a state for a policy of some architecture, which is looked at first.
    pub(super) fn parse(bytes: &[u8], architecture: &Value) -> Result<Self, TrainError> {
        let whole: Value = serde_json::from_slice(bytes).map_err(|error| unreadable(error.to_string()))?;
        if whole.get("format") != Some(&Value::from(FORMAT)) {
            let found = whole.get("format").unwrap_or(&Value::Null);
            return Err(unreadable(format!("expected format {FORMAT}, found {found}")));
        }
        let found = whole.get("architecture").cloned().unwrap_or_default();
        if found != *architecture {
            return Err(TrainError::Architecture { expected: architecture.clone(), found });
        }
        // From the bytes once more: a detour over a value would cost numbers their last bit where its parser differs.
        let state: Self = serde_json::from_slice(bytes).map_err(|error| unreadable(error.to_string()))?;
        state.settings.check()?;
        Ok(state)
    }
}

/// That the plugins are those that a run is pinned to; the first other one is named.
pub(crate) fn check_plugins(expected: &[PluginStamp], found: &[PluginStamp]) -> Result<(), PluginChanged> {
    let differs = |place: &usize| expected.get(*place) != found.get(*place);
    let place = (0..expected.len().max(found.len())).find(differs);
    let other = place.and_then(|place| expected.get(place).or_else(|| found.get(place)));
    let Some(PluginStamp { name, .. }) = other else { return Ok(()) };
    let said = |stamps: &[PluginStamp]| {
        let stamp = stamps.iter().find(|stamp| stamp.name == *name);
        stamp.map_or("no such plugin".to_owned(), |stamp| stamp.digest.to_string())
    };
    Err(PluginChanged { name: name.clone(), expected: said(expected), found: said(found) })
}

/// That rollouts are made of what the run is pinned to.
pub(super) fn check_source(expected: &Source, found: &Source) -> Result<(), TrainError> {
    check_plugins(&expected.plugins, &found.plugins)?;
    if expected.tasks == found.tasks {
        return Ok(());
    }
    let first = expected.tasks.iter().zip(&found.tasks).take_while(|(mine, theirs)| mine == theirs).count();
    Err(TrainError::TasksChanged { expected: expected.tasks.len(), found: found.tasks.len(), first })
}

fn unreadable(reason: String) -> TrainError {
    TrainError::State { part: TRAINER_PART, reason }
}
