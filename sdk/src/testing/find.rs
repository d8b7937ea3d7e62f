//! Queries over documents in memory.

use core::cmp::Ordering;

use serde_json::{Map, Value};

use super::values::{compare, names, same, sort_order};
use crate::query::{Clause, Order, Query, Test};
use crate::state::{Cursor, Doc, Page, StateError};

const CLAUSES_MAX: usize = 16;
const ORDERS_MAX: usize = 4;
const FIELDS_MAX: usize = 32;
const VALUES_MAX: usize = 256;
const POINTER_BYTES_MAX: usize = 256;
const PAGE_MAX: u32 = 256;

/// The page of `documents` (in the order of their keys) that a query asks for.
pub(crate) fn find<'a>(
    documents: impl Iterator<Item = (&'a String, &'a Value)>,
    query: &Query,
) -> Result<Page<Value>, StateError> {
    check(query)?;
    let start = start_of(query)?;
    let mut matching: Vec<(&String, &Value)> =
        documents.filter(|(_, value)| query.clauses.iter().all(|clause| holds(clause, value))).collect();
    matching.sort_by(|a, b| ordering(&query.order, a.1, b.1).then_with(|| a.0.cmp(b.0)));
    let limit = match query.limit {
        0 => PAGE_MAX as usize,
        limit => limit as usize,
    };
    let docs: Vec<Doc<Value>> = matching
        .iter()
        .skip(start)
        .take(limit)
        .map(|(key, value)| Doc { key: (*key).clone(), value: project(&query.fields, value) })
        .collect();
    let end = start + docs.len();
    Ok(Page {
        docs,
        next: (end < matching.len()).then(|| Cursor(end.to_string())),
        total: u32::try_from(matching.len()).unwrap_or(u32::MAX),
    })
}

fn check(query: &Query) -> Result<(), StateError> {
    at_most("conditions", CLAUSES_MAX, query.clauses.len())?;
    at_most("sort keys", ORDERS_MAX, query.order.len())?;
    at_most("fields", FIELDS_MAX, query.fields.len())?;
    at_most("documents in a page", PAGE_MAX as usize, query.limit as usize)?;
    for clause in &query.clauses {
        if let Test::OneOf(values) = &clause.test {
            at_most("values of one-of", VALUES_MAX, values.len())?;
        }
    }
    let pointers = query.clauses.iter().map(|clause| &clause.at);
    let pointers = pointers.chain(query.order.iter().map(|order| &order.at)).chain(&query.fields);
    for pointer in pointers {
        if names(pointer).is_none() || pointer.len() > POINTER_BYTES_MAX {
            return Err(StateError::Invalid(format!(
                "`{pointer}` is no pointer: expected text such as `/a/b` of at most {POINTER_BYTES_MAX} bytes"
            )));
        }
    }
    Ok(())
}

fn at_most(what: &str, allowed: usize, found: usize) -> Result<(), StateError> {
    match found <= allowed {
        true => Ok(()),
        false => Err(StateError::Limit(format!("at most {allowed} {what}, found {found}"))),
    }
}

fn start_of(query: &Query) -> Result<usize, StateError> {
    match &query.cursor {
        None => Ok(0),
        Some(Cursor(text)) => {
            text.parse().map_err(|_| StateError::Invalid(format!("`{text}` is no cursor of this query")))
        }
    }
}

fn holds(clause: &Clause, document: &Value) -> bool {
    let Some(field) = document.pointer(&clause.at) else {
        return matches!(clause.test, Test::Ne(_) | Test::Exists(false));
    };
    match &clause.test {
        Test::Eq(value) => same(field, value),
        Test::Ne(value) => !same(field, value),
        Test::Lt(value) => compare(field, value) == Some(Ordering::Less),
        Test::Le(value) => compare(field, value).is_some_and(Ordering::is_le),
        Test::Gt(value) => compare(field, value) == Some(Ordering::Greater),
        Test::Ge(value) => compare(field, value).is_some_and(Ordering::is_ge),
        Test::OneOf(values) => values.iter().any(|value| same(field, value)),
        Test::Contains(value) => contains(field, value),
        Test::StartsWith(prefix) => field.as_str().is_some_and(|text| text.starts_with(prefix)),
        Test::Exists(expected) => *expected,
    }
}

fn contains(field: &Value, value: &Value) -> bool {
    match (field, value) {
        (Value::String(text), Value::String(part)) => text.contains(part),
        (Value::Array(items), value) => items.iter().any(|item| same(item, value)),
        _ => false,
    }
}

fn ordering(orders: &[Order], a: &Value, b: &Value) -> Ordering {
    let mut result = Ordering::Equal;
    for order in orders {
        let ascending = sort_order(a.pointer(&order.at), b.pointer(&order.at));
        result = result.then(if order.descending { ascending.reverse() } else { ascending });
    }
    result
}

/// The fields that were asked for, with the same nesting; all of them when none was named.
fn project(fields: &[String], document: &Value) -> Value {
    if fields.is_empty() {
        return document.clone();
    }
    let mut result = Value::Object(Map::new());
    for pointer in fields {
        if let (Some(value), Some(names)) = (document.pointer(pointer), names(pointer)) {
            place(&mut result, &names, value);
        }
    }
    result
}

fn place(target: &mut Value, names: &[String], value: &Value) {
    let Some((first, rest)) = names.split_first() else {
        *target = value.clone();
        return;
    };
    if let Value::Object(object) = target {
        place(object.entry(first.clone()).or_insert_with(|| Value::Object(Map::new())), rest, value);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;
    use std::collections::BTreeMap;

    fn documents() -> BTreeMap<String, Value> {
        let documents = [
            ("a", json!({"n": 25, "name": "Li Lei", "tags": ["x", "y"], "at": {"city": "Hangzhou"}})),
            ("b", json!({"n": 7.5, "name": "Han Meimei", "tags": [], "gone": null})),
            ("c", json!({"n": "25", "name": "li lei"})),
            ("d", json!({"name": "Zoe", "at": {"city": "Hefei"}})),
        ];
        documents.into_iter().map(|(key, value)| (key.to_owned(), value)).collect()
    }

    fn keys(query: &Query) -> Vec<String> {
        let documents = documents();
        let page = find(documents.iter(), query).unwrap();
        page.docs.into_iter().map(|doc| doc.key).collect()
    }

    #[test]
    fn each_test_matches_by_json_value() {
        let cases = [
            (Query::new().eq("/n", 25.0), vec!["a"]),
            (Query::new().ne("/n", 25), vec!["b", "c", "d"]),
            (Query::new().lt("/n", 25), vec!["b"]),
            (Query::new().le("/n", 25), vec!["a", "b"]),
            (Query::new().gt("/n", 7.5), vec!["a"]),
            (Query::new().ge("/n", 7.5), vec!["a", "b"]),
            (Query::new().gt("/name", "Z"), vec!["c", "d"]),
            (Query::new().one_of("/n", [json!(7.5), json!("25")]), vec!["b", "c"]),
            (Query::new().contains("/name", "Lei"), vec!["a"]),
            (Query::new().contains("/tags", "y"), vec!["a"]),
            (Query::new().starts_with("/at/city", "He"), vec!["d"]),
            (Query::new().present("/gone"), vec!["b"]),
            (Query::new().absent("/tags"), vec!["c", "d"]),
            (Query::new().eq("/name", "Zoe").absent("/n"), vec!["d"]),
        ];
        for (query, expected) in cases {
            assert_eq!(keys(&query), expected, "{query:?}");
        }
    }

    #[test]
    fn absent_fields_sort_first_and_ties_go_by_key() {
        assert_eq!(keys(&Query::new().ascending("/at/city")), ["b", "c", "a", "d"]);
        assert_eq!(keys(&Query::new().descending("/at/city")), ["d", "a", "b", "c"]);
        assert_eq!(keys(&Query::new().ascending("/n")), ["d", "b", "a", "c"]);
    }

    #[test]
    fn pages_join_to_the_whole() {
        let documents = documents();
        let query = Query::new().descending("/name").limit(3);
        let first = find(documents.iter(), &query).unwrap();
        assert_eq!((first.docs.len(), first.total), (3, 4));
        let second = find(documents.iter(), &query.after(first.next.unwrap())).unwrap();
        assert_eq!((second.docs.len(), second.next, second.total), (1, None, 4));
        assert_eq!(second.docs[0].key, "b");
    }

    #[test]
    fn fields_keep_their_nesting() {
        let documents = documents();
        let query = Query::new().eq("/n", 25).fields(["/at/city", "/name", "/none"]);
        let page = find(documents.iter(), &query).unwrap();
        assert_eq!(page.docs[0].value, json!({"at": {"city": "Hangzhou"}, "name": "Li Lei"}));
    }

    #[test]
    fn limits_and_malformed_pointers_are_refused() {
        let many = |count: usize| (0..count).fold(Query::new(), |query, _| query.present("/a"));
        let cases = [
            many(17),
            Query::new().ascending("/a").ascending("/b").ascending("/c").ascending("/d").ascending("/e"),
            Query::new().fields((0..33).map(|n| format!("/{n}"))),
            Query::new().limit(257),
            Query::new().one_of("/a", 0..257),
        ];
        for query in cases {
            assert!(matches!(find([].into_iter(), &query), Err(StateError::Limit(_))), "{query:?}");
        }
        assert!(find([].into_iter(), &many(16)).is_ok());
        for query in [
            Query::new().eq("title", 1),
            Query::new().eq(format!("/{}", "a".repeat(256)), 1),
            Query::new().after(Cursor("x".into())),
        ] {
            assert!(matches!(find([].into_iter(), &query), Err(StateError::Invalid(_))), "{query:?}");
        }
    }
}
