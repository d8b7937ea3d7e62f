//! The episode's memory as a table of records over its world. It knows no store and no ranking: a collection of the host like any other,
//! except that no plugin is granted it.

use std::collections::BTreeMap;

use loopwright_contract::{
    fault::{CallFault, HostFault},
    memory::{
        BOOKKEEPING, COLLECTION, CivilTime, MemoryRecord, MemorySnapshot, MemoryTable, MemoryWrite, RECORDS_MAX,
        record_of,
    },
    name::{CollectionName, MemoryId, NameError},
    state::StateError,
    tool::CollectionSpec,
};
use loopwright_world::{Counter, EpisodeState, World};

/// What ids of records begin with; it says nothing of what they stand for.
const ID_PREFIX: &str = "memory";

/// The collection, as the host declares it.
///
/// # Errors
/// None: the name is well-formed.
pub(crate) fn collection() -> Result<CollectionSpec, NameError> {
    Ok(CollectionSpec {
        name: CollectionName::new(COLLECTION)?,
        schema: None,
        bookkeeping: BOOKKEEPING.iter().map(|at| (*at).to_owned()).collect(),
        indexes: Vec::new(),
        initial: Vec::new(),
    })
}

/// The records of a world by id.
pub(crate) fn records(world: &World) -> Result<BTreeMap<MemoryId, MemoryRecord>, StateError> {
    let documents = world.documents(COLLECTION)?.iter();
    let read = |(key, document): (&loopwright_world::Key, &loopwright_world::Document)| {
        let record = record_of(key.as_str(), document.value().clone());
        record.map(|record| (record.id.clone(), record)).map_err(|error| StateError::Invalid(error.to_string()))
    };
    documents.map(read).collect()
}

/// Lays a user's memory over a world.
pub(crate) fn lay_in(world: &mut World, snapshot: &MemorySnapshot) -> Result<(), HostFault> {
    if snapshot.records.len() > RECORDS_MAX {
        let found = snapshot.records.len();
        return Err(HostFault::Setup(format!(
            "a snapshot of memory has {found} records: expected at most {RECORDS_MAX}"
        )));
    }
    for record in &snapshot.records {
        let refused = |error: String| HostFault::Setup(format!("memory `{}` of the snapshot: {error}", record.id));
        record.check().map_err(|error| refused(error.to_string()))?;
        world
            .put_value(COLLECTION, record.id.as_str(), &record.document())
            .map_err(|error| refused(error.to_string()))?;
    }
    Ok(())
}

/// What the phone's clock of an episode shows.
pub(crate) fn now(state: &EpisodeState) -> Result<CivilTime, StateError> {
    let shown = state.clock.zoned().to_string();
    CivilTime::of_clock(&shown).map_err(|error| StateError::Other(error.to_string()))
}

/// Runs a change of the memory as a transaction: what fails leaves no trace.
pub(crate) fn transaction<R>(
    state: &mut EpisodeState,
    change: impl FnOnce(&mut dyn MemoryTable, &CivilTime) -> Result<R, StateError>,
) -> Result<R, CallFault> {
    let broken = |error: StateError| HostFault::Internal(format!("the episode's memory: {error}"));
    let now = now(state).map_err(broken)?;
    let savepoint = state.begin().map_err(broken)?;
    let changed = change(&mut Table(state), &now);
    let ended = if changed.is_ok() { state.commit(savepoint) } else { state.rollback(savepoint) };
    ended.map_err(broken)?;
    Ok(changed.map_err(broken)?)
}

/// Runs one write of an agent.
pub(crate) fn write(
    state: &mut EpisodeState,
    write: &MemoryWrite,
    confirmed: bool,
) -> Result<loopwright_contract::environment::Reply, CallFault> {
    transaction(state, |table, now| loopwright_contract::memory::write(table, write, now, confirmed))
}

struct Table<'a>(&'a mut EpisodeState);

impl MemoryTable for Table<'_> {
    fn records(&self) -> Result<BTreeMap<MemoryId, MemoryRecord>, StateError> {
        records(&self.0.world)
    }

    fn put(&mut self, record: &MemoryRecord) -> Result<(), StateError> {
        self.0.world.put_value(COLLECTION, record.id.as_str(), &record.document())
    }

    fn remove(&mut self, id: &MemoryId) -> Result<(), StateError> {
        self.0.world.delete(COLLECTION, id.as_str()).map(drop)
    }

    fn next_id(&mut self) -> Result<MemoryId, StateError> {
        MemoryId::new(self.0.ids.next_id(ID_PREFIX)?).map_err(|error| StateError::Other(error.to_string()))
    }

    fn issued(&self) -> usize {
        let counter = self.0.ids.counters().find(|(prefix, _)| *prefix == ID_PREFIX);
        let Counter { base, last } = counter.map_or_else(Counter::default, |(_, counter)| counter);
        usize::try_from(last.saturating_sub(base)).unwrap_or(usize::MAX)
    }
}
