//! The training pass: whole plays, log-probabilities that gradients flow from.

use std::ops::Range;

use candle_core::{Device, Tensor};
use loopwright_contract::digest::PolicyDigest;

use super::act::Scorer;
use super::batch::{Batch, parts};
use super::error::PointerError;
use super::layers::Pass;
use super::shape::Shape;
use crate::nn::{Gradients, Parameters};
use crate::pointer::choice::Play;

/// The network and its weights.
#[derive(Debug)]
pub struct PointerNet {
    shape: Shape,
    parameters: Parameters,
}

impl PointerNet {
    /// A network with fresh weights, the same for the same seed.
    ///
    /// # Errors
    /// A dimension outside its range.
    pub fn new(shape: Shape, seed: u64) -> Result<Self, PointerError> {
        shape.check()?;
        Ok(Self { shape, parameters: Parameters::new(shape.slots(), seed)? })
    }

    /// A network with weights from a file.
    ///
    /// # Errors
    /// A dimension outside its range; weights of another architecture, named with the expected and the found shape; weights that are not
    /// finite.
    pub fn from_bytes(shape: Shape, bytes: &[u8]) -> Result<Self, PointerError> {
        shape.check()?;
        Ok(Self { shape, parameters: Parameters::from_bytes(shape.slots(), bytes)? })
    }

    /// Its dimensions.
    #[must_use]
    pub fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Its weights.
    #[must_use]
    pub fn parameters(&self) -> &Parameters {
        &self.parameters
    }

    /// Its weights, for an optimiser.
    pub fn parameters_mut(&mut self) -> &mut Parameters {
        &mut self.parameters
    }

    /// What tells this policy from any other: a digest of its dimensions, heads included, and of its weights.
    ///
    /// # Errors
    /// Weights that are not on the CPU.
    pub fn digest(&self) -> Result<PolicyDigest, PointerError> {
        let Shape { width, layers, heads, hidden, joint } = self.shape;
        let mut bytes = format!("pointer {width} {layers} {heads} {hidden} {joint}\n").into_bytes();
        bytes.extend(self.parameters.to_bytes()?);
        Ok(PolicyDigest::of(&bytes))
    }

    /// The policy as it is now, for acting. Later steps do not change it.
    ///
    /// # Errors
    /// Weights that are not finite.
    pub fn scorer(&self) -> Result<Scorer, PointerError> {
        Scorer::new(self.shape, &self.parameters)
    }

    /// The log-probability of what was taken in each choice, play after play.
    ///
    /// # Errors
    /// A play that does not fit the network, no choice at all.
    pub fn log_probs(&self, plays: &[Play]) -> Result<Vec<f32>, PointerError> {
        let mut all = Vec::new();
        for part in parts(plays)? {
            all.extend(self.score(part)?.to_vec1::<f32>()?);
        }
        Ok(all)
    }

    /// The gradients of a loss that is a sum over choices, added up over parts of the batch in order. `loss` gets the log-probabilities of what was
    /// taken in a part and which of the batch's choices they are; its constant denominator is the whole batch's.
    ///
    /// # Errors
    /// As [`Self::log_probs`]; a loss or gradient that is not finite; what `loss` returns.
    pub fn gradients(
        &self,
        plays: &[Play],
        loss: impl Fn(&Tensor, Range<usize>) -> candle_core::Result<Tensor>,
    ) -> Result<Gradients, PointerError> {
        let mut total: Option<Gradients> = None;
        let mut start = 0;
        for part in parts(plays)? {
            let chosen = self.score(part)?;
            let end = start + chosen.dims1()?;
            let gradients = Gradients::of(&loss(&chosen, start..end)?, &self.parameters)?;
            start = end;
            match &mut total {
                Some(total) => total.add(&gradients)?,
                None => total = Some(gradients),
            }
        }
        total.ok_or(PointerError::NoChoice { plays: plays.len() })
    }

    /// The log-probability of what was taken in each choice of checked plays: `[choices]`.
    fn score(&self, plays: &[Play]) -> Result<Tensor, PointerError> {
        let mut pass = Pass::new(&self.shape, &self.parameters, Batch::new(plays));
        let all = pass.log_probs()?;
        let taken = Tensor::from_slice(pass.taken(), pass.taken().len(), &Device::Cpu)?;
        Ok(all.index_select(&taken, 0)?)
    }
}
