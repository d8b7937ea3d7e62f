//! The gated unit of a feed-forward block, SwiGLU (Shazeer 2020, equation 6).

use candle_core::{CpuStorage, CustomOp1, Layout, Result, Shape, Tensor, bail};

use super::kernel::{sigmoid, vectorized};
use super::slices::{like, slice, with};

/// `silu(gate) * up` for rows of a gate and an up half: `[rows, 2 * hidden]` to `[rows, hidden]`.
///
/// # Errors
/// A tensor of another shape, with an odd number of columns, or that is not f32 on the CPU.
pub fn silu_gate(input: &Tensor) -> Result<Tensor> {
    let (_, columns) = input.dims2()?;
    if columns == 0 || !columns.is_multiple_of(2) {
        bail!("silu_gate: expected an even number of columns, found {columns}");
    }
    input.contiguous()?.apply_op1(SiluGate)
}

/// Rows of `hidden` values from rows of twice as many.
pub(crate) fn forward(input: &[f32], hidden: usize, out: &mut [f32]) {
    vectorized(
        #[inline(always)]
        || {
            for (row, out) in input.chunks_exact(2 * hidden).zip(out.chunks_exact_mut(hidden)) {
                let (gates, ups) = row.split_at(hidden);
                for ((out, gate), up) in out.iter_mut().zip(gates).zip(ups) {
                    *out = gate * sigmoid(*gate) * up;
                }
            }
        },
    );
}

/// With s the sigmoid: d gate = g·up·s·(1 + gate·(1 - s)); d up = g·gate·s.
fn backward(input: &[f32], hidden: usize, grad: &[f32], to_input: &mut [f32]) {
    vectorized(
        #[inline(always)]
        || {
            let rows = input.chunks_exact(2 * hidden).zip(grad.chunks_exact(hidden));
            for ((row, grad), out) in rows.zip(to_input.chunks_exact_mut(2 * hidden)) {
                let ((gates, ups), (to_gates, to_ups)) = (row.split_at(hidden), out.split_at_mut(hidden));
                let outs = to_gates.iter_mut().zip(to_ups);
                for (((gate, up), grad), (to_gate, to_up)) in gates.iter().zip(ups).zip(grad).zip(outs) {
                    let share = sigmoid(*gate);
                    *to_gate = grad * up * share * (1.0 + gate * (1.0 - share));
                    *to_up = grad * gate * share;
                }
            }
        },
    );
}

struct SiluGate;

impl CustomOp1 for SiluGate {
    fn name(&self) -> &'static str {
        "silu-gate"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (rows, columns) = layout.shape().dims2()?;
        let mut out = vec![0.0; rows * columns / 2];
        forward(slice(storage, layout)?, columns / 2, &mut out);
        Ok((CpuStorage::F32(out), (rows, columns / 2).into()))
    }

    fn bwd(&self, input: &Tensor, _: &Tensor, grad: &Tensor) -> Result<Option<Tensor>> {
        let hidden = input.dim(1)? / 2;
        let mut out = vec![0.0; input.elem_count()];
        with(grad, |grad| with(input, |input| backward(input, hidden, grad, &mut out)))??;
        Ok(Some(like(input, out)?))
    }
}
