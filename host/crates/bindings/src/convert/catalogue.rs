//! What a tool plugin offers and asks for. Shapes only; whether names are free and schemas sound is the engine's to decide.

use loopwright_contract::{
    limits::LIST_LENGTH_MAX,
    name::ToolName,
    tool::{AccessRule, ArgumentMatch, Catalogue, CollectionSpec, CollectionUse, ToolSpec},
};

use super::{NAME_BYTES_MAX, bounded, call::effect_in, ext_in, json_in, list, localized_in, named, without_nul};
use crate::{Violation, afv::types, tool::exports::loopwright::afv::tool as wit};

/// Tools of one plugin.
const TOOLS_MAX: usize = 64;

/// Reads a catalogue.
///
/// # Errors
/// [`Violation`] with the place of the first thing that is malformed or beyond a limit.
pub fn catalogue_in(catalogue: wit::Catalogue) -> Result<Catalogue, Violation> {
    if catalogue.tools.is_empty() {
        return Err(Violation::new("tools", "expected 1 to 64 tools, found none"));
    }
    Ok(Catalogue {
        tools: list("tools", catalogue.tools, TOOLS_MAX, tool_in)?,
        collections: list("collections", catalogue.collections, LIST_LENGTH_MAX, collection_in)?,
        uses: list("uses", catalogue.uses, LIST_LENGTH_MAX, |uses| {
            Ok(CollectionUse { name: named("name", uses.name.parse())?, write: uses.write })
        })?,
    })
}

fn tool_in(tool: types::ToolSpec) -> Result<ToolSpec, Violation> {
    let name: ToolName = named("name", tool.name.parse())?;
    let inside = |error: Violation| Violation { at: format!("`{name}`.{}", error.at), ..error };
    let read = || {
        Ok(ToolSpec {
            name: name.clone(),
            domain: bounded("domain", tool.domain, NAME_BYTES_MAX)?,
            description: localized_in("description", tool.description)?,
            keywords: localized_in("keywords", tool.keywords)?,
            arguments_schema: json_in("arguments-schema", &tool.arguments_schema)?,
            result_schema: json_in("result-schema", &tool.result_schema)?,
            access: list("access", tool.access, LIST_LENGTH_MAX, rule_in)?,
            ext: ext_in(tool.ext)?,
        })
    };
    read().map_err(inside)
}

fn rule_in(rule: types::AccessRule) -> Result<AccessRule, Violation> {
    let when = rule.when.map(|when| {
        let one_of = list("one-of", when.one_of, LIST_LENGTH_MAX, |text| json_in("value", &text))?;
        Ok(ArgumentMatch { argument: without_nul("argument", when.argument)?, one_of })
    });
    let requires =
        list("requires", rule.requires, LIST_LENGTH_MAX, |text| bounded("requirement", text, NAME_BYTES_MAX))?;
    Ok(AccessRule { when: when.transpose()?, effect: effect_in(rule.effect), requires })
}

fn collection_in(spec: types::CollectionSpec) -> Result<CollectionSpec, Violation> {
    Ok(CollectionSpec {
        name: named("name", spec.name.parse())?,
        schema: spec.schema.map(|text| json_in("schema", &text)).transpose()?,
        bookkeeping: spec.bookkeeping,
        indexes: spec.indexes,
        initial: list("initial", spec.initial, LIST_LENGTH_MAX, |doc| {
            let value = json_in("value", &doc.value)?;
            Ok((without_nul("key", doc.key)?, value))
        })?,
    })
}
