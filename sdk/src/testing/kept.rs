//! What plugins keep in their scratch, within a quota that the test gives.

use std::collections::BTreeMap;

use crate::scratch::ScratchError;

/// Bytes of a key, as on the host.
const KEY_BYTES_MAX: usize = 256;
/// Bytes that an entry counts beside those of its key and value, as on the host.
const ENTRY_BYTES: usize = 64;

/// The bytes of all plugins, each in a place of its own.
#[derive(Clone, Debug, Default)]
pub(crate) struct Kept {
    /// Bytes that each plugin may keep.
    pub(crate) quota: usize,
    entries: BTreeMap<(&'static str, String), Vec<u8>>,
}

impl Kept {
    pub(crate) fn get(&self, plugin: &str, key: &str) -> Option<Vec<u8>> {
        self.of(plugin).find(|(found, _)| *found == key).map(|(_, value)| value.clone())
    }

    pub(crate) fn put(&mut self, plugin: &'static str, key: &str, value: &[u8]) -> Result<(), ScratchError> {
        if key.is_empty() || key.len() > KEY_BYTES_MAX {
            let what = format!("key: expected 1 to {KEY_BYTES_MAX} bytes, found {}", key.len());
            return Err(ScratchError::Invalid(what));
        }
        let others = self.of(plugin).filter(|(other, _)| *other != key);
        let others: usize = others.map(|(key, value)| cost(key, value)).sum();
        let found = others + cost(key, value);
        if found > self.quota {
            return Err(ScratchError::Quota(format!("at most {} bytes allowed, found {found}", self.quota)));
        }
        self.entries.insert((plugin, key.to_owned()), value.to_vec());
        Ok(())
    }

    pub(crate) fn delete(&mut self, plugin: &'static str, key: &str) -> bool {
        self.entries.remove(&(plugin, key.to_owned())).is_some()
    }

    pub(crate) fn keys(&self, plugin: &str) -> Vec<String> {
        self.of(plugin).map(|(key, _)| key.clone()).collect()
    }

    fn of(&self, plugin: &str) -> impl Iterator<Item = (&String, &Vec<u8>)> {
        self.entries.iter().filter(move |((owner, _), _)| *owner == plugin).map(|((_, key), value)| (key, value))
    }
}

fn cost(key: &str, value: &[u8]) -> usize {
    ENTRY_BYTES + key.len() + value.len()
}
