//! What the trainers need of a policy. It knows no task and no reward.

use std::error::Error;
use std::ops::Range;

use candle_core::Tensor;
use loopwright_contract::digest::PolicyDigest;
use serde_json::{Value, json};

use crate::decoder::{Decoder, DecoderError, Sequence, Shape};
use crate::nn::{Gradients, NnError, Parameters};

/// A failure of a policy. Nothing was changed.
#[derive(Debug, thiserror::Error)]
pub enum PolicyFault {
    /// A loss, gradient or weight that is not finite: a step on it is refused.
    #[error("a number of the policy is not finite")]
    NotFinite(#[source] Box<dyn Error + Send + Sync>),
    /// Anything else.
    #[error("the policy failed")]
    Failed(#[source] Box<dyn Error + Send + Sync>),
}

impl From<NnError> for PolicyFault {
    fn from(error: NnError) -> Self {
        match error {
            NnError::NonFinite { .. } | NnError::NonFiniteLoss { .. } => Self::NotFinite(Box::new(error)),
            _ => Self::Failed(Box::new(error)),
        }
    }
}

impl From<DecoderError> for PolicyFault {
    fn from(error: DecoderError) -> Self {
        match error {
            DecoderError::Nn(error) => error.into(),
            DecoderError::NotFinite { .. } => Self::NotFinite(Box::new(error)),
            _ => Self::Failed(Box::new(error)),
        }
    }
}

/// The loss of some choices: from their log-probabilities (`[choices]`) and which of the batch's choices they are. It is a sum over choices.
pub type LossOf<'a> = dyn Fn(&Tensor, Range<usize>) -> candle_core::Result<Tensor> + 'a;

/// Weights that score what was sampled.
pub trait Policy {
    /// What was sampled in one episode, with all that scoring it needs: masks and candidates included.
    type Sample: Clone + 'static;

    /// Its kind and dimensions. A checkpoint is for one architecture, and says which.
    fn architecture(&self) -> Value;

    /// Its weights.
    fn parameters(&self) -> &Parameters;

    /// Its weights, for an optimiser.
    fn parameters_mut(&mut self) -> &mut Parameters;

    /// What tells it from any other policy.
    ///
    /// # Errors
    /// [`PolicyFault`] for weights that cannot be read.
    fn digest(&self) -> Result<PolicyDigest, PolicyFault>;

    /// How many choices a sample holds.
    fn choices(sample: &Self::Sample) -> usize;

    /// Appends what tells a sample from any other: all that scoring it reads, and what was chosen. Runs are pinned to a digest of it.
    fn write(sample: &Self::Sample, into: &mut Vec<u8>);

    /// The log-probability of every choice, sample after sample.
    ///
    /// # Errors
    /// [`PolicyFault`] for samples that do not fit it.
    fn log_probs(&self, samples: &[Self::Sample]) -> Result<Vec<f32>, PolicyFault>;

    /// The gradients of a loss over the choices of samples, in a fixed order of additions.
    ///
    /// # Errors
    /// [`PolicyFault`] for samples that do not fit it, and for what `loss` returns.
    fn gradients(&self, samples: &[Self::Sample], loss: &LossOf<'_>) -> Result<Gradients, PolicyFault>;
}

impl Policy for Decoder {
    type Sample = Sequence;

    fn architecture(&self) -> Value {
        let Shape { vocabulary, width, layers, heads, hidden, positions } = *self.shape();
        json!({
            "kind": "decoder", "vocabulary": vocabulary, "width": width, "layers": layers, "heads": heads, "hidden": hidden,
            "positions": positions,
        })
    }

    fn parameters(&self) -> &Parameters {
        Self::parameters(self)
    }

    fn parameters_mut(&mut self) -> &mut Parameters {
        Self::parameters_mut(self)
    }

    fn digest(&self) -> Result<PolicyDigest, PolicyFault> {
        Ok(Self::digest(self)?)
    }

    fn choices(sample: &Sequence) -> usize {
        sample.choices.len()
    }

    fn write(sample: &Sequence, into: &mut Vec<u8>) {
        into.extend((sample.symbols.len() as u64).to_le_bytes());
        into.extend(&sample.symbols);
        for choice in &sample.choices {
            into.extend((choice.at as u64).to_le_bytes());
            into.extend(choice.allowed.bits().to_le_bytes());
        }
    }

    fn log_probs(&self, samples: &[Sequence]) -> Result<Vec<f32>, PolicyFault> {
        let values = self.score(samples)?.chosen.to_vec1().map_err(DecoderError::from)?;
        Ok(values)
    }

    fn gradients(&self, samples: &[Sequence], loss: &LossOf<'_>) -> Result<Gradients, PolicyFault> {
        Ok(Self::gradients(self, samples, |scores, range| Ok(loss(&scores.chosen, range)?))?)
    }
}
