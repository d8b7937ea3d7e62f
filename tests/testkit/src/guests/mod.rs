//! Guests out of WAT: a core module with the canonical ABI's exports, made a component with the contract's metadata. It knows no engine.

pub mod hostile;
pub mod image;

use loopwright_contract::capability::{REQUEST_FORMAT, REQUEST_SECTION};
use serde_json::{Value, json};
use wasm_encoder::{ComponentSection as _, CustomSection};
use wit_component::{ComponentEncoder, StringEncoding, embed_component_metadata};
use wit_parser::Resolve;

/// The whole contract as one text; `cargo xtask tidy` compares it with `wit/`.
const CONTRACT: &str = include_str!("../../../golden/wit/afv.wit");

/// Why a guest was not made.
#[derive(Debug, thiserror::Error)]
pub enum GuestError {
    /// Its text is no module.
    #[error("guest `{guest}` is not WAT")]
    Text {
        /// Which guest.
        guest: String,
        /// Where, and what was expected.
        source: wat::Error,
    },
    /// Its module does not become a component.
    #[error("guest `{guest}` does not become a component of `{world}`: {reason}")]
    Component {
        /// Which guest.
        guest: String,
        /// Which world.
        world: String,
        /// What does not fit.
        reason: String,
    },
    /// The table of hostile guests is not as it should be.
    #[error("the table of hostile guests: {reason}")]
    Table {
        /// Which row, what was expected and what was found.
        reason: String,
    },
}

/// Makes a component of a world, such as `tool-plugin`, out of a module in WAT. `guest` names it in errors.
///
/// # Errors
/// `Text` or `Component`, with the place.
pub fn component(guest: &str, world: &str, wat: &str) -> Result<Vec<u8>, GuestError> {
    let module = wat::parse_str(wat).map_err(|source| GuestError::Text { guest: guest.to_owned(), source })?;
    encode(world, module).map_err(|reason| GuestError::Component {
        guest: guest.to_owned(),
        world: world.to_owned(),
        reason,
    })
}

/// The component with a request for these capabilities in it, as documents write them.
#[must_use]
pub fn with_request(mut component: Vec<u8>, capabilities: &Value) -> Vec<u8> {
    let request = json!({"format": REQUEST_FORMAT, "capabilities": capabilities}).to_string();
    CustomSection { name: REQUEST_SECTION.into(), data: request.as_bytes().into() }.append_to_component(&mut component);
    component
}

fn encode(world: &str, mut module: Vec<u8>) -> Result<Vec<u8>, String> {
    let mut resolve = Resolve::default();
    let package = resolve.push_str("afv.wit", CONTRACT).map_err(|error| format!("{error:#}"))?;
    let world = resolve.select_world(&[package], Some(world)).map_err(|error| format!("{error:#}"))?;
    embed_component_metadata(&mut module, &resolve, world, StringEncoding::UTF8)
        .map_err(|error| format!("{error:#}"))?;
    let encoder = ComponentEncoder::default().validate(true).module(&module);
    encoder.and_then(|mut encoder| encoder.encode()).map_err(|error| format!("{error:#}"))
}
