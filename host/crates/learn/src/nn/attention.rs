//! Self-attention (Vaswani et al. 2017, equation 1) within segments, causal or not.

use candle_core::{CpuStorage, CustomOp1, Layout, Result, Shape, Tensor};

use super::kernel::{LANES, add_scaled, exp, sum_of, vectorized};
use super::segments::Segments;
use super::slices::{like, slice, with};

/// The heads of an attention layer.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Heads {
    /// How many.
    pub count: usize,
    /// Values in each; even.
    pub width: usize,
}

impl Heads {
    /// Values of all heads together.
    #[must_use]
    pub fn row(self) -> usize {
        self.count * self.width
    }

    #[expect(clippy::cast_precision_loss, reason = "a head is narrow")]
    pub(crate) fn scale(self) -> f32 {
        1.0 / (self.width as f32).sqrt()
    }
}

/// Mixes for each row the values of its segment's rows up to itself: `[rows, 3 * width]` (queries, keys, values) to `[rows, width]`.
///
/// # Errors
/// A tensor of another shape, or that is not f32 on the CPU.
pub fn attention(packed: &Tensor, heads: Heads, segments: &Segments) -> Result<Tensor> {
    heads.check("attention", packed, segments, 3)?;
    packed.contiguous()?.apply_op1(Attention { heads, segments: segments.clone(), sees: Sees::Earlier })
}

/// Mixes for each row the values of all rows of its segment: `[rows, 3 * width]` (queries, keys, values) to `[rows, width]`.
///
/// # Errors
/// A tensor of another shape, or that is not f32 on the CPU.
pub fn full_attention(packed: &Tensor, heads: Heads, segments: &Segments) -> Result<Tensor> {
    heads.check("full_attention", packed, segments, 3)?;
    packed.contiguous()?.apply_op1(Attention { heads, segments: segments.clone(), sees: Sees::All })
}

/// [`full_attention`] over the rows of one segment.
pub(crate) fn full_attention_rows(packed: &[f32], heads: Heads) -> Vec<f32> {
    let rows = packed.len() / (heads.row() * 3).max(1);
    Attention { heads, segments: Segments::new(&[rows]), sees: Sees::All }.forward(packed)
}

/// What a query looks at: keys a component after another, so that scores are vectors over positions; values a position after another.
#[derive(Clone, Copy)]
pub(crate) struct Past<'a> {
    /// `[head width, stride]`; zeros or later keys beyond the positions that count.
    pub(crate) keys: &'a [f32],
    /// A multiple of [`LANES`].
    pub(crate) key_stride: usize,
    /// Rows, of which the first values are this head's.
    pub(crate) values: &'a [f32],
    pub(crate) value_stride: usize,
}

/// Softmax weights of one query over the first `length` positions. `weights` is as long as a line of keys; what lies beyond becomes 0.
#[inline(always)]
pub(crate) fn weigh(query: &[f32], past: Past<'_>, length: usize, scale: f32, weights: &mut [f32]) {
    let padded = length.next_multiple_of(LANES).min(weights.len());
    let (weights, rest) = weights.split_at_mut(padded);
    rest.fill(0.0);
    weights.fill(0.0);
    for (query, keys) in query.iter().zip(past.keys.chunks_exact(past.key_stride)) {
        add_scaled(weights, *query * scale, keys);
    }
    let (counted, beyond) = weights.split_at_mut(length.min(padded));
    let highest = counted.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    beyond.fill(f32::NEG_INFINITY);
    for weight in weights.iter_mut() {
        *weight = exp(*weight - highest);
    }
    let total = sum_of(weights, weights, |weight, _| weight);
    for weight in weights {
        *weight /= total;
    }
}

/// Adds the weighted values to `out`, a head's width.
#[inline(always)]
pub(crate) fn mix(weights: &[f32], past: Past<'_>, length: usize, out: &mut [f32]) {
    for (weight, values) in weights.iter().take(length).zip(past.values.chunks(past.value_stride)) {
        add_scaled(out, *weight, values);
    }
}

/// A column of `packed` rows from `from` on, `[width, stride]`: one component after another.
#[inline(always)]
pub(super) fn components(rows: &[f32], row_width: usize, from: usize, stride: usize, out: &mut [f32]) {
    out.fill(0.0);
    for (component, out) in out.chunks_exact_mut(stride).enumerate() {
        let column = rows.iter().skip(from + component).step_by(row_width);
        out.iter_mut().zip(column).for_each(|(out, value)| *out = *value);
    }
}

/// What a row looks at.
#[derive(Clone, Copy)]
enum Sees {
    /// The rows up to itself.
    Earlier,
    /// All of its segment.
    All,
}

impl Sees {
    /// How many rows, of so many.
    #[inline(always)]
    fn count(self, place: usize, rows: usize) -> usize {
        match self {
            Self::Earlier => place + 1,
            Self::All => rows,
        }
    }
}

struct Attention {
    heads: Heads,
    segments: Segments,
    sees: Sees,
}

impl Attention {
    fn forward(&self, input: &[f32]) -> Vec<f32> {
        let (row, width) = (self.heads.row(), self.heads.width);
        let mut out = vec![0.0; input.len() / 3];
        let mut work = Work::new(self.heads, &self.segments);
        vectorized(
            #[inline(always)]
            || {
                for range in self.segments.ranges().filter(|range| !range.is_empty()) {
                    let Some(rows) = input.get(range.start * row * 3..range.end * row * 3) else { continue };
                    let Some(out) = out.get_mut(range.start * row..range.end * row) else { continue };
                    for head in 0..self.heads.count {
                        let from = head * width;
                        let stride = work.take(rows, row, from, width);
                        let Work { keys, weights, .. } = &mut work;
                        let weights = weights.get_mut(..stride).unwrap_or_default();
                        let values = rows.get(row * 2 + from..).unwrap_or_default();
                        let past = Past { keys, key_stride: stride, values, value_stride: row * 3 };
                        let queries = rows.chunks_exact(row * 3).zip(out.chunks_exact_mut(row));
                        for (place, (query, out)) in queries.enumerate() {
                            let query = query.get(from..from + width).unwrap_or_default();
                            let seen = self.sees.count(place, range.len());
                            weigh(query, past, seen, self.heads.scale(), weights);
                            mix(weights, past, seen, out.get_mut(from..from + width).unwrap_or_default());
                        }
                    }
                }
            },
        );
        out
    }

    /// With P the weights, dV = Pᵀ·dO, dP = dO·Vᵀ, dS = P∘(dP - rows of Σ P∘dP), dQ = scale·dS·K, dK = scale·dSᵀ·Q.
    fn backward(&self, input: &[f32], grad: &[f32]) -> Vec<f32> {
        let row = self.heads.row();
        let mut out = vec![0.0; input.len()];
        let mut work = Work::new(self.heads, &self.segments);
        vectorized(
            #[inline(always)]
            || {
                for range in self.segments.ranges().filter(|range| !range.is_empty()) {
                    let Some(rows) = input.get(range.start * row * 3..range.end * row * 3) else { continue };
                    let Some(grad) = grad.get(range.start * row..range.end * row) else { continue };
                    let Some(out) = out.get_mut(range.start * row * 3..range.end * row * 3) else { continue };
                    for head in 0..self.heads.count {
                        self.head_backward(&mut work, rows, grad, head, out);
                    }
                }
            },
        );
        out
    }

    #[inline(always)]
    fn head_backward(&self, work: &mut Work, rows: &[f32], grad: &[f32], head: usize, out: &mut [f32]) {
        let (row, width, scale) = (self.heads.row(), self.heads.width, self.heads.scale());
        let from = head * width;
        let stride = work.take(rows, row, from, width);
        components(rows, row * 3, row * 2 + from, stride, work.values.get_mut(..width * stride).unwrap_or_default());
        let Work { keys, values, weights, slopes, to_query } = work;
        let keys = keys.get(..width * stride).unwrap_or_default();
        let past = Past { keys, key_stride: stride, values: &[], value_stride: row * 3 };
        let (weights, slopes) = (weights.get_mut(..stride), slopes.get_mut(..stride));
        let (Some(weights), Some(slopes)) = (weights, slopes) else { return };
        for (place, (query, grad)) in rows.chunks_exact(row * 3).zip(grad.chunks_exact(row)).enumerate() {
            let query = query.get(from..from + width).unwrap_or_default();
            let grad = grad.get(from..from + width).unwrap_or_default();
            let seen = self.sees.count(place, rows.len() / (row * 3));
            weigh(query, past, seen, scale, weights);
            slopes.fill(0.0);
            for (grad, values) in grad.iter().zip(values.chunks_exact(stride)) {
                add_scaled(slopes, *grad, values);
            }
            let mean = sum_of(weights, slopes, |weight, slope| weight * slope);
            for (slope, weight) in slopes.iter_mut().zip(weights.iter()) {
                *slope = weight * (*slope - mean) * scale;
            }
            to_query.fill(0.0);
            let earlier = rows.chunks_exact(row * 3).zip(out.chunks_exact_mut(row * 3)).take(seen);
            for ((line, out), (slope, weight)) in earlier.zip(slopes.iter().zip(weights.iter())) {
                add_scaled(to_query, *slope, line.get(row + from..row + from + width).unwrap_or_default());
                add_scaled(out.get_mut(row + from..row + from + width).unwrap_or_default(), *slope, query);
                add_scaled(out.get_mut(row * 2 + from..row * 2 + from + width).unwrap_or_default(), *weight, grad);
            }
            if let Some(out) = out.get_mut(place * row * 3 + from..) {
                add_scaled(out, 1.0, to_query);
            }
        }
    }
}

/// Room for one head of one segment.
struct Work {
    /// `[head width, stride]`, as the values.
    keys: Vec<f32>,
    values: Vec<f32>,
    /// A line of positions, as the slopes.
    weights: Vec<f32>,
    slopes: Vec<f32>,
    to_query: Vec<f32>,
}

impl Work {
    fn new(heads: Heads, segments: &Segments) -> Self {
        let stride = segments.longest().next_multiple_of(LANES);
        let room = || vec![0.0; heads.width * stride];
        let line = || vec![0.0; stride];
        Self { keys: room(), values: room(), weights: line(), slopes: line(), to_query: vec![0.0; heads.width] }
    }

    /// Lays out the keys of a segment's head; the stride between their components.
    #[inline(always)]
    fn take(&mut self, rows: &[f32], row: usize, from: usize, width: usize) -> usize {
        let stride = (rows.len() / (row * 3)).next_multiple_of(LANES);
        components(rows, row * 3, row + from, stride, self.keys.get_mut(..width * stride).unwrap_or_default());
        stride
    }
}

impl CustomOp1 for Attention {
    fn name(&self) -> &'static str {
        match self.sees {
            Sees::Earlier => "causal-attention",
            Sees::All => "full-attention",
        }
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let out = self.forward(slice(storage, layout)?);
        Ok((CpuStorage::F32(out), (self.segments.rows(), self.heads.row()).into()))
    }

    fn bwd(&self, input: &Tensor, _: &Tensor, grad: &Tensor) -> Result<Option<Tensor>> {
        let out = with(grad, |grad| with(input, |input| self.backward(input, grad)))??;
        Ok(Some(like(input, out)?))
    }
}
