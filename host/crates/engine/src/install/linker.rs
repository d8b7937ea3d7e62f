//! What each plugin is linked with: the interfaces of its kind's world, and of capabilities those that it asks for. An interface that is not here
//! cannot be had.

use loopwright_bindings::afv;
use loopwright_contract::episode::PluginKind;
use wasmtime::{
    Engine,
    component::{HasSelf, Linker},
};

use crate::store::PluginState;

/// The interfaces of a kind's world, without package and version. `types` and `plugin` carry only types.
pub(super) fn imports_of(kind: PluginKind) -> &'static [&'static str] {
    match kind {
        PluginKind::Tool => &["types", "plugin", "log", "context", "state-read", "state-write"],
        PluginKind::Environment => {
            &["types", "plugin", "log", "context", "clock-control", "state-read", "state-write", "tools", "consent"]
        }
        PluginKind::Verifier => &["types", "plugin", "log", "evidence"],
        PluginKind::Skill => &["types", "plugin", "log", "state-read"],
    }
}

/// The interface that a kind exports.
pub(super) fn export_of(kind: PluginKind) -> &'static str {
    match kind {
        PluginKind::Tool => "tool",
        PluginKind::Environment => "environment",
        PluginKind::Verifier => "verifier",
        PluginKind::Skill => "skill",
    }
}

/// A linker for a plugin of a kind that asks for the interfaces `asked`.
pub(super) fn linker(engine: &Engine, kind: PluginKind, asked: &[&str]) -> wasmtime::Result<Linker<PluginState>> {
    let mut linker = Linker::new(engine);
    for interface in imports_of(kind).iter().chain(asked) {
        add(&mut linker, interface)?;
    }
    Ok(linker)
}

fn add(linker: &mut Linker<PluginState>, interface: &str) -> wasmtime::Result<()> {
    macro_rules! interfaces {
        ($($name:literal => $module:ident),* $(,)?) => {
            match interface {
                $($name => afv::$module::add_to_linker::<_, HasSelf<PluginState>>(linker, |state| state),)*
                _ => Ok(()),
            }
        };
    }
    interfaces! {
        "types" => types,
        "plugin" => plugin,
        "log" => log,
        "context" => context,
        "clock-control" => clock_control,
        "state-read" => state_read,
        "state-write" => state_write,
        "tools" => tools,
        "consent" => consent,
        "evidence" => evidence,
        "tool-caller" => tool_caller,
        "scratch" => scratch,
    }
}
