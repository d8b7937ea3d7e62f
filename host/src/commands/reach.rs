//! `pack reach`: which share of the built-in pack's gold the phone policy's choices can point to. A pack below the gate teaches to guess.

use std::collections::BTreeMap;
use std::sync::Arc;

use loopwright_contract::verdict::Outcome;
use loopwright_harness::planners::Scripted;
use loopwright_harness::{Harness, RunOptions, Settings, run_tasks};
use loopwright_learn::pointer::{Specs, reach};
use loopwright_packs::phone::{PhrasingSet, builtin_with_phrasings};
use serde::Serialize;

use crate::cli::Shared;
use crate::exit::Exit;
use crate::output;
use crate::table::{Align, render};
use crate::training::watching::Watching;
use crate::wire::{self, Engine, INSTANCES_PER_FAMILY, MachineStopwatch, Worlds};

/// The share of arguments that must be reached.
const SHARE_MIN: f64 = 0.98;

/// Counts of one part of the pack.
#[derive(Debug, Clone, Copy, Default, Serialize)]
struct Part {
    decisions: usize,
    whole: usize,
    arguments: usize,
    reached: usize,
}

/// What was found.
#[derive(Debug, Serialize)]
struct Found {
    share: f64,
    all: Part,
    splits: BTreeMap<String, Part>,
    languages: BTreeMap<String, Part>,
    families: BTreeMap<String, Part>,
    /// What is missed, and how often.
    missed: BTreeMap<String, usize>,
}

/// Runs it.
///
/// # Errors
/// A pack that cannot be made, something that is not installed, an episode of gold that is void.
pub(super) fn run(shared: &Shared, seed: u64, unseen: bool) -> anyhow::Result<Exit> {
    let phrasings = if unseen { PhrasingSet::Unseen } else { PhrasingSet::Seen };
    let pack = builtin_with_phrasings(seed, INSTANCES_PER_FAMILY, phrasings)?;
    let host = wire::host(shared, Engine::default(), Worlds::of(pack.worlds()))?;
    let harness = Harness::new(Arc::new(host), Settings::default(), Vec::new())?;
    let scripted = Scripted::new(pack.tasks());
    let watching = Watching::new(&scripted);
    let results = run_tasks(&harness, &watching, pack.tasks(), &RunOptions::new(MachineStopwatch::start()), &|_| {});
    let mut seen = watching.take();
    let specs = Specs::new();
    let mut found = Found {
        share: 0.0,
        all: Part::default(),
        splits: BTreeMap::new(),
        languages: BTreeMap::new(),
        families: BTreeMap::new(),
        missed: BTreeMap::new(),
    };
    for (task, result) in pack.tasks().iter().zip(&results) {
        if let Outcome::Void(reason) = &result.outcome {
            anyhow::bail!("episode `{}` of the gold is void: {reason}", result.episode);
        }
        let split = serde_json::to_value(task.split)?.as_str().unwrap_or_default().to_owned();
        for turn in seen.remove(&result.episode).unwrap_or_default() {
            let reach = reach(&specs, &turn.context, &turn.actions());
            let whole = usize::from(reach.missed.is_none());
            let part = Part { decisions: 1, whole, arguments: reach.arguments, reached: reach.reached };
            found.all.add(part);
            found.splits.entry(split.clone()).or_default().add(part);
            found.languages.entry(task.lang.to_string()).or_default().add(part);
            found.families.entry(task.family.clone()).or_default().add(part);
            if let Some(error) = reach.missed {
                *found.missed.entry(format!("{} ({}): {error}", task.family, task.lang)).or_default() += 1;
            }
        }
    }
    found.share = found.all.share();
    if shared.json {
        output::json(&found);
    } else {
        print(&found);
    }
    Ok(if found.share >= SHARE_MIN { Exit::Good } else { Exit::Differs })
}

impl Part {
    fn add(&mut self, other: Self) {
        self.decisions += other.decisions;
        self.whole += other.whole;
        self.arguments += other.arguments;
        self.reached += other.reached;
    }

    #[expect(clippy::cast_precision_loss, reason = "counts of a pack")]
    fn share(&self) -> f64 {
        self.reached as f64 / self.arguments.max(1) as f64
    }
}

fn print(found: &Found) {
    let cells = |name: &str, part: &Part| {
        let share = format!("{:.2} %", 100.0 * part.share());
        vec![name.to_owned(), part.arguments.to_string(), share, format!("{} of {}", part.whole, part.decisions)]
    };
    let mut rows = vec![cells("all", &found.all)];
    rows.extend(found.splits.iter().chain(&found.languages).map(|(name, part)| cells(name, part)));
    rows.extend(found.families.iter().filter(|(_, part)| part.share() < 1.0).map(|(name, part)| cells(name, part)));
    let head =
        [("", Align::Left), ("arguments", Align::Right), ("reached", Align::Right), ("whole decisions", Align::Right)];
    output::print(render(&head, &rows));
    for (what, times) in &found.missed {
        output::line(format_args!("missed {times} times: {what}"));
    }
}
