//! Choices per second of CPU time, of episodes about as large as a phone's: training steps, acting on tables that are made, and whole decisions from a
//! context on.

#![expect(clippy::expect_used, reason = "a benchmark that cannot be set up ends")]

mod cpu_time;
mod phone;

use std::hint::black_box;
use std::ops::Range;
use std::sync::Arc;

use candle_core::Tensor;
use cpu_time::CpuTime;
use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use loopwright_contract::planner::{DecisionRequest, Planner};
use loopwright_learn::nn::{AdamW, AdamWConfig, Schedule, negative_log_likelihood};
use loopwright_learn::pointer::net::{PointerNet, Shape};
use loopwright_learn::pointer::{
    Answer, Bag, Choice, Kind, Lexical, OPTION_FACTS, Past, Play, PolicyPlanner, QUESTION_FACTS, Question, Specs,
    Style, Taken, Unit, Walk,
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
/// Requests of a step, and members that decide on each.
const REQUESTS: usize = 64;
const MEMBERS: usize = 8;

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

/// The choices of a decision by rules, which score nothing.
fn walk(specs: &Specs, context: &loopwright_contract::context::Context) -> usize {
    let mut walk = Walk::with(specs, context);
    while let Some(answer) = walk.choice().map(Lexical::answer) {
        if !walk.take(answer) {
            break;
        }
    }
    walk.finish().taken.len()
}

/// Scene and tables: nothing read before, each request read before, and members of a group. Then whole decisions, with scores.
fn decide(criterion: &mut Criterion<CpuTime>) {
    let contexts = phone::contexts(REQUESTS);
    let count: usize = contexts.iter().map(|context| walk(&Specs::new(), context)).sum();
    let grouped = || contexts.iter().flat_map(|context| std::iter::repeat_n(context, MEMBERS));
    let mut group = criterion.benchmark_group("pointer");
    group.throughput(Throughput::Elements(count as u64));
    group.bench_function("tables/new", |bencher| {
        bencher.iter(|| contexts.iter().map(|context| walk(&Specs::new(), context)).sum::<usize>());
    });
    let specs = Arc::new(Specs::new());
    group.bench_function("tables/read", |bencher| {
        bencher.iter(|| contexts.iter().map(|context| walk(&specs, context)).sum::<usize>());
    });
    group.throughput(Throughput::Elements((count * MEMBERS) as u64));
    group.bench_function("tables/grouped", |bencher| {
        bencher.iter(|| grouped().map(|context| walk(&specs, context)).sum::<usize>());
    });
    let net = PointerNet::new(Shape::phone(), 1).expect("a network");
    let requests: Vec<_> =
        grouped().enumerate().map(|(seed, context)| DecisionRequest { context, seed: seed as u64 }).collect();
    let fresh = || PolicyPlanner::new(&net, Arc::clone(&specs), Style::Sampled).expect("a planner");
    let choices = |planner: &dyn Planner, requests: &[DecisionRequest<'_>]| -> u64 {
        let decided = planner.decide_batch(requests).into_iter();
        decided.map(|decision| decision.expect("a decision").usage.tokens_out).sum()
    };
    group.throughput(Throughput::Elements(choices(&fresh(), &requests)));
    group.bench_function("decide/grouped", |bencher| bencher.iter(|| choices(&fresh(), &requests)));
    let alone: Vec<_> = contexts.iter().map(|context| DecisionRequest { context, seed: 1 }).collect();
    group.throughput(Throughput::Elements(choices(&fresh(), &alone)));
    group.bench_function("decide/alone", |bencher| bencher.iter(|| choices(&fresh(), &alone)));
    group.finish();
}

criterion_group! {
    name = pointer;
    config = Criterion::default().with_measurement(CpuTime("choices/CPU-s")).sample_size(20);
    targets = train, act, decide
}
criterion_main!(pointer);
