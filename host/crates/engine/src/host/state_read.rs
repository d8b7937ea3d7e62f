//! `state-read`: documents, within the grant.

use loopwright_bindings::{
    afv::{
        state_read,
        types::{Page, Query, StateError},
    },
    convert::state::{page_out, query_in, state_error_out},
};
use loopwright_contract::state;

use crate::store::PluginState;

/// Documents of one `get-many`.
const GET_MANY_MAX: usize = 256;

impl state_read::Host for PluginState {
    fn get(&mut self, collection: String, key: String) -> wasmtime::Result<Result<Option<String>, StateError>> {
        self.cross(collection.len() + key.len())?;
        match self.text(&collection, &key) {
            Ok(text) => {
                self.cross(text.as_deref().map_or(0, str::len))?;
                Ok(Ok(text))
            }
            Err(error) => Ok(Err(state_error_out(error))),
        }
    }

    fn get_many(&mut self, keys: Vec<(String, String)>) -> wasmtime::Result<Result<Vec<Option<String>>, StateError>> {
        self.cross(keys.iter().map(|(collection, key)| collection.len() + key.len()).sum())?;
        if keys.len() > GET_MANY_MAX {
            let what = format!("documents asked for at once: at most {GET_MANY_MAX} allowed, found {}", keys.len());
            return Ok(Err(StateError::Limit(what)));
        }
        let mut found = Vec::with_capacity(keys.len());
        for (collection, key) in keys {
            match self.text(&collection, &key) {
                Ok(text) => {
                    // Before the next one is copied: a large answer ends while it is being made.
                    self.cross(text.as_deref().map_or(0, str::len))?;
                    found.push(text);
                }
                Err(error) => return Ok(Err(state_error_out(error))),
            }
        }
        Ok(Ok(found))
    }

    fn find(&mut self, collection: String, query: Query) -> wasmtime::Result<Result<Page, StateError>> {
        self.cross(collection.len() + query_bytes(&query))?;
        let query = match query_in(query) {
            Ok(query) => query,
            Err(error) => return Ok(Err(state_error_out(error))),
        };
        match self.readable(&collection).and_then(|world| world.examined_by(&collection, &query)) {
            Ok(documents) => self.examine(documents)?,
            Err(error) => return Ok(Err(state_error_out(error))),
        }
        let go_on = self.patience();
        let found = self.readable(&collection).and_then(|world| world.find_while(&collection, &query, &go_on));
        match found {
            Ok(None) => Err(self.given_up()),
            Ok(Some(found)) => {
                let page = state::Page::from(found);
                self.cross(page_bytes(&page))?;
                Ok(Ok(page_out(page)))
            }
            Err(error) => Ok(Err(state_error_out(error))),
        }
    }
}

impl PluginState {
    fn text(&self, collection: &str, key: &str) -> Result<Option<String>, state::StateError> {
        let found = self.readable(collection)?.get(collection, key)?;
        Ok(found.map(|document| document.text().to_owned()))
    }
}

/// Bytes of a query; its JSON constants are most of them.
pub(super) fn query_bytes(query: &Query) -> usize {
    use loopwright_bindings::afv::types::Test;
    let clause = |test: &Test| match test {
        Test::Eq(text)
        | Test::Ne(text)
        | Test::Lt(text)
        | Test::Le(text)
        | Test::Gt(text)
        | Test::Ge(text)
        | Test::Contains(text)
        | Test::StartsWith(text) => text.len(),
        Test::OneOf(texts) => texts.iter().map(String::len).sum(),
        Test::Exists(_) => 1,
    };
    let clauses: usize = query.where_.iter().map(|found| found.at.len() + clause(&found.test)).sum();
    let orders: usize = query.order_by.iter().map(|order| order.at.len()).sum();
    let fields: usize = query.fields.iter().map(String::len).sum();
    clauses + orders + fields + query.cursor.as_deref().map_or(0, str::len)
}

/// Bytes of a page.
pub(super) fn page_bytes(page: &state::Page) -> usize {
    page.documents.iter().map(|(key, text)| key.len() + text.len()).sum()
}
