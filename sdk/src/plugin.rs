//! What every plugin says of itself, and the trait of tool plugins.

use crate::call::{Success, ToolCall};
use crate::failure::Failure;
use crate::phone::Phone;
use crate::storage::Storage;
use crate::tool::Tool;

/// Who a plugin is. The host trusts the component's digest, never this.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Identity {
    pub(crate) name: &'static str,
    pub(crate) version: &'static str,
    pub(crate) stateful: bool,
    pub(crate) world: Option<&'static str>,
}

impl Identity {
    /// A plugin of this name (`a-z`, `0-9` and `-`, 1 to 64 characters) and semantic version. [`identity!`](crate::identity) takes the
    /// version from the crate.
    pub const fn new(name: &'static str, version: &'static str) -> Self {
        Self { name, version, stateful: false, world: None }
    }

    /// Says that an environment keeps state in its own memory: it cannot be forked, and each reset is a new instance.
    #[must_use]
    pub const fn stateful(mut self) -> Self {
        self.stateful = true;
        self
    }

    /// Says that a tool plugin belongs to the world of this name and to no other: the host installs it only for tasks of that world, and
    /// those tasks get no plugin of another.
    #[must_use]
    pub const fn world(mut self, name: &'static str) -> Self {
        self.world = Some(name);
        self
    }
}

/// An [`Identity`] with the version of the crate that calls it.
///
/// ```
/// use loopwright_sdk::{Identity, identity};
///
/// const NOTES: Identity = identity!("notes");
/// # let _ = NOTES;
/// ```
#[macro_export]
macro_rules! identity {
    ($name:literal) => {
        $crate::Identity::new($name, ::core::env!("CARGO_PKG_VERSION"))
    };
}

/// A tool plugin: the tools of one app, as pure code over state that the host owns.
///
/// It keeps nothing between calls; the host may drop its instance after any call. Export it with [`export_tool!`](crate::export_tool).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a tool plugin",
    label = "not a tool plugin",
    note = "write `impl ToolPlugin for {Self}` with `IDENTITY`, `tools` and `storage`",
    note = "an environment is exported with `export_environment!`, a verifier with `export_verifier!`, a skill with `export_skill!`"
)]
pub trait ToolPlugin {
    /// Who the plugin is.
    const IDENTITY: Identity;

    /// The tools, 1 to 64 of them. Called once for each instance: declare, and compute nothing.
    fn tools() -> Vec<Tool>;

    /// The collections. Called once for each component, before any grant.
    fn storage() -> Storage;
}

/// The tools of a plugin, built once for each instance and looked up by name.
#[derive(Debug)]
pub(crate) struct ToolTable(Vec<Tool>);

impl ToolTable {
    pub(crate) fn of<P: ToolPlugin>() -> Self {
        Self(P::tools())
    }

    pub(crate) fn get(&self, name: &str) -> Option<&Tool> {
        self.0.iter().find(|tool| tool.name == name)
    }

    pub(crate) fn iter(&self) -> impl Iterator<Item = &Tool> {
        self.0.iter()
    }

    /// Runs a call.
    pub(crate) fn call(&self, phone: &mut Phone, call: &ToolCall) -> Result<Success, Failure> {
        match self.get(&call.tool) {
            Some(tool) => tool.serve(phone, &call.arguments),
            None => {
                let names: Vec<String> = self.iter().map(|tool| tool.name.to_owned()).collect();
                Err(Failure::not_found("tool", call.tool.as_str()).with_allowed(names))
            }
        }
    }
}
