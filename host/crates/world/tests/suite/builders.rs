//! Small worlds for tests.

use loopwright_contract::{limits::WorldLimits, name::CollectionName, tool::CollectionSpec};
use loopwright_world::World;
use proptest::prelude::*;
use serde_json::{Value, json};

/// A declaration without schema or documents.
pub(crate) fn spec(name: &str, bookkeeping: &[&str], indexes: &[&str]) -> CollectionSpec {
    let texts = |pointers: &[&str]| pointers.iter().map(|pointer| (*pointer).to_owned()).collect();
    CollectionSpec {
        name: CollectionName::new(name).unwrap(),
        schema: None,
        bookkeeping: texts(bookkeeping),
        indexes: texts(indexes),
        initial: Vec::new(),
    }
}

/// `notes` with an index and a bookkeeping field, and `tags` with neither.
pub(crate) fn world() -> World {
    let mut world = World::new(WorldLimits::default());
    world.declare(&spec("notes", &["/touched"], &["/folder", "/owner/name"])).unwrap();
    world.declare(&spec("tags", &[], &[])).unwrap();
    world
}

/// Documents with few distinct values, so that queries hit and documents collide.
pub(crate) fn any_document() -> impl Strategy<Value = Value> {
    let folder = prop_oneof![
        Just(json!("inbox")),
        Just(json!("work")),
        Just(json!(1)),
        Just(json!(null)),
        Just(json!(["a", "b"])),
        Just(json!("收件箱"))
    ];
    let owner =
        prop_oneof![Just(json!({"name": "Ann"})), Just(json!({"name": "Bo"})), Just(json!("Ann")), Just(json!({}))];
    (
        prop::option::of(folder),
        prop::option::of(owner),
        prop::option::of(-3i64..4),
        prop::option::of("[a-c\"]{0,3}"),
        prop::option::of(0i64..3),
    )
        .prop_map(|(folder, owner, size, title, touched)| {
            let members = [
                ("folder", folder),
                ("owner", owner),
                ("size", size.map(|size| json!(size))),
                ("title", title.map(Value::String)),
                ("touched", touched.map(|touched| json!(touched))),
            ];
            Value::Object(
                members.into_iter().filter_map(|(name, value)| value.map(|value| (name.to_owned(), value))).collect(),
            )
        })
}
