//! Declaring the collections that a tool plugin owns and those of others that it touches.

use serde_json::Value;

use crate::schema::Describe;

/// A collection of JSON documents that the plugin owns: it may read and write it.
///
/// ```
/// use loopwright_sdk::Collection;
/// use serde_json::json;
///
/// let notes = Collection::new("notes")
///     .bookkeeping("/created")
///     .bookkeeping("/updated")
///     .index("/folder")
///     .initial("note-welcome", json!({"title": "Welcome", "folder": "Notes"}));
/// # let _ = notes;
/// ```
#[derive(Clone, Debug)]
#[must_use = "a collection exists only when the plugin's `storage` owns it"]
pub struct Collection {
    pub(crate) name: &'static str,
    pub(crate) schema: Option<Describe>,
    pub(crate) bookkeeping: Vec<&'static str>,
    pub(crate) indexes: Vec<&'static str>,
    pub(crate) initial: Vec<(String, Value)>,
}

impl Collection {
    /// A collection of this name: `a-z`, `0-9`, `_` and `-`, unique among all installed plugins.
    pub const fn new(name: &'static str) -> Self {
        Self { name, schema: None, bookkeeping: Vec::new(), indexes: Vec::new(), initial: Vec::new() }
    }

    /// Describes the documents by the schema of `T`.
    pub fn documents<T: schemars::JsonSchema>(mut self) -> Self {
        self.schema = Some(T::json_schema);
        self
    }

    /// Marks a field that records who touched a document and when. Checks ignore it unless asked.
    pub fn bookkeeping(mut self, pointer: &'static str) -> Self {
        self.bookkeeping.push(pointer);
        self
    }

    /// Lets `find` look this field up without reading the whole collection.
    pub fn index(mut self, pointer: &'static str) -> Self {
        self.indexes.push(pointer);
        self
    }

    /// Adds a document that a fresh world holds; a task lays its own over it.
    pub fn initial(mut self, key: impl Into<String>, document: Value) -> Self {
        self.initial.push((key.into(), document));
        self
    }
}

/// All collections that a plugin owns or touches.
///
/// ```
/// use loopwright_sdk::{Collection, Storage};
///
/// let storage = Storage::new().owns(Collection::new("messages").index("/number")).reads("contacts");
/// # let _ = storage;
/// ```
#[derive(Clone, Debug, Default)]
#[must_use]
pub struct Storage {
    pub(crate) owned: Vec<Collection>,
    pub(crate) used: Vec<Use>,
}

/// Another plugin's collection that a plugin asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Use {
    pub(crate) name: &'static str,
    pub(crate) write: bool,
}

impl Storage {
    /// No collections.
    pub const fn new() -> Self {
        Self { owned: Vec::new(), used: Vec::new() }
    }

    /// The plugin owns this collection.
    pub fn owns(mut self, collection: Collection) -> Self {
        self.owned.push(collection);
        self
    }

    /// The plugin also reads this collection of another plugin.
    pub fn reads(mut self, name: &'static str) -> Self {
        self.used.push(Use { name, write: false });
        self
    }

    /// The plugin also reads and writes this collection of another plugin.
    pub fn writes(mut self, name: &'static str) -> Self {
        self.used.push(Use { name, write: true });
        self
    }
}
