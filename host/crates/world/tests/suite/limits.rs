//! Each limit is met exactly, and then exceeded.

use loopwright_contract::{
    limits::WorldLimits,
    state::{Clause, Order, Query, StateError, Test},
};
use loopwright_world::{Document, World, limits};
use serde_json::json;

use crate::builders::{spec, world};

fn is_limit<T: std::fmt::Debug>(result: Result<T, StateError>, named: &str) {
    match result {
        Err(StateError::Limit(message)) => assert!(message.contains(named), "{message}"),
        other => panic!("expected the limit on {named}, got {other:?}"),
    }
}

#[test]
fn documents_are_bounded() {
    let text = |bytes: usize| format!("\"{}\"", "x".repeat(bytes - 2));
    assert!(Document::parse(&text(limits::DOCUMENT_BYTES_LIMIT)).is_ok());
    is_limit(Document::parse(&text(limits::DOCUMENT_BYTES_LIMIT + 1)), "bytes of a document");
    let nested = |depth: usize| format!("{}1{}", "[".repeat(depth), "]".repeat(depth));
    assert!(Document::parse(&nested(limits::DOCUMENT_DEPTH_LIMIT)).is_ok());
    assert!(matches!(Document::parse(&nested(limits::DOCUMENT_DEPTH_LIMIT + 1)), Err(StateError::Invalid(_))));
    assert!(matches!(Document::parse(&nested(100_000)), Err(StateError::Invalid(_))));
    // White space does not count against the stored document, but against the text that came in.
    is_limit(Document::parse(&format!("1{}", " ".repeat(limits::DOCUMENT_BYTES_LIMIT))), "bytes of a document");
}

#[test]
fn a_patch_cannot_grow_a_document_past_its_limit() {
    let mut world = world();
    let half = "x".repeat(limits::DOCUMENT_BYTES_LIMIT / 2);
    world.put_value("notes", "a", &json!({"one": half})).unwrap();
    is_limit(world.patch("notes", "a", &json!({"two": half}).to_string()), "bytes of a document");
    assert!(world.get("notes", "a").unwrap().unwrap().text().starts_with("{\"one\""));
}

#[test]
fn keys_are_bounded() {
    let mut world = world();
    assert!(world.put("notes", &"k".repeat(limits::KEY_BYTES_LIMIT), "1").is_ok());
    let long = "k".repeat(limits::KEY_BYTES_LIMIT + 1);
    is_limit(world.put("notes", &long, "1"), "bytes of a key");
    is_limit(world.get("notes", &long), "bytes of a key");
    is_limit(world.delete("notes", &long), "bytes of a key");
    assert!(matches!(world.get("notes", ""), Err(StateError::Invalid(_))));
}

#[test]
fn worlds_are_bounded() {
    let small = WorldLimits { bytes: 1_000, documents: 3, collections: 1, key_bytes: 4 };
    let mut world = World::new(small);
    world.declare(&spec("notes", &[], &[])).unwrap();
    is_limit(world.declare(&spec("tags", &[], &[])), "collections of a world");
    is_limit(world.put("notes", "longer", "1"), "bytes of a key");
    let text = |bytes: usize| format!("\"{}\"", "x".repeat(bytes - 2));
    let room = 1_000 - usize::try_from(limits::DOCUMENT_OVERHEAD_BYTES).unwrap() - 1;
    is_limit(world.put("notes", "a", &text(room + 1)), "bytes of all documents");
    world.put("notes", "a", &text(room)).unwrap();
    assert_eq!(world.bytes(), 1_000);
    is_limit(world.put("notes", "b", "1"), "bytes of all documents");
    world.put("notes", "a", "1").unwrap();
    world.put("notes", "b", "1").unwrap();
    world.put("notes", "c", "1").unwrap();
    is_limit(world.put("notes", "d", "1"), "documents of a world");
    assert_eq!(world.delete("notes", "a"), Ok(true));
    world.put("notes", "d", "1").unwrap();
}

#[test]
fn declarations_are_bounded() {
    let pointers = |count: usize| (0..count).map(|number| format!("/f{number}")).collect::<Vec<_>>();
    let declare = |bookkeeping: usize, indexes: usize| {
        let mut declared = spec("notes", &[], &[]);
        (declared.bookkeeping, declared.indexes) = (pointers(bookkeeping), pointers(indexes));
        World::new(WorldLimits::default()).declare(&declared)
    };
    declare(limits::BOOKKEEPING_LIMIT, limits::INDEXES_LIMIT).unwrap();
    is_limit(declare(limits::BOOKKEEPING_LIMIT + 1, 0), "bookkeeping fields");
    is_limit(declare(0, limits::INDEXES_LIMIT + 1), "indexes");
    assert!(matches!(
        World::new(WorldLimits::default()).declare(&spec("notes", &[""], &[])),
        Err(StateError::Invalid(_))
    ));
    assert!(matches!(
        World::new(WorldLimits::default()).declare(&spec("notes", &["x"], &[])),
        Err(StateError::Invalid(_))
    ));
}

#[test]
fn a_second_declaration_must_agree() {
    let mut world = world();
    world.declare(&spec("tags", &[], &[])).unwrap();
    assert_eq!(world.declare(&spec("tags", &["/x"], &[])), Err(StateError::Conflict));
}

#[test]
fn savepoints_are_bounded() {
    let mut world = world();
    let open: Vec<_> = (0..limits::SAVEPOINTS_LIMIT).map(|_| world.begin().unwrap()).collect();
    is_limit(world.begin(), "open savepoints");
    assert!(matches!(world.seal(), Err(StateError::Other(_))));
    assert!(matches!(world.declare(&spec("more", &[], &[])), Err(StateError::Other(_))));
    world.rollback(open.into_iter().next().unwrap()).unwrap();
    assert!(world.begin().is_ok());
}

#[test]
fn queries_are_bounded() {
    let world = world();
    let clause = |test: Test| Clause { at: "/a".into(), test };
    let rows = [
        ("clauses", Query { clauses: vec![clause(Test::Exists(true)); limits::CLAUSES_LIMIT + 1], ..Query::default() }),
        (
            "one-of",
            Query { clauses: vec![clause(Test::OneOf(vec![json!(1); limits::ONE_OF_LIMIT + 1]))], ..Query::default() },
        ),
        (
            "sort keys",
            Query {
                order_by: vec![Order { at: "/a".into(), descending: false }; limits::ORDERS_LIMIT + 1],
                ..Query::default()
            },
        ),
        ("fields", Query { fields: vec!["/a".into(); limits::FIELDS_LIMIT + 1], ..Query::default() }),
        ("documents of a page", Query { limit: limits::PAGE_DOCUMENTS_LIMIT + 1, ..Query::default() }),
        (
            "pointer",
            Query { fields: vec![format!("/{}", "a".repeat(limits::POINTER_BYTES_LIMIT))], ..Query::default() },
        ),
        ("cursor", Query { cursor: Some("0".repeat(limits::CURSOR_BYTES_LIMIT + 1)), ..Query::default() }),
    ];
    for (named, query) in rows {
        is_limit(world.find("notes", &query), named);
    }
    let full = Query {
        clauses: vec![clause(Test::OneOf(vec![json!(1); limits::ONE_OF_LIMIT])); limits::CLAUSES_LIMIT],
        order_by: vec![Order { at: "/a".into(), descending: false }; limits::ORDERS_LIMIT],
        fields: vec!["/a".into(); limits::FIELDS_LIMIT],
        limit: limits::PAGE_DOCUMENTS_LIMIT,
        cursor: None,
    };
    assert!(world.find("notes", &full).is_ok());
}

#[test]
fn a_cursor_over_long_values_is_refused_when_it_is_made() {
    let mut world = world();
    for key in ["a", "b"] {
        world.put_value("notes", key, &json!({"body": "x".repeat(limits::CURSOR_BYTES_LIMIT)})).unwrap();
    }
    let query = Query { order_by: vec![Order { at: "/body".into(), descending: false }], limit: 1, ..Query::default() };
    is_limit(world.find("notes", &query), "bytes of a cursor");
    assert_eq!(world.find("notes", &Query { limit: 2, ..query }).unwrap().documents.len(), 2);
}

#[test]
fn many_gets_are_bounded() {
    let world = world();
    let ask = |count: usize| world.get_many(std::iter::repeat_n(("notes", "a"), count));
    assert_eq!(ask(limits::GET_MANY_LIMIT).unwrap().len(), limits::GET_MANY_LIMIT);
    is_limit(ask(limits::GET_MANY_LIMIT + 1), "documents asked for at once");
}
