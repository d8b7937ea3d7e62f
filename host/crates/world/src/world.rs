//! The world: named collections of documents, with their limits, their base and their change log.

use std::sync::Arc;

use imbl::OrdMap;
use loopwright_contract::{
    digest::StateDigest,
    json,
    limits::WorldLimits,
    state::StateError,
    tool::{Catalogue, CollectionSpec},
};
use serde_json::Value;

use crate::{
    Change, CollectionRules, Document, GoOn, Key, Savepoint,
    collection::Collection,
    digest,
    document::{JSON_LIMITS, refused},
    error::{over, within},
    key, limits, merge,
    transaction::{ChangeLog, Level},
};

/// All documents of an episode. See the crate's documentation for a tour.
///
/// A clone is a fork: it shares every document and every map with its origin, costs the same whatever the size, and has no open
/// savepoints of its own.
pub struct World {
    /// Sorted by name. Shared as a whole, so that a fork copies one pointer.
    collections: Arc<Vec<Arc<Collection>>>,
    limits: WorldLimits,
    base: StateDigest,
    bytes: u64,
    documents: u64,
    log: ChangeLog,
}

impl World {
    /// An empty world without collections.
    #[must_use]
    pub fn new(limits: WorldLimits) -> Self {
        let base = digest::full(std::iter::empty());
        Self { collections: Arc::default(), limits, base, bytes: 0, documents: 0, log: ChangeLog::default() }
    }

    /// A world with the collections of the catalogues and their initial documents, in the order of the slice.
    ///
    /// # Errors
    /// As [`World::declare`].
    pub fn with_catalogues<'a>(
        limits: WorldLimits,
        catalogues: impl IntoIterator<Item = &'a Catalogue>,
    ) -> Result<Self, StateError> {
        let mut world = Self::new(limits);
        for spec in catalogues.into_iter().flat_map(|catalogue| &catalogue.collections) {
            world.declare(spec)?;
        }
        Ok(world)
    }

    /// Adds a collection with its initial documents. A second, equal declaration changes nothing.
    ///
    /// # Errors
    /// `Conflict` when the collection is declared otherwise already, `Limit` for too many collections, and whatever
    /// [`CollectionRules::new`] or [`World::put_value`] refuse. On an error the world may hold a part of the initial documents.
    pub fn declare(&mut self, spec: &CollectionSpec) -> Result<(), StateError> {
        self.declare_rules(CollectionRules::new(spec)?)?;
        for (key, value) in &spec.initial {
            self.put_value(spec.name.as_str(), key, value)?;
        }
        Ok(())
    }

    pub(crate) fn declare_rules(&mut self, rules: CollectionRules) -> Result<(), StateError> {
        if self.log.is_open() {
            return Err(StateError::Other("a collection cannot be declared inside a transaction".into()));
        }
        match self.position(rules.name()) {
            Ok(position) => match self.collections.get(position) {
                Some(found) if *found.rules() == rules => Ok(()),
                _ => Err(StateError::Conflict),
            },
            Err(position) => {
                within("collections of a world", self.limits.collections, self.collections.len() + 1)?;
                Arc::make_mut(&mut self.collections).insert(position, Arc::new(Collection::new(rules)));
                Ok(())
            }
        }
    }

    /// A world that shares everything with this one, without its open savepoints. Costs the same whatever the size.
    #[must_use]
    pub fn fork(&self) -> Self {
        Self {
            collections: Arc::clone(&self.collections),
            limits: self.limits,
            base: self.base,
            bytes: self.bytes,
            documents: self.documents,
            log: ChangeLog::default(),
        }
    }

    /// Makes the present content the base of all further digests, as at the end of preparing a world for its episodes. Reads every document once.
    /// Where ids were issued already, use [`crate::EpisodeState::seal`].
    ///
    /// # Errors
    /// `Other` while a savepoint is open.
    pub fn seal(&mut self) -> Result<(), StateError> {
        if self.log.is_open() {
            return Err(StateError::Other("a world cannot be sealed inside a transaction".into()));
        }
        self.base = self.full_digest();
        for collection in Arc::make_mut(&mut self.collections) {
            Arc::make_mut(collection).seal();
        }
        Ok(())
    }

    fn position(&self, collection: &str) -> Result<usize, usize> {
        self.collections.binary_search_by(|found| found.rules().name().cmp(collection))
    }

    fn known(&self, collection: &str) -> Result<usize, StateError> {
        self.position(collection).map_err(|_| {
            let shown: String = collection.chars().take(limits::UNKNOWN_NAME_CHARACTERS).collect();
            StateError::Invalid(format!("collection `{shown}` is not declared by any plugin of this world"))
        })
    }

    /// The named collection.
    pub(crate) fn collection(&self, name: &str) -> Result<&Collection, StateError> {
        let position = self.known(name)?;
        let found = self.collections.get(position);
        found.map(AsRef::as_ref).ok_or_else(|| StateError::Other("a collection moved".into()))
    }

    /// All collections, sorted by name.
    pub(crate) fn all(&self) -> impl Iterator<Item = &Arc<Collection>> {
        self.collections.iter()
    }

    /// The rules of all collections, sorted by name.
    pub fn collections(&self) -> impl Iterator<Item = &CollectionRules> {
        self.collections.iter().map(|collection| collection.rules())
    }

    /// The documents of a collection by key.
    ///
    /// # Errors
    /// `Invalid` for a collection that nobody declared.
    pub fn documents(&self, collection: &str) -> Result<&OrdMap<Key, Document>, StateError> {
        Ok(self.collection(collection)?.documents())
    }

    /// How many documents there are in all collections together.
    #[must_use]
    pub fn document_count(&self) -> u64 {
        self.documents
    }

    /// Bytes charged for all documents: text, key and [`limits::DOCUMENT_OVERHEAD_BYTES`] for each.
    #[must_use]
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// What the world may hold.
    #[must_use]
    pub fn limits(&self) -> &WorldLimits {
        &self.limits
    }

    /// One document. The text behind it is shared, not copied.
    ///
    /// # Errors
    /// `Invalid` for a collection that nobody declared or a key that no document can have.
    pub fn get(&self, collection: &str, key: &str) -> Result<Option<Document>, StateError> {
        let found = self.collection(collection)?.documents().get(key).cloned();
        if found.is_none() {
            key::check(key)?;
        }
        Ok(found)
    }

    /// Many documents, in the order asked for.
    ///
    /// # Errors
    /// As [`World::get`], and `Limit` for more than [`limits::GET_MANY_LIMIT`].
    pub fn get_many<'a>(
        &self,
        keys: impl IntoIterator<Item = (&'a str, &'a str)>,
    ) -> Result<Vec<Option<Document>>, StateError> {
        let mut found = Vec::new();
        for (collection, key) in keys {
            within("documents asked for at once", limits::GET_MANY_LIMIT, found.len() + 1)?;
            found.push(self.get(collection, key)?);
        }
        Ok(found)
    }

    /// Sets a document from JSON text.
    ///
    /// # Errors
    /// `Invalid` or `Limit` for a bad collection, key or text, and `Limit` where the world would hold too much. The world is as before then.
    pub fn put(&mut self, collection: &str, key: &str, text: &str) -> Result<(), StateError> {
        let position = self.known(collection)?;
        let document = Document::parse(text)?;
        self.put_at(position, key, document)
    }

    /// Sets a document from a value built in memory.
    ///
    /// # Errors
    /// As [`World::put`].
    pub fn put_value(&mut self, collection: &str, key: &str, value: &Value) -> Result<(), StateError> {
        let position = self.known(collection)?;
        let document = Document::from_value(value)?;
        self.put_at(position, key, document)
    }

    /// Sets a document that exists already, elsewhere or earlier; its text is shared.
    ///
    /// # Errors
    /// As [`World::put`].
    pub fn put_document(&mut self, collection: &str, key: &str, document: Document) -> Result<(), StateError> {
        let position = self.known(collection)?;
        self.put_at(position, key, document)
    }

    fn put_at(&mut self, position: usize, key: &str, document: Document) -> Result<(), StateError> {
        within("bytes of a key", self.limits.key_bytes, key.len())?;
        match self.entry(position, key) {
            // The shared copy of the key serves again.
            Some((key, before)) => self.replace(position, &key, Some(&before), Some(document)),
            None => self.replace(position, &Key::new(key)?, None, Some(document)),
        }
    }

    fn entry(&self, position: usize, key: &str) -> Option<(Key, Document)> {
        let (key, document) = self.collections.get(position)?.documents().get_key_value(key)?;
        Some((key.clone(), document.clone()))
    }

    /// Changes a document by a JSON merge patch (RFC 7396).
    ///
    /// # Errors
    /// `NotFound` when there is no such document; else as [`World::put`].
    pub fn patch(&mut self, collection: &str, key: &str, patch: &str) -> Result<(), StateError> {
        let patch = json::parse(patch, &JSON_LIMITS).map_err(refused)?;
        self.patch_value(collection, key, &patch)
    }

    /// Changes a document by a JSON merge patch (RFC 7396) that was parsed by the contract's rules.
    ///
    /// # Errors
    /// As [`World::patch`].
    pub fn patch_value(&mut self, collection: &str, key: &str, patch: &Value) -> Result<(), StateError> {
        let position = self.known(collection)?;
        let before = self.get(collection, key)?.ok_or(StateError::NotFound)?;
        let mut value = before.to_value();
        merge::apply(&mut value, patch);
        self.put_at(position, key, Document::from_normal(&value)?)
    }

    /// Removes a document; whether there was one.
    ///
    /// # Errors
    /// As [`World::get`].
    pub fn delete(&mut self, collection: &str, key: &str) -> Result<bool, StateError> {
        let position = self.known(collection)?;
        let Some((key, before)) = self.entry(position, key) else {
            key::check(key)?;
            return Ok(false);
        };
        self.replace(position, &key, Some(&before), None)?;
        Ok(true)
    }

    /// The one place where a document changes from what it was: limits, counts, maps and log move together.
    fn replace(
        &mut self,
        position: usize,
        key: &Key,
        before: Option<&Document>,
        document: Option<Document>,
    ) -> Result<(), StateError> {
        let bytes = self.bytes - charged(key, before) + charged(key, document.as_ref());
        let documents = self.documents - u64::from(before.is_some()) + u64::from(document.is_some());
        // The world is within its limits, so that only a write that grows it can pass them.
        if bytes > self.limits.bytes {
            return Err(over("bytes of all documents", self.limits.bytes, bytes));
        }
        if documents > self.limits.documents {
            return Err(over("documents of a world", self.limits.documents, documents));
        }
        if before == document.as_ref() {
            return Ok(());
        }
        if let Some(collection) = Arc::make_mut(&mut self.collections).get_mut(position) {
            let before = Arc::make_mut(collection).replace(key, document);
            if self.log.is_open() {
                self.log.note((position, key.clone()), before);
            }
        }
        self.bytes = bytes;
        self.documents = documents;
        Ok(())
    }

    /// Opens a transaction: everything after it can be rolled back. Transactions nest.
    ///
    /// # Errors
    /// `Limit` for more than [`limits::SAVEPOINTS_LIMIT`] open ones.
    pub fn begin(&mut self) -> Result<Savepoint, StateError> {
        self.log.begin()
    }

    /// Keeps what was written since the savepoint, and closes it with all inner ones.
    ///
    /// # Errors
    /// `Other` when an outer transaction closed it already.
    pub fn commit(&mut self, savepoint: Savepoint) -> Result<(), StateError> {
        let level = self.log.close(&savepoint)?;
        self.log.absorb(level);
        Ok(())
    }

    /// Undoes what was written since the savepoint, and closes it with all inner ones.
    ///
    /// # Errors
    /// `Other` when an outer transaction closed it already.
    pub fn rollback(&mut self, savepoint: Savepoint) -> Result<(), StateError> {
        let level = self.log.close(&savepoint)?;
        self.restore(level);
        Ok(())
    }

    /// Puts documents back without logging it and without limits: the state was within them before.
    fn restore(&mut self, level: Level) {
        for ((position, key), before) in level {
            let Some(collection) = Arc::make_mut(&mut self.collections).get_mut(position) else { continue };
            let restored = charged(&key, before.as_ref());
            let there = u64::from(before.is_some());
            let now = Arc::make_mut(collection).replace(&key, before);
            self.bytes = (self.bytes + restored).saturating_sub(charged(&key, now.as_ref()));
            self.documents = (self.documents + there).saturating_sub(u64::from(now.is_some()));
        }
    }

    /// What the writes since the savepoint changed, ordered by collection and key. Costs only what was touched.
    #[must_use]
    pub fn changes_since(&self, savepoint: &Savepoint) -> Vec<Change> {
        let touched = self.log.since(savepoint);
        touched.into_iter().filter_map(|((position, key), before)| self.change(position, key, before)).collect()
    }

    fn change(&self, position: usize, key: Key, before: Option<Document>) -> Option<Change> {
        let collection = self.collections.get(position)?;
        let after = collection.documents().get(key.as_str()).cloned();
        (before != after).then(|| Change { collection: collection.rules().name().to_owned(), key, before, after })
    }

    /// The digest of the base and of every document that differs from it: the name of this state within an episode. Costs what changed, not what is there.
    #[must_use]
    pub fn digest(&self) -> StateDigest {
        self.digest_while(&|| true).unwrap_or(self.base)
    }

    /// The same, given up as soon as `go_on` says no: `None`. It is asked before each document.
    #[must_use]
    pub fn digest_while(&self, go_on: GoOn<'_>) -> Option<StateDigest> {
        digest::since_base(&self.base, self.collections.iter().map(AsRef::as_ref), go_on)
    }

    /// The digest of the base.
    #[must_use]
    pub fn base_digest(&self) -> StateDigest {
        self.base
    }

    /// The digest of all documents, whatever the base: the name of a stored world. Empty collections do not count.
    #[must_use]
    pub fn full_digest(&self) -> StateDigest {
        digest::full(self.collections.iter().map(AsRef::as_ref))
    }
}

/// What a document is charged against [`WorldLimits::bytes`].
fn charged(key: &Key, document: Option<&Document>) -> u64 {
    document.map_or(0, |document| (key.as_str().len() + document.text().len()) as u64 + limits::DOCUMENT_OVERHEAD_BYTES)
}

impl Clone for World {
    fn clone(&self) -> Self {
        self.fork()
    }
}

impl std::fmt::Debug for World {
    fn fmt(&self, formatter: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let mut map = formatter.debug_map();
        for collection in self.all() {
            map.entry(&collection.rules().name(), collection.documents());
        }
        map.finish()
    }
}
