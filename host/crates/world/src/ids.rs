//! Ids for new documents: a counter for each prefix, so that an id is readable and depends on nothing but the calls before it.

use std::sync::Arc;

use imbl::OrdMap;
use loopwright_contract::state::StateError;
use serde::{Deserialize, Serialize};

use crate::{
    World,
    error::over,
    limits::{ID_PREFIX_BYTES_LIMIT, ID_PREFIXES_LIMIT},
    slice,
};

/// Digits of an id's number; larger numbers take as many as they need.
const DIGITS: usize = 4;
/// The largest number of an id.
const NUMBER_MAX: u64 = 999_999_999;

/// Where one prefix stands.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Counter {
    /// The largest number that the base holds; ids up to it are not the episode's.
    pub base: u64,
    /// The number issued last.
    pub last: u64,
}

/// The ids of an episode, such as `note-0001`. It knows which ids it issued since the base; cloning shares its counters.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Ids {
    counters: OrdMap<Arc<str>, Counter>,
}

impl Ids {
    /// Counters that start at 1 whatever a world holds.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Counters that start after every id that the world holds, as a key or as a whole string in a document. Reads all documents once.
    #[must_use]
    pub fn after(world: &World) -> Self {
        let mut ids = Self::default();
        for collection in world.all() {
            for (key, document) in collection.documents() {
                ids.reserve(key.as_str());
                slice::for_each_string(document.text(), |literal| {
                    if let Some(text) = literal.strip_prefix('"').and_then(|text| text.strip_suffix('"')) {
                        ids.reserve(text);
                    }
                });
            }
        }
        ids
    }

    fn reserve(&mut self, text: &str) {
        let Some((prefix, number)) = parse(text) else { return };
        if self.counters.get(prefix).is_some_and(|counter| counter.last >= number) {
            return;
        }
        if self.counters.len() < ID_PREFIXES_LIMIT || self.counters.contains_key(prefix) {
            self.counters.insert(prefix.into(), Counter { base: number, last: number });
        }
    }

    /// Issues the next id of a prefix.
    ///
    /// # Errors
    /// `Invalid` unless the prefix is 1 to 32 characters out of `a-z`, `0-9` and `_` that start with a letter, `Limit` for too many prefixes or
    /// ids.
    pub fn next_id(&mut self, prefix: &str) -> Result<String, StateError> {
        check_prefix(prefix)?;
        let counter = self.counters.get(prefix).copied().unwrap_or_default();
        let number = counter.last + 1;
        if number > NUMBER_MAX {
            return Err(over("ids of one prefix", NUMBER_MAX, number));
        }
        if counter == Counter::default() && self.counters.len() >= ID_PREFIXES_LIMIT {
            return Err(over("id prefixes of an episode", ID_PREFIXES_LIMIT, self.counters.len() + 1));
        }
        self.counters.insert(prefix.into(), Counter { last: number, ..counter });
        Ok(format!("{prefix}-{number:0DIGITS$}"))
    }

    /// Makes every id issued so far the base's: from now on it is text like any other.
    pub(crate) fn seal(&mut self) {
        self.counters = self
            .counters
            .iter()
            .map(|(prefix, counter)| (prefix.clone(), Counter { base: counter.last, ..*counter }))
            .collect();
    }

    /// Whether the text is an id that was issued since the base.
    #[must_use]
    pub fn is_issued(&self, text: &str) -> bool {
        self.issued_prefix(text).is_some()
    }

    /// The prefix of an id that was issued since the base.
    pub(crate) fn issued_prefix<'a>(&self, text: &'a str) -> Option<&'a str> {
        let (prefix, number) = parse(text)?;
        let counter = self.counters.get(prefix)?;
        (number > counter.base && number <= counter.last).then_some(prefix)
    }

    /// All counters by prefix.
    pub fn counters(&self) -> impl Iterator<Item = (&str, Counter)> {
        self.counters.iter().map(|(prefix, counter)| (prefix.as_ref(), *counter))
    }

    /// Counters that were stored.
    ///
    /// # Errors
    /// As [`Ids::next_id`], and `Invalid` for a counter whose last number is below its base.
    pub fn restore<P: AsRef<str>>(counters: impl IntoIterator<Item = (P, Counter)>) -> Result<Self, StateError> {
        let mut ids = Self::default();
        for (prefix, counter) in counters {
            let prefix = prefix.as_ref();
            check_prefix(prefix)?;
            if counter.last < counter.base || counter.last > NUMBER_MAX {
                return Err(StateError::Invalid(format!(
                    "id counter `{prefix}`: base {} and last {} contradict",
                    counter.base, counter.last
                )));
            }
            ids.counters.insert(prefix.into(), counter);
        }
        if ids.counters.len() > ID_PREFIXES_LIMIT {
            return Err(over("id prefixes of an episode", ID_PREFIXES_LIMIT, ids.counters.len()));
        }
        Ok(ids)
    }
}

fn check_prefix(prefix: &str) -> Result<(), StateError> {
    if is_prefix(prefix) {
        return Ok(());
    }
    let shown: String = prefix.chars().take(ID_PREFIX_BYTES_LIMIT + 1).collect();
    let expected = "expected 1 to 32 characters out of `a-z`, `0-9` and `_` that start with a letter";
    Err(StateError::Invalid(format!("id prefix {shown:?}: {expected}")))
}

fn is_prefix(text: &str) -> bool {
    let starts = text.bytes().next().is_some_and(|byte| byte.is_ascii_lowercase());
    starts
        && text.len() <= ID_PREFIX_BYTES_LIMIT
        && text.bytes().all(|byte| matches!(byte, b'a'..=b'z' | b'0'..=b'9' | b'_'))
}

/// Splits an id exactly as [`Ids::next_id`] writes it.
fn parse(text: &str) -> Option<(&str, u64)> {
    let (prefix, digits) = text.split_once('-')?;
    let plain = digits.len() >= DIGITS && digits.len() <= 9 && digits.bytes().all(|byte| byte.is_ascii_digit());
    if !plain || (digits.len() > DIGITS && digits.starts_with('0')) || !is_prefix(prefix) {
        return None;
    }
    let number = digits.parse().ok()?;
    (number > 0).then_some((prefix, number))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_prefix_counts_for_itself() {
        let mut ids = Ids::new();
        let issued: Vec<String> =
            ["note", "note", "event", "note"].iter().map(|prefix| ids.next_id(prefix).unwrap()).collect();
        assert_eq!(issued, ["note-0001", "note-0002", "event-0001", "note-0003"]);
        assert!(issued.iter().all(|id| ids.is_issued(id)));
        for text in [
            "note-0004",
            "event-0002",
            "note-1",
            "note-00001",
            "note-0000",
            "note",
            "Note-0001",
            "-0001",
            "note-0001 ",
            "note--001",
            "todo-0001",
        ] {
            assert!(!ids.is_issued(text), "{text:?}");
        }
    }

    #[test]
    fn numbers_grow_past_their_padding() {
        let mut ids = Ids::restore([("n", Counter { base: 0, last: 9_999 })]).unwrap();
        assert_eq!(ids.next_id("n").unwrap(), "n-10000");
        assert!(ids.is_issued("n-10000") && ids.is_issued("n-9999"));
        let mut full = Ids::restore([("n", Counter { base: 0, last: NUMBER_MAX })]).unwrap();
        assert!(matches!(full.next_id("n"), Err(StateError::Limit(_))));
    }

    #[test]
    fn bad_prefixes_and_too_many_are_refused() {
        let mut ids = Ids::new();
        for prefix in ["", "Note", "1a", "a-b", "ä", "a b", &"a".repeat(ID_PREFIX_BYTES_LIMIT + 1)] {
            assert!(matches!(ids.next_id(prefix), Err(StateError::Invalid(_))), "{prefix:?}");
        }
        for number in 0..ID_PREFIXES_LIMIT {
            ids.next_id(&format!("p{number}")).unwrap();
        }
        assert!(matches!(ids.next_id("one_more"), Err(StateError::Limit(_))));
        assert_eq!(ids.next_id("p0").unwrap(), "p0-0002");
    }

    #[test]
    fn contradicting_counters_are_refused() {
        assert!(Ids::restore([("n", Counter { base: 2, last: 1 })]).is_err());
        assert!(Ids::restore([("N", Counter { base: 0, last: 1 })]).is_err());
    }
}
