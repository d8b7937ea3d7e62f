//! `run`: tasks of a pack, or one request in plain words.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use loopwright_contract::episode::EpisodeHost as _;
use loopwright_contract::limits::EpisodeBudget;
use loopwright_contract::name::{Lang, PluginName, TaskId};
use loopwright_contract::task::{Check, Provenance, Split, Start, Task, UserScript};
use loopwright_contract::trajectory::Record;
use loopwright_contract::verdict::Outcome;
use loopwright_engine::PluginHost;
use loopwright_harness::trajectory::read_file;
use loopwright_harness::{
    EpisodeResult, Harness, Output, Prefixes, Progress, RunOptions, Settings, SkillFile, Tally, Watch, run_tasks,
};
use serde::Serialize;
use serde_json::{Value, json};

use crate::cli::{PlannerKind, RecordKind, RunArgs, Shared};
use crate::exit::{Exit, NotInstalled};
use crate::output::{self, duration};
use crate::session::{self, Session};
use crate::table::{Align, cut, render};
use crate::wire::{Engine, MachineStopwatch, Worlds};
use crate::{planner, show, watchdog, wire};

/// When a free request is made: 2026-03-02T09:00 in Shanghai, as in the built-in pack.
const FREE_START_NS: u64 = 1_772_413_200_000_000_000;

/// One planner on some tasks.
struct Plan {
    kind: PlannerKind,
    tasks: Vec<Task>,
    steps: Option<u32>,
}

/// What came of one plan, as a row of the report and as JSON.
#[derive(Debug, Serialize)]
pub(super) struct Row {
    planner: String,
    tasks: u32,
    pass: u32,
    fail: u32,
    invalid: u32,
    void: u32,
    steps: u64,
    tokens_in: u64,
    tokens_out: u64,
    tokens_cached: u64,
    cost_micros: u64,
    coercions: u64,
    malformed: u64,
    wall_ms: u128,
    out: PathBuf,
}

/// Runs it.
///
/// # Errors
/// Bad arguments, a bad pack, or something that is not installed.
pub fn run(shared: &Shared, args: &RunArgs) -> anyhow::Result<Exit> {
    if let Some(request) = &args.request {
        return free(shared, args, request);
    }
    let pack = wire::pack(&args.pack, args.pack_seed)?;
    let tasks = selected(pack.tasks(), args)?;
    let host = wire::host(shared, Engine { drop_instances: args.drop_instances }, Worlds::of(pack.worlds()))?;
    let host = if args.pin_verifiers { host.pinned() } else { host };
    let out = free_folder(args.out.as_deref())?;
    let skills = wire::skills(&args.skills)?;
    let plans = plans(args, &tasks);
    let mut rows = Vec::new();
    for plan in &plans {
        match run_plan(shared, args, &host, &skills, plan, &out.join(plan.kind.name())) {
            Ok((row, results)) => {
                if shared.json {
                    output::json(&row);
                } else {
                    tell_voids(&results);
                }
                rows.push(row);
            }
            // The main job goes on without a model that cannot be had, and says so.
            Err(error) if args.planner.is_empty() && error.chain().any(|cause| cause.is::<NotInstalled>()) => {
                output::note(format_args!("{} left out: {error}", plan.kind.name()))
            }
            Err(error) => return Err(error),
        }
    }
    if !shared.json {
        output::print(report(&rows));
        output::line(format_args!("\ntrajectories: {}", out.display()));
        output::line(format_args!("look at one:  loopwright show {}", example(&out)));
    }
    Ok(if rows.iter().any(|row| row.void > 0) { Exit::Differs } else { Exit::Good })
}

/// The first trajectory that there is, as an example to look at.
fn example(out: &Path) -> String {
    super::trajectories(out)
        .ok()
        .and_then(|files| files.into_iter().next())
        .map_or_else(String::new, |(file, _)| file.display().to_string())
}

fn selected(tasks: &[Task], args: &RunArgs) -> anyhow::Result<Vec<Task>> {
    let mut chosen: Vec<Task> = tasks.to_vec();
    if !args.task.is_empty() {
        if let Some(unknown) = args.task.iter().find(|id| !tasks.iter().any(|task| task.id.as_str() == id.as_str())) {
            anyhow::bail!("task `{unknown}` is not in the pack\nhint: `loopwright pack list {}` names them", args.pack);
        }
        chosen.retain(|task| args.task.iter().any(|id| task.id.as_str() == id.as_str()));
    }
    chosen.truncate(args.limit.unwrap_or(usize::MAX));
    if chosen.is_empty() {
        anyhow::bail!("no tasks to run: the pack has {}, and --limit leaves none", tasks.len());
    }
    Ok(chosen)
}

/// What is run: the named planners, or the main job.
fn plans(args: &RunArgs, tasks: &[Task]) -> Vec<Plan> {
    if !args.planner.is_empty() {
        return args
            .planner
            .iter()
            .map(|kind| Plan { kind: *kind, tasks: tasks.to_vec(), steps: args.steps })
            .collect();
    }
    let mut plans: Vec<Plan> =
        [PlannerKind::Scripted, PlannerKind::Random, PlannerKind::Idle, PlannerKind::Lexical, PlannerKind::Policy]
            .into_iter()
            .map(|kind| Plan { kind, tasks: tasks.to_vec(), steps: args.steps })
            .collect();
    if args.model_tasks > 0 {
        plans.push(Plan {
            kind: PlannerKind::Local,
            tasks: spread(tasks, args.model_tasks),
            steps: Some(args.steps.unwrap_or(args.model_steps)),
        });
    }
    plans
}

/// A few tasks from all over the pack.
fn spread(tasks: &[Task], few: usize) -> Vec<Task> {
    let few = few.min(tasks.len()).max(1);
    (0..few).filter_map(|position| tasks.get(position * tasks.len() / few)).cloned().collect()
}

/// The folder for trajectories: the named one, which must be new or empty, or the next free number.
pub(super) fn free_folder(named: Option<&Path>) -> anyhow::Result<PathBuf> {
    match named {
        Some(folder) => {
            let taken = folder.exists() && (!folder.is_dir() || std::fs::read_dir(folder)?.next().is_some());
            if taken {
                anyhow::bail!(
                    "folder `{}` is not empty: trajectories are never overwritten\nhint: name a new one with --out",
                    folder.display()
                );
            }
            Ok(folder.to_owned())
        }
        None => (1..100_000_u32)
            .map(|number| Path::new("target/runs").join(format!("{number:04}")))
            .find(|folder| !folder.exists())
            .ok_or_else(|| anyhow::anyhow!("target/runs is full: remove old runs or name a folder with --out")),
    }
}

/// Seconds of wall time for an episode of a local model, which needs minutes on a busy machine.
const LOCAL_WALL_S: u64 = 3_600;

fn settings(args: &RunArgs, kind: PlannerKind, steps: Option<u32>) -> Settings {
    Settings {
        strict: args.strict,
        prefixes: if args.prefixes { Prefixes::All } else { Prefixes::Final },
        budget: steps.map(|steps| EpisodeBudget {
            steps,
            ..EpisodeBudget {
                tokens: u64::MAX,
                cost_micros: u64::MAX,
                wall: Duration::from_secs(86_400),
                ..EpisodeBudget::default()
            }
        }),
        wall_s: args.wall_s.or((kind == PlannerKind::Local).then_some(LOCAL_WALL_S)),
        ..Settings::default()
    }
}

fn run_plan(
    shared: &Shared,
    args: &RunArgs,
    host: &PluginHost,
    skills: &[SkillFile],
    plan: &Plan,
    out: &Path,
) -> anyhow::Result<(Row, Vec<EpisodeResult>)> {
    let planner = planner::planner(plan.kind, &plan.tasks, &args.model)?;
    let harness = Harness::new(Arc::new(host.clone()), settings(args, plan.kind, plan.steps), skills.to_vec())?;
    let harness = harness.with_ranker(session::ranker());
    let session = Session::open(args, &plan.tasks)?;
    let harness = match &session {
        Some(session) => harness.with_snapshot(session.snapshot()),
        None => harness,
    };
    let stopwatch = MachineStopwatch::start();
    let watch = Arc::new(Watch::new(stopwatch.clone()));
    let mut options = RunOptions::new(stopwatch);
    options.watch = Some(Arc::clone(&watch));
    options.jobs = args.jobs.max(1);
    options.seed = args.seed;
    options.record = match args.record {
        RecordKind::Full => Record::Full,
        RecordKind::Digest => Record::Digest,
    };
    options.output = Output::Folder(out.to_owned());
    options.forget = session.as_ref().map(Session::forget);
    // A model decides for one episode after the other: what it keeps of one is then still warm for its next step.
    if plan.kind == PlannerKind::Local {
        options.batch = 1;
    }
    let slow = matches!(plan.kind, PlannerKind::Local | PlannerKind::Openai);
    if slow && !shared.json {
        output::note(format_args!("{}: {} tasks, this takes a while", plan.kind.name(), plan.tasks.len()));
    }
    let bar = output::bar(plan.tasks.len(), plan.kind.name());
    let started = Instant::now();
    let progress = |progress: Progress<'_>| match progress {
        Progress::Turn { episode, turns } if slow => bar.set_message(format!("{episode} step {turns}")),
        Progress::Turn { .. } => {}
        Progress::Done { done, total, result } => {
            bar.set_position(done as u64);
            if slow && !shared.json {
                let (_, word, _) = show::outcome(&result.outcome);
                bar.suspend(|| {
                    output::note(format_args!(
                        "  {done}/{total} {} {word}, {} steps, {}",
                        result.task,
                        result.turns,
                        duration(result.wall)
                    ))
                });
            }
        }
    };
    let tell = |stuck: &str| tracing::warn!("{stuck}");
    let run = || run_tasks(&harness, planner.as_ref(), &plan.tasks, &options, &progress);
    let run = || watchdog::beside(&watch, watchdog::STUCK_AFTER, tell, run);
    let results = if args.pin_verifiers { run() } else { wire::follower(shared, host).beside(run)? };
    bar.finish_and_clear();
    if let Some(session) = &session {
        session.keep(&results)?;
    }
    Ok((row(plan.kind.name(), &results, started.elapsed(), out), results))
}

pub(super) fn row(planner: &str, results: &[EpisodeResult], wall: Duration, out: &Path) -> Row {
    let tally = Tally::of(results);
    Row {
        planner: planner.to_owned(),
        tasks: tally.tasks,
        pass: tally.pass,
        fail: tally.fail,
        invalid: tally.invalid,
        void: tally.void,
        steps: tally.steps,
        tokens_in: tally.usage.tokens_in,
        tokens_out: tally.usage.tokens_out,
        tokens_cached: tally.usage.tokens_cached,
        cost_micros: tally.usage.cost_micros,
        coercions: tally.coercions,
        malformed: tally.malformed,
        wall_ms: wall.as_millis(),
        out: out.to_owned(),
    }
}

/// Void episodes are our fault: each is told with its reason.
pub(super) fn tell_voids(results: &[EpisodeResult]) {
    for result in results {
        if let Outcome::Void(reason) = &result.outcome {
            output::note(format_args!("void: {}: {}", result.task, cut(reason, 200)));
        }
    }
}

fn report(rows: &[Row]) -> String {
    let head = [
        ("planner", Align::Left),
        ("tasks", Align::Right),
        ("pass", Align::Right),
        ("fail", Align::Right),
        ("invalid", Align::Right),
        ("void", Align::Right),
        ("pass rate", Align::Right),
        ("steps", Align::Right),
        ("tokens in", Align::Right),
        ("cached", Align::Right),
        ("tokens out", Align::Right),
        ("time", Align::Right),
    ];
    let cells: Vec<Vec<String>> = rows
        .iter()
        .map(|row| {
            // Void episodes are no scores: the rate is over the others.
            let judged = row.tasks - row.void;
            let rate = if judged == 0 {
                "-".to_owned()
            } else {
                format!("{:.1} %", 100.0 * f64::from(row.pass) / f64::from(judged))
            };
            let wall = u64::try_from(row.wall_ms).unwrap_or(u64::MAX);
            let numbers = [row.tasks, row.pass, row.fail, row.invalid, row.void].map(|number| number.to_string());
            let mut cells = vec![row.planner.clone()];
            cells.extend(numbers);
            cells.push(rate);
            cells
                .extend([row.steps, row.tokens_in, row.tokens_cached, row.tokens_out].map(|number| number.to_string()));
            cells.push(duration(Duration::from_millis(wall)));
            cells
        })
        .collect();
    render(&head, &cells)
}

/// A task made of a free request. It has no gold, so the only thing that is checked is that the agent finished.
fn free_task(request: &str, lang: &str) -> anyhow::Result<Task> {
    Ok(Task {
        id: TaskId::new("free-request")?,
        family: "free".to_owned(),
        category: "free".to_owned(),
        split: Split::Test,
        lang: Lang::new(lang)?,
        request: request.to_owned(),
        environment: PluginName::new("sandbox")?,
        setup: Value::Null,
        start: Start { now_ns: FREE_START_NS, zone: "Asia/Shanghai".to_owned(), seed: 1 },
        world: None,
        edits: Vec::new(),
        user: UserScript::default(),
        gold: Vec::new(),
        checks: vec![Check {
            verifier: PluginName::new("state-assertions")?,
            check: json!({"rows": [{"finished": true}]}),
        }],
        budget: EpisodeBudget::default(),
        provenance: Provenance::default(),
    })
}

fn free(shared: &Shared, args: &RunArgs, request: &str) -> anyhow::Result<Exit> {
    let task = free_task(request, &args.lang)?;
    let host = wire::host(shared, Engine { drop_instances: args.drop_instances }, Worlds::default())?;
    let skills = wire::skills(&args.skills)?;
    let kind = args.planner.first().copied().unwrap_or(PlannerKind::Local);
    let plan = Plan { kind, tasks: vec![task], steps: args.steps };
    let (row, results) = run_plan(shared, args, &host, &skills, &plan, &free_folder(args.out.as_deref())?)?;
    if shared.json {
        output::json(&row);
    } else if let Some(path) = results.first().and_then(|result| result.path.as_ref()) {
        output::print(show::trajectory(&read_file(path)?.trajectory, false));
        output::line(format_args!("trajectory: {}", path.display()));
        output::line(format_args!(
            "the phone of a free request is the sandbox with {} tools; only that the agent finished is checked",
            host.tools().len()
        ));
    }
    Ok(if row.void > 0 { Exit::Differs } else { Exit::Good })
}
