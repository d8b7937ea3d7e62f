//! Scaled sums of some rows of a table: what embeds a bag of symbols, and the mean of a span of states. It knows neither.
//!
//! The gradient goes to the rows that were named and to no other; no row is ever written as a vector of ones and zeros.

use std::sync::Arc;

use candle_core::{CpuStorage, CustomOp1, Layout, Result, Shape, Tensor, bail};

use super::kernel::{add_scaled, vectorized};
use super::slices::{like, slice, with};

/// What a sum of `n` rows is multiplied with. An empty sum is zeros.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default)]
pub enum Share {
    /// 1/n.
    #[default]
    Mean,
    /// 1/√n: sums of independent rows are then as long, whatever their number.
    Root,
}

impl Share {
    /// It, for so many rows.
    #[must_use]
    #[inline(always)]
    #[expect(clippy::cast_precision_loss, reason = "lists are short")]
    pub fn of(self, count: usize) -> f32 {
        match self {
            _ if count == 0 => 0.0,
            Self::Mean => 1.0 / count as f32,
            Self::Root => 1.0 / (count as f32).sqrt(),
        }
    }
}

/// Lists of rows of a table, end to end.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Lists {
    rows: Vec<u32>,
    /// The end of each list among the rows.
    ends: Vec<usize>,
    share: Share,
}

impl Lists {
    /// No list yet.
    #[must_use]
    pub fn new(share: Share) -> Self {
        Self { rows: Vec::new(), ends: Vec::new(), share }
    }

    /// Adds a list. A row that it names twice counts twice.
    pub fn push(&mut self, rows: impl IntoIterator<Item = u32>) {
        self.rows.extend(rows);
        self.ends.push(self.rows.len());
    }

    /// How many lists there are.
    #[must_use]
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Whether there is no list.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }

    fn iter(&self) -> impl Iterator<Item = &[u32]> {
        self.ends.iter().scan(0, |from, end| {
            let list = self.rows.get(*from..*end).unwrap_or_default();
            *from = *end;
            Some(list)
        })
    }
}

/// The sum of each list's rows of `table` (`[rows, width]`), multiplied with its share: `[lists, width]`.
///
/// # Errors
/// A row that the table does not have; a table that is not f32 on the CPU.
pub fn list_sums(table: &Tensor, lists: &Arc<Lists>) -> Result<Tensor> {
    let (rows, _) = table.dims2()?;
    if let Some(row) = lists.rows.iter().find(|row| **row as usize >= rows) {
        bail!("list_sums: row {row} of a table of {rows} rows");
    }
    table.contiguous()?.apply_op1(Sums(lists.clone()))
}

/// Adds the rows of one list up. The same bits in training and in acting.
#[inline(always)]
pub(crate) fn sum_rows(table: &[f32], list: &[u32], share: Share, out: &mut [f32]) {
    let width = out.len();
    out.fill(0.0);
    for row in list {
        let from = *row as usize * width;
        add_scaled(out, 1.0, table.get(from..from + width).unwrap_or_default());
    }
    let share = share.of(list.len());
    out.iter_mut().for_each(|out| *out *= share);
}

struct Sums(Arc<Lists>);

impl CustomOp1 for Sums {
    fn name(&self) -> &'static str {
        "list-sums"
    }

    fn cpu_fwd(&self, storage: &CpuStorage, layout: &Layout) -> Result<(CpuStorage, Shape)> {
        let (_, width) = layout.shape().dims2()?;
        let table = slice(storage, layout)?;
        let mut out = vec![0.0; self.0.len() * width];
        vectorized(
            #[inline(always)]
            || {
                for (list, out) in self.0.iter().zip(out.chunks_exact_mut(width.max(1))) {
                    sum_rows(table, list, self.0.share, out);
                }
            },
        );
        Ok((CpuStorage::F32(out), (self.0.len(), width).into()))
    }

    fn bwd(&self, table: &Tensor, _: &Tensor, grad: &Tensor) -> Result<Option<Tensor>> {
        let (_, width) = table.dims2()?;
        let mut out = vec![0.0; table.elem_count()];
        with(grad, |grad| {
            vectorized(
                #[inline(always)]
                || {
                    for (list, grad) in self.0.iter().zip(grad.chunks_exact(width.max(1))) {
                        let share = self.0.share.of(list.len());
                        for row in list {
                            let from = *row as usize * width;
                            add_scaled(out.get_mut(from..from + width).unwrap_or_default(), share, grad);
                        }
                    }
                },
            );
        })?;
        Ok(Some(like(table, out)?))
    }
}
