//! Who may touch which collection. The author asks, the operator decides; what no rule names is denied.

use loopwright_contract::{
    episode::PluginKind,
    name::{CollectionName, PluginName},
    tool::{Catalogue, Grant},
};

/// The collection in which an environment keeps what it has to know from turn to turn, since its memory may be dropped. It has no other of its
/// own, and no plugin may take the name.
pub(crate) const ENVIRONMENT_COLLECTION: &str = "environment";

/// Which names a rule is about.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Names<T> {
    /// Every name.
    Any,
    /// One name.
    Only(T),
}

impl<T: PartialEq> Names<T> {
    fn has(&self, name: &T) -> bool {
        match self {
            Self::Any => true,
            Self::Only(only) => only == name,
        }
    }
}

/// What a rule lets a plugin do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Access {
    /// Read.
    Read,
    /// Read and write.
    Write,
}

/// One decision of the operator. Rules only ever add.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct GrantRule {
    /// Who.
    pub plugin: Names<PluginName>,
    /// What.
    pub collection: Names<CollectionName>,
    /// How.
    pub access: Access,
}

/// The operator's decisions about collections that a plugin does not own.
///
/// A tool has its own collections without a rule, and of others those that it asks for *and* a rule gives. A skill, which asks for nothing,
/// reads what a rule gives. An environment has the host's collection for environments without a rule, and of others what a rule gives: one
/// that came from a stranger holds no keys to the phone. A verifier has none: it sees evidence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GrantPolicy {
    /// The rules. None: tools have their own collections, and skills read nothing.
    pub rules: Vec<GrantRule>,
}

impl GrantPolicy {
    /// A policy that gives tools what they ask for and lets skills read everything: for plugins that ship with the host.
    #[must_use]
    pub fn trusting() -> Self {
        Self { rules: vec![GrantRule { plugin: Names::Any, collection: Names::Any, access: Access::Write }] }
    }

    fn allows(&self, plugin: &PluginName, collection: &CollectionName, access: Access) -> bool {
        let enough = |rule: &GrantRule| access == Access::Read || rule.access == Access::Write;
        self.rules.iter().any(|rule| rule.plugin.has(plugin) && rule.collection.has(collection) && enough(rule))
    }

    /// What a plugin may touch. `all` are the collections of all installed plugins.
    pub(crate) fn grant(
        &self,
        plugin: &PluginName,
        kind: PluginKind,
        catalogue: Option<&Catalogue>,
        all: &[CollectionName],
    ) -> Grant {
        let mut grant = Grant::default();
        match kind {
            PluginKind::Verifier => {}
            PluginKind::Environment => {
                let given = |access: Access| {
                    let own = |name: &&CollectionName| name.as_str() == ENVIRONMENT_COLLECTION;
                    all.iter().filter(move |name| own(name) || self.allows(plugin, name, access)).cloned().collect()
                };
                grant = Grant { read: given(Access::Read), write: given(Access::Write) };
            }
            PluginKind::Skill => {
                grant.read.extend(all.iter().filter(|name| self.allows(plugin, name, Access::Read)).cloned())
            }
            PluginKind::Tool => {
                let Some(catalogue) = catalogue else { return grant };
                let own = catalogue.collections.iter().map(|spec| &spec.name);
                let asked = |access: Access| {
                    catalogue
                        .uses
                        .iter()
                        .filter(move |uses| access == Access::Read || uses.write)
                        .map(|uses| &uses.name)
                };
                grant.read.extend(
                    own.clone()
                        .chain(asked(Access::Read).filter(|name| self.allows(plugin, name, Access::Read)))
                        .cloned(),
                );
                grant.write.extend(
                    own.chain(asked(Access::Write).filter(|name| self.allows(plugin, name, Access::Write))).cloned(),
                );
            }
        }
        for names in [&mut grant.read, &mut grant.write] {
            names.sort();
            names.dedup();
        }
        grant
    }
}

/// Whether a sorted list of collections has a name.
pub(crate) fn has(granted: &[CollectionName], collection: &str) -> bool {
    granted.binary_search_by(|name| name.as_str().cmp(collection)).is_ok()
}

#[cfg(test)]
mod tests {
    use loopwright_contract::tool::{CollectionSpec, CollectionUse};

    use super::*;

    fn catalogue() -> Catalogue {
        let own = CollectionSpec {
            name: "notes".parse().unwrap(),
            schema: None,
            bookkeeping: vec![],
            indexes: vec![],
            initial: vec![],
        };
        let uses = |name: &str, write| CollectionUse { name: name.parse().unwrap(), write };
        Catalogue { tools: vec![], collections: vec![own], uses: vec![uses("power", false), uses("calendar", true)] }
    }

    fn check(policy: &GrantPolicy, kind: PluginKind, read: &[&str], write: &[&str]) {
        let all = ["calendar", "environment", "notes", "power", "sms"].map(|name| name.parse().unwrap());
        let grant = policy.grant(&"p".parse().unwrap(), kind, Some(&catalogue()), &all);
        assert_eq!(
            (
                grant.read.iter().map(CollectionName::as_str).collect::<Vec<_>>(),
                grant.write.iter().map(CollectionName::as_str).collect::<Vec<_>>()
            ),
            (read.to_vec(), write.to_vec()),
            "{kind:?} {policy:?}"
        );
    }

    fn rule(plugin: &str, collection: &str, access: Access) -> GrantPolicy {
        GrantPolicy {
            rules: vec![GrantRule {
                plugin: Names::Only(plugin.parse().unwrap()),
                collection: Names::Only(collection.parse().unwrap()),
                access,
            }],
        }
    }

    #[test]
    fn what_no_rule_gives_is_denied() {
        let none = GrantPolicy::default();
        check(&none, PluginKind::Tool, &["notes"], &["notes"]);
        check(&none, PluginKind::Skill, &[], &[]);
        check(&none, PluginKind::Verifier, &[], &[]);
        check(&none, PluginKind::Environment, &["environment"], &["environment"]);
        let one = rule("p", "power", Access::Read);
        check(&one, PluginKind::Environment, &["environment", "power"], &["environment"]);
        let everything = ["calendar", "environment", "notes", "power", "sms"];
        check(&GrantPolicy::trusting(), PluginKind::Environment, &everything, &everything);
        check(&rule("other", "power", Access::Write), PluginKind::Tool, &["notes"], &["notes"]);
    }

    #[test]
    fn a_rule_gives_no_more_than_was_asked_for() {
        check(&rule("p", "power", Access::Write), PluginKind::Tool, &["notes", "power"], &["notes"]);
        check(&rule("p", "calendar", Access::Read), PluginKind::Tool, &["calendar", "notes"], &["notes"]);
        check(&rule("p", "sms", Access::Write), PluginKind::Tool, &["notes"], &["notes"]);
        check(&GrantPolicy::trusting(), PluginKind::Tool, &["calendar", "notes", "power"], &["calendar", "notes"]);
        check(&rule("p", "sms", Access::Write), PluginKind::Skill, &["sms"], &[]);
        check(&GrantPolicy::trusting(), PluginKind::Verifier, &[], &[]);
    }
}
