//! Between the generated exports and the traits: one function for each exported function. Only the export macros name it.

mod environment;
mod skill;
mod tool;
mod verifier;

pub use environment::{describe_environment, reset, step};
pub use skill::{card, check, describe_skill, guidance};
pub use tool::{ToolCache, call, describe_tool, specs};
pub use verifier::{describe_verifier, judge};

use serde_json::Value;

use crate::bindings::{plugin, types};
use crate::call::Success;
use crate::failure::{Failure, Fault};
use crate::host::write_log;
use crate::json::Json;
use crate::phone::Level;
use crate::plugin::Identity;

/// Tells the host's trace why, and traps: the host rolls back the call and records a fault of the guest.
fn trap(fault: &Fault) -> ! {
    write_log(Level::Error, fault.message());
    core::arch::wasm32::unreachable()
}

fn identity(identity: Identity, config_schema: Option<Value>) -> plugin::Identity {
    let stateful = identity.stateful.then(|| ("stateful".to_owned(), "true".to_owned()));
    plugin::Identity {
        name: identity.name.to_owned(),
        version: identity.version.to_owned(),
        config_schema: config_schema.map(|schema| schema.to_string()),
        ext: stateful.into_iter().collect(),
    }
}

fn lower_success(success: Success) -> types::Success {
    types::Success {
        message: success.message,
        data: success.data.into_string(),
    }
}

/// A refusal as the contract has it; a fault traps.
fn lower_failure(failure: Failure) -> types::Failure {
    match failure.into_parts() {
        Ok((code, message, data)) => types::Failure {
            code: code.get(),
            message,
            data: data.map(|data| Json::from(data).into_string()),
        },
        Err(fault) => trap(&fault),
    }
}

fn localized(texts: impl Iterator<Item = (&'static str, &'static str)>) -> Vec<types::Localized> {
    let texts = texts.map(|(lang, text)| types::Localized {
        lang: lang.to_owned(),
        text: text.to_owned(),
    });
    texts.collect()
}

fn names(names: &[&'static str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
