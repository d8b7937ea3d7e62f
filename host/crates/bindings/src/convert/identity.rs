//! Who a plugin says that it is.

use loopwright_contract::name::PluginName;
use serde_json::Value;

use super::{bounded, ext_in, json_in, named};
use crate::{Violation, afv::plugin};

/// Bytes of a version.
const VERSION_BYTES_MAX: usize = 64;
/// The `ext` key that says that an environment keeps state in its own memory.
const STATEFUL: &str = "stateful";
/// The `ext` key of a tool plugin that belongs to one world.
const WORLD: &str = "world";

/// A plugin's description of itself.
#[derive(Debug, Clone, PartialEq)]
pub struct Identity {
    /// Its name.
    pub name: PluginName,
    /// Its version.
    pub version: String,
    /// JSON Schema of its configuration, where it takes one.
    pub config_schema: Option<Value>,
    /// Growth.
    pub ext: Vec<(String, Value)>,
}

impl Identity {
    /// The world that a tool plugin belongs to, when it belongs to one.
    #[must_use]
    pub fn world(&self) -> Option<&str> {
        self.ext.iter().find(|(key, _)| key == WORLD).and_then(|(_, value)| value.as_str())
    }

    /// Whether an environment keeps state in its own memory, so that it cannot be forked.
    #[must_use]
    pub fn is_stateful(&self) -> bool {
        self.ext.iter().any(|(key, value)| key == STATEFUL && *value == Value::Bool(true))
    }
}

/// Reads an identity.
///
/// # Errors
/// [`Violation`] for a malformed name, a version of more than 64 bytes, or JSON outside the contract.
pub fn identity_in(identity: plugin::Identity) -> Result<Identity, Violation> {
    Ok(Identity {
        name: named("name", identity.name.parse())?,
        version: bounded("version", identity.version, VERSION_BYTES_MAX)?,
        config_schema: identity.config_schema.map(|text| json_in("config-schema", &text)).transpose()?,
        ext: ext_in(identity.ext)?,
    })
}
