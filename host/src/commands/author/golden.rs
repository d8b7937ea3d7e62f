//! `plugin test`: the golden cases of a plugin's folder, `golden/*.json`, each `{"cases": [case]}`.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use loopwright_contract::fault::chain;
use loopwright_engine::{Candidate, GrantPolicy, NoWorlds, PluginHost};
use serde_json::{Value, json};

use super::case::{Case, Ran};
use super::{Subject, Workbench};
use crate::cli::Shared;
use crate::exit::Exit;
use crate::output;
use crate::wire::{self, Engine};

/// The folder of a plugin's golden cases.
const FOLDER: &str = "golden";

/// Cases of one plugin.
const CASES_MAX: usize = 10_000;

/// Which cases, and what to do with what comes out.
#[derive(Debug, Clone, Copy, Default)]
pub struct Which<'a> {
    /// Only those whose name contains this.
    pub filter: Option<&'a str>,
    /// Writes what came out as what is expected.
    pub bless: bool,
}

/// One file of cases.
struct File {
    path: PathBuf,
    /// As it stands, so that `--bless` keeps what it does not touch.
    value: Value,
}

impl File {
    fn cases(&self) -> anyhow::Result<Vec<Case>> {
        let cases = self.value.get("cases").cloned().unwrap_or_default();
        serde_json::from_value(cases)
            .with_context(|| format!("`{}`: expected {{\"cases\": [case, ...]}}", self.path.display()))
    }

    fn expected(&self, position: usize) -> Option<&Value> {
        self.value.pointer(&format!("/cases/{position}/expect"))
    }

    fn bless(&mut self, position: usize, result: Value) {
        if let Some(Value::Object(case)) = self.value.pointer_mut(&format!("/cases/{position}")) {
            case.insert("expect".to_owned(), result);
        }
    }
}

/// What came of one case.
struct Row {
    name: String,
    file: PathBuf,
    ok: bool,
    fuel: Option<u64>,
    time: Duration,
    /// What differs, for a case that does not hold.
    detail: Option<String>,
}

/// Runs it.
///
/// # Errors
/// When there is no component, no case, or a file that is malformed.
pub fn test(shared: &Shared, folder: &Path, which: &Which<'_>) -> anyhow::Result<Exit> {
    let subject = Subject::read(folder)?;
    let mut stage = Stage::new(shared, &subject, Engine::default())?;
    let mut rows = Vec::new();
    for mut file in files(folder)? {
        for (position, case) in file.cases()?.iter().enumerate() {
            if which.filter.is_some_and(|word| !case.name.contains(word)) {
                continue;
            }
            let began = Instant::now();
            let ran = stage.run(case);
            let time = began.elapsed();
            let row =
                Row { name: case.name.clone(), file: file.path.clone(), ok: true, fuel: None, time, detail: None };
            rows.push(match ran {
                Ok(Ran { result, fuel }) => {
                    let detail = if which.bless { None } else { difference(file.expected(position), &result) };
                    if which.bless {
                        file.bless(position, result);
                    }
                    Row { ok: detail.is_none(), fuel, detail, ..row }
                }
                Err(error) => Row { ok: false, detail: Some(format!("{error:#}")), ..row },
            });
        }
        if which.bless {
            fs::write(&file.path, format!("{}\n", serde_json::to_string_pretty(&file.value)?))
                .with_context(|| format!("`{}` cannot be written", file.path.display()))?;
        }
    }
    if rows.is_empty() {
        anyhow::bail!("no case was run\nhint: golden cases are `{}`", folder.join(FOLDER).join("*.json").display());
    }
    report(shared, &rows);
    Ok(if rows.iter().all(|row| row.ok) { Exit::Good } else { Exit::Differs })
}

fn report(shared: &Shared, rows: &[Row]) {
    if shared.json {
        let rows: Vec<Value> = rows
            .iter()
            .map(|row| {
                let micros = u64::try_from(row.time.as_micros()).unwrap_or(u64::MAX);
                json!({"name": row.name, "file": row.file, "ok": row.ok, "fuel": row.fuel, "us": micros, "detail": row.detail})
            })
            .collect();
        output::json(&rows);
        return;
    }
    for row in rows {
        let mark = if row.ok { "ok  " } else { "FAIL" };
        let fuel = row.fuel.map_or(String::new(), |fuel| format!("  fuel {fuel}"));
        output::line(format_args!("{mark} {}{fuel}  {:.1} ms", row.name, row.time.as_secs_f64() * 1000.0));
        if let Some(detail) = &row.detail {
            output::line(format_args!("     {}", detail.replace('\n', "\n     ")));
        }
    }
    let good = rows.iter().filter(|row| row.ok).count();
    output::line(format_args!("{good} of {} cases hold", rows.len()));
}

/// Runs each case twice, once with instances kept and once without, and says whether the bytes are the same.
pub(super) fn twice(shared: &Shared, folder: &Path) -> anyhow::Result<String> {
    let subject = Subject::read(folder)?;
    let mut stages = [false, true]
        .map(|drop_instances| Stage::new(shared, &subject, Engine { drop_instances }))
        .into_iter()
        .collect::<anyhow::Result<Vec<_>>>()?;
    let mut count = 0;
    for file in files(folder)? {
        for case in file.cases()? {
            let mut texts = Vec::new();
            for stage in &mut stages {
                texts.push(stage.run(&case).with_context(|| format!("case `{}`", case.name))?.result.to_string());
            }
            if texts.windows(2).any(|pair| pair.first() != pair.last()) {
                anyhow::bail!("case `{}`: two runs differ\n- {}", case.name, texts.join("\n- "));
            }
            count += 1;
        }
    }
    Ok(format!("{count} cases give the same bytes in kept and in fresh instances"))
}

/// Hosts with the plugin under test and what stands beside it.
struct Stage<'a> {
    shared: &'a Shared,
    workbench: Workbench,
    candidate: Candidate,
    kind: loopwright_contract::episode::PluginKind,
    hosts: BTreeMap<Vec<String>, PluginHost>,
}

impl<'a> Stage<'a> {
    fn new(shared: &'a Shared, subject: &Subject, engine: Engine) -> anyhow::Result<Self> {
        let workbench = Workbench::new(wire::config(shared, engine))?;
        let candidate = subject.candidate()?;
        let kind = workbench.inspect(&candidate).map_err(|error| anyhow::anyhow!(chain(&error)))?.record().kind;
        Ok(Self { shared, workbench, candidate, kind, hosts: BTreeMap::new() })
    }

    fn run(&mut self, case: &Case) -> anyhow::Result<Ran> {
        let beside = case.beside();
        if !self.hosts.contains_key(&beside) {
            let host = self.install(&beside)?;
            self.hosts.insert(beside.clone(), host);
        }
        let host = self.hosts.get(&beside).context("the host was just made")?;
        case.run(host, &self.candidate.name, self.kind)
    }

    fn install(&self, beside: &[String]) -> anyhow::Result<PluginHost> {
        let mut candidates = vec![self.candidate.clone()];
        if !beside.is_empty() {
            let index = wire::index(self.shared)?;
            for name in beside.iter().filter(|name| **name != self.candidate.name.as_str()) {
                candidates.push(index.load(index.find(name)?)?.into());
            }
        }
        // The author runs their own plugin on their own machine: it gets what it asks for.
        let policy = GrantPolicy::trusting();
        let engines = Arc::clone(&self.workbench.engines);
        let host =
            PluginHost::install(engines, self.workbench.config.clone(), &policy, Arc::new(NoWorlds), &candidates);
        host.map_err(|error| anyhow::anyhow!(chain(&error)))
    }
}

/// The files, sorted.
fn files(folder: &Path) -> anyhow::Result<Vec<File>> {
    let folder = folder.join(FOLDER);
    let mut paths: Vec<PathBuf> = fs::read_dir(&folder)
        .with_context(|| format!("no golden cases in `{}`", folder.display()))?
        .map(|entry| entry.map(|entry| entry.path()))
        .collect::<Result<_, _>>()?;
    paths.retain(|path| path.extension().is_some_and(|extension| extension == "json"));
    paths.sort();
    let mut files = Vec::new();
    let mut count = 0;
    for path in paths {
        let text = fs::read_to_string(&path).with_context(|| format!("`{}` cannot be read", path.display()))?;
        let value = serde_json::from_str(&text).with_context(|| format!("`{}` is no JSON", path.display()))?;
        let file = File { path, value };
        count += file.cases()?.len();
        files.push(file);
    }
    if count > CASES_MAX {
        anyhow::bail!("expected at most {CASES_MAX} golden cases, found {count}");
    }
    Ok(files)
}

/// Why a result is not what was expected; none when it is.
fn difference(expected: Option<&Value>, found: &Value) -> Option<String> {
    match expected {
        Some(expected) if expected == found => None,
        Some(expected) => Some(format!("expected {expected}\nfound    {found}")),
        None => Some(format!(
            "nothing is expected yet, found {found}\nhint: `loopwright plugin test --bless` writes it, to be reviewed"
        )),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_case_without_an_expectation_does_not_hold() {
        let found = json!({"result": 1});
        assert_eq!(difference(Some(&found), &found), None);
        assert!(difference(Some(&json!({"result": 2})), &found).unwrap().contains("expected {\"result\":2}"));
        assert!(difference(None, &found).unwrap().contains("--bless"));
    }

    #[test]
    fn blessing_writes_the_expectation_and_keeps_the_rest() {
        let value = json!({"cases": [{"name": "a", "tool": "t", "arguments": {}}], "note": 1});
        let mut file = File { path: "cases.json".into(), value };
        assert_eq!(file.expected(0), None);
        file.bless(0, json!({"result": 1}));
        assert_eq!(file.expected(0), Some(&json!({"result": 1})));
        assert_eq!((file.value.get("note"), file.cases().unwrap().len()), (Some(&json!(1)), 1));
    }

    #[test]
    fn what_is_no_case_is_refused() {
        for cases in [
            json!([{"tool": "t"}]),
            json!([{"name": "a", "tols": 1}]),
            json!({}),
            json!([{"name": "a", "tool": "a b"}]),
        ] {
            let file = File { path: "cases.json".into(), value: json!({"cases": cases}) };
            assert!(file.cases().is_err());
        }
    }

    #[test]
    fn more_cases_than_are_allowed_are_refused() {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join(FOLDER)).unwrap();
        let write = |count: usize| {
            let cases = vec![json!({"name": "a"}); count];
            fs::write(folder.path().join(FOLDER).join("cases.json"), json!({"cases": cases}).to_string()).unwrap();
            files(folder.path())
        };
        assert!(write(CASES_MAX).is_ok());
        assert!(write(CASES_MAX + 1).is_err());
    }
}
