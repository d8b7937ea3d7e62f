//! A collection's declaration, checked and parsed once.

use loopwright_contract::{state::StateError, tool::CollectionSpec};

use crate::{
    Document, Pointer,
    error::within,
    limits::{BOOKKEEPING_LIMIT, INDEXES_LIMIT},
};

/// What a world keeps of a [`CollectionSpec`]: everything but its initial documents, with the pointers parsed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CollectionRules {
    name: String,
    schema: Option<Document>,
    bookkeeping: Vec<Pointer>,
    indexes: Vec<Pointer>,
}

impl CollectionRules {
    /// Checks a declaration.
    ///
    /// # Errors
    /// `Invalid` for a malformed pointer or schema, or where the whole document is called bookkeeping; `Limit` for more than 64
    /// bookkeeping fields or 8 indexes.
    pub fn new(spec: &CollectionSpec) -> Result<Self, StateError> {
        let bookkeeping = parse_pointers(&spec.bookkeeping, "bookkeeping fields of a collection", BOOKKEEPING_LIMIT)?;
        if bookkeeping.iter().any(|pointer| pointer.names().is_empty()) {
            return Err(StateError::Invalid(format!(
                "collection `{}`: the whole document cannot be bookkeeping",
                spec.name
            )));
        }
        Ok(Self {
            name: spec.name.as_str().to_owned(),
            schema: spec.schema.as_ref().map(Document::from_value).transpose()?,
            bookkeeping,
            indexes: parse_pointers(&spec.indexes, "indexes of a collection", INDEXES_LIMIT)?,
        })
    }

    /// The collection's name.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The JSON Schema of a document, where one was declared. It is kept and handed out; this crate does not enforce it.
    #[must_use]
    pub fn schema(&self) -> Option<&Document> {
        self.schema.as_ref()
    }

    /// The fields that comparisons leave out unless asked, sorted.
    #[must_use]
    pub fn bookkeeping(&self) -> &[Pointer] {
        &self.bookkeeping
    }

    /// The fields that `find` looks up without reading the whole collection, sorted.
    #[must_use]
    pub fn indexes(&self) -> &[Pointer] {
        &self.indexes
    }
}

fn parse_pointers(texts: &[String], what: &str, allowed: usize) -> Result<Vec<Pointer>, StateError> {
    within(what, allowed, texts.len())?;
    let mut pointers = texts.iter().map(|text| Pointer::parse(text)).collect::<Result<Vec<_>, _>>()?;
    pointers.sort();
    pointers.dedup();
    Ok(pointers)
}
