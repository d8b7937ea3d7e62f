//! The in-memory world behind the tests, seen as the host.

use core::cell::RefCell;
use core::fmt;
use std::collections::BTreeSet;
use std::rc::Rc;

use crate::call::{Actor, CallError, Success, ToolCall};
use crate::environment::{AccessNeeds, Outcome};
use crate::evidence::{Bookkeeping, Change, Step};
use crate::json::Json;
use crate::phone::Level;
use crate::query::Query;
use crate::scratch::ScratchError;
use crate::state::{Page, StateError};
use crate::storage::Storage;
use crate::testing::calls::{call_within, invoke};
use crate::testing::documents::Documents;
use crate::testing::evidence::Record;
use crate::testing::world::Inner;
use crate::time::Instant;

/// What a plugin may touch.
#[derive(Clone, Debug, Default)]
pub(crate) enum Grants {
    /// Everything, as an environment is granted by default.
    #[default]
    All,
    /// The collections of a plugin's storage.
    Only { read: BTreeSet<String>, write: BTreeSet<String> },
}

impl Grants {
    /// What a tool plugin owns and asks for.
    pub(crate) fn of(storage: &Storage) -> Self {
        let owned = storage.owned.iter().map(|collection| collection.name.to_owned());
        let used = |write: bool| storage.used.iter().filter(move |each| each.write || !write);
        let write: BTreeSet<String> = owned.chain(used(true).map(|each| each.name.to_owned())).collect();
        let read = used(false).map(|each| each.name.to_owned()).chain(write.iter().cloned()).collect();
        Self::Only { read, write }
    }

    fn check(&self, collection: &str, writes: bool) -> Result<(), StateError> {
        let granted = match self {
            Self::All => true,
            Self::Only { write, .. } if writes => write.contains(collection),
            Self::Only { read, .. } => read.contains(collection),
        };
        let denied = || StateError::Denied { collection: collection.to_owned() };
        granted.then_some(()).ok_or_else(denied)
    }
}

/// One plugin's access to the world.
#[derive(Clone)]
pub(crate) struct Port {
    pub(crate) world: Rc<RefCell<Inner>>,
    pub(crate) grants: Rc<Grants>,
    /// Whose code it serves; empty for the test's own.
    pub(crate) plugin: &'static str,
}

impl fmt::Debug for Port {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.debug_struct("Port").field("grants", &self.grants).finish_non_exhaustive()
    }
}

impl Port {
    /// Checks the grant and hands out an error that the test has planted.
    fn enter(&self, collection: &str, writes: bool) -> Result<(), StateError> {
        self.grants.check(collection, writes)?;
        self.world.borrow_mut().planted.take().map_or(Ok(()), Err)
    }

    pub(crate) fn get(&self, collection: &str, key: &str) -> Result<Option<Json>, StateError> {
        self.enter(collection, false)?;
        self.world.borrow().documents.get(collection, key)
    }

    pub(crate) fn get_many(&self, keys: &[(&str, &str)]) -> Result<Vec<Option<Json>>, StateError> {
        const KEYS_MAX: usize = 256;
        if keys.len() > KEYS_MAX {
            return Err(StateError::Limit(format!("get-many takes at most {KEYS_MAX} keys, found {}", keys.len())));
        }
        keys.iter().map(|(collection, key)| self.get(collection, key)).collect()
    }

    pub(crate) fn find(&self, collection: &str, query: &Query) -> Result<Page<Json>, StateError> {
        self.enter(collection, false)?;
        self.world.borrow().documents.find(collection, query)
    }

    pub(crate) fn put(&self, collection: &str, key: &str, value: Json) -> Result<(), StateError> {
        self.enter(collection, true)?;
        self.world.borrow_mut().documents.put(collection, key, &value)
    }

    pub(crate) fn patch(&self, collection: &str, key: &str, merge: Json) -> Result<(), StateError> {
        self.enter(collection, true)?;
        self.world.borrow_mut().documents.patch(collection, key, &merge)
    }

    pub(crate) fn delete(&self, collection: &str, key: &str) -> Result<bool, StateError> {
        self.enter(collection, true)?;
        self.world.borrow_mut().documents.delete(collection, key)
    }

    pub(crate) fn log(&self, level: Level, message: &str) {
        self.world.borrow_mut().log.push((level, message.to_owned()));
    }

    pub(crate) fn now(&self) -> Instant {
        self.world.borrow().now
    }

    pub(crate) fn zone(&self) -> String {
        self.world.borrow().zone.clone()
    }

    pub(crate) fn offset_s(&self, at: Instant) -> i32 {
        let offset = Rc::clone(&self.world.borrow().offset);
        offset(at)
    }

    pub(crate) fn random(&self) -> u64 {
        self.world.borrow_mut().random()
    }

    pub(crate) fn next_id(&self, prefix: &str) -> String {
        self.world.borrow_mut().next_id(prefix)
    }

    pub(crate) fn installed(&self) -> Vec<String> {
        self.world.borrow().installed.keys().cloned().collect()
    }

    pub(crate) fn access(&self, call: &ToolCall) -> Option<AccessNeeds> {
        self.world.borrow().access(call)
    }

    pub(crate) fn invoke(&self, call: &ToolCall, by: Actor) -> Outcome {
        invoke(&self.world, call, by)
    }

    pub(crate) fn confirmed(&self, call: &ToolCall) -> bool {
        self.world.borrow().confirmed(call)
    }

    pub(crate) fn advance_to(&self, at: Instant) {
        self.world.borrow_mut().advance_to(at);
    }

    pub(crate) fn call_tool(&self, tool: &str, arguments: Json) -> Result<Success, CallError> {
        call_within(&self.world, self.plugin, tool, arguments)
    }

    pub(crate) fn scratch_get(&self, key: &str) -> Option<Vec<u8>> {
        self.world.borrow().kept.get(self.plugin, key)
    }

    pub(crate) fn scratch_put(&self, key: &str, value: &[u8]) -> Result<(), ScratchError> {
        self.world.borrow_mut().kept.put(self.plugin, key, value)
    }

    pub(crate) fn scratch_delete(&self, key: &str) -> bool {
        self.world.borrow_mut().kept.delete(self.plugin, key)
    }

    pub(crate) fn scratch_keys(&self) -> Vec<String> {
        self.world.borrow().kept.keys(self.plugin)
    }
}

/// The evidence of a test.
#[derive(Clone, Debug)]
pub(crate) struct EvidencePort(pub(crate) Rc<Record>);

impl EvidencePort {
    pub(crate) fn initial(&self) -> SnapshotPort {
        SnapshotPort(self.0.initial())
    }

    pub(crate) fn after(&self, count: u32) -> Option<SnapshotPort> {
        self.0.after(count).map(SnapshotPort)
    }

    pub(crate) fn target(&self) -> Option<SnapshotPort> {
        self.0.target().map(SnapshotPort)
    }

    pub(crate) fn changes(
        &self,
        a: &SnapshotPort,
        b: &SnapshotPort,
        bookkeeping: Bookkeeping,
        cursor: u32,
        limit: u32,
    ) -> (Vec<Change>, Option<u32>) {
        self.0.changes(&a.0, &b.0, bookkeeping, cursor..cursor.saturating_add(limit))
    }

    pub(crate) fn differences(&self, a: &SnapshotPort, b: &SnapshotPort, except: &[String]) -> Vec<String> {
        self.0.differences(&a.0, &b.0, except)
    }

    pub(crate) fn step_count(&self) -> u32 {
        self.0.step_count()
    }

    pub(crate) fn steps(&self, start: u32, limit: u32) -> Vec<Step> {
        self.0.steps(start, limit)
    }

    pub(crate) fn log(&self, level: Level, message: &str) {
        self.0.log(level, message);
    }
}

/// A snapshot of a test.
#[derive(Clone, Debug)]
pub(crate) struct SnapshotPort(pub(crate) Rc<Documents>);

impl SnapshotPort {
    pub(crate) fn get(&self, collection: &str, key: &str) -> Result<Option<Json>, StateError> {
        self.0.get(collection, key)
    }

    pub(crate) fn find(&self, collection: &str, query: &Query) -> Result<Page<Json>, StateError> {
        self.0.find(collection, query)
    }

    pub(crate) fn collections(&self) -> Vec<String> {
        self.0.collections()
    }

    pub(crate) fn digest(&self) -> Vec<u8> {
        self.0.digest()
    }
}
