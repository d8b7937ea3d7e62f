//! `evidence`: what a verifier sees, and all that it sees.

use std::{collections::BTreeSet, sync::Arc};

use loopwright_bindings::{
    SnapshotHandle,
    afv::{
        evidence,
        types::{Page, Query, StateError},
    },
    convert::state::{page_out, query_in, state_error_out},
};
use loopwright_contract::{fault::Budget, state};
use loopwright_world::{Bookkeeping, Document, Ids, SamenessRule, Side, World, diff_while, same_up_to_while};
use wasmtime::component::Resource;

use super::state_read::{page_bytes, query_bytes};
use crate::{core::Core, record::StepTextOf, store::PluginState};

/// The most elements of a page of changes or steps.
const PAGE_MAX: u32 = 256;
/// Lines of `differences`.
const DIFFERENCES_MAX: usize = 16;

type Handle = Resource<SnapshotHandle>;

/// The snapshots that a verifier holds, by handle.
#[derive(Default)]
pub(crate) struct Snapshots {
    held: Vec<Option<Snapshot>>,
    live: u32,
}

struct Snapshot {
    world: World,
    /// Whether its ids are those of the gold's episode.
    of_target: bool,
}

impl Snapshots {
    pub(crate) fn clear(&mut self) {
        self.held.clear();
        self.live = 0;
    }

    fn push(&mut self, snapshot: Snapshot) -> u32 {
        self.live += 1;
        let free = self.held.iter().position(Option::is_none);
        let at = free.unwrap_or(self.held.len());
        match self.held.get_mut(at) {
            Some(place) => *place = Some(snapshot),
            None => self.held.push(Some(snapshot)),
        }
        u32::try_from(at).unwrap_or(u32::MAX)
    }

    fn get(&self, handle: &Handle) -> Option<&Snapshot> {
        self.held.get(usize::try_from(handle.rep()).ok()?)?.as_ref()
    }

    fn remove(&mut self, handle: &Handle) {
        let place = usize::try_from(handle.rep()).ok().and_then(|at| self.held.get_mut(at));
        if place.and_then(Option::take).is_some() {
            self.live -= 1;
        }
    }
}

impl PluginState {
    fn hold(&mut self, world: World, of_target: bool) -> wasmtime::Result<Handle> {
        let limit = self.meter.limits().handles;
        if self.snapshots.live >= limit {
            return Err(self.meter.spend(Budget::Handles, u64::from(limit)));
        }
        Ok(Resource::new_own(self.snapshots.push(Snapshot { world, of_target })))
    }

    fn held(&mut self, handle: &Handle) -> wasmtime::Result<World> {
        match self.snapshots.get(handle) {
            Some(snapshot) => Ok(snapshot.world.fork()),
            None => Err(self.meter.trap("a snapshot's handle stands for nothing")),
        }
    }

    fn is_of_target(&self, handle: &Handle) -> bool {
        self.snapshots.get(handle).is_some_and(|snapshot| snapshot.of_target)
    }
}

impl evidence::HostSnapshot for PluginState {
    fn get(
        &mut self,
        snapshot: Handle,
        collection: String,
        key: String,
    ) -> wasmtime::Result<Result<Option<String>, StateError>> {
        self.cross(collection.len() + key.len())?;
        match self.held(&snapshot)?.get(&collection, &key) {
            Ok(found) => {
                self.cross(found.as_ref().map_or(0, |document| document.text().len()))?;
                Ok(Ok(found.map(|document| document.text().to_owned())))
            }
            Err(error) => Ok(Err(state_error_out(error))),
        }
    }

    fn find(
        &mut self,
        snapshot: Handle,
        collection: String,
        query: Query,
    ) -> wasmtime::Result<Result<Page, StateError>> {
        self.cross(collection.len() + query_bytes(&query))?;
        let world = self.held(&snapshot)?;
        let examined = query_in(query).and_then(|query| Ok((world.examined_by(&collection, &query)?, query)));
        let query = match examined {
            Ok((documents, query)) => {
                self.examine(documents)?;
                query
            }
            Err(error) => return Ok(Err(state_error_out(error))),
        };
        match world.find_while(&collection, &query, &self.patience()) {
            Ok(None) => Err(self.given_up()),
            Ok(Some(found)) => {
                let page = state::Page::from(found);
                self.cross(page_bytes(&page))?;
                Ok(Ok(page_out(page)))
            }
            Err(error) => Ok(Err(state_error_out(error))),
        }
    }

    fn collections(&mut self, snapshot: Handle) -> wasmtime::Result<Vec<String>> {
        let world = self.held(&snapshot)?;
        let names: Vec<String> = world.collections().map(|rules| rules.name().to_owned()).collect();
        self.cross(names.iter().map(String::len).sum())?;
        Ok(names)
    }

    fn digest(&mut self, snapshot: Handle) -> wasmtime::Result<Vec<u8>> {
        self.cross(32)?;
        match self.held(&snapshot)?.digest_while(&self.patience()) {
            Some(digest) => Ok(digest.0.to_vec()),
            None => Err(self.given_up()),
        }
    }

    fn drop(&mut self, snapshot: Handle) -> wasmtime::Result<()> {
        self.snapshots.remove(&snapshot);
        Ok(())
    }
}

impl evidence::Host for PluginState {
    fn initial(&mut self) -> wasmtime::Result<Handle> {
        match self.after(0)? {
            Some(handle) => Ok(handle),
            None => Err(self.meter.trap("evidence.initial: there is no initial state")),
        }
    }

    fn after(&mut self, count: u32) -> wasmtime::Result<Option<Handle>> {
        self.cross(0)?;
        let worlds = &self.episode("evidence.after")?.record.worlds;
        let world = usize::try_from(count).ok().and_then(|count| worlds.get(count)).map(World::fork);
        world.map(|world| self.hold(world, false)).transpose()
    }

    fn target(&mut self) -> wasmtime::Result<Option<Handle>> {
        self.cross(0)?;
        let world = self.episode("evidence.target")?.record.target.as_ref().map(|target| target.world.fork());
        world.map(|world| self.hold(world, true)).transpose()
    }

    fn changes(
        &mut self,
        a: Handle,
        b: Handle,
        include_bookkeeping: bool,
        cursor: u32,
        limit: u32,
    ) -> wasmtime::Result<(Vec<evidence::Change>, Option<u32>)> {
        self.cross(0)?;
        let (a, b) = (self.held(&a)?, self.held(&b)?);
        let bookkeeping = if include_bookkeeping { Bookkeeping::Include } else { Bookkeeping::Ignore };
        let Some(all) = diff_while(&a, &b, bookkeeping, &self.patience()) else { return Err(self.given_up()) };
        // Each page computes them all.
        self.examine(all.len())?;
        let (start, end) = page_of(cursor, limit);
        let text = |document: &Option<Document>| document.as_ref().map(|document| document.text().to_owned());
        let mut page = Vec::new();
        for change in all.get(start.min(all.len())..end.min(all.len())).unwrap_or_default() {
            let (before, after) = (text(&change.before), text(&change.after));
            let found =
                evidence::Change { collection: change.collection.clone(), key: change.key.to_string(), before, after };
            let texts = found.before.as_deref().map_or(0, str::len) + found.after.as_deref().map_or(0, str::len);
            self.cross(found.collection.len() + found.key.len() + texts)?;
            page.push(found);
        }
        Ok((page, u32::try_from(end).ok().filter(|_| end < all.len())))
    }

    fn differences(&mut self, a: Handle, b: Handle, except: Vec<String>) -> wasmtime::Result<Vec<String>> {
        self.cross(except.iter().map(String::len).sum())?;
        let (a_is_target, b_is_target) = (self.is_of_target(&a), self.is_of_target(&b));
        let (a, b) = (self.held(&a)?, self.held(&b)?);
        let go_on = self.patience();
        let core = self.episode("evidence.differences")?;
        let rule = SamenessRule { bookkeeping: Bookkeeping::Ignore, except: BTreeSet::from_iter(except) };
        let left = Side { world: &a, ids: ids(core, a_is_target) };
        let right = Side { world: &b, ids: ids(core, b_is_target) };
        let Some(sameness) = same_up_to_while(left, right, &rule, &go_on) else { return Err(self.given_up()) };
        let mut lines = sameness.lines();
        lines.truncate(DIFFERENCES_MAX);
        self.cross(lines.iter().map(String::len).sum())?;
        Ok(lines)
    }

    fn step_count(&mut self) -> wasmtime::Result<u32> {
        self.cross(0)?;
        Ok(u32::try_from(self.episode("evidence.step-count")?.record.steps.len()).unwrap_or(u32::MAX))
    }

    fn steps(&mut self, start: u32, limit: u32) -> wasmtime::Result<Vec<evidence::Step>> {
        self.cross(0)?;
        let record = &self.episode("evidence.steps")?.record;
        // Shared, so that the meter can be charged meanwhile.
        let (steps, texts) = (Arc::clone(&record.steps), Arc::clone(&record.texts));
        let (start, end) = page_of(start, limit);
        let mut page = Vec::new();
        for at in start..end.min(steps.len()) {
            let Some(step) = StepTextOf::at(&steps, &texts, at) else { break };
            let step = step.shown();
            self.cross(step.answer.len() + action_bytes(&step.action))?;
            page.push(step.clone());
        }
        Ok(page)
    }
}

/// The ids that were issued on a snapshot's way.
fn ids(core: &Core, of_target: bool) -> &Ids {
    match &core.record.target {
        Some(target) if of_target => &target.ids,
        _ => &core.state.ids,
    }
}

fn page_of(start: u32, limit: u32) -> (usize, usize) {
    let end = start.saturating_add(limit.clamp(1, PAGE_MAX));
    (usize::try_from(start).unwrap_or(usize::MAX), usize::try_from(end).unwrap_or(usize::MAX))
}

fn action_bytes(action: &evidence::Action) -> usize {
    match action {
        evidence::Action::Call(call) => call.id.len() + call.tool.len() + call.arguments.len(),
        evidence::Action::Ask(text) | evidence::Action::Refuse(text) | evidence::Action::Finish(text) => text.len(),
        evidence::Action::Other((name, value)) => name.len() + value.len(),
    }
}
