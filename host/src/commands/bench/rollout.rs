//! `bench rollout`: episodes a second, as training runs them: groups in step, verdicts at the end, records by digest or none.
//!
//! A core's share is counted by processor time of this process, which does not grow when the machine is busy with other work; the time on the
//! wall stands beside it.

use std::sync::Arc;
use std::time::{Duration, Instant};

use loopwright_contract::planner::Planner;
use loopwright_contract::task::{Split, Task};
use loopwright_contract::trajectory::Record;
use loopwright_harness::groups::{Members, run_groups};
use loopwright_harness::planners::{Scripted, ablation as tables};
use loopwright_harness::{EpisodeResult, Harness, Noise, Output, RunOptions, Settings, Tally, Watch, run_tasks};
use loopwright_packs::{ablation, phone};
use serde::Serialize;

use super::measure::processor_time;
use crate::cli::{RolloutBenchArgs, Shared};
use crate::exit::Exit;
use crate::output;
use crate::table::{Align, render};
use crate::training::phone::shipped;
use crate::wire::{self, Engine, INSTANCES_PER_FAMILY, MachineStopwatch, Worlds};

/// Groups of a step of the ablation task, an even mix of its kinds.
const GROUPS: u32 = 16;

/// What was measured.
#[derive(Debug, Serialize)]
struct Row {
    name: &'static str,
    episodes: u64,
    decisions: u64,
    /// By the clock on the wall.
    episodes_per_s: f64,
    /// By processor time, which is what one core does when it does nothing else.
    episodes_per_cpu_s: Option<f64>,
    /// Processor time of a decision, with its share of opening and judging.
    decision_us: Option<f64>,
    /// Share of episodes that pass.
    success: f64,
    /// Written tokens an episode.
    tokens: f64,
    void: u64,
}

/// One step of a run: what it does with a seed.
type Step<'a> = dyn Fn(u64) -> anyhow::Result<Vec<EpisodeResult>> + 'a;

/// Runs it.
///
/// # Errors
/// Something that is not installed, groups that cannot be, or episodes that are void.
pub(super) fn rollout(shared: &Shared, args: &RolloutBenchArgs) -> anyhow::Result<Exit> {
    if cfg!(debug_assertions) {
        output::note("this is a debug build: the times say little; `cargo xtask bench` builds for release");
    }
    let host = wire::host(shared, Engine::default(), Worlds::of(&ablation::worlds()))?;
    let settings = Settings { memory: false, ..Settings::default() };
    let harness = Harness::new(Arc::new(host), settings, Vec::new())?;
    let members = Members::new(args.members)?;
    let pack = ablation::builtin(1, GROUPS / 2, Split::Train)?;
    let fragile = ablation::Kind::Fragile.request();
    let (teacher, best) = (tables::teacher(), tables::best(&[&fragile]));
    let grouped = |planner: &dyn Planner, output: Output, seed: u64| -> anyhow::Result<Vec<EpisodeResult>> {
        let options =
            RunOptions { output, noise: Noise::Member, ..options(seed, pack.tasks().len() * args.members as usize) };
        let groups = run_groups(&harness, planner, pack.tasks(), members, &options, &|_| {})?;
        Ok(groups.into_iter().flat_map(|group| group.members).map(|member| member.result).collect())
    };
    let phones: Vec<Task> = phone::builtin(1, INSTANCES_PER_FAMILY)?.tasks().to_vec();
    let scripted = Scripted::new(&phones);
    // It samples, as it does in training.
    let policy = shipped(false)?;
    let single = |planner: &dyn Planner, output: Output, seed: u64| -> anyhow::Result<Vec<EpisodeResult>> {
        let options = RunOptions { output, ..options(seed, phones.len()) };
        Ok(run_tasks(&harness, planner, &phones, &options, &|_| {}))
    };
    let steps: [(&'static str, &Step<'_>); 8] = [
        ("ablation, verbose table, unrecorded", &|seed| grouped(&teacher, Output::Nowhere, seed)),
        ("ablation, verbose table, by digest", &|seed| grouped(&teacher, Output::Memory, seed)),
        ("ablation, best table, unrecorded", &|seed| grouped(&best, Output::Nowhere, seed)),
        ("ablation, best table, by digest", &|seed| grouped(&best, Output::Memory, seed)),
        ("phone, scripted, unrecorded", &|seed| single(&scripted, Output::Nowhere, seed)),
        ("phone, scripted, by digest", &|seed| single(&scripted, Output::Memory, seed)),
        ("phone, shipped policy, unrecorded", &|seed| single(&policy, Output::Nowhere, seed)),
        ("phone, shipped policy, by digest", &|seed| single(&policy, Output::Memory, seed)),
    ];
    let mut rows = Vec::new();
    for (name, step) in steps {
        rows.push(measure(name, step, Duration::from_secs(args.seconds))?);
    }
    print(shared, &rows);
    Ok(Exit::Good)
}

/// As training runs, on one thread and watched.
fn options(seed: u64, batch: usize) -> RunOptions {
    let stopwatch = MachineStopwatch::start();
    let watch = Arc::new(Watch::new(stopwatch.clone()));
    RunOptions { batch, seed, record: Record::Digest, watch: Some(watch), ..RunOptions::new(stopwatch) }
}

fn measure(name: &'static str, step: &Step<'_>, least: Duration) -> anyhow::Result<Row> {
    // The first step compiles, prepares and fills caches.
    step(0)?;
    let (started, before) = (Instant::now(), processor_time());
    let (mut episodes, mut decisions, mut tokens, mut pass, mut void) = (0_u64, 0_u64, 0_u64, 0_u64, 0_u64);
    let mut seed = 0;
    while seed == 0 || started.elapsed() < least {
        seed += 1;
        let tally = Tally::of(&step(seed)?);
        episodes += u64::from(tally.tasks);
        decisions += tally.steps;
        tokens += tally.usage.tokens_out;
        pass += u64::from(tally.pass);
        void += u64::from(tally.void);
    }
    anyhow::ensure!(
        void == 0,
        "{void} of {episodes} episodes of `{name}` are void, and a void one says nothing of speed"
    );
    let wall = started.elapsed().as_secs_f64();
    let cpu = before.zip(processor_time()).map(|(before, after)| after.saturating_sub(before).as_secs_f64());
    #[expect(clippy::cast_precision_loss, reason = "counts of a few seconds")]
    let of = |part: u64, whole: f64| part as f64 / whole.max(1e-9);
    #[expect(clippy::cast_precision_loss, reason = "counts of a few seconds")]
    let share = |part: u64| of(part, episodes as f64);
    Ok(Row {
        name,
        episodes,
        decisions,
        episodes_per_s: of(episodes, wall),
        episodes_per_cpu_s: cpu.map(|cpu| of(episodes, cpu)),
        decision_us: cpu.map(|cpu| 1e6 / of(decisions, cpu).max(1e-9)),
        success: share(pass),
        tokens: share(tokens),
        void,
    })
}

fn print(shared: &Shared, rows: &[Row]) {
    if shared.json {
        output::json(&rows);
        return;
    }
    let whole = |number: Option<f64>| number.map_or("-".to_owned(), |number| format!("{number:.0}"));
    let cell = |row: &Row| {
        vec![
            row.name.to_owned(),
            row.episodes.to_string(),
            whole(Some(row.episodes_per_s)),
            whole(row.episodes_per_cpu_s),
            row.decision_us.map_or("-".to_owned(), |micros| format!("{micros:.1} us")),
            format!("{:.1} %", 100.0 * row.success),
            format!("{:.2}", row.tokens),
        ]
    };
    let head = [
        ("", Align::Left),
        ("episodes", Align::Right),
        ("a second", Align::Right),
        ("a core's second", Align::Right),
        ("decision", Align::Right),
        ("success", Align::Right),
        ("tokens", Align::Right),
    ];
    output::print(render(&head, &rows.iter().map(cell).collect::<Vec<_>>()));
}
