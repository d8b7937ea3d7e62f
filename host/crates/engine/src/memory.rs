//! The episode's memory as a table of records over its world. It knows no store and no ranking: a collection of the host like any other,
//! except that no plugin is granted it.

use std::collections::BTreeMap;

use loopwright_contract::{
    environment::Reply,
    fault::{CallFault, HostFault},
    memory::{
        self, BOOKKEEPING, COLLECTION, CivilTime, MemoryRecord, MemorySnapshot, MemoryTable, MemoryWrite, RECORDS_MAX,
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

/// Runs a change of the memory as a transaction: what fails, and what came to something that is not kept, leaves no trace.
fn transaction<R>(
    state: &mut EpisodeState,
    change: impl FnOnce(&mut dyn MemoryTable, &CivilTime) -> Result<R, StateError>,
    is_kept: impl FnOnce(&R) -> bool,
) -> Result<R, CallFault> {
    let broken = |error: StateError| HostFault::Internal(format!("the episode's memory: {error}"));
    let now = now(state).map_err(broken)?;
    let savepoint = state.begin().map_err(broken)?;
    let changed = change(&mut Table(state), &now);
    let kept = changed.as_ref().is_ok_and(is_kept);
    let ended = if kept { state.commit(savepoint) } else { state.rollback(savepoint) };
    ended.map_err(broken)?;
    Ok(changed.map_err(broken)?)
}

/// Runs one write of an agent.
pub(crate) fn write(state: &mut EpisodeState, write: &MemoryWrite, confirmed: bool) -> Result<Reply, CallFault> {
    let run = |table: &mut dyn MemoryTable, now: &CivilTime| memory::write(table, write, now, confirmed);
    transaction(state, run, |reply| matches!(reply, Reply::Done(_)))
}

/// Fires what has become due.
pub(crate) fn remind(state: &mut EpisodeState) -> Result<Vec<MemoryRecord>, CallFault> {
    transaction(state, memory::remind, |_| true)
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

#[cfg(test)]
mod tests {
    use loopwright_contract::{digest::MemoryDigest, limits::WorldLimits, memory::NewMemory};
    use loopwright_world::{Bookkeeping, Clock, SamenessRule, diff, same_up_to};
    use serde_json::json;

    use super::*;

    fn record(key: &str, due: Option<&str>) -> MemoryRecord {
        let mut document = json!({"id": key, "layer": "prospective", "content": key, "source": "user",
            "created": "2026-02-01T08:00:00", "updated": "2026-02-01T08:00:00"});
        if let Some(due) = due {
            document["due"] = json!(due);
        }
        record_of(key, document).unwrap()
    }

    fn state(limits: WorldLimits, records: Vec<MemoryRecord>) -> EpisodeState {
        let mut world = World::new(limits);
        world.declare(&collection().unwrap()).unwrap();
        let snapshot = MemorySnapshot { digest: MemoryDigest::of(b""), records, left_out: 0 };
        lay_in(&mut world, &snapshot).unwrap();
        world.seal().unwrap();
        // 2026-03-02T09:00:00+08:00.
        EpisodeState::new(world, Clock::new(1_772_413_200_000_000_000, "Asia/Shanghai").unwrap(), 7).unwrap()
    }

    fn add(state: &mut EpisodeState, content: &str) -> Reply {
        let new =
            NewMemory { content: content.to_owned(), category: None, title: None, tags: Vec::new(), valid_until: None };
        write(state, &MemoryWrite::Add(new), false).unwrap()
    }

    #[test]
    fn the_order_of_what_is_kept_does_not_matter_and_a_fork_has_its_own() {
        let start = state(WorldLimits::default(), vec![record("memory-0041", None)]);
        let (mut left, mut right) = (start.fork(), start.fork());
        for (state, contents) in [(&mut left, ["tea", "jazz"]), (&mut right, ["jazz", "tea"])] {
            contents.iter().for_each(|content| drop(add(state, content)));
        }
        let keys =
            |state: &EpisodeState| records(&state.world).unwrap().into_keys().map(String::from).collect::<Vec<_>>();
        assert_eq!(keys(&left), ["memory-0041", "memory-0042", "memory-0043"]);
        assert_ne!(left.digest(), right.digest());
        assert!(same_up_to(left.side(), right.side(), &SamenessRule::default()).is_same());
        assert_eq!(keys(&start), ["memory-0041"]);
        add(&mut right, "chess");
        assert!(!same_up_to(left.side(), right.side(), &SamenessRule::default()).is_same());
    }

    #[test]
    fn what_fires_is_kept_and_decides_nothing() {
        let start =
            state(WorldLimits::default(), vec![record("m-1", Some("2026-03-02T09:00:00")), record("m-2", None)]);
        let mut later = start.fork();
        let fired = remind(&mut later).unwrap();
        assert_eq!(fired.iter().map(|record| record.id.as_str()).collect::<Vec<_>>(), ["m-1"]);
        assert_eq!(diff(&start.world, &later.world, Bookkeeping::Include).len(), 1);
        assert_eq!(diff(&start.world, &later.world, Bookkeeping::Ignore).len(), 0);
        assert_eq!(remind(&mut later).unwrap(), Vec::new());
        assert_eq!(fired[0].fired.as_ref().map(CivilTime::as_str), Some("2026-03-02T09:00:00"));
    }

    #[test]
    fn a_full_world_refuses_and_is_left_as_it_was() {
        let mut full = state(WorldLimits { documents: 1, ..WorldLimits::default() }, vec![record("m-1", None)]);
        let before = full.digest();
        let reply = add(&mut full, "tea");
        assert_eq!(reply.envelope()["code"], json!(429), "{reply:?}");
        assert_eq!((full.digest(), full.ids.is_issued("memory-0001")), (before, false));
        // The new record has room where the mark on the old one has none: neither is kept.
        let bytes = full.world.bytes();
        let limits = WorldLimits { bytes: bytes + bytes + 55, ..WorldLimits::default() };
        let mut tight = state(limits, vec![record("m-1", None)]);
        let replace = MemoryWrite::Replace { memory: "m-1".parse().unwrap(), content: "m-2".to_owned() };
        let reply = write(&mut tight, &replace, false).unwrap();
        assert_eq!((reply.envelope()["code"].as_u64(), records(&tight.world).unwrap().len()), (Some(429), 1));
        let many = (0..=RECORDS_MAX).map(|number| record(&format!("m-{number}"), None)).collect();
        let snapshot = MemorySnapshot { digest: MemoryDigest::of(b""), records: many, left_out: 0 };
        let refused = lay_in(&mut full.world, &snapshot).unwrap_err().to_string();
        assert!(refused.contains("4097 records: expected at most 4096"), "{refused}");
    }
}
