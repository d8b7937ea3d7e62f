//! `state-write`: documents, within the grant and within the open call's transaction.

use loopwright_bindings::{
    afv::{state_write, types::StateError},
    convert::state::state_error_out,
};

use crate::store::PluginState;

impl state_write::Host for PluginState {
    fn put(&mut self, collection: String, key: String, value: String) -> wasmtime::Result<Result<(), StateError>> {
        self.cross(collection.len() + key.len() + value.len())?;
        let done = self.writable(&collection).and_then(|world| world.put(&collection, &key, &value));
        Ok(done.map_err(state_error_out))
    }

    fn patch(&mut self, collection: String, key: String, merge: String) -> wasmtime::Result<Result<(), StateError>> {
        self.cross(collection.len() + key.len() + merge.len())?;
        // A small patch of a large document costs what the document does.
        let patched = self.writable(&collection).and_then(|world| world.get(&collection, &key));
        match patched {
            Ok(document) => {
                let bytes = document.map_or(0, |document| document.text().len());
                self.meter.charge(bytes)?;
            }
            Err(error) => return Ok(Err(state_error_out(error))),
        }
        let done = self.writable(&collection).and_then(|world| world.patch(&collection, &key, &merge));
        Ok(done.map_err(state_error_out))
    }

    fn delete(&mut self, collection: String, key: String) -> wasmtime::Result<Result<bool, StateError>> {
        self.cross(collection.len() + key.len())?;
        let done = self.writable(&collection).and_then(|world| world.delete(&collection, &key));
        Ok(done.map_err(state_error_out))
    }
}
