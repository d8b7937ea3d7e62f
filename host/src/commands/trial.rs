//! Whether a release would run beside what is installed, tried before it takes a place: compiled, linked, asked who it is, its names compared with
//! the others'. What fails here would keep every later command from starting.

use std::path::Path;
use std::sync::Arc;

use loopwright_contract::fault::chain;
use loopwright_engine::{Candidate, Engines, Given, NoWorlds, PluginHost};
use loopwright_registry::fetch::Fetched;
use loopwright_registry::refusal::Refusal;
use loopwright_registry::{INDEX_FILE, Index, RegistryError};

use super::consent::Arrival;
use crate::cli::Shared;
use crate::output;
use crate::wire::{self, Engine};

/// Tries a release. Where no process can be started that compiles what strangers ship, it is not tried, and that is said.
///
/// # Errors
/// [`Refusal::Component`] when it is the release that would not run.
pub(super) fn trial(shared: &Shared, folder: &Path, fetched: &Fetched, arrival: &Arrival) -> anyhow::Result<()> {
    if wire::compiler().0.is_none() {
        output::note("note: not tried out, because no compiler process can be started from here");
        return Ok(());
    }
    let config = wire::config(shared, Engine::default());
    let name = &fetched.locked.release.package.name;
    let mut packages = Vec::new();
    if folder.join(INDEX_FILE).exists() {
        let index = Index::open(folder)?;
        for entry in index.plugins().filter(|entry| entry.name != *name) {
            packages.push(index.load(entry)?);
        }
    }
    let mut policy = wire::policy(&wire::grants(shared)?, &packages);
    policy.given.insert(name.clone(), Given::Only(arrival.decision.given.clone()));
    let version = Some(fetched.locked.release.version.to_string());
    let bytes = fetched.component.clone();
    let tried = Candidate { version, kind: fetched.inspection.kind, ..Candidate::new(name.clone(), bytes) };
    let candidates: Vec<Candidate> = packages.into_iter().map(Candidate::from).chain([tried]).collect();
    let engines = Arc::new(Engines::new(&config)?);
    match PluginHost::install(engines, config, &policy, Arc::new(NoWorlds), &candidates) {
        Ok(_) => Ok(()),
        Err(error) if error.plugin == *name => {
            Err(RegistryError::from(Refusal::Component { reason: chain(&error) }).into())
        }
        Err(error) => {
            // A plugin that is broken already is no reason to refuse another, which may be its remedy.
            output::note(format_args!("note: not tried out beside the others: {}", chain(&error)));
            Ok(())
        }
    }
}
