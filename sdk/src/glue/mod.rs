//! Between the generated exports and the traits: one function for each exported function. Only the export macros name it.

mod environment;
mod skill;
mod tool;
mod verifier;

pub use environment::{describe_environment, reset, step};
pub use skill::{card, check, describe_skill, guidance};
pub use tool::{ToolCache, call, describe_tool, specs};
pub use verifier::{describe_verifier, judge};

use std::sync::Once;

use serde_json::Value;

use crate::bindings::{plugin, types};
use crate::call::Success;
use crate::failure::{Failure, Fault};
use crate::host::write_log;
use crate::json::Json;
use crate::phone::Level;
use crate::plugin::Identity;

/// The SDK's version, which the export macros stamp into the custom section `loopwright-sdk` of the module.
pub const SDK_VERSION: [u8; SDK_VERSION_TEXT.len()] = {
    let mut version = [0; SDK_VERSION_TEXT.len()];
    version.copy_from_slice(SDK_VERSION_TEXT.as_bytes());
    version
};

const SDK_VERSION_TEXT: &str = env!("CARGO_PKG_VERSION");

/// Sends the message of a panic to the host's trace before it traps. Without this the trace would only say `unreachable`.
fn announce_panics() {
    static ANNOUNCED: Once = Once::new();
    ANNOUNCED.call_once(|| {
        std::panic::set_hook(Box::new(|panic| write_log(Level::Error, &panic.to_string())));
    });
}

/// Tells the host's trace why, and traps: the host rolls back the call and records a fault of the guest.
fn trap(fault: &Fault) -> ! {
    write_log(Level::Error, fault.message());
    core::arch::wasm32::unreachable()
}

fn identity(identity: Identity, config_schema: Option<Value>) -> plugin::Identity {
    let stateful = identity.stateful.then(|| ("stateful".to_owned(), "true".to_owned()));
    let world = identity.world.map(|name| ("world".to_owned(), Value::from(name).to_string()));
    plugin::Identity {
        name: identity.name.to_owned(),
        version: identity.version.to_owned(),
        config_schema: config_schema.map(|schema| schema.to_string()),
        ext: stateful.into_iter().chain(world).collect(),
    }
}

fn lower_success(success: Success) -> types::Success {
    types::Success { message: success.message, data: success.data.into_string() }
}

/// A refusal as the contract has it; a fault traps.
fn lower_failure(failure: Failure) -> types::Failure {
    match failure.into_parts() {
        Ok((code, message, data)) => {
            types::Failure { code: code.get(), message, data: data.map(|data| Json::from(data).into_string()) }
        }
        Err(fault) => trap(&fault),
    }
}

fn localized(texts: impl Iterator<Item = (&'static str, &'static str)>) -> Vec<types::Localized> {
    let texts = texts.map(|(lang, text)| types::Localized { lang: lang.to_owned(), text: text.to_owned() });
    texts.collect()
}

fn names(names: &[&'static str]) -> Vec<String> {
    names.iter().map(|name| (*name).to_owned()).collect()
}
