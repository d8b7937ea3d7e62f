//! Why a verifier is not swapped. The old one serves on in every case.

use loopwright_contract::{
    digest::ContentDigest,
    episode::PluginKind,
    fault::{GuestFault, HostFault},
    name::PluginName,
};

use crate::InstallError;

/// Why a verifier is not swapped.
#[derive(Debug, thiserror::Error)]
pub enum SwapError {
    /// There is no such verifier to replace.
    #[error("verifier `{name}` is not installed; there are: {}", known.join(", "))]
    Unknown {
        /// The name that was asked for.
        name: PluginName,
        /// Those that there are.
        known: Vec<String>,
    },
    /// The component is not acceptable.
    #[error(transparent)]
    Install(#[from] InstallError),
    /// The component is a plugin of another kind.
    #[error("expected a verifier to replace `{name}`, found a plugin of kind {kind:?}")]
    NotAVerifier {
        /// Whose place it should take.
        name: PluginName,
        /// What it is.
        kind: PluginKind,
    },
    /// It failed when it was tried out.
    #[error("verifier `{name}` failed its trial: {reason}")]
    Trial {
        /// Which.
        name: PluginName,
        /// On what, and how.
        reason: String,
        /// The fault, where it was one.
        #[source]
        fault: Option<GuestFault>,
    },
    /// It serves already, or runs as the shadow.
    #[error("{digest} is there already as `{name}`")]
    Same {
        /// Whose place.
        name: PluginName,
        /// The component.
        digest: ContentDigest,
    },
    /// It was put aside because it failed too often.
    #[error(
        "{digest} was put aside as `{name}`: it failed {faults} times while it served\nhint: mend it and ship it under a new version"
    )]
    Quarantined {
        /// Whose place.
        name: PluginName,
        /// The component.
        digest: ContentDigest,
        /// Its faults.
        faults: u32,
    },
    /// There is nothing to go back to.
    #[error("verifier `{name}` has no earlier generation to go back to")]
    NoPrevious {
        /// Which.
        name: PluginName,
    },
    /// The host failed.
    #[error("the host failed")]
    Host(#[from] HostFault),
}
