//! `train`: runs of supervised fine-tuning and of reinforcement learning, and going on with them. It knows no loss and no advantage.

use std::path::{Path, PathBuf};

use anyhow::Context as _;
use loopwright_engine::PluginHost;
use loopwright_learn::care::surrogate::{Denominator, Surrogate, SurrogateValues};
use loopwright_learn::care::{GroupSize, Options, Scheme};
use loopwright_learn::control::{Decision, Governor, Guard};
use loopwright_learn::estimate::Level;
use loopwright_learn::nn::{AdamWConfig, Schedule};
use loopwright_learn::pointer::Variation;
use loopwright_learn::rl::{self, Policy, RefillOn, StepRecord};
use loopwright_learn::sft::FitRecord;
use serde::Deserialize as _;
use serde_json::{Value, json};

use crate::cli::Shared;
use crate::cli_train::{CourseKind, NoiseKind, RlArgs, SftArgs, TrainArgs, TrainCommand};
use crate::commands::compare::compare;
use crate::exit::Exit;
use crate::output;
use crate::training::ablation::AblationCourse;
use crate::training::course::{Course, harness, judging_harness, load, with_weights};
use crate::training::decision;
use crate::training::fit::{SftRun, fit};
use crate::training::folder::{FORMAT, RunFolder};
use crate::training::improve::{DevPlan, Ended, Improvement, RlRun};
use crate::training::interrupt::Interrupt;
use crate::training::phone::{PHONE, PhoneCourse};
use crate::wire::{self, Engine, Worlds};

/// The confidence of the controller's bounds.
const CONFIDENCE: f64 = 0.95;
/// The weights that a run of reinforcement learning began with, in its folder.
const START: &str = "start.safetensors";

/// Runs it.
///
/// # Errors
/// Bad arguments, a run that cannot go on, files that cannot be written, something that is not installed.
pub fn train(shared: &Shared, args: &TrainArgs) -> anyhow::Result<Exit> {
    if cfg!(debug_assertions) {
        output::note("this is a debug build, several times slower; results are the same");
    }
    match &args.command {
        TrainCommand::Sft(args) => begin_sft(shared, args),
        TrainCommand::Rl(args) => begin_rl(shared, args),
        TrainCommand::Resume(args) => resume(shared, &args.run),
        TrainCommand::Status(args) => status(shared, &args.run),
        TrainCommand::Compare(args) => compare(shared, args),
    }
}

impl CourseKind {
    fn name(self) -> &'static str {
        match self {
            Self::Ablation => "ablation",
            Self::Phone => "phone",
        }
    }
}

fn begin_sft(shared: &Shared, args: &SftArgs) -> anyhow::Result<Exit> {
    let run = SftRun {
        format: FORMAT.to_owned(),
        kind: "sft".to_owned(),
        course: args.course.name().to_owned(),
        seed: args.seed,
        teacher_members: args.teacher_members,
        mask: !args.no_mask,
        plant: args.plant,
        variation: Variation { renumber: args.renumber, drop_acts: args.drop_acts, drop_facts: args.drop_facts },
        weight_decay: args.weight_decay,
        batch: args.batch,
        epochs: args.epochs,
        learning_rate: args.learning_rate,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    };
    Schedule::constant(run.learning_rate).check()?;
    anyhow::ensure!(run.variation.is_sound(), "--renumber, --drop-acts and --drop-facts are shares, 0 to 1");
    run.check()?;
    drop(wire::index(shared)?);
    let folder = RunFolder::begin(&args.out, &run, &[])?;
    go_sft(shared, &folder, &run)
}

fn begin_rl(shared: &Shared, args: &RlArgs) -> anyhow::Result<Exit> {
    match args.course {
        CourseKind::Ablation => begin_rl_of(shared, args, &AblationCourse { seed: args.seed }),
        CourseKind::Phone => begin_rl_of(shared, args, &PhoneCourse::default()),
    }
}

fn begin_rl_of<C: Course>(shared: &Shared, args: &RlArgs, course: &C) -> anyhow::Result<Exit> {
    let policy = match &args.from {
        Some(from) => load(course, from, args.seed)?,
        None => course.fresh(args.seed)?,
    };
    let run = rl_run(args, course, policy.digest()?.to_string())?;
    check(&run)?;
    // What is not installed is found before anything is begun.
    drop(wire::index(shared)?);
    let folder = RunFolder::begin(&args.out, &run, &[(START, &policy.parameters().to_bytes()?)])?;
    go_rl(shared, course, folder, run, policy)
}

/// That every number has a meaning, before a folder is made.
fn check(run: &RlRun) -> anyhow::Result<()> {
    run.settings.check()?;
    run.settings.optimizer.schedule.check()?;
    anyhow::ensure!(
        (0.0..=1.0).contains(&run.renumber),
        "--renumber {} is no share of steps\nhint: 0 for none, 1 for all",
        run.renumber
    );
    anyhow::ensure!(
        run.renumber == 0.0 || run.course == PHONE,
        "--renumber is of the course `{PHONE}`: the words of `{}` have no numbers\nhint: leave it out",
        run.course
    );
    if let Some(guard) = run.guard {
        Governor::new(run.settings.scheme.phi, guard)?;
    }
    Ok(())
}

fn rl_run<C: Course>(args: &RlArgs, course: &C, start: String) -> anyhow::Result<RlRun> {
    let members = GroupSize::new(args.group_size)?;
    let denominator =
        Denominator::Constant { groups: args.groups, group_size: members, token_budget: course.token_budget() };
    let usual = *Surrogate::usual(denominator)?.values();
    let surrogate = Surrogate::new(SurrogateValues { beta: args.kl, ..usual });
    let surrogate = surrogate.with_context(|| format!("--kl {} is no weight of the KL", args.kl))?;
    let settings = rl::Settings {
        seed: args.seed,
        groups: args.groups,
        members,
        scheme: Scheme {
            estimator: args.estimator.estimator(),
            phi: args.schedule.phi()?,
            options: Options::default(),
        },
        surrogate,
        optimizer: AdamWConfig::new(Schedule::constant(args.learning_rate)),
        epochs: args.epochs,
        refills_max: args.refills,
        refill_on: RefillOn::Dropped,
        stale_updates_max: 0,
    };
    let level = Level::new(CONFIDENCE)?;
    Ok(RlRun {
        format: FORMAT.to_owned(),
        kind: "rl".to_owned(),
        course: course.name().to_owned(),
        steps: args.steps,
        settings,
        noise_by_member: args.env_noise == NoiseKind::Member,
        dev: DevPlan { every: args.dev_every, members: args.dev_members },
        renumber: args.renumber,
        guard: args.controller.map(|target| Guard { target, level }),
        start,
        version: env!("CARGO_PKG_VERSION").to_owned(),
    })
}

fn resume(shared: &Shared, path: &Path) -> anyhow::Result<Exit> {
    let folder = RunFolder::open(path)?;
    let about: Value = folder.read_json("run.json")?;
    let text = |key: &str| about.get(key).and_then(Value::as_str).unwrap_or_default().to_owned();
    anyhow::ensure!(
        text("format") == FORMAT,
        "`{}` is of the format `{}`, expected `{FORMAT}`",
        folder.path("run.json").display(),
        text("format")
    );
    match text("kind").as_str() {
        "sft" => {
            let run: SftRun = folder.read_json("run.json")?;
            run.check().with_context(|| format!("`{}`", folder.path("run.json").display()))?;
            go_sft(shared, &folder, &run)
        }
        "rl" => {
            let run: RlRun = folder.read_json("run.json")?;
            check(&run).with_context(|| format!("`{}`", folder.path("run.json").display()))?;
            match run.course.as_str() {
                "ablation" => resume_rl(shared, &AblationCourse { seed: run.settings.seed }, folder, run),
                "phone" => resume_rl(shared, &PhoneCourse::default(), folder, run),
                other => anyhow::bail!("a run of the course `{other}`, which this version does not know"),
            }
        }
        other => anyhow::bail!("a run of the kind `{other}`, expected `sft` or `rl`"),
    }
}

fn resume_rl<C: Course>(shared: &Shared, course: &C, folder: RunFolder, run: RlRun) -> anyhow::Result<Exit> {
    let bytes = std::fs::read(folder.path(START)).context("the weights that the run began with")?;
    let policy = with_weights(course, &bytes, run.settings.seed)?;
    let found = policy.digest()?.to_string();
    anyhow::ensure!(found == run.start, "`{START}` is the policy {found}, and the run began with {}", run.start);
    go_rl(shared, course, folder, run, policy)
}

/// All plugins, with the worlds of a course.
fn host<C: Course>(shared: &Shared, course: &C) -> anyhow::Result<PluginHost> {
    wire::host(shared, Engine::default(), Worlds::of(&course.worlds()))
}

fn go_sft(shared: &Shared, folder: &RunFolder, run: &SftRun) -> anyhow::Result<Exit> {
    match run.course.as_str() {
        "ablation" => go_sft_of(shared, &AblationCourse { seed: run.seed }, folder, run),
        "phone" => go_sft_of(shared, &PhoneCourse::default(), folder, run),
        other => anyhow::bail!("a run of the course `{other}`, which this version does not know"),
    }
}

fn go_sft_of<C: Course>(shared: &Shared, course: &C, folder: &RunFolder, run: &SftRun) -> anyhow::Result<Exit> {
    let harness = judging_harness(course, &host(shared, course)?)?;
    let interrupt = Interrupt::listen()?;
    let bar = output::bar(0, "sft");
    let told = |record: &FitRecord, steps: u64| {
        bar.set_length(steps);
        bar.set_position(record.step);
        bar.set_message(format!("loss {:.4}", record.loss));
        if shared.json {
            output::json(record);
        }
    };
    let ended = fit(course, &harness, folder, run, &interrupt, &told)?;
    bar.finish_and_clear();
    end(shared, folder, ended)
}

fn go_rl<C: Course>(
    shared: &Shared,
    course: &C,
    folder: RunFolder,
    run: RlRun,
    policy: C::Policy,
) -> anyhow::Result<Exit> {
    let harness = harness(course, &host(shared, course)?)?;
    let interrupt = Interrupt::listen()?;
    let bar = output::bar(usize::try_from(run.steps)?, "rl");
    let mut improvement = Improvement::open(course, &harness, folder.clone(), run, policy, &interrupt)?;
    bar.set_position(improvement.taken());
    let told = |record: &StepRecord, decision: Option<&Decision>| {
        bar.set_position(record.step);
        bar.set_message(step_line(record));
        if let Some(decision) = decision {
            bar.suspend(|| output::note(decision::headline(decision)));
        }
        if shared.json {
            output::json(record);
        }
    };
    let ended = improvement.go(&told)?;
    bar.finish_and_clear();
    end(shared, &folder, ended)
}

/// A step in a line: what succeeded, what it cost, the shares of the regimes, what was left out, how fast.
fn step_line(record: &StepRecord) -> String {
    let percent = |share: Option<f64>| share.map_or("-".to_owned(), |share| format!("{:.0} %", 100.0 * share));
    let number = |number: Option<f64>| number.map_or("-".to_owned(), |number| format!("{number:.2}"));
    let counters = &record.counters;
    format!(
        "success {}, cost {}, regimes {}/{}/{}, {} degenerate, {} void, {} groups dropped, {:.0} episodes/s",
        percent(record.success),
        number(record.cost),
        percent(record.progress.share),
        percent(record.consolidation.share),
        percent(record.efficiency.share),
        counters.degenerate,
        counters.void,
        counters.too_small,
        record.timing.episodes_per_s
    )
}

fn end(shared: &Shared, folder: &RunFolder, ended: Ended) -> anyhow::Result<Exit> {
    tell(shared, folder)?;
    Ok(match ended {
        Ended::Whole => Exit::Good,
        Ended::Early => {
            output::note(format_args!("ended early\nhint: loopwright train resume {}", folder.path("").display()));
            Exit::Differs
        }
    })
}

fn status(shared: &Shared, path: &Path) -> anyhow::Result<Exit> {
    tell(shared, &RunFolder::open(path)?)?;
    Ok(Exit::Good)
}

/// How far a run is, for people or as JSON.
fn tell(shared: &Shared, folder: &RunFolder) -> anyhow::Result<()> {
    let run: Value = folder.read_json("run.json")?;
    let metrics = folder.metrics()?;
    let found = folder.newest()?;
    let checkpoint = found.as_ref().map(|found| found.checkpoint.step);
    let last = metrics.last();
    let dev = metrics.iter().rev().find_map(|line| line.get("dev"));
    let whole = folder.path("policy.safetensors").exists();
    let decisions: Vec<&Value> = metrics.iter().filter_map(|line| line.get("decision")).collect();
    if shared.json {
        output::json(&json!({
            "run": run, "steps": metrics.len(), "checkpoint": checkpoint, "over": whole, "last": last, "dev": dev,
            "decisions": decisions,
        }));
        return Ok(());
    }
    let text = |value: Option<&Value>| value.map_or("-".to_owned(), |value| value.to_string().replace('"', ""));
    output::line(format_args!(
        "{} of {}, {} steps taken",
        text(run.get("kind")),
        text(run.get("course")),
        metrics.len()
    ));
    output::line(format_args!(
        "newest checkpoint: {}",
        checkpoint.map_or("none".to_owned(), |step| format!("step {step}"))
    ));
    for key in ["loss", "success", "tokens", "cost"] {
        if let Some(value) = last.and_then(|last| last.get(key)).and_then(Value::as_f64) {
            output::line(format_args!("{key}: {value:.4}"));
        }
    }
    if let Some(all) = dev.and_then(|dev| dev.get("all")) {
        output::line(format_args!("dev: {} of {} episodes pass", text(all.get("passed")), text(all.get("episodes"))));
    }
    for decision in decisions {
        match Decision::deserialize(decision) {
            Ok(decision) => decision::lines(&decision).iter().for_each(output::line),
            Err(error) => output::line(format_args!("controller: a decision that cannot be read: {error}")),
        }
    }
    let path: PathBuf = folder.path(if whole { "policy.safetensors" } else { "checkpoints" });
    output::line(format_args!("{}: {}", if whole { "policy" } else { "not over" }, path.display()));
    Ok(())
}
