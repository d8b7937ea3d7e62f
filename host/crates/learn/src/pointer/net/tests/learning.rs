//! A cold start on plays with rules to learn, asked about draws, words and tools that were not in it.

use super::{below, word};
use crate::nn::random::Stream;
use crate::nn::{AdamWConfig, Decay, Schedule};
use crate::pointer::net::{PointerNet, Shape};
use crate::pointer::{Answer, Bag, Choice, Kind, OPTION_FACTS, Play, QUESTION_FACTS, Question, Taken, Unit};
use crate::sft::{Examples, Fit, FitSettings};

/// Words that occur in training; what lies beyond is for the test alone.
const KNOWN: usize = 400;
/// Types that units have.
const TYPES: usize = 6;

fn answer(words: &[usize], span: Option<usize>) -> Answer {
    let bag = Bag::new(words.iter().flat_map(|number| word(*number)));
    Answer { bag, facts: [0.0; OPTION_FACTS], span: span.map(|unit| unit..unit + 1) }
}

fn question(kind: Kind, fact: Option<usize>) -> Question {
    let mut facts = [0.0; QUESTION_FACTS];
    fact.into_iter().for_each(|fact| facts[fact] = 1.0);
    Question { kind, bag: Bag::default(), facts }
}

/// A request of `count` words of which each has another type, the first ones twice; words are drawn from `from` on.
fn request(stream: &mut Stream, count: usize, from: usize) -> (Vec<usize>, Vec<Unit>) {
    let first = below(stream, TYPES);
    let words: Vec<usize> = (0..count).map(|_| from + below(stream, KNOWN)).collect();
    let unit = |(place, number): (usize, &usize)| Unit {
        bag: Bag::new(word(*number)),
        types: 1 << ((first + place * 5) % TYPES),
    };
    let units = words.iter().enumerate().map(unit).collect();
    (words, units)
}

/// Copy the word of the type that is asked for; which fact asks for which type is to be learnt.
fn copy(stream: &mut Stream, from: usize) -> Play {
    let count = 3 + below(stream, 4);
    let (words, units) = request(stream, count, from);
    let wanted = below(stream, units.len());
    let kind = units[wanted].types.trailing_zeros() as usize;
    let answers = words.iter().enumerate().map(|(place, _)| answer(&[], Some(place))).collect();
    let choice = Choice { question: question(Kind::Slot, Some(kind)), answers, past: [].into() };
    Play { units: units.into(), choices: vec![Taken { choice, answer: wanted }] }
}

/// Take the tool one of whose three words the request has.
fn tool(stream: &mut Stream, from: usize) -> Play {
    let count = 4 + below(stream, 4);
    let (words, units) = request(stream, count, from);
    let wanted = below(stream, 6);
    let answers = (0..6).map(|place| {
        // Drawn apart from the words of requests, so that no other tool shares one.
        let mut own: Vec<usize> = (0..3).map(|_| from + KNOWN + below(stream, KNOWN)).collect();
        if place == wanted {
            own[place % 3] = words[place % words.len()];
        }
        answer(&own, None)
    });
    let answers = answers.collect();
    let choice = Choice { question: question(Kind::Act, None), answers, past: [].into() };
    Play { units: units.into(), choices: vec![Taken { choice, answer: wanted }] }
}

/// The share of the choices in which what is likeliest is what is right.
fn right(net: &PointerNet, plays: &[Play]) -> f64 {
    let mut scorer = net.scorer().unwrap();
    let hits = plays.iter().filter(|play| {
        let taken = &play.choices[0];
        let mut request = scorer.encode(&play.units).unwrap();
        let scores = scorer.score(&mut request, &taken.choice).unwrap();
        scores.iter().enumerate().all(|(place, score)| place == taken.answer || *score < scores[taken.answer])
    });
    hits.count() as f64 / plays.len() as f64
}

fn draw(rule: fn(&mut Stream, usize) -> Play, count: usize, seed: u64, from: usize) -> Vec<Play> {
    let mut stream = Stream::numbered(seed, 3);
    (0..count).map(|_| rule(&mut stream, from)).collect()
}

#[test]
fn rules_are_learnt_and_hold_for_what_was_never_seen() {
    let mut net = PointerNet::new(Shape::phone(), 2).unwrap();
    let samples = [draw(copy, 600, 1, 0), draw(tool, 600, 2, 0)].concat();
    let examples = Examples::new::<PointerNet>(samples).unwrap();
    let decay = Decay::Cosine { steps: 300, floor: 0.1 };
    let optimizer = AdamWConfig::new(Schedule { peak: 2e-3, warmup_steps: 20, decay });
    let settings = FitSettings { seed: 4, batch: 32, epochs: 8, optimizer };
    let mut fit = Fit::new(settings, &net, &examples).unwrap();
    let mut last = None;
    while let Some(record) = fit.step(&mut net, &examples).unwrap() {
        last = Some(record.loss);
    }
    let unseen = 2 * KNOWN;
    let shares = [
        ("copies, drawn anew", draw(copy, 300, 11, 0)),
        ("copies of words never seen", draw(copy, 300, 12, unseen)),
        ("tools, drawn anew", draw(tool, 300, 13, 0)),
        ("tools never seen, by words never seen", draw(tool, 300, 14, unseen)),
    ]
    .map(|(name, plays)| (name, right(&net, &plays)));
    println!("loss {last:?}: {shares:?}");
    assert!(shares.iter().all(|(_, share)| *share > 0.95), "{shares:?}");
}
