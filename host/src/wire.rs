//! Puts plugins, engine and worlds together, from what the command line says.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use anyhow::Context as _;
use loopwright_contract::fault::HostFault;
use loopwright_contract::json::canonical;
use loopwright_contract::stopwatch::Stopwatch;
use loopwright_contract::task::Split;
use loopwright_engine::{
    CacheConfig, CacheKey, Candidate, ChildCompiler, CompileLimits, Compiler, EngineConfig, Engines, Given,
    GrantPolicy, InstancePolicy, PluginHost, ThirdPartyCompiler, WorldSource, secret_file,
};
use loopwright_harness::{SkillFile, read_skill_folder};
use loopwright_packs::pack::{self, Pack};
use loopwright_packs::{ablation, phone, tau2};
use loopwright_registry::grants::{GRANTS_FILE, Grants, Standing, Subject};
use loopwright_registry::{Index, Package, component};
use serde_json::Value;

use crate::cli::Shared;
use crate::exit::NotInstalled;
use crate::verifiers::{Follower, Journal};

/// Instances of each family and language in the built-in pack.
pub const INSTANCES_PER_FAMILY: u32 = 2;
/// Instances of each kind in the ablation pack.
pub const ABLATION_INSTANCES: u32 = 8;
/// The name of the built-in pack.
pub const BUILT_IN: &str = "phone";

/// The machine's clock, in seconds since 1970.
///
/// # Errors
/// When it stands before 1970.
pub fn machine_seconds() -> anyhow::Result<i64> {
    #[expect(clippy::disallowed_methods, reason = "the composition root reads the machine's clock")]
    let now = SystemTime::now();
    Ok(i64::try_from(now.duration_since(UNIX_EPOCH)?.as_secs())?)
}

/// The machine's clock, as a backstop for wall budgets.
#[derive(Debug)]
pub struct MachineStopwatch(Instant);

impl MachineStopwatch {
    /// Starts it.
    #[must_use]
    pub fn start() -> Arc<Self> {
        Arc::new(Self(Instant::now()))
    }
}

impl Stopwatch for MachineStopwatch {
    fn elapsed(&self) -> Duration {
        self.0.elapsed()
    }
}

/// Worlds of packs, by name, as text.
#[derive(Debug, Default)]
pub struct Worlds(BTreeMap<String, Arc<str>>);

impl Worlds {
    /// The worlds of a pack.
    #[must_use]
    pub fn of(worlds: &BTreeMap<String, Value>) -> Self {
        Self(worlds.iter().map(|(name, world)| (name.clone(), canonical(world).into())).collect())
    }
}

impl WorldSource for Worlds {
    fn world(&self, name: &str) -> Result<Arc<str>, HostFault> {
        self.0.get(name).cloned().ok_or_else(|| {
            let known: Vec<&str> = self.0.keys().map(String::as_str).collect();
            HostFault::Setup(format!("world `{name}` is not among those of the pack: {known:?}\nhint: name the pack that brings it with --pack"))
        })
    }
}

/// How plugins are run.
#[derive(Debug, Clone, Copy, Default)]
pub struct Engine {
    /// Drops every instance after each call.
    pub drop_instances: bool,
}

/// Installs all plugins of the index.
///
/// # Errors
/// [`NotInstalled`] when there are none, and whatever the engine refuses.
pub fn host(shared: &Shared, engine: Engine, worlds: Worlds) -> anyhow::Result<PluginHost> {
    let index = index(shared)?;
    let packages = index.plugins().map(|entry| index.load(entry)).collect::<Result<Vec<_>, _>>()?;
    let policy = policy(&grants(shared)?, &packages);
    let candidates: Vec<Candidate> = packages.into_iter().map(Candidate::from).collect();
    let config = config(shared, engine);
    let engines = Arc::new(Engines::new(&config)?);
    let host = PluginHost::install(engines, config, &policy, Arc::new(worlds), &candidates)?;
    host.waiting().iter().for_each(|waiting| tracing::warn!("{waiting}"));
    follower(shared, &host).catch_up()?;
    Ok(host)
}

/// What brings a host up to the operator's swaps of verifiers.
#[must_use]
pub fn follower(shared: &Shared, host: &PluginHost) -> Follower {
    Follower::new(Journal::beside(&shared.plugins), host.clone())
}

/// The file with what plugins from elsewhere may touch.
#[must_use]
pub fn grants_file(shared: &Shared) -> PathBuf {
    shared.grants.clone().unwrap_or_else(|| shared.plugins.join(GRANTS_FILE))
}

/// What plugins from elsewhere may touch.
///
/// # Errors
/// What is wrong with the file.
pub fn grants(shared: &Shared) -> anyhow::Result<Grants> {
    Ok(Grants::read(&grants_file(shared))?)
}

/// What the operator built gets what it asks for; everything else gets what a grant says: a signature says who made it, not what it may touch.
#[must_use]
pub fn policy(grants: &Grants, packages: &[Package]) -> GrantPolicy {
    let mut given = BTreeMap::new();
    for Package { entry, bytes } in packages {
        if entry.first_party {
            given.insert(entry.name.clone(), Given::WhatItAsksFor);
            continue;
        }
        // Whoever installs it refuses one that cannot be read, and says why.
        let Ok(inspection) = component::inspect(bytes) else { continue };
        let decision = grants.decide(&Subject::from(entry), &inspection.request);
        if let Standing::OtherRequest { more, .. } = &decision.standing
            && !more.is_empty()
        {
            let (name, standing) = (&entry.name, &decision.standing);
            tracing::warn!("plugin `{name}` {}: {standing}\nhint: `loopwright plugin explain {name}`", entry.version);
        }
        given.insert(entry.name.clone(), Given::Only(decision.given));
    }
    GrantPolicy { given, otherwise: Given::Nothing }
}

/// What the command line decides about the engine.
#[must_use]
pub fn config(shared: &Shared, engine: Engine) -> EngineConfig {
    EngineConfig {
        instances: if engine.drop_instances { InstancePolicy::DropAfterCall } else { InstancePolicy::Keep },
        cache: cache(&shared.cache),
        compiler: compiler(),
        ..EngineConfig::default()
    }
}

/// The installed plugins.
///
/// # Errors
/// [`NotInstalled`] when the folder has no index.
pub fn index(shared: &Shared) -> anyhow::Result<Index> {
    if !shared.plugins.join("index.json").exists() {
        return Err(NotInstalled(format!(
            "no plugins in `{}`\nhint: build them with `cargo xtask guests`, or name their folder with --plugins",
            shared.plugins.display()
        ))
        .into());
    }
    Ok(Index::open(&shared.plugins)?)
}

/// The cache of compiled components; without one every start compiles.
fn cache(folder: &Path) -> Option<CacheConfig> {
    match key(folder) {
        Ok(key) => Some(CacheConfig { folder: folder.to_owned(), key }),
        Err(error) => {
            tracing::warn!(folder = %folder.display(), %error, "no cache of compiled plugins: every start compiles them");
            None
        }
    }
}

/// The name of this command, which is also the compiler of what third parties ship.
const COMMAND: &str = "loopwright";

/// Compiles what is not first-party in a process of this command. None where this code runs in another program, such as a test's: what is
/// not first-party is refused there.
#[must_use]
pub fn compiler() -> ThirdPartyCompiler {
    let program = std::env::current_exe().ok().filter(|path| path.file_stem().is_some_and(|name| name == COMMAND));
    let child = program.map(|program| -> Arc<dyn Compiler> {
        Arc::new(ChildCompiler {
            program,
            arguments: vec![crate::cli::COMPILE_COMMAND.into()],
            limits: CompileLimits::default(),
        })
    });
    ThirdPartyCompiler(child)
}

/// The key of this machine that compiled code is authenticated with; made at the first start.
fn key(folder: &Path) -> std::io::Result<CacheKey> {
    secret(folder).map(CacheKey::new)
}

/// The secret of a folder of ours, made at the first use.
///
/// # Errors
/// What reading or writing the folder gives.
pub fn secret(folder: &Path) -> std::io::Result<[u8; 32]> {
    fs::create_dir_all(folder)?;
    secret_file(&folder.join("key"), || {
        let mut fresh = [0; 32];
        fs::File::open("/dev/urandom")?.read_exact(&mut fresh)?;
        Ok(fresh)
    })
}

/// A pack by name: the built-in one, a folder of ours, or a folder of records from elsewhere.
///
/// # Errors
/// What is wrong with the folder, with file and line.
pub fn pack(name: &str, seed: u64) -> anyhow::Result<Pack> {
    if name == BUILT_IN {
        return Ok(phone::builtin(seed, INSTANCES_PER_FAMILY)?);
    }
    if name == ablation::NAME {
        return Ok(ablation::builtin(seed, ABLATION_INSTANCES, Split::Train)?);
    }
    let folder = Path::new(name);
    if folder.join("card.json").exists() {
        return pack::read(folder).with_context(|| format!("pack `{name}` cannot be read"));
    }
    if folder.join("db.json").exists() {
        return Ok(tau2::import(folder).with_context(|| format!("folder `{name}` cannot be imported"))?.pack);
    }
    anyhow::bail!(
        "`{name}` is no pack: expected `{BUILT_IN}`, `{}`, a folder with card.json, or a folder with db.json, tasks.json and tools.json",
        ablation::NAME
    )
}

/// Plain skills of several folders.
///
/// # Errors
/// What is wrong with a file.
pub fn skills(folders: &[std::path::PathBuf]) -> anyhow::Result<Vec<SkillFile>> {
    let mut files = Vec::new();
    for folder in folders {
        files.extend(
            read_skill_folder(folder).with_context(|| format!("skills of `{}` cannot be read", folder.display()))?,
        );
    }
    Ok(files)
}
