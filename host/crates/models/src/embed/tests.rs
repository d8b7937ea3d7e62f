//! A tiny BERT against a second forward pass in double precision that shares no code with the first; and the real model, where it is there.

use std::collections::HashMap;
use std::path::Path;

use candle_core::{Device, Tensor};
use loopwright_contract::memory::Embedder;
use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};

use super::{EmbedderError, LocalEmbedder, shape::Shape};

const WIDTH: usize = 8;
const HEADS: usize = 2;
const INNER: usize = 12;
const LAYERS: usize = 2;
const WORDS: [&str; 8] = ["[PAD]", "[UNK]", "[CLS]", "[SEP]", "red", "tea", "cup", "##s"];
const EPSILON: f64 = 1e-12;

const CONFIG: &str = r#"{"model_type": "bert", "hidden_act": "gelu", "hidden_size": 8, "num_hidden_layers": 2,
    "num_attention_heads": 2, "intermediate_size": 12, "max_position_embeddings": 6, "vocab_size": 8, "layer_norm_eps": 1e-12}"#;

fn tokenizer_json() -> String {
    let vocabulary: HashMap<&str, usize> = WORDS.iter().enumerate().map(|(id, word)| (*word, id)).collect();
    serde_json::json!({
        "version": "1.0",
        "truncation": null,
        // Real files pad; the embedder has to switch it off.
        "padding": {"strategy": {"Fixed": 6}, "direction": "Right", "pad_to_multiple_of": null, "pad_id": 0, "pad_type_id": 0, "pad_token": "[PAD]"},
        "added_tokens": [],
        "normalizer": {"type": "BertNormalizer", "clean_text": true, "handle_chinese_chars": true, "strip_accents": null, "lowercase": true},
        "pre_tokenizer": {"type": "BertPreTokenizer"},
        "post_processor": {"type": "TemplateProcessing",
            "single": [{"SpecialToken": {"id": "[CLS]", "type_id": 0}}, {"Sequence": {"id": "A", "type_id": 0}}, {"SpecialToken": {"id": "[SEP]", "type_id": 0}}],
            "pair": [{"Sequence": {"id": "A", "type_id": 0}}, {"Sequence": {"id": "B", "type_id": 1}}],
            "special_tokens": {"[CLS]": {"id": "[CLS]", "ids": [2], "tokens": ["[CLS]"]}, "[SEP]": {"id": "[SEP]", "ids": [3], "tokens": ["[SEP]"]}}},
        "decoder": null,
        "model": {"type": "WordPiece", "unk_token": "[UNK]", "continuing_subword_prefix": "##", "max_input_chars_per_word": 100, "vocab": vocabulary},
    })
    .to_string()
}

/// Names and shapes of all tensors.
fn layout() -> Vec<(String, Vec<usize>)> {
    let mut layout = vec![
        ("embeddings.word_embeddings.weight".to_owned(), vec![WORDS.len(), WIDTH]),
        ("embeddings.position_embeddings.weight".to_owned(), vec![6, WIDTH]),
        ("embeddings.token_type_embeddings.weight".to_owned(), vec![2, WIDTH]),
        ("embeddings.LayerNorm.weight".to_owned(), vec![WIDTH]),
        ("embeddings.LayerNorm.bias".to_owned(), vec![WIDTH]),
    ];
    for layer in 0..LAYERS {
        let mut add = |part: &str, shape: &[usize]| {
            layout.push((format!("encoder.layer.{layer}.{part}.weight"), shape.to_vec()));
            layout.push((format!("encoder.layer.{layer}.{part}.bias"), vec![shape[0]]));
        };
        for part in ["attention.self.query", "attention.self.key", "attention.self.value", "attention.output.dense"] {
            add(part, &[WIDTH, WIDTH]);
        }
        add("intermediate.dense", &[INNER, WIDTH]);
        add("output.dense", &[WIDTH, INNER]);
        add("attention.output.LayerNorm", &[WIDTH]);
        add("output.LayerNorm", &[WIDTH]);
    }
    layout
}

type Weights = HashMap<String, (Vec<usize>, Vec<f32>)>;

fn weights(seed: u64) -> Weights {
    let mut random = ChaCha8Rng::seed_from_u64(seed);
    let mut value = move || f32::from(i16::try_from(random.next_u32() % 2_000).expect("small") - 1_000) / 1_000.0;
    layout()
        .into_iter()
        .map(|(name, shape)| {
            let values = (0..shape.iter().product()).map(|_| value()).collect();
            (name, (shape, values))
        })
        .collect()
}

fn write(folder: &Path, weights: &Weights) {
    let tensors: HashMap<String, Tensor> = weights
        .iter()
        .map(|(name, (shape, values))| {
            (name.clone(), Tensor::from_vec(values.clone(), shape.as_slice(), &Device::Cpu).expect("fits"))
        })
        .collect();
    candle_core::safetensors::save(&tensors, folder.join("model.safetensors")).expect("written");
    std::fs::write(folder.join("config.json"), CONFIG).expect("written");
    std::fs::write(folder.join("tokenizer.json"), tokenizer_json()).expect("written");
}

type Rows = Vec<Vec<f64>>;

/// The same model in double precision and plain loops.
struct Reference<'a>(&'a Weights);

impl Reference<'_> {
    fn get(&self, name: &str) -> (usize, Vec<f64>) {
        let (shape, values) = &self.0[name];
        (shape[0], values.iter().map(|value| f64::from(*value)).collect())
    }

    fn linear(&self, rows: &Rows, name: &str) -> Rows {
        let (to, weight) = self.get(&format!("{name}.weight"));
        let (_, bias) = self.get(&format!("{name}.bias"));
        let dot = |row: &[f64], out: usize| {
            row.iter().enumerate().map(|(at, value)| value * weight[out * row.len() + at]).sum::<f64>() + bias[out]
        };
        rows.iter().map(|row| (0..to).map(|out| dot(row, out)).collect()).collect()
    }

    fn norm(&self, rows: &Rows, name: &str) -> Rows {
        let ((_, scale), (_, shift)) = (self.get(&format!("{name}.weight")), self.get(&format!("{name}.bias")));
        let one = |row: &Vec<f64>| {
            let mean = row.iter().sum::<f64>() / row.len() as f64;
            let variance = row.iter().map(|value| (value - mean).powi(2)).sum::<f64>() / row.len() as f64;
            row.iter()
                .enumerate()
                .map(|(at, value)| (value - mean) / (variance + EPSILON).sqrt() * scale[at] + shift[at])
                .collect()
        };
        rows.iter().map(one).collect()
    }

    fn attention(&self, rows: &Rows, name: &str) -> Rows {
        let part = |part: &str| self.linear(rows, &format!("{name}.self.{part}"));
        let (query, key, value) = (part("query"), part("key"), part("value"));
        let head_width = WIDTH / HEADS;
        let mut mixed = vec![vec![0.0; WIDTH]; rows.len()];
        for head in 0..HEADS {
            let range = head * head_width..(head + 1) * head_width;
            for (at, query) in query.iter().enumerate() {
                let score = |key: &Vec<f64>| {
                    let dot: f64 = range.clone().map(|column| query[column] * key[column]).sum();
                    (dot / (head_width as f64).sqrt()).exp()
                };
                let scores: Vec<f64> = key.iter().map(score).collect();
                let total: f64 = scores.iter().sum();
                for column in range.clone() {
                    mixed[at][column] =
                        scores.iter().zip(&value).map(|(score, value)| score / total * value[column]).sum();
                }
            }
        }
        self.linear(&mixed, &format!("{name}.output.dense"))
    }

    fn vector(&self, tokens: &[usize]) -> Vec<f64> {
        let table = |name: &str| self.get(&format!("embeddings.{name}.weight")).1;
        let (words, positions, types) =
            (table("word_embeddings"), table("position_embeddings"), table("token_type_embeddings"));
        let embedded = tokens.iter().enumerate().map(|(at, token)| {
            (0..WIDTH)
                .map(|column| words[token * WIDTH + column] + positions[at * WIDTH + column] + types[column])
                .collect()
        });
        let mut rows = self.norm(&embedded.collect(), "embeddings.LayerNorm");
        for layer in 0..LAYERS {
            let name = |part: &str| format!("encoder.layer.{layer}.{part}");
            let attended = add(&rows, &self.attention(&rows, &name("attention")));
            let attended = self.norm(&attended, &name("attention.output.LayerNorm"));
            let mut inner = self.linear(&attended, &name("intermediate.dense"));
            inner.iter_mut().flatten().for_each(|value| *value = gelu(*value));
            let outer = self.linear(&inner, &name("output.dense"));
            rows = self.norm(&add(&attended, &outer), &name("output.LayerNorm"));
        }
        let mean: Vec<f64> = (0..WIDTH).map(|column| rows.iter().map(|row| row[column]).sum::<f64>()).collect();
        let length = mean.iter().map(|value| value * value).sum::<f64>().sqrt();
        mean.into_iter().map(|value| value / length).collect()
    }
}

fn add(left: &Rows, right: &Rows) -> Rows {
    left.iter().zip(right).map(|(left, right)| left.iter().zip(right).map(|(l, r)| l + r).collect()).collect()
}

/// The exact GELU; the error function by its Taylor series, which converges everywhere.
fn gelu(value: f64) -> f64 {
    let x = value / std::f64::consts::SQRT_2;
    let (mut term, mut sum) = (x, x);
    for n in 1..200 {
        term *= -x * x / f64::from(n);
        sum += term / f64::from(2 * n + 1);
    }
    0.5 * value * (1.0 + 2.0 / std::f64::consts::PI.sqrt() * sum)
}

#[test]
fn vectors_are_those_of_a_second_forward_pass() {
    for seed in 0..4 {
        let (folder, weights) = (tempfile::tempdir().expect("a folder"), weights(seed));
        write(folder.path(), &weights);
        let embedder = LocalEmbedder::load(folder.path()).expect("a model");
        let vectors = embedder.embed(&["Red teas", "cup", "red tea cups tea cup red tea"]).expect("embedded");
        // [CLS] ... [SEP], cut to six positions.
        let tokens: [&[usize]; 3] = [&[2, 4, 5, 7, 3], &[2, 6, 3], &[2, 4, 5, 6, 7, 3]];
        for (vector, tokens) in vectors.iter().zip(tokens) {
            let expected = Reference(&weights).vector(tokens);
            let furthest = vector
                .iter()
                .zip(expected)
                .map(|(found, expected)| (f64::from(*found) - expected).abs())
                .fold(0.0, f64::max);
            assert!(furthest < 2e-5, "seed {seed}, {tokens:?}: {furthest}");
        }
    }
}

#[test]
fn a_vector_does_not_depend_on_its_company() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), &weights(1));
    let embedder = LocalEmbedder::load(folder.path()).expect("a model");
    let together = embedder.embed(&["red tea", "cups", "tea"]).expect("embedded");
    for (text, vector) in ["red tea", "cups", "tea"].iter().zip(&together) {
        assert_eq!(embedder.embed(&[text]).as_ref().map(|alone| &alone[0]), Ok(vector));
    }
    assert_eq!((embedder.width(), embedder.embed(&[])), (WIDTH, Ok(Vec::new())));
    assert!(embedder.embed(&[""]).is_ok());
}

#[test]
fn a_fingerprint_follows_every_file() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), &weights(1));
    let fingerprint = || LocalEmbedder::load(folder.path()).expect("a model").fingerprint().to_owned();
    let first = fingerprint();
    assert_eq!(first, fingerprint());
    write(folder.path(), &weights(2));
    assert_ne!(first, fingerprint());
    write(folder.path(), &weights(1));
    std::fs::write(folder.path().join("config.json"), CONFIG.replace("1e-12", "1e-11")).expect("written");
    assert_ne!(first, fingerprint());
}

#[test]
fn files_that_do_not_fit_are_refused() {
    let refused = |change: &dyn Fn(&Path)| {
        let folder = tempfile::tempdir().expect("a folder");
        write(folder.path(), &weights(1));
        change(folder.path());
        LocalEmbedder::load(folder.path()).expect_err("refused")
    };
    let missing = refused(&|folder| std::fs::remove_file(folder.join("tokenizer.json")).expect("there"));
    assert!(matches!(missing, EmbedderError::Format { .. }), "{missing}");
    let missing = refused(&|folder| std::fs::remove_file(folder.join("config.json")).expect("there"));
    assert!(matches!(missing, EmbedderError::Read { .. }), "{missing}");
    for (file, content, expected) in [
        ("model.safetensors", "not at all", ""),
        ("tokenizer.json", "{}", ""),
        ("config.json", &CONFIG.replace("bert", "gpt"), "`model_type` is `gpt`, expected `bert`"),
        (
            "config.json",
            &CONFIG.replace(": 12", ": 13"),
            "tensor `encoder.layer.0.intermediate.dense.weight` has shape [12, 8], expected [13, 8]",
        ),
        (
            "config.json",
            &CONFIG.replace("\"vocab_size\": 8", "\"vocab_size\": 7"),
            "8 tokens, expected at most the 7 of `config.json`",
        ),
    ] {
        let error = refused(&|folder| std::fs::write(folder.join(file), content).expect("written"));
        // What does not fit another file is told of the one that was read last.
        let told = error.to_string();
        assert!(told.contains(expected) && (told.contains(file) || told.contains("model.safetensors")), "{told}");
    }
    let lost = refused(&|folder| {
        let mut fewer = weights(1);
        fewer.remove("encoder.layer.1.output.dense.bias");
        write(folder, &fewer);
    });
    assert!(lost.to_string().contains("no tensor `encoder.layer.1.output.dense.bias`"), "{lost}");
}

#[test]
fn shapes_beyond_the_limits_are_refused() {
    for (from, to) in [
        ("\"hidden_size\": 8", "\"hidden_size\": 4097"),
        ("\"hidden_size\": 8", "\"hidden_size\": 9"),
        ("\"num_hidden_layers\": 2", "\"num_hidden_layers\": 65"),
        ("\"num_attention_heads\": 2", "\"num_attention_heads\": 0"),
        ("\"intermediate_size\": 12", "\"intermediate_size\": 99999"),
        ("\"max_position_embeddings\": 6", "\"max_position_embeddings\": 8193"),
        ("\"vocab_size\": 8", "\"vocab_size\": 1048577"),
        ("1e-12", "1"),
    ] {
        assert!(Shape::parse(&CONFIG.replace(from, to)).is_err(), "{to}");
    }
    assert!(Shape::parse(CONFIG).is_ok());
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), &weights(1));
    std::fs::write(folder.path().join("config.json"), " ".repeat(64 * 1024 + 1)).expect("written");
    assert!(LocalEmbedder::load(folder.path()).is_err());
}

#[test]
fn english_is_covered_and_chinese_is_not() {
    let folder = tempfile::tempdir().expect("a folder");
    write(folder.path(), &weights(1));
    let embedder = LocalEmbedder::load(folder.path()).expect("a model");
    for (text, expected) in [
        ("Where did Anna go?", true),
        ("Café Zoë, naïve", true),
        ("I love 茶", true),
        ("我喜欢喝茶", false),
        ("我用WiFi上网看电影", false),
        ("1234 !?", false),
        ("", false),
        ("Я люблю чай", false),
    ] {
        assert_eq!(embedder.covers(text), expected, "{text}");
    }
}

/// Cosines that Python's numpy found with the same file, by `bench/locomo_baseline.py`'s forward pass.
#[test]
fn the_real_model_finds_what_numpy_found() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../../target/models/all-minilm-l6-v2");
    if !folder.join("model.safetensors").exists() {
        eprintln!("notice: no embedder in target/models: `cargo xtask setup` fetches it; this test looked at nothing");
        return;
    }
    let embedder = LocalEmbedder::load(&folder).expect("a model");
    let texts = ["A man is eating food.", "A man is eating a piece of bread.", "A cheetah chases prey."];
    let vectors = embedder.embed(&texts).expect("embedded");
    let cosine =
        |other: usize| -> f32 { vectors[0].iter().zip(&vectors[other]).map(|(left, right)| left * right).sum() };
    assert!((cosine(1) - 0.755).abs() < 0.001 && (cosine(2) - 0.215).abs() < 0.001, "{} {}", cosine(1), cosine(2));
}
