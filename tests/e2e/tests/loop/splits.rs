//! What is trained on, chosen by and reported are other tasks: a run on a course whose splits are told apart by what its tasks are called and by how
//! easy they are.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::{Arc, Mutex};

use loopwright::training::ablation::AblationCourse;
use loopwright::training::course::{Course, Teaching};
use loopwright::training::field::{Acting, Actors, Ground, Recorder};
use loopwright::training::fit::{SftRun, fit};
use loopwright::training::folder::{FORMAT, RunFolder};
use loopwright::training::improve::{DevPlan, Ended, Improvement, RlRun};
use loopwright::training::interrupt::Interrupt;
use loopwright::wire::{self, Engine, Worlds};
use loopwright_contract::name::PluginName;
use loopwright_contract::task::{Check, Split, Task};
use loopwright_harness::{EpisodeResult, Harness, Prefixes, Settings};
use loopwright_learn::care::surrogate::{Denominator, Surrogate};
use loopwright_learn::care::{Estimator, GroupSize, Options, Phi, PhiValues, Scheme};
use loopwright_learn::control::Guard;
use loopwright_learn::decoder::{Decoder, Sequence};
use loopwright_learn::estimate::Level;
use loopwright_learn::nn::{AdamWConfig, Schedule};
use loopwright_learn::pointer::Variation;
use loopwright_learn::rl::{self, RefillOn};
use loopwright_packs::ablation;
use serde_json::{Value, json};

use crate::shared;

/// The ablation's course, whose families say their split, and which keeps whose cost and demonstrations were asked for. A dev task passes as soon as
/// the agent finishes; the others have to be solved, which fresh weights do not.
struct Apart {
    course: AblationCourse,
    seen: Mutex<BTreeSet<String>>,
}

impl Apart {
    fn new() -> Self {
        Self { course: AblationCourse { seed: 5 }, seen: Mutex::default() }
    }

    fn see(&self, task: &Task) {
        self.seen.lock().expect("a lock").insert(task.family.clone());
    }

    fn seen(&self) -> BTreeSet<String> {
        self.seen.lock().expect("a lock").clone()
    }
}

fn names(of: &[&str]) -> BTreeSet<String> {
    of.iter().flat_map(|split| ["fragile", "reliable"].map(|kind| format!("{split}-{kind}"))).collect()
}

impl Actors<Decoder> for Apart {
    fn planner(&self, policy: &Decoder, rows: usize, acting: Acting) -> anyhow::Result<Box<dyn Recorder<Sequence>>> {
        self.course.planner(policy, rows, acting)
    }

    fn cost(&self, task: &Task, result: &EpisodeResult) -> f64 {
        self.see(task);
        self.course.cost(task, result)
    }
}

impl Course for Apart {
    type Policy = Decoder;

    fn name(&self) -> &'static str {
        self.course.name()
    }

    fn tasks(&self, split: Split) -> anyhow::Result<Arc<[Task]>> {
        let mut tasks = self.course.tasks(split)?.to_vec();
        tasks.truncate(4);
        for task in &mut tasks {
            let name = serde_json::to_value(split)?;
            task.family = format!("{}-{}", name.as_str().expect("a name"), task.family);
            if split == Split::Dev {
                let verifier = PluginName::new("state-assertions")?;
                task.checks = vec![Check { verifier, check: json!({"rows": [{"finished": true}]}) }];
            }
        }
        Ok(tasks.into())
    }

    fn worlds(&self) -> BTreeMap<String, Value> {
        self.course.worlds()
    }

    fn harness(&self) -> Settings {
        self.course.harness()
    }

    fn token_budget(&self) -> usize {
        self.course.token_budget()
    }

    fn tokens(sample: &Sequence) -> Vec<u32> {
        AblationCourse::tokens(sample)
    }

    fn fresh(&self, seed: u64) -> anyhow::Result<Decoder> {
        self.course.fresh(seed)
    }

    fn demonstrations(
        &self,
        ground: &Ground<'_>,
        tasks: &[Task],
        teaching: Teaching,
    ) -> anyhow::Result<(Vec<Sequence>, Value)> {
        tasks.iter().for_each(|task| self.see(task));
        self.course.demonstrations(ground, tasks, teaching)
    }
}

fn harness(course: &Apart, prefixes: Prefixes) -> Harness {
    let host = wire::host(&shared(), Engine::default(), Worlds::of(&ablation::worlds()))
        .expect("installed plugins: run `cargo xtask guests`");
    Harness::new(Arc::new(host.pinned()), Settings { prefixes, ..course.harness() }, Vec::new()).expect("a harness")
}

fn version() -> String {
    "0.1.0".to_owned()
}

/// Two steps, of which each measures dev and asks the controller.
fn improvement(start: String) -> RlRun {
    let members = GroupSize::new(2).expect("two");
    let denominator = Denominator::Constant { groups: 2, group_size: members, token_budget: 48 };
    let phi = Phi::new(PhiValues { lambda_prog: 0.1, lambda_eff: 0.2, p_low: 0.3, p_high: 0.8 }).expect("a schedule");
    RlRun {
        format: FORMAT.to_owned(),
        kind: "rl".to_owned(),
        course: "ablation".to_owned(),
        steps: 2,
        settings: rl::Settings {
            seed: 1,
            groups: 4,
            members,
            scheme: Scheme { estimator: Estimator::Care, phi, options: Options::default() },
            surrogate: Surrogate::usual(denominator).expect("a surrogate"),
            optimizer: AdamWConfig::new(Schedule::constant(1e-3)),
            epochs: 1,
            refills_max: 0,
            refill_on: RefillOn::Dropped,
            stale_updates_max: 0,
        },
        noise_by_member: true,
        dev: DevPlan { every: 1, members: 4 },
        renumber: 0.0,
        guard: Some(Guard { target: 0.6, level: Level::new(0.95).expect("a level") }),
        start,
        version: version(),
    }
}

fn read(folder: &Path, name: &str) -> Value {
    serde_json::from_slice(&std::fs::read(folder.join(name)).expect("a file")).expect("JSON")
}

#[test]
fn training_reads_train_and_what_chooses_reads_dev() {
    let course = Apart::new();
    let harness = harness(&course, Prefixes::Final);
    let folder = tempfile::tempdir().expect("a folder");
    let policy = course.fresh(1).expect("a policy");
    let run = improvement(policy.digest().expect("a digest").to_string());
    let begun = RunFolder::begin(folder.path(), &run, &[]).expect("a run");
    let interrupt = Interrupt::default();
    let mut improvement = Improvement::open(&course, &harness, begun.clone(), run, policy, &interrupt).expect("a run");
    assert_eq!(improvement.go(&|_, _| {}).expect("two steps"), Ended::Whole);
    assert_eq!(course.seen(), names(&["train", "dev"]), "test is for reporting alone");
    let lines = begun.metrics().expect("metrics");
    assert_eq!(lines.len(), 2);
    for line in &lines {
        let number =
            |path: &str| line.pointer(path).and_then(Value::as_f64).unwrap_or_else(|| panic!("{path} of {line}"));
        let families: BTreeSet<String> =
            line["dev"]["families"].as_object().expect("families").keys().cloned().collect();
        assert_eq!(families, names(&["dev"]));
        // What is trained on is not solved, and dev is easy: neither can be taken for the other.
        assert!(number("/success") < 0.3 && number("/dev/success") > 0.6, "{line}");
        let told = &line["decision"]["statistics"]["dev"]["success"];
        assert_eq!(
            (&told["successes"], &told["trials"]),
            (&line["dev"]["all"]["passed"], &line["dev"]["all"]["episodes"])
        );
        assert_eq!(number("/dev/all/episodes"), 16.0, "four tasks, four times");
    }
    // Of equals the later one is the best.
    let success = |line: &Value| line["dev"]["success"].as_f64().expect("a share");
    let best = if success(&lines[1]) >= success(&lines[0]) { 1 } else { 0 };
    let card = read(folder.path(), "best.json");
    assert_eq!((&card["step"], card["dev_success"].as_f64()), (&lines[best]["step"], Some(success(&lines[best]))));
}

#[test]
fn the_cold_start_is_taught_on_train() {
    let course = Apart::new();
    let judging = harness(&course, Prefixes::All);
    let folder = tempfile::tempdir().expect("a folder");
    let run = SftRun {
        format: FORMAT.to_owned(),
        kind: "sft".to_owned(),
        course: "ablation".to_owned(),
        seed: 1,
        teacher_members: 2,
        mask: true,
        plant: 0.0,
        variation: Variation { renumber: 0.0, drop_acts: 0.0, drop_facts: 0.0 },
        weight_decay: 0.01,
        batch: 64,
        epochs: 1,
        learning_rate: 1e-3,
        version: version(),
    };
    let begun = RunFolder::begin(folder.path(), &run, &[]).expect("a run");
    let ended = fit(&course, &judging, &begun, &run, &Interrupt::default(), &|_, _| {}).expect("a fit");
    assert_eq!((ended, course.seen()), (Ended::Whole, names(&["train"])));
    assert!(read(folder.path(), "demonstrations.json")["demonstrations"].as_u64().expect("a count") > 0);
}
