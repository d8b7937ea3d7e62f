//! Why the engine does not start, and why a plugin is not installed.

use loopwright_contract::{
    episode::PluginKind,
    fault::{GuestFault, HostFault},
    name::PluginName,
};

use crate::CompileFault;

/// Why the engine does not start.
#[derive(Debug, thiserror::Error)]
pub enum EngineError {
    /// The machine cannot run it as configured.
    #[error("the engine does not start: {reason}")]
    Start {
        /// What the machine refused.
        reason: String,
    },
}

/// Why a plugin is not installed. Nothing of it is kept.
#[derive(Debug, thiserror::Error)]
#[error("plugin `{plugin}` is not installed")]
pub struct InstallError {
    /// The plugin, by the name in its index.
    pub plugin: PluginName,
    /// What is wrong with it.
    #[source]
    pub reason: Refusal,
}

/// What is wrong with a component.
#[derive(Debug, thiserror::Error)]
pub enum Refusal {
    /// It is not a component that this engine compiles: cut, damaged, a core module, or something else altogether.
    #[error("expected a WebAssembly component: {reason}")]
    NotAComponent {
        /// What was found.
        reason: String,
    },
    /// It is machine code. Loading it would run it, so that none is taken from outside, whoever made it.
    #[error(
        "expected a WebAssembly component, found compiled code: none is taken from outside\nhint: install the component that it was compiled from"
    )]
    Precompiled,
    /// There is no machine code of it.
    #[error("it is not compiled")]
    Compile(#[source] CompileFault),
    /// It imports what no plugin of its kind may have.
    #[error("a plugin of kind {kind:?} may not import: {}", imports.join(", "))]
    ForeignImports {
        /// What it claims to be.
        kind: PluginKind,
        /// The imports that no plugin of the kind has, sorted.
        imports: Vec<String>,
    },
    /// What its author asks for cannot be read, or is less than what it declares.
    #[error("what it asks for: {reason}")]
    Request {
        /// Where, what was expected and what was found.
        reason: String,
    },
    /// It imports the interface of a capability that it does not ask for, or that no plugin of its kind may have.
    #[error(
        "it imports `{interface}`, which its request does not ask for, or which no plugin of kind {kind:?} may have\nhint: ask for the capability in request.json, and build it again"
    )]
    NotAskedFor {
        /// The interface.
        interface: String,
        /// What it claims to be.
        kind: PluginKind,
    },
    /// It exports another world than its index says, or none of ours.
    #[error("expected {expected}, found exports: {found}")]
    WrongWorld {
        /// The interface that was expected.
        expected: String,
        /// What it exports.
        found: String,
    },
    /// Its imports or exports have our names and other types.
    #[error("does not fit {}: {reason}", loopwright_bindings::WIT_PACKAGE)]
    Types {
        /// Which import or export, what was expected and what was found.
        reason: String,
    },
    /// It calls itself something else than its index does.
    #[error("{field}: the index says `{expected}`, the component says `{found}`")]
    Identity {
        /// `name` or `version`.
        field: &'static str,
        /// What the index says.
        expected: String,
        /// What the component says.
        found: String,
    },
    /// It says something of itself that the contract does not allow.
    #[error("{function}: {what}")]
    Contract {
        /// Which of its functions said it.
        function: &'static str,
        /// Where, what was expected and what was found.
        what: String,
    },
    /// A name that it wants is taken or reserved.
    #[error("{what} `{name}` is taken by {by}")]
    Taken {
        /// What the name is of.
        what: &'static str,
        /// The name.
        name: String,
        /// Who has it.
        by: String,
    },
    /// Its code failed when it was asked who it is.
    #[error("{function} failed")]
    Fault {
        /// Which function.
        function: &'static str,
        /// How it failed.
        #[source]
        fault: GuestFault,
    },
    /// The host failed.
    #[error("the host failed")]
    Host(#[source] HostFault),
}
