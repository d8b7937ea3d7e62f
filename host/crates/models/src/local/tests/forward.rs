//! The forward pass against a plain reference, and against itself with and without a cache.

use candle_core::quantized::GgmlDType;

use super::tiny::{EPSILON, HEADS, INNER, KV_HEADS, LAYERS, ROPE_BASE, Tiny, WIDTH};
use crate::local::cache::{BLOCK_POSITIONS, Cache};
use crate::local::file::ModelFile;
use crate::local::model::Model;

fn load(tiny: &Tiny) -> Model {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().join("tiny.gguf");
    tiny.write(&path);
    Model::load(&mut ModelFile::open(&path).unwrap()).unwrap()
}

fn sequence(length: usize) -> Vec<u32> {
    (0..length as u32).map(|place| 3 + (place * 37 + place * place) % 250).collect()
}

/// A reference that shares nothing with the code under test: double precision, the whole sequence at once, one number at a time.
struct Reference<'a> {
    tiny: &'a Tiny,
    weights: std::collections::BTreeMap<String, Vec<f32>>,
}

impl Reference<'_> {
    fn weight(&self, name: &str) -> &[f32] {
        &self.weights[name]
    }

    fn multiply(&self, name: &str, input: &[f64]) -> Vec<f64> {
        let rows = self.weight(name).chunks(input.len());
        rows.map(|row| row.iter().zip(input).map(|(weight, value)| f64::from(*weight) * value).sum()).collect()
    }

    fn norm(&self, name: &str, input: &[f64]) -> Vec<f64> {
        let mean = input.iter().map(|value| value * value).sum::<f64>() / input.len() as f64;
        let scale = 1.0 / (mean + f64::from(EPSILON)).sqrt();
        input.iter().zip(self.weight(name)).map(|(value, weight)| value * scale * f64::from(*weight)).collect()
    }

    fn head(&self, layer: usize, part: &str, input: &[f64], head: usize, position: usize) -> Vec<f64> {
        let width = self.tiny.head_width();
        let mut all = self.multiply(&format!("blk.{layer}.attn_{part}.weight"), input);
        if self.tiny.family == "qwen2" {
            let bias = self.weight(&format!("blk.{layer}.attn_{part}.bias"));
            all.iter_mut().zip(bias).for_each(|(value, bias)| *value += f64::from(*bias));
        }
        let mut head = all[head * width..(head + 1) * width].to_vec();
        if part == "v" {
            return head;
        }
        if self.tiny.family == "qwen3" {
            head = self.norm(&format!("blk.{layer}.attn_{part}_norm.weight"), &head);
        }
        let mut rotated = head.clone();
        for pair in 0..width / 2 {
            let (first, second) =
                if self.tiny.family == "llama" { (2 * pair, 2 * pair + 1) } else { (pair, pair + width / 2) };
            let angle = position as f64 * f64::from(ROPE_BASE).powf(-2.0 * pair as f64 / width as f64);
            rotated[first] = head[first] * angle.cos() - head[second] * angle.sin();
            rotated[second] = head[first] * angle.sin() + head[second] * angle.cos();
        }
        rotated
    }

    fn logits(&self, tokens: &[u32]) -> Vec<f64> {
        let mut states: Vec<Vec<f64>> = tokens
            .iter()
            .map(|token| {
                self.weight("token_embd.weight")[*token as usize * WIDTH..][..WIDTH]
                    .iter()
                    .map(|value| f64::from(*value))
                    .collect()
            })
            .collect();
        for layer in 0..LAYERS {
            let inputs: Vec<Vec<f64>> =
                states.iter().map(|state| self.norm(&format!("blk.{layer}.attn_norm.weight"), state)).collect();
            for (position, state) in states.iter_mut().enumerate() {
                let mut mixed = Vec::new();
                for head in 0..HEADS {
                    let shared = head / (HEADS / KV_HEADS);
                    let query = self.head(layer, "q", &inputs[position], head, position);
                    let scores: Vec<f64> = (0..=position)
                        .map(|other| {
                            let key = self.head(layer, "k", &inputs[other], shared, other);
                            (query.iter().zip(&key).map(|(a, b)| a * b).sum::<f64>() / (query.len() as f64).sqrt())
                                .exp()
                        })
                        .collect();
                    let total: f64 = scores.iter().sum();
                    let mut out = vec![0.0; query.len()];
                    for (other, score) in scores.iter().enumerate() {
                        let value = self.head(layer, "v", &inputs[other], shared, other);
                        out.iter_mut().zip(&value).for_each(|(out, value)| *out += score / total * value);
                    }
                    mixed.extend(out);
                }
                let mixed = self.multiply(&format!("blk.{layer}.attn_output.weight"), &mixed);
                state.iter_mut().zip(mixed).for_each(|(state, value)| *state += value);
                let input = self.norm(&format!("blk.{layer}.ffn_norm.weight"), state);
                let gate = self.multiply(&format!("blk.{layer}.ffn_gate.weight"), &input);
                let up = self.multiply(&format!("blk.{layer}.ffn_up.weight"), &input);
                let inner: Vec<f64> =
                    gate.iter().zip(&up).map(|(gate, up)| gate / (1.0 + (-gate).exp()) * up).collect();
                assert_eq!(inner.len(), INNER);
                let down = self.multiply(&format!("blk.{layer}.ffn_down.weight"), &inner);
                state.iter_mut().zip(down).for_each(|(state, value)| *state += value);
            }
        }
        let state = self.norm("output_norm.weight", &states[tokens.len() - 1]);
        self.multiply(if self.tiny.family == "llama" { "token_embd.weight" } else { "output.weight" }, &state)
    }
}

#[test]
fn logits_agree_with_a_plain_reference_in_every_family() {
    for (family, kind) in [
        ("llama", GgmlDType::F32),
        ("qwen2", GgmlDType::F32),
        ("qwen3", GgmlDType::F32),
        ("llama", GgmlDType::Q4_1),
        ("qwen2", GgmlDType::Q5_0),
        ("qwen3", GgmlDType::Q8_0),
    ] {
        let tiny = Tiny { kind, ..Tiny::new(family) };
        let model = load(&tiny);
        let tokens = sequence(9);
        let found = model.forward(&tokens, &mut Cache::new(model.shape())).unwrap();
        let expected = Reference { weights: tiny.weights(), tiny: &tiny }.logits(&tokens);
        assert_eq!(found.len(), expected.len());
        for (place, (found, expected)) in found.iter().zip(&expected).enumerate() {
            assert!(
                (f64::from(*found) - expected).abs() < 2e-4,
                "{family} {kind:?} token {place}: {found}, expected {expected}"
            );
        }
    }
}

#[test]
fn a_cache_changes_no_bit() {
    for family in ["llama", "qwen2", "qwen3"] {
        let model = load(&Tiny { kind: GgmlDType::Q8_0, ..Tiny::new(family) });
        let tokens = sequence(3 * BLOCK_POSITIONS + 5);
        let mut whole = Cache::new(model.shape());
        let expected = model.forward(&tokens, &mut whole).unwrap();
        // One by one.
        let mut cache = Cache::new(model.shape());
        let one_by_one = tokens.iter().fold(Vec::new(), |_, token| model.forward(&[*token], &mut cache).unwrap());
        assert_eq!(one_by_one, expected, "{family}");
        // Cut back anywhere and gone on from there, after others went elsewhere from the same blocks.
        for cut in [1, BLOCK_POSITIONS - 1, BLOCK_POSITIONS, BLOCK_POSITIONS + 1, tokens.len() - 1] {
            let mut cut_cache = whole.clone();
            cut_cache.truncate(cut);
            let mut other = cut_cache.clone();
            model.forward(&[7, 8, 9, 10], &mut other).unwrap();
            assert_eq!(model.forward(&tokens[cut..], &mut cut_cache).unwrap(), expected, "{family} cut at {cut}");
            assert_eq!(cut_cache.length(), tokens.len());
        }
    }
}

#[test]
fn a_prompt_longer_than_a_chunk_is_the_same_bits() {
    let model = load(&Tiny::new("llama"));
    let tokens = sequence(300);
    let mut cache = Cache::new(model.shape());
    model.forward(&tokens[..299], &mut cache).unwrap();
    let split = model.forward(&tokens[299..], &mut cache).unwrap();
    assert_eq!(model.forward(&tokens, &mut Cache::new(model.shape())).unwrap(), split);
}
