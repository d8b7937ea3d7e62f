//! Runs of training on real components, from within: what is asked of them in the middle of a step, verifiers that are swapped meanwhile, dev that
//! says nothing, and a reference that is pulled towards.

use std::collections::BTreeMap;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use loopwright::training::ablation::AblationCourse;
use loopwright::training::course::{Course, Teaching, harness, judging_harness};
use loopwright::training::field::{Acting, Actors, Field, Ground, Recorder};
use loopwright::training::fit::{SftRun, fit};
use loopwright::training::folder::{FORMAT, RunFolder};
use loopwright::training::improve::{DevPlan, Ended, Improvement, RlRun};
use loopwright::training::interrupt::Interrupt;
use loopwright::wire::{self, Engine, Worlds};
use loopwright_contract::digest::ContentDigest;
use loopwright_contract::name::EpisodeId;
use loopwright_contract::planner::{Decision, DecisionRequest, Planner, PlannerFault, PolicyVersion};
use loopwright_contract::task::{Split, Task};
use loopwright_contract::trajectory::Record;
use loopwright_engine::{Candidate, PluginHost, SwapMode};
use loopwright_harness::groups::{Members, run_groups};
use loopwright_harness::planners::ablation as tables;
use loopwright_harness::{EpisodeResult, Harness, Noise, Output, RunOptions, Settings};
use loopwright_learn::care::surrogate::{Denominator, Surrogate, SurrogateValues};
use loopwright_learn::care::{Estimator, GroupId, GroupSize, Options, Phi, PhiValues, Scheme};
use loopwright_learn::control::Guard;
use loopwright_learn::decoder::{Decoder, Sequence};
use loopwright_learn::estimate::Level;
use loopwright_learn::nn::{AdamWConfig, Schedule};
use loopwright_learn::pointer::Variation;
use loopwright_learn::rl::{self, Order, Ordered, Recording, RefillOn, Rollouts as _, StepRecord};
use loopwright_learn::sft::FitRecord;
use serde_json::{Value, json};

use crate::shared;

const SEED: u64 = 5;
const STEPS: u64 = 4;
/// Members of a group, and what a step's planner has rows for; dev has fewer.
const MEMBERS: usize = 4;
const GROUPS: usize = 4;

fn host() -> PluginHost {
    wire::host(&shared(), Engine::default(), Worlds::of(&plain().worlds()))
        .expect("installed plugins: run `cargo xtask guests`")
}

fn plain() -> AblationCourse {
    AblationCourse { seed: SEED }
}

/// Something that happens in the middle of a run.
type Hook = Arc<dyn Fn() + Send + Sync>;

/// The ablation course, in which something happens whenever the policy decides and whenever a step learns from demonstrations; and whose policy
/// fails on dev, if it is to.
struct Hooked {
    decides: Hook,
    learns: Hook,
    fails_on_dev: bool,
}

impl Default for Hooked {
    fn default() -> Self {
        Self { decides: Arc::new(|| {}), learns: Arc::new(|| {}), fails_on_dev: false }
    }
}

struct Actor {
    inner: Box<dyn Recorder<Sequence>>,
    decides: Hook,
    fails: bool,
}

impl Planner for Actor {
    fn version(&self) -> PolicyVersion {
        self.inner.version()
    }

    fn decide_batch(&self, requests: &[DecisionRequest<'_>]) -> Vec<Result<Decision, PlannerFault>> {
        (self.decides)();
        if self.fails {
            return requests.iter().map(|_| Err(PlannerFault::Failed("the policy is gone".to_owned()))).collect();
        }
        self.inner.decide_batch(requests)
    }
}

impl Recorder<Sequence> for Actor {
    fn take(&self) -> BTreeMap<EpisodeId, Recording<Sequence>> {
        self.inner.take()
    }
}

impl Actors<Decoder> for Hooked {
    fn planner(&self, policy: &Decoder, rows: usize, acting: Acting) -> anyhow::Result<Box<dyn Recorder<Sequence>>> {
        let fails = self.fails_on_dev && rows < GROUPS * MEMBERS;
        Ok(Box::new(Actor { inner: plain().planner(policy, rows, acting)?, decides: Arc::clone(&self.decides), fails }))
    }

    fn cost(&self, task: &Task, result: &EpisodeResult) -> f64 {
        plain().cost(task, result)
    }
}

impl Course for Hooked {
    type Policy = Decoder;

    fn name(&self) -> &'static str {
        plain().name()
    }

    fn tasks(&self, split: Split) -> anyhow::Result<Arc<[Task]>> {
        plain().tasks(split)
    }

    fn worlds(&self) -> BTreeMap<String, Value> {
        plain().worlds()
    }

    fn harness(&self) -> Settings {
        plain().harness()
    }

    fn token_budget(&self) -> usize {
        plain().token_budget()
    }

    fn tokens(sample: &Sequence) -> Vec<u32> {
        AblationCourse::tokens(sample)
    }

    fn varied(&self, _: &Variation, _: u64, samples: Vec<Sequence>) -> Vec<Sequence> {
        (self.learns)();
        samples
    }

    fn fresh(&self, seed: u64) -> anyhow::Result<Decoder> {
        plain().fresh(seed)
    }

    fn demonstrations(
        &self,
        ground: &Ground<'_>,
        tasks: &[Task],
        teaching: Teaching,
    ) -> anyhow::Result<(Vec<Sequence>, Value)> {
        plain().demonstrations(ground, tasks, teaching)
    }
}

/// A run of some steps that begins with fresh weights.
fn rl(kl: f64) -> RlRun {
    let (groups, members) = (GROUPS, GroupSize::new(MEMBERS).expect("four"));
    let phi = PhiValues { lambda_prog: 0.1, lambda_eff: 0.2, p_low: 0.3, p_high: 0.8 };
    let denominator = Denominator::Constant { groups, group_size: members, token_budget: plain().token_budget() };
    let usual = *Surrogate::usual(denominator).expect("constants").values();
    let settings = rl::Settings {
        seed: SEED,
        groups,
        members,
        scheme: Scheme {
            estimator: Estimator::Care,
            phi: Phi::new(phi).expect("a schedule"),
            options: Options::default(),
        },
        surrogate: Surrogate::new(SurrogateValues { beta: kl, ..usual }).expect("constants"),
        optimizer: AdamWConfig::new(Schedule::constant(1e-3)),
        epochs: 1,
        refills_max: 0,
        refill_on: RefillOn::Dropped,
        stale_updates_max: 0,
    };
    RlRun {
        format: FORMAT.to_owned(),
        kind: "rl".to_owned(),
        course: plain().name().to_owned(),
        steps: STEPS,
        settings,
        noise_by_member: true,
        dev: DevPlan { every: 2, members: 2 },
        renumber: 0.0,
        guard: Some(Guard { target: 0.5, level: Level::new(0.95).expect("a level") }),
        start: plain().fresh(SEED).expect("a policy").digest().expect("a digest").to_string(),
        version: String::new(),
    }
}

/// Begins a run in a folder or goes on with it; `told` hears of each step.
fn improve(
    folder: &Path,
    run: &RlRun,
    course: &Hooked,
    harness: &Harness,
    interrupt: &Interrupt,
    told: &dyn Fn(&StepRecord),
) -> anyhow::Result<Ended> {
    let folder = if folder.exists() { RunFolder::open(folder)? } else { RunFolder::begin(folder, run, &[])? };
    let policy = course.fresh(SEED)?;
    Improvement::open(course, harness, folder, run.clone(), policy, interrupt)?.go(&|record, _| told(record))
}

/// Six steps over what the teacher showed.
fn sft() -> SftRun {
    SftRun {
        format: FORMAT.to_owned(),
        kind: "sft".to_owned(),
        course: plain().name().to_owned(),
        seed: SEED,
        teacher_members: 2,
        mask: true,
        plant: 0.0,
        variation: Variation::default(),
        weight_decay: 0.01,
        batch: 16,
        epochs: 3,
        learning_rate: 3e-3,
        version: String::new(),
    }
}

fn teach(
    folder: &Path,
    course: &Hooked,
    harness: &Harness,
    interrupt: &Interrupt,
    told: &dyn Fn(&FitRecord, u64),
) -> anyhow::Result<Ended> {
    let run = sft();
    let folder = if folder.exists() { RunFolder::open(folder)? } else { RunFolder::begin(folder, &run, &[])? };
    fit(course, harness, &folder, &run, interrupt, told)
}

/// Asks so many times to end while the step after `taken` is under way; the counter says how many were taken.
fn asks(interrupt: &Interrupt, counter: &Arc<AtomicU64>, taken: u64, times: u32) -> Hook {
    let (interrupt, counter, done) = (interrupt.clone(), Arc::clone(counter), AtomicBool::new(false));
    Arc::new(move || {
        if counter.load(Ordering::SeqCst) == taken && !done.swap(true, Ordering::SeqCst) {
            (0..times).for_each(|_| interrupt.ask());
        }
    })
}

/// The lines of a run's metrics, without what depends on the machine.
fn metrics(folder: &Path) -> Vec<Value> {
    let mut lines = RunFolder::open_any(folder).metrics().expect("metrics");
    for line in &mut lines {
        line.as_object_mut().expect("a line").remove("timing");
    }
    lines
}

/// The steps of the last line and of the newest checkpoint; 0 without one.
fn stands(folder: &Path) -> (u64, u64) {
    let line = metrics(folder).last().map_or(0, |line| line["step"].as_u64().expect("a step"));
    let found = RunFolder::open_any(folder).newest().expect("whole checkpoints");
    (line, found.map_or(0, |found| found.checkpoint.step))
}

fn assert_same(left: &Path, right: &Path) {
    assert_eq!(metrics(left), metrics(right));
    let weights = |folder: &Path| std::fs::read(folder.join("policy.safetensors")).expect("weights");
    assert!(weights(left) == weights(right), "{} and {}", left.display(), right.display());
}

#[test]
fn a_step_is_finished_when_a_run_is_asked_once_to_end_and_dropped_when_it_is_asked_twice() {
    let (folder, host) = (tempfile::tempdir().expect("a folder"), host());
    let harness = harness(&plain(), &host).expect("a harness");
    let (run, quiet) = (rl(0.0), Hooked::default());
    let whole = folder.path().join("whole");
    let ended = improve(&whole, &run, &quiet, &harness, &Interrupt::default(), &|_| {}).expect("a run");
    assert_eq!((ended, stands(&whole)), (Ended::Whole, (STEPS, STEPS)));
    for (times, last) in [(1, 2), (2, 1)] {
        let (interrupt, counter) = (Interrupt::default(), Arc::default());
        // In the middle of the rollouts of step 2.
        let hooked = Hooked { decides: asks(&interrupt, &counter, 1, times), ..Hooked::default() };
        let told = |record: &StepRecord| counter.store(record.step, Ordering::SeqCst);
        let stopped = folder.path().join(format!("asked-{times}"));
        let ended = improve(&stopped, &run, &hooked, &harness, &interrupt, &told).expect("no failure");
        assert_eq!((ended, stands(&stopped)), (Ended::Early, (last, last)), "asked {times} times");
        let ended = improve(&stopped, &run, &quiet, &harness, &Interrupt::default(), &|_| {}).expect("a run");
        assert_eq!(ended, Ended::Whole);
        assert_same(&whole, &stopped);
    }
}

#[test]
fn a_cold_start_ends_as_it_is_asked_to_and_goes_on_to_the_same_bits() {
    let (folder, host) = (tempfile::tempdir().expect("a folder"), host());
    let harness = judging_harness(&plain(), &host).expect("a harness");
    let quiet = Hooked::default();
    let whole = folder.path().join("whole");
    let ended = teach(&whole, &quiet, &harness, &Interrupt::default(), &|_, _| {}).expect("a run");
    let (steps, checkpoint) = stands(&whole);
    assert_eq!((ended, checkpoint), (Ended::Whole, steps));
    assert!(steps >= 5, "{steps} steps");
    for (taken, times, last) in [(None, 1, 0), (None, 2, 0), (Some(2), 1, 3), (Some(2), 2, 2), (Some(3), 2, 3)] {
        let (interrupt, counter) = (Interrupt::default(), Arc::default());
        let learns = asks(&interrupt, &counter, taken.unwrap_or(u64::MAX), times);
        // While the teacher plays there is no step in flight: nothing is kept, and episodes that were cancelled are no fault.
        if taken.is_none() {
            (0..times).for_each(|_| interrupt.ask());
        }
        let hooked = Hooked { learns, ..Hooked::default() };
        let told = |record: &FitRecord, _| counter.store(record.step, Ordering::SeqCst);
        let stopped = folder.path().join(format!("asked-{times}-after-{taken:?}"));
        let ended = teach(&stopped, &hooked, &harness, &interrupt, &told).expect("no failure");
        assert_eq!((ended, stands(&stopped)), (Ended::Early, (last, last)), "asked {times} times after {taken:?}");
        let ended = teach(&stopped, &quiet, &harness, &Interrupt::default(), &|_, _| {}).expect("a run");
        assert_eq!(ended, Ended::Whole);
        assert_same(&whole, &stopped);
    }
}

/// The verifier of the ablation with the same behaviour and another digest: a custom section more.
fn twin() -> Candidate {
    let index = wire::index(&shared()).expect("installed plugins");
    let entry = index.plugins().find(|entry| entry.name == "ablation-verdict").expect("the verifier");
    let mut candidate = Candidate::from(index.load(entry).expect("a component"));
    candidate.bytes.extend([0, 3, 1, b'x', 1]);
    candidate.digest = ContentDigest::of(&candidate.bytes);
    candidate
}

#[test]
fn a_verifier_that_this_host_swaps_changes_nothing_for_a_run_that_goes_on() {
    let (folder, host) = (tempfile::tempdir().expect("a folder"), host());
    let (run, quiet) = (RlRun { guard: None, ..rl(0.0) }, Hooked::default());
    let pinned = harness(&plain(), &host).expect("a harness");
    let whole = folder.path().join("whole");
    improve(&whole, &run, &quiet, &pinned, &Interrupt::default(), &|_| {}).expect("a run");
    let swapped = folder.path().join("swapped");
    let told = |record: &StepRecord| {
        if record.step == 2 {
            let receipt = host.swap_verifier(&twin(), SwapMode::Immediate).expect("a swap");
            assert!(receipt.serves);
        }
    };
    let ended = improve(&swapped, &run, &quiet, &pinned, &Interrupt::default(), &told).expect("a run that goes on");
    assert_eq!(ended, Ended::Whole);
    assert_same(&whole, &swapped);
    // Whoever begins now begins with the other one, and does not go on with a run of the old one.
    let later = harness(&plain(), &host).expect("a harness");
    let longer = RlRun { steps: STEPS + 1, ..run };
    let error = improve(&swapped, &longer, &quiet, &later, &Interrupt::default(), &|_| {}).expect_err("another one");
    assert!(format!("{error:#}").contains("plugin `ablation-verdict` has changed"), "{error:#}");
}

#[test]
fn a_controller_is_told_when_all_of_dev_is_void_and_its_decision_is_kept() {
    let (folder, host) = (tempfile::tempdir().expect("a folder"), host());
    let harness = harness(&plain(), &host).expect("a harness");
    let run = rl(0.0);
    let of = |name: &str, fails_on_dev| {
        let folder = folder.path().join(name);
        let hooked = Hooked { fails_on_dev, ..Hooked::default() };
        improve(&folder, &run, &hooked, &harness, &Interrupt::default(), &|_| {}).expect("a run");
        metrics(&folder)
    };
    let lines = of("void", true);
    for (line, other) in lines.iter().zip(of("known", false)) {
        let asked = line["step"].as_u64().expect("a step").is_multiple_of(2);
        assert_eq!((line.get("dev").is_some(), line.get("decision").is_some()), (asked, asked), "{line}");
        assert_eq!(line["counters"]["void"], 0, "training went on");
        if asked {
            assert_eq!((&line["dev"]["success"], &line["dev"]["all"]["void"]), (&Value::Null, &json!(32)), "{line}");
            assert_eq!(line["decision"]["outcome"], json!({"kept": "no_dev"}), "{}", line["decision"]);
            assert_eq!(line["decision"]["before"], line["decision"]["after"]);
            assert_ne!(other["decision"]["outcome"], line["decision"]["outcome"], "what is known is another matter");
        }
    }
    assert!(!folder.path().join("void/best.json").exists(), "nothing says that any was the best");
}

#[test]
fn a_run_that_is_pulled_to_its_start_goes_on_with_the_same_start() {
    let (folder, host) = (tempfile::tempdir().expect("a folder"), host());
    let harness = harness(&plain(), &host).expect("a harness");
    let (pulled, free) = (RlRun { guard: None, ..rl(0.5) }, RlRun { guard: None, ..rl(0.0) });
    let quiet = Hooked::default();
    let [whole, stopped, other] = ["whole", "stopped", "free"].map(|name| folder.path().join(name));
    let go = |folder: &Path, run: &RlRun, interrupt: &Interrupt, told: &dyn Fn(&StepRecord)| {
        improve(folder, run, &quiet, &harness, interrupt, told).expect("a run")
    };
    go(&whole, &pulled, &Interrupt::default(), &|_| {});
    go(&other, &free, &Interrupt::default(), &|_| {});
    let kl = |folder: &Path| -> Vec<f64> {
        metrics(folder).iter().map(|line| line["figures"]["kl_mean"].as_f64().expect("a mean")).collect()
    };
    assert!(kl(&whole)[0] == 0.0 && kl(&whole)[1..].iter().all(|kl| *kl > 0.0), "{:?}", kl(&whole));
    assert_eq!(kl(&other), [0.0; STEPS as usize]);
    assert_ne!(metrics(&whole)[2]["policy"], metrics(&other)[2]["policy"]);
    let interrupt = Interrupt::default();
    let told = |record: &StepRecord| {
        if record.step == 2 {
            interrupt.ask();
        }
    };
    assert_eq!(go(&stopped, &pulled, &interrupt, &told), Ended::Early);
    assert_eq!(go(&stopped, &pulled, &Interrupt::default(), &|_| {}), Ended::Whole);
    assert_same(&whole, &stopped);
}

#[test]
fn rollouts_judge_the_end_and_demonstrations_every_turn_and_records_go_by_digest() {
    let host = host();
    let tasks = plain().tasks(Split::Train).expect("tasks");
    let header = |harness: &Harness, turns: bool| {
        let ground = Ground::new(harness, Noise::Member, Arc::default());
        let options = RunOptions { output: Output::Memory, ..ground.options(3, 2) };
        assert_eq!((options.record, ground.options(3, 2).output), (Record::Digest, Output::Nowhere));
        let members = Members::new(2).expect("two");
        let groups = run_groups(harness, &tables::teacher(), &tasks[..2], members, &options, &|_| {}).expect("groups");
        let mut header = Value::Null;
        for result in groups.into_iter().flat_map(|group| group.members).map(|member| member.result) {
            let judged: Vec<u32> = result.verdicts.iter().map(|judged| judged.upto).collect();
            assert_eq!(judged.last(), Some(&result.steps));
            assert_eq!(judged.len() == 1, !turns, "{judged:?} of {} steps", result.steps);
            header = serde_json::from_str(&result.lines.expect("lines")[0]).expect("a header");
        }
        header
    };
    let of = |harness: anyhow::Result<Harness>, turns| header(&harness.expect("a harness"), turns);
    let (ends, turns) = (of(harness(&plain(), &host), false), of(judging_harness(&plain(), &host), true));
    assert_eq!((&ends["record"], &turns["record"]), (&json!("digest"), &json!("digest")), "{ends}");
    assert_eq!((&ends["settings"]["prefixes"], &turns["settings"]["prefixes"]), (&json!("final"), &json!("all")));
}

#[test]
fn an_update_that_hangs_would_be_named() {
    let host = host();
    let harness = harness(&plain(), &host).expect("a harness");
    let ground = Ground::new(&harness, Noise::Member, Arc::default());
    let course = plain();
    let mut field = Field::new(ground.clone(), course.tasks(Split::Train).expect("tasks"), &course, 0.0);
    let policy = course.fresh(SEED).expect("a policy");
    let groups = vec![Ordered { id: GroupId(0), task: 0 }];
    let order = Order { step: 7, seed: 1, members: GroupSize::new(2).expect("two"), groups };
    let stuck = || ground.watch.stuck(Duration::ZERO).iter().map(|stuck| stuck.doing.to_string()).collect::<Vec<_>>();
    for _ in 0..2 {
        field.roll(&policy, &order).expect("rollouts");
        // From the rollouts to their end, that is in the update.
        assert_eq!(stuck(), ["the update of step 7"]);
    }
    field.rest();
    assert!(stuck().is_empty(), "{:?}", stuck());
}
