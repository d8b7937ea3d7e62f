//! `pack`: checks, writes, lists, recall, and replays of others' records.

use std::collections::BTreeMap;
use std::path::Path;

use anyhow::Context as _;
use loopwright_contract::episode::EpisodeHost as _;
use loopwright_contract::evidence::Change;
use loopwright_contract::json::canonical;
use loopwright_contract::limits::CANDIDATES_MAX;
use loopwright_contract::name::{CallId, PluginName, ToolName};
use loopwright_contract::task::Start;
use loopwright_contract::tool::ToolCall;
use loopwright_engine::{Outcome, Scratch};
use loopwright_packs::tau2::{self, Replay, changes_difference, result_difference};
use loopwright_packs::{pack as format, phone};
use serde_json::{Value, json};

use super::gate;
use crate::cli::{PackCommand, Shared};
use crate::exit::Exit;
use crate::output;
use crate::table::{Align, render};
use crate::wire::{self, Engine, INSTANCES_PER_FAMILY, Worlds};

/// Runs it.
///
/// # Errors
/// A bad pack or folder, or something that is not installed.
pub fn pack(shared: &Shared, command: &PackCommand) -> anyhow::Result<Exit> {
    match command {
        PackCommand::Check { pack, seed, jobs, limit } => check(shared, pack, *seed, *jobs, *limit),
        PackCommand::Write { dir, seed } => write(shared, dir, *seed),
        PackCommand::List { pack, seed } => list(shared, pack, *seed),
        PackCommand::Recall { seed, unseen, requests } => recall(shared, *seed, *unseen, requests.as_deref()),
        PackCommand::Reach { seed, unseen } => super::reach::run(shared, *seed, *unseen),
        PackCommand::Replay { dir, plugin } => replay(shared, dir, plugin),
    }
}

fn check(shared: &Shared, name: &str, seed: u64, jobs: usize, limit: Option<usize>) -> anyhow::Result<Exit> {
    let pack = wire::pack(name, seed)?;
    let host = wire::host(shared, Engine::default(), Worlds::of(pack.worlds()))?;
    let tasks: Vec<_> = pack.tasks().iter().take(limit.unwrap_or(usize::MAX)).cloned().collect();
    let bar = output::bar(tasks.len(), "check");
    let report = gate::check(&host, &tasks, jobs, &|| bar.inc(1))?;
    bar.finish_and_clear();
    if shared.json {
        output::json(&report);
    } else {
        output::line(format_args!(
            "{} tasks, {} admitted, {} refused",
            report.tasks,
            report.admitted,
            report.refused.len()
        ));
        let rows: Vec<Vec<String>> = report
            .refused
            .iter()
            .map(|refused| {
                vec![refused.id.to_string(), refused.rule.to_string(), crate::table::cut(&refused.detail, 90)]
            })
            .collect();
        if !rows.is_empty() {
            output::print(render(
                &[("task", Align::Left), ("rule", Align::Left), ("what came of it", Align::Left)],
                &rows,
            ));
        }
    }
    Ok(if report.refused.is_empty() { Exit::Good } else { Exit::Differs })
}

fn write(shared: &Shared, dir: &Path, seed: u64) -> anyhow::Result<Exit> {
    let pack = phone::builtin(seed, INSTANCES_PER_FAMILY)?;
    if dir.exists() {
        anyhow::bail!("`{}` exists: a pack is written to a new folder", dir.display());
    }
    format::write(&pack, dir).with_context(|| format!("pack cannot be written to `{}`", dir.display()))?;
    if shared.json {
        output::json(pack.card());
    } else {
        output::line(format_args!("{} tasks written to {}", pack.tasks().len(), dir.display()));
    }
    Ok(Exit::Good)
}

fn list(shared: &Shared, name: &str, seed: u64) -> anyhow::Result<Exit> {
    let pack = wire::pack(name, seed)?;
    if shared.json {
        let tasks: Vec<Value> = pack.tasks().iter().map(|task| json!({"id": task.id, "family": task.family, "category": task.category, "split": task.split, "lang": task.lang, "request": task.request})).collect();
        output::json(&tasks);
        return Ok(Exit::Good);
    }
    let mut families: BTreeMap<&str, (String, String, usize, &str)> = BTreeMap::new();
    for task in pack.tasks() {
        let family = families
            .entry(&task.family)
            .or_insert_with(|| (task.category.clone(), format!("{:?}", task.split).to_lowercase(), 0, &task.request));
        family.2 += 1;
    }
    let rows: Vec<Vec<String>> = families
        .iter()
        .map(|(family, (category, split, count, request))| {
            vec![
                (*family).to_owned(),
                category.clone(),
                split.clone(),
                count.to_string(),
                crate::table::cut(request, 70),
            ]
        })
        .collect();
    output::print(render(
        &[
            ("family", Align::Left),
            ("category", Align::Left),
            ("split", Align::Left),
            ("tasks", Align::Right),
            ("for example", Align::Left),
        ],
        &rows,
    ));
    output::line(format_args!("\n{} families, {} tasks", families.len(), pack.tasks().len()));
    Ok(Exit::Good)
}

fn recall(shared: &Shared, seed: u64, unseen: bool, requests: Option<&Path>) -> anyhow::Result<Exit> {
    let set = if unseen { phone::PhrasingSet::Unseen } else { phone::PhrasingSet::Seen };
    let cases = match requests {
        Some(path) => gate::requests(path)?,
        None => gate::cases(phone::builtin_with_phrasings(seed, INSTANCES_PER_FAMILY, set)?.tasks()),
    };
    let host = wire::host(shared, Engine::default(), Worlds::default())?;
    let found = gate::recall(&host, &cases, CANDIDATES_MAX);
    let tools = gate::phone_tools(&host).len();
    if shared.json {
        let rows: Vec<Value> = found
            .iter()
            .map(|(lang, recall)| json!({"lang": lang, "k": CANDIDATES_MAX, "tools": tools, "requests": recall.cases, "recall": recall.recall(), "all_found": recall.complete_share()}))
            .collect();
        output::json(&rows);
        return Ok(Exit::Good);
    }
    for (lang, recall) in &found {
        output::line(format_args!(
            "{lang}: recall@{CANDIDATES_MAX} of gold tools {:.1} % ({} of {}), all tools found in {:.1} % of {} requests, out of {} tools",
            100.0 * recall.recall(),
            recall.found,
            recall.gold,
            100.0 * recall.complete_share(),
            recall.cases,
            tools
        ));
        for miss in recall.misses.iter().take(10) {
            output::line(format_args!("    missed {:?} for `{}`", miss.missing, miss.request));
        }
    }
    Ok(Exit::Good)
}

/// The first difference of a record.
struct Different {
    id: String,
    call: Option<usize>,
    field: String,
}

fn replay(shared: &Shared, dir: &Path, plugin: &str) -> anyhow::Result<Exit> {
    let plugin = PluginName::new(plugin)?;
    let recording = tau2::recording(dir).with_context(|| format!("records of `{}` cannot be read", dir.display()))?;
    let host = wire::host(shared, Engine::default(), Worlds::default())?;
    let served: Vec<&ToolName> =
        host.tools().iter().filter(|tool| tool.plugin == plugin).map(|tool| &tool.spec.name).collect();
    if served.is_empty() {
        anyhow::bail!(
            "plugin `{plugin}` is not installed or serves no tools\nhint: `loopwright plugin list` names the installed ones"
        );
    }
    let start = Start { now_ns: 0, zone: "UTC".to_owned(), seed: 1 };
    let base = Scratch::new(&host, &start, Some(&canonical(&recording.world)))?;
    let bar = output::bar(recording.replays.len(), "replay");
    let mut different = Vec::new();
    for record in &recording.replays {
        different.extend(replay_one(&base, record)?);
        bar.inc(1);
    }
    bar.finish_and_clear();
    tell_replay(shared, recording.replays.len(), &different);
    Ok(if different.is_empty() { Exit::Good } else { Exit::Differs })
}

/// Runs one record on a fork of the world, and says where it first differs.
fn replay_one(base: &Scratch, record: &Replay) -> anyhow::Result<Option<Different>> {
    let mut world = base.fork();
    let mut net: BTreeMap<(String, String), Change> = BTreeMap::new();
    for (position, recorded) in record.calls.iter().enumerate() {
        let call = ToolCall {
            id: CallId::new(format!("c{position}"))?,
            tool: recorded.name.clone(),
            arguments: recorded.arguments.clone(),
        };
        let made = world.call(&call)?;
        let (ok, result) = match made.outcome {
            Outcome::Ok(success) => (true, success.data),
            Outcome::Failed(failure) => (false, failure.envelope()),
            Outcome::Faulted(fault) => {
                return Ok(Some(Different {
                    id: record.task_id.clone(),
                    call: Some(position),
                    field: format!("/fault: {fault}"),
                }));
            }
        };
        if let Some(field) = result_difference(ok, &result, recorded) {
            return Ok(Some(Different { id: record.task_id.clone(), call: Some(position), field }));
        }
        for change in made.changes {
            let place = (change.collection.clone(), change.key.clone());
            match net.get_mut(&place) {
                Some(earlier) => earlier.after = change.after,
                None => {
                    net.insert(place, change);
                }
            }
        }
    }
    let changes: Vec<Change> = net.into_values().filter(|change| change.before != change.after).collect();
    Ok(changes_difference(&changes, &record.changes).map(|field| Different {
        id: record.task_id.clone(),
        call: None,
        field,
    }))
}

fn tell_replay(shared: &Shared, tasks: usize, different: &[Different]) {
    let equal = tasks.saturating_sub(different.len());
    if shared.json {
        let rows: Vec<Value> = different
            .iter()
            .map(|different| json!({"id": different.id, "call": different.call, "field": different.field}))
            .collect();
        output::json(&json!({"tasks": tasks, "equal": equal, "different": rows}));
        return;
    }
    output::line(format_args!("{equal} of {tasks} records equal"));
    for different in different {
        let place = different.call.map_or("final changes".to_owned(), |call| format!("call {call}"));
        output::line(format_args!("  {}: {place}, first difference at {}", different.id, different.field));
    }
}
