//! State operations: keys, queries, pages and their errors.

use loopwright_contract::{
    json::{self, JsonLimits},
    state::{Clause, Order, Page, Query, StateError, Test},
};
use serde_json::Value;

use crate::afv::types;

fn constant(text: &str) -> Result<Value, StateError> {
    json::parse(text, &JsonLimits::CONTRACT).map_err(|error| StateError::Invalid(error.to_string()))
}

fn test_in(test: types::Test) -> Result<Test, StateError> {
    Ok(match test {
        types::Test::Eq(text) => Test::Eq(constant(&text)?),
        types::Test::Ne(text) => Test::Ne(constant(&text)?),
        types::Test::Lt(text) => Test::Lt(constant(&text)?),
        types::Test::Le(text) => Test::Le(constant(&text)?),
        types::Test::Gt(text) => Test::Gt(constant(&text)?),
        types::Test::Ge(text) => Test::Ge(constant(&text)?),
        types::Test::OneOf(texts) => Test::OneOf(texts.iter().map(|text| constant(text)).collect::<Result<_, _>>()?),
        types::Test::Contains(text) => Test::Contains(constant(&text)?),
        types::Test::StartsWith(text) => Test::StartsWith(text),
        types::Test::Exists(expected) => Test::Exists(expected),
    })
}

/// Reads a query. Its limits are the world's to enforce.
///
/// # Errors
/// `Invalid` for a constant that is no JSON of the contract.
pub fn query_in(query: types::Query) -> Result<Query, StateError> {
    let clauses = query.where_.into_iter().map(|clause| Ok(Clause { at: clause.at, test: test_in(clause.test)? }));
    Ok(Query {
        clauses: clauses.collect::<Result<_, StateError>>()?,
        order_by: query
            .order_by
            .into_iter()
            .map(|order| Order { at: order.at, descending: order.descending })
            .collect(),
        fields: query.fields,
        limit: query.limit,
        cursor: query.cursor,
    })
}

/// A page as a guest gets it.
#[must_use]
pub fn page_out(page: Page) -> types::Page {
    let docs = page.documents.into_iter().map(|(key, value)| types::Doc { key, value }).collect();
    types::Page { docs, next: page.next, total: page.total }
}

/// A state error as a guest gets it.
#[must_use]
pub fn state_error_out(error: StateError) -> types::StateError {
    match error {
        StateError::Denied(collection) => types::StateError::Denied(collection),
        StateError::NotFound => types::StateError::NotFound,
        StateError::Conflict => types::StateError::Conflict,
        StateError::Limit(what) => types::StateError::Limit(what),
        StateError::Invalid(what) => types::StateError::Invalid(what),
        StateError::Other(what) => types::StateError::Other(what),
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_query_keeps_its_parts_and_refuses_bad_constants() {
        let query = |text: &str| types::Query {
            where_: vec![types::Clause { at: "/a".into(), test: types::Test::OneOf(vec![text.into()]) }],
            order_by: vec![types::Order { at: "/b".into(), descending: true }],
            fields: vec!["/c".into()],
            limit: 7,
            cursor: Some("x".into()),
        };
        let read = query_in(query("25.0")).unwrap();
        assert_eq!(read.clauses, [Clause { at: "/a".into(), test: Test::OneOf(vec![json!(25)]) }]);
        assert_eq!((read.order_by.len(), read.fields.len(), read.limit, read.cursor.as_deref()), (1, 1, 7, Some("x")));
        assert!(matches!(query_in(query("{")), Err(StateError::Invalid(_))));
    }
}
