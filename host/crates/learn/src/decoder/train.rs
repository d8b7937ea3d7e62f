//! The training pass: whole sequences, log-probabilities that gradients flow from.

use std::ops::Range;

use candle_core::{Device, Tensor};
use loopwright_contract::digest::PolicyDigest;

use super::act::Actor;
use super::error::DecoderError;
use super::sequence::{Batch, Sequence, parts};
use super::shape::Shape;
use crate::nn::{
    Gradients, Parameters, attention, embedding, linear, masked_log_softmax, pick, rms_norm, rope, silu_gate,
};

/// A decoder and its weights.
#[derive(Debug)]
pub struct Decoder {
    shape: Shape,
    parameters: Parameters,
}

/// Log-probabilities of the choices of a batch: sequence after sequence, choice after choice.
#[derive(Debug, Clone)]
pub struct Scores {
    /// Of what was chosen: `[choices]`.
    pub chosen: Tensor,
    /// Of all symbols, [`crate::nn::FORBIDDEN`] where the mask does not allow them: `[choices, vocabulary]`.
    pub all: Tensor,
}

impl Scores {
    /// The entropy of each choice in nats: `[choices]`.
    ///
    /// # Errors
    /// That of a tensor operation.
    pub fn entropy(&self) -> Result<Tensor, DecoderError> {
        Ok(self.all.exp()?.mul(&self.all)?.sum(1)?.neg()?)
    }
}

impl Decoder {
    /// A decoder with fresh weights, the same for the same seed.
    ///
    /// # Errors
    /// A dimension outside its range.
    pub fn new(shape: Shape, seed: u64) -> Result<Self, DecoderError> {
        shape.check()?;
        Ok(Self { shape, parameters: Parameters::new(shape.slots(), seed)? })
    }

    /// A decoder with weights from a file.
    ///
    /// # Errors
    /// A dimension outside its range; weights of another architecture, named with the expected and the found shape; weights that are not
    /// finite.
    pub fn from_bytes(shape: Shape, bytes: &[u8]) -> Result<Self, DecoderError> {
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
    pub fn digest(&self) -> Result<PolicyDigest, DecoderError> {
        let Shape { vocabulary, width, layers, heads, hidden, positions } = self.shape;
        let mut bytes = format!("{vocabulary} {width} {layers} {heads} {hidden} {positions}\n").into_bytes();
        bytes.extend(self.parameters.to_bytes()?);
        Ok(PolicyDigest::of(&bytes))
    }

    /// The policy as it is now, for acting. Later steps do not change it.
    ///
    /// # Errors
    /// Weights that are not finite.
    pub fn actor(&self) -> Result<Actor, DecoderError> {
        Actor::new(self.shape, &self.parameters)
    }

    /// Scores the choices of sequences. Symbols after a sequence's last choice are not read.
    ///
    /// # Errors
    /// A sequence that does not fit the decoder, a choice that its mask forbids, no choice at all.
    pub fn score(&self, sequences: &[Sequence]) -> Result<Scores, DecoderError> {
        let batch = Batch::new(&self.shape, sequences)?;
        let weight = |name: &str| self.parameters.get(name);
        let inputs = Tensor::from_slice(&batch.inputs, batch.inputs.len(), &Device::Cpu)?;
        let mut states = embedding(weight("embed.weight")?, &inputs)?; // [rows, width]
        for layer in 0..self.shape.layers {
            states = self.layer(layer, &states, &batch)?;
        }
        let rows = Tensor::from_slice(&batch.rows, batch.rows.len(), &Device::Cpu)?;
        let states = rms_norm(&states.index_select(&rows, 0)?, weight("norm.weight")?)?; // [choices, width]
        let logits = linear(&states, weight("head.weight")?)?; // [choices, vocabulary]
        let all = masked_log_softmax(&logits, &batch.masks)?;
        Ok(Scores { chosen: pick(&all, &batch.chosen)?, all })
    }

    /// The gradients of a loss that is a sum over choices, added up over parts of the batch in order: faster than at once, and with less
    /// memory.
    /// `loss` gets the scores of a part and which of the batch's choices they are; its constant denominator is the whole batch's.
    ///
    /// # Errors
    /// As [`Self::score`]; a loss or gradient that is not finite; what `loss` returns.
    pub fn gradients(
        &self,
        sequences: &[Sequence],
        loss: impl Fn(&Scores, Range<usize>) -> Result<Tensor, DecoderError>,
    ) -> Result<Gradients, DecoderError> {
        let mut total: Option<Gradients> = None;
        let mut start = 0;
        for part in parts(&self.shape, sequences)? {
            let scores = self.score(part)?;
            let end = start + scores.chosen.dims1()?;
            let gradients = Gradients::of(&loss(&scores, start..end)?, &self.parameters)?;
            start = end;
            match &mut total {
                Some(total) => total.add(&gradients)?,
                None => total = Some(gradients),
            }
        }
        total.ok_or(DecoderError::NoChoice { sequences: sequences.len() })
    }

    fn layer(&self, layer: usize, states: &Tensor, batch: &Batch) -> Result<Tensor, DecoderError> {
        let weight = |part: &str| self.parameters.get(&format!("layers.{layer}.{part}.weight"));
        let heads = self.shape.attention();
        let normed = rms_norm(states, weight("attention_norm")?)?;
        let packed = linear(&normed, weight("attention_in")?)?; // [rows, 3 * width]
        let mixed = attention(&rope(&packed, heads, &batch.segments)?, heads, &batch.segments)?; // [rows, width]
        let states = states.add(&linear(&mixed, weight("attention_out")?)?)?;
        let normed = rms_norm(&states, weight("gate_norm")?)?;
        let gated = silu_gate(&linear(&normed, weight("gate_up")?)?)?; // [rows, hidden]
        Ok(states.add(&linear(&gated, weight("down")?)?)?)
    }
}
