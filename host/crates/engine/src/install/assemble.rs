//! Many components together: each name once, and each plugin with its grant.

use std::{
    collections::BTreeMap,
    sync::{Arc, Mutex},
};

use loopwright_contract::{
    episode::PluginRecord,
    memory::COLLECTION as MEMORY_COLLECTION,
    name::{CollectionName, PluginName},
    skill::SkillCard,
    tool::{Catalogue, CollectionSpec, InstalledTool},
};

use super::{
    inspect::{Code, Inspected, Says, capability_imports},
    lookalike, world,
};
use crate::{
    EngineConfig, Engines, GrantPolicy, InstallError, Refusal,
    grant::{self, ENVIRONMENT_COLLECTION},
    installed::{Installed, Loaded, ToolEntry, Waiting, WorldSource},
    memory,
    store::Plugin,
    swap::Slot,
};

/// Who has a name, by what it is the name of.
#[derive(Default)]
struct Names(BTreeMap<(&'static str, String), PluginName>);

impl Names {
    fn take(&mut self, what: &'static str, name: &str, by: &PluginName) -> Result<(), InstallError> {
        match self.0.insert((what, name.to_owned()), by.clone()) {
            None => Ok(()),
            Some(first) => {
                let reason = Refusal::Taken { what, name: name.to_owned(), by: format!("plugin `{first}`") };
                Err(InstallError { plugin: by.clone(), reason })
            }
        }
    }
}

pub(super) fn assemble(
    engines: Arc<Engines>,
    config: EngineConfig,
    policy: &GrantPolicy,
    worlds: Arc<dyn WorldSource>,
    mut inspected: Vec<Inspected>,
) -> Result<Installed, InstallError> {
    inspected.sort_by(|a, b| {
        (a.plugin.record.kind, &a.plugin.record.name).cmp(&(b.plugin.record.kind, &b.plugin.record.name))
    });
    let waiting = leave_out(&mut inspected, policy);
    check_names(&inspected)?;
    let own = hosts_own();
    let owned = inspected
        .iter()
        .filter_map(|one| Some((&one.plugin.record.name, catalogue(&one.says)?)))
        .chain(own.iter().map(|(host, own)| (host, own)));
    let base = world::base(&config, owned.clone())?;
    let empty = world::empty(&config, owned)?;
    let mut collections: Vec<CollectionName> = inspected
        .iter()
        .filter_map(|one| catalogue(&one.says))
        .flat_map(|catalogue| &catalogue.collections)
        .map(|spec| spec.name.clone())
        .collect();
    // The memory is not among those that can be granted: what the user is taken to have said is the host's to write.
    let grantable = own.iter().flat_map(|(_, own)| &own.collections).filter(|spec| spec.name != *MEMORY_COLLECTION);
    collections.extend(grantable.map(|spec| spec.name.clone()));
    collections.sort();
    for one in &mut inspected {
        settle(one, policy, &collections);
    }
    let records: Vec<PluginRecord> = inspected.iter().map(|one| one.plugin.record.clone()).collect();
    let fingerprint = engines.fingerprint();
    let mut installed = Installed {
        engines,
        config,
        policy: policy.clone(),
        waiting,
        records,
        fingerprint,
        base,
        empty,
        worlds,
        named: Mutex::default(),
        tools: Vec::new(),
        environments: Vec::new(),
        verifiers: Vec::new(),
        skills: Vec::new(),
        catalogue: Vec::new(),
        entries: Vec::new(),
        cards: Vec::new(),
        card_plugins: Vec::new(),
    };
    let mut parts = Parts::default();
    for one in inspected {
        add(&mut installed, &mut parts, one);
    }
    parts.finish(&mut installed);
    Ok(installed)
}

/// Gives a plugin what it gets of `all` collections and of the rest.
pub(crate) fn settle(one: &mut Inspected, policy: &GrantPolicy, all: &[CollectionName]) {
    let record = &mut one.plugin.record;
    let effective = policy.effective(&record.name, record.kind, &one.request.capabilities);
    record.grant = grant::grant(record.kind, catalogue(&one.says), &effective, all);
    one.plugin.limits.log_bytes = one.plugin.limits.log_bytes.min(grant::log_bytes(&record.grant));
}

/// Takes out what imports an interface that it was not granted: nothing granted, nothing linked.
fn leave_out(inspected: &mut Vec<Inspected>, policy: &GrantPolicy) -> Vec<Waiting> {
    let mut waiting = Vec::new();
    inspected.retain(|one| {
        let record = &one.plugin.record;
        let given = policy.effective(&record.name, record.kind, &one.request.capabilities).interfaces();
        let lacks: Vec<String> =
            capability_imports(&one.imports).filter(|name| !given.contains(name)).map(str::to_owned).collect();
        let stays = lacks.is_empty();
        if !stays {
            waiting.push(Waiting { plugin: record.name.clone(), version: record.version.clone(), lacks });
        }
        stays
    });
    waiting
}

/// The host's collections, under a name that stands for it. All names are well-formed, so there always are both.
fn hosts_own() -> Option<(PluginName, Catalogue)> {
    let plugin = PluginName::new("host").ok()?;
    let name = CollectionName::new(ENVIRONMENT_COLLECTION).ok()?;
    let spec = CollectionSpec { name, schema: None, bookkeeping: Vec::new(), indexes: Vec::new(), initial: Vec::new() };
    let collections = vec![spec, memory::collection().ok()?];
    Some((plugin, Catalogue { tools: Vec::new(), collections, uses: Vec::new() }))
}

fn catalogue(says: &Says) -> Option<&Catalogue> {
    match says {
        Says::Tool(catalogue) => Some(catalogue),
        _ => None,
    }
}

fn check_names(inspected: &[Inspected]) -> Result<(), InstallError> {
    let (mut names, mut tools) = (Names::default(), lookalike::ToolNames::default());
    if let Some((host, own)) = hosts_own() {
        own.collections.iter().try_for_each(|spec| names.take("collection", spec.name.as_str(), &host))?;
    }
    for one in inspected {
        let record = &one.plugin.record;
        names.take("plugin", record.name.as_str(), &record.name)?;
        match &one.says {
            Says::Tool(catalogue) => {
                catalogue.tools.iter().try_for_each(|spec| tools.take(spec.name.as_str(), &record.name))?;
                catalogue
                    .collections
                    .iter()
                    .try_for_each(|spec| names.take("collection", spec.name.as_str(), &record.name))?;
            }
            Says::Skill(card) => names.take("skill", card.name.as_str(), &record.name)?,
            Says::Environment | Says::Verifier => {}
        }
    }
    Ok(())
}

/// Tools and cards before they are sorted by name.
#[derive(Default)]
struct Parts {
    tools: Vec<(InstalledTool, ToolEntry)>,
    cards: Vec<(SkillCard, usize)>,
}

impl Parts {
    fn finish(mut self, installed: &mut Installed) {
        self.tools.sort_by(|a, b| a.0.spec.name.cmp(&b.0.spec.name));
        self.cards.sort_by(|a, b| a.0.name.cmp(&b.0.name));
        (installed.catalogue, installed.entries) = self.tools.into_iter().unzip();
        (installed.cards, installed.card_plugins) = self.cards.into_iter().unzip();
    }
}

fn add(installed: &mut Installed, parts: &mut Parts, one: Inspected) {
    let Inspected { plugin, code, says, .. } = one;
    match (code, says) {
        (Code::Tool(pre, entries), Says::Tool(catalogue)) => {
            let position = installed.tools.len();
            let name = plugin.record.name.clone();
            let tools = catalogue.tools.into_iter().map(|spec| InstalledTool { plugin: name.clone(), spec });
            parts.tools.extend(tools.zip(entries.into_iter().map(|entry| ToolEntry { plugin: position, ..entry })));
            installed.tools.push(loaded(plugin, pre));
        }
        (Code::Environment(pre), _) => installed.environments.push(loaded(plugin, pre)),
        (Code::Verifier(pre), _) => installed.verifiers.push(Slot::new(loaded(plugin, pre))),
        (Code::Skill(pre), Says::Skill(card)) => {
            let position = installed.skills.len();
            parts.cards.push((*card, position));
            installed.skills.push(loaded(plugin, pre));
        }
        (Code::Tool(..) | Code::Skill(_), _) => {}
    }
}

fn loaded<P>(plugin: Plugin, pre: P) -> Loaded<P> {
    Loaded { plugin: Arc::new(plugin), pre }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_memory_is_the_hosts_and_a_plugin_that_owns_one_is_not_installed() {
        let (host, own) = hosts_own().unwrap();
        let names: Vec<&str> = own.collections.iter().map(|spec| spec.name.as_str()).collect();
        assert_eq!((host.as_str(), names), ("host", vec![ENVIRONMENT_COLLECTION, MEMORY_COLLECTION]));
        let mut taken = Names::default();
        taken.take("collection", MEMORY_COLLECTION, &host).unwrap();
        assert!(taken.take("collection", MEMORY_COLLECTION, &"diary".parse().unwrap()).is_err());
    }
}
