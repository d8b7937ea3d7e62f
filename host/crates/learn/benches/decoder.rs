//! Symbols per second of one thread's CPU time, so that a busy machine changes little: training steps, and sampling in batches.

#![expect(clippy::expect_used, reason = "a benchmark that cannot be set up ends")]

mod cpu_time;

use std::hint::black_box;

use cpu_time::CpuTime;
use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use loopwright_learn::decoder::{Ask, Choice, Decoder, Feed, Pick, Sequence, Shape};
use loopwright_learn::nn::{AdamW, AdamWConfig, Allowed, Gradients, Schedule, negative_log_likelihood};

const VOCABULARY: usize = 64;
const LENGTH: usize = 32;

/// A sequence whose symbols after the first are all choices.
fn sequence(number: usize) -> Sequence {
    let symbols = (0..=LENGTH).map(|place| ((number * 7 + place * 13) % VOCABULARY) as u8).collect();
    let choices = (1..=LENGTH).map(|at| Choice { at, allowed: Allowed::first(VOCABULARY) }).collect();
    Sequence { symbols, choices }
}

fn train(criterion: &mut Criterion<CpuTime>) {
    let mut decoder = Decoder::new(Shape::tiny(VOCABULARY), 1).expect("a decoder");
    let mut adam = AdamW::new(AdamWConfig::new(Schedule::constant(1e-3)), decoder.parameters()).expect("settings");
    let sequences: Vec<Sequence> = (0..128).map(sequence).collect();
    let count = sequences.len() * LENGTH;
    let mut group = criterion.benchmark_group("decoder");
    group.throughput(Throughput::Elements(count as u64));
    group.bench_function("train/128", |bencher| {
        bencher.iter(|| {
            let gradients = decoder.gradients(&sequences, |scores, range| {
                Ok(negative_log_likelihood(&scores.chosen, &vec![1.0; range.len()], count as f64)?)
            });
            black_box(adam.step(decoder.parameters_mut(), &gradients.expect("gradients")).expect("a step"))
        });
    });
    group.bench_function("train/128-at-once", |bencher| {
        bencher.iter(|| {
            let scores = decoder.score(&sequences).expect("scores");
            let loss = negative_log_likelihood(&scores.chosen, &vec![1.0; count], count as f64).expect("a loss");
            let gradients = Gradients::of(&loss, decoder.parameters()).expect("gradients");
            black_box(adam.step(decoder.parameters_mut(), &gradients).expect("a step"))
        });
    });
    group.finish();
}

fn act(criterion: &mut Criterion<CpuTime>) {
    let actor = Decoder::new(Shape::tiny(VOCABULARY), 1).and_then(|decoder| decoder.actor()).expect("an actor");
    let mut group = criterion.benchmark_group("decoder");
    for rows in [1, 16, 128] {
        group.throughput(Throughput::Elements((rows * LENGTH) as u64));
        group.bench_function(format!("act/{rows}"), |bencher| {
            bencher.iter_batched(
                || actor.start(rows).expect("rows"),
                |mut session| {
                    let ask =
                        |row| Ask { row, allowed: Allowed::first(VOCABULARY), pick: Pick::Sample { seed: row as u64 } };
                    let asks: Vec<Ask> = (0..rows).map(ask).collect();
                    let mut next = vec![0_u8; rows];
                    for _ in 0..LENGTH {
                        let feeds = next.iter().enumerate();
                        let feeds: Vec<Feed<'_>> =
                            feeds.map(|(row, symbol)| Feed { row, symbols: std::slice::from_ref(symbol) }).collect();
                        session.feed(&feeds).expect("positions");
                        let chosen = session.choose(&asks).expect("choices");
                        next = chosen.into_iter().map(|chosen| chosen.symbol).collect();
                    }
                    black_box(next)
                },
                BatchSize::LargeInput,
            );
        });
    }
    group.finish();
}

criterion_group! {
    name = decoder;
    config = Criterion::default().with_measurement(CpuTime("symbols/CPU-s")).sample_size(20);
    targets = train, act
}
criterion_main!(decoder);
