//! From component bytes to an installed plugin: compile, look at what it imports and exports, link, ask it who it is, check what it says.

mod assemble;
mod check;
mod inspect;
mod linker;
mod lookalike;
mod schema;
mod world;

pub(crate) use assemble::settle;
pub(crate) use inspect::Code;
pub use inspect::{Inspected, Says, Start};

use std::sync::Arc;

use loopwright_contract::{digest::ContentDigest, episode::PluginKind, name::PluginName};
use loopwright_registry::Package;

use crate::{
    EngineConfig, Engines, GrantPolicy, InstallError, Trust,
    installed::{Installed, WorldSource},
};

/// A component to install.
#[derive(Debug, Clone)]
pub struct Candidate {
    /// The name under which it is installed.
    pub name: PluginName,
    /// The version that its index names; none: whatever it says.
    pub version: Option<String>,
    /// The kind that its index names; none: whatever it exports.
    pub kind: Option<PluginKind>,
    /// The digest of the bytes.
    pub digest: ContentDigest,
    /// The component.
    pub bytes: Vec<u8>,
    /// Whose it is, by the operator's word.
    pub trust: Trust,
}

impl From<Package> for Candidate {
    fn from(package: Package) -> Self {
        let Package { entry, bytes } = package;
        let trust = if entry.first_party { Trust::FirstParty } else { Trust::ThirdParty };
        Self {
            trust,
            name: entry.name,
            version: Some(entry.version.to_string()),
            kind: entry.kind,
            digest: entry.digest,
            bytes,
        }
    }
}

impl Candidate {
    /// A component from elsewhere than an index, and a third party's.
    #[must_use]
    pub fn new(name: PluginName, bytes: Vec<u8>) -> Self {
        Self { name, version: None, kind: None, digest: ContentDigest::of(&bytes), bytes, trust: Trust::ThirdParty }
    }
}

/// Compiles a component and asks it who it is, without any grant.
///
/// # Errors
/// [`InstallError`] with what is wrong with it.
pub fn inspect(
    engines: &Arc<Engines>,
    config: &EngineConfig,
    candidate: &Candidate,
) -> Result<Inspected, InstallError> {
    inspect::inspect(engines, config, candidate)
        .map_err(|reason| InstallError { plugin: candidate.name.clone(), reason })
}

/// Installs components together: no name may be taken twice among them.
pub(crate) fn install(
    engines: Arc<Engines>,
    config: EngineConfig,
    policy: &GrantPolicy,
    worlds: Arc<dyn WorldSource>,
    candidates: &[Candidate],
) -> Result<Installed, InstallError> {
    let inspected =
        candidates.iter().map(|candidate| inspect(&engines, &config, candidate)).collect::<Result<Vec<_>, _>>()?;
    assemble::assemble(engines, config, policy, worlds, inspected)
}
