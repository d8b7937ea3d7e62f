//! One golden case: what is done to a plugin, and what comes of it.

use anyhow::Context as _;
use loopwright_contract::environment::{Actor, Turn};
use loopwright_contract::episode::{Episode, EpisodeHost as _, PluginKind};
use loopwright_contract::name::{CallId, Lang, PluginName, ToolName};
use loopwright_contract::task::{Check, Task};
use loopwright_contract::tool::ToolCall;
use loopwright_engine::{Outcome, PluginHost, Scratch};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::commands::plugin::start;

/// The environment of cases that name none.
const SANDBOX: &str = "sandbox";

/// A case as it stands in its file, without what is expected.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Case {
    /// For people; unique in its file.
    pub(super) name: String,
    /// Installed plugins that stand beside the one under test.
    #[serde(default)]
    pub(super) plugins: Vec<String>,
    /// The environment of an episode.
    environment: Option<PluginName>,
    /// Its set-up.
    #[serde(default)]
    setup: Option<Value>,
    /// The documents before: `{collection: {key: document}}`. None: the plugins' initial ones.
    state: Option<Value>,
    /// The tool that is called: by a tool's case for itself, by a skill's for advice.
    tool: Option<ToolName>,
    /// The call's arguments.
    #[serde(default)]
    arguments: Option<Value>,
    /// A tool's calls in their order, on one world: instead of `tool`, where what a call leaves in scratch matters to the next.
    #[serde(default)]
    calls: Vec<Called>,
    /// Calls by turn, before anything is judged.
    #[serde(default)]
    turns: Vec<Vec<Called>>,
    /// A verifier's check.
    check: Option<Value>,
    /// A skill's guidance for these offered tools.
    offered: Option<Vec<ToolName>>,
    /// In this language.
    lang: Option<Lang>,
    /// What is expected; read elsewhere.
    #[serde(default, rename = "expect")]
    _expect: Option<Value>,
}

/// One call of a turn.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
struct Called {
    tool: ToolName,
    #[serde(default)]
    arguments: Option<Value>,
}

/// What came of a case.
pub(super) struct Ran {
    /// What is compared.
    pub(super) result: Value,
    /// What it spent, where one call was measured.
    pub(super) fuel: Option<u64>,
}

/// Runs one call of a tool's case.
fn one(world: &mut Scratch, call: &ToolCall) -> anyhow::Result<Ran> {
    let made = world.call(call)?;
    let envelope = match &made.outcome {
        Outcome::Ok(success) => success.envelope(),
        Outcome::Failed(failure) => failure.envelope(),
        // The author's own log says more than the trap does.
        Outcome::Faulted(fault) => json!({"fault": fault, "log": made.log}),
    };
    Ok(Ran { result: json!({"result": envelope, "changes": made.changes}), fuel: Some(made.fuel) })
}

impl Case {
    /// Every plugin that has to be installed beside the one under test.
    pub(super) fn beside(&self) -> Vec<String> {
        let mut names = self.plugins.clone();
        if let Some(environment) = &self.environment {
            names.push(environment.to_string());
        } else if self.offered.is_some() || self.check.is_some() {
            names.push(SANDBOX.to_owned());
        }
        names.sort();
        names.dedup();
        names
    }

    /// Runs it on a fresh world.
    pub(super) fn run(&self, host: &PluginHost, plugin: &PluginName, kind: PluginKind) -> anyhow::Result<Ran> {
        match kind {
            PluginKind::Tool => self.tool(host),
            PluginKind::Environment => self.environment(host, plugin),
            PluginKind::Verifier => self.verifier(host, plugin),
            PluginKind::Skill => self.skill(host, plugin),
        }
    }

    fn call(&self, tool: &ToolName, arguments: Option<&Value>, position: usize) -> anyhow::Result<ToolCall> {
        let arguments = arguments.cloned().unwrap_or_else(|| json!({}));
        Ok(ToolCall { id: CallId::new(format!("c{}", position + 1))?, tool: tool.clone(), arguments })
    }

    fn tool(&self, host: &PluginHost) -> anyhow::Result<Ran> {
        let world = self.state.as_ref().map(ToString::to_string);
        let mut world = Scratch::new(host, &start(), world.as_deref())?;
        match (&self.tool, self.calls.as_slice()) {
            (Some(tool), []) => one(&mut world, &self.call(tool, self.arguments.as_ref(), 0)?),
            (None, [_, ..]) => {
                let (mut results, mut fuel) = (Vec::new(), 0_u64);
                for (position, called) in self.calls.iter().enumerate() {
                    let call = self.call(&called.tool, called.arguments.as_ref(), position)?;
                    let ran = one(&mut world, &call)?;
                    results.push(ran.result);
                    fuel = fuel.saturating_add(ran.fuel.unwrap_or_default());
                }
                Ok(Ran { result: json!({"calls": results}), fuel: Some(fuel) })
            }
            _ => anyhow::bail!("a tool's case has either `tool` or `calls`"),
        }
    }

    fn episode(&self, host: &PluginHost, environment: &str) -> anyhow::Result<(Box<dyn Episode>, Value)> {
        let edits: Vec<Value> = self
            .state
            .as_ref()
            .and_then(Value::as_object)
            .into_iter()
            .flatten()
            .flat_map(|(collection, documents)| {
                let documents = documents.as_object().into_iter().flatten();
                documents.map(
                    move |(key, value)| json!({"edit": "put", "collection": collection, "key": key, "value": value}),
                )
            })
            .collect();
        let task: Task = serde_json::from_value(json!({
            "id": "golden", "family": "golden", "category": "golden", "split": "test", "lang": "en", "request": "",
            "environment": environment, "setup": self.setup.clone().unwrap_or_else(|| json!({})), "start": start(), "edits": edits, "checks": [],
        }))?;
        let mut episode = host.prepare(&task)?.open()?;
        let observation = episode.reset()?;
        Ok((episode, json!(observation)))
    }

    fn play(&self, episode: &mut dyn Episode) -> anyhow::Result<Vec<Value>> {
        let mut turns = Vec::new();
        for turn in &self.turns {
            let called = turn.iter().enumerate();
            let calls = called
                .map(|(position, called)| self.call(&called.tool, called.arguments.as_ref(), position))
                .collect::<anyhow::Result<Vec<_>>>()?;
            let result = episode.step(&Turn { actor: Actor::Agent, calls })?;
            turns.push(
                json!({"feedback": result.feedback, "observation": result.observation, "changes": episode.changes()}),
            );
            episode.end_turn();
        }
        Ok(turns)
    }

    fn environment(&self, host: &PluginHost, plugin: &PluginName) -> anyhow::Result<Ran> {
        let (mut episode, observation) = self.episode(host, plugin.as_str())?;
        let turns = self.play(&mut *episode)?;
        Ok(Ran { result: json!({"observation": observation, "turns": turns}), fuel: None })
    }

    fn elsewhere(&self) -> &str {
        self.environment.as_ref().map_or(SANDBOX, PluginName::as_str)
    }

    fn verifier(&self, host: &PluginHost, plugin: &PluginName) -> anyhow::Result<Ran> {
        let check = self.check.clone().context("a verifier's case has `check`")?;
        let (mut episode, _) = self.episode(host, self.elsewhere())?;
        self.play(&mut *episode)?;
        let upto = u32::try_from(episode.steps().len())?;
        let judged = episode.judge(0, &Check { verifier: plugin.clone(), check }, &[upto])?;
        let judged = judged.into_iter().next().context("a verifier gives one verdict for each prefix")?;
        Ok(Ran { result: json!({"verdict": judged.verdict}), fuel: Some(judged.fuel) })
    }

    fn skill(&self, host: &PluginHost, plugin: &PluginName) -> anyhow::Result<Ran> {
        let (mut episode, _) = self.episode(host, self.elsewhere())?;
        self.play(&mut *episode)?;
        let skill = host.skills().iter().map(|card| &card.name).find(|name| name.as_str() == plugin.as_str());
        let skill = skill.with_context(|| format!("no installed skill is called `{plugin}`"))?.clone();
        let result = match (&self.offered, &self.tool) {
            (Some(offered), None) => {
                let lang = self.lang.clone().unwrap_or_else(Lang::english);
                json!({"guidance": episode.skill_guidance(&skill, offered, &lang)?})
            }
            (None, Some(tool)) => {
                let call = self.call(tool, self.arguments.as_ref(), 0)?;
                json!(episode.skill_check(&skill, &call)?)
            }
            _ => anyhow::bail!("a skill's case has either `offered` or `tool`"),
        };
        Ok(Ran { result, fuel: None })
    }
}
