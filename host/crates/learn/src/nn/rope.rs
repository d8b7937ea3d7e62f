//! Rotary position embedding (Su et al. 2021, equation 34), the halves of a head paired.

use candle_core::{CpuStorage, CustomOp1, Layout, Result, Shape, Tensor, bail};

use super::attention::Heads;
use super::kernel::vectorized;
use super::segments::Segments;
use super::slices::{like, slice, with};

/// The base of the wavelengths.
const BASE: f64 = 10_000.0;

/// Turns queries and keys by their positions: `[rows, 3 * width]` (queries, keys, values) to the same shape; values stay.
///
/// # Errors
/// A tensor of another shape, or that is not f32 on the CPU.
pub fn rope(packed: &Tensor, heads: Heads, segments: &Segments) -> Result<Tensor> {
    heads.check("rope", packed, segments, 3)?;
    packed.contiguous()?.apply_op1(Rope { heads, segments: segments.clone() })
}

/// Cosines and sines of all angles up to a position.
#[derive(Debug, Clone)]
pub(crate) struct Angles {
    /// Half a head's width.
    half: usize,
    /// Of each position: the cosines, then the sines.
    table: Vec<f32>,
}

impl Angles {
    /// Those of the first `positions` positions.
    pub(crate) fn new(heads: Heads, positions: usize) -> Self {
        let half = heads.width / 2;
        let mut table = Vec::with_capacity(positions * half * 2);
        for position in 0..positions {
            #[expect(clippy::cast_precision_loss, reason = "positions and widths are small")]
            let angle = |pair: usize| position as f64 * BASE.powf(-(pair as f64) / half as f64);
            #[expect(clippy::cast_possible_truncation, reason = "tables are f32")]
            {
                table.extend((0..half).map(|pair| angle(pair).cos() as f32));
                table.extend((0..half).map(|pair| angle(pair).sin() as f32));
            }
        }
        Self { half, table }
    }

    /// Turns the queries and keys of one row of `[queries, keys, values]`; backwards for a gradient.
    #[inline(always)]
    pub(crate) fn turn(&self, row: &mut [f32], position: usize, backwards: bool) {
        let from = position * self.half * 2;
        let Some(angles) = self.table.get(from..from + self.half * 2) else { return };
        let (cosines, sines) = angles.split_at(self.half);
        let sign = if backwards { -1.0 } else { 1.0 };
        let turned = row.len() / 3 * 2;
        for head in row.get_mut(..turned).unwrap_or_default().chunks_exact_mut(self.half * 2) {
            let (first, second) = head.split_at_mut(self.half);
            for (((a, b), cosine), sine) in first.iter_mut().zip(second).zip(cosines).zip(sines) {
                let sine = sine * sign;
                (*a, *b) = (*a * cosine - *b * sine, *a * sine + *b * cosine);
            }
        }
    }
}

struct Rope {
    heads: Heads,
    segments: Segments,
}

impl Rope {
    fn turned(&self, input: &[f32], backwards: bool) -> Vec<f32> {
        let angles = Angles::new(self.heads, self.segments.longest());
        let mut out = input.to_vec();
        vectorized(
            #[inline(always)]
            || {
                for (row, position) in out.chunks_exact_mut(self.heads.row() * 3).zip(self.segments.positions()) {
                    angles.turn(row, position, backwards);
                }
            },
        );
        out
    }
}

impl CustomOp1 for Rope {
    fn name(&self) -> &'static str {
        "rope"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        Ok((CpuStorage::F32(self.turned(slice(storage, layout)?, false)), layout.shape().clone()))
    }

    fn bwd(&self, input: &Tensor, _: &Tensor, grad: &Tensor) -> Result<Option<Tensor>> {
        Ok(Some(like(input, with(grad, |grad| self.turned(grad, true))?)?))
    }
}

impl Heads {
    /// That rows hold `parts` times all heads, and that there are as many rows as segments have.
    pub(crate) fn check(self, name: &str, tensor: &Tensor, segments: &Segments, parts: usize) -> Result<()> {
        let (rows, columns) = tensor.dims2()?;
        let expected = (segments.rows(), self.row() * parts);
        if (rows, columns) != expected || !self.width.is_multiple_of(2) || self.row() == 0 {
            bail!(
                "{name}: expected {expected:?} of heads with an even width, found {:?} and {self:?}",
                (rows, columns)
            );
        }
        Ok(())
    }
}
