//! Tensors as slices of f32, for the operations that are written by hand. It knows none of them.

use candle_core::{CpuStorage, Device, Layout, Result, Storage, Tensor, bail};

/// The values of a contiguous tensor on the CPU.
pub(crate) fn slice<'a>(storage: &'a CpuStorage, layout: &Layout) -> Result<&'a [f32]> {
    let values = storage.as_slice::<f32>()?;
    match layout.contiguous_offsets().and_then(|(from, to)| values.get(from..to)) {
        Some(values) => Ok(values),
        None => bail!("expected a contiguous tensor, found strides {:?}", layout.stride()),
    }
}

/// Calls `then` with the values of a tensor, row after row.
pub(crate) fn with<R>(tensor: &Tensor, then: impl FnOnce(&[f32]) -> R) -> Result<R> {
    let tensor = tensor.contiguous()?;
    let (storage, layout) = tensor.storage_and_layout();
    match &*storage {
        Storage::Cpu(storage) => Ok(then(slice(storage, layout)?)),
        _ => bail!("expected a tensor on the CPU, found one elsewhere"),
    }
}

/// A tensor of the same shape with other values.
pub(crate) fn like(tensor: &Tensor, values: Vec<f32>) -> Result<Tensor> {
    Tensor::from_vec(values, tensor.shape(), &Device::Cpu)
}
