//! Products and exponentials of f32 on one thread. It knows no tensor.
//!
//! Each sum runs over the inner dimension in one fixed order, whatever the number of rows and of threads: a token's state is the same bits
//! alone, in a batch, in training and in acting. The code is compiled for several instruction sets and chosen at run time.

use pulp::{Arch, Simd, WithSimd};

/// Rows that one tile of a product computes together: with two vectors a row, its sums fit the registers of AVX2.
const TILE_ROWS: usize = 4;
/// Vectors of columns in a tile.
const TILE_VECTORS: usize = 2;
/// Steps of the inner dimension after which sums go to memory, so that what a tile reads stays in the first-level cache.
const DEPTH_MAX: usize = 256;

/// Runs `body` compiled for the best instruction set of this machine. What `body` calls must be inlined into it.
#[inline]
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

/// A matrix in memory, read as it lies (row after row) or transposed.
#[derive(Clone, Copy, Debug)]
pub(crate) struct View<'a> {
    data: &'a [f32],
    /// Floats in a row as it lies.
    width: usize,
    transposed: bool,
}

impl<'a> View<'a> {
    /// Rows of `width` floats, one after another.
    pub(crate) fn new(data: &'a [f32], width: usize) -> Self {
        Self { data, width, transposed: false }
    }

    /// The transposed of it.
    pub(crate) fn transposed(self) -> Self {
        Self { transposed: !self.transposed, ..self }
    }

    fn lying_rows(&self) -> usize {
        self.data.len().checked_div(self.width).unwrap_or(0)
    }

    fn rows(&self) -> usize {
        if self.transposed { self.width } else { self.lying_rows() }
    }

    fn columns(&self) -> usize {
        if self.transposed { self.lying_rows() } else { self.width }
    }

    /// Copies [`TILE_ROWS`] rows from `first` and the columns from `start` on, a column after another; zeros beyond the last row.
    #[inline(always)]
    fn tile_rows(&self, first: usize, start: usize, tile: &mut [[f32; TILE_ROWS]]) {
        if self.transposed {
            let lines = self.data.chunks_exact(self.width.max(1)).skip(start);
            for (column, line) in tile.iter_mut().zip(lines) {
                let found = line.get(first..).unwrap_or_default();
                *column = found.first_chunk().copied().unwrap_or_else(|| padded(found));
            }
            return;
        }
        let row = |offset: usize| {
            let from = (first + offset) * self.width + start;
            self.data.get(from..from + tile.len()).unwrap_or_default()
        };
        let (a, b, c, d) = (row(0), row(1), row(2), row(3));
        if d.len() == tile.len() {
            for ((((column, a), b), c), d) in tile.iter_mut().zip(a).zip(b).zip(c).zip(d) {
                *column = [*a, *b, *c, *d];
            }
        } else {
            for (place, column) in tile.iter_mut().enumerate() {
                *column = [a, b, c, d].map(|row| row.get(place).copied().unwrap_or(0.0));
            }
        }
    }

    /// Copies a row's columns from `start` on; zeros beyond the last.
    fn row(&self, row: usize, start: usize, out: &mut [f32]) {
        out.fill(0.0);
        if self.transposed {
            let column = self.data.iter().skip(row + start * self.width).step_by(self.width.max(1));
            out.iter_mut().zip(column).for_each(|(out, value)| *out = *value);
        } else {
            let line = self.data.get(row * self.width + start..(row + 1) * self.width).unwrap_or_default();
            out.iter_mut().zip(line).for_each(|(out, value)| *out = *value);
        }
    }
}

/// The first values, and zeros.
fn padded(values: &[f32]) -> [f32; TILE_ROWS] {
    let mut out = [0.0; TILE_ROWS];
    out.iter_mut().zip(values).for_each(|(out, value)| *out = *value);
    out
}

/// The right side of a product, laid out as tiles read it.
#[derive(Clone, Debug)]
pub(crate) struct Packed {
    /// Panels of [`panel_width`] columns, one after another, each with all its rows.
    data: Vec<f32>,
    rows: usize,
    columns: usize,
}

impl Packed {
    /// All of a matrix.
    pub(crate) fn new(view: View<'_>) -> Self {
        let mut packed = Self { data: Vec::new(), rows: 0, columns: 0 };
        packed.fill(view, 0, view.rows());
        packed
    }

    /// Takes `rows` rows from `first` on, in place of what was there.
    fn fill(&mut self, view: View<'_>, first: usize, rows: usize) {
        let width = panel_width();
        (self.rows, self.columns) = (rows, view.columns());
        self.data.resize(self.columns.div_ceil(width) * width * rows, 0.0);
        for (number, panel) in self.data.chunks_exact_mut((width * rows).max(1)).enumerate() {
            for (row, out) in panel.chunks_exact_mut(width).enumerate() {
                view.row(first + row, number * width, out);
            }
        }
    }

    /// Adds `left` times this to `out`, row after row: `[rows of left, columns]`.
    pub(crate) fn add_product(&self, left: View<'_>, out: &mut [f32]) {
        Arch::new().dispatch(Product { left, start: 0, right: self, out });
    }
}

/// Adds `left` times `right` to `out`, row after row.
pub(crate) fn add_product(left: View<'_>, right: View<'_>, out: &mut [f32]) {
    let mut packed = Packed { data: Vec::new(), rows: 0, columns: 0 };
    let depth = right.rows();
    for start in (0..depth).step_by(DEPTH_MAX) {
        packed.fill(right, start, DEPTH_MAX.min(depth - start));
        Arch::new().dispatch(Product { left, start, right: &packed, out });
    }
}

/// Columns in a panel on this machine. No sum depends on it.
fn panel_width() -> usize {
    struct Lanes;
    impl WithSimd for Lanes {
        type Output = usize;
        #[inline(always)]
        fn with_simd<S: Simd>(self, _: S) -> usize {
            S::F32_LANES * TILE_VECTORS
        }
    }
    Arch::new().dispatch(Lanes)
}

/// Some columns of `left`, from `start` on, times as many rows of `right`, added to `out`.
struct Product<'a> {
    left: View<'a>,
    start: usize,
    right: &'a Packed,
    out: &'a mut [f32],
}

impl WithSimd for Product<'_> {
    type Output = ();

    #[inline(always)]
    fn with_simd<S: Simd>(self, simd: S) {
        let Self { left, start, right, out } = self;
        let width = S::F32_LANES * TILE_VECTORS;
        let columns = right.columns.max(1);
        let mut tile = vec![[0.0; TILE_ROWS]; right.rows];
        let mut sums = vec![0.0; TILE_ROWS * width];
        for (number, out) in out.chunks_mut(TILE_ROWS * columns).enumerate() {
            left.tile_rows(number * TILE_ROWS, start, &mut tile);
            for (place, panel) in right.data.chunks_exact((width * right.rows).max(1)).enumerate() {
                let from = place * width;
                for (sums, row) in sums.chunks_exact_mut(width).zip(out.chunks_exact(columns)) {
                    copy(sums, row.get(from..).unwrap_or_default());
                }
                add_tile(simd, &tile, panel, &mut sums);
                for (sums, row) in sums.chunks_exact(width).zip(out.chunks_exact_mut(columns)) {
                    copy(row.get_mut(from..).unwrap_or_default(), sums);
                }
            }
        }
    }
}

/// As many values as both have.
#[inline(always)]
fn copy(into: &mut [f32], from: &[f32]) {
    let length = into.len().min(from.len());
    if let (Some(into), Some(from)) = (into.get_mut(..length), from.get(..length)) {
        into.copy_from_slice(from);
    }
}

/// Adds the product of four rows with a panel to `sums`, four rows of a panel's width.
#[inline(always)]
fn add_tile<S: Simd>(simd: S, tile: &[[f32; TILE_ROWS]], panel: &[f32], sums: &mut [f32]) {
    let (vectors, _) = S::as_simd_f32s(panel);
    let (sums, _) = S::as_mut_simd_f32s(sums);
    let Some(sums) = sums.first_chunk_mut::<{ TILE_ROWS * TILE_VECTORS }>() else { return };
    let [mut a0, mut a1, mut b0, mut b1, mut c0, mut c1, mut d0, mut d1] = *sums;
    for ([a, b, c, d], [left, right]) in tile.iter().zip(vectors.as_chunks::<TILE_VECTORS>().0) {
        let a = simd.splat_f32s(*a);
        a0 = simd.mul_add_e_f32s(a, *left, a0);
        a1 = simd.mul_add_e_f32s(a, *right, a1);
        let b = simd.splat_f32s(*b);
        b0 = simd.mul_add_e_f32s(b, *left, b0);
        b1 = simd.mul_add_e_f32s(b, *right, b1);
        let c = simd.splat_f32s(*c);
        c0 = simd.mul_add_e_f32s(c, *left, c0);
        c1 = simd.mul_add_e_f32s(c, *right, c1);
        let d = simd.splat_f32s(*d);
        d0 = simd.mul_add_e_f32s(d, *left, d0);
        d1 = simd.mul_add_e_f32s(d, *right, d1);
    }
    *sums = [a0, a1, b0, b1, c0, c1, d0, d1];
}

/// Below it, `e^x` is taken as zero: the smallest normal numbers are near.
const EXPONENT_MIN: f32 = -87.0;

/// `e^x` for `x <= 0` by range reduction and a polynomial (Cephes `expf`), within about a unit in the last place; 0 below -87.
#[inline(always)]
pub(crate) fn exp(x: f32) -> f32 {
    /// ln 2 in two parts, the first exact in few bits.
    const LN_2_HIGH: f32 = 0.693_359_4;
    const LN_2_LOW: f32 = -2.121_944_4e-4;
    let bounded = if x < EXPONENT_MIN { EXPONENT_MIN } else { x };
    let whole = (bounded * std::f32::consts::LOG2_E).round_ties_even();
    let rest = bounded - whole * LN_2_HIGH - whole * LN_2_LOW;
    let mut value = 1.987_569_2e-4;
    for coefficient in [1.398_199_9e-3, 8.333_452e-3, 4.166_579_6e-2, 0.166_666_65, 0.5] {
        value = value * rest + coefficient;
    }
    let value = value * rest * rest + rest + 1.0;
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "between 1 and 127")]
    let power = f32::from_bits(((whole as i32 + 127) as u32) << 23);
    if x < EXPONENT_MIN { 0.0 } else { value * power }
}

/// `1 / (1 + e^-x)`, without overflow.
#[inline(always)]
pub(crate) fn sigmoid(x: f32) -> f32 {
    let small = exp(-x.abs());
    let top = if x < 0.0 { small } else { 1.0 };
    top / (1.0 + small)
}

/// Running sums that are kept side by side, so that a sum is vectorised; part of each sum's fixed order.
pub(crate) const LANES: usize = 8;

/// The sum of `term(a, b)` over two slices of one length, in an order that depends on the length alone.
#[inline(always)]
pub(crate) fn sum_of(a: &[f32], b: &[f32], term: impl Fn(f32, f32) -> f32) -> f32 {
    let ((a, a_rest), (b, b_rest)) = (a.as_chunks::<LANES>(), b.as_chunks::<LANES>());
    let mut sums = [0.0; LANES];
    for (a, b) in a.iter().zip(b) {
        for ((sum, a), b) in sums.iter_mut().zip(a).zip(b) {
            *sum += term(*a, *b);
        }
    }
    let rest: f32 = a_rest.iter().zip(b_rest).map(|(a, b)| term(*a, *b)).sum();
    sums.iter().sum::<f32>() + rest
}

/// Adds `factor` times `values` to `out`, as far as both go, in whole vectors where they can be.
#[inline(always)]
pub(crate) fn add_scaled(out: &mut [f32], factor: f32, values: &[f32]) {
    let length = out.len().min(values.len());
    let (Some(out), Some(values)) = (out.get_mut(..length), values.get(..length)) else { return };
    let ((out, out_rest), (values, values_rest)) = (out.as_chunks_mut::<LANES>(), values.as_chunks::<LANES>());
    for (out, values) in out.iter_mut().zip(values) {
        for (out, value) in out.iter_mut().zip(values) {
            *out += factor * value;
        }
    }
    for (out, value) in out_rest.iter_mut().zip(values_rest) {
        *out += factor * value;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::nn::tests::noise;

    fn plain(left: View<'_>, right: View<'_>) -> Vec<f64> {
        let (rows, depth, columns) = (left.rows(), left.columns(), right.columns());
        let at = |view: &View<'_>, row: usize, column: usize| {
            let place = if view.transposed { column * view.width + row } else { row * view.width + column };
            f64::from(view.data[place])
        };
        (0..rows * columns)
            .map(|place| {
                (0..depth).map(|step| at(&left, place / columns, step) * at(&right, step, place % columns)).sum()
            })
            .collect()
    }

    #[test]
    fn products_agree_with_plain_sums_whatever_the_shape_and_the_strides() {
        for (rows, depth, columns) in [(1, 1, 1), (3, 5, 7), (4, 48, 144), (9, 600, 17), (130, 48, 64), (5, 257, 16)] {
            let (a, b) = (noise(rows * depth, 1), noise(depth * columns, 2));
            for left in [View::new(&a, depth), View::new(&a, rows).transposed()] {
                for right in [View::new(&b, columns), View::new(&b, depth).transposed()] {
                    let mut out = vec![1.0; rows * columns];
                    add_product(left, right, &mut out);
                    let mut again = vec![1.0; rows * columns];
                    Packed::new(right).add_product(left, &mut again);
                    assert_eq!(out, again, "packed at once or in parts, the bits are the same");
                    for (found, expected) in out.iter().zip(plain(left, right)) {
                        assert!((f64::from(*found) - 1.0 - expected).abs() < 2e-4, "{rows}x{depth}x{columns}");
                    }
                }
            }
        }
    }

    #[test]
    fn a_row_is_the_same_bits_alone_and_among_others() {
        let (a, b) = (noise(11 * 48, 3), noise(48 * 31, 4));
        let packed = Packed::new(View::new(&b, 31));
        let mut together = vec![0.0; 11 * 31];
        packed.add_product(View::new(&a, 48), &mut together);
        for (row, together) in a.chunks_exact(48).zip(together.chunks_exact(31)) {
            let mut alone = vec![0.0; 31];
            packed.add_product(View::new(row, 48), &mut alone);
            assert_eq!(alone, together);
        }
    }

    #[test]
    fn exponentials_agree_with_the_standard_library() {
        for step in 0..8700_u16 {
            let x = -f32::from(step) / 100.0;
            let expected = f64::from(x).exp();
            assert!((f64::from(exp(x)) - expected).abs() <= expected * 3e-7, "exp({x})");
            for x in [x, -x] {
                let expected = 1.0 / (1.0 + (-f64::from(x)).exp());
                assert!((f64::from(sigmoid(x)) - expected).abs() <= expected * 1e-6 + 1e-37, "sigmoid({x})");
            }
        }
        assert_eq!(exp(-87.1), 0.0);
        assert_eq!(exp(-1e30), 0.0);
        assert_eq!(exp(0.0), 1.0);
    }

    #[test]
    fn what_is_not_finite_stays_so() {
        assert!(exp(f32::NAN).is_nan());
        assert!(sigmoid(f32::NAN).is_nan());
    }
}
