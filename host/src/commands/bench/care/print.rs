//! The ablation for people, and the parts of its report.

use loopwright_harness::Harness;
use loopwright_learn::rl::StepRecord;
use loopwright_packs::ablation::Expected;
use serde_json::{Value, json};

use super::plan::Plan;
use super::trial::{Run, Start};
use super::verdict::{Estimate, Verdict, verdict};
use crate::cli_train::NoiseKind;
use crate::output;
use crate::table::{Align, render};

/// The verdict of one group size and noise.
pub(super) struct Sweep {
    group_size: usize,
    noise: NoiseKind,
    verdict: Verdict,
}

impl serde::Serialize for Sweep {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        json!({"group_size": self.group_size, "noise": self.noise, "verdict": self.verdict}).serialize(serializer)
    }
}

pub(super) fn verdicts(plan: &Plan, runs: &[Run], optimum: f64) -> Vec<Sweep> {
    let mut sweeps = Vec::new();
    for noise in &plan.noises {
        for size in &plan.group_sizes {
            let of: Vec<&Run> = runs.iter().filter(|run| run.group_size == *size && run.noise == *noise).collect();
            sweeps.push(Sweep { group_size: *size, noise: *noise, verdict: verdict(&of, optimum) });
        }
    }
    sweeps
}

pub(super) fn start(start: &Start) -> Value {
    json!({
        "seed": start.seed, "taught": start.taught, "steps": start.steps, "loss": start.loss, "measured": start.measured,
        "success": start.measured.sampled.all.success(), "tokens": start.measured.sampled.all.tokens_mean(),
    })
}

/// Every plugin that could take part.
pub(super) fn plugins(harness: &Harness) -> Vec<Value> {
    let plugins = harness.host().plugins().iter();
    let ours = plugins.filter(|plugin| plugin.name.as_str().contains("ablation"));
    ours.map(|plugin| json!({"name": plugin.name, "version": plugin.version, "digest": plugin.digest})).collect()
}

/// A step in a few words.
pub(super) fn step(record: &StepRecord) -> String {
    let percent = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{:.0} %", 100.0 * share));
    let tokens = record.tokens.map_or("-".to_owned(), |tokens| format!("{tokens:.1}"));
    format!("success {}, {tokens} tokens, {:.0} episodes/s", percent(record.success), record.timing.episodes_per_s)
}

fn percent(share: f64) -> String {
    format!("{:.2} %", 100.0 * share)
}

fn mean(numbers: impl Iterator<Item = f64> + Clone) -> f64 {
    #[expect(clippy::cast_precision_loss, reason = "runs are few")]
    let count = numbers.clone().count() as f64;
    numbers.sum::<f64>() / count
}

pub(super) fn tables(starts: &[Start], runs: &[Run], sweeps: &[Sweep], optimum: Expected) {
    let all = |of: &dyn Fn(&Start) -> Option<f64>| mean(starts.iter().filter_map(of).collect::<Vec<_>>().into_iter());
    output::line(format_args!(
        "cold start: {} of fresh episodes pass, {:.2} tokens each; the best way: {}, {:.2} tokens\n",
        percent(all(&|start| start.measured.sampled.all.success())),
        all(&|start| start.measured.sampled.all.tokens_mean()),
        percent(optimum.success),
        optimum.tokens
    ));
    for sweep in sweeps {
        let of = |run: &&Run| run.group_size == sweep.group_size && run.noise == sweep.noise;
        if sweeps.len() > 1 {
            output::line(format_args!("groups of {}, noise by {:?}", sweep.group_size, sweep.noise));
        }
        rows(&runs.iter().filter(of).collect::<Vec<_>>());
        claims(&sweep.verdict);
    }
}

/// One row for each arm, means over the seeds.
fn rows(runs: &[&Run]) {
    let mut arms = Vec::new();
    for run in runs {
        if !arms.contains(&run.arm) {
            arms.push(run.arm);
        }
    }
    let cells = |arm: &loopwright_learn::care::Estimator| {
        let of = |number: &dyn Fn(&Run) -> f64| {
            mean(runs.iter().filter(|run| run.arm == *arm).map(|run| number(run)).collect::<Vec<_>>().into_iter())
        };
        let rms = |regime: &dyn Fn(&Run) -> Option<f64>| {
            let found: Vec<f64> = runs.iter().filter(|run| run.arm == *arm).filter_map(|run| regime(run)).collect();
            if found.is_empty() { "-".to_owned() } else { format!("{:.2}", mean(found.into_iter())) }
        };
        vec![
            serde_json::to_value(arm).ok().and_then(|name| Some(name.as_str()?.to_owned())).unwrap_or_default(),
            percent(of(&|run| run.success)),
            format!("{:.2}", of(&|run| run.tokens)),
            percent(of(&|run| run.success_fragile)),
            percent(of(&|run| run.success_greedy)),
            format!("{:.2}", of(&|run| run.tokens_greedy)),
            format!(
                "{:.0} / {:.0} / {:.0}",
                100.0 * of(&|run| run.progress.share),
                100.0 * of(&|run| run.consolidation.share),
                100.0 * of(&|run| run.efficiency.share)
            ),
            format!(
                "{} / {} / {}",
                rms(&|run| run.progress.advantage_rms),
                rms(&|run| run.consolidation.advantage_rms),
                rms(&|run| run.efficiency.advantage_rms)
            ),
            format!("{:.0} s", of(&|run| run.wall_s)),
        ]
    };
    let head = [
        ("", Align::Left),
        ("success", Align::Right),
        ("tokens", Align::Right),
        ("fragile", Align::Right),
        ("greedy", Align::Right),
        ("tokens", Align::Right),
        ("regimes %", Align::Right),
        ("RMS advantage", Align::Right),
        ("a run", Align::Right),
    ];
    output::print(render(&head, &arms.iter().map(cells).collect::<Vec<_>>()));
    output::line("");
}

fn claims(verdict: &Verdict) {
    let shown = |estimate: &Estimate| format!("{:.4} [{:.4}, {:.4}]", estimate.mean, estimate.low, estimate.high);
    for claim in &verdict.claims {
        let word = match claim.holds {
            Some(true) => "holds",
            Some(false) => "does not hold",
            None => "undecided: it takes both arms, and two seeds",
        };
        let estimate = claim.estimate.as_ref().map_or_else(String::new, |estimate| format!("  {}", shown(estimate)));
        output::line(format_args!("{}: {word}{estimate}", claim.claim));
    }
}
