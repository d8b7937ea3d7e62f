//! Attention (Vaswani et al. 2017, equation 1) from queries to rows elsewhere: each query reads a range of its own.

use std::ops::Range;
use std::sync::Arc;

use candle_core::{CpuStorage, CustomOp2, Layout, Result, Shape, Tensor, bail};

use super::attention::{Heads, Past, components, mix, weigh};
use super::kernel::{LANES, add_scaled, sum_of, vectorized};
use super::slices::{like, slice, with};

/// Mixes for each query (`[queries, width]`) the values of its range of `pairs` (`[rows, 2 * width]`: keys, values): `[queries, width]`. An empty
/// range gives zeros. It is quickest when queries of one range follow one another.
///
/// # Errors
/// As many ranges as queries are expected, each within the rows; widths that are not the heads'; tensors that are not f32 on the CPU.
pub fn read(queries: &Tensor, pairs: &Tensor, heads: Heads, ranges: &Arc<[Range<usize>]>) -> Result<Tensor> {
    let ((count, width), (rows, pair)) = (queries.dims2()?, pairs.dims2()?);
    let row = heads.row();
    if count != ranges.len() || width != row || pair != 2 * row || row == 0 {
        let expected = (ranges.len(), row, 2 * row);
        bail!("read: expected queries, width and width of pairs {expected:?}, found {:?}", (count, width, pair));
    }
    if let Some(range) = ranges.iter().find(|range| range.start > range.end || range.end > rows) {
        bail!("read: range {range:?} of {rows} rows");
    }
    queries.contiguous()?.apply_op2(&pairs.contiguous()?, Read { heads, ranges: ranges.clone() })
}

/// The mixed values. The same bits in training and in acting.
pub(crate) fn forward(queries: &[f32], pairs: &[f32], heads: Heads, ranges: &[Range<usize>]) -> Vec<f32> {
    let (row, width) = (heads.row(), heads.width);
    let mut out = vec![0.0; queries.len()];
    let mut work = Work::new(heads, ranges);
    vectorized(
        #[inline(always)]
        || {
            let each = queries.chunks_exact(row).zip(out.chunks_exact_mut(row)).zip(ranges);
            for ((query, out), range) in each {
                let Some(rows) = work.take(pairs, row, range) else { continue };
                for (head, (query, out)) in query.chunks_exact(width).zip(out.chunks_exact_mut(width)).enumerate() {
                    let past = past(&work.keys, work.stride, rows, row, head * width..(head + 1) * width);
                    weigh(query, past, range.len(), heads.scale(), &mut work.weights);
                    mix(&work.weights, past, range.len(), out);
                }
            }
        },
    );
    out
}

/// With P the weights: dV = Pᵀ·dO, dP = dO·Vᵀ, dS = P∘(dP - Σ P∘dP), dQ = scale·dS·K, dK = scale·dSᵀ·Q.
fn backward(
    (queries, pairs, grad): (&[f32], &[f32], &[f32]),
    heads: Heads,
    ranges: &[Range<usize>],
    (to_queries, to_pairs): (&mut [f32], &mut [f32]),
) {
    let (row, width, scale) = (heads.row(), heads.width, heads.scale());
    let mut work = Work::new(heads, ranges);
    let mut slopes = vec![0.0; work.weights.len()];
    vectorized(
        #[inline(always)]
        || {
            let each = queries.chunks_exact(row).zip(grad.chunks_exact(row)).zip(to_queries.chunks_exact_mut(row));
            for (((query, grad), to_query), range) in each.zip(ranges) {
                let Some(rows) = work.take(pairs, row, range) else { continue };
                let Some(out) = to_pairs.get_mut(range.start * row * 2..range.end * row * 2) else { continue };
                let parts = query.chunks_exact(width).zip(grad.chunks_exact(width));
                for (head, ((query, grad), to_query)) in parts.zip(to_query.chunks_exact_mut(width)).enumerate() {
                    let past = past(&work.keys, work.stride, rows, row, head * width..(head + 1) * width);
                    weigh(query, past, range.len(), scale, &mut work.weights);
                    let (key, value) = (head * width, row + head * width);
                    for (slope, line) in slopes.iter_mut().zip(rows.chunks_exact(row * 2)) {
                        *slope = sum_of(grad, line.get(value..value + width).unwrap_or_default(), |a, b| a * b);
                    }
                    let (weights, slopes) = (work.weights.get(..range.len()), slopes.get_mut(..range.len()));
                    let (Some(weights), Some(slopes)) = (weights, slopes) else { continue };
                    let mean = sum_of(weights, slopes, |weight, slope| weight * slope);
                    let lines = rows.chunks_exact(row * 2).zip(out.chunks_exact_mut(row * 2));
                    for ((line, out), (slope, weight)) in lines.zip(slopes.iter().zip(weights)) {
                        let slope = weight * (slope - mean) * scale;
                        add_scaled(to_query, slope, line.get(key..key + width).unwrap_or_default());
                        add_scaled(out.get_mut(key..key + width).unwrap_or_default(), slope, query);
                        add_scaled(out.get_mut(value..value + width).unwrap_or_default(), *weight, grad);
                    }
                }
            }
        },
    );
}

/// Room for the keys of one range, laid out for all heads.
struct Work {
    laid: Range<usize>,
    stride: usize,
    /// `[width of all heads, stride]`.
    keys: Vec<f32>,
    /// `[stride]`.
    weights: Vec<f32>,
}

impl Work {
    fn new(heads: Heads, ranges: &[Range<usize>]) -> Self {
        let longest = ranges.iter().map(Range::len).max().unwrap_or(0).next_multiple_of(LANES);
        Self { laid: 0..0, stride: 0, keys: vec![0.0; heads.row() * longest], weights: vec![0.0; longest] }
    }

    /// The rows of a range, whose keys are then laid out; nothing for an empty one.
    #[inline(always)]
    fn take<'a>(&mut self, pairs: &'a [f32], row: usize, range: &Range<usize>) -> Option<&'a [f32]> {
        let rows = pairs.get(range.start * row * 2..range.end * row * 2).filter(|rows| !rows.is_empty())?;
        if self.laid != *range {
            self.stride = range.len().next_multiple_of(LANES);
            self.weights.resize(self.stride, 0.0);
            components(rows, row * 2, 0, self.stride, self.keys.get_mut(..row * self.stride)?);
            self.laid = range.clone();
        }
        Some(rows)
    }
}

/// What the head of these components looks at.
#[inline(always)]
fn past<'a>(keys: &'a [f32], stride: usize, rows: &'a [f32], row: usize, head: Range<usize>) -> Past<'a> {
    let values = rows.get(row + head.start..).unwrap_or_default();
    let keys = keys.get(head.start * stride..head.end * stride).unwrap_or_default();
    Past { keys, key_stride: stride, values, value_stride: row * 2 }
}

struct Read {
    heads: Heads,
    ranges: Arc<[Range<usize>]>,
}

impl CustomOp2 for Read {
    fn name(&self) -> &'static str {
        "read"
    }

    fn cpu_fwd(&self, s1: &CpuStorage, l1: &Layout, s2: &CpuStorage, l2: &Layout) -> Result<(CpuStorage, Shape)> {
        let out = forward(slice(s1, l1)?, slice(s2, l2)?, self.heads, &self.ranges);
        Ok((CpuStorage::F32(out), l1.shape().clone()))
    }

    fn bwd(
        &self,
        queries: &Tensor,
        pairs: &Tensor,
        _: &Tensor,
        grad: &Tensor,
    ) -> Result<(Option<Tensor>, Option<Tensor>)> {
        let mut to_queries = vec![0.0; queries.elem_count()];
        let mut to_pairs = vec![0.0; pairs.elem_count()];
        with(grad, |grad| {
            with(queries, |queries| {
                with(pairs, |pairs| {
                    let to = (to_queries.as_mut_slice(), to_pairs.as_mut_slice());
                    backward((queries, pairs, grad), self.heads, &self.ranges, to);
                })
            })
        })???;
        Ok((Some(like(queries, to_queries)?), Some(like(pairs, to_pairs)?)))
    }
}
