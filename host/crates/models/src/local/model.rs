//! The forward pass of the Llama, Qwen2 and Qwen3 families over weights as they lie in the file.

use rayon::prelude::*;

use super::LocalError;
use super::attention::attend;
use super::cache::Cache;
use super::file::{Family, ModelFile, Shape};
use super::kernel::{exp, product, vectorized};
use super::quant::{Matrix, plain};

/// Positions that go through the layers together: bounds the memory of a long prompt.
const CHUNK_POSITIONS: usize = 256;

/// One layer's weights.
#[derive(Debug)]
struct Layer {
    attention_norm: Vec<f32>,
    query: Projection,
    key: Projection,
    value: Projection,
    output: Matrix,
    feed_norm: Vec<f32>,
    gate: Matrix,
    up: Matrix,
    down: Matrix,
}

/// A matrix with what some families add to it.
#[derive(Debug)]
struct Projection {
    matrix: Matrix,
    bias: Option<Vec<f32>>,
    /// A norm of each head.
    norm: Option<Vec<f32>>,
}

/// A model.
#[derive(Debug)]
pub(crate) struct Model {
    shape: Shape,
    embedding: Matrix,
    layers: Vec<Layer>,
    norm: Vec<f32>,
    /// Absent: the embedding, transposed.
    head: Option<Matrix>,
    /// Radians per position of each rotated pair.
    rates: Vec<f64>,
}

impl Model {
    pub(crate) fn load(file: &mut ModelFile) -> Result<Self, LocalError> {
        let shape = file.shape()?;
        let table = [shape.vocabulary, shape.width];
        let embedding = matrix(file, "token_embd.weight", table)?;
        let norm = vector(file, "output_norm.weight", shape.width)?;
        let head = if file.has_tensor("output.weight") { Some(matrix(file, "output.weight", table)?) } else { None };
        let layers =
            (0..shape.layers).map(|place| layer(file, &shape, place)).collect::<Result<Vec<Layer>, LocalError>>()?;
        let factors = if file.has_tensor("rope_freqs.weight") {
            Some(vector(file, "rope_freqs.weight", shape.rope_width / 2)?)
        } else {
            None
        };
        Ok(Self { shape, embedding, layers, norm, head, rates: rates(&shape, factors.as_deref()) })
    }

    pub(crate) fn shape(&self) -> &Shape {
        &self.shape
    }

    /// Appends `tokens` to the sequence in `cache` and gives the logits after the last of them: `[vocabulary]`.
    pub(crate) fn forward(&self, tokens: &[u32], cache: &mut Cache) -> Result<Vec<f32>, LocalError> {
        let mut last = Vec::new();
        for chunk in tokens.chunks(CHUNK_POSITIONS) {
            last = self.chunk(chunk, cache)?;
        }
        let width = self.shape.width;
        let state = last.get(last.len().saturating_sub(width)..).unwrap_or_default();
        let state = normed(state, &self.norm, self.shape.norm_epsilon);
        product(self.head.as_ref().unwrap_or(&self.embedding), &state, 1)
    }

    /// The state after all layers: `[tokens, width]`.
    fn chunk(&self, tokens: &[u32], cache: &mut Cache) -> Result<Vec<f32>, LocalError> {
        let (shape, count, first) = (&self.shape, tokens.len(), cache.length());
        cache.extend(count);
        let view = self.embedding.view()?;
        let mut state = vec![0.0; count * shape.width]; // [tokens, width]
        for (row, token) in state.chunks_exact_mut(shape.width).zip(tokens) {
            view.row(usize::try_from(*token).unwrap_or(usize::MAX).min(shape.vocabulary.saturating_sub(1)), row);
        }
        let angles = self.angles(first, count);
        for (place, layer) in self.layers.iter().enumerate() {
            let input = normed(&state, &layer.attention_norm, shape.norm_epsilon);
            let query = self.project(&layer.query, &input, count, Some(&angles))?; // [tokens, query width]
            let key = self.project(&layer.key, &input, count, Some(&angles))?; // [tokens, kv width]
            let value = self.project(&layer.value, &input, count, None)?;
            for (row, (key, value)) in
                key.chunks_exact(shape.kv_width()).zip(value.chunks_exact(shape.kv_width())).enumerate()
            {
                cache.write(place, first + row, key, value);
            }
            let mixed = attend(shape, cache, place, first, &query);
            add(&mut state, &product(&layer.output, &mixed, count)?);
            let input = normed(&state, &layer.feed_norm, shape.norm_epsilon);
            let mut inner = product(&layer.gate, &input, count)?; // [tokens, inner width]
            gate(&mut inner, &product(&layer.up, &input, count)?);
            add(&mut state, &product(&layer.down, &inner, count)?);
        }
        Ok(state)
    }

    fn project(
        &self,
        projection: &Projection,
        input: &[f32],
        count: usize,
        angles: Option<&[(f32, f32)]>,
    ) -> Result<Vec<f32>, LocalError> {
        let mut out = product(&projection.matrix, input, count)?;
        if let Some(bias) = &projection.bias {
            out.chunks_exact_mut(bias.len()).for_each(|row| add(row, bias));
        }
        if let Some(norm) = &projection.norm {
            out = normed(&out, norm, self.shape.norm_epsilon);
        }
        if let Some(angles) = angles {
            self.rotate(&mut out, projection.matrix.rows, angles);
        }
        Ok(out)
    }

    /// Cosine and sine of each rotated pair: `[tokens, rotated pairs]`.
    #[expect(
        clippy::cast_precision_loss,
        clippy::cast_possible_truncation,
        reason = "positions are small; single precision is what models use"
    )]
    fn angles(&self, first: usize, count: usize) -> Vec<(f32, f32)> {
        let positions = first..first + count;
        positions
            .flat_map(|position| self.rates.iter().map(move |rate| (position as f64 * rate).sin_cos()))
            .map(|(sin, cos)| (cos as f32, sin as f32))
            .collect()
    }

    fn rotate(&self, rows: &mut [f32], row_width: usize, angles: &[(f32, f32)]) {
        let (pairs, head_width) = (self.rates.len(), self.shape.head_width);
        for (row, angles) in rows.chunks_exact_mut(row_width).zip(angles.chunks_exact(pairs.max(1))) {
            for head in row.chunks_exact_mut(head_width) {
                let Some(rotated) = head.get_mut(..2 * pairs) else {
                    continue;
                };
                if self.shape.family == Family::Llama {
                    for (pair, (cos, sin)) in rotated.as_chunks_mut::<2>().0.iter_mut().zip(angles) {
                        let [a, b] = *pair;
                        *pair = [a * cos - b * sin, a * sin + b * cos];
                    }
                } else {
                    let (left, right) = rotated.split_at_mut(pairs);
                    for ((left, right), (cos, sin)) in left.iter_mut().zip(right).zip(angles) {
                        let (a, b) = (*left, *right);
                        (*left, *right) = (a * cos - b * sin, a * sin + b * cos);
                    }
                }
            }
        }
    }
}

/// Rates of rotation, divided by the factors of a file that was trained for long contexts.
#[expect(clippy::cast_precision_loss, reason = "small numbers")]
fn rates(shape: &Shape, factors: Option<&[f32]>) -> Vec<f64> {
    let width = shape.rope_width as f64;
    let base = f64::from(shape.rope_base);
    let factor = |pair: usize| factors.and_then(|factors| factors.get(pair)).map_or(1.0, |factor| f64::from(*factor));
    (0..shape.rope_width / 2).map(|pair| base.powf(-2.0 * pair as f64 / width) / factor(pair)).collect()
}

fn matrix(file: &mut ModelFile, name: &str, shape: [usize; 2]) -> Result<Matrix, LocalError> {
    Matrix::new(file.tensor(name, &shape)?, name)
}

fn vector(file: &mut ModelFile, name: &str, length: usize) -> Result<Vec<f32>, LocalError> {
    plain(&file.tensor(name, &[length])?, name)
}

fn layer(file: &mut ModelFile, shape: &Shape, place: usize) -> Result<Layer, LocalError> {
    let name = |part: &str| format!("blk.{place}.{part}");
    let mut projection = |part: &str, rows: usize, with_norm: bool| -> Result<Projection, LocalError> {
        let matrix = matrix(file, &name(&format!("{part}.weight")), [rows, shape.width])?;
        let (bias_name, norm_name) = (name(&format!("{part}.bias")), name(&format!("{part}_norm.weight")));
        let bias = if file.has_tensor(&bias_name) { Some(vector(file, &bias_name, rows)?) } else { None };
        let norm = if with_norm { Some(vector(file, &norm_name, shape.head_width)?) } else { None };
        Ok(Projection { matrix, bias, norm })
    };
    let normed = shape.family == Family::Qwen3;
    let query = projection("attn_q", shape.query_width(), normed)?;
    let key = projection("attn_k", shape.kv_width(), normed)?;
    let value = projection("attn_v", shape.kv_width(), false)?;
    Ok(Layer {
        attention_norm: vector(file, &name("attn_norm.weight"), shape.width)?,
        query,
        key,
        value,
        output: matrix(file, &name("attn_output.weight"), [shape.width, shape.query_width()])?,
        feed_norm: vector(file, &name("ffn_norm.weight"), shape.width)?,
        gate: matrix(file, &name("ffn_gate.weight"), [shape.inner_width, shape.width])?,
        up: matrix(file, &name("ffn_up.weight"), [shape.inner_width, shape.width])?,
        down: matrix(file, &name("ffn_down.weight"), [shape.width, shape.inner_width])?,
    })
}

fn add(state: &mut [f32], other: &[f32]) {
    for (state, other) in state.iter_mut().zip(other) {
        *state += other;
    }
}

/// Root mean square norm of each row of the weight's length (arXiv 1910.07467, equation 4).
#[expect(clippy::cast_precision_loss, reason = "widths are small")]
fn normed(rows: &[f32], weight: &[f32], epsilon: f32) -> Vec<f32> {
    let mut out = Vec::with_capacity(rows.len());
    for row in rows.chunks_exact(weight.len().max(1)) {
        let square: f32 = row.iter().map(|value| value * value).sum::<f32>() / row.len() as f32;
        let scale = 1.0 / (square + epsilon).sqrt();
        out.extend(row.iter().zip(weight).map(|(value, weight)| value * scale * weight));
    }
    out
}

/// `silu(gate) * up` in place (arXiv 2002.05202).
fn gate(gates: &mut [f32], ups: &[f32]) {
    const PART: usize = 4096;
    let part = |(gates, ups): (&mut [f32], &[f32])| {
        vectorized(
            #[inline(always)]
            || {
                for (gate, up) in gates.iter_mut().zip(ups) {
                    // 1 / (1 + e^-x), with e^ of a number that is never positive.
                    let small = exp(-gate.abs());
                    let sigmoid = if *gate >= 0.0 { 1.0 / (1.0 + small) } else { small / (1.0 + small) };
                    *gate *= sigmoid * up;
                }
            },
        );
    };
    if gates.len() <= 2 * PART {
        part((gates, ups));
    } else {
        gates.par_chunks_mut(PART).zip(ups.par_chunks(PART)).for_each(part);
    }
}
