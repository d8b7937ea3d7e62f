//! Root-mean-square normalisation (Zhang and Sennrich 2019, equation 4).

use candle_core::{CpuStorage, CustomOp2, Layout, Result, Shape, Tensor, bail};

use super::kernel::{sum_of, vectorized};
use super::slices::{like, slice, with};

/// Added to the mean square, so that a row of zeros stays one.
pub(crate) const EPSILON: f32 = 1e-5;

/// Each row of `input` (`[rows, width]`) divided by its root mean square, times `weight` (`[width]`).
///
/// # Errors
/// Tensors of other shapes, or that are not f32 on the CPU.
pub fn rms_norm(input: &Tensor, weight: &Tensor) -> Result<Tensor> {
    let ((_, width), weights) = (input.dims2()?, weight.dims1()?);
    if width != weights {
        bail!("rms_norm: expected a weight of {width} values, found {weights}");
    }
    input.contiguous()?.apply_op2(&weight.contiguous()?, RmsNorm)
}

/// One over the root mean square of a row.
#[inline(always)]
fn inverse(row: &[f32]) -> f32 {
    #[expect(clippy::cast_precision_loss, reason = "a row is narrow")]
    let mean = sum_of(row, row, |a, b| a * b) / row.len() as f32;
    1.0 / (mean + EPSILON).sqrt()
}

/// The normalised rows.
pub(crate) fn forward(input: &[f32], weight: &[f32], out: &mut [f32]) {
    let width = weight.len().max(1);
    vectorized(
        #[inline(always)]
        || {
            for (row, out) in input.chunks_exact(width).zip(out.chunks_exact_mut(width)) {
                let inverse = inverse(row);
                for ((out, value), weight) in out.iter_mut().zip(row).zip(weight) {
                    *out = value * inverse * weight;
                }
            }
        },
    );
}

/// With r the inverse root mean square, n the width and g the gradient: dx = r·g·w - x·r³/n·Σ(g·w·x); dw = Σ g·x·r.
fn backward(input: &[f32], weight: &[f32], grad: &[f32], to_input: &mut [f32], to_weight: &mut [f32]) {
    let width = weight.len().max(1);
    let mut weighted = vec![0.0; width];
    vectorized(
        #[inline(always)]
        || {
            let rows = input.chunks_exact(width).zip(grad.chunks_exact(width)).zip(to_input.chunks_exact_mut(width));
            for ((row, grad), out) in rows {
                let inverse = inverse(row);
                for ((weighted, grad), weight) in weighted.iter_mut().zip(grad).zip(weight) {
                    *weighted = grad * weight;
                }
                #[expect(clippy::cast_precision_loss, reason = "a row is narrow")]
                let along = sum_of(&weighted, row, |a, b| a * b) * inverse * inverse * inverse / width as f32;
                for ((out, value), weighted) in out.iter_mut().zip(row).zip(&weighted) {
                    *out = weighted * inverse - value * along;
                }
                for ((to, value), grad) in to_weight.iter_mut().zip(row).zip(grad) {
                    *to += grad * value * inverse;
                }
            }
        },
    );
}

struct RmsNorm;

impl CustomOp2 for RmsNorm {
    fn name(&self) -> &'static str {
        "rms-norm"
    }

    fn cpu_fwd(&self, s1: &CpuStorage, l1: &Layout, s2: &CpuStorage, l2: &Layout) -> Result<(CpuStorage, Shape)> {
        let mut out = vec![0.0; l1.shape().elem_count()];
        forward(slice(s1, l1)?, slice(s2, l2)?, &mut out);
        Ok((CpuStorage::F32(out), l1.shape().clone()))
    }

    fn bwd(
        &self,
        input: &Tensor,
        weight: &Tensor,
        _: &Tensor,
        grad: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let mut to_input = vec![0.0; input.elem_count()];
        let mut to_weight = vec![0.0; weight.elem_count()];
        with(grad, |grad| {
            with(weight, |weight| with(input, |input| backward(input, weight, grad, &mut to_input, &mut to_weight)))
        })???;
        Ok((Some(like(input, to_input)?), Some(like(weight, to_weight)?)))
    }
}
