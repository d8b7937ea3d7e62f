//! `plugin diff`: what an update changes.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use loopwright_contract::capability::Capabilities;
use loopwright_engine::{Inspected, Says};
use serde_json::{Value, json};

use super::{Subject, Workbench, check::said};
use crate::cli::Shared;
use crate::exit::Exit;
use crate::output;
use crate::wire::{self, Engine};

/// One difference: where, before and after.
type Difference = (String, Value, Value);

/// Runs it.
///
/// # Errors
/// When one of them is no plugin.
pub fn diff(shared: &Shared, a: &Path, b: &Path) -> anyhow::Result<Exit> {
    let workbench = Workbench::new(wire::config(shared, Engine::default()))?;
    let (old, new) = (facts(&workbench, a)?, facts(&workbench, b)?);
    let differences = differences(&old, &new);
    if shared.json {
        let rows: Vec<Value> =
            differences.iter().map(|(at, before, after)| json!({"at": at, "before": before, "after": after})).collect();
        output::json(&rows);
    } else if differences.is_empty() {
        output::line("no difference");
    } else {
        for (at, before, after) in &differences {
            output::line(format_args!("{at}\n  - {}\n  + {}", shown(before), shown(after)));
        }
    }
    Ok(if differences.is_empty() { Exit::Good } else { Exit::Differs })
}

fn shown(value: &Value) -> String {
    match value {
        Value::Null => "(absent)".to_owned(),
        Value::String(text) => crate::table::cut(text, 400),
        other => crate::table::cut(&other.to_string(), 400),
    }
}

/// Everything that an update may change, by place.
fn facts(workbench: &Workbench, path: &Path) -> anyhow::Result<BTreeMap<String, Value>> {
    let subject = Subject::read(path)?;
    let inspected = workbench.inspect(&subject.candidate()?)?;
    let mut facts = BTreeMap::from([
        ("contract/imports".to_owned(), json!(inspected.imports)),
        ("contract/kind".to_owned(), json!(inspected.record().kind)),
        ("size/bytes".to_owned(), json!(subject.bytes.len())),
        ("size/start-fuel".to_owned(), json!(inspected.start.fuel)),
        ("size/memory-bytes".to_owned(), json!(inspected.start.memory_bytes)),
    ]);
    let asked = inspected.request.capabilities.singles();
    facts.extend(asked.iter().flat_map(Capabilities::lines).map(|line| (format!("capabilities/{line}"), json!(true))));
    facts.extend(identity(&inspected));
    facts.extend(declared(&inspected));
    Ok(facts)
}

fn identity(inspected: &Inspected) -> Vec<(String, Value)> {
    let all = said(inspected);
    let fields = all.as_object().into_iter().flatten().filter(|(key, _)| *key != "more");
    fields.map(|(key, value)| (format!("identity/{key}"), value.clone())).collect()
}

fn declared(inspected: &Inspected) -> Vec<(String, Value)> {
    match &inspected.says {
        Says::Tool(catalogue) => {
            let tools = catalogue.tools.iter().flat_map(|tool| {
                let fields = json!(tool);
                let fields: Vec<_> = fields.as_object().cloned().into_iter().flatten().collect();
                fields.into_iter().map(move |(key, value)| (format!("tools/{}/{key}", tool.name), value))
            });
            let owned = catalogue.collections.iter().map(|spec| (format!("collections/{}", spec.name), json!(spec)));
            let uses = catalogue.uses.iter().map(|uses| (format!("uses/{}", uses.name), json!(uses.write)));
            tools.chain(owned).chain(uses).collect()
        }
        Says::Skill(card) => vec![("skill".to_owned(), json!(card))],
        Says::Environment | Says::Verifier => Vec::new(),
    }
}

fn differences(old: &BTreeMap<String, Value>, new: &BTreeMap<String, Value>) -> Vec<Difference> {
    let places: BTreeSet<&String> = old.keys().chain(new.keys()).collect();
    let value = |facts: &BTreeMap<String, Value>, at: &String| facts.get(at).cloned().unwrap_or_default();
    let all = places.into_iter().map(|at| (at.clone(), value(old, at), value(new, at)));
    all.filter(|(_, before, after)| before != after).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_added_gone_and_changed_is_told_in_order() {
        let facts = |pairs: &[(&str, Value)]| -> BTreeMap<String, Value> {
            pairs.iter().map(|(at, value)| ((*at).to_owned(), value.clone())).collect()
        };
        let old = facts(&[("a", json!(1)), ("b", json!([1])), ("c", json!("same"))]);
        let new = facts(&[("b", json!([1, 2])), ("c", json!("same")), ("d", json!(true))]);
        let expected = [
            ("a".to_owned(), json!(1), Value::Null),
            ("b".to_owned(), json!([1]), json!([1, 2])),
            ("d".to_owned(), Value::Null, json!(true)),
        ];
        assert_eq!(differences(&old, &new), expected);
    }
}
