//! The forward pass: tokens of one text to one vector (Devlin et al. 2019; mean pooling as in Reimers and Gurevych 2019).

use std::collections::HashMap;

use candle_core::{D, DType, Device, Result, Tensor};

use super::shape::Shape;

/// `y = x W^T + b`.
struct Linear {
    /// Transposed: [in, out].
    weight: Tensor,
    bias: Tensor,
}

/// A layer norm with its learned scale and shift.
struct Norm {
    scale: Tensor,
    shift: Tensor,
    epsilon: f64,
}

struct Layer {
    query: Linear,
    key: Linear,
    value: Linear,
    output: Linear,
    output_norm: Norm,
    inner: Linear,
    outer: Linear,
    outer_norm: Norm,
}

/// The weights, checked against the shape.
pub(super) struct Bert {
    shape: Shape,
    /// [vocabulary, width]
    words: Tensor,
    /// [positions, width]; the type of the first segment is added in.
    positions: Tensor,
    norm: Norm,
    layers: Vec<Layer>,
}

/// Takes tensors by name, checking their shapes.
struct Source {
    tensors: HashMap<String, Tensor>,
    shape: Shape,
}

impl Source {
    fn take(&mut self, name: &str, expected: &[usize]) -> std::result::Result<Tensor, String> {
        // Exports of a whole model carry a prefix.
        let tensor = self.tensors.remove(name).or_else(|| self.tensors.remove(&format!("bert.{name}")));
        let tensor = tensor.ok_or_else(|| format!("no tensor `{name}`"))?;
        if tensor.dims() != expected {
            return Err(format!("tensor `{name}` has shape {:?}, expected {expected:?}", tensor.dims()));
        }
        tensor.to_dtype(DType::F32).map_err(|error| format!("tensor `{name}`: {error}"))
    }

    fn linear(&mut self, name: &str, from: usize, to: usize) -> std::result::Result<Linear, String> {
        let weight = self.take(&format!("{name}.weight"), &[to, from])?;
        let weight = weight.t().and_then(|weight| weight.contiguous()).map_err(|error| format!("`{name}`: {error}"))?;
        Ok(Linear { weight, bias: self.take(&format!("{name}.bias"), &[to])? })
    }

    fn norm(&mut self, name: &str) -> std::result::Result<Norm, String> {
        let width = self.shape.width;
        let scale = self.take(&format!("{name}.weight"), &[width])?;
        Ok(Norm { scale, shift: self.take(&format!("{name}.bias"), &[width])?, epsilon: self.shape.norm_epsilon })
    }

    fn layer(&mut self, number: usize) -> std::result::Result<Layer, String> {
        let (width, inner) = (self.shape.width, self.shape.inner_width);
        let name = |part: &str| format!("encoder.layer.{number}.{part}");
        Ok(Layer {
            query: self.linear(&name("attention.self.query"), width, width)?,
            key: self.linear(&name("attention.self.key"), width, width)?,
            value: self.linear(&name("attention.self.value"), width, width)?,
            output: self.linear(&name("attention.output.dense"), width, width)?,
            output_norm: self.norm(&name("attention.output.LayerNorm"))?,
            inner: self.linear(&name("intermediate.dense"), width, inner)?,
            outer: self.linear(&name("output.dense"), inner, width)?,
            outer_norm: self.norm(&name("output.LayerNorm"))?,
        })
    }
}

impl Linear {
    /// [tokens, in] to [tokens, out].
    fn apply(&self, input: &Tensor) -> Result<Tensor> {
        input.matmul(&self.weight)?.broadcast_add(&self.bias)
    }
}

impl Norm {
    /// [tokens, width] to the same.
    fn apply(&self, input: &Tensor) -> Result<Tensor> {
        let centred = input.broadcast_sub(&input.mean_keepdim(D::Minus1)?)?;
        let variance = centred.sqr()?.mean_keepdim(D::Minus1)?; // [tokens, 1]
        let scaled = centred.broadcast_div(&(variance + self.epsilon)?.sqrt()?)?;
        scaled.broadcast_mul(&self.scale)?.broadcast_add(&self.shift)
    }
}

impl Layer {
    fn apply(&self, input: &Tensor, heads: usize) -> Result<Tensor> {
        let attended = self.output_norm.apply(&(input + self.attend(input, heads)?)?)?;
        let inner = self.inner.apply(&attended)?.gelu_erf()?; // [tokens, inner]
        self.outer_norm.apply(&(&attended + self.outer.apply(&inner)?)?)
    }

    fn attend(&self, input: &Tensor, heads: usize) -> Result<Tensor> {
        let (tokens, width) = input.dims2()?;
        let head_width = width / heads;
        let split =
            |linear: &Linear| linear.apply(input)?.reshape((tokens, heads, head_width))?.transpose(0, 1)?.contiguous();
        let (query, key, value) = (split(&self.query)?, split(&self.key)?, split(&self.value)?); // [heads, tokens, head_width]
        #[expect(clippy::cast_precision_loss, reason = "a head's width is far below 2^52")]
        let scale = 1.0 / (head_width as f64).sqrt();
        let scores = (query.matmul(&key.transpose(1, 2)?.contiguous()?)? * scale)?; // [heads, tokens, tokens]
        let raised = scores.broadcast_sub(&scores.max_keepdim(D::Minus1)?)?.exp()?;
        let weights = raised.broadcast_div(&raised.sum_keepdim(D::Minus1)?)?;
        let mixed = weights.matmul(&value)?.transpose(0, 1)?.contiguous()?.reshape((tokens, width))?;
        self.output.apply(&mixed)
    }
}

impl Bert {
    pub(super) fn new(shape: Shape, tensors: HashMap<String, Tensor>) -> std::result::Result<Self, String> {
        let mut source = Source { tensors, shape };
        let width = shape.width;
        let words = source.take("embeddings.word_embeddings.weight", &[shape.vocabulary, width])?;
        let positions = source.take("embeddings.position_embeddings.weight", &[shape.positions, width])?;
        let types = source
            .tensors
            .get("embeddings.token_type_embeddings.weight")
            .or_else(|| source.tensors.get("bert.embeddings.token_type_embeddings.weight"))
            .and_then(|types| types.dims().first().copied())
            .unwrap_or(0);
        let types = source.take("embeddings.token_type_embeddings.weight", &[types, width])?;
        let positions = types
            .narrow(0, 0, 1)
            .and_then(|first| positions.broadcast_add(&first))
            .map_err(|error| format!("embeddings: {error}"))?;
        let norm = source.norm("embeddings.LayerNorm")?;
        let layers = (0..shape.layers).map(|number| source.layer(number)).collect::<std::result::Result<_, _>>()?;
        Ok(Self { shape, words, positions, norm, layers })
    }

    pub(super) fn width(&self) -> usize {
        self.shape.width
    }

    /// The mean of the last layer over all tokens, at unit length. Fails for more tokens than there are positions, and for none.
    pub(super) fn pooled(&self, tokens: &[u32]) -> Result<Vec<f32>> {
        let count = tokens.len();
        let ids = Tensor::new(tokens, &Device::Cpu)?;
        let mut hidden = (self.words.index_select(&ids, 0)? + self.positions.narrow(0, 0, count)?)?; // [tokens, width]
        hidden = self.norm.apply(&hidden)?;
        for layer in &self.layers {
            hidden = layer.apply(&hidden, self.shape.heads)?;
        }
        let mean = hidden.mean(0)?.to_vec1::<f32>()?;
        let length = mean.iter().map(|value| f64::from(*value).powi(2)).sum::<f64>().sqrt();
        if !(length.is_finite() && length > 0.0) {
            candle_core::bail!("a vector of length {length}: expected a finite length above 0");
        }
        #[expect(clippy::cast_possible_truncation, reason = "vectors are single precision")]
        Ok(mean.into_iter().map(|value| (f64::from(value) / length) as f32).collect())
    }
}
