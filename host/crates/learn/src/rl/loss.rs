//! Equation (10) as a loss over tensors. Its terms are those of [`care::surrogate`](crate::care::surrogate), token by token: the maths is written
//! once, in f64, and the tensors carry what it says.

use std::cell::RefCell;
use std::ops::Range;

use candle_core::{Device, Tensor};

use crate::care::surrogate::{Figures, LogProbs, Surrogate, TokenFault};

/// What is known of the tokens of a batch before they are scored, token by token.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct TokenData {
    /// The advantage of the token's trajectory.
    pub advantages: Vec<f64>,
    /// Its log-probability under the policy that sampled it.
    pub sampled: Vec<f64>,
    /// And under the reference, where there is one.
    pub reference: Option<Vec<f64>>,
}

/// Why a batch has no loss.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum LossError {
    /// A token has no term.
    #[error("token {token} has no term")]
    Token {
        /// Its place in the batch.
        token: usize,
        /// Why.
        source: TokenFault,
    },
    /// The scores and the data do not stand side by side.
    #[error("scores of tokens {scored:?}, and data of {known} tokens")]
    Shape {
        /// The tokens that were scored.
        scored: Range<usize>,
        /// How many are known.
        known: usize,
    },
}

/// Sums over the tokens that were scored so far.
#[derive(Debug, Default)]
pub struct LossFigures {
    objective: f64,
    kl: f64,
    mismatch: f64,
    figures: Figures,
    fault: Option<LossError>,
}

impl LossFigures {
    /// Minus J.
    #[must_use]
    pub fn loss(&self, denominator: f64) -> f64 {
        -self.objective / denominator
    }

    /// How the tokens fared; `trained` of them were of members that were assigned an advantage.
    #[must_use]
    pub fn figures(&self, trained: u64) -> Figures {
        #[expect(clippy::cast_precision_loss, reason = "tokens of a step are far below 2^53")]
        let count = self.figures.informative.max(1) as f64;
        Figures { tokens: trained, kl_mean: self.kl / count, mismatch_kl_mean: self.mismatch / count, ..self.figures }
    }

    /// Why there was no loss.
    pub(super) fn take_fault(&mut self) -> Option<LossError> {
        self.fault.take()
    }
}

/// Minus J over some tokens of a batch, from their log-probabilities (`[tokens]`): its value is the sum of the tokens' terms over `denominator`, and
/// its gradient theirs. What is added up on the way goes to `figures`.
///
/// # Errors
/// A token without a term, and scores of other tokens than are known; `figures` then says which, and the error of candle that nothing came of it.
pub fn surrogate_loss(
    chosen: &Tensor,
    range: Range<usize>,
    surrogate: &Surrogate,
    data: &TokenData,
    denominator: f64,
    figures: &RefCell<LossFigures>,
) -> candle_core::Result<Tensor> {
    let values = chosen.to_vec1::<f32>()?;
    let mut figures = figures.borrow_mut();
    let terms = terms(&values, &range, surrogate, data, &mut figures);
    let (objective, gradients) = terms.map_err(|error| {
        figures.fault = Some(error.clone());
        candle_core::Error::wrap(error)
    })?;
    #[expect(clippy::cast_possible_truncation, reason = "scores are f32")]
    let factors: Vec<f32> = gradients.iter().map(|gradient| (gradient / denominator) as f32).collect();
    let factors = Tensor::from_slice(&factors, factors.len(), &Device::Cpu)?; // [tokens]
    // The difference is 0 and its derivative 1: the value is the terms', and so is the gradient.
    chosen.sub(&chosen.detach())?.mul(&factors)?.sum_all()?.affine(-1.0, -objective / denominator)
}

/// The sum of the terms and the derivative of each, not yet divided.
fn terms(
    values: &[f32],
    range: &Range<usize>,
    surrogate: &Surrogate,
    data: &TokenData,
    figures: &mut LossFigures,
) -> Result<(f64, Vec<f64>), LossError> {
    let shape = || LossError::Shape { scored: range.clone(), known: data.sampled.len() };
    let advantages =
        data.advantages.get(range.clone()).filter(|known| known.len() == values.len()).ok_or_else(shape)?;
    let sampled = data.sampled.get(range.clone()).ok_or_else(shape)?;
    let reference = data.reference.as_ref().map(|all| all.get(range.clone()).ok_or_else(shape)).transpose()?;
    let mut reference = reference.into_iter().flatten();
    let (mut objective, mut gradients) = (0.0, Vec::with_capacity(values.len()));
    for (place, ((value, advantage), sampled)) in values.iter().zip(advantages).zip(sampled).enumerate() {
        let log_probs = LogProbs { policy: f64::from(*value), sampled: *sampled, reference: reference.next().copied() };
        let term = surrogate
            .token(*advantage, log_probs)
            .map_err(|source| LossError::Token { token: range.start + place, source })?;
        objective += term.objective;
        gradients.push(term.gradient);
        figures.objective += term.objective;
        figures.kl += term.kl;
        figures.mismatch += term.mismatch_kl;
        figures.figures.informative += 1;
        figures.figures.clipped += u64::from(term.clipped);
        figures.figures.truncated += u64::from(term.truncated);
    }
    Ok((objective, gradients))
}
