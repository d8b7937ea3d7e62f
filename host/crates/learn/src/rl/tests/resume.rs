use std::num::NonZeroUsize;
use std::path::Path;
use std::sync::Arc;

use super::*;
use crate::checkpoint::{Checkpoint, Checkpoints, Disk, read_newest};
use crate::control::{Dev, DevValues, Guard, Rule};
use crate::estimate::{Binomial, Level};

fn guard() -> Guard {
    Guard { target: 0.5, level: Level::new(0.95).unwrap() }
}

fn rule() -> Rule {
    Rule { guard: guard() }
}

fn dev(step: u64) -> Option<Dev> {
    let success = Binomial::new(80 + step % 20, 100).unwrap();
    Some(Dev::new(DevValues { success, cost_mean: 0.4 }).unwrap())
}

fn run(trainer: &mut Trainer<Decoder>, native: &mut Native, until: u64) -> Vec<StepRecord> {
    let mut records = Vec::new();
    while trainer.steps() < until {
        records.push(trainer.step(native, &Still).unwrap());
        if trainer.steps().is_multiple_of(3) {
            trainer.consult(&mut rule(), dev(trainer.steps())).unwrap().unwrap();
        }
    }
    records
}

fn saved(trainer: &Trainer<Decoder>, folder: &Path) -> Checkpoint {
    let mut checkpoints = Checkpoints::open(Arc::new(Disk), folder.join("c"), NonZeroUsize::MIN).unwrap();
    checkpoints.write(trainer.steps(), &trainer.checkpoint().unwrap()).unwrap();
    read_newest(&Disk, &folder.join("c")).unwrap().unwrap().checkpoint
}

fn native() -> Native {
    Native::default()
}

/// A world in which every other member is void, by the order's seed: the same ones when an order is repeated, and others when a step sends out again.
fn lossy() -> Native {
    Native { void: Box::new(|order, group, slot| order.seed >> (8 * group + slot) & 1 == 1), ..Native::default() }
}

/// Takes some steps in one go, and the same ones with a stop after each of `stops`; what comes out is the same to the bit. Returns the steps.
fn check(
    begin: &dyn Fn() -> Trainer<Decoder>,
    reference: &dyn Fn() -> Option<Decoder>,
    stops: &[u64],
) -> Vec<StepRecord> {
    const STEPS: u64 = 9;
    let mut whole = begin();
    let records = run(&mut whole, &mut lossy(), STEPS);
    let expected = whole.checkpoint().unwrap();
    for stop in stops {
        let folder = tempfile::tempdir().unwrap();
        let mut first = begin();
        let mut kept = run(&mut first, &mut lossy(), *stop);
        let checkpoint = saved(&first, folder.path());
        // Lost in flight: a step that no checkpoint knows.
        run(&mut first, &mut lossy(), stop + 1);
        let mut second = Trainer::resume(decoder(77), reference(), &checkpoint, &lossy()).unwrap();
        kept.extend(run(&mut second, &mut lossy(), STEPS));
        assert_eq!(second.checkpoint().unwrap().parts(), expected.parts(), "stopped at {stop}");
        assert_eq!(kept, records);
        assert_eq!(second.settings(), whole.settings());
    }
    records
}

#[test]
fn stopping_and_going_on_changes_no_bit() {
    let begin = || {
        let settings =
            Settings { refills_max: 2, stale_updates_max: 3, epochs: 2, ..settings(Estimator::Care, u64::MAX - 3) };
        trainer(settings, &lossy()).governed(guard()).unwrap()
    };
    let records = check(&begin, &|| None, &[0, 1, 3, 4, 8]);
    assert!(records.iter().all(|record| record.outcome == Outcome::Updated));
    let phis: std::collections::BTreeSet<String> = records.iter().map(|record| format!("{:?}", record.phi)).collect();
    assert!(phis.len() > 1, "the controller moved, or the test says little");
    assert!(records.iter().all(|record| record.counters.void > 0), "members are void");
    let sent_again = |records: &[StepRecord]| records.iter().any(|record| record.refills > 0);
    assert!(sent_again(&records[..1]) && sent_again(&records[8..]), "before and behind every stop");
    assert!(records.iter().any(|record| record.counters.too_small + record.counters.all_void > 0));
}

#[test]
fn stopping_and_going_on_with_a_reference_changes_no_bit() {
    let begin = || {
        let settings = Settings { refills_max: 1, ..super::steps::pulled(0.5) };
        Trainer::new(decoder(1), Some(decoder(1)), settings, &lossy()).unwrap().governed(guard()).unwrap()
    };
    let records = check(&begin, &|| Some(decoder(1)), &[1, 5]);
    assert!(records.last().unwrap().figures.unwrap().kl_mean > 0.0, "the reference is not what is trained");
}

#[test]
fn a_plugin_that_changed_is_refused_on_resume_and_in_the_middle() {
    let folder = tempfile::tempdir().unwrap();
    let mut trainer = trainer(settings(Estimator::Care, 1), &native());
    trainer.step(&mut native(), &Still).unwrap();
    let checkpoint = saved(&trainer, folder.path());
    let mut swapped = native();
    swapped.source.plugins[1].digest = ContentDigest::of(b"another verifier");
    let mut fewer = native();
    fewer.source.plugins.pop();
    let mut more = native();
    more.source
        .plugins
        .insert(0, PluginStamp { name: PluginName::new("aaa").unwrap(), ..more.source.plugins[0].clone() });
    for (mut other, name, found) in [
        (swapped, "ablation-verdict", ContentDigest::of(b"another verifier").to_string()),
        (fewer, "ablation-verdict", "no such plugin".to_owned()),
        (more, "ablation", String::new()),
    ] {
        let error = Trainer::resume(decoder(1), None, &checkpoint, &other).unwrap_err().to_string();
        assert!(error.contains(name) && error.contains(&found), "{error}");
        assert_eq!(trainer.step(&mut other, &Still).unwrap_err().to_string(), error);
        assert!(other.orders.is_empty(), "nothing was rolled out");
    }
    let mut tasks = native();
    tasks.source.tasks[5] = TaskDigest::of(b"another");
    let error = Trainer::resume(decoder(1), None, &checkpoint, &tasks).unwrap_err().to_string();
    assert!(error.contains("number 5 is the first"), "{error}");
    assert!(Trainer::resume(decoder(1), None, &checkpoint, &native()).is_ok());
}

#[test]
fn a_checkpoint_of_another_architecture_is_named() {
    let folder = tempfile::tempdir().unwrap();
    let checkpoint = saved(&trainer(settings(Estimator::Care, 1), &native()), folder.path());
    let wide = Decoder::new(Shape { width: 16, ..small() }, 1).unwrap();
    let error = Trainer::resume(wide, None, &checkpoint, &native()).unwrap_err().to_string();
    assert!(error.contains("another architecture"), "{error}");
    assert!(error.contains("\"width\":16") && error.contains("\"width\":12"), "{error}");
    // Of the same size, and cut into other heads.
    let heads = Decoder::new(Shape { heads: 3, ..small() }, 1).unwrap();
    assert!(matches!(Trainer::resume(heads, None, &checkpoint, &native()), Err(TrainError::Architecture { .. })));
    let error = Trainer::resume(decoder(1), Some(decoder(2)), &checkpoint, &native()).unwrap_err();
    assert!(matches!(error, TrainError::Reference { .. }), "{error}");
}

#[test]
fn a_state_that_is_none_is_refused() {
    let trainer = trainer(settings(Estimator::Care, 1), &native());
    let good: serde_json::Value = serde_json::from_slice(&trainer.checkpoint().unwrap().parts()[TRAINER_PART]).unwrap();
    let folder = tempfile::tempdir().unwrap();
    let refused = |step: u64, change: &dyn Fn(&mut serde_json::Value)| {
        let mut state = good.clone();
        change(&mut state);
        let finite = trainer.checkpoint().unwrap();
        // The same weights, with another part in place of the state.
        let parameters = decoder(1);
        let optimizer = crate::nn::AdamW::new(settings(Estimator::Care, 1).optimizer, parameters.parameters()).unwrap();
        let other = crate::checkpoint::Finite::new(0.0, parameters.parameters(), &optimizer).unwrap();
        let other = other.with(TRAINER_PART, serde_json::to_vec(&state).unwrap()).unwrap();
        assert_eq!(finite.parts().len(), other.parts().len());
        let mut checkpoints = Checkpoints::open(Arc::new(Disk), folder.path().join("c"), NonZeroUsize::MIN).unwrap();
        checkpoints.write(step, &other).unwrap();
        let checkpoint = read_newest(&Disk, &folder.path().join("c")).unwrap().unwrap().checkpoint;
        Trainer::resume(decoder(1), None, &checkpoint, &native()).unwrap_err().to_string()
    };
    assert!(refused(1, &|state| state["format"] = 2.into()).contains("expected format 1, found 2"));
    assert!(refused(2, &|state| state["settings"]["groups"] = 0.into()).contains("settings"));
    assert!(refused(3, &|state| state["settings"]["scheme"]["phi"]["p_high"] = 1.into()).contains("p_high"));
    assert!(refused(4, &|state| state["extra"] = 1.into()).contains("extra"));
    let digest = format!("sha256:{}", "0".repeat(64));
    assert!(refused(5, &|state| state["versions"] = serde_json::json!([digest])).contains("its weights are"));
}

#[test]
fn a_governor_is_restored_with_what_it_decided() {
    let folder = tempfile::tempdir().unwrap();
    let mut trainer = trainer(settings(Estimator::Care, 1), &native()).governed(guard()).unwrap();
    run(&mut trainer, &mut native(), 3);
    let checkpoint = saved(&trainer, folder.path());
    let mut again = Trainer::resume(decoder(1), None, &checkpoint, &native()).unwrap();
    assert_eq!(again.phi(), trainer.phi());
    let error = again.consult(&mut rule(), dev(3)).unwrap_err();
    assert!(matches!(error, TrainError::Control(_)), "decided already: {error}");
    let mut free = super::trainer(settings(Estimator::Care, 1), &native());
    assert!(free.consult(&mut rule(), dev(1)).unwrap().is_none());
}
