//! Causal attention over the cache, a position and a head at a time.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::cache::Cache;
use super::file::Shape;
use super::kernel::exp;

/// Sums of products below this are not worth waking another thread.
const SERIAL_PRODUCTS: usize = 100_000;

/// Mixes the values of all earlier positions for each query: `[tokens, query width]` to the same shape. The first query stands at position
/// `first`, and its key and value are in the cache.
pub(crate) fn attend(shape: &Shape, cache: &Cache, layer: usize, first: usize, queries: &[f32]) -> Vec<f32> {
    let mut out = vec![0.0; queries.len()];
    let arch = Arch::new();
    let row_width = shape.query_width();
    let task = |(row, (out, query)): (usize, (&mut [f32], &[f32]))| {
        arch.dispatch(Row { shape, cache, layer, end: first + row + 1, query, out });
    };
    let count = queries.len() / row_width.max(1);
    if count == 1 || count * cache.length() * row_width < SERIAL_PRODUCTS {
        out.chunks_exact_mut(row_width).zip(queries.chunks_exact(row_width)).enumerate().for_each(task);
    } else {
        // Later rows attend to more; rayon's stealing evens that out.
        out.par_chunks_exact_mut(row_width)
            .zip(queries.par_chunks_exact(row_width))
            .enumerate()
            .with_max_len(4)
            .for_each(task);
    }
    out
}

struct Row<'a> {
    shape: &'a Shape,
    cache: &'a Cache,
    layer: usize,
    end: usize,
    query: &'a [f32],
    out: &'a mut [f32],
}

impl WithSimd for Row<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { shape, cache, layer, end, query, out } = self;
        let (head_width, kv_width) = (shape.head_width, shape.kv_width());
        let group = shape.heads / shape.kv_heads;
        #[expect(clippy::cast_precision_loss, reason = "a head is narrow")]
        let scale = 1.0 / (head_width as f32).sqrt();
        let mut weights = vec![0.0_f32; end];
        for (head, (query, out)) in query.chunks_exact(head_width).zip(out.chunks_exact_mut(head_width)).enumerate() {
            let start = head / group * head_width;
            let mut places = weights.iter_mut();
            for (keys, _) in cache.layer(layer, end) {
                for (key, weight) in keys.chunks_exact(kv_width).zip(&mut places) {
                    *weight = dot(simd, query, key.get(start..start + head_width).unwrap_or_default()) * scale;
                }
            }
            let total = softmax_parts(&mut weights);
            let mut places = weights.iter();
            for (_, values) in cache.layer(layer, end) {
                for (value, weight) in values.chunks_exact(kv_width).zip(&mut places) {
                    for (out, value) in out.iter_mut().zip(value.get(start..start + head_width).unwrap_or_default()) {
                        *out += weight * value;
                    }
                }
            }
            for out in out {
                *out /= total;
            }
        }
    }
}

/// Turns scores into weights that are not yet divided by their sum, which is returned.
#[inline(always)]
fn softmax_parts(scores: &mut [f32]) -> f32 {
    let highest = scores.iter().copied().fold(f32::NEG_INFINITY, f32::max);
    for score in scores.iter_mut() {
        *score = exp(*score - highest);
    }
    scores.iter().sum()
}

#[inline(always)]
fn dot<S: Simd>(simd: S, a: &[f32], b: &[f32]) -> f32 {
    let ((a, a_tail), (b, b_tail)) = (S::as_simd_f32s(a), S::as_simd_f32s(b));
    let sum = a.iter().zip(b).fold(simd.splat_f32s(0.0), |sum, (a, b)| simd.mul_add_e_f32s(*a, *b, sum));
    simd.reduce_sum_f32s(sum) + a_tail.iter().zip(b_tail).map(|(a, b)| a * b).sum::<f32>()
}
