//! Worlds as text: `{collection: {key: document}}`, canonical, with the issued ids of a target under `$ids`.

use std::collections::{BTreeMap, BTreeSet};

use loopwright_contract::{
    episode::StoredWorld,
    fault::HostFault,
    json::{self, JsonLimits, canonical},
};
use loopwright_world::{Counter, Ids, World};
use serde_json::{Map, Value, json};

/// Where a target's issued ids stand. No collection has such a name.
const IDS: &str = "$ids";

/// A world's content as text. Documents are canonical already, so that only keys are sorted and quoted here.
pub(crate) fn store(world: &World, ids: Option<&Ids>) -> StoredWorld {
    let mut parts: BTreeMap<String, String> = BTreeMap::new();
    if let Some(issued) = ids.map(issued).filter(|issued| !issued.is_empty()) {
        parts.insert(IDS.to_owned(), canonical(&Value::Object(issued)));
    }
    for rules in world.collections() {
        let Ok(documents) = world.documents(rules.name()) else { continue };
        if documents.is_empty() {
            continue;
        }
        let mut entries: Vec<(&str, &str)> =
            documents.iter().map(|(key, document)| (key.as_str(), document.text())).collect();
        // RFC 8785 sorts by UTF-16 code units.
        entries.sort_by(|a, b| a.0.encode_utf16().cmp(b.0.encode_utf16()));
        parts.insert(rules.name().to_owned(), object(entries));
    }
    let text = object(parts.iter().map(|(name, text)| (name.as_str(), text.as_str())));
    StoredWorld { digest: world.full_digest(), text }
}

fn object<'a>(entries: impl IntoIterator<Item = (&'a str, &'a str)>) -> String {
    let members: Vec<String> =
        entries.into_iter().map(|(key, text)| format!("{}:{text}", canonical(&Value::from(key)))).collect();
    format!("{{{}}}", members.join(","))
}

fn issued(ids: &Ids) -> Map<String, Value> {
    let counters = ids.counters().filter(|(_, counter)| counter.last > counter.base);
    counters.map(|(prefix, counter)| (prefix.to_owned(), json!([counter.base, counter.last]))).collect()
}

/// A world's documents as they were read.
pub(crate) struct Documents {
    collections: BTreeMap<String, Map<String, Value>>,
    issued: Vec<(String, Counter)>,
}

impl Documents {
    /// Reads a world's text. `what` names it in errors.
    pub(crate) fn parse(text: &str, what: &str) -> Result<Self, HostFault> {
        let bad = |reason: String| HostFault::Setup(format!("{what}: {reason}"));
        let Value::Object(mut all) = json::parse(text, &JsonLimits::FILE).map_err(|error| bad(error.to_string()))?
        else {
            return Err(bad("expected an object of collections".into()));
        };
        let issued = all.remove(IDS).map_or(Ok(Vec::new()), |value| counters(&value)).map_err(bad)?;
        let mut collections = BTreeMap::new();
        for (name, documents) in all {
            let Value::Object(documents) = documents else {
                return Err(bad(format!("collection `{name}`: expected an object of documents by key")));
            };
            collections.insert(name, documents);
        }
        Ok(Self { collections, issued })
    }

    /// Puts every document into a world that has none.
    pub(crate) fn fill(&self, world: &mut World, what: &str) -> Result<(), HostFault> {
        for (collection, documents) in &self.collections {
            for (key, value) in documents {
                world.put_value(collection, key, value).map_err(|error| {
                    HostFault::Setup(format!("{what}: collection `{collection}`, document `{key}`: {error}"))
                })?;
            }
        }
        Ok(())
    }

    /// Turns a world into this one by the least of writes, so that both keep one base.
    pub(crate) fn lay_over(&self, world: &mut World, what: &str) -> Result<(), HostFault> {
        let surplus: Vec<(String, String)> =
            world.collections().flat_map(|rules| self.surplus(world, rules.name())).collect();
        for (collection, key) in surplus {
            world.delete(&collection, &key).map_err(|error| HostFault::Setup(format!("{what}: {error}")))?;
        }
        self.fill(world, what)
    }

    fn surplus(&self, world: &World, collection: &str) -> BTreeSet<(String, String)> {
        let wanted = self.collections.get(collection);
        let Ok(found) = world.documents(collection) else { return BTreeSet::new() };
        let surplus = found.keys().filter(|key| wanted.is_none_or(|wanted| !wanted.contains_key(key.as_str())));
        surplus.map(|key| (collection.to_owned(), key.to_string())).collect()
    }

    /// The ids of an episode that began with `initial` and issued what this world says.
    pub(crate) fn ids(&self, initial: &Ids) -> Result<Ids, HostFault> {
        let mut all: BTreeMap<String, Counter> =
            initial.counters().map(|(prefix, counter)| (prefix.to_owned(), counter)).collect();
        all.extend(self.issued.iter().cloned());
        Ids::restore(all).map_err(|error| HostFault::Setup(format!("stored ids: {error}")))
    }
}

fn counters(value: &Value) -> Result<Vec<(String, Counter)>, String> {
    let Value::Object(map) = value else { return Err(format!("`{IDS}`: expected an object")) };
    let counter = |(prefix, value): (&String, &Value)| {
        let (base, last) = (value.get(0).and_then(Value::as_u64), value.get(1).and_then(Value::as_u64));
        base.zip(last)
            .map(|(base, last)| (prefix.clone(), Counter { base, last }))
            .ok_or_else(|| format!("`{IDS}/{prefix}`: expected two numbers"))
    };
    map.iter().map(counter).collect()
}

#[cfg(test)]
mod tests {
    use loopwright_contract::{limits::WorldLimits, tool::CollectionSpec};

    use super::*;

    fn world(documents: &[(&str, &str)]) -> World {
        let mut world = World::new(WorldLimits::default());
        for name in ["notes", "empty"] {
            world
                .declare(&CollectionSpec {
                    name: name.parse().unwrap(),
                    schema: None,
                    bookkeeping: vec![],
                    indexes: vec![],
                    initial: vec![],
                })
                .unwrap();
        }
        documents.iter().for_each(|(key, text)| world.put("notes", key, text).unwrap());
        world
    }

    #[test]
    fn a_stored_world_is_canonical_and_reads_back() {
        let original = world(&[("note-0002", r#"{"b":1,"a":"\u0041"}"#), ("\u{fb33}", "1"), ("\u{1f600}", "2")]);
        let stored = store(&original, None);
        let value = json::parse(&stored.text, &JsonLimits::FILE).unwrap();
        assert_eq!(canonical(&value), stored.text);
        let mut again = world(&[("gone", "1"), ("note-0002", r#"{"a":"A","b":1}"#)]);
        Documents::parse(&stored.text, "world").unwrap().lay_over(&mut again, "world").unwrap();
        assert_eq!(again.full_digest(), stored.digest);
    }

    #[test]
    fn issued_ids_travel_with_a_target() {
        let initial = Ids::after(&world(&[("note-0002", "1")]));
        let mut ids = initial.clone();
        let issued = ids.next_id("note").unwrap();
        let stored = store(&world(&[("note-0002", "1"), (&issued, "2")]), Some(&ids));
        let read = Documents::parse(&stored.text, "world").unwrap().ids(&initial).unwrap();
        assert!(read.is_issued(&issued) && !read.is_issued("note-0002"));
    }

    #[test]
    fn a_world_of_another_form_is_refused_with_its_name() {
        for (text, part) in [
            ("[]", "object of collections"),
            (r#"{"notes":[]}"#, "`notes`"),
            ("{", "line 1"),
            (r#"{"$ids":{"note":1}}"#, "two numbers"),
        ] {
            let error = Documents::parse(text, "world `w`").err().map(|error| error.to_string()).unwrap_or_default();
            assert!(error.starts_with("world `w`") && error.contains(part), "{text}: {error}");
        }
        let unknown = Documents::parse(r#"{"other":{"a":1}}"#, "w").unwrap();
        assert!(unknown.fill(&mut world(&[]), "w").is_err_and(|error| error.to_string().contains("other")));
    }
}
