//! The whole network: gradients, the two passes against each other, repetition to the bit, what is refused, and what it learns.

mod acting;
mod learning;
mod limits;
mod slow;
mod training;

use std::sync::Arc;

use super::*;
use crate::nn::random::Stream;
use crate::pointer::{Answer, Bag, Choice, Kind, OPTION_FACTS, Past, Play, QUESTION_FACTS, Question, Taken, Unit};

/// Small enough for finite differences of every weight but the table's.
pub(crate) fn small() -> Shape {
    Shape { width: 8, layers: 2, heads: 2, hidden: 6, joint: 5 }
}

pub(crate) fn below(stream: &mut Stream, count: usize) -> usize {
    #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "a small count")]
    let place = (stream.uniform() * count as f64) as usize;
    place
}

/// A word of this number, as the n-grams that only it has.
pub(crate) fn word(number: usize) -> impl Iterator<Item = u32> + Clone {
    let mut stream = Stream::numbered(77, number as u64);
    let grams: Vec<u32> = (0..6).map(|_| below(&mut stream, 8192) as u32).collect();
    grams.into_iter()
}

fn bag(stream: &mut Stream) -> Bag {
    let words = below(stream, 4);
    Bag::new((0..words).flat_map(|_| word(below(stream, 20))).collect::<Vec<_>>())
}

fn facts<const COUNT: usize>(stream: &mut Stream) -> [f32; COUNT] {
    #[expect(clippy::cast_possible_truncation, reason = "facts are f32")]
    std::array::from_fn(|_| if below(stream, 3) == 0 { (stream.uniform() * 8.0 - 4.0) as f32 } else { 0.0 })
}

/// A choice about a request of so many units.
pub(crate) fn choice(stream: &mut Stream, units: usize, past: &Arc<[Past]>) -> Choice {
    let answer = |stream: &mut Stream| {
        let start = below(stream, units.max(1));
        let span = start..(start + 1 + below(stream, 3)).min(units);
        let span = (below(stream, 2) == 0 && !span.is_empty()).then_some(span);
        Answer { bag: bag(stream), facts: facts::<OPTION_FACTS>(stream), span }
    };
    let kind = Kind::ALL[below(stream, 3)];
    let question = Question { kind, bag: bag(stream), facts: facts::<QUESTION_FACTS>(stream) };
    let count = 1 + below(stream, 7);
    Choice { question, answers: (0..count).map(|_| answer(stream)).collect(), past: past.clone() }
}

/// Plays of all sorts: without units, without earlier calls, with one answer; the same for the same seed.
pub(crate) fn plays(count: usize, seed: u64) -> Vec<Play> {
    let mut stream = Stream::numbered(seed, 1);
    let stream = &mut stream;
    let play = |number: usize, stream: &mut Stream| {
        let units = if number % 5 == 4 { 0 } else { 1 + below(stream, 9) };
        let unit =
            |stream: &mut Stream| Unit { bag: bag(stream), types: 1 << below(stream, 16) | 1 << below(stream, 20) };
        let units: Arc<[Unit]> = (0..units).map(|_| unit(stream)).collect();
        let mut choices = Vec::new();
        for turn in 0..1 + number % 3 {
            let call = |stream: &mut Stream| Past {
                bag: bag(stream),
                status: below(stream, 8) as u8,
                changed: below(stream, 2) == 0,
            };
            let past: Arc<[Past]> = (0..turn * 2).map(|_| call(stream)).collect();
            for _ in 0..1 + below(stream, 3) {
                let choice = choice(stream, units.len(), &past);
                let answer = below(stream, choice.answers.len());
                choices.push(Taken { choice, answer });
            }
        }
        Play { units, choices }
    };
    (0..count).map(|number| play(number, stream)).collect()
}

fn choices(plays: &[Play]) -> usize {
    plays.iter().map(|play| play.choices.len()).sum()
}

/// A policy that is not indifferent.
fn decided(shape: Shape) -> PointerNet {
    let mut net = PointerNet::new(shape, 5).unwrap();
    let mut values = net.parameters().values().unwrap();
    for values in values.iter_mut().rev().take(2) {
        values.iter_mut().for_each(|value| *value *= 12.0);
    }
    net.parameters_mut().set(values).unwrap();
    net
}

/// What the acting pass says of what was taken.
fn acted(net: &PointerNet, plays: &[Play]) -> Vec<f32> {
    let mut scorer = net.scorer().unwrap();
    let mut found = Vec::new();
    for play in plays {
        let mut request = scorer.encode(&play.units).unwrap();
        for taken in &play.choices {
            found.push(scorer.score(&mut request, &taken.choice).unwrap()[taken.answer]);
        }
    }
    found
}
