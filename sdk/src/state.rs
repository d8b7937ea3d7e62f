//! What state operations answer.

use core::fmt;

use crate::json::ShapeError;

/// Why a state operation did not happen. It changed nothing.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StateError {
    /// The collection is outside the plugin's grant.
    Denied {
        /// The collection.
        collection: String,
    },
    /// A patch of a document that does not exist.
    NotFound {
        /// Its collection.
        collection: String,
        /// Its key.
        key: String,
    },
    /// Another writer changed the document in between.
    Conflict {
        /// Its collection.
        collection: String,
        /// Its key.
        key: String,
    },
    /// A limit of the world or of the call was reached: its name, what was allowed and what was found.
    Limit(String),
    /// A malformed name, key, pointer, cursor or document: what and where.
    Invalid(String),
    /// Anything else; for logs only.
    Other(String),
    /// A document that does not fit the type that the plugin reads it as, or a value without a JSON form.
    Shape {
        /// Its collection.
        collection: String,
        /// Its key.
        key: String,
        /// Where and how they differ.
        error: ShapeError,
    },
    /// A document that [`require`](crate::PhoneView::require) was told always exists does not.
    Missing {
        /// Its collection.
        collection: String,
        /// Its key.
        key: String,
    },
}

impl fmt::Display for StateError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Denied { collection } => write!(formatter, "collection `{collection}` is outside the plugin's grant"),
            Self::NotFound { collection, key } => {
                write!(formatter, "there is no document `{key}` in `{collection}` to change")
            }
            Self::Conflict { collection, key } => {
                write!(formatter, "document `{key}` in `{collection}` was changed in between: try again")
            }
            Self::Limit(limit) => write!(formatter, "a limit is reached: {limit}"),
            Self::Invalid(what) => write!(formatter, "malformed state operation: {what}"),
            Self::Other(what) => write!(formatter, "state operation failed: {what}"),
            Self::Shape { collection, key, .. } => {
                write!(formatter, "document `{key}` in `{collection}` does not fit the type it is read or written as")
            }
            Self::Missing { collection, key } => {
                write!(formatter, "collection `{collection}` lacks its document `{key}`, which a fresh world holds")
            }
        }
    }
}

impl core::error::Error for StateError {
    fn source(&self) -> Option<&(dyn core::error::Error + 'static)> {
        match self {
            Self::Shape { error, .. } => Some(error),
            _ => None,
        }
    }
}

/// A document with its key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Doc<T> {
    /// Unique in its collection.
    pub key: String,
    /// The document.
    pub value: T,
}

/// One page of a query's result.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Page<T> {
    /// In the order that the query asked for.
    pub docs: Vec<Doc<T>>,
    /// Pass it to [`Query::after`](crate::Query::after) for the next page; none on the last.
    pub next: Option<Cursor>,
    /// How many documents match in all.
    pub total: u32,
}

/// Where a page ended. Only the same query can go on from it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Cursor(pub(crate) String);
