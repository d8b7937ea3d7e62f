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

pub use key::{CacheKey, secret_file};

use crate::{CompileFault, Compiler, EngineClass, config::CacheConfig};

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

/// What is to be had as machine code, and from whom.
pub(crate) struct Source<'a> {
    pub(crate) class: EngineClass,
    /// The digest of `bytes`.
    pub(crate) digest: ContentDigest,
    pub(crate) bytes: &'a [u8],
    /// Who compiles it; none: this process.
    pub(crate) compiler: Option<&'a dyn Compiler>,
}

/// Why there is no component.
#[derive(Debug)]
pub(crate) enum CodeError {
    /// The engine does not take it.
    Engine(wasmtime::Error),
    /// The compiler's process did not bring it.
    Compiler(CompileFault),
}

impl From<wasmtime::Error> for CodeError {
    fn from(error: wasmtime::Error) -> Self {
        Self::Engine(error)
    }
}

impl ComponentCache {
    pub(crate) fn new(disk: Option<CacheConfig>) -> Self {
        Self { disk, places: Mutex::default() }
    }

    /// The compiled form of a component.
    pub(crate) fn get(&self, engine: &Engine, source: &Source<'_>) -> Result<(Component, Origin), CodeError> {
        let (class, digest) = (source.class, source.digest);
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
        let (component, origin) = self.load_or_compile(engine, source)?;
        *kept = Some(component.clone());
        Ok((component, origin))
    }

    /// Lets go of a component in memory, whatever its class. False: somebody is just having it made, and it stays.
    pub(crate) fn forget(&self, digest: ContentDigest) -> bool {
        let mut places = self.places.lock().unwrap_or_else(PoisonError::into_inner);
        // Who waits at a place would else fill one that is no longer listed, and another caller would compile a second time.
        places.retain(|(_, kept), place| *kept != digest || Arc::strong_count(place) > 1);
        !places.keys().any(|(_, kept)| *kept == digest)
    }

    fn load_or_compile(&self, engine: &Engine, source: &Source<'_>) -> Result<(Component, Origin), CodeError> {
        let name = self.file_name(engine, source.digest);
        if let Some(component) = self.disk.as_ref().and_then(|disk| file::load(disk, &name, engine)) {
            return Ok((component, Origin::Disk));
        }
        let Some(compiler) = source.compiler else {
            let component = Component::from_binary(engine, source.bytes)?;
            if let Some(disk) = &self.disk {
                keep(disk, &name, &component.serialize()?);
            }
            return Ok((component, Origin::Compiled));
        };
        let code = compiler.compile(source.class, source.bytes).map_err(CodeError::Compiler)?;
        let component = file::of_compiler(engine, &code).map_err(CodeError::Compiler)?;
        // Tagged only now: what the engine did not take is not kept under the component's name.
        if let Some(disk) = &self.disk {
            keep(disk, &name, &code);
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

/// Writes code for the next process; without it that one compiles again.
fn keep(disk: &CacheConfig, name: &str, code: &[u8]) {
    if let Err(error) = file::store(disk, name, code) {
        tracing::warn!(%error, file = name, "compiled code was not kept");
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
