use std::collections::BTreeSet;
use std::ops::Range;
use std::process::Command;

use candle_core::Tensor;
use sha2::{Digest, Sha256};

use super::slow::Slow;
use super::{choices, decided, plays, small};
use crate::nn::{AdamW, AdamWConfig, Gradients, Schedule, negative_log_likelihood};
use crate::pointer::net::{PART_ANSWERS, PointerNet, Shape};
use crate::pointer::{Answer, BUCKETS, Bag, Play};
use crate::rl::Policy;

fn weight(place: usize) -> f32 {
    if place.is_multiple_of(3) { -0.5 } else { 1.0 }
}

/// The gradients of a loss with weights of both signs.
fn gradients(net: &PointerNet, plays: &[Play]) -> Gradients {
    let count = choices(plays) as f64;
    let loss = |chosen: &Tensor, range: Range<usize>| {
        negative_log_likelihood(chosen, &range.map(weight).collect::<Vec<_>>(), count)
    };
    net.gradients(plays, loss).unwrap()
}

fn slow_loss(slow: &Slow, plays: &[Play]) -> f64 {
    let chosen: Vec<f64> = plays.iter().flat_map(|play| slow.log_probs(play)).collect();
    let sum: f64 = chosen.iter().enumerate().map(|(place, value)| f64::from(weight(place)) * value).sum();
    -sum / chosen.len() as f64
}

/// Rows of the table that some play names.
fn named(plays: &[Play]) -> BTreeSet<usize> {
    let bags = plays.iter().flat_map(|play| {
        let choices = play.choices.iter().flat_map(|taken| {
            let answers = taken.choice.answers.iter().map(|answer: &Answer| &answer.bag);
            answers.chain([&taken.choice.question.bag]).chain(taken.choice.past.iter().map(|past| &past.bag))
        });
        choices.chain(play.units.iter().map(|unit| &unit.bag)).collect::<Vec<&Bag>>()
    });
    bags.flat_map(|bag| bag.grams().iter().map(|gram| *gram as usize)).collect()
}

#[test]
fn every_gradient_agrees_with_finite_differences_of_the_slow_network() {
    let net = decided(small());
    let plays = plays(5, 2);
    let ours = gradients(&net, &plays);
    let mut slow = Slow::new(small(), net.parameters());
    let theirs = slow_loss(&slow, &plays);
    assert!((ours.loss() - theirs).abs() < 1e-5, "{} against {theirs}", ours.loss());
    let (named, step) = (named(&plays), 1e-5);
    for (slot, gradient) in net.parameters().slots().iter().zip(ours.values()) {
        let name = slot.name.replace(".weight", "");
        let width = slot.shape.last().copied().unwrap();
        for (place, found) in gradient.iter().enumerate() {
            if name == "embed" && !named.contains(&(place / width)) {
                assert_eq!(*found, 0.0, "row {} occurs nowhere", place / width);
                continue;
            }
            if name == "embed" && place % 7 != 0 {
                continue;
            }
            let mut at = |shift: f64| {
                slow.weights.get_mut(&name).unwrap()[place] += shift;
                let loss = slow_loss(&slow, &plays);
                slow.weights.get_mut(&name).unwrap()[place] -= shift;
                loss
            };
            let expected = (at(step) - at(-step)) / (2.0 * step);
            assert!(
                (f64::from(*found) - expected).abs() < 2e-5 * (1.0 + expected.abs()),
                "{name} at {place}: {found} against {expected}"
            );
        }
    }
}

#[test]
fn after_one_step_every_weight_has_had_a_gradient_and_moved() {
    for shape in [small(), Shape::phone()] {
        let mut net = PointerNet::new(shape, 3).unwrap();
        let gradients = gradients(&net, &plays(12, 4));
        for (slot, values) in net.parameters().slots().iter().zip(gradients.values()) {
            assert!(values.iter().all(|value| value.is_finite()), "{}", slot.name);
            assert!(values.iter().any(|value| *value != 0.0), "{} has a gradient of zeros", slot.name);
        }
        let before = net.parameters().values().unwrap();
        let mut adam = AdamW::new(AdamWConfig::new(Schedule::constant(1e-3)), net.parameters()).unwrap();
        adam.step(net.parameters_mut(), &gradients).unwrap();
        let after = net.parameters().values().unwrap();
        for ((before, after), slot) in before.iter().zip(&after).zip(net.parameters().slots()) {
            assert_ne!(before, after, "{}", slot.name);
        }
    }
}

/// No unit, no earlier call, no word, no span: nothing to read, and gradients all the same.
#[test]
fn a_play_of_nothing_but_a_choice_is_scored() {
    let net = PointerNet::new(small(), 3).unwrap();
    let mut play = plays(5, 9).swap_remove(4);
    assert!(play.units.is_empty());
    for taken in &mut play.choices {
        taken.choice.past = [].into();
        taken.choice.question.bag = Bag::default();
        taken.choice.answers.iter_mut().for_each(|answer| answer.bag = Bag::default());
    }
    let found = gradients(&net, std::slice::from_ref(&play));
    let slow = slow_loss(&Slow::new(small(), net.parameters()), &[play]);
    assert!((found.loss() - slow).abs() < 1e-5 && found.norm() > 0.0);
}

#[test]
fn the_phone_policy_has_its_size() {
    let net = PointerNet::new(Shape::phone(), 1).unwrap();
    assert_eq!(net.parameters().count(), 708_016);
    assert!(net.parameters().to_bytes().unwrap().len() < 4_000_000);
    let table = &net.parameters().slots()[0];
    assert_eq!((table.name.as_str(), table.shape.as_slice()), ("embed.weight", &[BUCKETS as usize, 64][..]));
}

#[test]
fn a_fresh_policy_is_nearly_indifferent() {
    let net = PointerNet::new(Shape::phone(), 1).unwrap();
    let plays = plays(40, 3);
    let answers = plays.iter().flat_map(|play| play.choices.iter().map(|taken| taken.choice.answers.len() as f64));
    let even: f64 = answers.map(|count| -count.ln()).sum();
    let found: f64 = net.log_probs(&plays).unwrap().iter().map(|value| f64::from(*value)).sum();
    assert!((found / even - 1.0).abs() < 0.15, "{found} against {even}");
}

#[test]
fn a_digest_names_shape_and_weights() {
    let digest = |shape: Shape, seed: u64| PointerNet::new(shape, seed).unwrap().digest().unwrap();
    assert_eq!(digest(small(), 1), digest(small(), 1));
    assert_ne!(digest(small(), 1), digest(small(), 2));
    // The same weights, cut into other heads.
    assert_ne!(digest(small(), 1), digest(Shape { heads: 1, ..small() }, 1));
    let net = PointerNet::new(small(), 1).unwrap();
    let again = PointerNet::from_bytes(small(), &net.parameters().to_bytes().unwrap()).unwrap();
    assert_eq!(Policy::digest(&net).unwrap(), again.digest().unwrap());
    let wider = PointerNet::new(Shape { width: 16, ..small() }, 1).unwrap();
    assert_ne!(net.architecture(), wider.architecture());
}

#[test]
fn a_batch_scores_as_its_parts_do() {
    let net = decided(Shape::phone());
    let plays = plays(40, 5);
    let together = net.log_probs(&plays).unwrap();
    let alone: Vec<f32> = plays.iter().flat_map(|play| net.log_probs(std::slice::from_ref(play)).unwrap()).collect();
    assert_eq!(together, alone);
    assert_eq!(together.len(), choices(&plays));
    let mut backwards: Vec<Play> = plays.clone();
    backwards.reverse();
    let mut parts = net.log_probs(&backwards).unwrap();
    for play in &plays {
        let own = parts.split_off(parts.len() - play.choices.len());
        assert_eq!(own, net.log_probs(std::slice::from_ref(play)).unwrap());
    }
}

#[test]
fn gradients_of_parts_are_those_of_the_batch() {
    let net = decided(small());
    let mut plays = plays(700, 5);
    // Plays without a choice, at both ends and in the middle.
    let given = Play { units: plays[0].units.clone(), choices: Vec::new() };
    plays.splice(300..300, std::iter::repeat_n(given.clone(), 9));
    plays.insert(0, given.clone());
    plays.push(given.clone());
    let ranges = std::cell::RefCell::new(Vec::new());
    let count = choices(&plays);
    let whole = net
        .gradients(&plays, |chosen, range| {
            ranges.borrow_mut().push(range.clone());
            negative_log_likelihood(chosen, &range.map(weight).collect::<Vec<_>>(), count as f64)
        })
        .unwrap();
    assert_eq!(whole.values(), gradients(&net, &plays).values(), "repeated to the bit");
    let ranges = ranges.into_inner();
    let answers: usize =
        plays.iter().flat_map(|play| play.choices.iter().map(|taken| taken.choice.answers.len())).sum();
    assert!(answers > PART_ANSWERS && ranges.len() > 1, "{answers} answers in {ranges:?}");
    assert!(ranges[0].start == 0 && ranges[ranges.len() - 1].end == count);
    assert!(ranges.windows(2).all(|pair| pair[0].end == pair[1].start), "{ranges:?}");
    let (mut sum, mut start): (Option<Gradients>, usize) = (None, 0);
    for part in plays.chunks(50) {
        let from = start;
        start += choices(part);
        let loss = |chosen: &Tensor, range: Range<usize>| {
            let weights: Vec<f32> = range.map(|place| weight(from + place)).collect();
            negative_log_likelihood(chosen, &weights, count as f64)
        };
        let part = net.gradients(part, loss).unwrap();
        match &mut sum {
            Some(sum) => sum.add(&part).unwrap(),
            None => sum = Some(part),
        }
    }
    let sum = sum.unwrap();
    assert!((sum.loss() - whole.loss()).abs() < 1e-5);
    for (a, b) in sum.values().concat().iter().zip(whole.values().concat()) {
        assert!((a - b).abs() < 1e-5 * (1.0 + b.abs()), "{a} against {b}");
    }
}

#[test]
fn what_is_shared_and_what_is_equal_score_the_same() {
    let net = decided(small());
    let plays = plays(20, 6);
    // The same tables again, with nothing of them shared.
    let mut apart = plays.clone();
    for play in &mut apart {
        for taken in &mut play.choices {
            taken.choice.past = taken.choice.past.to_vec().into();
            for answer in &mut taken.choice.answers {
                answer.bag = Bag::new(answer.bag.grams().to_vec());
            }
        }
    }
    assert_eq!(net.log_probs(&plays).unwrap(), net.log_probs(&apart).unwrap());
}

/// What the digest of a fixed run is written after.
const DIGEST_MARK: &str = "digest of the weights: ";

/// Trains the phone policy for some steps and prints what came out; also run by the next test in processes of its own.
#[test]
fn a_fixed_run_repeats_to_the_bit() {
    let run = || {
        let mut net = PointerNet::new(Shape::phone(), 8).unwrap();
        let mut adam = AdamW::new(AdamWConfig::new(Schedule::constant(1e-3)), net.parameters()).unwrap();
        for step in 0..3 {
            let gradients = gradients(&net, &plays(32, step));
            adam.step(net.parameters_mut(), &gradients).unwrap();
        }
        let digest = Sha256::digest(net.parameters().to_bytes().unwrap());
        digest.iter().map(|byte| format!("{byte:02x}")).collect::<String>()
    };
    let digest = run();
    assert_eq!(digest, run());
    // With the threads of the process by now, those of candle's pool among them.
    let threads = std::fs::read_dir("/proc/self/task").map_or(0, Iterator::count);
    println!("{DIGEST_MARK}{digest} {threads} threads");
}

/// It rests on this: products and sums are our own kernels, on the thread that calls them. What candle spreads over the threads of its pool are
/// operations on single numbers, each of which comes of its own inputs; no sum is split. A sum that candle splits would show here only where the split
/// changes a bit. That there is a pool, and of another size, is checked, or the test would compare a run with itself.
#[test]
fn one_thread_and_two_give_the_same_bits() {
    let with_threads = |threads: &str| {
        let name = "pointer::net::tests::training::a_fixed_run_repeats_to_the_bit";
        let mut command = Command::new(std::env::current_exe().unwrap());
        let output = command.args([name, "--exact", "--nocapture"]).env("RAYON_NUM_THREADS", threads).output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        let (_, rest) = text.split_once(DIGEST_MARK).unwrap_or_else(|| panic!("no digest in: {text}"));
        let (digest, threads) = rest.lines().next().unwrap().split_once(' ').unwrap();
        (digest.to_owned(), threads.trim_end_matches(" threads").parse::<usize>().unwrap())
    };
    let ((one, few), (two, more)) = (with_threads("1"), with_threads("2"));
    assert_eq!(one, two);
    assert!(more == few + 1 || cfg!(not(target_os = "linux")), "{few} and {more} threads");
}
