//! Consequence 8: what the uncalibrated advantage breaks shrinks with G, since a group is saturated with chance p^G.
//!
//! A policy of four chances learns two kinds of task. Each has three settings. Before each, the policy may think, which is waste; after each it may
//! verify, which costs as much and mends a setting that failed silently: one in 200 on reliable tasks, one in ten on fragile ones. Economy is worth
//! something on both, verification on fragile tasks alone.

use std::num::NonZeroU64;

use rand_chacha::ChaCha8Rng;
use rand_core::{Rng as _, SeedableRng as _};

use super::*;

const SETTINGS: usize = 3;
const GROUPS_PER_STEP: u64 = 16;
const STEPS: i32 = 150;
const LEARNING_RATE: f64 = 0.05;
/// Chance of a silent failure: reliable, fragile.
const FAILURE: [f64; 2] = [0.005, 0.1];
const FRAGILE: usize = 1;

/// Logits of thinking and of verifying, for reliable and for fragile tasks.
type Policy = [[f64; 2]; 2];

fn chance(logit: f64) -> f64 {
    1.0 / (1.0 + (-logit).exp())
}

struct Dice(ChaCha8Rng);

impl Dice {
    fn falls(&mut self, chance: f64) -> bool {
        f64::from(self.0.next_u32()) / f64::from(u32::MAX) < chance
    }
}

/// One trajectory: what was measured, and the gradient of its log-probability.
fn play(policy: &[f64; 2], failure: f64, dice: &mut Dice) -> (Measured, [f64; 2]) {
    let (mut tokens, mut set, mut gradient) = (0, 0, [0.0; 2]);
    for _ in 0..SETTINGS {
        // Reading, setting and going on.
        tokens += 3;
        let mut done = !dice.falls(failure);
        for (action, logit) in policy.iter().enumerate() {
            let chosen = dice.falls(chance(*logit));
            gradient[action] += f64::from(u8::from(chosen)) - chance(*logit);
            tokens += u64::from(chosen);
            done |= chosen && action == 1;
        }
        set += usize::from(done);
    }
    let cost = cost_of(tokens, NonZeroU64::new(24).unwrap());
    (Measured { success: set == SETTINGS, progress: set as f64 / SETTINGS as f64, cost }, gradient)
}

/// Success on fragile tasks, exactly, after training with groups of so many members.
fn fragile_success(estimator: Estimator, members: usize) -> f64 {
    let scheme = Scheme { estimator, phi: phi(0.1, 0.2, 0.3, 0.8), options: Options::default() };
    let mut dice = Dice(ChaCha8Rng::from_seed([7; 32]));
    // A verbose start: it thinks in three cases of four and verifies in nine of ten.
    let mut policy: Policy = [[1.1, 2.2]; 2];
    let (mut first, mut second) = ([[0.0; 2]; 2], [[0.0; 2]; 2]);
    for step in 1..=STEPS {
        let mut gradients = Vec::new();
        let groups: Vec<_> = (0..GROUPS_PER_STEP)
            .map(|id| {
                let kind = usize::from(id % 2 == 1);
                let (slots, rows): (Vec<_>, Vec<_>) = (0..members)
                    .map(|_| play(&policy[kind], FAILURE[kind], &mut dice))
                    .map(|(measured, gradient)| (Member::new(measured), gradient))
                    .unzip();
                gradients.push((kind, rows));
                Group::new(GroupId(id), GroupSize::new(members).unwrap(), slots).unwrap()
            })
            .collect();
        let assignment = scheme.assign(&groups).unwrap();
        let mut ascent = [[0.0; 2]; 2];
        for (group, (kind, rows)) in assignment.groups().iter().zip(&gradients) {
            for (credit, row) in group.credits().zip(rows) {
                for action in 0..2 {
                    ascent[*kind][action] += credit.advantage * row[action] / (members as f64 * GROUPS_PER_STEP as f64);
                }
            }
        }
        for kind in 0..2 {
            for action in 0..2 {
                let gradient = ascent[kind][action];
                let (first, second) = (&mut first[kind][action], &mut second[kind][action]);
                *first = 0.9 * *first + 0.1 * gradient;
                *second = 0.999 * *second + 0.001 * gradient * gradient;
                let (first, second) = (*first / (1.0 - 0.9f64.powi(step)), *second / (1.0 - 0.999f64.powi(step)));
                policy[kind][action] += LEARNING_RATE * first / (second.sqrt() + 1e-8);
            }
        }
    }
    (1.0 - FAILURE[FRAGILE] * (1.0 - chance(policy[FRAGILE][1]))).powi(3)
}

#[test]
fn larger_groups_hide_the_harm_and_calibration_takes_it_away() {
    let uncalibrated = [4, 8, 32].map(|members| fragile_success(Estimator::CareUncalibrated, members));
    let calibrated = [4, 8, 32].map(|members| fragile_success(Estimator::Care, members));
    println!("uncalibrated {uncalibrated:?}, calibrated {calibrated:?}");
    assert!(uncalibrated[0] < 0.85 && uncalibrated[2] > 0.95, "{uncalibrated:?}");
    assert!(uncalibrated.is_sorted(), "{uncalibrated:?}");
    assert!(calibrated.iter().all(|success| *success > 0.98), "{calibrated:?}");
}

#[test]
fn the_same_seed_learns_the_same() {
    let [first, second] = [(); 2].map(|()| fragile_success(Estimator::Care, 4));
    assert_eq!(first.to_bits(), second.to_bits());
}
