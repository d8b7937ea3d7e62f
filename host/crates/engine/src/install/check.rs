//! Whether what a plugin says of itself is what the contract asks of every plugin of its kind, whoever else is installed.

use std::collections::BTreeSet;

use loopwright_contract::{
    action::reserved,
    capability::{CollectionAccess, Request},
    name::{CollectionName, Lang},
    skill::SkillCard,
    tool::{AccessRule, Catalogue, Localized, ToolSpec},
};

use super::{Says, schema};
use crate::{Refusal, installed::ToolEntry};

fn contract(function: &'static str, what: String) -> Refusal {
    Refusal::Contract { function, what }
}

/// Whether a plugin asks for all that it declares to touch.
pub(super) fn declared(says: &Says, request: &Request) -> Result<(), Refusal> {
    let Says::Tool(catalogue) = says else { return Ok(()) };
    let own = |name: &CollectionName| catalogue.collections.iter().any(|spec| spec.name == *name);
    for uses in catalogue.uses.iter().filter(|uses| !own(&uses.name)) {
        let access = if uses.write { CollectionAccess::Write } else { CollectionAccess::Read };
        if request.capabilities.collections.get(&uses.name).is_none_or(|asked| *asked < access) {
            let (name, way) = (&uses.name, if uses.write { "write" } else { "read" });
            let entry = format!("{{\"capability\": \"collection\", \"name\": \"{name}\", \"access\": \"{way}\"}}");
            let reason = format!(
                "specs declares that it would {way} collection `{name}`, and the request does not ask for that\nhint: add {entry} to request.json"
            );
            return Err(Refusal::Request { reason });
        }
    }
    Ok(())
}

/// What calls of each tool need, in the catalogue's order.
pub(super) fn catalogue(catalogue: &Catalogue) -> Result<Vec<ToolEntry>, Refusal> {
    let mut names = BTreeSet::new();
    let mut collections = BTreeSet::new();
    for spec in &catalogue.collections {
        if !collections.insert(&spec.name) {
            return Err(contract("specs", format!("collection `{}` stands there twice", spec.name)));
        }
        if let Some(schema) = &spec.schema {
            schema::any(schema)
                .map_err(|error| contract("specs", format!("collection `{}`.schema: {error}", spec.name)))?;
        }
    }
    let entry = |spec: &ToolSpec| {
        let inside = |what: String| contract("specs", format!("tool `{}`.{what}", spec.name));
        texts("description", &spec.description).map_err(inside)?;
        access(spec).map_err(inside)?;
        Ok(ToolEntry {
            plugin: 0,
            name: spec.name.as_str().to_owned(),
            arguments: schema::arguments(&spec.arguments_schema)
                .map_err(|error| inside(format!("arguments-schema: {error}")))?,
            result: schema::any(&spec.result_schema).map_err(|error| inside(format!("result-schema: {error}")))?,
        })
    };
    for spec in &catalogue.tools {
        if !names.insert(&spec.name) {
            return Err(contract("specs", format!("tool `{}` stands there twice", spec.name)));
        }
        unreserved(spec)?;
    }
    catalogue.tools.iter().map(entry).collect()
}

fn unreserved(spec: &ToolSpec) -> Result<(), Refusal> {
    let name = spec.name.as_str();
    if reserved::NAMES.contains(&name) || name.starts_with(reserved::SKILL_PREFIX) {
        return Err(Refusal::Taken { what: "tool", name: name.to_owned(), by: "the planner's own actions".into() });
    }
    Ok(())
}

fn texts(field: &str, texts: &[Localized]) -> Result<(), String> {
    match texts.first() {
        Some(first) if first.lang == Lang::english() => Ok(()),
        Some(first) => Err(format!("{field}: expected English (`en`) first, found `{}`", first.lang)),
        None => Err(format!("{field}: expected at least one text, found none")),
    }
}

/// The rules are tried in order: one without a condition ends them, so it stands last and only there.
fn access(spec: &ToolSpec) -> Result<(), String> {
    let Some((last, before)) = spec.access.split_last() else {
        return Err("access: expected at least one rule, found none".into());
    };
    if last.when.is_some() {
        return Err("access: expected the last rule to have no `when`".into());
    }
    if let Some(position) = before.iter().position(|rule| rule.when.is_none()) {
        return Err(format!("access[{position}]: a rule without `when` that is not the last hides the rules after it"));
    }
    for (position, rule) in spec.access.iter().enumerate() {
        argument(spec, rule).map_err(|error| format!("access[{position}]: {error}"))?;
    }
    Ok(())
}

fn argument(spec: &ToolSpec, rule: &AccessRule) -> Result<(), String> {
    let Some(when) = &rule.when else { return Ok(()) };
    if when.one_of.is_empty() {
        return Err("`one-of` is empty: the rule never applies".into());
    }
    let known = spec.arguments_schema.get("properties").and_then(|properties| properties.get(&when.argument)).is_some();
    if known { Ok(()) } else { Err(format!("argument `{}` is not in the arguments' schema", when.argument)) }
}

/// A skill's card.
pub(super) fn card(card: &SkillCard) -> Result<(), Refusal> {
    texts("summary", &card.summary).map_err(|what| contract("card", what))
}
