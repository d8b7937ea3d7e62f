//! `plugin`: what is installed, and one call by hand.

use loopwright_contract::environment::{Actor, Turn};
use loopwright_contract::episode::{EpisodeHost as _, PluginKind, PluginRecord};
use loopwright_contract::evidence::Change;
use loopwright_contract::json::{JsonLimits, parse};
use loopwright_contract::name::{CallId, ToolName};
use loopwright_contract::plain::{self, Plain};
use loopwright_contract::task::{Start, Task};
use loopwright_contract::tool::{InstalledTool, ToolCall};
use loopwright_engine::{Outcome, PluginHost, Scratch, ScratchCall};
use loopwright_kit::{NewPlugin, Sdk};
use serde_json::{Value, json};

use crate::cli::{PluginCommand, Shared};
use crate::commands::{author, consent};
use crate::exit::Exit;
use crate::output;
use crate::table::{Align, cut, render};
use crate::wire::{self, Engine, Worlds};

/// When a call by hand is made: 2026-03-02T09:00 in Shanghai.
const START_NS: u64 = 1_772_413_200_000_000_000;

/// Runs it.
///
/// # Errors
/// An unknown name, malformed arguments, or something that is not installed.
pub fn plugin(shared: &Shared, command: &PluginCommand) -> anyhow::Result<Exit> {
    // An author's commands work where nothing is installed.
    let host = || wire::host(shared, Engine::default(), Worlds::default());
    match command {
        PluginCommand::List => list(shared, &host()?),
        PluginCommand::Describe { name } => describe(shared, &host()?, name),
        PluginCommand::Call { tool, arguments, through_environment } => {
            call(shared, &host()?, tool, arguments, *through_environment)
        }
        PluginCommand::New { name, kind, lang, within, sdk } => {
            let sdk = sdk.clone().map_or(Sdk::Copied, Sdk::At);
            author::new(shared, within, &NewPlugin { name: name.clone(), kind: *kind, lang: *lang, sdk })
        }
        PluginCommand::Build { dir, tools } => author::build(shared, dir, tools),
        PluginCommand::Check { plugin } => author::check(shared, plugin),
        PluginCommand::Test { dir, filter, bless } => {
            author::test(shared, dir, &author::Which { filter: filter.as_deref(), bless: *bless })
        }
        PluginCommand::Diff { a, b } => author::diff(shared, a, b),
        PluginCommand::Explain { plugin } => consent::explain(shared, plugin),
        PluginCommand::Grant { name, versions, except } => consent::grant(shared, name, versions.as_ref(), except),
        PluginCommand::Revoke { name } => consent::revoke(shared, name),
    }
}

fn tools_of<'a>(host: &'a PluginHost, plugin: &'a PluginRecord) -> impl Iterator<Item = &'a InstalledTool> {
    host.tools().iter().filter(|tool| tool.plugin == plugin.name)
}

pub(super) fn kind(kind: PluginKind) -> &'static str {
    match kind {
        PluginKind::Tool => "tool",
        PluginKind::Environment => "environment",
        PluginKind::Verifier => "verifier",
        PluginKind::Skill => "skill",
    }
}

fn list(shared: &Shared, host: &PluginHost) -> anyhow::Result<Exit> {
    if shared.json {
        let rows: Vec<Value> = host
            .plugins()
            .iter()
            .map(|plugin| {
                let tools: Vec<Value> = tools_of(host, plugin).map(|tool| json!({"name": tool.spec.name, "domain": tool.spec.domain, "effect": tool.spec.strongest_effect()})).collect();
                json!({"name": plugin.name, "version": plugin.version, "kind": plugin.kind, "digest": plugin.digest, "tools": tools})
            })
            .collect();
        output::json(&rows);
        return Ok(Exit::Good);
    }
    let rows: Vec<Vec<String>> = host
        .plugins()
        .iter()
        .map(|plugin| {
            let names: Vec<&str> = tools_of(host, plugin).map(|tool| tool.spec.name.as_str()).collect();
            let digest: String = plugin.digest.to_string().chars().skip(7).take(12).collect();
            vec![
                kind(plugin.kind).to_owned(),
                plugin.name.to_string(),
                plugin.version.clone(),
                digest,
                names.len().to_string(),
                cut(&names.join(" "), 80),
            ]
        })
        .collect();
    let head = [
        ("kind", Align::Left),
        ("plugin", Align::Left),
        ("version", Align::Left),
        ("sha256", Align::Left),
        ("tools", Align::Right),
        ("", Align::Left),
    ];
    output::print(render(&head, &rows));
    Ok(Exit::Good)
}

fn describe(shared: &Shared, host: &PluginHost, name: &str) -> anyhow::Result<Exit> {
    let Some(plugin) = host.plugins().iter().find(|plugin| plugin.name == *name) else {
        anyhow::bail!("plugin `{name}` is not installed\nhint: `loopwright plugin list` names the installed ones");
    };
    let tools: Vec<&InstalledTool> = tools_of(host, plugin).collect();
    let card = host.skills().iter().find(|card| card.name == *name);
    if shared.json {
        let specs: Vec<_> = tools.iter().map(|tool| &tool.spec).collect();
        output::json(&json!({"plugin": plugin, "tools": specs, "skill": card}));
        return Ok(Exit::Good);
    }
    output::line(format_args!("{} {} {}\n{}", kind(plugin.kind), plugin.name, plugin.version, plugin.digest));
    let grant = &plugin.grant;
    output::line(format_args!("reads   {}\nwrites  {}", names(&grant.read), names(&grant.write)));
    output::line(format_args!("calls   {}\nscratch {} bytes", names(&grant.call), grant.scratch_bytes));
    if let Some(card) = card {
        for summary in &card.summary {
            output::line(format_args!("\n{}: {}", summary.lang, Plain(&summary.text)));
        }
    }
    for tool in tools {
        output::line(format_args!("\n{} [{}]", tool.spec.name, Plain(&tool.spec.domain)));
        for text in &tool.spec.description {
            output::line(format_args!("  {}: {}", text.lang, Plain(&text.text)));
        }
        for rule in &tool.spec.access {
            let when = rule.when.as_ref().map_or("otherwise".to_owned(), |when| {
                plain::json(&format!("{} = {}", Plain(&when.argument), Value::from(when.one_of.clone())))
            });
            let requires = if rule.requires.is_empty() {
                String::new()
            } else {
                format!(", requires {}", Plain(&rule.requires.join(", ")))
            };
            output::line(format_args!("  {when}: {}{requires}", format!("{:?}", rule.effect).to_lowercase()));
        }
        output::line(format_args!("  arguments {}", plain::json(&tool.spec.arguments_schema.to_string())));
    }
    Ok(Exit::Good)
}

fn names(granted: &[impl ToString]) -> String {
    if granted.is_empty() {
        "nothing".to_owned()
    } else {
        granted.iter().map(ToString::to_string).collect::<Vec<_>>().join(" ")
    }
}

fn call(
    shared: &Shared,
    host: &PluginHost,
    tool: &str,
    arguments: &str,
    through_environment: bool,
) -> anyhow::Result<Exit> {
    let arguments = parse(arguments, &JsonLimits::CONTRACT).map_err(|error| {
        anyhow::anyhow!("the arguments are not JSON: {error}\nhint: quote them, as in '{{\"action\":\"query\"}}'")
    })?;
    if !arguments.is_object() {
        anyhow::bail!("the arguments are {arguments}, expected a JSON object");
    }
    let tool = ToolName::new(tool)?;
    if !host.tools().iter().any(|installed| installed.spec.name == tool) {
        anyhow::bail!("tool `{tool}` is not installed\nhint: `loopwright plugin list` names the installed ones");
    }
    let call = ToolCall { id: CallId::new("c1")?, tool, arguments };
    if through_environment { in_episode(shared, host, call) } else { bare(shared, host, &call) }
}

pub(super) fn start() -> Start {
    Start { now_ns: START_NS, zone: "Asia/Shanghai".to_owned(), seed: 1 }
}

/// A fresh phone behind its environment, with nothing to do and nothing to judge.
///
/// # Errors
/// None: the task is a constant.
pub(super) fn task_by_hand() -> anyhow::Result<Task> {
    Ok(serde_json::from_value(json!({
        "id": "by-hand", "family": "by-hand", "category": "by-hand", "split": "test", "lang": "en", "request": "", "environment": "sandbox",
        "start": start(), "checks": [],
    }))?)
}

/// The tool alone, on a fresh world.
fn bare(shared: &Shared, host: &PluginHost, call: &ToolCall) -> anyhow::Result<Exit> {
    let made = Scratch::new(host, &start(), None)?.call(call)?;
    let exit = if matches!(made.outcome, Outcome::Ok(_)) { Exit::Good } else { Exit::Differs };
    if shared.json {
        let envelope = envelope(&made);
        output::json(
            &json!({"result": envelope, "fuel": made.fuel, "changes": made.changes, "log": made.log, "log_dropped": made.log_dropped}),
        );
        return Ok(exit);
    }
    let (answer, notes) = told(&made)?;
    output::line(answer);
    notes.iter().for_each(output::note);
    Ok(exit)
}

fn envelope(made: &ScratchCall) -> Value {
    match &made.outcome {
        Outcome::Ok(success) => success.envelope(),
        Outcome::Failed(failure) => failure.envelope(),
        Outcome::Faulted(fault) => json!({"fault": fault}),
    }
}

/// A call's answer and changes as people read them, and the lines beside it.
///
/// # Errors
/// None that a call can cause: every answer has a JSON form.
pub(crate) fn told(made: &ScratchCall) -> anyhow::Result<(String, Vec<String>)> {
    let mut answer = output::pretty(&envelope(made))?;
    for change in &made.changes {
        answer.push('\n');
        answer.push_str(&changed(change));
    }
    let mut notes: Vec<String> = made.log.iter().map(|line| format!("log: {}", Plain(line))).collect();
    notes.push(format!("fuel: {}", made.fuel));
    Ok((answer, notes))
}

fn changed(change: &Change) -> String {
    let after = change.after.as_ref().map_or("deleted".to_owned(), |value| plain::json(&value.to_string()));
    format!("changed {}/{}: {after}", Plain(&change.collection), Plain(&change.key))
}

/// The same through the sandbox, so that the rules of the world hold.
fn in_episode(shared: &Shared, host: &PluginHost, call: ToolCall) -> anyhow::Result<Exit> {
    let task = task_by_hand()?;
    let mut episode = host.prepare(&task)?.open()?;
    episode.reset()?;
    let result = episode.step(&Turn { actor: Actor::Agent, calls: vec![call] })?;
    let envelopes: Vec<Value> = result
        .feedback
        .iter()
        .map(|feedback| json!({"result": feedback.reply.envelope(), "effects": feedback.effects}))
        .collect();
    let changes = episode.changes();
    let ok = episode.steps().iter().all(|step| step.ok);
    if shared.json {
        output::json(&json!({"feedback": envelopes, "changes": changes}));
    } else {
        output::line(output::pretty(&envelopes)?);
        changes.iter().map(changed).for_each(output::line);
    }
    Ok(if ok { Exit::Good } else { Exit::Differs })
}
