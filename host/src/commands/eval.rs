//! `eval`: a policy or a baseline on one split of a course, with intervals over families. It trains nothing.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::time::Instant;

use anyhow::Context as _;
use loopwright_contract::planner::Planner;
use loopwright_contract::task::{Split, Task};
use loopwright_contract::verdict::Outcome;
use loopwright_harness::planners::{Idle, Random, Scripted};
use loopwright_harness::{EpisodeResult, Harness, Output, RunOptions, Watch, run_tasks};
use loopwright_learn::estimate::{Clusters, Level, Resampling};
use loopwright_learn::pointer::Lexical;
use serde::Serialize;

use super::run::{free_folder, row, tell_voids};
use crate::cli::Shared;
use crate::cli_train::{CourseKind, EvalArgs, SplitKind};
use crate::exit::Exit;
use crate::output;
use crate::table::{Align, render};
use crate::training::ablation::AblationCourse;
use crate::training::course::{Course, load};
use crate::training::field::Acting;
use crate::training::improve::watched;
use crate::training::phone::{PhoneCourse, shipped};
use crate::wire::{self, Engine, MachineStopwatch, Worlds};

/// Resamples of an interval, and what seeds them.
const RESAMPLES: u64 = 10_000;
const RESAMPLING_SEED: u64 = 0;
/// The confidence of intervals.
const CONFIDENCE: f64 = 0.95;

/// Means over the episodes of a part, void ones left out.
#[derive(Debug, Clone, Default, Serialize)]
struct Part {
    episodes: u64,
    passed: u64,
    void: u64,
    success: Option<f64>,
    steps: Option<f64>,
    choices: Option<f64>,
    cost: Option<f64>,
    #[serde(skip)]
    sums: [f64; 3],
}

/// What was found.
#[derive(Debug, Serialize)]
struct Found {
    policy: String,
    course: &'static str,
    split: Split,
    all: Part,
    /// Of the success over all, resampling whole families; none with fewer than two.
    success_low: Option<f64>,
    success_high: Option<f64>,
    languages: BTreeMap<String, Part>,
    families: BTreeMap<String, Part>,
}

/// Runs it.
///
/// # Errors
/// A policy that cannot be had, a split that a pack does not have, something that is not installed.
pub fn eval(shared: &Shared, args: &EvalArgs) -> anyhow::Result<Exit> {
    match args.course {
        CourseKind::Ablation => eval_of(shared, args, &AblationCourse { seed: args.seed }),
        CourseKind::Phone => eval_of(shared, args, &PhoneCourse::default()),
    }
}

fn eval_of<C: Course>(shared: &Shared, args: &EvalArgs, course: &C) -> anyhow::Result<Exit> {
    let split = match args.split {
        SplitKind::Train => Split::Train,
        SplitKind::Dev => Split::Dev,
        SplitKind::Test => Split::Test,
    };
    let tasks = course.tasks(split)?;
    let planner = planner(args, course, &tasks)?;
    let host = wire::host(shared, Engine::default(), Worlds::of(&course.worlds()))?.pinned();
    let harness = Harness::new(Arc::new(host), course.harness(), Vec::new())?;
    let out = free_folder(args.out.as_deref())?;
    let stopwatch = MachineStopwatch::start();
    let watch = Arc::new(Watch::new(stopwatch.clone()));
    let options = RunOptions {
        jobs: usize::from(args.jobs),
        seed: args.seed,
        output: Output::Folder(out.clone()),
        watch: Some(Arc::clone(&watch)),
        ..RunOptions::new(stopwatch)
    };
    let bar = output::bar(tasks.len(), "eval");
    let began = Instant::now();
    let results = watched(&watch, || {
        run_tasks(&harness, planner.as_ref(), &tasks, &options, &|progress| {
            if let loopwright_harness::Progress::Done { done, .. } = progress {
                bar.set_position(done as u64);
            }
        })
    });
    bar.finish_and_clear();
    let found = found(args, course, split, &tasks, &results)?;
    let row = row(&args.policy, &results, began.elapsed(), &out);
    if shared.json {
        output::json(&found);
        output::json(&row);
    } else {
        tell_voids(&results);
        print(&found, args.by_family);
        output::line(format_args!("\ntrajectories: {}", out.display()));
    }
    Ok(if found.all.void > 0 { Exit::Differs } else { Exit::Good })
}

/// The named baseline, the shipped policy, or that of a folder or file.
fn planner<C: Course>(args: &EvalArgs, course: &C, tasks: &[Task]) -> anyhow::Result<Box<dyn Planner>> {
    Ok(match args.policy.as_str() {
        "scripted" => Box::new(Scripted::new(tasks)),
        "random" => Box::new(Random),
        "idle" => Box::new(Idle),
        "lexical" => Box::new(Lexical::new()),
        "shipped" => {
            anyhow::ensure!(
                args.course == CourseKind::Phone,
                "the shipped policy is of the course `phone`\nhint: leave --course out"
            );
            Box::new(shipped(!args.sampled)?)
        }
        path => {
            let policy = load(course, Path::new(path), 0).with_context(|| {
                format!("`{path}` is neither shipped, lexical, random, idle nor scripted, and no policy")
            })?;
            let rows = tasks.len().max(1);
            course.planner(&policy, rows, Acting::greedy(!args.sampled))?
        }
    })
}

fn found<C: Course>(
    args: &EvalArgs,
    course: &C,
    split: Split,
    tasks: &[Task],
    results: &[EpisodeResult],
) -> anyhow::Result<Found> {
    let (mut all, mut languages, mut families) = (Part::default(), BTreeMap::new(), BTreeMap::new());
    let mut clusters: BTreeMap<&str, Vec<f64>> = BTreeMap::new();
    for (task, result) in tasks.iter().zip(results) {
        let cost = course.cost(task, result);
        all.add(result, cost);
        languages.entry(task.lang.to_string()).or_insert_with(Part::default).add(result, cost);
        families.entry(task.family.clone()).or_insert_with(Part::default).add(result, cost);
        if !matches!(result.outcome, Outcome::Void(_)) {
            let passed = f64::from(u8::from(result.outcome == Outcome::Pass));
            clusters.entry(&task.family).or_default().push(passed);
        }
    }
    let clusters = Clusters::new(&clusters.into_values().collect::<Vec<_>>()).ok();
    let (level, resampling) = (Level::new(CONFIDENCE)?, Resampling::new(RESAMPLES, RESAMPLING_SEED)?);
    let interval = clusters.map(|clusters| clusters.bootstrap(level, resampling));
    Ok(Found {
        policy: args.policy.clone(),
        course: course.name(),
        split,
        all: all.closed(),
        success_low: interval.map(|interval| interval.low),
        success_high: interval.map(|interval| interval.high),
        languages: languages.into_iter().map(|(name, part)| (name, part.closed())).collect(),
        families: families.into_iter().map(|(name, part)| (name, part.closed())).collect(),
    })
}

impl Part {
    fn add(&mut self, result: &EpisodeResult, cost: f64) {
        if matches!(result.outcome, Outcome::Void(_)) {
            self.void += 1;
            return;
        }
        self.episodes += 1;
        self.passed += u64::from(result.outcome == Outcome::Pass);
        #[expect(clippy::cast_precision_loss, reason = "tokens of an episode are far below 2^53")]
        let choices = result.usage.tokens_out as f64;
        for (sum, number) in self.sums.iter_mut().zip([f64::from(result.turns), choices, cost]) {
            *sum += number;
        }
    }

    /// With its means.
    fn closed(mut self) -> Self {
        #[expect(clippy::cast_precision_loss, reason = "episodes are far below 2^53")]
        let of = |sum: f64| (self.episodes > 0).then(|| sum / self.episodes as f64);
        let [steps, choices, cost] = self.sums.map(of);
        #[expect(clippy::cast_precision_loss, reason = "episodes are far below 2^53")]
        let success = of(self.passed as f64);
        (self.success, self.steps, self.choices, self.cost) = (success, steps, choices, cost);
        self
    }
}

fn print(found: &Found, by_family: bool) {
    let percent = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{:.1} %", 100.0 * share));
    let number = |number: Option<f64>| number.map_or("-".to_owned(), |number| format!("{number:.2}"));
    let cells = |name: &str, part: &Part| {
        vec![
            name.to_owned(),
            part.episodes.to_string(),
            percent(part.success),
            number(part.steps),
            number(part.choices),
            number(part.cost),
            part.void.to_string(),
        ]
    };
    let head = [
        ("", Align::Left),
        ("episodes", Align::Right),
        ("success", Align::Right),
        ("decisions", Align::Right),
        ("choices", Align::Right),
        ("cost", Align::Right),
        ("void", Align::Right),
    ];
    let mut rows = vec![cells(&found.policy, &found.all)];
    rows.extend(found.languages.iter().map(|(name, part)| cells(name, part)));
    if by_family {
        rows.extend(found.families.iter().map(|(name, part)| cells(name, part)));
    }
    output::print(render(&head, &rows));
    if let (low @ Some(_), high @ Some(_)) = (found.success_low, found.success_high) {
        let families = found.families.len();
        output::line(format_args!(
            "success {} [{}, {}]: 95 % over {families} families, resampled whole",
            percent(found.all.success),
            percent(low),
            percent(high)
        ));
    }
}
