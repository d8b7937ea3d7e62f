//! What a plugin keeps for itself from call to call of an episode: capability `scratch`. It knows no plugin and no grant but the quota that it is given.

use std::sync::Arc;

use imbl::OrdMap;

/// Bytes of a key, as of a document.
pub(crate) const KEY_BYTES_MAX: usize = 256;
/// Bytes that an entry counts beside those of its key and value: without it, empty values would be free.
pub(crate) const ENTRY_BYTES: u64 = 64;

/// Why something is not kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum KeepError {
    /// Beyond the quota: what is allowed, and what it would have come to.
    Quota { limit: u64, found: u64 },
    /// A malformed key, of so many bytes.
    Key { found: usize },
}

/// The bytes of one plugin. A clone shares them, and a write to one of the two copies a path and not all: each call begins with a clone.
#[derive(Debug, Clone, Default)]
pub(crate) struct KeptBytes {
    entries: OrdMap<String, Arc<[u8]>>,
    bytes: u64,
}

impl KeptBytes {
    pub(crate) fn get(&self, key: &str) -> Option<&[u8]> {
        self.entries.get(key).map(|value| &**value)
    }

    /// How many entries there are.
    pub(crate) fn len(&self) -> usize {
        self.entries.len()
    }

    pub(crate) fn keys(&self) -> impl Iterator<Item = &str> {
        self.entries.keys().map(String::as_str)
    }

    pub(crate) fn put(&mut self, key: String, value: Vec<u8>, quota: u64) -> Result<(), KeepError> {
        if key.is_empty() || key.len() > KEY_BYTES_MAX {
            return Err(KeepError::Key { found: key.len() });
        }
        let gone = self.entries.get(&key).map_or(0, |old| cost(&key, old));
        let found = (self.bytes - gone).saturating_add(cost(&key, &value));
        if found > quota {
            return Err(KeepError::Quota { limit: quota, found });
        }
        self.entries.insert(key, value.into());
        self.bytes = found;
        Ok(())
    }

    pub(crate) fn delete(&mut self, key: &str) -> bool {
        let Some(old) = self.entries.get(key) else { return false };
        self.bytes -= cost(key, old);
        self.entries.remove(key);
        true
    }
}

fn cost(key: &str, value: &[u8]) -> u64 {
    ENTRY_BYTES + (key.len() + value.len()) as u64
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn the_quota_is_at_its_number_and_a_replaced_value_counts_no_more() {
        let mut kept = KeptBytes::default();
        let quota = ENTRY_BYTES + 1 + 9;
        assert_eq!(kept.put("k".into(), vec![0; 10], quota), Err(KeepError::Quota { limit: quota, found: quota + 1 }));
        assert_eq!(kept.put("k".into(), vec![0; 9], quota), Ok(()));
        assert_eq!(kept.put("k".into(), vec![1; 9], quota), Ok(()));
        assert_eq!(kept.get("k"), Some([1; 9].as_slice()));
        assert!(kept.put("l".into(), vec![], quota).is_err());
        assert!(kept.delete("k") && !kept.delete("k"));
        assert_eq!(kept.put("l".into(), vec![], quota), Ok(()));
        assert_eq!(kept.keys().collect::<Vec<_>>(), ["l"]);
    }

    #[test]
    fn a_key_has_1_to_256_bytes() {
        let mut kept = KeptBytes::default();
        let key = "k".repeat(KEY_BYTES_MAX);
        assert_eq!(kept.put(key.clone(), vec![], u64::MAX), Ok(()));
        assert_eq!(kept.put(format!("{key}k"), vec![], u64::MAX), Err(KeepError::Key { found: KEY_BYTES_MAX + 1 }));
        assert_eq!(kept.put(String::new(), vec![], u64::MAX), Err(KeepError::Key { found: 0 }));
    }

    proptest! {
        #[test]
        fn what_is_counted_is_what_is_there(steps in proptest::collection::vec(("[ab]{1,2}", proptest::option::of(0..40_usize)), 0..30)) {
            let quota = 300;
            let mut kept = KeptBytes::default();
            for (key, value) in steps {
                let before = kept.clone();
                match value {
                    None => {
                        kept.delete(&key);
                    }
                    Some(bytes) => {
                        let put = kept.put(key, vec![7; bytes], quota);
                        if put.is_err() {
                            prop_assert_eq!(&before.entries, &kept.entries);
                        }
                    }
                }
                let counted: u64 = kept.entries.iter().map(|(key, value)| cost(key, value)).sum();
                prop_assert!(kept.bytes == counted && counted <= quota);
            }
        }
    }
}
