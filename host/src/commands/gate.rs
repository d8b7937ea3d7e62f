//! Runs the admission gate's variants through harness, environment and verifiers.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use loopwright_contract::action::{Action, Proposed};
use loopwright_contract::digest::PolicyDigest;
use loopwright_contract::episode::EpisodeHost as _;
use loopwright_contract::json::{JsonLimits, parse};
use loopwright_contract::name::{Lang, PluginName, ToolName};
use loopwright_contract::planner::{Decision, DecisionRequest, Planner, PlannerFault, PolicyVersion};
use loopwright_contract::task::Task;
use loopwright_contract::tool::ToolSpec;
use loopwright_contract::trajectory::Trajectory;
use loopwright_engine::PluginHost;
use loopwright_harness::recall::{LanguageRecall, RecallCase, ToolIndex, recall_at};
use loopwright_harness::trajectory::read_bytes;
use loopwright_harness::{Harness, Offer, Output, RunOptions, Settings, run_tasks};
use loopwright_packs::gate::{GateRunner, Report, check_double, check_task, doubles};
use serde::Deserialize;
use serde_json::Value;

use super::in_parallel;
use crate::wire::MachineStopwatch;

/// Runs given decisions on a host.
struct Runner {
    harness: Harness,
}

/// Proposes what it was given, turn by turn, and then finishes with an empty answer.
struct Given<'a>(&'a [Vec<Proposed>]);

impl Planner for Given<'_> {
    fn version(&self) -> PolicyVersion {
        PolicyVersion { name: "given".to_owned(), digest: PolicyDigest::of(b"given"), sampling: Value::Null }
    }

    fn decide_batch(&self, requests: &[DecisionRequest<'_>]) -> Vec<Result<Decision, PlannerFault>> {
        let finish = || vec![Proposed::Action { value: Action::Finish { answer: String::new(), data: None } }];
        requests
            .iter()
            .map(|request| {
                let turn = usize::try_from(request.context.turn).unwrap_or(usize::MAX);
                Ok(Decision { proposed: self.0.get(turn).cloned().unwrap_or_else(finish), ..Decision::default() })
            })
            .collect()
    }
}

impl GateRunner for Runner {
    fn run(&self, task: &Task, decisions: &[Vec<Proposed>]) -> Result<Trajectory, String> {
        let mut options = RunOptions::new(MachineStopwatch::start());
        options.output = Output::Memory;
        let results = run_tasks(&self.harness, &Given(decisions), std::slice::from_ref(task), &options, &|_| {});
        let result = results.into_iter().next().ok_or("the run gave no result")?;
        let Some(lines) = result.lines else {
            return Err(format!("{:?}", result.outcome));
        };
        let mut text = lines.join("\n");
        text.push('\n');
        Ok(read_bytes(text.as_bytes()).map_err(|error| error.to_string())?.trajectory)
    }
}

/// Checks tasks on several threads; the report is in the order of the tasks.
///
/// # Errors
/// When the harness cannot be built.
pub fn check(host: &PluginHost, tasks: &[Task], jobs: usize, progress: &(dyn Fn() + Sync)) -> anyhow::Result<Report> {
    // Whether recall finds a task's tools is a question of its own: see `pack recall`.
    let settings = Settings { offer: Offer::Exposed, ..Settings::default() };
    let runner = Runner {
        harness: Harness::new(Arc::new(host.clone()), settings, Vec::new())?.with_ranker(crate::session::ranker()),
    };
    let doubles = doubles(tasks);
    let results = in_parallel(tasks, jobs, &|task| {
        let result = check_double(task, &doubles).and_then(|()| check_task(task, host.tools(), &runner));
        progress();
        result
    });
    let mut report = Report::default();
    for result in results {
        report.add(result);
    }
    Ok(report)
}

/// The tools of a phone that is in no named world: a world's own tools are on its phones only.
#[must_use]
pub fn phone_tools(host: &PluginHost) -> Vec<ToolSpec> {
    let elsewhere =
        |plugin: &PluginName| host.plugins().iter().any(|record| record.name == *plugin && record.world.is_some());
    host.tools().iter().filter(|tool| !elsewhere(&tool.plugin)).map(|tool| tool.spec.clone()).collect()
}

/// Recall of the needed tools among the candidates, by language.
#[must_use]
pub fn recall(host: &PluginHost, cases: &[RecallCase], candidates: usize) -> BTreeMap<String, LanguageRecall> {
    let index = ToolIndex::build(&phone_tools(host));
    recall_at(&index, cases, candidates).into_iter().map(|(lang, recall)| (lang.to_string(), recall)).collect()
}

/// Requests of a file: JSON lines `{"lang", "request", "tools": [name]}`.
///
/// # Errors
/// What is wrong with the file, and on which line.
pub fn requests(path: &Path) -> anyhow::Result<Vec<RecallCase>> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("requests `{}` cannot be read", path.display()))?;
    let read = |line: &str| -> anyhow::Result<RecallCase> {
        let request: Request = serde_json::from_value(parse(line, &JsonLimits::FILE)?)?;
        Ok(RecallCase { lang: request.lang, request: request.request, gold: request.tools })
    };
    let lines = text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty());
    lines.map(|(number, line)| read(line).with_context(|| format!("{}:{}", path.display(), number + 1))).collect()
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Request {
    lang: Lang,
    request: String,
    tools: BTreeSet<ToolName>,
}

/// What each task asks and the tools that its gold calls.
#[must_use]
pub fn cases(tasks: &[Task]) -> Vec<RecallCase> {
    tasks
        .iter()
        .map(|task| RecallCase {
            lang: task.lang.clone(),
            request: task.request.clone(),
            gold: task
                .gold
                .iter()
                .flatten()
                .filter_map(|action| match action {
                    Action::Call(call) => Some(call.tool.clone()),
                    _ => None,
                })
                .collect(),
        })
        .filter(|case| !case.gold.is_empty())
        .collect()
}
