use super::*;

fn step(trainer: &mut Trainer<Decoder>, native: &mut Native) -> StepRecord {
    trainer.step(native, &Still).unwrap()
}

#[test]
fn a_step_moves_the_weights_and_says_what_it_did() {
    let mut native = Native::default();
    let mut trainer = trainer(settings(Estimator::Care, 1), &native);
    let before = trainer.policy().digest().unwrap();
    let record = step(&mut trainer, &mut native);
    assert_eq!((record.step, &record.outcome, record.episodes, record.groups_trained), (1, &Outcome::Updated, 16, 4));
    assert_eq!(record.counters.kept, 4);
    let shares = [record.progress, record.consolidation, record.efficiency].map(|regime| regime.share.unwrap());
    assert!((shares.iter().sum::<f64>() - 1.0).abs() < 1e-12);
    // On policy: sampler and trainer agree, and neither clip nor cap is at work.
    let figures = record.figures.unwrap();
    assert!(figures.mismatch_kl_mean < 1e-9 && figures.clipped == 0 && figures.truncated == 0, "{figures:?}");
    assert!(record.update.unwrap().gradient_norm > 0.0 && record.tokens.unwrap() > 1.0);
    assert_eq!(record.stale_tokens, 0);
    let after = trainer.policy().digest().unwrap();
    assert_ne!(before, after);
    assert_eq!(record.policy, after.to_string());
    let line = serde_json::to_string(&record).unwrap();
    assert!(line.contains("\"outcome\":\"updated\"") && line.contains("\"gradient_norm\"") && !line.contains('\n'));
}

#[test]
fn the_same_tasks_come_to_every_arm_and_all_of_them_in_each_round() {
    let orders = |estimator| {
        let mut native = Native::default();
        let mut trainer = trainer(settings(estimator, 9), &native);
        (0..4).for_each(|_| drop(step(&mut trainer, &mut native)));
        native.orders
    };
    let (one, other) = (orders(Estimator::Care), orders(Estimator::Vanilla));
    assert_eq!(one, other);
    let tasks: Vec<usize> = one.iter().flat_map(|order| order.groups.iter().map(|group| group.task)).collect();
    for round in tasks.chunks(TASKS) {
        let mut round = round.to_vec();
        round.sort_unstable();
        assert_eq!(round, (0..TASKS).collect::<Vec<_>>());
    }
    assert_ne!(tasks[..TASKS], tasks[TASKS..], "each round has an order of its own");
    let seeds: std::collections::BTreeSet<u64> = one.iter().map(|order| order.seed).collect();
    assert_eq!(seeds.len(), 4);
}

#[test]
fn a_step_that_is_all_void_is_counted_and_changes_nothing() {
    let mut native = Native { void: Box::new(|_, _, _| true), ..Native::default() };
    let mut trainer = trainer(Settings { refills_max: 2, ..settings(Estimator::Care, 1) }, &native);
    let before = trainer.policy().digest().unwrap();
    let record = step(&mut trainer, &mut native);
    assert_eq!((record.step, record.outcome, record.refills, record.success), (1, Outcome::AllVoid, 2, None));
    assert_eq!((record.counters.all_void, record.counters.void, record.groups_trained), (12, 48, 0));
    assert_eq!((trainer.steps(), native.orders.len()), (1, 3), "refills are bounded");
    assert_eq!(trainer.policy().digest().unwrap(), before);
    assert!(trainer.checkpoint().is_ok());
    // The next step goes on behind what was given up.
    native.void = Box::new(|_, _, _| false);
    step(&mut trainer, &mut native);
    assert_eq!(native.orders[3].groups[0].id.0, 12);
}

#[test]
fn dropped_groups_are_refilled_and_members_that_are_left_are_trained() {
    // In the first order one group loses all but one member, another loses one.
    let void: Box<Fails> =
        Box::new(|order, group, slot| order.groups[0].id.0 == 0 && (group == 0 && slot > 0 || group == 1 && slot == 0));
    let mut native = Native { void, ..Native::default() };
    let mut trainer = trainer(Settings { refills_max: 3, ..settings(Estimator::Care, 1) }, &native);
    let record = step(&mut trainer, &mut native);
    assert_eq!((record.refills, native.orders[1].groups.len(), native.orders[1].groups[0].id.0), (1, 1, 4));
    let counters = record.counters;
    assert_eq!((counters.groups, counters.too_small, counters.kept), (5, 1, 4));
    assert_eq!((counters.void, counters.dropped, counters.assigned), (4, 1, 15));
    assert_eq!(record.groups_trained, 4);
}

#[test]
fn a_step_in_which_nothing_differs_is_empty() {
    let same = |measured: Measured| Measured { success: true, cost: 0.5, ..measured };
    let mut native = Native { measure: Box::new(same), ..Native::default() };
    let silent = Settings { refills_max: 1, refill_on: RefillOn::Silent, ..settings(Estimator::Care, 1) };
    let mut trainer = trainer(silent, &native);
    let before = trainer.policy().digest().unwrap();
    let record = step(&mut trainer, &mut native);
    assert_eq!((record.outcome, record.counters.degenerate, record.refills), (Outcome::Empty, 8, 1));
    assert_eq!((record.success, record.loss), (Some(1.0), None));
    assert_eq!(trainer.policy().digest().unwrap(), before);
    assert_eq!(record.groups_trained, 8, "they were compared, and need not come again");
}

#[test]
fn measures_that_are_not_finite_are_void() {
    let mut native = Native {
        measure: Box::new(
            |measured| if measured.progress < 0.5 { Measured { cost: f64::NAN, ..measured } } else { measured },
        ),
        ..Native::default()
    };
    let mut trainer = trainer(settings(Estimator::Care, 1), &native);
    let record = step(&mut trainer, &mut native);
    assert!(record.counters.void_not_finite > 0);
    assert_eq!(record.counters.void, record.counters.void_not_finite);
}

#[test]
fn a_step_that_is_not_finite_is_refused_and_makes_no_checkpoint() {
    let mut native = Native::default();
    let mut trainer = trainer(settings(Estimator::Care, 1), &native);
    step(&mut trainer, &mut native);
    let (before, kept) = (trainer.policy().digest().unwrap(), trainer.checkpoint().unwrap());
    native.mend = Box::new(|recording| recording.log_probs.iter_mut().for_each(|value| *value = f32::NAN));
    let record = step(&mut trainer, &mut native);
    let Outcome::Refused { reason } = &record.outcome else { panic!("{:?}", record.outcome) };
    assert!(reason.contains("has no term"), "{reason}");
    assert_eq!((record.step, trainer.policy().digest().unwrap()), (2, before));
    let error = trainer.checkpoint().unwrap_err();
    assert!(format!("{error:?}").contains("NotFinite"), "{error:?}");
    // A good step heals it, and the moments were never touched.
    native.mend = Box::new(|_| {});
    step(&mut trainer, &mut native);
    let healed = trainer.checkpoint().unwrap();
    assert_ne!(healed.parts(), kept.parts());
    // Too many in a row end the run.
    native.mend = Box::new(|recording| recording.log_probs.iter_mut().for_each(|value| *value = f32::INFINITY));
    for _ in 1..REFUSED_IN_A_ROW_MAX {
        step(&mut trainer, &mut native);
    }
    let error = trainer.step(&mut native, &Still).unwrap_err();
    assert!(matches!(error, TrainError::Stuck { steps: REFUSED_IN_A_ROW_MAX, .. }), "{error}");
}

#[test]
fn an_update_that_overflows_leaves_weights_and_moments_as_they_were() {
    let mut native = Native::default();
    // So large a rate that the weights leave f32 in the second of two passes at the latest.
    let optimizer = AdamWConfig::new(Schedule::constant(1e38));
    let mut trainer = trainer(Settings { epochs: 2, optimizer, ..settings(Estimator::Care, 1) }, &native);
    let before = trainer.policy().digest().unwrap();
    let record = step(&mut trainer, &mut native);
    assert!(matches!(record.outcome, Outcome::Refused { .. }), "{:?}", record.outcome);
    assert_eq!(trainer.policy().digest().unwrap(), before);
    assert!(record.update.is_none());
}

#[test]
fn samples_of_an_old_policy_are_masked_and_keep_their_part_in_the_baseline() {
    let mut native = Native::default();
    let old = trainer(settings(Estimator::Care, 1), &native).policy().digest().unwrap();
    let with = |stale_updates_max| Settings { stale_updates_max, ..settings(Estimator::Care, 1) };
    for (bound, updates, masked) in [(0, 1, true), (1, 1, false), (1, 2, true)] {
        native.mend = Box::new(|_| {});
        let mut trainer = trainer(with(bound), &native);
        (0..updates).for_each(|_| drop(step(&mut trainer, &mut native)));
        native.mend = Box::new(move |recording| recording.policy = old);
        let record = step(&mut trainer, &mut native);
        assert_eq!(record.stale_tokens > 0, masked, "{bound} {updates}");
        assert_eq!(record.outcome == Outcome::Empty, masked);
        assert_eq!(record.counters.assigned, 16);
    }
}

#[test]
fn several_passes_bring_the_clip_into_play() {
    let after = |epochs, clip| {
        let mut native = Native::default();
        let base = settings(Estimator::Care, 1);
        let values = SurrogateValues { clip_low: clip, clip_high: clip, ..*base.surrogate.values() };
        let optimizer = AdamWConfig::new(Schedule::constant(0.05));
        let settings = Settings { epochs, optimizer, surrogate: Surrogate::new(values).unwrap(), ..base };
        let mut trainer = trainer(settings, &native);
        let record = step(&mut trainer, &mut native);
        assert_eq!((record.update.unwrap().step, record.outcome), (u64::from(epochs), Outcome::Updated));
        (trainer.policy().digest().unwrap(), record.loss.unwrap())
    };
    // In the first pass the policy is the one that sampled: every ratio is 1, and no clip holds, however narrow.
    assert_eq!(after(1, 0.02), after(1, 0.9));
    // Afterwards it holds: a narrow one leaves less to be gained, and other weights.
    let ((narrow, tight), (wide, loose)) = (after(4, 0.02), after(4, 0.9));
    assert_ne!(narrow, wide);
    assert!(tight > loose + 1e-4, "{tight} against {loose}");
}

#[test]
fn an_update_that_is_not_wanted_any_more_is_dropped_and_can_be_made_again() {
    let of = |drops: &[u32]| {
        let mut native = Native::default();
        let mut trainer = trainer(Settings { epochs: 2, ..settings(Estimator::Care, 1) }, &native);
        step(&mut trainer, &mut native);
        let before = trainer.checkpoint().unwrap();
        // Before the first pass, and in the second one: after the weights moved.
        for looks in drops {
            let left = std::cell::Cell::new(*looks);
            native.wanted = Box::new(move || left.replace(left.get().saturating_sub(1)) > 0);
            let error = trainer.step(&mut native, &Still).unwrap_err();
            assert!(matches!(error, TrainError::Dropped { step: 2 }), "{error}");
            assert_eq!(trainer.checkpoint().unwrap().parts(), before.parts());
        }
        native.wanted = Box::new(|| true);
        step(&mut trainer, &mut native);
        trainer.checkpoint().unwrap()
    };
    assert_eq!(of(&[0, 1]).parts(), of(&[]).parts());
}

#[test]
fn a_recording_that_does_not_fit_its_sample_is_refused() {
    let mut native = Native { mend: Box::new(|recording| recording.log_probs.truncate(0)), ..Native::default() };
    let mut trainer = trainer(settings(Estimator::Vanilla, 1), &native);
    let error = trainer.step(&mut native, &Still).unwrap_err();
    assert!(matches!(error, TrainError::Recording { slot: 0, .. }), "{error}");
    assert_eq!(trainer.steps(), 0);
}

/// A port that fails, or returns other groups than were ordered.
struct Broken(Native, Option<usize>);

impl Rollouts<Decoder> for Broken {
    fn source(&self) -> Source {
        self.0.source()
    }

    fn roll(&mut self, policy: &Decoder, order: &Order) -> Result<Vec<Rolled<Sequence>>, RolloutFault> {
        let keep = self.1.ok_or_else(|| RolloutFault { what: "the engine is gone".into() })?;
        let mut rolled = self.0.roll(policy, order)?;
        rolled.truncate(keep);
        rolled.iter_mut().for_each(|group| group.members.truncate(keep));
        Ok(rolled)
    }
}

#[test]
fn a_port_that_does_not_do_as_it_is_told_leaves_the_trainer_as_it_was() {
    for (keep, expected) in [(None, "the rollouts of step 1"), (Some(3), "are not what was ordered")] {
        let mut broken = Broken(Native::default(), keep);
        let mut trainer = trainer(settings(Estimator::Care, 1), &broken.0);
        let before = trainer.checkpoint().unwrap();
        let error = trainer.step(&mut broken, &Still).unwrap_err().to_string();
        assert!(error.contains(expected), "{error}");
        assert_eq!(trainer.checkpoint().unwrap().parts(), before.parts());
    }
    // All groups, each a member short.
    let mut short = Broken(Native::default(), Some(3));
    let mut trainer = trainer(Settings { groups: 3, ..settings(Estimator::Care, 1) }, &short.0);
    let error = trainer.step(&mut short, &Still).unwrap_err().to_string();
    assert!(error.contains("has 3 slots, expected 4"), "{error}");
}

/// With so much KL in the loss.
pub(super) fn pulled(beta: f64) -> Settings {
    let base = settings(Estimator::Care, 1);
    let values = SurrogateValues { beta, ..*base.surrogate.values() };
    Settings { surrogate: Surrogate::new(values).unwrap(), ..base }
}

/// The mean of exp(r) - 1 - r over the choices of some sequences, r = ln reference - ln policy: how far a policy is from another one.
fn distance(policy: &Decoder, reference: &Decoder) -> f64 {
    let sequences = crate::sft::tests::demonstrations(32);
    let [policy, reference] = [policy, reference].map(|decoder| Policy::log_probs(decoder, &sequences).unwrap());
    let terms = policy.iter().zip(&reference).map(|(policy, reference)| {
        let r = f64::from(*reference) - f64::from(*policy);
        r.exp() - 1.0 - r
    });
    terms.sum::<f64>() / policy.len() as f64
}

#[test]
fn the_kl_pulls_back_to_the_reference() {
    let after = |reference: Option<u64>, beta| {
        let mut native = Native::default();
        let mut trainer = Trainer::new(decoder(1), reference.map(decoder), pulled(beta), &native).unwrap();
        let records: Vec<StepRecord> = (0..8).map(|_| step(&mut trainer, &mut native)).collect();
        let (own, other) = (decoder(1), decoder(2));
        (distance(trainer.policy(), &own), distance(trainer.policy(), &other), records)
    };
    let (own, other, records) = after(None, 0.0);
    assert!(records.iter().all(|record| record.figures.unwrap().kl_mean == 0.0), "there is nothing to measure against");
    // Towards where it began: it goes less far. Towards another policy: it goes nearer than it went by itself. More of it does more.
    let mut before = (own, other);
    for beta in [0.2, 1.0] {
        let (near, _, records) = after(Some(1), beta);
        assert_eq!(records[0].figures.unwrap().kl_mean, 0.0, "in the first step it is the reference");
        assert!(records[7].figures.unwrap().kl_mean > 0.0);
        let (_, nearer, records) = after(Some(2), beta);
        assert!(records[0].figures.unwrap().kl_mean > 0.0);
        assert!(near < before.0 && nearer < before.1, "{beta}: {near} and {nearer}, before {before:?}");
        before = (near, nearer);
    }
}

#[test]
fn a_reference_goes_with_a_weight_above_nothing_and_with_no_other() {
    let native = Native::default();
    assert!(matches!(Trainer::new(decoder(1), None, pulled(0.5), &native), Err(TrainError::Reference { .. })));
    assert!(matches!(
        Trainer::new(decoder(1), Some(decoder(1)), pulled(0.0), &native),
        Err(TrainError::Reference { .. })
    ));
}

#[test]
fn settings_without_meaning_are_refused() {
    let native = Native::default();
    let base = settings(Estimator::Care, 1);
    for bad in [
        Settings { groups: 0, ..base.clone() },
        Settings { groups: GROUPS_MAX + 1, ..base.clone() },
        Settings { epochs: 0, ..base.clone() },
        Settings { refills_max: REFILLS_MAX + 1, ..base.clone() },
        Settings { stale_updates_max: STALE_UPDATES_MAX + 1, ..base.clone() },
    ] {
        assert!(matches!(Trainer::new(decoder(1), None, bad, &native), Err(TrainError::Settings(_))));
    }
    let mut empty = Native::default();
    empty.source.tasks.clear();
    assert!(matches!(Trainer::new(decoder(1), None, base, &empty), Err(TrainError::NoTasks)));
}

/// From a verbose cold start, the schedule spends less and keeps succeeding; without calibration it spends less still.
#[test]
fn from_a_cold_start_care_spends_less_than_vanilla() {
    use crate::sft::{Examples, Fit, FitSettings};
    let examples = Examples::new::<Decoder>(crate::sft::tests::demonstrations(512)).unwrap();
    let mut start = Decoder::new(shape(), 100).unwrap();
    let optimizer = AdamWConfig::new(Schedule::constant(3e-3));
    let mut fit = Fit::new(FitSettings { seed: 100, batch: 64, epochs: 8, optimizer }, &start, &examples).unwrap();
    while fit.step(&mut start, &examples).unwrap().is_some() {}
    let weights = start.parameters().to_bytes().unwrap();
    let arm = |estimator| {
        let (groups, members) = (16, GroupSize::new(8).unwrap());
        let denominator = Denominator::Constant { groups, group_size: members, token_budget: BUDGET as usize };
        let surrogate = Surrogate::usual(denominator).unwrap();
        let optimizer = AdamWConfig { weight_decay: 0.0, ..AdamWConfig::new(Schedule::constant(2e-3)) };
        let settings = Settings { groups, members, surrogate, optimizer, ..settings(estimator, 100) };
        let mut native = Native::default();
        let policy = Decoder::from_bytes(shape(), &weights).unwrap();
        let mut trainer = Trainer::new(policy, None, settings, &native).unwrap();
        let records: Vec<StepRecord> = (0..STEPS_OF_ARM).map(|_| step(&mut trainer, &mut native)).collect();
        let last = &records[records.len() - 5..];
        let mean = |of: fn(&StepRecord) -> f64| last.iter().map(of).sum::<f64>() / last.len() as f64;
        let (success, tokens) = (mean(|record| record.success.unwrap()), mean(|record| record.tokens.unwrap()));
        let first = &records[0];
        println!(
            "{estimator:?}: {:.3} {:.2} to {success:.3} {tokens:.2}, rms {:?}",
            first.success.unwrap(),
            first.tokens.unwrap(),
            first.efficiency.advantage_rms
        );
        (success, tokens)
    };
    let (vanilla, care) = (arm(Estimator::Vanilla), arm(Estimator::Care));
    assert!(care.1 < vanilla.1 - 1.0, "{care:?} against {vanilla:?}");
    assert!(care.0 > 0.9, "{care:?}");
}

/// Enough for the sign, at a few seconds of one core.
const STEPS_OF_ARM: usize = 25;
