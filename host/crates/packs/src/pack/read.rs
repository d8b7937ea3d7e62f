//! Reads a pack's folder as if an enemy had written it.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read as _;
use std::path::Path;

use loopwright_contract::json::{JsonLimits, parse};
use loopwright_contract::task::Task;
use serde_json::Value;

use super::card::{About, Card, FORMAT, sha256};
use super::{CARD_FILE, Pack, PackError, TASKS_FILE, WORLDS_FOLDER, shape};

/// The most bytes of `tasks.jsonl`.
pub const TASKS_BYTES_MAX: u64 = 256 * 1024 * 1024;
/// The most bytes of one line of `tasks.jsonl`.
pub const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The most tasks of a pack.
pub const TASKS_MAX: usize = 100_000;
/// The most bytes of one world.
pub const WORLD_BYTES_MAX: u64 = 64 * 1024 * 1024;
/// The most bytes of the card: families and files are listed in it.
const CARD_BYTES_MAX: u64 = 16 * 1024 * 1024;
/// The most worlds of a pack.
const WORLDS_MAX: usize = 1024;

/// Reads and checks the pack in `folder`. Nothing outside the files that the card lists is opened.
///
/// # Errors
/// [`PackError`] names the file and the line, what was expected and what was found.
pub fn read(folder: &Path) -> Result<Pack, PackError> {
    let card = read_card(folder)?;
    let mut worlds = BTreeMap::new();
    let mut tasks = None;
    for (name, expected) in &card.files {
        let world = world_name(name)?;
        let limit = if world.is_some() { WORLD_BYTES_MAX } else { TASKS_BYTES_MAX };
        let bytes = read_file(folder, name, limit)?;
        let found = sha256(&bytes);
        if found != *expected {
            return Err(PackError::Hash { file: name.clone(), expected: expected.chars().take(80).collect(), found });
        }
        match world {
            None => tasks = Some(read_tasks(&bytes)?),
            Some(world) if worlds.len() < WORLDS_MAX => {
                worlds.insert(world.to_owned(), read_json(name, &bytes)?);
            }
            Some(_) => return Err(PackError::TooMany { file: CARD_FILE.to_owned(), line: 1, limit: WORLDS_MAX }),
        }
    }
    let tasks = tasks.ok_or_else(|| PackError::Card {
        field: "files",
        expected: "no `tasks.jsonl`".to_owned(),
        found: "a pack without one is none".to_owned(),
    })?;
    let about = About {
        name: card.name.clone(),
        version: card.version.clone(),
        licence: card.licence.clone(),
        source: card.source.clone(),
        generator: card.generator.clone(),
    };
    let pack = Pack::new(about, tasks, worlds)?;
    compare_cards(&card, pack.card())?;
    // The files may be spelt differently from how this version spells them; their hashes are the card's.
    Ok(Pack { card, ..pack })
}

fn read_card(folder: &Path) -> Result<Card, PackError> {
    let bytes = read_file(folder, CARD_FILE, CARD_BYTES_MAX)?;
    let value = read_json(CARD_FILE, &bytes)?;
    let line = |reason: String| PackError::Line { file: CARD_FILE.to_owned(), line: 1, reason };
    let format = value.get("format").cloned().unwrap_or_default();
    if format != FORMAT {
        return Err(line(format!("`format` is {format}, this version reads \"{FORMAT}\"")));
    }
    serde_json::from_value(value).map_err(|error| line(error.to_string()))
}

fn compare_cards(card: &Card, computed: &Card) -> Result<(), PackError> {
    if card.splits != computed.splits {
        return Err(PackError::Card {
            field: "splits",
            expected: format!("{:?}", card.splits),
            found: format!("{:?}", computed.splits),
        });
    }
    if card.counts != computed.counts {
        return Err(PackError::Card {
            field: "counts",
            expected: format!("{:?}", card.counts),
            found: format!("{:?}", computed.counts),
        });
    }
    Ok(())
}

/// The world that a listed file holds; none for the tasks.
fn world_name(file: &str) -> Result<Option<&str>, PackError> {
    if file == TASKS_FILE {
        return Ok(None);
    }
    let name = file
        .strip_prefix(WORLDS_FOLDER)
        .and_then(|rest| rest.strip_prefix('/'))
        .and_then(|rest| rest.strip_suffix(".json"));
    let plain = |name: &&str| {
        !name.is_empty() && name.bytes().all(|byte| byte.is_ascii_lowercase() || byte.is_ascii_digit() || byte == b'-')
    };
    name.filter(plain).map(Some).ok_or_else(|| PackError::FileName { found: file.chars().take(80).collect() })
}

/// Reads the lines of a `tasks.jsonl`. Ids are checked by [`Pack::new`].
///
/// # Errors
/// [`PackError`] with the number of the line.
pub fn read_tasks(bytes: &[u8]) -> Result<Vec<Task>, PackError> {
    let mut tasks = Vec::new();
    let body = bytes.strip_suffix(b"\n").unwrap_or(bytes);
    if body.is_empty() {
        return Ok(tasks);
    }
    for (position, line) in body.split(|byte| *byte == b'\n').enumerate() {
        let number = position.saturating_add(1);
        if tasks.len() >= TASKS_MAX {
            return Err(PackError::TooMany { file: TASKS_FILE.to_owned(), line: number, limit: TASKS_MAX });
        }
        let task =
            read_line(line).map_err(|reason| PackError::Line { file: TASKS_FILE.to_owned(), line: number, reason })?;
        tasks.push(task);
    }
    Ok(tasks)
}

fn read_line(line: &[u8]) -> Result<Task, String> {
    if line.len() > LINE_BYTES_MAX {
        return Err(format!("the line has {} bytes, at most {LINE_BYTES_MAX} are read", line.len()));
    }
    let text = std::str::from_utf8(line).map_err(|error| format!("not UTF-8 after byte {}", error.valid_up_to()))?;
    if text.trim().is_empty() {
        return Err("the line is empty, expected one task".to_owned());
    }
    let value = parse(text, &JsonLimits { bytes_max: LINE_BYTES_MAX, ..JsonLimits::FILE })
        .map_err(|error| error.to_string())?;
    if !value.is_object() {
        return Err("expected an object, one task".to_owned());
    }
    shape::check_task(&value)?;
    serde_json::from_value(value).map_err(|error| error.to_string())
}

fn read_json(file: &str, bytes: &[u8]) -> Result<Value, PackError> {
    let wrong = |line: usize, reason: String| PackError::Line { file: file.to_owned(), line, reason };
    let text = std::str::from_utf8(bytes).map_err(|error| {
        let before = bytes.get(..error.valid_up_to()).unwrap_or_default();
        wrong(line_after(before), format!("not UTF-8 after byte {}", error.valid_up_to()))
    })?;
    parse(text, &JsonLimits::FILE).map_err(|error| wrong(line_in(&error.to_string()), error.to_string()))
}

fn line_after(bytes: &[u8]) -> usize {
    bytes.iter().filter(|byte| **byte == b'\n').count().saturating_add(1)
}

/// The parser's message ends with `line N column M`.
fn line_in(message: &str) -> usize {
    message
        .rsplit_once(" line ")
        .and_then(|(_, rest)| rest.split(' ').next())
        .and_then(|number| number.parse().ok())
        .unwrap_or(1)
}

/// Reads one plain file of at most `limit` bytes; links, folders and pipes are refused before they are opened.
pub(crate) fn read_file(folder: &Path, name: &str, limit: u64) -> Result<Vec<u8>, PackError> {
    let mut path = folder.to_path_buf();
    for part in name.split('/') {
        let parent = path.clone();
        path.push(part);
        let attempt = || format!("cannot read `{name}` in `{}`", folder.display());
        let kind = std::fs::symlink_metadata(&path)
            .map_err(|source| PackError::Io { attempt: attempt(), source })?
            .file_type();
        if kind.is_symlink() {
            return Err(PackError::NotAFile {
                file: path.strip_prefix(&parent).unwrap_or(&path).display().to_string(),
                found: "link",
            });
        }
    }
    let io = |source| PackError::Io { attempt: format!("cannot read `{name}` in `{}`", folder.display()), source };
    let metadata = std::fs::metadata(&path).map_err(io)?;
    if !metadata.is_file() {
        return Err(PackError::NotAFile {
            file: name.to_owned(),
            found: if metadata.is_dir() { "folder" } else { "special file" },
        });
    }
    if metadata.len() > limit {
        return Err(PackError::TooLarge { file: name.to_owned(), limit });
    }
    let mut bytes = Vec::new();
    File::open(&path).map_err(io)?.take(limit.saturating_add(1)).read_to_end(&mut bytes).map_err(io)?;
    // The file may have grown since it was measured.
    if u64::try_from(bytes.len()).unwrap_or(u64::MAX) > limit {
        return Err(PackError::TooLarge { file: name.to_owned(), limit });
    }
    Ok(bytes)
}
