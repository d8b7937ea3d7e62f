//! Worlds, tasks and recorded calls of tau2-bench and of any folder of that form.
//!
//! A folder holds `db.json` (collections of documents), `tools.json` (names and argument schemas) and `replays.jsonl` (calls with the
//! results that the reference gave, and the documents that differ at the end); with `tasks.json` it also becomes a [`Pack`]. The format of
//! these files is not ours: fields that we do not use are passed over.

mod compare;
mod tasks;

use std::collections::BTreeMap;
use std::path::Path;

use loopwright_contract::json::{JsonLimits, parse};
use loopwright_contract::name::{CollectionName, ToolName};
use loopwright_contract::task::Task;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use serde_json::Value;

pub use self::compare::{changes_difference, first_difference, result_difference};
use crate::pack::{About, Pack, PackError, read_file};

/// The documents at the start.
pub const DB_FILE: &str = "db.json";
/// Names and argument schemas of the tools.
pub const TOOLS_FILE: &str = "tools.json";
/// The recorded calls.
pub const REPLAYS_FILE: &str = "replays.jsonl";
/// The tasks.
pub const TASKS_FILE: &str = "tasks.json";
/// What the agent must keep to.
pub const POLICY_FILE: &str = "policy.md";
/// The most bytes of one of the files.
const FILE_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The most recorded episodes of a folder.
const REPLAYS_MAX: usize = 100_000;

/// A tool as the folder describes it.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct ToolSchema {
    /// The tool.
    pub name: ToolName,
    /// JSON Schema of the arguments.
    #[serde(alias = "inputSchema", alias = "parameters")]
    pub schema: Value,
}

/// One recorded call.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedCall {
    /// The tool.
    pub name: ToolName,
    /// Its arguments, an object.
    pub arguments: Value,
    /// Whether the reference did it. Where it did not, answering with an error is right.
    pub ok: bool,
    /// What it returned; for errors their text, which is free.
    pub result: Value,
}

/// A document that differs at the end of a recorded episode.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RecordedChange {
    /// Its collection.
    pub collection: String,
    /// Its key.
    pub key: String,
    /// As it is at the end; absent or null: it is gone.
    #[serde(default)]
    pub after: Option<Value>,
}

/// One recorded episode: calls from the start of the world, in order, and what they changed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Replay {
    /// The task that the calls belong to.
    pub task_id: String,
    /// The calls.
    pub calls: Vec<RecordedCall>,
    /// The documents that differ at the end.
    pub changes: Vec<RecordedChange>,
}

/// A folder without its tasks: enough for a differential replay.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording {
    /// The folder's name as the name of a world: lower case, digits and `-`.
    pub name: String,
    /// `{collection: {key: document}}`.
    pub world: Value,
    /// The tools.
    pub tools: Vec<ToolSchema>,
    /// The episodes.
    pub replays: Vec<Replay>,
}

/// A whole folder.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// What is needed for replays.
    pub recording: Recording,
    /// What the agent must keep to, where the folder says.
    pub policy: Option<String>,
    /// The tasks and the world as a pack.
    pub pack: Pack,
}

/// Reads `db.json`, `tools.json` and `replays.jsonl` of a folder.
///
/// # Errors
/// [`PackError`] with the file and the line.
pub fn recording(folder: &Path) -> Result<Recording, PackError> {
    let world: Value = read_json(folder, DB_FILE)?;
    check_world(&world)?;
    let tools = read_typed(folder, TOOLS_FILE)?;
    Ok(Recording { name: name(folder), world, tools, replays: replays(folder)? })
}

/// Reads a whole folder with its `tasks.json` and, where it has one, its `policy.md`.
///
/// # Errors
/// [`PackError`] with the file and the line, or with the task that cannot be carried.
pub fn import(folder: &Path) -> Result<Imported, PackError> {
    let recording = recording(folder)?;
    let bytes = read_file(folder, TASKS_FILE, FILE_BYTES_MAX)?;
    let tasks: Vec<Task> = tasks::read(&recording.name, &bytes)?;
    let about = About {
        name: recording.name.clone(),
        version: "1.0.0".to_owned(),
        licence: "MIT".to_owned(),
        source: "tau2-bench, train split".to_owned(),
        generator: None,
    };
    let pack = Pack::new(about, tasks, BTreeMap::from([(recording.name.clone(), recording.world.clone())]))?;
    let policy = match folder.join(POLICY_FILE).exists() {
        true => Some(String::from_utf8_lossy(&read_file(folder, POLICY_FILE, FILE_BYTES_MAX)?).into_owned()),
        false => None,
    };
    Ok(Imported { recording, policy, pack })
}

/// The id that a task of the folder has in the pack: the world's name and the original id, with `_` for characters that ids do not have.
#[must_use]
pub fn task_id(world: &str, original: &str) -> String {
    let clean = |character: char| {
        if character.is_ascii_alphanumeric() || matches!(character, '_' | '-' | '.' | '#' | ':') {
            character
        } else {
            '_'
        }
    };
    format!("{world}.{}", original.chars().map(clean).take(120_usize.saturating_sub(world.len())).collect::<String>())
}

fn name(folder: &Path) -> String {
    let last = folder.file_name().map(|name| name.to_string_lossy().to_lowercase()).unwrap_or_default();
    let name: String = last
        .chars()
        .map(|character| if character.is_ascii_alphanumeric() { character } else { '-' })
        .take(64)
        .collect();
    if name.is_empty() { "world".to_owned() } else { name }
}

fn check_world(world: &Value) -> Result<(), PackError> {
    let wrong = |reason: String| PackError::World { world: DB_FILE.to_owned(), reason };
    let collections = world.as_object().ok_or_else(|| wrong("expected an object of collections".to_owned()))?;
    for (collection, documents) in collections {
        CollectionName::new(collection).map_err(|error| wrong(error.to_string()))?;
        if !documents.is_object() {
            return Err(wrong(format!("collection `{collection}`: expected an object of documents")));
        }
    }
    Ok(())
}

fn replays(folder: &Path) -> Result<Vec<Replay>, PackError> {
    let bytes = read_file(folder, REPLAYS_FILE, FILE_BYTES_MAX)?;
    let mut replays = Vec::new();
    for (position, line) in bytes.split(|byte| *byte == b'\n').enumerate() {
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        let number = position.saturating_add(1);
        if replays.len() >= REPLAYS_MAX {
            return Err(PackError::TooMany { file: REPLAYS_FILE.to_owned(), line: number, limit: REPLAYS_MAX });
        }
        replays.push(typed(REPLAYS_FILE, number, line)?);
    }
    Ok(replays)
}

fn read_json(folder: &Path, file: &str) -> Result<Value, PackError> {
    typed(file, 1, &read_file(folder, file, FILE_BYTES_MAX)?)
}

fn read_typed<T: DeserializeOwned>(folder: &Path, file: &str) -> Result<T, PackError> {
    typed(file, 1, &read_file(folder, file, FILE_BYTES_MAX)?)
}

/// A typed value of bytes that are one JSON text.
fn typed<T: DeserializeOwned>(file: &str, line: usize, bytes: &[u8]) -> Result<T, PackError> {
    let wrong = |reason: String| PackError::Line { file: file.to_owned(), line, reason };
    let text =
        std::str::from_utf8(bytes).map_err(|error| wrong(format!("not UTF-8 after byte {}", error.valid_up_to())))?;
    let value = parse(text, &JsonLimits::FILE).map_err(|error| wrong(error.to_string()))?;
    serde_json::from_value(value).map_err(|error| wrong(error.to_string()))
}

#[cfg(test)]
mod tests;
