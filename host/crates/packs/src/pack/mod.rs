//! The pack format: tasks, a card that describes them, and the worlds that they begin in.
//!
//! A pack is a folder. `card.json` holds a [`Card`]; `tasks.jsonl` holds one [`Task`] a line as canonical JSON; `worlds/<name>.json`
//! holds a world as `{collection: {key: document}}`. The card lists the SHA-256 of every other file, so that a changed pack is noticed.

mod card;
mod error;
mod read;
mod shape;
mod write;

use std::collections::{BTreeMap, BTreeSet};

use loopwright_contract::json::canonical;
use loopwright_contract::name::PluginName;
use loopwright_contract::task::Task;
use serde_json::Value;

pub(crate) use self::card::sha256;
pub use self::card::{About, Card, Counts, FORMAT, Generator};
pub use self::error::PackError;
pub(crate) use self::read::read_file;
pub use self::read::{LINE_BYTES_MAX, TASKS_BYTES_MAX, TASKS_MAX, WORLD_BYTES_MAX, read, read_tasks};
pub use self::write::write;

/// The file of the tasks.
pub const TASKS_FILE: &str = "tasks.jsonl";
/// The file of the card.
pub const CARD_FILE: &str = "card.json";
/// The folder of the worlds.
pub const WORLDS_FOLDER: &str = "worlds";

/// A pack whose parts agree: ids are unique, every family is in one split, every named world is there, and the card counts what is there.
#[derive(Debug, Clone, PartialEq)]
pub struct Pack {
    card: Card,
    tasks: Vec<Task>,
    worlds: BTreeMap<String, Value>,
}

impl Pack {
    /// Joins tasks and worlds to a pack; the card is computed.
    ///
    /// # Errors
    /// [`PackError::Inconsistent`] names the first task that breaks a rule of the format and the rule.
    pub fn new(about: About, tasks: Vec<Task>, worlds: BTreeMap<String, Value>) -> Result<Self, PackError> {
        check_tasks(&tasks, &worlds)?;
        check_worlds(&worlds)?;
        let files =
            files(&tasks, &worlds).iter().map(|(name, text)| (name.clone(), card::sha256(text.as_bytes()))).collect();
        let card = Card::of(about, &tasks, files);
        Ok(Self { card, tasks, worlds })
    }

    /// What the pack says of itself.
    #[must_use]
    pub fn card(&self) -> &Card {
        &self.card
    }

    /// The tasks, in the order of the file.
    #[must_use]
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// The worlds by name: `{collection: {key: document}}`.
    #[must_use]
    pub fn worlds(&self) -> &BTreeMap<String, Value> {
        &self.worlds
    }

    /// The files that the card lists, by their path in the folder.
    #[must_use]
    pub fn files(&self) -> BTreeMap<String, String> {
        files(&self.tasks, &self.worlds)
    }
}

fn files(tasks: &[Task], worlds: &BTreeMap<String, Value>) -> BTreeMap<String, String> {
    let mut files = BTreeMap::new();
    let mut text = String::new();
    for task in tasks {
        text.push_str(&canonical(&serde_json::to_value(task).unwrap_or(Value::Null)));
        text.push('\n');
    }
    files.insert(TASKS_FILE.to_owned(), text);
    for (name, world) in worlds {
        files.insert(format!("{WORLDS_FOLDER}/{name}.json"), format!("{}\n", canonical(world)));
    }
    files
}

fn check_tasks(tasks: &[Task], worlds: &BTreeMap<String, Value>) -> Result<(), PackError> {
    let mut ids = BTreeSet::new();
    let mut splits = BTreeMap::new();
    for (position, task) in tasks.iter().enumerate() {
        let wrong = |reason: String| PackError::Inconsistent {
            task: task.id.to_string(),
            line: position.saturating_add(1),
            reason,
        };
        if !ids.insert(&task.id) {
            return Err(wrong("its id is that of an earlier task, expected every id once".to_owned()));
        }
        if let Some(world) = task.world.as_ref().filter(|world| !worlds.contains_key(*world)) {
            return Err(wrong(format!(
                "it begins in the world `{world}`, expected one of {:?}",
                worlds.keys().collect::<Vec<_>>()
            )));
        }
        let split = *splits.entry(&task.family).or_insert(task.split);
        if split != task.split {
            return Err(wrong(format!(
                "family `{}` is in the split {:?}, an earlier task put it in {split:?}",
                task.family, task.split
            )));
        }
        if task.checks.is_empty() {
            return Err(wrong("it has no check, expected at least one".to_owned()));
        }
    }
    Ok(())
}

fn check_worlds(worlds: &BTreeMap<String, Value>) -> Result<(), PackError> {
    for (name, world) in worlds {
        if PluginName::new(name).is_err() {
            return Err(PackError::WorldName { found: name.chars().take(80).collect() });
        }
        let collections = world.as_object().map(|map| map.values().all(Value::is_object));
        if collections != Some(true) {
            return Err(PackError::World {
                world: name.clone(),
                reason: "expected an object of collections, each an object of documents".to_owned(),
            });
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests;
