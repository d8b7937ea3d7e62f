//! Queries over an episode's collections and what can go wrong with them.

use serde_json::Value;

/// Why a state operation did not happen. It changed nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// The collection is outside the grant.
    #[error("collection `{0}` is not granted")]
    Denied(String),
    /// A patch of a document that does not exist.
    #[error("no such document")]
    NotFound,
    /// Another writer changed the document in between.
    #[error("the document was changed in between")]
    Conflict,
    /// A limit was reached.
    #[error("limit reached: {0}")]
    Limit(String),
    /// A malformed name, key, pointer, cursor or document.
    #[error("invalid: {0}")]
    Invalid(String),
    /// Anything else, for logs only.
    #[error("state operation failed: {0}")]
    Other(String),
}

/// A test of one field. An absent field satisfies [`Test::Ne`] and `Exists(false)` and nothing else.
#[derive(Debug, Clone, PartialEq)]
pub enum Test {
    /// Equal, by JSON value.
    Eq(Value),
    /// Not equal, or absent.
    Ne(Value),
    /// Less: numbers by value, strings by code point; different kinds never compare.
    Lt(Value),
    /// Less or equal.
    Le(Value),
    /// Greater.
    Gt(Value),
    /// Greater or equal.
    Ge(Value),
    /// Equal to one of these.
    OneOf(Vec<Value>),
    /// A string that contains this string, or an array with an equal element.
    Contains(Value),
    /// A string that starts with this.
    StartsWith(String),
    /// The field is there, or absent.
    Exists(bool),
}

/// One condition.
#[derive(Debug, Clone, PartialEq)]
pub struct Clause {
    /// JSON pointer to the field.
    pub at: String,
    /// What must hold.
    pub test: Test,
}

/// One sort key. Absent fields sort first; ties are broken by the document's key.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// JSON pointer to the field.
    pub at: String,
    /// Largest first.
    pub descending: bool,
}

/// A query over one collection; its limits stand in `wit/types.wit`.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Query {
    /// All must hold.
    pub clauses: Vec<Clause>,
    /// Sort keys, strongest first; none: by key.
    pub order_by: Vec<Order>,
    /// JSON pointers to the fields to return; none: the whole document.
    pub fields: Vec<String>,
    /// The most documents to return; 0 means 256.
    pub limit: u32,
    /// Where an earlier page of the same query ended.
    pub cursor: Option<String>,
}

/// One page of a query's result; values are canonical JSON text.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Page {
    /// Key and value, in the order asked for.
    pub documents: Vec<(String, String)>,
    /// The cursor of the next page.
    pub next: Option<String>,
    /// How many documents match in all.
    pub total: u32,
}
