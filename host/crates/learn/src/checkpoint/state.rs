//! What may become a checkpoint: a state whose numbers are all finite.

use std::collections::BTreeMap;

use super::error::CheckpointError;
use super::manifest::{PART_BYTES_MAX, PARTS_MAX, is_part_name};
use crate::nn::{AdamW, NnError, Parameters};

/// The part with the weights, as safetensors.
pub const WEIGHTS_PART: &str = "weights.safetensors";
/// The part with the optimiser's moments and its number of steps, as safetensors.
pub const OPTIMIZER_PART: &str = "optimizer.safetensors";

/// A state with a finite loss, finite weights and finite moments. There is no other way to a checkpoint, so none holds a broken step.
#[derive(Debug, Clone)]
pub struct Finite {
    parts: BTreeMap<String, Vec<u8>>,
}

impl Finite {
    /// The state after a step: the loss that it came from, weights and optimiser.
    ///
    /// # Errors
    /// A number that is not finite.
    pub fn new(loss: f64, parameters: &Parameters, optimizer: &AdamW) -> Result<Self, CheckpointError> {
        if !loss.is_finite() {
            return Err(CheckpointError::NotFinite(NnError::NonFiniteLoss { value: loss }));
        }
        let checked = || {
            parameters.check_finite()?;
            optimizer.check_finite(parameters)?;
            Ok((parameters.to_bytes()?, optimizer.to_bytes(parameters)?))
        };
        let (weights, moments) = checked().map_err(CheckpointError::NotFinite)?;
        let state = Self { parts: BTreeMap::new() };
        state.with(WEIGHTS_PART, weights)?.with(OPTIMIZER_PART, moments)
    }

    /// Adds a part: the state of random generators, the sampler's place, the controller's history, digests of what the run used.
    ///
    /// # Errors
    /// A name that is taken or that parts cannot have, too many parts, a part that is too large.
    pub fn with(mut self, name: &str, bytes: Vec<u8>) -> Result<Self, CheckpointError> {
        if !is_part_name(name) || self.parts.contains_key(name) {
            return Err(CheckpointError::PartName { name: name.to_owned() });
        }
        if self.parts.len() == PARTS_MAX {
            return Err(CheckpointError::TooManyParts);
        }
        if bytes.len() as u64 > PART_BYTES_MAX {
            return Err(CheckpointError::PartTooLarge { name: name.to_owned(), bytes: bytes.len() as u64 });
        }
        self.parts.insert(name.to_owned(), bytes);
        Ok(self)
    }

    /// The parts by name.
    #[must_use]
    pub fn parts(&self) -> &BTreeMap<String, Vec<u8>> {
        &self.parts
    }
}
