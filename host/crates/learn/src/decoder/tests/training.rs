use std::collections::BTreeMap;
use std::process::Command;

use candle_core::{DType, Device, Tensor};
use sha2::{Digest, Sha256};

use super::{choices, loss, sequences, settings, small, train};
use crate::decoder::sequence::Batch;
use crate::decoder::{Choice, Decoder, Sequence, Shape};
use crate::nn::tests::slow;
use crate::nn::{AdamW, AdamWConfig, Allowed, Gradients, Schedule, negative_log_likelihood, pick};

/// The decoder once more, in f64 out of plain operations.
fn slow_loss(shape: &Shape, weights: &BTreeMap<String, Tensor>, batch: &Batch) -> f64 {
    let weight = |name: String| &weights[&name];
    let heads = shape.attention();
    let index = |values: &[u32]| Tensor::from_slice(values, values.len(), &Device::Cpu).unwrap();
    let mut states = weight("embed.weight".into()).index_select(&index(&batch.inputs), 0).unwrap();
    for layer in 0..shape.layers {
        let weight = |part: &str| weight(format!("layers.{layer}.{part}.weight"));
        let normed = slow::rms_norm(&states, weight("attention_norm")).unwrap();
        let packed = slow::linear(&normed, weight("attention_in")).unwrap();
        let turned = slow::rope(&packed, heads, &batch.segments).unwrap();
        let mixed = slow::attention(&turned, heads, &batch.segments).unwrap();
        states = (states + slow::linear(&mixed, weight("attention_out")).unwrap()).unwrap();
        let normed = slow::rms_norm(&states, weight("gate_norm")).unwrap();
        let gated = slow::silu_gate(&slow::linear(&normed, weight("gate_up")).unwrap()).unwrap();
        states = (states + slow::linear(&gated, weight("down")).unwrap()).unwrap();
    }
    let states = states.index_select(&index(&batch.rows), 0).unwrap();
    let states = slow::rms_norm(&states, weight("norm.weight".into())).unwrap();
    let logits = slow::linear(&states, weight("head.weight".into())).unwrap();
    let all = slow::masked_log_softmax(&logits, &batch.masks).unwrap();
    let chosen = slow::to_f64(&pick(&all, &batch.chosen).unwrap());
    let count = chosen.len() as f64;
    let weighted: f64 =
        chosen.iter().enumerate().map(|(place, value)| if place % 3 == 0 { -0.5 * value } else { *value }).sum();
    let entropy = slow::to_f64(&slow::entropy(&all).unwrap()).iter().sum::<f64>();
    -weighted / count - 0.1 * entropy / count
}

#[test]
fn every_gradient_agrees_with_finite_differences_of_the_slow_decoder() {
    let shape = small();
    let decoder = Decoder::new(shape, 3).unwrap();
    let sequences = sequences(&shape, 5, 2);
    let batch = Batch::new(&shape, &sequences).unwrap();
    let ours = loss(&decoder, &sequences);
    let gradients = Gradients::of(&ours, decoder.parameters()).unwrap();
    let mut weights: BTreeMap<String, Tensor> = decoder
        .parameters()
        .iter()
        .map(|(slot, var)| (slot.name.clone(), var.as_tensor().to_dtype(DType::F64).unwrap().detach()))
        .collect();
    let theirs = slow_loss(&shape, &weights, &batch);
    assert!((gradients.loss() - theirs).abs() < 1e-5, "{} against {theirs}", gradients.loss());
    let step = 1e-5;
    for (slot, gradient) in decoder.parameters().slots().iter().zip(gradients.values()) {
        let base = slow::to_f64(&weights[&slot.name]);
        for (place, found) in gradient.iter().enumerate() {
            let mut at = |shift: f64| {
                let mut moved = base.clone();
                moved[place] += shift;
                let moved = Tensor::from_vec(moved, slot.shape.as_slice(), &Device::Cpu).unwrap();
                let kept = weights.insert(slot.name.clone(), moved).unwrap();
                let loss = slow_loss(&shape, &weights, &batch);
                weights.insert(slot.name.clone(), kept);
                loss
            };
            let expected = (at(step) - at(-step)) / (2.0 * step);
            let error = (f64::from(*found) - expected).abs();
            assert!(error < 1e-5 * (1.0 + expected.abs()), "{}, value {place}: {found} against {expected}", slot.name);
        }
    }
}

#[test]
fn every_weight_gets_a_finite_gradient_and_moves() {
    let mut decoder = Decoder::new(Shape::tiny(32), 1).unwrap();
    let sequences = sequences(decoder.shape(), 24, 1);
    let gradients = Gradients::of(&loss(&decoder, &sequences), decoder.parameters()).unwrap();
    for (slot, values) in decoder.parameters().slots().iter().zip(gradients.values()) {
        assert!(values.iter().all(|value| value.is_finite()), "{}", slot.name);
        assert!(values.iter().any(|value| *value != 0.0), "{} has a gradient of zeros", slot.name);
    }
    let before = decoder.parameters().values().unwrap();
    let mut adam = AdamW::new(settings(), decoder.parameters()).unwrap();
    adam.step(decoder.parameters_mut(), &gradients).unwrap();
    let after = decoder.parameters().values().unwrap();
    for ((before, after), slot) in before.iter().zip(&after).zip(decoder.parameters().slots()) {
        assert_ne!(before, after, "{}", slot.name);
    }
}

#[test]
fn the_decoder_of_the_ablation_has_its_size() {
    let count = Decoder::new(Shape::tiny(64), 1).unwrap().parameters().count();
    assert_eq!(count, 61_680);
}

#[test]
fn a_digest_names_shape_and_weights() {
    let digest = |shape: Shape, seed: u64| Decoder::new(shape, seed).unwrap().digest().unwrap();
    assert_eq!(digest(small(), 1), digest(small(), 1));
    assert_ne!(digest(small(), 1), digest(small(), 2));
    // The same weights, cut into other heads.
    assert_ne!(digest(small(), 1), digest(Shape { heads: 1, ..small() }, 1));
}

#[test]
fn a_batch_scores_as_its_parts_do() {
    let shape = Shape::tiny(32);
    let decoder = Decoder::new(shape, 4).unwrap();
    let sequences = sequences(&shape, 30, 5);
    let together = decoder.score(&sequences).unwrap().chosen.to_vec1::<f32>().unwrap();
    let mut alone = Vec::new();
    for sequence in &sequences {
        if !sequence.choices.is_empty() {
            alone.extend(decoder.score(std::slice::from_ref(sequence)).unwrap().chosen.to_vec1::<f32>().unwrap());
        }
    }
    assert_eq!(together, alone);
    assert_eq!(together.len(), choices(&sequences));
}

#[test]
fn gradients_of_parts_are_those_of_the_batch() {
    let decoder = Decoder::new(Shape::tiny(32), 4).unwrap();
    let mut sequences = sequences(decoder.shape(), 60, 5);
    // Sequences without a choice, at both ends and in the middle, and many of them.
    let given = Sequence { symbols: vec![1; 60], choices: Vec::new() };
    sequences.splice(30..30, std::iter::repeat_n(given.clone(), 9));
    sequences.insert(0, given.clone());
    sequences.push(given.clone());
    let count = choices(&sequences);
    let weights: Vec<f32> = (0..count).map(|place| (place % 7) as f32 - 2.0).collect();
    let at_once = decoder.score(&sequences).unwrap().chosen;
    let at_once = negative_log_likelihood(&at_once, &weights, count as f64).unwrap();
    let at_once = Gradients::of(&at_once, decoder.parameters()).unwrap();
    let parts = std::cell::RefCell::new(Vec::new());
    let added = || {
        decoder.gradients(&sequences, |scores, range| {
            parts.borrow_mut().push(range.clone());
            Ok(negative_log_likelihood(&scores.chosen, &weights[range], count as f64)?)
        })
    };
    let (first, second) = (added().unwrap(), added().unwrap());
    assert_eq!(first.values(), second.values());
    assert!((first.loss() - at_once.loss()).abs() < 1e-5);
    for (a, b) in first.values().concat().iter().zip(at_once.values().concat()) {
        assert!((a - b).abs() < 1e-5 * (1.0 + b.abs()), "{a} against {b}");
    }
    let parts = parts.into_inner();
    let (once, again) = parts.split_at(parts.len() / 2);
    assert_eq!(once, again);
    assert!(once.len() > 3, "{once:?}");
    assert!(
        once.windows(2).all(|pair| pair[0].end == pair[1].start)
            && once[0].start == 0
            && once[once.len() - 1].end == count
    );
    let refused =
        |sequences: &[Sequence]| decoder.gradients(sequences, |scores, _| Ok(scores.chosen.sum_all()?)).unwrap_err();
    assert!(refused(&[given.clone(), given]).to_string().contains("no choice in 2 sequences"));
    assert!(refused(&[]).to_string().contains("no choice in 0 sequences"));
    sequences[40].symbols[0] = 99;
    assert!(refused(&sequences).to_string().starts_with("sequence 40: symbol 99"), "numbered in the batch");
}

#[test]
fn later_symbols_and_unused_masks_change_nothing() {
    let decoder = Decoder::new(small(), 4).unwrap();
    let choice = Choice { at: 2, allowed: Allowed::first(5) };
    let score = |symbols: &[u8]| {
        let sequence = Sequence { symbols: symbols.into(), choices: vec![choice] };
        decoder.score(&[sequence]).unwrap().chosen.to_vec1::<f32>().unwrap()
    };
    assert_eq!(score(&[1, 2, 3]), score(&[1, 2, 3, 9, 9, 9]));
    assert_ne!(score(&[1, 2, 3]), score(&[1, 4, 3]));
    assert_ne!(score(&[1, 2, 3]), score(&[2, 2, 3]));
}

#[test]
fn stopping_and_going_on_changes_no_bit() {
    let shape = small();
    let mut whole = Decoder::new(shape, 6).unwrap();
    let mut adam = AdamW::new(settings(), whole.parameters()).unwrap();
    train(&mut whole, &mut adam, 0..12);
    for stop in [1, 5, 11] {
        let mut first = Decoder::new(shape, 6).unwrap();
        let mut adam_first = AdamW::new(settings(), first.parameters()).unwrap();
        train(&mut first, &mut adam_first, 0..stop);
        let (weights, state) =
            (first.parameters().to_bytes().unwrap(), adam_first.to_bytes(first.parameters()).unwrap());
        let mut second = Decoder::from_bytes(shape, &weights).unwrap();
        let mut adam_second = AdamW::from_bytes(settings(), second.parameters(), &state).unwrap();
        train(&mut second, &mut adam_second, stop..12);
        assert_eq!(
            second.parameters().to_bytes().unwrap(),
            whole.parameters().to_bytes().unwrap(),
            "stopped at {stop}"
        );
        assert_eq!(adam_second.to_bytes(second.parameters()).unwrap(), adam.to_bytes(whole.parameters()).unwrap());
        assert_eq!(adam_second.steps(), 12);
    }
}

/// What the digest of a fixed run is written after.
const DIGEST_MARK: &str = "digest of the weights: ";

/// Trains the decoder of the ablation for some steps and prints what came out; also run by the next test in processes of its own.
#[test]
fn a_fixed_run_repeats_to_the_bit() {
    let run = || {
        let mut decoder = Decoder::new(Shape::tiny(32), 8).unwrap();
        let mut adam = AdamW::new(settings(), decoder.parameters()).unwrap();
        for step in 0..4 {
            let batch = sequences(decoder.shape(), 128, step);
            let gradients = Gradients::of(&loss(&decoder, &batch), decoder.parameters()).unwrap();
            adam.step(decoder.parameters_mut(), &gradients).unwrap();
        }
        hex(&Sha256::digest(decoder.parameters().to_bytes().unwrap()))
    };
    let digest = run();
    assert_eq!(digest, run());
    // With the threads of the process by now, those of candle's pool among them.
    let threads = std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    println!("{DIGEST_MARK}{digest} {threads} threads");
}

fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|byte| format!("{byte:02x}")).collect()
}

/// It rests on this: products and sums are our own kernels, on the thread that calls them. What candle spreads over the threads of its pool are
/// operations on single numbers, each of which comes of its own inputs; no sum is split. A sum that candle splits would show here only where the split
/// changes a bit. That there is a pool, and of another size, is checked, or the test would compare a run with itself.
#[test]
fn one_thread_and_two_give_the_same_bits() {
    let with_threads = |threads: &str| {
        let name = "decoder::tests::training::a_fixed_run_repeats_to_the_bit";
        let mut command = Command::new(std::env::current_exe().unwrap());
        let output = command.args([name, "--exact", "--nocapture"]).env("RAYON_NUM_THREADS", threads).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let (_, rest) = text.split_once(DIGEST_MARK).unwrap_or_else(|| panic!("no digest in: {text}"));
        let (digest, threads) = rest.lines().next().unwrap().split_once(' ').unwrap();
        (digest.to_owned(), threads.trim_end_matches(" threads").parse::<usize>().unwrap())
    };
    let ((one, few), (two, more)) = (with_threads("1"), with_threads("2"));
    assert_eq!(one, two);
    assert_eq!(one, with_threads("1").0);
    assert!(more == few + 1 || cfg!(not(target_os = "linux")), "{few} and {more} threads");
}

/// Symbols that repeat the one three places before: attention has to find it.
#[test]
fn the_decoder_learns_to_look_back() {
    let mut decoder = Decoder::new(Shape { vocabulary: 8, positions: 16, ..Shape::tiny(8) }, 1).unwrap();
    let config = AdamWConfig::new(Schedule::constant(5e-3));
    let mut adam = AdamW::new(config, decoder.parameters()).unwrap();
    let batch = |seed: u64| -> Vec<Sequence> {
        let sequence = |number: u64| {
            let mut symbols: Vec<u8> =
                (0..3).map(|place| ((seed * 31 + number * 17 + place * 5 + number * place) % 8) as u8).collect();
            for at in 3..15 {
                symbols.push(symbols[at - 3]);
            }
            let choices = (3..15).map(|at| Choice { at, allowed: Allowed::first(8) }).collect();
            Sequence { symbols, choices }
        };
        (0..32).map(sequence).collect()
    };
    let loss = |decoder: &Decoder, seed: u64| {
        let scores = decoder.score(&batch(seed)).unwrap();
        negative_log_likelihood(&scores.chosen, &vec![1.0; 32 * 12], 32.0 * 12.0).unwrap()
    };
    let first = loss(&decoder, 1000).to_scalar::<f32>().unwrap();
    assert!((first - 8_f32.ln()).abs() < 0.2, "a fresh policy is nearly indifferent: {first}");
    for step in 0..150 {
        let gradients = Gradients::of(&loss(&decoder, step), decoder.parameters()).unwrap();
        adam.step(decoder.parameters_mut(), &gradients).unwrap();
    }
    let last = loss(&decoder, 1000).to_scalar::<f32>().unwrap();
    assert!(last < 0.1, "{first} to {last}");
}
