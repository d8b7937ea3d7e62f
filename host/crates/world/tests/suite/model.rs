//! Random histories of a world against a plain map.

use std::collections::BTreeMap;

use loopwright_contract::json::canonical;
use loopwright_world::{Bookkeeping, Change, Savepoint, World, diff, limits::DOCUMENT_OVERHEAD_BYTES};
use proptest::prelude::*;
use serde_json::Value;

use crate::builders::{any_document, world};

type Model = BTreeMap<(String, String), Value>;

#[derive(Debug, Clone)]
enum Operation {
    Put(String, String, Value),
    Patch(String, String, Value),
    Delete(String, String),
    Begin,
    Commit(prop::sample::Index),
    Rollback(prop::sample::Index),
    Fork,
}

fn place() -> impl Strategy<Value = (String, String)> {
    (prop::sample::select(vec!["notes", "tags"]), prop::sample::select(vec!["a", "b", "c", "d", "é", "名"]))
        .prop_map(|(collection, key)| (collection.to_owned(), key.to_owned()))
}

fn operation() -> impl Strategy<Value = Operation> {
    prop_oneof![
        6 => (place(), any_document()).prop_map(|((collection, key), value)| Operation::Put(collection, key, value)),
        3 => (place(), any_patch()).prop_map(|((collection, key), value)| Operation::Patch(collection, key, value)),
        3 => place().prop_map(|(collection, key)| Operation::Delete(collection, key)),
        2 => Just(Operation::Begin),
        1 => any::<prop::sample::Index>().prop_map(Operation::Commit),
        1 => any::<prop::sample::Index>().prop_map(Operation::Rollback),
        1 => Just(Operation::Fork),
    ]
}

/// A document in which some members are null, which removes them.
fn any_patch() -> impl Strategy<Value = Value> {
    (any_document(), prop::sample::select(vec!["folder", "owner", "size", "none"])).prop_map(|(mut value, name)| {
        if let Some(members) = value.as_object_mut() {
            members.insert(name.to_owned(), Value::Null);
        }
        value
    })
}

/// RFC 7396, in the words of its section 2.
fn merge(target: Value, patch: &Value) -> Value {
    match patch {
        Value::Object(changes) => {
            let mut members = match target {
                Value::Object(members) => members,
                _ => serde_json::Map::new(),
            };
            for (name, change) in changes {
                let member = members.remove(name);
                if !change.is_null() {
                    members.insert(name.clone(), merge(member.unwrap_or(Value::Null), change));
                }
            }
            Value::Object(members)
        }
        other => other.clone(),
    }
}

struct Run {
    world: World,
    model: Model,
    open: Vec<(Savepoint, Model)>,
    /// Worlds that were forked away, with what they must still hold.
    others: Vec<(World, Model)>,
}

impl Run {
    fn apply(&mut self, operation: &Operation) {
        match operation {
            Operation::Put(collection, key, value) => {
                self.world.put(collection, key, &value.to_string()).unwrap();
                self.model.insert((collection.clone(), key.clone()), value.clone());
            }
            Operation::Patch(collection, key, patch) => {
                let before = self.model.get(&(collection.clone(), key.clone())).cloned();
                let result = self.world.patch(collection, key, &patch.to_string());
                assert_eq!(result.is_ok(), before.is_some());
                if let Some(before) = before {
                    self.model.insert((collection.clone(), key.clone()), merge(before, patch));
                }
            }
            Operation::Delete(collection, key) => {
                let there = self.model.remove(&(collection.clone(), key.clone())).is_some();
                assert_eq!(self.world.delete(collection, key), Ok(there));
            }
            Operation::Begin => match self.world.begin() {
                Ok(savepoint) => self.open.push((savepoint, self.model.clone())),
                Err(_) => assert_eq!(self.open.len(), loopwright_world::limits::SAVEPOINTS_LIMIT),
            },
            Operation::Commit(index) | Operation::Rollback(index) => self.close(operation, index),
            Operation::Fork => {
                // Go on with the fork when nothing is open, else with the origin.
                let fork = self.world.fork();
                let kept = if self.open.is_empty() { std::mem::replace(&mut self.world, fork) } else { fork };
                self.others.push((kept, self.model.clone()));
            }
        }
    }

    fn close(&mut self, operation: &Operation, index: &prop::sample::Index) {
        if self.open.is_empty() {
            return;
        }
        let at = index.index(self.open.len());
        // Inner savepoints are closed with it.
        let (savepoint, model) = self.open.drain(at..).next().unwrap();
        if matches!(operation, Operation::Commit(_)) {
            self.world.commit(savepoint).unwrap();
        } else {
            self.world.rollback(savepoint).unwrap();
            self.model = model;
        }
    }

    fn check(&self, base: &World) {
        check_content(&self.world, &self.model);
        for (world, model) in &self.others {
            check_content(world, model);
        }
        for (savepoint, before) in &self.open {
            assert_eq!(
                described(&self.world.changes_since(savepoint)),
                model_diff(before, &self.model),
                "changes since a savepoint"
            );
        }
        assert_eq!(self.world.digest(), direct(base, &self.model).digest(), "the digest depends on the path");
    }
}

fn check_content(world: &World, model: &Model) {
    let mut found = Model::new();
    let mut bytes = 0;
    for collection in ["notes", "tags"] {
        for (key, document) in world.documents(collection).unwrap() {
            bytes += (key.as_str().len() + document.text().len()) as u64 + DOCUMENT_OVERHEAD_BYTES;
            assert_eq!(document.text(), canonical(document.value()), "stored text is canonical");
            found.insert((collection.to_owned(), key.to_string()), document.value().clone());
        }
    }
    assert_eq!(&found, model);
    assert_eq!(world.bytes(), bytes, "bytes are counted incrementally");
    assert_eq!(world.document_count(), found.len() as u64);
}

/// The same content, reached by the shortest path from the base and in the opposite order.
fn direct(base: &World, model: &Model) -> World {
    let mut world = base.fork();
    for collection in ["notes", "tags"] {
        let keys: Vec<String> = world.documents(collection).unwrap().keys().map(ToString::to_string).collect();
        for key in keys.iter().filter(|key| !model.contains_key(&(collection.to_owned(), (*key).clone()))) {
            world.delete(collection, key).unwrap();
        }
    }
    for ((collection, key), value) in model.iter().rev() {
        world.put_value(collection, key, value).unwrap();
    }
    world
}

type Described = (String, String, Option<String>, Option<String>);

fn described(changes: &[Change]) -> Vec<Described> {
    let text =
        |document: &Option<loopwright_world::Document>| document.as_ref().map(|document| document.text().to_owned());
    changes
        .iter()
        .map(|change| (change.collection.clone(), change.key.to_string(), text(&change.before), text(&change.after)))
        .collect()
}

fn model_diff(before: &Model, after: &Model) -> Vec<Described> {
    let mut keys: Vec<_> = before.keys().chain(after.keys()).collect();
    keys.sort();
    keys.dedup();
    let differing = keys.into_iter().filter(|place| before.get(place) != after.get(place));
    differing
        .map(|place| {
            (place.0.clone(), place.1.clone(), before.get(place).map(canonical), after.get(place).map(canonical))
        })
        .collect()
}

fn without_bookkeeping(model: &Model) -> Model {
    let mut model = model.clone();
    for ((collection, _), value) in &mut model {
        if let Some(members) = value.as_object_mut().filter(|_| collection == "notes") {
            members.remove("touched");
        }
    }
    model
}

fn start(documents: &[((String, String), Value)], sealed: bool) -> (World, Model) {
    let mut world = world();
    let mut model = Model::new();
    for ((collection, key), value) in documents {
        world.put_value(collection, key, value).unwrap();
        model.insert((collection.clone(), key.clone()), value.clone());
    }
    if sealed {
        world.seal().unwrap();
    }
    (world, model)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(192))]

    #[test]
    fn a_world_behaves_like_a_map(
        documents in proptest::collection::vec((place(), any_document()), 0..8),
        sealed in any::<bool>(),
        operations in proptest::collection::vec(operation(), 0..40),
    ) {
        let (base, model) = start(&documents, sealed);
        let mut run = Run { world: base.fork(), model, open: Vec::new(), others: Vec::new() };
        for operation in &operations {
            run.apply(operation);
            run.check(&base);
        }
    }

    #[test]
    fn a_diff_leads_from_one_world_to_the_other(
        documents in proptest::collection::vec((place(), any_document()), 0..8),
        left in proptest::collection::vec(operation(), 0..16),
        right in proptest::collection::vec(operation(), 0..16),
        sealed in any::<bool>(),
        related in any::<bool>(),
    ) {
        let (base, model) = start(&documents, sealed);
        let mut a = Run { world: base.fork(), model: model.clone(), open: Vec::new(), others: Vec::new() };
        // Without a common base the maps share nothing and every difference must be found by comparing them.
        let other = if related { base } else { start(&documents, true).0 };
        let mut b = Run { world: other, model, open: Vec::new(), others: Vec::new() };
        left.iter().for_each(|operation| a.apply(operation));
        right.iter().for_each(|operation| b.apply(operation));
        let changes = diff(&a.world, &b.world, Bookkeeping::Include);
        prop_assert_eq!(described(&changes), model_diff(&a.model, &b.model));
        let relevant = diff(&a.world, &b.world, Bookkeeping::Ignore);
        prop_assert_eq!(described(&relevant), model_diff(&without_bookkeeping(&a.model), &without_bookkeeping(&b.model)));
        let mut applied = a.world.fork();
        for change in changes {
            match change.after {
                Some(document) => applied.put_document(&change.collection, change.key.as_str(), document).unwrap(),
                None => prop_assert_eq!(applied.delete(&change.collection, change.key.as_str()), Ok(true)),
            }
        }
        prop_assert_eq!(applied.full_digest(), b.world.full_digest());
        check_content(&applied, &b.model);
    }

    #[test]
    fn equal_digests_mean_equal_content(
        documents in proptest::collection::vec((place(), any_document()), 0..4),
        left in proptest::collection::vec(operation(), 0..4),
        right in proptest::collection::vec(operation(), 0..4),
    ) {
        let (base, model) = start(&documents, true);
        let mut a = Run { world: base.fork(), model: model.clone(), open: Vec::new(), others: Vec::new() };
        let mut b = Run { world: base, model, open: Vec::new(), others: Vec::new() };
        left.iter().for_each(|operation| a.apply(operation));
        right.iter().for_each(|operation| b.apply(operation));
        prop_assert_eq!(a.world.digest() == b.world.digest(), a.model == b.model);
        prop_assert_eq!(a.world.full_digest() == b.world.full_digest(), a.model == b.model);
    }
}

#[test]
fn digests_never_change() {
    // Computed from the form that `digest.rs` describes, in another language; stored trajectories hold such digests.
    let mut world = world();
    world.put("notes", "a", r#"{"size":1}"#).unwrap();
    world.put("notes", "b", r#"{"size":2}"#).unwrap();
    world.seal().unwrap();
    assert_eq!(
        world.base_digest().to_string(),
        "sha256:04a8ef0013140e46fb30fe149dbf349aae6b3380cd7c7efadbfcb7eaa9d73dc7"
    );
    world.put("tags", "é", r#""x""#).unwrap();
    world.put("notes", "b", r#"{"size":3.0}"#).unwrap();
    world.delete("notes", "a").unwrap();
    assert_eq!(world.digest().to_string(), "sha256:d35209deaa4d1c1e00cec15d44a15b562e1392bc190d881821f187dea1bd1179");
}

#[test]
fn a_failed_operation_changes_nothing() {
    let mut world = world();
    world.put("notes", "a", r#"{"folder":"inbox"}"#).unwrap();
    let before = (world.digest(), world.bytes());
    for (key, text) in [("", "1"), ("b", "{"), ("b", r#"{"a":1,"a":2}"#), ("b\n", "1")] {
        assert!(world.put("notes", key, text).is_err());
    }
    assert!(world.put("nothing", "a", "1").is_err());
    assert!(world.patch("notes", "b", "{}").is_err());
    assert!(world.delete("nothing", "a").is_err());
    assert_eq!((world.digest(), world.bytes()), before);
}

#[test]
fn spellings_of_one_value_are_one_document() {
    let mut spelled = world();
    spelled.put("notes", "a", "{ \"size\" : 25.0, \"folder\":\"\\u0041\" }").unwrap();
    let mut plain = world();
    plain.put("notes", "a", r#"{"folder":"A","size":25}"#).unwrap();
    assert_eq!(spelled.digest(), plain.digest());
    assert_eq!(spelled.get("notes", "a").unwrap().unwrap().text(), r#"{"folder":"A","size":25}"#);
}

#[test]
fn a_closed_savepoint_is_refused() {
    let mut world = world();
    let outer = world.begin().unwrap();
    let inner = world.begin().unwrap();
    world.rollback(outer).unwrap();
    assert!(world.commit(inner).is_err());
}
