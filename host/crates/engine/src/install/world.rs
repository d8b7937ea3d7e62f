//! The worlds that every task begins from: all installed collections, with and without their initial documents.

use loopwright_contract::{
    name::PluginName,
    tool::{Catalogue, CollectionSpec},
};
use loopwright_world::World;

use crate::{EngineConfig, InstallError, Refusal};

/// All collections with their initial documents.
pub(super) fn base<'a>(
    config: &EngineConfig,
    catalogues: impl Iterator<Item = (&'a PluginName, &'a Catalogue)>,
) -> Result<World, InstallError> {
    build(config, catalogues, |spec| spec.clone())
}

/// All collections, empty.
pub(super) fn empty<'a>(
    config: &EngineConfig,
    catalogues: impl Iterator<Item = (&'a PluginName, &'a Catalogue)>,
) -> Result<World, InstallError> {
    build(config, catalogues, |spec| CollectionSpec { initial: Vec::new(), ..spec.clone() })
}

fn build<'a>(
    config: &EngineConfig,
    catalogues: impl Iterator<Item = (&'a PluginName, &'a Catalogue)>,
    spec_of: impl Fn(&CollectionSpec) -> CollectionSpec,
) -> Result<World, InstallError> {
    let mut world = World::new(config.world);
    for (plugin, catalogue) in catalogues {
        for spec in &catalogue.collections {
            world.declare(&spec_of(spec)).map_err(|error| {
                let what = format!("collection `{}`: {error}", spec.name);
                InstallError { plugin: plugin.clone(), reason: Refusal::Contract { function: "specs", what } }
            })?;
        }
    }
    Ok(world)
}
