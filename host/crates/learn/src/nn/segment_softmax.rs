//! Log-probabilities over choices of several sizes, laid end to end.

use candle_core::{CpuStorage, CustomOp1, Layout, Result, Shape, Tensor, bail};

use super::kernel::{exp, sum_of, vectorized};
use super::segments::Segments;
use super::slices::{like, slice, with};

/// Log-probabilities within each segment of `logits` (`[rows]`): `[rows]`.
///
/// # Errors
/// As many logits as segments have rows are expected; f32 on the CPU.
pub fn segment_log_softmax(logits: &Tensor, segments: &Segments) -> Result<Tensor> {
    let rows = logits.dims1()?;
    if rows != segments.rows() {
        bail!("segment_log_softmax: expected {} logits, found {rows}", segments.rows());
    }
    logits.contiguous()?.apply_op1(SegmentLogSoftmax(segments.clone()))
}

/// Log-probabilities of one segment. The same bits in training and in acting.
#[inline(always)]
pub(crate) fn log_softmax_of(logits: &[f32], out: &mut [f32]) {
    // A NaN must not be lost: `max` would skip it.
    let highest = logits.iter().copied().fold(f32::NEG_INFINITY, |a, b| if b > a || b.is_nan() { b } else { a });
    let shift = highest + sum_of(logits, logits, |logit, _| exp(logit - highest)).ln();
    for (out, logit) in out.iter_mut().zip(logits) {
        *out = logit - shift;
    }
}

struct SegmentLogSoftmax(Segments);

impl CustomOp1 for SegmentLogSoftmax {
    fn name(&self) -> &'static str {
        "segment-log-softmax"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let logits = slice(storage, layout)?;
        let mut out = vec![0.0; logits.len()];
        vectorized(
            #[inline(always)]
            || {
                for range in self.0.ranges() {
                    let (Some(logits), Some(out)) = (logits.get(range.clone()), out.get_mut(range)) else { continue };
                    log_softmax_of(logits, out);
                }
            },
        );
        Ok((CpuStorage::F32(out), layout.shape().clone()))
    }

    /// With p the probabilities: dx = g - p·Σg.
    fn bwd(&self, logits: &Tensor, log_probs: &Tensor, grad: &Tensor) -> Result<Option<Tensor>> {
        let mut out = vec![0.0; logits.elem_count()];
        with(grad, |grad| {
            with(log_probs, |log_probs| {
                vectorized(
                    #[inline(always)]
                    || {
                        for range in self.0.ranges() {
                            let parts = (log_probs.get(range.clone()), grad.get(range.clone()), out.get_mut(range));
                            let (Some(log_probs), Some(grad), Some(out)) = parts else { continue };
                            let total = sum_of(grad, grad, |grad, _| grad);
                            for ((out, log_prob), grad) in out.iter_mut().zip(log_probs).zip(grad) {
                                *out = grad - exp(*log_prob) * total;
                            }
                        }
                    },
                );
            })
        })??;
        Ok(Some(like(logits, out)?))
    }
}
