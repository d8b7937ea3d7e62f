//! Verifiers that are replaced while everything runs.
//!
//! A verifier's place holds one *generation* behind an atomic pointer. A judgement takes the pointer once and finishes on what it took, so
//! that no verdict mixes two generations and none is lost. A new generation is compiled, linked and tried on its own before the pointer
//! moves; until then, and after any failure, the old one serves. It knows nothing of files: what an operator wants to survive a restart
//! is kept by the host.

mod error;
mod slot;
mod trial;

pub use error::SwapError;
pub use slot::{Disagreement, ShadowStatus, SwapEvent, VerifierStatus};
pub(crate) use slot::{Generation, Slot};

use std::{collections::BTreeMap, sync::Arc};

use loopwright_contract::{digest::ContentDigest, fault::HostFault, name::PluginName};

use crate::{
    Candidate, PluginHost,
    install::{Code, inspect, settle},
    installed::{Installed, Loaded, not_installed},
};

/// Faults of one generation after which it is put aside and the one before it serves again.
pub const FAULTS_MAX: u32 = 3;
/// Generations of a verifier that can be gone back to.
const GENERATIONS_KEPT_MAX: usize = 16;
/// Disagreements that a shadow keeps, the last ones.
const DISAGREEMENTS_KEPT_MAX: usize = 64;
/// Events that a verifier's place keeps, the last ones.
const EVENTS_KEPT_MAX: usize = 256;

/// When a new verifier begins to serve.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum SwapMode {
    /// At once.
    Immediate,
    /// Beside the old one on live evidence first; its verdicts count only once it is promoted.
    Shadow(ShadowRule),
}

/// When a shadow is promoted. Reached with fewer disagreements than too many: it serves. With more: it is dropped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShadowRule {
    /// Verdicts that are compared, at least 1.
    pub verdicts: u64,
    /// Disagreements among them that are still acceptable.
    pub disagreements_max: u64,
}

/// What a swap did.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SwapReceipt {
    /// Whose place it is.
    pub verifier: PluginName,
    /// The number of the generation that this is about; the first one installed is 1.
    pub generation: u64,
    /// Its component.
    pub digest: ContentDigest,
    /// The component that served before.
    pub replaced: ContentDigest,
    /// Whether it serves now; else it runs as a shadow.
    pub serves: bool,
}

/// The generations that an episode keeps to, whatever is swapped meanwhile.
pub(crate) type Pins = Arc<BTreeMap<PluginName, Arc<Generation>>>;

impl Installed {
    /// The verifier of that name that serves now.
    pub(crate) fn serving(&self, name: &PluginName) -> Result<Arc<Generation>, HostFault> {
        let found = self.verifiers.iter().find(|slot| slot.name() == name).map(Slot::serving);
        found.ok_or_else(|| not_installed("verifier", name, self.verifiers.iter().map(Slot::name)))
    }

    /// The place of the verifier of that name.
    fn verifier(&self, name: &PluginName) -> Result<&Slot, SwapError> {
        let unknown = || SwapError::Unknown {
            name: name.clone(),
            known: self.verifiers.iter().map(|slot| slot.name().to_string()).collect(),
        };
        self.verifiers.iter().find(|slot| slot.name() == name).ok_or_else(unknown)
    }
}

impl PluginHost {
    /// Replaces the verifier that has the candidate's name: compiles, links, asks who it is, tries it out on evidence of its own, and only
    /// then moves the pointer. Episodes that are pinned keep what they have.
    ///
    /// # Errors
    /// [`SwapError`] with what failed. The old verifier serves on then, and a shadow that runs stays.
    pub fn swap_verifier(&self, candidate: &Candidate, mode: SwapMode) -> Result<SwapReceipt, SwapError> {
        let installed = &self.installed;
        let slot = installed.verifier(&candidate.name)?;
        slot.admits(candidate.digest)?;
        let mut inspected = inspect(&installed.engines, &installed.config, candidate)?;
        // A verifier touches no collection, whatever there is.
        settle(&mut inspected, &installed.policy, &[]);
        let Code::Verifier(pre) = inspected.code else {
            return Err(SwapError::NotAVerifier { name: candidate.name.clone(), kind: inspected.plugin.record.kind });
        };
        let loaded = Loaded { plugin: Arc::new(inspected.plugin), pre };
        trial::try_out(installed, &loaded)?;
        slot.install(loaded, mode)
    }

    /// Goes back to the generation that served before this one.
    ///
    /// # Errors
    /// [`SwapError::NoPrevious`] when there is none, [`SwapError::Unknown`] when there is no such verifier.
    pub fn rollback_verifier(&self, name: &PluginName) -> Result<SwapReceipt, SwapError> {
        self.installed.verifier(name)?.rollback()
    }

    /// Takes the shadow of a verifier out of the race; what serves stays.
    ///
    /// # Errors
    /// [`SwapError::Unknown`] when there is no such verifier.
    pub fn drop_shadow(&self, name: &PluginName) -> Result<(), SwapError> {
        self.installed.verifier(name)?.drop_shadow();
        Ok(())
    }

    /// How every verifier stands, sorted by name.
    #[must_use]
    pub fn verifiers(&self) -> Vec<VerifierStatus> {
        self.installed.verifiers.iter().map(Slot::status).collect()
    }

    /// The same host whose episodes keep to the verifiers that serve now: what a training run asks for, so that its rewards stay comparable.
    #[must_use]
    pub fn pinned(&self) -> Self {
        let pins = self.installed.verifiers.iter().map(|slot| (slot.name().clone(), slot.serving())).collect();
        Self { pins: Some(Arc::new(pins)), ..self.clone() }
    }
}
