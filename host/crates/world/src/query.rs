//! A query, checked and compiled once, then tested against the text of documents.

use std::cmp::Ordering;

use loopwright_contract::{
    json,
    state::{Clause, Query, StateError, Test},
};
use serde_json::Value;
use sha2::{Digest as _, Sha256};

use crate::{
    Document, GoOn, Pointer,
    document::{JSON_LIMITS, refused},
    error::within,
    limits::{CLAUSES_LIMIT, FIELDS_LIMIT, ONE_OF_LIMIT, ORDERS_LIMIT, PAGE_DOCUMENTS_LIMIT},
    slice,
};

/// A query whose pointers are parsed and whose constants are canonical text.
pub(crate) struct Compiled {
    pub(crate) clauses: Vec<CompiledClause>,
    pub(crate) order: Vec<SortKey>,
    pub(crate) fields: Vec<Pointer>,
    /// Most documents of a page, at least 1.
    pub(crate) limit: usize,
}

pub(crate) struct CompiledClause {
    pub(crate) at: Pointer,
    pub(crate) test: CompiledTest,
}

pub(crate) struct SortKey {
    pub(crate) at: Pointer,
    pub(crate) descending: bool,
}

/// A test against the canonical text of a field.
pub(crate) enum CompiledTest {
    /// Equal to one of these texts, sorted; `Eq` is a list of one.
    Among(Vec<String>),
    Differs(String),
    Compares {
        constant: Scalar,
        accepts: fn(Ordering) -> bool,
    },
    Contains {
        text: String,
        string: Option<String>,
    },
    StartsWith(String),
    Exists(bool),
}

/// What `lt`, `le`, `gt` and `ge` compare.
pub(crate) enum Scalar {
    Number(f64),
    String(String),
}

impl Compiled {
    pub(crate) fn new(query: &Query) -> Result<Self, StateError> {
        within("clauses of a query", CLAUSES_LIMIT, query.clauses.len())?;
        within("sort keys of a query", ORDERS_LIMIT, query.order_by.len())?;
        within("fields of a query", FIELDS_LIMIT, query.fields.len())?;
        within("documents of a page", PAGE_DOCUMENTS_LIMIT as usize, query.limit as usize)?;
        let clauses = query.clauses.iter().map(compile_clause).collect::<Result<Vec<_>, _>>()?;
        let order = query
            .order_by
            .iter()
            .map(|order| Ok(SortKey { at: Pointer::parse(&order.at)?, descending: order.descending }));
        let order = order.collect::<Result<Vec<_>, StateError>>()?;
        let fields = query.fields.iter().map(|field| Pointer::parse(field)).collect::<Result<_, _>>()?;
        let limit = if query.limit == 0 { PAGE_DOCUMENTS_LIMIT } else { query.limit } as usize;
        Ok(Self { clauses, order, fields, limit })
    }

    /// Names the query in its cursors: everything but fields, limit and cursor.
    pub(crate) fn fingerprint(&self, collection: &str) -> [u8; 8] {
        let mut hash = Sha256::new_with_prefix(b"loopwright query 1\n");
        let mut add = |text: &str| {
            hash.update((text.len() as u64).to_le_bytes());
            hash.update(text);
        };
        add(collection);
        for clause in &self.clauses {
            add("where");
            add(clause.at.as_str());
            clause.test.parts().for_each(|part| add(&part));
        }
        for key in &self.order {
            add(if key.descending { "descending" } else { "ascending" });
            add(key.at.as_str());
        }
        let digest: [u8; 32] = hash.finalize().into();
        let mut short = [0; 8];
        short.iter_mut().zip(digest).for_each(|(to, from)| *to = from);
        short
    }

    /// Whether the document passes every clause; none: it was given up.
    pub(crate) fn accepts(&self, document: &Document, go_on: GoOn<'_>) -> Option<bool> {
        for clause in &self.clauses {
            if !go_on() {
                return None;
            }
            if !clause.test.accepts(document.text_at(&clause.at)) {
                return Some(false);
            }
        }
        Some(true)
    }
}

fn compile_clause(clause: &Clause) -> Result<CompiledClause, StateError> {
    Ok(CompiledClause { at: Pointer::parse(&clause.at)?, test: compile_test(&clause.test)? })
}

fn compile_test(test: &Test) -> Result<CompiledTest, StateError> {
    let compares = |value: &Value, accepts| Ok(CompiledTest::Compares { constant: scalar(value)?, accepts });
    match test {
        Test::Eq(value) => Ok(CompiledTest::Among(vec![canonical(value)?])),
        Test::Ne(value) => Ok(CompiledTest::Differs(canonical(value)?)),
        Test::Lt(value) => compares(value, Ordering::is_lt),
        Test::Le(value) => compares(value, Ordering::is_le),
        Test::Gt(value) => compares(value, Ordering::is_gt),
        Test::Ge(value) => compares(value, Ordering::is_ge),
        Test::OneOf(values) => {
            within("values of a one-of test", ONE_OF_LIMIT, values.len())?;
            let mut texts = values.iter().map(canonical).collect::<Result<Vec<_>, _>>()?;
            texts.sort();
            texts.dedup();
            Ok(CompiledTest::Among(texts))
        }
        Test::Contains(value) => {
            Ok(CompiledTest::Contains { text: canonical(value)?, string: value.as_str().map(str::to_owned) })
        }
        Test::StartsWith(text) => Ok(CompiledTest::StartsWith(text.clone())),
        Test::Exists(expected) => Ok(CompiledTest::Exists(*expected)),
    }
}

/// The canonical text of a constant. Constants may come from memory with numbers that were never normalised.
fn canonical(value: &Value) -> Result<String, StateError> {
    match value {
        Value::String(_) | Value::Bool(_) | Value::Null => Ok(json::canonical(value)),
        other => json::normalize(other.clone(), &JSON_LIMITS).map(|normal| json::canonical(&normal)).map_err(refused),
    }
}

fn scalar(value: &Value) -> Result<Scalar, StateError> {
    match value {
        Value::String(text) => Ok(Scalar::String(text.clone())),
        Value::Number(number) => number
            .as_f64()
            .map(Scalar::Number)
            .ok_or_else(|| StateError::Invalid(format!("number {number} is out of range"))),
        other => {
            Err(StateError::Invalid(format!("`lt`, `le`, `gt` and `ge` compare numbers or strings, found `{other}`")))
        }
    }
}

impl CompiledTest {
    /// Whether a field passes, by its canonical text; `None` is an absent field.
    fn accepts(&self, field: Option<&str>) -> bool {
        match (self, field) {
            (Self::Exists(expected), field) => field.is_some() == *expected,
            (Self::Differs(constant), field) => field != Some(constant),
            (_, None) => false,
            (Self::Among(constants), Some(field)) => {
                constants.binary_search_by(|constant| constant.as_str().cmp(field)).is_ok()
            }
            (Self::Compares { constant, accepts }, Some(field)) => constant.compared_by(field).is_some_and(accepts),
            (Self::Contains { text, string }, Some(field)) => contains(field, text, string.as_deref()),
            (Self::StartsWith(prefix), Some(field)) => {
                slice::unescaped(field).is_some_and(|found| found.starts_with(prefix.as_str()))
            }
        }
    }
}

impl Scalar {
    /// How the field compares with the constant; `None` when it is of another kind.
    fn compared_by(&self, field: &str) -> Option<Ordering> {
        match self {
            Self::Number(constant) => number(field)?.partial_cmp(constant),
            Self::String(constant) => Some(slice::unescaped(field)?.as_ref().cmp(constant.as_str())),
        }
    }
}

fn number(text: &str) -> Option<f64> {
    let numeric = matches!(text.as_bytes().first()?, b'0'..=b'9' | b'-');
    if numeric { text.parse().ok() } else { None }
}

fn contains(field: &str, text: &str, string: Option<&str>) -> bool {
    match (field.as_bytes().first(), string) {
        (Some(b'['), _) => slice::elements(field).any(|element| element == text),
        (Some(b'"'), Some(string)) => slice::unescaped(field).is_some_and(|found| found.contains(string)),
        _ => false,
    }
}

/// The order of two fields: absent, null, false, true, numbers by value, strings by code point, arrays and objects by their text.
pub(crate) fn compare_fields(a: Option<&str>, b: Option<&str>) -> Ordering {
    let (Some(a), Some(b)) = (a, b) else { return a.is_some().cmp(&b.is_some()) };
    kind(a).cmp(&kind(b)).then_with(|| match (number(a), number(b)) {
        (Some(a), Some(b)) => a.total_cmp(&b),
        _ => match (slice::unescaped(a), slice::unescaped(b)) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => a.cmp(b),
        },
    })
}

fn kind(text: &str) -> u8 {
    match text.as_bytes().first() {
        Some(b'n') => 0,
        Some(b'f') => 1,
        Some(b't') => 2,
        Some(b'0'..=b'9' | b'-') => 3,
        Some(b'"') => 4,
        Some(b'[') => 5,
        _ => 6,
    }
}

impl CompiledTest {
    /// What tells this test from any other.
    fn parts(&self) -> impl Iterator<Item = String> {
        let parts = match self {
            Self::Among(texts) => std::iter::once("among".to_owned()).chain(texts.iter().cloned()).collect(),
            Self::Differs(text) => vec!["differs".to_owned(), text.clone()],
            Self::Compares { constant, accepts } => vec![
                format!(
                    "compares {} {} {}",
                    accepts(Ordering::Less),
                    accepts(Ordering::Equal),
                    accepts(Ordering::Greater)
                ),
                match constant {
                    Scalar::Number(number) => format!("number {number:?}"),
                    Scalar::String(text) => format!("string {text}"),
                },
            ],
            Self::Contains { text, .. } => vec!["contains".to_owned(), text.clone()],
            Self::StartsWith(text) => vec!["starts with".to_owned(), text.clone()],
            Self::Exists(expected) => vec![format!("exists {expected}")],
        };
        parts.into_iter()
    }
}
