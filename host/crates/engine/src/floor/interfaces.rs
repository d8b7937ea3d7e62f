//! The least that each interface can do and still answer.

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
use loopwright_world::World;
use wasmtime::component::{Linker, Resource};

use super::{Bare, FloorState, Kind};

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
    fn hold(&mut self, world: Option<World>) -> Option<Handle> {
        self.snapshots.push(world?);
        Some(Resource::new_own(u32::try_from(self.snapshots.len() - 1).unwrap_or(u32::MAX)))
    }

    fn held(&self, handle: &Handle) -> wasmtime::Result<&World> {
        let found = usize::try_from(handle.rep()).ok().and_then(|at| self.snapshots.get(at));
        found.ok_or_else(|| wasmtime::Error::msg("no such snapshot"))
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
        let world = self.initial.as_ref().map(World::fork);
        self.hold(world).ok_or_else(|| wasmtime::Error::msg("no initial world"))
    }

    fn after(&mut self, _count: u32) -> wasmtime::Result<Option<Handle>> {
        let world = self.initial.as_ref().map(World::fork);
        Ok(self.hold(world))
    }

    fn target(&mut self) -> wasmtime::Result<Option<Handle>> {
        self.after(0)
    }

    fn changes(
        &mut self,
        _a: Handle,
        _b: Handle,
        _bookkeeping: bool,
        _cursor: u32,
        _limit: u32,
    ) -> wasmtime::Result<(Vec<evidence::Change>, Option<u32>)> {
        Ok((Vec::new(), None))
    }

    fn differences(&mut self, _a: Handle, _b: Handle, _except: Vec<String>) -> wasmtime::Result<Vec<String>> {
        Ok(Vec::new())
    }

    fn step_count(&mut self) -> wasmtime::Result<u32> {
        Ok(0)
    }

    fn steps(&mut self, _start: u32, _limit: u32) -> wasmtime::Result<Vec<evidence::Step>> {
        Ok(Vec::new())
    }
}
