//! `bench care`: the ablation of CARE against its rivals on a task whose best way is known. What is claimed, and by which rule it is decided, is
//! written in `examples/care/PREREGISTRATION.md`.

mod curves;
mod plan;
mod print;
mod record;
mod trial;
mod verdict;

use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use loopwright_harness::{Harness, Prefixes, Settings};
use loopwright_packs::ablation;
use serde_json::json;

use self::plan::Plan;
use self::trial::{Lab, Run, Start};
use crate::cli::Shared;
use crate::cli_train::CareBenchArgs;
use crate::commands::in_parallel;
use crate::exit::Exit;
use crate::output;
use crate::wire::{self, Engine, Worlds};

/// Runs it.
///
/// # Errors
/// Settings without a meaning, something that is not installed, files that cannot be written, and a run that fails.
pub(super) fn care(shared: &Shared, args: &CareBenchArgs) -> anyhow::Result<Exit> {
    if cfg!(debug_assertions) {
        output::note(
            "this is a debug build, several times slower; results are the same: `cargo xtask bench` builds for release",
        );
    }
    let began = Instant::now();
    let plan = Plan::of(args)?;
    let host = wire::host(shared, Engine::default(), Worlds::of(&ablation::worlds()))?.pinned();
    let settings = Settings { memory: false, ..Settings::default() };
    let host = Arc::new(host);
    let harness = Harness::new(host.clone(), settings, Vec::new())?;
    let judging = Harness::new(host, Settings { prefixes: Prefixes::All, ..settings }, Vec::new())?;
    let lab = Lab { plan: &plan, harness: &harness, judging: &judging, out: &args.out };
    let starts = starts(&lab)?;
    let runs = runs(&lab, &starts)?;
    let optimum = ablation::optimum();
    let verdicts = print::verdicts(&plan, &runs, optimum.tokens);
    let report = json!({
        "plan": plan,
        "optimum": {"success": optimum.success, "tokens": optimum.tokens},
        "starts": starts.iter().map(print::start).collect::<Vec<_>>(),
        "verdicts": verdicts,
        "runs": runs,
        "plugins": print::plugins(&harness),
        "version": env!("CARGO_PKG_VERSION"),
        "wall_s": began.elapsed().as_secs_f64(),
    });
    let path = args.out.join("report.json");
    let text = output::pretty(&report)?;
    std::fs::write(&path, text).with_context(|| format!("`{}` cannot be written", path.display()))?;
    record::write(&args.out, &runs)?;
    curves::draw(&plan, &args.out, optimum.tokens)?;
    if shared.json {
        output::json(&report);
        output::json(&runs);
    } else {
        print::tables(&starts, &runs, &verdicts, optimum);
        output::line(format_args!("\nreport, curves and metrics of every step: {}", args.out.display()));
    }
    let wrong = if plan.quick { verdict::wrong_signs(&runs) } else { Vec::new() };
    wrong.iter().for_each(|wrong| output::note(format_args!("a sign is wrong: {wrong}")));
    let void: u64 =
        runs.iter().map(|run| run.void + run.measured.sampled.all.void + run.measured.greedy.all.void).sum();
    if void > 0 {
        output::note(format_args!("{void} episodes are void: our doing, and in no figure"));
    }
    Ok(if wrong.is_empty() && void == 0 { Exit::Good } else { Exit::Differs })
}

/// One cold start for each seed.
fn starts(lab: &Lab<'_>) -> anyhow::Result<Vec<Start>> {
    let bar = output::bar(lab.plan.seeds.len(), "cold start");
    let start = |seed: &u64| {
        let start = lab.start(*seed).with_context(|| format!("the cold start of seed {seed}"));
        bar.inc(1);
        start
    };
    let starts = in_parallel(&lab.plan.seeds, lab.plan.jobs, &start).into_iter().collect();
    bar.finish_and_clear();
    starts
}

/// Every arm from every cold start.
fn runs(lab: &Lab<'_>, starts: &[Start]) -> anyhow::Result<Vec<Run>> {
    let cells = lab.plan.cells()?;
    let jobs: Vec<_> = starts.iter().flat_map(|start| cells.iter().map(move |cell| (start, *cell))).collect();
    let steps = usize::try_from(lab.plan.steps)?.saturating_mul(jobs.len());
    let bar = output::bar(steps, "steps");
    let run = |(start, cell): &(&Start, plan::Cell)| {
        let told = |record: &loopwright_learn::rl::StepRecord| {
            bar.inc(1);
            bar.set_message(format!("{:?} {}: {}", cell.arm, start.seed, print::step(record)));
        };
        lab.run(start, *cell, &told).with_context(|| format!("arm {:?}, seed {}", cell.arm, start.seed))
    };
    let runs = in_parallel(&jobs, lab.plan.jobs, &run).into_iter().collect();
    bar.finish_and_clear();
    runs
}
