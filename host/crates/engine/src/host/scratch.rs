//! `scratch`: bytes of a plugin's own, within its quota and within the open call's transaction.

use loopwright_bindings::afv::scratch::{self, ScratchError};

use crate::{
    kept_bytes::{KEY_BYTES_MAX, KeepError, KeptBytes},
    store::PluginState,
};

impl scratch::Host for PluginState {
    fn get(&mut self, key: String) -> wasmtime::Result<Option<Vec<u8>>> {
        self.cross(key.len())?;
        let found = self.kept("scratch.get")?.get(&key).map(<[u8]>::to_vec);
        self.meter.charge(found.as_ref().map_or(0, Vec::len))?;
        Ok(found)
    }

    fn put(&mut self, key: String, value: Vec<u8>) -> wasmtime::Result<Result<(), ScratchError>> {
        self.cross(key.len() + value.len())?;
        let quota = self.plugin.record.grant.scratch_bytes;
        Ok(self.kept("scratch.put")?.put(key, value, quota).map_err(error))
    }

    fn delete(&mut self, key: String) -> wasmtime::Result<bool> {
        self.cross(key.len())?;
        Ok(self.kept("scratch.delete")?.delete(&key))
    }

    fn keys(&mut self) -> wasmtime::Result<Vec<String>> {
        // Charged before they are copied: by their number, then by their bytes.
        let count = self.kept("scratch.keys")?.len();
        self.examine(count)?;
        let bytes = self.kept("scratch.keys")?.keys().map(str::len).sum();
        self.cross(bytes)?;
        Ok(self.kept("scratch.keys")?.keys().map(str::to_owned).collect())
    }
}

impl PluginState {
    fn kept(&mut self, function: &str) -> wasmtime::Result<&mut KeptBytes> {
        let plugin = self.plugin.record.name.clone();
        Ok(self.episode(function)?.kept.entry(plugin).or_default())
    }
}

fn error(error: KeepError) -> ScratchError {
    match error {
        KeepError::Quota { limit, found } => {
            ScratchError::Quota(format!("at most {limit} bytes allowed, found {found}"))
        }
        KeepError::Key { found } => {
            ScratchError::Invalid(format!("key: expected 1 to {KEY_BYTES_MAX} bytes, found {found}"))
        }
    }
}
