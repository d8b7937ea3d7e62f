//! Whole worlds and episode states as canonical JSON text, to be stored beside trajectories and read back with the pack gone.

use std::collections::BTreeMap;

use loopwright_contract::{
    json::{self, JsonLimits},
    limits::WorldLimits,
    name::CollectionName,
    state::StateError,
    tool::CollectionSpec,
};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::{
    Clock, ClockState, Counter, Document, EpisodeState, Ids, Pointer, RandomState, SeededRandom, World,
    collection::Collection,
    document::refused,
    limits::{DOCUMENT_DEPTH_LIMIT, STORED_BYTES_LIMIT},
};

/// Names the form of a stored world; a change of the form changes the number.
const WORLD_FORMAT: &str = "loopwright-world/1";
/// Names the form of a stored episode state.
const STATE_FORMAT: &str = "loopwright-state/1";
/// A stored state nests a document below `world`, `collections`, the collection and `documents`, each in an object.
const STORED_LIMITS: JsonLimits = JsonLimits { bytes_max: STORED_BYTES_LIMIT, depth_max: DOCUMENT_DEPTH_LIMIT + 8 };

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredWorld {
    format: String,
    collections: BTreeMap<CollectionName, StoredCollection>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredCollection {
    #[serde(default)]
    schema: Option<Value>,
    bookkeeping: Vec<String>,
    indexes: Vec<String>,
    documents: BTreeMap<String, Value>,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct StoredState {
    format: String,
    world: Value,
    clock: ClockState,
    random: RandomState,
    ids: BTreeMap<String, Counter>,
}

impl World {
    /// All collections with their rules and documents, as canonical JSON text (RFC 8785). Base and open savepoints are not part of it.
    #[must_use]
    pub fn to_json(&self) -> String {
        let mut text = String::with_capacity(usize::try_from(self.bytes()).unwrap_or_default());
        text.push_str("{\"collections\":{");
        for (position, collection) in self.all().enumerate() {
            text.push_str(if position > 0 { "," } else { "" });
            text.push_str(&quoted(collection.rules().name()));
            text.push(':');
            write_collection(collection, &mut text);
        }
        text.push_str("},\"format\":");
        text.push_str(&quoted(WORLD_FORMAT));
        text.push('}');
        text
    }

    /// Reads what [`World::to_json`] wrote, and seals it: what was read is the base.
    ///
    /// # Errors
    /// `Invalid` for text of another form, `Limit` where a limit of the world is passed.
    pub fn from_json(text: &str, limits: WorldLimits) -> Result<Self, StateError> {
        Self::from_stored(json::parse(text, &STORED_LIMITS).map_err(refused)?, limits)
    }

    fn from_stored(value: Value, limits: WorldLimits) -> Result<Self, StateError> {
        let stored: StoredWorld = read(value, "stored world")?;
        expect_format(WORLD_FORMAT, &stored.format)?;
        let mut world = Self::new(limits);
        for (name, collection) in stored.collections {
            let StoredCollection { schema, bookkeeping, indexes, documents } = collection;
            world.declare(&CollectionSpec { name: name.clone(), schema, bookkeeping, indexes, initial: Vec::new() })?;
            for (key, value) in documents {
                world.put_document(name.as_str(), &key, Document::from_normal(&value)?)?;
            }
        }
        world.seal()?;
        Ok(world)
    }
}

impl EpisodeState {
    /// World, clock, random stream and id counters, as canonical JSON text (RFC 8785).
    #[must_use]
    pub fn to_json(&self) -> String {
        let counters: BTreeMap<&str, Counter> = self.ids.counters().collect();
        // `world` is the last name in canonical order, so that its text follows the other members.
        let others = json::canonical(&json!({
            "clock": self.clock.state(), "format": STATE_FORMAT, "ids": counters, "random": self.random.state(),
        }));
        format!("{},\"world\":{}}}", others.strip_suffix('}').unwrap_or_default(), self.world.to_json())
    }

    /// Reads what [`EpisodeState::to_json`] wrote.
    ///
    /// # Errors
    /// As [`World::from_json`], and `Invalid` for a clock, random stream or counter that does not restore.
    pub fn from_json(text: &str, limits: WorldLimits) -> Result<Self, StateError> {
        let stored: StoredState = read(json::parse(text, &STORED_LIMITS).map_err(refused)?, "stored state")?;
        expect_format(STATE_FORMAT, &stored.format)?;
        let malformed = |part: &str| StateError::Invalid(format!("stored state: its {part} does not restore"));
        Ok(Self {
            world: World::from_stored(stored.world, limits)?,
            clock: Clock::restore(&stored.clock).ok_or_else(|| malformed("clock"))?,
            random: SeededRandom::restore(&stored.random).ok_or_else(|| malformed("random stream"))?,
            ids: Ids::restore(stored.ids)?,
        })
    }
}

fn read<T: serde::de::DeserializeOwned>(value: Value, what: &str) -> Result<T, StateError> {
    serde_json::from_value(value).map_err(|error| StateError::Invalid(format!("{what}: {error}")))
}

fn expect_format(expected: &str, found: &str) -> Result<(), StateError> {
    if expected == found {
        return Ok(());
    }
    let shown: String = found.chars().take(80).collect();
    Err(StateError::Invalid(format!("stored form `{shown}`: expected `{expected}`")))
}

fn quoted(text: &str) -> String {
    json::canonical(&Value::String(text.to_owned()))
}

fn write_collection(collection: &Collection, text: &mut String) {
    let rules = collection.rules();
    let pointers =
        |pointers: &[Pointer]| json::canonical(&json!(pointers.iter().map(Pointer::as_str).collect::<Vec<_>>()));
    text.push_str("{\"bookkeeping\":");
    text.push_str(&pointers(rules.bookkeeping()));
    text.push_str(",\"documents\":{");
    let mut documents: Vec<_> = collection.documents().iter().collect();
    // Keys are kept in the order of their bytes; RFC 8785 wants the order of UTF-16 code units.
    if documents.iter().any(|(key, _)| !key.as_str().is_ascii()) {
        documents.sort_by(|(a, _), (b, _)| a.as_str().encode_utf16().cmp(b.as_str().encode_utf16()));
    }
    for (position, (key, document)) in documents.into_iter().enumerate() {
        text.push_str(if position > 0 { "," } else { "" });
        text.push_str(&quoted(key.as_str()));
        text.push(':');
        text.push_str(document.text());
    }
    text.push_str("},\"indexes\":");
    text.push_str(&pointers(rules.indexes()));
    if let Some(schema) = rules.schema() {
        text.push_str(",\"schema\":");
        text.push_str(schema.text());
    }
    text.push('}');
}
