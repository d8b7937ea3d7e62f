//! Queries over one collection.

use serde_json::Value;

use crate::state::Cursor;

/// A query over one collection: conditions that must all hold, an order, and a page size.
///
/// Fields are JSON pointers (`/title`, `/sender/name`). Values compare by JSON value, so 25 equals 25.0; `lt` and its kin compare numbers
/// with numbers and strings with strings by code point, and nothing else. An absent field satisfies `ne` and `absent`, and no other
/// condition. At most 16 conditions, 4 sort keys and 32 fields.
///
/// ```
/// use loopwright_sdk::Query;
///
/// let recent_work = Query::new().eq("/folder", "Work").contains("/title", "report").descending("/updated").limit(10);
/// # let _ = recent_work;
/// ```
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Query {
    pub(crate) clauses: Vec<Clause>,
    pub(crate) order: Vec<Order>,
    pub(crate) fields: Vec<String>,
    pub(crate) limit: u32,
    pub(crate) cursor: Option<Cursor>,
}

/// One condition: what must hold at a pointer.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Clause {
    pub(crate) at: String,
    pub(crate) test: Test,
}

/// What must hold of a field.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Test {
    Eq(Value),
    Ne(Value),
    Lt(Value),
    Le(Value),
    Gt(Value),
    Ge(Value),
    OneOf(Vec<Value>),
    Contains(Value),
    StartsWith(String),
    Exists(bool),
}

/// One sort key.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Order {
    pub(crate) at: String,
    pub(crate) descending: bool,
}

impl Query {
    /// Matches every document, ordered by key, 256 to a page.
    pub fn new() -> Self {
        Self::default()
    }

    /// The field equals `value`.
    #[must_use]
    pub fn eq(self, at: impl Into<String>, value: impl Into<Value>) -> Self {
        self.test(at, Test::Eq(value.into()))
    }

    /// The field differs from `value`, or is absent.
    #[must_use]
    pub fn ne(self, at: impl Into<String>, value: impl Into<Value>) -> Self {
        self.test(at, Test::Ne(value.into()))
    }

    /// The field is less than `value`.
    #[must_use]
    pub fn lt(self, at: impl Into<String>, value: impl Into<Value>) -> Self {
        self.test(at, Test::Lt(value.into()))
    }

    /// The field is at most `value`.
    #[must_use]
    pub fn le(self, at: impl Into<String>, value: impl Into<Value>) -> Self {
        self.test(at, Test::Le(value.into()))
    }

    /// The field is greater than `value`.
    #[must_use]
    pub fn gt(self, at: impl Into<String>, value: impl Into<Value>) -> Self {
        self.test(at, Test::Gt(value.into()))
    }

    /// The field is at least `value`.
    #[must_use]
    pub fn ge(self, at: impl Into<String>, value: impl Into<Value>) -> Self {
        self.test(at, Test::Ge(value.into()))
    }

    /// The field equals one of `values`, of which there are at most 256.
    #[must_use]
    pub fn one_of<V: Into<Value>>(self, at: impl Into<String>, values: impl IntoIterator<Item = V>) -> Self {
        self.test(at, Test::OneOf(values.into_iter().map(Into::into).collect()))
    }

    /// The field is a string that contains the string `value`, or an array with an element equal to `value`.
    #[must_use]
    pub fn contains(self, at: impl Into<String>, value: impl Into<Value>) -> Self {
        self.test(at, Test::Contains(value.into()))
    }

    /// The field is a string that starts with `prefix`.
    #[must_use]
    pub fn starts_with(self, at: impl Into<String>, prefix: impl Into<String>) -> Self {
        self.test(at, Test::StartsWith(prefix.into()))
    }

    /// The field is there, even when it is `null`.
    #[must_use]
    pub fn present(self, at: impl Into<String>) -> Self {
        self.test(at, Test::Exists(true))
    }

    /// The field is not there.
    #[must_use]
    pub fn absent(self, at: impl Into<String>) -> Self {
        self.test(at, Test::Exists(false))
    }

    /// Orders by the field, smallest first, after the orders that were given before. Absent fields sort first, ties are broken by key.
    #[must_use]
    pub fn ascending(self, at: impl Into<String>) -> Self {
        self.order_by(at, false)
    }

    /// Orders by the field, largest first, after the orders that were given before.
    #[must_use]
    pub fn descending(self, at: impl Into<String>) -> Self {
        self.order_by(at, true)
    }

    /// Returns only these fields, as an object with the same nesting.
    #[must_use]
    pub fn fields<F: Into<String>>(mut self, fields: impl IntoIterator<Item = F>) -> Self {
        self.fields = fields.into_iter().map(Into::into).collect();
        self
    }

    /// Returns at most this many documents, 1 to 256; 0 means 256.
    #[must_use]
    pub fn limit(mut self, limit: u32) -> Self {
        self.limit = limit;
        self
    }

    /// Goes on where an earlier page of the same query ended.
    #[must_use]
    pub fn after(mut self, cursor: Cursor) -> Self {
        self.cursor = Some(cursor);
        self
    }

    fn test(mut self, at: impl Into<String>, test: Test) -> Self {
        self.clauses.push(Clause { at: at.into(), test });
        self
    }

    fn order_by(mut self, at: impl Into<String>, descending: bool) -> Self {
        self.order.push(Order { at: at.into(), descending });
        self
    }
}
