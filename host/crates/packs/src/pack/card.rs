//! The card of a pack.

use std::collections::{BTreeMap, BTreeSet};

use loopwright_contract::task::{Split, Task};
use serde::{Deserialize, Serialize};
use sha2::{Digest as _, Sha256};

/// The format that this version writes and reads.
pub const FORMAT: &str = "loopwright-pack/1";

/// What the author of a pack says of it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct About {
    /// The pack's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its licence (SPDX).
    pub licence: String,
    /// Where it comes from.
    pub source: String,
    /// What generated it, when a program did.
    pub generator: Option<Generator>,
}

/// What generated a pack: the same values give the same bytes.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Generator {
    /// Its name.
    pub name: String,
    /// The seed of all draws.
    #[serde(with = "loopwright_contract::wide")]
    pub seed: u64,
    /// Instances that were asked for, of each family in each language.
    pub instances_per_family: u32,
    /// The set of phrasings: `seen` or `unseen`.
    pub phrasings: String,
    /// Instances left out because request, state and gold were those of another one.
    pub duplicates: u32,
}

/// How many there are.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Counts {
    /// Tasks.
    pub tasks: usize,
    /// Families.
    pub families: usize,
    /// Tasks of each category.
    pub categories: BTreeMap<String, usize>,
    /// Tasks of each language.
    pub languages: BTreeMap<String, usize>,
    /// Tasks of each split.
    pub splits: BTreeMap<Split, usize>,
}

/// What a pack says of itself: `card.json`.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Card {
    /// [`FORMAT`].
    pub format: String,
    /// The pack's name.
    pub name: String,
    /// Its version.
    pub version: String,
    /// Its licence (SPDX).
    pub licence: String,
    /// Where it comes from.
    pub source: String,
    /// What generated it, when a program did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub generator: Option<Generator>,
    /// The families of each split, sorted. A family is in one split, in all its languages.
    pub splits: BTreeMap<Split, Vec<String>>,
    /// How many there are.
    pub counts: Counts,
    /// SHA-256 of every other file of the pack, in hexadecimal, by its path in the folder.
    pub files: BTreeMap<String, String>,
}

impl Card {
    pub(super) fn of(about: About, tasks: &[Task], files: BTreeMap<String, String>) -> Self {
        let mut splits: BTreeMap<Split, BTreeSet<String>> = BTreeMap::new();
        for task in tasks {
            splits.entry(task.split).or_default().insert(task.family.clone());
        }
        Self {
            format: FORMAT.to_owned(),
            name: about.name,
            version: about.version,
            licence: about.licence,
            source: about.source,
            generator: about.generator,
            splits: splits.into_iter().map(|(split, families)| (split, families.into_iter().collect())).collect(),
            counts: Counts::of(tasks),
            files,
        }
    }
}

impl Counts {
    fn of(tasks: &[Task]) -> Self {
        let mut counts = Self { tasks: tasks.len(), ..Self::default() };
        let mut families = BTreeSet::new();
        for task in tasks {
            families.insert(task.family.as_str());
            bump(&mut counts.categories, task.category.clone());
            bump(&mut counts.languages, task.lang.to_string());
            bump(&mut counts.splits, task.split);
        }
        counts.families = families.len();
        counts
    }
}

fn bump<K: Ord>(counts: &mut BTreeMap<K, usize>, key: K) {
    let count = counts.entry(key).or_insert(0);
    *count = count.saturating_add(1);
}

/// The SHA-256 of `bytes` in lower-case hexadecimal.
pub(crate) fn sha256(bytes: &[u8]) -> String {
    hex::encode(Sha256::digest(bytes))
}
