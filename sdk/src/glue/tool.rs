//! The exports of a tool plugin.

use std::sync::OnceLock;

use super::{announce_panics, identity, localized, lower_failure, lower_success, names};
use crate::access::{Effect, Rule};
use crate::bindings::tool::{Catalogue, CollectionUse};
use crate::bindings::{plugin, types};
use crate::host::{Port, lift_call};
use crate::phone::Phone;
use crate::plugin::{ToolPlugin, ToolTable};
use crate::storage::Collection;
use crate::tool::Tool;

/// The tools of an instance, built at its first call.
#[derive(Debug)]
pub struct ToolCache(OnceLock<ToolTable>);

impl ToolCache {
    /// Nothing built yet.
    #[expect(clippy::new_without_default, reason = "only the export macro makes one, in a static")]
    pub const fn new() -> Self {
        Self(OnceLock::new())
    }
}

pub fn describe_tool<P: ToolPlugin>() -> plugin::Identity {
    identity(P::IDENTITY, None)
}

pub fn specs<P: ToolPlugin>() -> Catalogue {
    announce_panics();
    let storage = P::storage();
    let uses = storage.used.iter().map(|each| CollectionUse { name: each.name.to_owned(), write: each.write });
    Catalogue {
        tools: P::tools().iter().map(tool_spec).collect(),
        uses: uses.collect(),
        collections: storage.owned.into_iter().map(collection_spec).collect(),
    }
}

pub fn call<P: ToolPlugin>(cache: &'static ToolCache, call: types::ToolCall) -> Result<types::Success, types::Failure> {
    announce_panics();
    let table = cache.0.get_or_init(ToolTable::of::<P>);
    match table.call(&mut Phone::new(Port), &lift_call(call)) {
        Ok(success) => Ok(lower_success(success)),
        Err(failure) => Err(lower_failure(failure)),
    }
}

fn tool_spec(tool: &Tool) -> types::ToolSpec {
    types::ToolSpec {
        name: tool.name.to_owned(),
        domain: tool.domain.to_owned(),
        description: localized(tool.texts.iter().map(|text| (text.lang, text.description))),
        keywords: localized(tool.texts.iter().map(|text| (text.lang, text.keywords))),
        arguments_schema: tool.arguments_schema().to_string(),
        result_schema: tool.result_schema().to_string(),
        access: tool.rules.iter().map(access_rule).collect(),
        ext: Vec::new(),
    }
}

fn access_rule(rule: &Rule) -> types::AccessRule {
    let when = rule.when.map(|(argument, values)| types::ArgMatch {
        argument: argument.to_owned(),
        one_of: values.to_values().iter().map(ToString::to_string).collect(),
    });
    types::AccessRule {
        when,
        effect: match rule.effect {
            Effect::Read => types::Effect::Read,
            Effect::Write => types::Effect::Write,
            Effect::Destructive => types::Effect::Destructive,
        },
        requires: rule.requires.iter().map(|requirement| requirement.to_text()).collect(),
    }
}

fn collection_spec(collection: Collection) -> types::CollectionSpec {
    let initial = collection.initial.into_iter().map(|(key, document)| types::Doc { key, value: document.to_string() });
    types::CollectionSpec {
        name: collection.name.to_owned(),
        schema: collection.schema.map(|describe| crate::schema::of_result(describe).to_string()),
        bookkeeping: names(&collection.bookkeeping),
        indexes: names(&collection.indexes),
        initial: initial.collect(),
    }
}

/// The Wasm half of `export_tool!`.
#[doc(hidden)]
#[macro_export]
macro_rules! __export_tool_on_wasm {
    ($plugin:ty) => {
        const _: () = {
            use $crate::bindings::{plugin, tool, types};

            static TOOLS: $crate::glue::ToolCache = $crate::glue::ToolCache::new();

            #[unsafe(link_section = "loopwright-sdk")]
            static SDK_VERSION: [u8; $crate::glue::SDK_VERSION.len()] = $crate::glue::SDK_VERSION;

            struct Component;

            impl tool::Guest for Component {
                fn describe() -> plugin::Identity {
                    $crate::glue::describe_tool::<$plugin>()
                }

                fn specs() -> tool::Catalogue {
                    $crate::glue::specs::<$plugin>()
                }

                fn call(call: types::ToolCall) -> ::core::result::Result<types::Success, types::Failure> {
                    $crate::glue::call::<$plugin>(&TOOLS, call)
                }
            }

    $crate::bindings::tool::__export_tool_world!(Component with_types_in $crate::bindings::tool);
        };
    };
}
