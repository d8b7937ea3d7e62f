//! Log-probabilities under a mask, and the pick of what was chosen.

use std::sync::Arc;

use candle_core::{CpuStorage, CustomOp1, Device, Layout, Result, Shape, Tensor, bail};

use super::kernel::{exp, sum_of, vectorized};
use super::mask::Allowed;
use super::slices::{like, slice, with};

/// The log-probability of what may not be chosen. A number, not minus infinity: `p * ln p` and its gradient are then 0 and not NaN.
pub const FORBIDDEN: f32 = -1e30;

/// Log-probabilities of each row of `logits` (`[rows, vocabulary]`) over the symbols that its mask allows; [`FORBIDDEN`] elsewhere.
///
/// # Errors
/// As many masks as rows are expected, none empty or beyond the vocabulary; f32 on the CPU.
pub fn masked_log_softmax(logits: &Tensor, masks: &Arc<[Allowed]>) -> Result<Tensor> {
    let (rows, vocabulary) = logits.dims2()?;
    if masks.len() != rows {
        bail!("masked_log_softmax: expected {rows} masks, found {}", masks.len());
    }
    if let Some(row) = masks.iter().position(|mask| mask.is_empty() || mask.span() > vocabulary) {
        bail!("masked_log_softmax: the mask of row {row} allows nothing or more than the {vocabulary} symbols");
    }
    logits.contiguous()?.apply_op1(MaskedLogSoftmax { masks: masks.clone() })
}

/// The log-probability of one symbol in each row: `[rows, vocabulary]` to `[rows]`.
///
/// # Errors
/// As many symbols as rows are expected, each of the vocabulary.
pub fn pick(log_probs: &Tensor, symbols: &[u32]) -> Result<Tensor> {
    let index = Tensor::from_slice(symbols, (symbols.len(), 1), &Device::Cpu)?;
    log_probs.gather(&index, 1)?.squeeze(1)
}

/// Minus the weighted sum of log-probabilities over a constant: cross-entropy, or with advantages as weights the policy gradient's
/// surrogate.
/// The constant is the caller's, so that a sequence's length changes no weight.
///
/// # Errors
/// As many weights as log-probabilities are expected.
pub fn negative_log_likelihood(log_probs: &Tensor, weights: &[f32], denominator: f64) -> Result<Tensor> {
    let weights = Tensor::from_slice(weights, weights.len(), &Device::Cpu)?;
    log_probs.mul(&weights)?.sum_all()?.affine(-1.0 / denominator, 0.0)
}

/// Log-probabilities of one row. The same bits in training and in acting.
#[inline(always)]
pub(crate) fn log_softmax_row(logits: &[f32], mask: Allowed, out: &mut [f32]) {
    for ((symbol, out), logit) in out.iter_mut().enumerate().zip(logits) {
        *out = if mask.contains(symbol) { *logit } else { f32::NEG_INFINITY };
    }
    // A NaN must not be lost: `max` would skip it.
    let highest = out.iter().copied().fold(f32::NEG_INFINITY, |a, b| if b > a || b.is_nan() { b } else { a });
    let total = sum_of(out, out, |logit, _| exp(logit - highest));
    let shift = highest + total.ln();
    for out in out.iter_mut() {
        *out = if *out == f32::NEG_INFINITY { FORBIDDEN } else { *out - shift };
    }
}

struct MaskedLogSoftmax {
    masks: Arc<[Allowed]>,
}

impl CustomOp1 for MaskedLogSoftmax {
    fn name(&self) -> &'static str {
        "masked-log-softmax"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (_, vocabulary) = layout.shape().dims2()?;
        let logits = slice(storage, layout)?;
        let mut out = vec![0.0; logits.len()];
        vectorized(
            #[inline(always)]
            || {
                let rows = logits.chunks_exact(vocabulary.max(1)).zip(out.chunks_exact_mut(vocabulary.max(1)));
                for ((logits, out), mask) in rows.zip(self.masks.iter()) {
                    log_softmax_row(logits, *mask, out);
                }
            },
        );
        Ok((CpuStorage::F32(out), layout.shape().clone()))
    }

    /// With p the probabilities: dx = g - p·Σg over what is allowed, 0 elsewhere.
    fn bwd(&self, logits: &Tensor, log_probs: &Tensor, grad: &Tensor) -> Result<Option<Tensor>> {
        let (_, vocabulary) = logits.dims2()?;
        let mut out = vec![0.0; logits.elem_count()];
        with(grad, |grad| with(log_probs, |log_probs| backward(log_probs, grad, vocabulary, &mut out)))??;
        Ok(Some(like(logits, out)?))
    }
}

fn backward(log_probs: &[f32], grad: &[f32], vocabulary: usize, out: &mut [f32]) {
    let vocabulary = vocabulary.max(1);
    vectorized(
        #[inline(always)]
        || {
            let rows = log_probs.chunks_exact(vocabulary).zip(grad.chunks_exact(vocabulary));
            for ((log_probs, grad), out) in rows.zip(out.chunks_exact_mut(vocabulary)) {
                let total = sum_of(log_probs, grad, |log_prob, grad| if log_prob == FORBIDDEN { 0.0 } else { grad });
                for ((out, log_prob), grad) in out.iter_mut().zip(log_probs).zip(grad) {
                    *out = if *log_prob == FORBIDDEN { 0.0 } else { grad - exp(*log_prob) * total };
                }
            }
        },
    );
}
