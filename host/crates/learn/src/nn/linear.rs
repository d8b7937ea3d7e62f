//! A linear map without a bias.

use candle_core::{CpuStorage, CustomOp2, Layout, Result, Shape, Tensor, bail};

use super::kernel::{View, add_product};
use super::slices::{like, slice, with};

/// `input` (`[rows, inputs]`) times `weight` (`[inputs, outputs]`): `[rows, outputs]`.
///
/// # Errors
/// Tensors of other shapes, or that are not f32 on the CPU.
pub fn linear(input: &Tensor, weight: &Tensor) -> Result<Tensor> {
    let ((_, inputs), (rows, _)) = (input.dims2()?, weight.dims2()?);
    if inputs != rows {
        bail!("linear: expected an input of {rows} columns for a weight of {:?}, found {inputs}", weight.dims());
    }
    input.contiguous()?.apply_op2(&weight.contiguous()?, Linear)
}

struct Linear;

impl CustomOp2 for Linear {
    fn name(&self) -> &'static str {
        "linear"
    }

    fn cpu_fwd(&self, s1: &CpuStorage, l1: &Layout, s2: &CpuStorage, l2: &Layout) -> Result<(CpuStorage, Shape)> {
        let ((rows, inputs), (_, outputs)) = (l1.shape().dims2()?, l2.shape().dims2()?);
        let mut out = vec![0.0; rows * outputs];
        add_product(View::new(slice(s1, l1)?, inputs), View::new(slice(s2, l2)?, outputs), &mut out);
        Ok((CpuStorage::F32(out), (rows, outputs).into()))
    }

    fn bwd(
        &self,
        input: &Tensor,
        weight: &Tensor,
        _: &Tensor,
        grad: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let (inputs, outputs) = weight.dims2()?;
        let mut to_input = vec![0.0; input.elem_count()];
        let mut to_weight = vec![0.0; weight.elem_count()];
        with(grad, |grad| {
            let grad = View::new(grad, outputs);
            with(weight, |weight| add_product(grad, View::new(weight, outputs).transposed(), &mut to_input))?;
            with(input, |input| add_product(View::new(input, inputs).transposed(), grad, &mut to_weight))
        })??;
        Ok((Some(like(input, to_input)?), Some(like(weight, to_weight)?)))
    }
}
