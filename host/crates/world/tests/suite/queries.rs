//! Queries against a naive filter, with and without indexes, and through pages.

use std::cmp::Ordering;

use loopwright_contract::{
    limits::WorldLimits,
    state::{Clause, Order, Query, StateError, Test},
};
use loopwright_world::{World, limits};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::builders::{any_document, spec};

fn any_constant() -> impl Strategy<Value = Value> {
    prop_oneof![
        Just(json!("inbox")),
        Just(json!("work")),
        Just(json!("a")),
        Just(json!("Ann")),
        Just(json!("收")),
        Just(json!(1)),
        Just(json!(1.0)),
        Just(json!(0.5)),
        Just(json!(-2)),
        Just(json!(null)),
        Just(json!(["a", "b"])),
        Just(json!({"name": "Ann"})),
        Just(json!("")),
    ]
}

fn any_scalar() -> impl Strategy<Value = Value> {
    any_constant().prop_filter("numbers and strings compare", |value| value.is_number() || value.is_string())
}

fn any_pointer() -> impl Strategy<Value = String> {
    prop::sample::select(vec!["/folder", "/owner", "/owner/name", "/size", "/title", "/folder/0", "/none", ""])
        .prop_map(str::to_owned)
}

fn any_test() -> impl Strategy<Value = Test> {
    prop_oneof![
        any_constant().prop_map(Test::Eq),
        any_constant().prop_map(Test::Ne),
        any_scalar().prop_map(Test::Lt),
        any_scalar().prop_map(Test::Le),
        any_scalar().prop_map(Test::Gt),
        any_scalar().prop_map(Test::Ge),
        proptest::collection::vec(any_constant(), 0..4).prop_map(Test::OneOf),
        any_constant().prop_map(Test::Contains),
        prop::sample::select(vec!["", "i", "Ann", "收", "\""]).prop_map(|text| Test::StartsWith(text.to_owned())),
        any::<bool>().prop_map(Test::Exists),
    ]
}

fn any_query() -> impl Strategy<Value = Query> {
    let clauses =
        proptest::collection::vec((any_pointer(), any_test()).prop_map(|(at, test)| Clause { at, test }), 0..3);
    let orders = proptest::collection::vec(
        (any_pointer(), any::<bool>()).prop_map(|(at, descending)| Order { at, descending }),
        0..3,
    );
    (clauses, orders, 1u32..5).prop_map(|(clauses, order_by, limit)| Query {
        clauses,
        order_by,
        limit,
        ..Query::default()
    })
}

/// Equality of JSON values, numbers by value.
fn equal(a: &Value, b: &Value) -> bool {
    match (a.as_f64(), b.as_f64()) {
        (Some(a), Some(b)) => a == b,
        _ => a == b,
    }
}

fn compare(a: &Value, b: &Value) -> Option<Ordering> {
    match (a, b) {
        (Value::Number(a), Value::Number(b)) => a.as_f64()?.partial_cmp(&b.as_f64()?),
        (Value::String(a), Value::String(b)) => Some(a.cmp(b)),
        _ => None,
    }
}

/// What the WIT text says of each test.
fn passes(field: Option<&Value>, test: &Test) -> bool {
    let Some(field) = field else { return matches!(test, Test::Ne(_) | Test::Exists(false)) };
    match test {
        Test::Eq(value) => equal(field, value),
        Test::Ne(value) => !equal(field, value),
        Test::Lt(value) => compare(field, value) == Some(Ordering::Less),
        Test::Le(value) => matches!(compare(field, value), Some(Ordering::Less | Ordering::Equal)),
        Test::Gt(value) => compare(field, value) == Some(Ordering::Greater),
        Test::Ge(value) => matches!(compare(field, value), Some(Ordering::Greater | Ordering::Equal)),
        Test::OneOf(values) => values.iter().any(|value| equal(field, value)),
        Test::Contains(value) => match (field, value) {
            (Value::Array(elements), value) => elements.iter().any(|element| equal(element, value)),
            (Value::String(text), Value::String(part)) => text.contains(part.as_str()),
            _ => false,
        },
        Test::StartsWith(prefix) => field.as_str().is_some_and(|text| text.starts_with(prefix.as_str())),
        Test::Exists(expected) => *expected,
    }
}

fn rank(value: Option<&Value>) -> u8 {
    match value {
        None => 0,
        Some(Value::Null) => 1,
        Some(Value::Bool(false)) => 2,
        Some(Value::Bool(true)) => 3,
        Some(Value::Number(_)) => 4,
        Some(Value::String(_)) => 5,
        Some(Value::Array(_)) => 6,
        Some(Value::Object(_)) => 7,
    }
}

fn sort_order(a: Option<&Value>, b: Option<&Value>) -> Ordering {
    rank(a).cmp(&rank(b)).then_with(|| match (a, b) {
        (Some(a), Some(b)) => compare(a, b)
            .unwrap_or_else(|| loopwright_contract::json::canonical(a).cmp(&loopwright_contract::json::canonical(b))),
        _ => Ordering::Equal,
    })
}

fn naive(documents: &[(String, Value)], query: &Query) -> Vec<(String, Value)> {
    let passing = documents
        .iter()
        .filter(|(_, value)| query.clauses.iter().all(|clause| passes(value.pointer(&clause.at), &clause.test)));
    let mut found: Vec<(String, Value)> = passing.cloned().collect();
    found.sort_by(|(a_key, a), (b_key, b)| {
        let by_fields = query.order_by.iter().map(|order| {
            let ordering = sort_order(a.pointer(&order.at), b.pointer(&order.at));
            if order.descending { ordering.reverse() } else { ordering }
        });
        by_fields.fold(Ordering::Equal, Ordering::then).then_with(|| a_key.cmp(b_key))
    });
    found
}

fn filled(documents: &[(String, Value)], indexes: &[&str]) -> World {
    let mut world = World::new(WorldLimits::default());
    world.declare(&spec("notes", &[], indexes)).unwrap();
    for (key, value) in documents {
        world.put_value("notes", key, value).unwrap();
    }
    world
}

/// Follows the cursors to the end.
fn all_pages(world: &World, query: &Query) -> Vec<(String, Value)> {
    let mut query = query.clone();
    let mut found = Vec::new();
    loop {
        let page = world.find("notes", &query).unwrap();
        assert!(page.documents.len() <= query.limit as usize);
        found.extend(page.documents.into_iter().map(|(key, document)| (key.to_string(), document.value().clone())));
        match page.next {
            Some(next) => query.cursor = Some(next),
            None => {
                assert_eq!(page.total as usize, found.len());
                return found;
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(512))]

    #[test]
    fn a_query_finds_what_a_naive_filter_finds(
        documents in proptest::collection::btree_map("[a-dé名]{1,2}", any_document(), 0..12),
        removed in "[a-d]{1,2}",
        query in any_query(),
    ) {
        let mut documents: Vec<(String, Value)> = documents.into_iter().collect();
        let mut scanned = filled(&documents, &[]);
        let mut indexed = filled(&documents, &["/folder", "/owner/name", "/size", ""]);
        // Overwrite and delete, so that the indexes have something to forget.
        for world in [&mut scanned, &mut indexed] {
            world.delete("notes", &removed).unwrap();
            for (key, value) in &documents {
                world.put_value("notes", key, &json!({"folder": "work", "was": value})).unwrap();
                world.put_value("notes", key, value).unwrap();
            }
            world.delete("notes", &removed).unwrap();
        }
        documents.retain(|(key, _)| *key != removed);
        let expected = naive(&documents, &query);
        prop_assert_eq!(&all_pages(&scanned, &query), &expected);
        prop_assert_eq!(&all_pages(&indexed, &query), &expected);
    }
}

#[test]
fn what_a_query_examines_is_known_before() {
    let documents: Vec<(String, Value)> = (0..100)
        .map(|number| (format!("k{number}"), json!({"folder": if number < 7 { "work" } else { "inbox" }})))
        .collect();
    let (scanned, indexed) = (filled(&documents, &[]), filled(&documents, &["/folder"]));
    let work =
        Query { clauses: vec![Clause { at: "/folder".into(), test: Test::Eq(json!("work")) }], ..Query::default() };
    assert_eq!(scanned.examined_by("notes", &work), Ok(100));
    assert_eq!(indexed.examined_by("notes", &work), Ok(7));
    assert_eq!(indexed.examined_by("notes", &Query::default()), Ok(100));
    assert!(matches!(indexed.examined_by("elsewhere", &work), Err(StateError::Invalid(_))));
}

#[test]
fn an_index_stays_right_through_rollback_and_fork() {
    let mut world =
        filled(&[("a".into(), json!({"folder": "inbox"})), ("b".into(), json!({"folder": "work"}))], &["/folder"]);
    let query = |folder: &str| Query {
        clauses: vec![Clause { at: "/folder".into(), test: Test::Eq(json!(folder)) }],
        ..Query::default()
    };
    let keys = |world: &World, folder: &str| -> Vec<String> {
        world.find("notes", &query(folder)).unwrap().documents.into_iter().map(|(key, _)| key.to_string()).collect()
    };
    let savepoint = world.begin().unwrap();
    world.patch("notes", "a", r#"{"folder":"work"}"#).unwrap();
    world.put("notes", "c", r#"{"folder":"inbox"}"#).unwrap();
    let fork = world.fork();
    assert_eq!(keys(&world, "work"), ["a", "b"]);
    world.rollback(savepoint).unwrap();
    assert_eq!((keys(&world, "inbox"), keys(&world, "work")), (vec!["a".to_owned()], vec!["b".to_owned()]));
    assert_eq!(
        (keys(&fork, "inbox"), keys(&fork, "work")),
        (vec!["c".to_owned()], vec!["a".to_owned(), "b".to_owned()])
    );
}

#[test]
fn long_values_that_begin_alike_are_told_apart() {
    let long = |end: &str| format!("{}{end}", "名".repeat(40));
    let world =
        filled(&[("a".into(), json!({"folder": long("x")})), ("b".into(), json!({"folder": long("y")}))], &["/folder"]);
    let query =
        Query { clauses: vec![Clause { at: "/folder".into(), test: Test::Eq(json!(long("y"))) }], ..Query::default() };
    assert_eq!(all_pages(&world, &Query { limit: 5, ..query }), [("b".to_owned(), json!({"folder": long("y")}))]);
}

#[test]
fn fields_keep_their_nesting() {
    let world = filled(
        &[(
            "a".into(),
            json!({"title": "x", "owner": {"name": "Ann", "age": 3}, "list": [{"p": 1, "q": 2}, 5], "a/b": 1}),
        )],
        &[],
    );
    let rows = [
        (vec!["/title"], json!({"title": "x"})),
        (vec!["/owner/name", "/title", "/none"], json!({"owner": {"name": "Ann"}, "title": "x"})),
        (vec!["/list/0/p"], json!({"list": {"0": {"p": 1}}})),
        (vec!["/list", "/list/0/p"], json!({"list": {"0": {"p": 1, "q": 2}, "1": 5}})),
        (vec!["/owner/name", "/owner"], json!({"owner": {"name": "Ann", "age": 3}})),
        (vec!["/a~1b"], json!({"a/b": 1})),
        (vec!["/none"], json!({})),
        (vec![], json!({"title": "x", "owner": {"name": "Ann", "age": 3}, "list": [{"p": 1, "q": 2}, 5], "a/b": 1})),
        (vec![""], json!({"title": "x", "owner": {"name": "Ann", "age": 3}, "list": [{"p": 1, "q": 2}, 5], "a/b": 1})),
    ];
    for (fields, expected) in rows {
        let query = Query { fields: fields.iter().map(|field| (*field).to_owned()).collect(), ..Query::default() };
        let found = world.find("notes", &query).unwrap();
        assert_eq!(found.documents[0].1.value(), &expected, "{fields:?}");
    }
}

#[test]
fn a_cursor_continues_its_own_query_only() {
    let documents: Vec<(String, Value)> =
        (0..5).map(|number| (format!("k{number}"), json!({"size": number % 2, "title": "t"}))).collect();
    let mut world = filled(&documents, &[]);
    let query = Query { order_by: vec![Order { at: "/size".into(), descending: true }], limit: 2, ..Query::default() };
    let next = world.find("notes", &query).unwrap().next;
    let continued = |changed: Query| world.find("notes", &Query { cursor: next.clone(), ..changed });
    let keys: Vec<String> =
        continued(query.clone()).unwrap().documents.into_iter().map(|(key, _)| key.to_string()).collect();
    assert_eq!(keys, ["k0", "k2"]);
    let others = [
        Query { order_by: vec![Order { at: "/size".into(), descending: false }], ..query.clone() },
        Query { order_by: vec![Order { at: "/title".into(), descending: true }], ..query.clone() },
        Query { order_by: Vec::new(), ..query.clone() },
        Query { clauses: vec![Clause { at: "/size".into(), test: Test::Exists(true) }], ..query.clone() },
    ];
    for other in others {
        assert!(matches!(continued(other), Err(StateError::Invalid(_))));
    }
    let text = next.clone().unwrap();
    for bad in ["", "00", "zz", &text[1..], &text[2..], &format!("{text}00"), "5b5d", &text.replace('5', "6")] {
        let result = world.find("notes", &Query { cursor: Some(bad.to_owned()), ..query.clone() });
        assert!(matches!(result, Err(StateError::Invalid(_))), "{bad:?} gave {result:?}");
    }
    // The document at which the page ended goes away, and nothing is skipped or repeated.
    world.delete("notes", "k3").unwrap();
    let page = world.find("notes", &Query { cursor: next, ..query }).unwrap();
    assert_eq!(page.documents[0].0, "k0");
}

#[test]
fn a_page_of_large_documents_ends_early() {
    let large = json!({"body": "x".repeat(250_000)});
    let documents: Vec<(String, Value)> = (0..6).map(|number| (format!("k{number}"), large.clone())).collect();
    let world = filled(&documents, &[]);
    let page = world.find("notes", &Query::default()).unwrap();
    assert_eq!((page.documents.len(), page.total), (limits::PAGE_BYTES_LIMIT / 250_000, 6));
    assert_eq!(all_pages(&world, &Query { limit: 256, ..Query::default() }).len(), 6);
}

#[test]
fn comparing_what_has_no_order_is_refused() {
    let world = filled(&[], &[]);
    for value in [json!(null), json!(true), json!([1]), json!({})] {
        let query = Query { clauses: vec![Clause { at: "/a".into(), test: Test::Lt(value) }], ..Query::default() };
        assert!(matches!(world.find("notes", &query), Err(StateError::Invalid(_))));
    }
    let query = Query { clauses: vec![Clause { at: "a".into(), test: Test::Exists(true) }], ..Query::default() };
    assert!(matches!(world.find("notes", &query), Err(StateError::Invalid(_))));
    assert!(matches!(world.find("nothing", &Query::default()), Err(StateError::Invalid(_))));
}

/// Whoever no longer waits gets nothing, wherever the work stands when that shows.
#[test]
fn what_nobody_waits_for_is_given_up() {
    use std::cell::Cell;

    use loopwright_world::{
        Bookkeeping, GoOn, Ids, SamenessRule, Side, diff, diff_while, same_up_to, same_up_to_while,
    };

    let documents: Vec<(String, Value)> =
        (0..20).map(|n| (format!("k{n:02}"), json!({"n": n % 3, "s": "x"}))).collect();
    let world = filled(&documents, &[]);
    let mut other = filled(&documents[..10], &[]);
    other.put("notes", "k03", r#"{"n":9}"#).unwrap();
    let query = Query {
        clauses: vec![Clause { at: "/n".into(), test: Test::Ne(json!(1)) }],
        order_by: vec![Order { at: "/n".into(), descending: true }],
        fields: vec!["/n".into()],
        ..Query::default()
    };
    let ids = Ids::default();
    let (left, right) = (Side { world: &world, ids: &ids }, Side { world: &other, ids: &ids });
    let rule = SamenessRule::default();
    // Each work is done in full when it is waited for long enough, and given up before that.
    type Work<'a> = &'a dyn Fn(GoOn<'_>) -> bool;
    let works: [(&str, Work<'_>); 4] = [
        ("find", &|go_on| world.find_while("notes", &query, go_on).unwrap().is_some()),
        ("diff", &|go_on| diff_while(&world, &other, Bookkeeping::Include, go_on).is_some()),
        ("digest", &|go_on| other.digest_while(go_on).is_some()),
        ("sameness", &|go_on| same_up_to_while(left, right, &rule, go_on).is_some()),
    ];
    for (what, work) in works {
        let asked = Cell::new(0);
        assert!(work(&|| {
            asked.set(asked.get() + 1);
            true
        }));
        let needed = asked.get();
        assert!(needed > 5, "{what} asked {needed} times");
        for patience in 0..needed {
            let asked = Cell::new(0);
            let done = work(&|| {
                asked.set(asked.get() + 1);
                asked.get() <= patience
            });
            assert!(!done, "{what} went on after {patience} of {needed}");
        }
    }
    assert_eq!(world.find_while("notes", &query, &|| true).unwrap(), Some(world.find("notes", &query).unwrap()));
    assert_eq!(
        diff_while(&world, &other, Bookkeeping::Ignore, &|| true),
        Some(diff(&world, &other, Bookkeeping::Ignore))
    );
    assert_eq!(same_up_to_while(left, right, &rule, &|| true), Some(same_up_to(left, right, &rule)));
}
