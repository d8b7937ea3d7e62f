//! The blocks once more, in f64 and out of candle's plain operations, as their definitions read.

use std::ops::Range;

use candle_core::{D, DType, Device, Result, Tensor};

use crate::nn::{Allowed, Heads, Segments};

pub(crate) fn linear(input: &Tensor, weight: &Tensor) -> Result<Tensor> {
    input.matmul(weight)
}

pub(crate) fn rms_norm(input: &Tensor, weight: &Tensor) -> Result<Tensor> {
    let root = input.sqr()?.mean_keepdim(1)?.affine(1.0, 1e-5)?.sqrt()?;
    input.broadcast_div(&root)?.broadcast_mul(weight)
}

pub(crate) fn silu_gate(input: &Tensor) -> Result<Tensor> {
    let halves = input.chunk(2, 1)?;
    let gate = &halves[0];
    let one = gate.ones_like()?;
    gate.div(&gate.neg()?.exp()?.add(&one)?)?.mul(&halves[1])
}

fn head(packed: &Tensor, heads: Heads, part: usize, head: usize, start: usize, rows: usize) -> Result<Tensor> {
    packed.narrow(0, start, rows)?.narrow(1, part * heads.row() + head * heads.width, heads.width)
}

pub(crate) fn rope(packed: &Tensor, heads: Heads, segments: &Segments) -> Result<Tensor> {
    let half = heads.width / 2;
    let positions: Vec<f64> = segments.positions().map(|position| position as f64).collect();
    let angles: Vec<f64> = positions
        .iter()
        .flat_map(|position| (0..half).map(move |pair| position * 10_000_f64.powf(-(pair as f64) / half as f64)))
        .collect();
    let angles = Tensor::from_vec(angles, (positions.len(), half), &Device::Cpu)?.to_dtype(packed.dtype())?;
    let (cosines, sines) = (angles.cos()?, angles.sin()?);
    let mut parts = Vec::new();
    for part in 0..2 {
        for number in 0..heads.count {
            let whole = head(packed, heads, part, number, 0, positions.len())?;
            let (a, b) = (whole.narrow(1, 0, half)?, whole.narrow(1, half, half)?);
            parts.push(a.mul(&cosines)?.sub(&b.mul(&sines)?)?);
            parts.push(a.mul(&sines)?.add(&b.mul(&cosines)?)?);
        }
    }
    parts.push(packed.narrow(1, 2 * heads.row(), heads.row())?);
    Tensor::cat(&parts, 1)
}

fn softmax(scores: &Tensor) -> Result<Tensor> {
    let powers = scores.broadcast_sub(&scores.max_keepdim(D::Minus1)?.detach())?.exp()?;
    powers.broadcast_div(&powers.sum_keepdim(D::Minus1)?)
}

pub(crate) fn attention(packed: &Tensor, heads: Heads, segments: &Segments) -> Result<Tensor> {
    masked_attention(packed, heads, segments, true)
}

pub(crate) fn full_attention(packed: &Tensor, heads: Heads, segments: &Segments) -> Result<Tensor> {
    masked_attention(packed, heads, segments, false)
}

fn masked_attention(packed: &Tensor, heads: Heads, segments: &Segments, causal: bool) -> Result<Tensor> {
    let mut rows = Vec::new();
    for range in segments.ranges().filter(|range| !range.is_empty()) {
        let length = range.len();
        let later = |place: usize| if causal && place % length > place / length { -1e9 } else { 0.0 };
        let mask: Vec<f64> = (0..length * length).map(later).collect();
        let mask = Tensor::from_vec(mask, (length, length), &Device::Cpu)?.to_dtype(packed.dtype())?;
        let mut mixed = Vec::new();
        for number in 0..heads.count {
            let part = |part: usize| head(packed, heads, part, number, range.start, length)?.contiguous();
            let scores = part(0)?.matmul(&part(1)?.t()?)?.affine(1.0 / (heads.width as f64).sqrt(), 0.0)?;
            mixed.push(softmax(&scores.add(&mask)?)?.matmul(&part(2)?)?);
        }
        rows.push(Tensor::cat(&mixed, 1)?);
    }
    Tensor::cat(&rows, 0)
}

/// Log-probabilities; about -1e9 where the mask does not allow them.
pub(crate) fn masked_log_softmax(logits: &Tensor, masks: &[Allowed]) -> Result<Tensor> {
    let (rows, vocabulary) = logits.dims2()?;
    let shift = |place: usize| if masks[place / vocabulary].contains(place % vocabulary) { 0.0 } else { -1e9 };
    let mask: Vec<f64> = (0..rows * vocabulary).map(shift).collect();
    let masked = logits.add(&Tensor::from_vec(mask, (rows, vocabulary), &Device::Cpu)?.to_dtype(logits.dtype())?)?;
    let centred = masked.broadcast_sub(&masked.max_keepdim(1)?.detach())?;
    centred.broadcast_sub(&centred.exp()?.sum_keepdim(1)?.log()?)
}

/// The entropy of each row, with what is not allowed left out.
pub(crate) fn entropy(log_probs: &Tensor) -> Result<Tensor> {
    log_probs.exp()?.mul(log_probs)?.sum(1)?.neg()
}

pub(crate) fn to_f64(tensor: &Tensor) -> Vec<f64> {
    tensor.to_dtype(DType::F64).unwrap().flatten_all().unwrap().to_vec1().unwrap()
}

pub(crate) fn read(queries: &Tensor, pairs: &Tensor, heads: Heads, ranges: &[Range<usize>]) -> Result<Tensor> {
    let mut rows = Vec::new();
    for (place, range) in ranges.iter().enumerate() {
        let query = queries.narrow(0, place, 1)?;
        if range.is_empty() {
            rows.push(query.affine(0.0, 0.0)?);
            continue;
        }
        let mut mixed = Vec::new();
        for number in 0..heads.count {
            let query = query.narrow(1, number * heads.width, heads.width)?.contiguous()?;
            let part = |part: usize| head(pairs, heads, part, number, range.start, range.len())?.contiguous();
            let scores = query.matmul(&part(0)?.t()?)?.affine(1.0 / (heads.width as f64).sqrt(), 0.0)?;
            mixed.push(softmax(&scores)?.matmul(&part(1)?)?);
        }
        rows.push(Tensor::cat(&mixed, 1)?);
    }
    Tensor::cat(&rows, 0)
}

pub(crate) fn list_sums(table: &Tensor, lists: &[&[u32]], share: impl Fn(f64) -> f64) -> Result<Tensor> {
    let mut rows = Vec::new();
    for list in lists {
        let mut sum = table.narrow(0, 0, 1)?.affine(0.0, 0.0)?;
        for row in *list {
            sum = sum.add(&table.narrow(0, *row as usize, 1)?)?;
        }
        rows.push(sum.affine(if list.is_empty() { 0.0 } else { share(list.len() as f64) }, 0.0)?);
    }
    Tensor::cat(&rows, 0)
}

pub(crate) fn segment_log_softmax(logits: &Tensor, segments: &Segments) -> Result<Tensor> {
    let mut parts = Vec::new();
    for range in segments.ranges().filter(|range| !range.is_empty()) {
        let part = logits.narrow(0, range.start, range.len())?;
        let centred = part.broadcast_sub(&part.max_keepdim(0)?.detach())?;
        parts.push(centred.broadcast_sub(&centred.exp()?.sum_keepdim(0)?.log()?)?);
    }
    Tensor::cat(&parts, 0)
}
