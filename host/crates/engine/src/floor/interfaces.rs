//! The least that each interface can do and still answer.

use std::sync::Arc;

use loopwright_bindings::{
    SnapshotHandle,
    afv::{
        clock_control, consent, context, evidence, log, plugin, state_read, state_write, tools,
        types::{self, Page, Query, StateError},
    },
    convert::{
        state::{page_out, query_in, state_error_out},
        time::{halves_out, instant_in, instant_out},
    },
};
use loopwright_contract::state;
use loopwright_world::{Bookkeeping, SamenessRule, Side, World, diff, same_up_to};
use wasmtime::component::{Linker, Resource};

use super::{Bare, BareEvidence, FloorState, Kind};

pub(super) fn add(linker: &mut Linker<FloorState>, kind: Kind) -> wasmtime::Result<()> {
    types::add_to_linker::<_, Bare>(linker, |state| state)?;
    plugin::add_to_linker::<_, Bare>(linker, |state| state)?;
    log::add_to_linker::<_, Bare>(linker, |state| state)?;
    if kind == Kind::Verifier {
        return evidence::add_to_linker::<_, Bare>(linker, |state| state);
    }
    context::add_to_linker::<_, Bare>(linker, |state| state)?;
    state_read::add_to_linker::<_, Bare>(linker, |state| state)?;
    state_write::add_to_linker::<_, Bare>(linker, |state| state)?;
    if kind == Kind::Environment {
        clock_control::add_to_linker::<_, Bare>(linker, |state| state)?;
        tools::add_to_linker::<_, Bare>(linker, |state| state)?;
        consent::add_to_linker::<_, Bare>(linker, |state| state)?;
    }
    Ok(())
}

impl FloorState {
    fn world(&mut self) -> wasmtime::Result<&mut World> {
        self.world.as_mut().ok_or_else(|| wasmtime::Error::msg("the bare world is elsewhere"))
    }
}

fn text(found: Result<Option<loopwright_world::Document>, state::StateError>) -> Result<Option<String>, StateError> {
    found.map(|document| document.map(|document| document.text().to_owned())).map_err(state_error_out)
}

impl types::Host for FloorState {}
impl plugin::Host for FloorState {}

impl log::Host for FloorState {
    fn write(&mut self, _level: log::Level, _message: String) -> wasmtime::Result<()> {
        Ok(())
    }
}

impl context::Host for FloorState {
    fn now(&mut self) -> wasmtime::Result<types::Instant> {
        Ok(instant_out(self.now_ns))
    }

    fn zone(&mut self) -> wasmtime::Result<String> {
        Ok("UTC".to_owned())
    }

    fn offset_s(&mut self, _at: types::Instant) -> wasmtime::Result<i32> {
        Ok(0)
    }

    fn random_bits(&mut self) -> wasmtime::Result<(u32, u32)> {
        self.counter += 1;
        Ok(halves_out(self.counter))
    }

    fn next_id(&mut self, prefix: String) -> wasmtime::Result<String> {
        self.counter += 1;
        Ok(format!("{prefix}-{:04}", self.counter))
    }
}

impl state_read::Host for FloorState {
    fn get(&mut self, collection: String, key: String) -> wasmtime::Result<Result<Option<String>, StateError>> {
        Ok(text(self.world()?.get(&collection, &key)))
    }

    fn get_many(&mut self, keys: Vec<(String, String)>) -> wasmtime::Result<Result<Vec<Option<String>>, StateError>> {
        let world = self.world()?;
        Ok(keys.iter().map(|(collection, key)| text(world.get(collection, key))).collect())
    }

    fn find(&mut self, collection: String, query: Query) -> wasmtime::Result<Result<Page, StateError>> {
        let found = query_in(query).and_then(|query| {
            self.world().map_err(|error| state::StateError::Other(error.to_string()))?.find(&collection, &query)
        });
        Ok(found.map(|found| page_out(found.into())).map_err(state_error_out))
    }
}

impl state_write::Host for FloorState {
    fn put(&mut self, collection: String, key: String, value: String) -> wasmtime::Result<Result<(), StateError>> {
        Ok(self.world()?.put(&collection, &key, &value).map_err(state_error_out))
    }

    fn patch(&mut self, collection: String, key: String, merge: String) -> wasmtime::Result<Result<(), StateError>> {
        Ok(self.world()?.patch(&collection, &key, &merge).map_err(state_error_out))
    }

    fn delete(&mut self, collection: String, key: String) -> wasmtime::Result<Result<bool, StateError>> {
        Ok(self.world()?.delete(&collection, &key).map_err(state_error_out))
    }
}

impl clock_control::Host for FloorState {
    fn advance_to(&mut self, at: types::Instant) -> wasmtime::Result<()> {
        self.now_ns = instant_in("at", at).map_err(wasmtime::Error::from)?;
        Ok(())
    }
}

impl consent::Host for FloorState {
    fn confirmed(&mut self, _call: types::ToolCall) -> wasmtime::Result<bool> {
        Ok(true)
    }
}

impl tools::Host for FloorState {
    fn installed(&mut self) -> wasmtime::Result<Vec<String>> {
        Ok(self.tools.to_vec())
    }

    fn access(&mut self, _call: types::ToolCall) -> wasmtime::Result<Option<tools::AccessNeeds>> {
        Ok(Some(tools::AccessNeeds { effect: types::Effect::Read, requires: Vec::new(), plugin: String::new() }))
    }

    fn invoke(&mut self, call: types::ToolCall, _by: types::Actor) -> wasmtime::Result<tools::Outcome> {
        let Some((store, tool)) = self.tool.as_deref_mut() else { return Err(wasmtime::Error::msg("no bare tool")) };
        store.data_mut().world = self.world.take();
        let answer = tool.loopwright_afv_tool().call_call(&mut *store, &call);
        self.world = store.data_mut().world.take();
        Ok(match answer? {
            Ok(success) => tools::Outcome::Ok(success),
            Err(failure) => tools::Outcome::Failed(failure),
        })
    }
}

type Handle = Resource<SnapshotHandle>;

impl FloorState {
    fn hold(&mut self, world: World, of_target: bool) -> Handle {
        self.snapshots.push((world, of_target));
        Resource::new_own(u32::try_from(self.snapshots.len() - 1).unwrap_or(u32::MAX))
    }

    fn held(&self, handle: &Handle) -> wasmtime::Result<&World> {
        Ok(&self.snapshot(handle)?.0)
    }

    fn snapshot(&self, handle: &Handle) -> wasmtime::Result<&(World, bool)> {
        let found = usize::try_from(handle.rep()).ok().and_then(|at| self.snapshots.get(at));
        found.ok_or_else(|| wasmtime::Error::msg("no such snapshot"))
    }

    fn shown(&self) -> wasmtime::Result<&Arc<BareEvidence>> {
        self.evidence.as_ref().ok_or_else(|| wasmtime::Error::msg("no evidence"))
    }

    fn side(&self, handle: &Handle) -> wasmtime::Result<Side<'_>> {
        let (world, of_target) = self.snapshot(handle)?;
        let shown = self.shown()?;
        let ids = shown.target.as_ref().filter(|_| *of_target).map_or(&shown.ids, |target| &target.ids);
        Ok(Side { world, ids })
    }
}

impl evidence::HostSnapshot for FloorState {
    fn get(
        &mut self,
        snapshot: Handle,
        collection: String,
        key: String,
    ) -> wasmtime::Result<Result<Option<String>, StateError>> {
        Ok(text(self.held(&snapshot)?.get(&collection, &key)))
    }

    fn find(
        &mut self,
        snapshot: Handle,
        collection: String,
        query: Query,
    ) -> wasmtime::Result<Result<Page, StateError>> {
        let world = self.held(&snapshot)?;
        let found = query_in(query).and_then(|query| world.find(&collection, &query));
        Ok(found.map(|found| page_out(found.into())).map_err(state_error_out))
    }

    fn collections(&mut self, snapshot: Handle) -> wasmtime::Result<Vec<String>> {
        Ok(self.held(&snapshot)?.collections().map(|rules| rules.name().to_owned()).collect())
    }

    fn digest(&mut self, snapshot: Handle) -> wasmtime::Result<Vec<u8>> {
        Ok(self.held(&snapshot)?.digest().0.to_vec())
    }

    fn drop(&mut self, _snapshot: Handle) -> wasmtime::Result<()> {
        Ok(())
    }
}

impl evidence::Host for FloorState {
    fn initial(&mut self) -> wasmtime::Result<Handle> {
        self.after(0)?.ok_or_else(|| wasmtime::Error::msg("no initial world"))
    }

    fn after(&mut self, count: u32) -> wasmtime::Result<Option<Handle>> {
        let world = self.shown()?.worlds.get(usize::try_from(count)?).map(World::fork);
        Ok(world.map(|world| self.hold(world, false)))
    }

    fn target(&mut self) -> wasmtime::Result<Option<Handle>> {
        let world = self.shown()?.target.as_ref().map(|target| target.world.fork());
        Ok(world.map(|world| self.hold(world, true)))
    }

    fn changes(
        &mut self,
        a: Handle,
        b: Handle,
        include_bookkeeping: bool,
        cursor: u32,
        limit: u32,
    ) -> wasmtime::Result<(Vec<evidence::Change>, Option<u32>)> {
        let bookkeeping = if include_bookkeeping { Bookkeeping::Include } else { Bookkeeping::Ignore };
        let all = diff(self.held(&a)?, self.held(&b)?, bookkeeping);
        let (start, limit) = (usize::try_from(cursor)?, usize::try_from(limit.max(1))?);
        let text = |document: Option<loopwright_world::Document>| document.map(|document| document.text().to_owned());
        let next = u32::try_from(start + limit).ok().filter(|_| start + limit < all.len());
        let page = all.into_iter().skip(start).take(limit).map(|change| evidence::Change {
            collection: change.collection,
            key: change.key.to_string(),
            before: text(change.before),
            after: text(change.after),
        });
        Ok((page.collect(), next))
    }

    fn differences(&mut self, a: Handle, b: Handle, except: Vec<String>) -> wasmtime::Result<Vec<String>> {
        let rule = SamenessRule { bookkeeping: Bookkeeping::Ignore, except: except.into_iter().collect() };
        Ok(same_up_to(self.side(&a)?, self.side(&b)?, &rule).lines())
    }

    fn step_count(&mut self) -> wasmtime::Result<u32> {
        Ok(u32::try_from(self.shown()?.steps.len())?)
    }

    fn steps(&mut self, start: u32, limit: u32) -> wasmtime::Result<Vec<evidence::Step>> {
        Ok(self.shown()?.steps.iter().skip(usize::try_from(start)?).take(usize::try_from(limit)?).cloned().collect())
    }
}
