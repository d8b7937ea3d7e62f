//! Writes GGUF files of two layers with random weights and a vocabulary of bytes.

use std::collections::BTreeMap;
use std::fs::File;
use std::path::Path;

use candle_core::quantized::gguf_file::{Value, write};
use candle_core::quantized::{GgmlDType, QTensor};
use candle_core::{Device, Tensor};

use super::noise;

pub(super) const LAYERS: usize = 2;
pub(super) const WIDTH: usize = 32;
pub(super) const HEADS: usize = 4;
pub(super) const KV_HEADS: usize = 2;
pub(super) const INNER: usize = 64;
pub(super) const ROPE_BASE: f32 = 10_000.0;
pub(super) const EPSILON: f32 = 1e-6;
const CONTROLS: [&str; 3] = ["<|endoftext|>", "<|im_start|>", "<|im_end|>"];
const MERGES: [&str; 4] = ["Ġ t", "a r", "Ġt ar", "n a"];

/// A file that is to be written.
pub(super) struct Tiny {
    pub(super) family: &'static str,
    pub(super) kind: GgmlDType,
    pub(super) context: u32,
    pub(super) template: Option<String>,
    pub(super) seed: u64,
    /// Metadata that is left out or replaced, for files that are wrong.
    pub(super) changed: Vec<(&'static str, Option<Value>)>,
}

impl Tiny {
    pub(super) fn new(family: &'static str) -> Self {
        Self { family, kind: GgmlDType::F32, context: 8192, template: None, seed: 1, changed: Vec::new() }
    }

    /// Width of a head; that of Qwen3 is not the width divided by the heads.
    pub(super) fn head_width(&self) -> usize {
        if self.family == "qwen3" { 16 } else { 8 }
    }

    /// The tokens: control tokens, bytes, merges.
    pub(super) fn tokens() -> Vec<String> {
        let printable = |byte: u32| matches!(byte, 0x21..=0x7e | 0xa1..=0xac | 0xae..=0xff);
        let others: Vec<u32> = (0..256).filter(|byte| !printable(*byte)).collect();
        let bytes = (0..256_u32).map(|byte| {
            let code = others.iter().position(|other| *other == byte).map_or(byte, |place| 256 + place as u32);
            char::from_u32(code).unwrap().to_string()
        });
        let merges = MERGES.iter().map(|merge| merge.replace(' ', ""));
        CONTROLS.iter().map(|text| (*text).to_owned()).chain(bytes).chain(merges).collect()
    }

    /// Shapes by name.
    fn shapes(&self) -> Vec<(String, Vec<usize>)> {
        let (queries, keys) = (HEADS * self.head_width(), KV_HEADS * self.head_width());
        let mut shapes = vec![
            ("token_embd.weight".to_owned(), vec![Self::tokens().len(), WIDTH]),
            ("output_norm.weight".to_owned(), vec![WIDTH]),
        ];
        if self.family != "llama" {
            shapes.push(("output.weight".to_owned(), vec![Self::tokens().len(), WIDTH]));
        }
        for layer in 0..LAYERS {
            let mut add = |name: &str, shape: &[usize]| shapes.push((format!("blk.{layer}.{name}"), shape.to_vec()));
            add("attn_norm.weight", &[WIDTH]);
            add("attn_q.weight", &[queries, WIDTH]);
            add("attn_k.weight", &[keys, WIDTH]);
            add("attn_v.weight", &[keys, WIDTH]);
            add("attn_output.weight", &[WIDTH, queries]);
            add("ffn_norm.weight", &[WIDTH]);
            add("ffn_gate.weight", &[INNER, WIDTH]);
            add("ffn_up.weight", &[INNER, WIDTH]);
            add("ffn_down.weight", &[WIDTH, INNER]);
            if self.family == "qwen2" {
                add("attn_q.bias", &[queries]);
                add("attn_k.bias", &[keys]);
                add("attn_v.bias", &[keys]);
            }
            if self.family == "qwen3" {
                add("attn_q_norm.weight", &[self.head_width()]);
                add("attn_k_norm.weight", &[self.head_width()]);
            }
        }
        shapes
    }

    fn tensors(&self) -> Vec<(String, QTensor)> {
        self.shapes()
            .into_iter()
            .enumerate()
            .map(|(place, (name, shape))| {
                let mut values = noise(shape.iter().product(), self.seed * 1000 + place as u64);
                if shape.len() == 1 && !name.ends_with("bias") {
                    // Norms lie around one.
                    values.iter_mut().for_each(|value| *value = 1.0 + *value / 4.0);
                } else {
                    values.iter_mut().for_each(|value| *value /= 2.0);
                }
                let kind = if shape.len() == 2 { self.kind } else { GgmlDType::F32 };
                let tensor = QTensor::quantize(&Tensor::from_vec(values, shape, &Device::Cpu).unwrap(), kind).unwrap();
                (name, tensor)
            })
            .collect()
    }

    /// The weights as a file's reader should see them, unpacked.
    pub(super) fn weights(&self) -> BTreeMap<String, Vec<f32>> {
        self.tensors()
            .into_iter()
            .map(|(name, tensor)| {
                (name, tensor.dequantize(&Device::Cpu).unwrap().flatten_all().unwrap().to_vec1().unwrap())
            })
            .collect()
    }

    fn metadata(&self) -> Vec<(String, Value)> {
        let text = |text: &str| Value::String(text.to_owned());
        let tokens = Self::tokens();
        let kinds =
            tokens.iter().map(|token| Value::I32(if CONTROLS.contains(&token.as_str()) { 3 } else { 1 })).collect();
        let size = |key: &str, value: usize| (format!("{}.{key}", self.family), Value::U32(value as u32));
        let mut metadata = vec![
            ("general.architecture".to_owned(), text(self.family)),
            ("general.name".to_owned(), text("tiny")),
            size("block_count", LAYERS),
            size("embedding_length", WIDTH),
            size("feed_forward_length", INNER),
            size("attention.head_count", HEADS),
            size("attention.head_count_kv", KV_HEADS),
            size("context_length", self.context as usize),
            (format!("{}.rope.freq_base", self.family), Value::F32(ROPE_BASE)),
            (format!("{}.attention.layer_norm_rms_epsilon", self.family), Value::F32(EPSILON)),
            ("tokenizer.ggml.model".to_owned(), text("gpt2")),
            ("tokenizer.ggml.pre".to_owned(), text(if self.family == "llama" { "smollm" } else { "qwen2" })),
            ("tokenizer.ggml.tokens".to_owned(), Value::Array(tokens.iter().map(|token| text(token)).collect())),
            ("tokenizer.ggml.token_type".to_owned(), Value::Array(kinds)),
            ("tokenizer.ggml.merges".to_owned(), Value::Array(MERGES.iter().map(|merge| text(merge)).collect())),
            ("tokenizer.ggml.eos_token_id".to_owned(), Value::U32(2)),
        ];
        if self.family == "qwen3" {
            metadata.push(size("attention.key_length", self.head_width()));
        }
        if let Some(template) = &self.template {
            metadata.push(("tokenizer.chat_template".to_owned(), text(template)));
        }
        for (key, value) in &self.changed {
            metadata.retain(|(name, _)| name != key);
            metadata.extend(value.clone().map(|value| ((*key).to_owned(), value)));
        }
        metadata
    }

    pub(super) fn write(&self, path: &Path) {
        let (metadata, tensors) = (self.metadata(), self.tensors());
        let metadata: Vec<(&str, &Value)> = metadata.iter().map(|(name, value)| (name.as_str(), value)).collect();
        let tensors: Vec<(&str, &QTensor)> = tensors.iter().map(|(name, tensor)| (name.as_str(), tensor)).collect();
        write(&mut File::create(path).unwrap(), &metadata, &tensors).unwrap();
    }
}
