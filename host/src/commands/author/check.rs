//! `plugin check`: whether a host would install a component, and what it costs.

use std::path::Path;

use loopwright_contract::fault::chain;
use loopwright_engine::{Inspected, Says};
use loopwright_registry::component;
use serde::Serialize;
use serde_json::{Value, json};

use super::{Subject, Workbench, golden};
use crate::cli::Shared;
use crate::exit::Exit;
use crate::output;
use crate::wire::{self, Engine};

/// Fuel that a start function may spend before it is remarked on: a fresh instance pays it each time.
const START_FUEL_NOTED: u64 = 1_000_000;

/// One thing that was looked at.
#[derive(Debug, Serialize)]
struct Finding {
    /// What.
    check: &'static str,
    /// Whether it holds.
    ok: bool,
    /// What was found, and where it does not hold, what was expected.
    detail: String,
}

impl Finding {
    fn new(check: &'static str, result: Result<String, String>) -> Self {
        let ok = result.is_ok();
        Self { check, ok, detail: result.unwrap_or_else(|error| error) }
    }
}

/// Runs it.
///
/// # Errors
/// When there is nothing to look at.
pub fn check(shared: &Shared, path: &Path) -> anyhow::Result<Exit> {
    let subject = Subject::read(path)?;
    let findings = findings(shared, &subject, path)?;
    let good = findings.iter().all(|finding| finding.ok);
    if shared.json {
        output::json(&json!({"path": subject.path, "ok": good, "checks": findings}));
    } else {
        for finding in &findings {
            let mark = if finding.ok { "ok  " } else { "FAIL" };
            output::line(format_args!("{mark} {:<12} {}", finding.check, finding.detail));
        }
    }
    Ok(if good { Exit::Good } else { Exit::Differs })
}

fn findings(shared: &Shared, subject: &Subject, path: &Path) -> anyhow::Result<Vec<Finding>> {
    let mut findings = vec![Finding::new("size", Ok(format!("{} bytes", subject.bytes.len())))];
    findings.push(Finding::new("request", asked(&subject.bytes)));
    let workbench = Workbench::new(wire::config(shared, Engine::default()))?;
    let candidate = subject.candidate()?;
    let inspected = match workbench.inspect(&candidate) {
        Ok(inspected) => inspected,
        Err(error) => {
            findings.push(Finding::new("world", Err(chain(&error))));
            return Ok(findings);
        }
    };
    let kind = crate::commands::plugin::kind(inspected.record().kind);
    let described = format!("{kind} {} {}", inspected.identity.name, inspected.identity.version);
    findings.push(Finding::new("world", Ok(described)));
    findings.push(Finding::new("imports", imports(&inspected)));
    findings.push(Finding::new("names", names(&inspected)));
    findings.push(Finding::new("start", start(&inspected)));
    // Asked a second time, in another instance: what differs depends on more than its code.
    let again = workbench.inspect(&candidate);
    findings.push(Finding::new("determinism", same(&inspected, again.as_ref().ok())));
    if path.is_dir() {
        findings.push(Finding::new("golden twice", golden::twice(shared, path).map_err(|error| format!("{error:#}"))));
    }
    Ok(findings)
}

/// What it asks for, in words.
fn asked(component: &[u8]) -> Result<String, String> {
    let request = component::inspect(component).map_err(|error| error.to_string())?.request;
    let lines = request.capabilities.lines();
    Ok(if lines.is_empty() { "asks for nothing".to_owned() } else { lines.join(", ") })
}

/// What a component says of itself, as one value.
pub(super) fn said(inspected: &Inspected) -> Value {
    let identity = &inspected.identity;
    let more = match &inspected.says {
        Says::Tool(catalogue) => json!(catalogue),
        Says::Skill(card) => json!(card),
        Says::Environment | Says::Verifier => Value::Null,
    };
    json!({"name": identity.name, "version": identity.version, "config_schema": identity.config_schema, "ext": identity.ext, "more": more})
}

fn same(first: &Inspected, second: Option<&Inspected>) -> Result<String, String> {
    match second.map(said) {
        Some(second) if second == said(first) => Ok("two fresh instances say the same".to_owned()),
        Some(_) => Err("two fresh instances say different things of themselves".to_owned()),
        None => Err("a second instance was refused".to_owned()),
    }
}

/// What it imports, and of what it asks for that which no plugin of its kind may have. That it asks for all that it imports and declares was
/// checked when it was inspected.
fn imports(inspected: &Inspected) -> Result<String, String> {
    let asked = &inspected.request.capabilities;
    let kind = inspected.record().kind;
    let never = asked.beyond(&asked.for_kind(kind));
    if !never.is_empty() {
        return Err(format!(
            "the request asks for what no plugin of kind {} may have: {}\nhint: take it out of request.json",
            crate::commands::plugin::kind(kind),
            never.join(", ")
        ));
    }
    let names: Vec<&str> = inspected
        .imports
        .iter()
        .map(|name| name.trim_start_matches("loopwright:afv/").split('@').next().unwrap_or_default())
        .filter(|name| !["types", "plugin"].contains(name))
        .collect();
    let unused: Vec<&str> = asked.interfaces().into_iter().filter(|name| !names.contains(name)).collect();
    let note =
        if unused.is_empty() { String::new() } else { format!("; asked for and not used: {}", unused.join(", ")) };
    Ok(if names.is_empty() { format!("none{note}") } else { format!("{}{note}", names.join(", ")) })
}

/// Names and schemas were checked when it was inspected; here is what they are.
fn names(inspected: &Inspected) -> Result<String, String> {
    match &inspected.says {
        Says::Tool(catalogue) => {
            let tools: Vec<&str> = catalogue.tools.iter().map(|tool| tool.name.as_str()).collect();
            let untranslated: Vec<&str> = catalogue
                .tools
                .iter()
                .filter(|tool| !tool.description.iter().any(|text| text.lang.as_str() == "zh"))
                .map(|tool| tool.name.as_str())
                .collect();
            let note = if untranslated.is_empty() {
                String::new()
            } else {
                format!("; no Chinese text: {}", untranslated.join(", "))
            };
            Ok(format!("tools {}; schemas valid{note}", tools.join(", ")))
        }
        Says::Skill(card) => Ok(format!("skill {}", card.name)),
        Says::Environment | Says::Verifier => Ok("none to check".to_owned()),
    }
}

fn start(inspected: &Inspected) -> Result<String, String> {
    let start = inspected.start;
    let costs =
        format!("{} fuel, {} bytes of memory, {} table elements", start.fuel, start.memory_bytes, start.table_elements);
    if start.fuel > START_FUEL_NOTED {
        return Err(format!(
            "{costs}: expected at most {START_FUEL_NOTED} fuel before the first call\nhint: do the work at build time or at the first call"
        ));
    }
    Ok(costs)
}
