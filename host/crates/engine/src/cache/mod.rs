//! Compiled components: one in memory for each digest and class, and one file for each on disk.
//!
//! Loading compiled code runs it, so that only files that this host wrote are loaded: each carries a keyed hash over its name and its
//! bytes. A file that is missing, cut, changed, of another key or of other settings is a miss, and is compiled anew.

mod file;
mod key;

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex, PoisonError},
};

use loopwright_contract::digest::ContentDigest;
use sha2::{Digest as _, Sha256};
use wasmtime::{Engine, component::Component};

pub use key::CacheKey;

use crate::{EngineClass, config::CacheConfig};

/// Components that are kept in memory; further ones are compiled or loaded at each use.
const COMPONENTS_LIMIT: usize = 1_024;
/// Changes whenever what stands in a file changes its meaning.
const SCHEMA: &str = "loopwright compiled component 1";

/// One place for each component, so that two callers of one component compile it once and two components compile side by side.
type Place = Arc<Mutex<Option<Component>>>;

/// The compiled components of one process.
pub(crate) struct ComponentCache {
    disk: Option<CacheConfig>,
    places: Mutex<BTreeMap<(EngineClass, ContentDigest), Place>>,
}

/// How a component was had.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Origin {
    /// It was in memory.
    Memory,
    /// It was on disk.
    Disk,
    /// It was compiled.
    Compiled,
}

impl ComponentCache {
    pub(crate) fn new(disk: Option<CacheConfig>) -> Self {
        Self { disk, places: Mutex::default() }
    }

    /// The compiled form of `bytes`, whose digest is `digest`.
    pub(crate) fn get(
        &self,
        engine: &Engine,
        class: EngineClass,
        digest: ContentDigest,
        bytes: &[u8],
    ) -> wasmtime::Result<(Component, Origin)> {
        let place = {
            let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
            if places.len() >= COMPONENTS_LIMIT && !places.contains_key(&(class, digest)) {
                Place::default()
            } else {
                places.entry((class, digest)).or_default().clone()
            }
        };
        let mut kept = place.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(component) = &*kept {
            return Ok((component.clone(), Origin::Memory));
        }
        let (component, origin) = self.load_or_compile(engine, digest, bytes)?;
        *kept = Some(component.clone());
        Ok((component, origin))
    }

    fn load_or_compile(
        &self,
        engine: &Engine,
        digest: ContentDigest,
        bytes: &[u8],
    ) -> wasmtime::Result<(Component, Origin)> {
        let Some(disk) = &self.disk else { return Ok((Component::from_binary(engine, bytes)?, Origin::Compiled)) };
        let name = self.file_name(engine, digest);
        if let Some(component) = file::load(disk, &name, engine) {
            return Ok((component, Origin::Disk));
        }
        let component = Component::from_binary(engine, bytes)?;
        if let Err(error) = file::store(disk, &name, &component.serialize()?) {
            tracing::warn!(%error, file = name, "compiled code was not kept");
        }
        Ok((component, Origin::Compiled))
    }

    /// What the code of an engine depends on.
    pub(crate) fn compatibility(&self, engine: &Engine) -> [u8; 32] {
        let mut hasher = StableHasher(Sha256::new_with_prefix(SCHEMA));
        std::hash::Hash::hash(&engine.precompile_compatibility_hash(), &mut hasher);
        std::hash::Hash::hash(crate::WASMTIME_VERSION, &mut hasher);
        hasher.0.finalize().into()
    }

    fn file_name(&self, engine: &Engine, digest: ContentDigest) -> String {
        format!("{}-{}.cwasm", hex::encode(digest.0), hex::encode(self.compatibility(engine)))
    }
}

/// A hasher whose result is the same in every process, which the standard one does not promise.
struct StableHasher(Sha256);

impl std::hash::Hasher for StableHasher {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let digest: [u8; 32] = self.0.clone().finalize().into();
        digest.iter().take(8).fold(0, |number, byte| number << 8 | u64::from(*byte))
    }
}
