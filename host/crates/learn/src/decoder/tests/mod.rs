//! The whole decoder: gradients, the two passes against each other, repetition to the bit, and what is refused.

mod acting;
mod limits;
mod training;

use candle_core::Tensor;

use super::{Ask, Choice, Decoder, Feed, Pick, Sequence, Session, Shape};
use crate::nn::random::Stream;
use crate::nn::{AdamW, AdamWConfig, Allowed, Decay, Gradients, Schedule, negative_log_likelihood};

const VOCABULARY: usize = 11;

/// Small enough for finite differences of every weight.
fn small() -> Shape {
    Shape { vocabulary: VOCABULARY, width: 8, layers: 2, heads: 2, hidden: 6, positions: 10 }
}

fn below(stream: &mut Stream, count: usize) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
    let place = (stream.uniform() * count as f64) as usize;
    place
}

/// Sequences of several lengths with several masks, some symbols given and some chosen; the same for the same seed.
fn sequences(shape: &Shape, count: usize, seed: u64) -> Vec<Sequence> {
    let mut stream = Stream::numbered(seed, 1);
    let sequence = |number: usize| {
        let length = 2 + (number * 5) % (shape.positions - 1);
        let symbols: Vec<u8> = (0..length).map(|_| below(&mut stream, shape.vocabulary) as u8).collect();
        let mut choices = Vec::new();
        for (at, symbol) in symbols.iter().enumerate().skip(1) {
            if !(at + number).is_multiple_of(3) {
                let others =
                    [*symbol, below(&mut stream, shape.vocabulary) as u8, below(&mut stream, shape.vocabulary) as u8];
                let allowed =
                    if at % 2 == 0 { Allowed::first(shape.vocabulary) } else { Allowed::of(&others).unwrap() };
                choices.push(Choice { at, allowed });
            }
        }
        Sequence { symbols, choices }
    };
    (0..count).map(sequence).collect()
}

fn choices(sequences: &[Sequence]) -> usize {
    sequences.iter().map(|sequence| sequence.choices.len()).sum()
}

/// A loss with weights of both signs and the entropy, as the trainer's.
fn loss(decoder: &Decoder, sequences: &[Sequence]) -> Tensor {
    let scores = decoder.score(sequences).unwrap();
    let weights: Vec<f32> = (0..choices(sequences)).map(|place| if place % 3 == 0 { -0.5 } else { 1.0 }).collect();
    let loss = negative_log_likelihood(&scores.chosen, &weights, weights.len() as f64).unwrap();
    loss.sub(&scores.entropy().unwrap().mean_all().unwrap().affine(0.1, 0.0).unwrap()).unwrap()
}

fn settings() -> AdamWConfig {
    AdamWConfig::new(Schedule { peak: 3e-3, warmup_steps: 2, decay: Decay::Cosine { steps: 20, floor: 0.1 } })
}

/// Takes steps, each on a batch of its own.
fn train(decoder: &mut Decoder, adam: &mut AdamW, steps: std::ops::Range<u64>) {
    for step in steps {
        let batch = sequences(decoder.shape(), 9, step);
        let gradients = Gradients::of(&loss(decoder, &batch), decoder.parameters()).unwrap();
        adam.step(decoder.parameters_mut(), &gradients).unwrap();
    }
}

/// Plays a row: given symbols first, then choices under changing masks with observations in between, as an episode goes. What was sampled,
/// with
/// its log-probabilities.
fn play(session: &mut Session, rows: &[(usize, u64)], shape: &Shape) -> Vec<(Sequence, Vec<f32>)> {
    let mut played: Vec<(Sequence, Vec<f32>)> = Vec::new();
    for (row, seed) in rows {
        let symbols: Vec<u8> =
            (0..1 + seed % 3).map(|place| ((seed + place * 3) % shape.vocabulary as u64) as u8).collect();
        session.feed(&[Feed { row: *row, symbols: &symbols }]).unwrap();
        played.push((Sequence { symbols, choices: Vec::new() }, Vec::new()));
    }
    for round in 0.. {
        let ends = |seed: u64, length: usize| length + 2 > 3 + (seed % 8) as usize || length + 2 > shape.positions;
        let open = |place: &usize| !ends(rows[*place].1, played[*place].0.symbols.len());
        let open: Vec<usize> = (0..rows.len()).filter(open).collect();
        if open.is_empty() {
            break;
        }
        let allowed = |seed: u64| {
            let three = [seed % 4, 4 + seed % 3, 7 + round % 4].map(|symbol| symbol as u8);
            if round % 2 == 0 { Allowed::first(shape.vocabulary) } else { Allowed::of(&three).unwrap() }
        };
        let ask = |place: &usize| {
            let (row, seed) = rows[*place];
            Ask { row, allowed: allowed(seed), pick: Pick::Sample { seed } }
        };
        let asks: Vec<Ask> = open.iter().map(ask).collect();
        let chosen = session.choose(&asks).unwrap();
        let mut next = Vec::new();
        for ((place, ask), chosen) in open.iter().zip(&asks).zip(&chosen) {
            let (sequence, log_probs) = &mut played[*place];
            sequence.choices.push(Choice { at: sequence.symbols.len(), allowed: ask.allowed });
            log_probs.push(chosen.log_prob);
            let observation = chosen.symbol / 2;
            sequence.symbols.extend([chosen.symbol, observation]);
            next.push((ask.row, [chosen.symbol, observation]));
        }
        let feeds: Vec<Feed<'_>> = next.iter().map(|(row, symbols)| Feed { row: *row, symbols }).collect();
        session.feed(&feeds).unwrap();
    }
    played
}
