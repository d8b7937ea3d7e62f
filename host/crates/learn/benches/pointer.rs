//! Choices per second of CPU time, of episodes about as large as a phone's: training steps, and acting.

#![expect(clippy::expect_used, reason = "a benchmark that cannot be set up ends")]

mod cpu_time;

use std::hint::black_box;
use std::ops::Range;
use std::sync::Arc;

use candle_core::Tensor;
use cpu_time::CpuTime;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use loopwright_learn::nn::{AdamW, AdamWConfig, Schedule, negative_log_likelihood};
use loopwright_learn::pointer::net::{PointerNet, Shape};
use loopwright_learn::pointer::{
    Answer, Bag, Choice, Kind, OPTION_FACTS, Past, Play, QUESTION_FACTS, Question, Taken, Unit,
};

/// Tools of a space, grams of a tool's words and of a unit.
const TOOLS: usize = 32;
const TOOL_GRAMS: u32 = 120;
const UNIT_GRAMS: u32 = 12;
/// Units of a request, spans that a slot can point to, and slots of a call.
const UNITS: usize = 14;
const SPANS: usize = 20;
const SLOTS: usize = 3;
const PLAYS: usize = 64;

fn bag(number: usize, grams: u32) -> Bag {
    let number = u32::try_from(number).unwrap_or(0);
    Bag::new((0..grams).map(|gram| (number * 131 + gram * 977 + gram * gram * 13) % 8192))
}

fn choice(kind: Kind, about: usize, answers: Vec<Answer>, past: &Arc<[Past]>) -> Taken {
    let question = Question { kind, bag: bag(about, 40), facts: [0.5; QUESTION_FACTS] };
    Taken { answer: about % answers.len(), choice: Choice { question, answers, past: past.clone() } }
}

/// Two calls with their slots, and the end.
fn play(number: usize, tools: &[Bag]) -> Play {
    let unit = |place: usize| Unit { bag: bag(1000 + number * 7 + place, UNIT_GRAMS), types: 1 << (place % 16) };
    let answer = |bag: Bag, span: Option<Range<usize>>| Answer { bag, facts: [0.25; OPTION_FACTS], span };
    let spans = || {
        let span = |place: usize| {
            let (start, length) = (place % (UNITS - 2), 1 + place % 2);
            answer(bag(1000 + number * 7 + start, UNIT_GRAMS), Some(start..start + length))
        };
        (0..SPANS).map(span).collect()
    };
    let mut choices = Vec::new();
    for turn in 0..3 {
        let past =
            (0..turn).map(|call| Past { bag: tools.get(call).cloned().unwrap_or_default(), status: 1, changed: true });
        let past: Arc<[Past]> = past.collect();
        choices.push(choice(Kind::Act, number, tools.iter().map(|tool| answer(tool.clone(), None)).collect(), &past));
        if turn < 2 {
            for slot in 0..SLOTS {
                choices.push(choice(Kind::Slot, number + slot, spans(), &past));
            }
            let more = [1, 2].map(|place| answer(bag(5000 + place, 8), None)).to_vec();
            choices.push(choice(Kind::More, number, more, &past));
        }
    }
    Play { units: (0..UNITS).map(unit).collect(), choices }
}

fn plays() -> Vec<Play> {
    let tools: Vec<Bag> = (0..TOOLS).map(|tool| bag(tool * 17, TOOL_GRAMS)).collect();
    (0..PLAYS).map(|number| play(number, &tools)).collect()
}

fn train(criterion: &mut Criterion<CpuTime>) {
    let mut net = PointerNet::new(Shape::phone(), 1).expect("a network");
    let mut adam = AdamW::new(AdamWConfig::new(Schedule::constant(1e-3)), net.parameters()).expect("settings");
    let plays = plays();
    let count: usize = plays.iter().map(|play| play.choices.len()).sum();
    let mut group = criterion.benchmark_group("pointer");
    group.throughput(Throughput::Elements(count as u64));
    group.bench_function("train/64", |bencher| {
        bencher.iter(|| {
            let loss = |chosen: &Tensor, range: Range<usize>| {
                negative_log_likelihood(chosen, &vec![1.0; range.len()], count as f64)
            };
            let gradients = net.gradients(&plays, loss).expect("gradients");
            black_box(adam.step(net.parameters_mut(), &gradients).expect("a step"))
        });
    });
    group.finish();
}

fn act(criterion: &mut Criterion<CpuTime>) {
    let net = PointerNet::new(Shape::phone(), 1).expect("a network");
    let mut scorer = net.scorer().expect("a scorer");
    let plays = plays();
    let count: usize = plays.iter().map(|play| play.choices.len()).sum();
    let mut group = criterion.benchmark_group("pointer");
    group.throughput(Throughput::Elements(count as u64));
    group.bench_function("act/64", |bencher| {
        bencher.iter(|| {
            for play in &plays {
                let mut request = scorer.encode(&play.units).expect("a request");
                for taken in &play.choices {
                    black_box(scorer.score(&mut request, &taken.choice).expect("scores"));
                }
            }
        });
    });
    group.finish();
}

criterion_group! {
    name = pointer;
    config = Criterion::default().with_measurement(CpuTime("choices/CPU-s")).sample_size(20);
    targets = train, act
}
criterion_main!(pointer);
