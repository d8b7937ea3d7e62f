//! Who may touch what. The author asks in the component's request, the operator decides; what both say is granted, and what no decision is about
//! is denied.

use std::{borrow::Borrow, collections::BTreeMap};

use loopwright_contract::{
    capability::{Capabilities, CollectionAccess, LOG_BYTES_FREE},
    episode::PluginKind,
    name::{CollectionName, PluginName},
    tool::{Catalogue, Grant},
};

/// The collection in which an environment keeps what it has to know from turn to turn, since its memory may be dropped. It has no other of its
/// own, and no plugin may take the name.
pub(crate) const ENVIRONMENT_COLLECTION: &str = "environment";

/// What an operator gives one plugin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Given {
    /// Nothing besides what is its own.
    #[default]
    Nothing,
    /// All that its request asks for.
    WhatItAsksFor,
    /// Of what its request asks for, this.
    Only(Capabilities),
}

/// The operator's decisions.
///
/// A tool has its own collections without any, and an environment the host's collection for environments. Everything else takes a request and a
/// decision: collections of others, calls of tools, scratch, and log beyond what every plugin has. A verifier has none of it but log, whatever
/// is decided: it sees evidence.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct GrantPolicy {
    /// Plugin by plugin.
    pub given: BTreeMap<PluginName, Given>,
    /// For every other plugin.
    pub otherwise: Given,
}

impl GrantPolicy {
    /// A policy that gives every plugin what it asks for: for plugins that ship with the host.
    #[must_use]
    pub fn trusting() -> Self {
        Self { given: BTreeMap::new(), otherwise: Given::WhatItAsksFor }
    }

    /// What a plugin gets of what it asks for.
    #[must_use]
    pub fn effective(&self, plugin: &PluginName, kind: PluginKind, asked: &Capabilities) -> Capabilities {
        let asked = asked.for_kind(kind);
        match self.given.get(plugin).unwrap_or(&self.otherwise) {
            Given::Nothing => Capabilities::default(),
            // With itself: what this host does not know is given to nobody.
            Given::WhatItAsksFor => asked.intersection(&asked),
            Given::Only(given) => asked.intersection(given),
        }
    }
}

/// What a plugin may touch: its own, and the rest of `effective` that there is. `all` are the collections of all installed plugins, sorted.
pub(crate) fn grant(
    kind: PluginKind,
    catalogue: Option<&Catalogue>,
    effective: &Capabilities,
    all: &[CollectionName],
) -> Grant {
    let own = |name: &CollectionName| match kind {
        PluginKind::Environment => name.as_str() == ENVIRONMENT_COLLECTION,
        _ => catalogue.is_some_and(|catalogue| catalogue.collections.iter().any(|spec| spec.name == *name)),
    };
    let given = |name: &CollectionName, access: CollectionAccess| {
        effective.collections.get(name).is_some_and(|given| *given >= access)
    };
    let with = |access: CollectionAccess| all.iter().filter(|name| own(name) || given(name, access)).cloned().collect();
    Grant {
        read: with(CollectionAccess::Read),
        write: with(CollectionAccess::Write),
        call: effective.tools.iter().cloned().collect(),
        scratch_bytes: effective.scratch_bytes,
        log_bytes: effective.log_bytes,
    }
}

/// Bytes of a call's log that are kept and shown.
pub(crate) fn log_bytes(grant: &Grant) -> usize {
    usize::try_from(grant.log_bytes.max(LOG_BYTES_FREE)).unwrap_or(usize::MAX)
}

/// Whether a sorted list of names has one.
pub(crate) fn has<T: Borrow<str>>(granted: &[T], name: &str) -> bool {
    granted.binary_search_by(|granted| granted.borrow().cmp(name)).is_ok()
}

#[cfg(test)]
mod tests {
    use loopwright_contract::tool::CollectionSpec;
    use serde_json::{Value, json};

    use super::*;

    fn catalogue() -> Catalogue {
        let own = CollectionSpec {
            name: "notes".parse().unwrap(),
            schema: None,
            bookkeeping: vec![],
            indexes: vec![],
            initial: vec![],
        };
        Catalogue { tools: vec![], collections: vec![own], uses: vec![] }
    }

    fn capabilities(list: &Value) -> Capabilities {
        Capabilities::parse(list, "").unwrap()
    }

    fn collection(name: &str, access: &str) -> Value {
        json!({"capability": "collection", "name": name, "access": access})
    }

    /// Reads power, writes the calendar, calls two tools.
    fn asked() -> Capabilities {
        capabilities(&json!([
            collection("power", "read"),
            collection("calendar", "write"),
            {"capability": "tool.call", "tools": ["manage_wifi", "set_alarm"]},
            {"capability": "scratch", "bytes": 1_000},
            {"capability": "log", "bytes": 9_000},
            {"capability": "http"},
        ]))
    }

    fn granted(policy: &GrantPolicy, kind: PluginKind) -> Grant {
        let all: Vec<CollectionName> =
            ["calendar", "environment", "notes", "power", "sms"].map(|name| name.parse().unwrap()).into();
        let effective = policy.effective(&"p".parse().unwrap(), kind, &asked());
        grant(kind, (kind == PluginKind::Tool).then(catalogue).as_ref(), &effective, &all)
    }

    fn check(policy: &GrantPolicy, kind: PluginKind, read: &[&str], write: &[&str]) {
        let grant = granted(policy, kind);
        let names = |granted: &[CollectionName]| granted.iter().map(ToString::to_string).collect::<Vec<_>>();
        assert_eq!((names(&grant.read), names(&grant.write)), (texts(read), texts(write)), "{kind:?} {policy:?}");
    }

    fn texts(names: &[&str]) -> Vec<String> {
        names.iter().map(ToString::to_string).collect()
    }

    fn only(list: &Value) -> GrantPolicy {
        let given = BTreeMap::from([("p".parse().unwrap(), Given::Only(capabilities(list)))]);
        GrantPolicy { given, otherwise: Given::Nothing }
    }

    #[test]
    fn what_no_decision_gives_is_denied() {
        let none = GrantPolicy::default();
        check(&none, PluginKind::Tool, &["notes"], &["notes"]);
        check(&none, PluginKind::Skill, &[], &[]);
        check(&none, PluginKind::Verifier, &[], &[]);
        check(&none, PluginKind::Environment, &["environment"], &["environment"]);
        let tool = granted(&none, PluginKind::Tool);
        assert!(tool.call.is_empty() && (tool.scratch_bytes, tool.log_bytes) == (0, 0), "{tool:?}");
        let other = GrantPolicy {
            given: BTreeMap::from([("other".parse().unwrap(), Given::WhatItAsksFor)]),
            otherwise: Given::Nothing,
        };
        check(&other, PluginKind::Tool, &["notes"], &["notes"]);
    }

    #[test]
    fn a_decision_gives_no_more_than_was_asked_for() {
        let wide = only(
            &json!([collection("power", "write"), collection("sms", "write"), {"capability": "scratch", "bytes": 5_000}]),
        );
        check(&wide, PluginKind::Tool, &["notes", "power"], &["notes"]);
        assert_eq!(granted(&wide, PluginKind::Tool).scratch_bytes, 1_000);
        check(&only(&json!([collection("calendar", "read")])), PluginKind::Tool, &["calendar", "notes"], &["notes"]);
        let trusting = GrantPolicy::trusting();
        check(&trusting, PluginKind::Tool, &["calendar", "notes", "power"], &["calendar", "notes"]);
        let all = granted(&trusting, PluginKind::Tool);
        assert_eq!((all.call.len(), all.scratch_bytes, all.log_bytes), (2, 1_000, 9_000));
        check(&trusting, PluginKind::Environment, &["calendar", "environment", "power"], &["calendar", "environment"]);
    }

    #[test]
    fn a_decision_gives_no_more_than_the_kind_may_have() {
        let trusting = GrantPolicy::trusting();
        check(&trusting, PluginKind::Skill, &["calendar", "power"], &[]);
        check(&trusting, PluginKind::Verifier, &[], &[]);
        for kind in [PluginKind::Environment, PluginKind::Skill, PluginKind::Verifier] {
            let grant = granted(&trusting, kind);
            assert!(grant.call.is_empty() && grant.scratch_bytes == 0 && log_bytes(&grant) == 9_000, "{grant:?}");
        }
        assert_eq!(log_bytes(&Grant::default()), 4_096);
    }
}
