//! Products on the CPU. One generic kernel, compiled for several instruction sets and chosen at run time, so that a portable build is as
//! fast as a native one.
//!
//! Each sum runs over the inner dimension in one fixed order, whatever the number of rows: a token's state is the same bits whether it was
//! computed alone, in a prompt, or read from a cache.

use pulp::{Arch, Simd, WithSimd};
use rayon::prelude::*;

use super::LocalError;
use super::quant::{Matrix, MatrixView};

/// Weight rows that one parallel task handles.
const TASK_ROWS: usize = 64;
/// Floats of unpacked weights that stay in the first-level cache.
const UNPACKED_FLOATS: usize = 6144;
/// Products smaller than this are not worth waking another thread.
const SERIAL_PRODUCTS: usize = 150_000;

/// The instruction set that the kernels use on this machine.
pub(crate) fn instruction_set() -> &'static str {
    match Arch::new() {
        Arch::Scalar => "baseline",
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        Arch::V3(_) => "avx2+fma",
        _ => "other simd",
    }
}

/// Runs `body` compiled for the best instruction set of this machine. `body` must be inlined into a closure or function marked so.
pub(crate) fn vectorized<R>(body: impl FnOnce() -> R) -> R {
    struct Body<F>(F);
    impl<R, F: FnOnce() -> R> WithSimd for Body<F> {
        type Output = R;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> R {
            (self.0)()
        }
    }
    Arch::new().dispatch(Body(body))
}

/// `inputs` (`[count, columns]`) times the transposed matrix: `[count, rows]`.
pub(crate) fn product(matrix: &Matrix, inputs: &[f32], count: usize) -> Result<Vec<f32>, LocalError> {
    let view = matrix.view()?;
    let arch = Arch::new();
    let mut transposed = vec![0.0; view.rows * count]; // [rows, count]
    let task = |(place, out): (usize, &mut [f32])| {
        arch.dispatch(Task { matrix: view, first_row: place * TASK_ROWS, inputs, count, out })
    };
    if view.rows * view.columns * count < SERIAL_PRODUCTS {
        transposed.chunks_mut(TASK_ROWS * count).enumerate().for_each(task);
    } else {
        transposed.par_chunks_mut(TASK_ROWS * count).enumerate().for_each(task);
    }
    Ok(if count == 1 { transposed } else { transpose(&transposed, count) })
}

/// `[rows, count]` to `[count, rows]`.
fn transpose(source: &[f32], count: usize) -> Vec<f32> {
    let rows = source.len() / count.max(1);
    let mut out = vec![0.0; source.len()];
    out.par_chunks_mut(rows.max(1)).enumerate().for_each(|(column, out)| {
        for (out, value) in out.iter_mut().zip(source.iter().skip(column).step_by(count)) {
            *out = *value;
        }
    });
    out
}

/// Some weight rows against all inputs.
struct Task<'a> {
    matrix: MatrixView<'a>,
    first_row: usize,
    inputs: &'a [f32],
    count: usize,
    /// `[weight rows, count]`.
    out: &'a mut [f32],
}

impl WithSimd for Task<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let columns = self.matrix.columns;
        // Groups of four weight rows, as many as stay in the cache.
        let group = (UNPACKED_FLOATS / columns.max(1) / 4).clamp(1, 4) * 4;
        let mut weights = vec![0.0; group * columns];
        for (step, out) in self.out.chunks_mut(group * self.count).enumerate() {
            let rows = out.len() / self.count.max(1);
            for (row, weights) in weights.chunks_exact_mut(columns).take(rows).enumerate() {
                self.matrix.row(self.first_row + step * group + row, weights);
            }
            for (weights, out) in weights.chunks(4 * columns).zip(out.chunks_mut(4 * self.count)) {
                four_rows(simd, weights, self.inputs, columns, out);
            }
        }
    }
}

/// Up to four weight rows against all inputs, two inputs at a time: eight running sums keep two units busy for four cycles, and fit the
/// sixteen registers of AVX2 with what they are made of.
#[inline(always)]
fn four_rows<S: Simd>(simd: S, weights: &[f32], inputs: &[f32], columns: usize, out: &mut [f32]) {
    let count = inputs.len() / columns.max(1);
    // Beyond the matrix's end there are stale rows, which are computed and not written.
    let mut rows = weights.chunks_exact(columns);
    let first = rows.next().unwrap_or_default();
    let rows = [first, rows.next().unwrap_or(first), rows.next().unwrap_or(first), rows.next().unwrap_or(first)];
    let mut place = 0;
    let mut pairs = inputs.chunks_exact(2 * columns);
    for pair in &mut pairs {
        let (first, second) = pair.split_at(columns);
        write(out, count, place, dots(simd, [first, second], rows));
        place += 2;
    }
    for input in pairs.remainder().chunks_exact(columns) {
        write(out, count, place, dots(simd, [input], rows));
    }
}

#[inline(always)]
fn write<const R: usize>(out: &mut [f32], count: usize, place: usize, sums: [[f32; 4]; R]) {
    for (input, sums) in sums.into_iter().enumerate() {
        for (row, sum) in out.chunks_exact_mut(count).zip(sums) {
            if let Some(slot) = row.get_mut(place + input) {
                *slot = sum;
            }
        }
    }
}

/// Dot products of `R` inputs with four weight rows.
#[inline(always)]
#[expect(clippy::indexing_slicing, reason = "the innermost loop; all slices are cut to one length just above")]
fn dots<S: Simd, const R: usize>(simd: S, inputs: [&[f32]; R], rows: [&[f32]; 4]) -> [[f32; 4]; R] {
    let inputs = inputs.map(|input| S::as_simd_f32s(input));
    let rows = rows.map(|row| S::as_simd_f32s(row));
    let length = rows.iter().chain(&inputs).map(|(whole, _)| whole.len()).min().unwrap_or(0);
    let whole_inputs = inputs.map(|(whole, _)| &whole[..length]);
    let whole_rows = rows.map(|(whole, _)| &whole[..length]);
    let mut sums = [[simd.splat_f32s(0.0); 4]; R];
    for step in 0..length {
        let values = whole_inputs.map(|input| input[step]);
        for row in 0..4 {
            let weight = whole_rows[row][step];
            for input in 0..R {
                sums[input][row] = simd.mul_add_e_f32s(values[input], weight, sums[input][row]);
            }
        }
    }
    let mut out = [[0.0; 4]; R];
    for input in 0..R {
        for row in 0..4 {
            let tail: f32 = inputs[input].1.iter().zip(rows[row].1).map(|(a, b)| a * b).sum();
            out[input][row] = simd.reduce_sum_f32s(sums[input][row]) + tail;
        }
    }
    out
}

/// `e^x` for `x <= 0` by range reduction and a polynomial (Cephes `expf`): vectorised, with an error of about one unit in the last place.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    let x = x.max(-87.0);
    let whole = (x * std::f32::consts::LOG2_E).round_ties_even();
    let rest = x - whole * 0.693_359_4 - whole * -2.121_944_4e-4;
    let mut value = 1.987_569_2e-4;
    for coefficient in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 0.166_666_65, 0.5] {
        value = value * rest + coefficient;
    }
    let value = value * rest * rest + rest + 1.0;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 254")]
    let power = f32::from_bits(((whole as i32 + 127) as u32) << 23);
    value * power
}

#[cfg(test)]
mod tests {
    use candle_core::quantized::{GgmlDType, QTensor};
    use candle_core::{Device, Tensor};

    use super::*;
    use crate::local::tests::noise;

    fn matrix(rows: usize, columns: usize, kind: GgmlDType) -> Matrix {
        let source = Tensor::from_vec(noise(rows * columns, 3), (rows, columns), &Device::Cpu).unwrap();
        Matrix::new(QTensor::quantize(&source, kind).unwrap(), "t").unwrap()
    }

    fn plain_product(matrix: &Matrix, inputs: &[f32]) -> Vec<f64> {
        let mut out = Vec::new();
        let mut row = vec![0.0; matrix.columns];
        for input in inputs.chunks_exact(matrix.columns) {
            for place in 0..matrix.rows {
                matrix.view().unwrap().row(place, &mut row);
                out.push(input.iter().zip(&row).map(|(a, b)| f64::from(*a) * f64::from(*b)).sum());
            }
        }
        out
    }

    #[test]
    fn products_agree_with_plain_sums_whatever_the_shape() {
        for (rows, columns, count, kind) in [
            (1, 32, 1, GgmlDType::F32),
            (5, 33, 2, GgmlDType::F32),
            (67, 64, 4, GgmlDType::Q4_1),
            (130, 96, 7, GgmlDType::Q8_0),
            (9, 256, 3, GgmlDType::Q6K),
            (6, 8192, 5, GgmlDType::Q4_0),
        ] {
            let matrix = matrix(rows, columns, kind);
            let inputs = noise(count * columns, 5);
            let expected = plain_product(&matrix, &inputs);
            let found = product(&matrix, &inputs, count).unwrap();
            for (found, expected) in found.iter().zip(&expected) {
                assert!(
                    (f64::from(*found) - expected).abs() < 1e-4,
                    "{rows}x{columns}, {count} inputs: {found} against {expected}"
                );
            }
            assert_eq!(found.len(), expected.len());
        }
    }

    #[test]
    fn a_row_is_the_same_bits_alone_and_among_others() {
        let matrix = matrix(70, 160, GgmlDType::Q4_1);
        let inputs = noise(11 * 160, 9);
        let together = product(&matrix, &inputs, 11).unwrap();
        for (input, together) in inputs.chunks_exact(160).zip(together.chunks_exact(70)) {
            assert_eq!(product(&matrix, input, 1).unwrap(), together);
        }
    }

    #[test]
    fn exp_agrees_with_the_standard_library() {
        for step in 0..8700_u16 {
            let x = -f32::from(step) / 100.0;
            let expected = f64::from(x).exp();
            assert!((f64::from(exp(x)) - expected).abs() <= expected * 3e-7, "exp({x})");
        }
    }
}
