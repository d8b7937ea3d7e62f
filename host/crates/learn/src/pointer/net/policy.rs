//! The network as what the trainers need.

use candle_core::Tensor;
use loopwright_contract::digest::PolicyDigest;
use serde_json::{Value, json};

use super::error::PointerError;
use super::shape::Shape;
use super::train::PointerNet;
use crate::nn::{Gradients, Parameters};
use crate::pointer::choice::{BUCKETS, OPTION_FACTS, Play, QUESTION_FACTS};
use crate::rl::{LossOf, Policy, PolicyFault};

impl From<PointerError> for PolicyFault {
    fn from(error: PointerError) -> Self {
        match error {
            PointerError::Nn(error) => error.into(),
            PointerError::NotFinite => Self::NotFinite(Box::new(error)),
            _ => Self::Failed(Box::new(error)),
        }
    }
}

impl Policy for PointerNet {
    type Sample = Play;

    fn architecture(&self) -> Value {
        let Shape { width, layers, heads, hidden, joint } = *self.shape();
        json!({
            "kind": "pointer", "width": width, "layers": layers, "heads": heads, "hidden": hidden, "joint": joint, "buckets": BUCKETS,
            "question_facts": QUESTION_FACTS, "option_facts": OPTION_FACTS,
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

    fn choices(sample: &Play) -> usize {
        sample.choices.len()
    }

    fn write(sample: &Play, into: &mut Vec<u8>) {
        sample.write(into);
    }

    fn log_probs(&self, samples: &[Play]) -> Result<Vec<f32>, PolicyFault> {
        Ok(Self::log_probs(self, samples)?)
    }

    fn gradients(&self, samples: &[Play], loss: &LossOf<'_>) -> Result<Gradients, PolicyFault> {
        Ok(Self::gradients(self, samples, |chosen: &Tensor, range| loss(chosen, range))?)
    }
}
