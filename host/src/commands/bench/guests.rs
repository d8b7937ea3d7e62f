//! Rows about guests: a tool's start, and verifiers in Python and JavaScript.

use std::path::{Path, PathBuf};
use std::sync::Arc;

use anyhow::Context as _;
use loopwright_contract::episode::{EpisodeHost as _, PluginKind};
use loopwright_contract::fault::chain;
use loopwright_contract::name::PluginName;
use loopwright_contract::task::{Check, Task};
use loopwright_engine::floor::{ToolFloor, VerifierFloor, start_tool};
use loopwright_engine::{Candidate, Engines, GrantPolicy, NoWorlds, PluginHost, Trust};
use serde_json::json;

use super::costs::Row;
use super::measure::{beside, row_beside, timed};
use super::rows::must;
use crate::cli::{CostArgs, Shared};
use crate::output;
use crate::wire::{self, Engine};

pub(super) const START: &str = "instantiate and drop a tool in Rust";

/// Where `cargo xtask kit` leaves the verifiers that it makes from the templates, with what they are called in the table.
const VERIFIERS: [(&str, &str, &str); 2] =
    [("python", "fresh verifier in Python", "<= 0.6 ms"), ("js", "fresh verifier in JavaScript", "bare 0.4 ms")];

/// A tool of the ordinary size.
const STARTED: &str = "net";

pub(super) fn start(host: &PluginHost, samples: usize) -> anyhow::Result<Row> {
    let plugin = PluginName::new(STARTED)?;
    let floor = ToolFloor::new(host, &plugin)?;
    let bare = || timed(|| Ok(floor.start()?));
    let sampled = beside(samples, || timed(|| Ok(start_tool(host, &plugin)?)), bare)?;
    Ok(with_faults(row_beside(START, "<= 15 us, p99 <= 60 us", &sampled), &sampled))
}

fn with_faults(row: Row, [ours, floor]: &[super::measure::Sampled; 2]) -> Row {
    Row { faults: ours.faults, floor_faults: floor.faults, ..row }
}

/// A row for each verifier that is there: those of the kit's templates, or those that were named.
pub(super) fn verifiers(shared: &Shared, args: &CostArgs, samples: usize) -> anyhow::Result<Vec<Row>> {
    let wanted = |name: &str| args.filter.as_ref().is_none_or(|filter| name.contains(filter.as_str()));
    let mut rows = Vec::new();
    for (lang, name, aim) in VERIFIERS {
        let path = kit_path(&args.kit, lang);
        if !wanted(name) {
            continue;
        }
        if path.is_file() {
            rows.push(verifier(shared, &path, (name, aim), samples)?);
        } else {
            output::note(format!(
                "not measured: {name}: no component at `{}`\nhint: `cargo xtask kit --kind verifier --lang {lang}` makes it, --kit says where",
                path.display()
            ));
        }
    }
    for path in &args.verifier {
        let name = format!("fresh verifier `{}`", path.display());
        if !wanted(&name) {
            continue;
        }
        rows.push(verifier(shared, path, (&name, "-"), samples)?);
    }
    Ok(rows)
}

/// A host with these components and nothing else, which get what they ask for: whoever measures them runs them on their own machine.
fn alone(shared: &Shared, candidates: &[Candidate]) -> anyhow::Result<PluginHost> {
    let config = wire::config(shared, Engine::default());
    let engines = Arc::new(Engines::new(&config)?);
    PluginHost::install(engines, config, &GrantPolicy::trusting(), Arc::new(NoWorlds), candidates)
        .map_err(|error| anyhow::anyhow!(chain(&error)))
}

fn kit_path(kit: &Path, lang: &str) -> PathBuf {
    let name = format!("demo-{lang}-verifier");
    kit.join(&name).join("build").join(format!("{name}.wasm"))
}

/// Judges an episode in which nothing happened with a fresh instance each time, beside the same component under bare wasmtime.
fn verifier(shared: &Shared, path: &Path, (name, aim): (&str, &'static str), samples: usize) -> anyhow::Result<Row> {
    let bytes = std::fs::read(path).with_context(|| format!("`{}` cannot be read", path.display()))?;
    let stem = path.file_stem().and_then(|stem| stem.to_str()).unwrap_or_default();
    let plugin: PluginName = stem
        .parse()
        .with_context(|| format!("`{stem}` is no plugin's name\nhint: a component's file has the plugin's name"))?;
    let index = wire::index(shared)?;
    let mut candidates = ["sandbox", "net"]
        .map(|name| Ok(Candidate::from(index.load(index.find(name)?)?)))
        .into_iter()
        .collect::<anyhow::Result<Vec<_>>>()?;
    candidates.push(Candidate {
        kind: Some(PluginKind::Verifier),
        trust: Trust::FirstParty,
        ..Candidate::new(plugin.clone(), bytes)
    });
    let host = alone(shared, &candidates)?;
    let task: Task = serde_json::from_value(json!({
        "id": "fresh", "family": "bench", "category": "bench", "split": "test", "lang": "en", "request": "nothing",
        "environment": "sandbox", "start": super::rows::start(),
        "checks": [{"verifier": plugin, "check": {"collection": "net", "key": "wifi", "at": "/on", "equals": true}}],
    }))?;
    let check: &Check = task.checks.first().context("the task has no check")?;
    let mut episode = host.prepare(&task)?.open()?;
    episode.reset()?;
    let floor = VerifierFloor::over(&host, &plugin, &task, &[])?;
    let ours = || timed(|| must(episode.judge(0, check, &[0])?.len() == 1));
    let sampled = beside(samples, ours, || timed(|| must(floor.judge(check, &[0])? == 1)))?;
    Ok(with_faults(row_beside(name, aim, &sampled), &sampled))
}
