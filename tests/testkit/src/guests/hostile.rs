//! The hostile guests, their table and their well-behaved neighbours. The texts and the table are data, under `tests/guests/hostile`.

use std::fmt::Write as _;

use loopwright_contract::name::{CollectionName, Lang, ToolName};
use loopwright_contract::tool::{AccessRule, Catalogue, CollectionSpec, CollectionUse, Effect, Localized, ToolSpec};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

use super::image::Image;
use super::{GuestError, component, with_request};

/// The name under which a hostile tool plugin's collection is known.
pub const HOSTILE: &str = "hostile";
/// The well-behaved tool plugin, and its collection.
pub const NEIGHBOUR: &str = "neighbour";
/// The well-behaved environment.
pub const WORLD: &str = "world";
/// The well-behaved verifier.
pub const JUDGE: &str = "judge";

/// The neighbour's tools: one that stores, one that stores and fails, one that stores a random number.
pub const NEIGHBOUR_TOOLS: [&str; 3] = ["note_put", "note_fail", "note_dice"];

/// What is expected of whom.
const TABLE: &str = include_str!("../../../guests/hostile/table.json");

macro_rules! sources {
    ($($name:literal)*) => {
        [$(($name, include_str!(concat!("../../../guests/hostile/", $name, ".wat")))),*]
    };
}

/// The texts of all hostile guests, so that an installed command needs no source tree. A test compares the list with the folder.
const SOURCES: [(&str, &str); 27] = sources![
    "bulk-copy-stall" "deep-json" "empty-log-flood" "forged-evidence" "handle-leak" "invalid-utf8" "leftover-memory" "log-flood"
    "many-memories" "memory-bomb" "name-confusable" "name-lookalike" "name-taken" "nan-verdict" "oversized-string" "prompt-injection"
    "re-entrancy" "recursion" "reports-success" "spin" "spin-in-start" "stall-in-host-call" "state-across-resets" "state-outside-grant"
    "table-bomb" "terminal-escapes" "trap-loop"
];

macro_rules! prelude {
    ($name:literal) => {
        include_str!(concat!("../../../guests/hostile/prelude/", $name, ".wat"))
    };
}

/// What kind of plugin a guest is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Plugin {
    /// A tool plugin.
    Tool,
    /// An environment.
    Environment,
    /// A verifier.
    Verifier,
}

/// What is done with a guest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Attack {
    /// It is installed beside the neighbour, and that is all it takes.
    Install,
    /// Its tool is called in an episode.
    Call,
    /// Its tool is called many times in an episode.
    Calls,
    /// Its tool is called, and says by the code of its failure what the host told it.
    Told,
    /// Its tool is called, and its answer is printed in every way in which the command prints.
    Shown,
    /// Its tool is called, and its answer is rendered for a planner.
    Planned,
    /// Its tool is called in many fresh instances.
    Fresh,
    /// It is the environment of an episode whose call fails, and an honest verifier judges.
    Judged,
    /// It is the environment of several episodes after each other.
    Resets,
    /// It judges an episode.
    Judge,
}

/// What ends or answers an attack.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Kind {
    /// Spent fuel.
    Fuel,
    /// Spent memory.
    Memory,
    /// Spent tables.
    Tables,
    /// Spent bytes that the host copies.
    HostBytes,
    /// Spent bytes of a result.
    Output,
    /// Spent handles.
    Handles,
    /// Spent stack.
    Stack,
    /// A trap.
    Trapped,
    /// A refusal by policy.
    Denied,
    /// Something that the contract does not allow.
    Contract,
    /// A passed deadline.
    Deadline,
    /// A name that another plugin has.
    Taken,
    /// Printed without anything that a terminal acts on.
    Neutralised,
    /// Handed to a planner as data.
    Delimited,
    /// Contradicted by the host's own record.
    Recorded,
    /// Nothing of an earlier instance was found.
    Fresh,
    /// What was attempted came about.
    Succeeded,
    /// The host itself failed.
    HostFailed,
}

/// One row of the table.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Row {
    /// The guest: the name of its file.
    pub guest: String,
    /// What it is.
    pub plugin: Plugin,
    /// What is done with it.
    pub attack: Attack,
    /// What must come of it.
    pub expected: Kind,
    /// What stops it, in words.
    pub budget: String,
    /// Milliseconds within which it must be stopped.
    pub within_ms: u64,
    /// The name of its tool, where that is the attack. It need not be a name.
    #[serde(default)]
    pub tool: Option<String>,
}

impl Row {
    /// The name under which the guest is installed.
    #[must_use]
    pub fn name(&self) -> &str {
        &self.guest
    }
}

/// The table.
///
/// # Errors
/// `Table` when it does not parse, or does not name every guest exactly once.
pub fn rows() -> Result<Vec<Row>, GuestError> {
    let table = |reason: String| GuestError::Table { reason };
    let rows: Vec<Row> = serde_json::from_str(TABLE).map_err(|error| table(error.to_string()))?;
    for row in &rows {
        if !SOURCES.iter().any(|(name, _)| *name == row.guest) {
            return Err(table(format!("`{}` has a row and no file", row.guest)));
        }
        if rows.iter().filter(|other| other.guest == row.guest).count() > 1 {
            return Err(table(format!("`{}` has two rows", row.guest)));
        }
    }
    match SOURCES.iter().find(|(name, _)| !rows.iter().any(|row| row.guest == *name)) {
        Some((name, _)) => Err(table(format!("`{name}` has a file and no row"))),
        None => Ok(rows),
    }
}

/// The component of a row.
///
/// # Errors
/// When its text does not become one.
pub fn build(row: &Row) -> Result<Vec<u8>, GuestError> {
    build_as(row, row.name())
}

/// The component of a row under another name: other bytes, the same code.
///
/// # Errors
/// As [`build`].
pub fn build_as(row: &Row, name: &str) -> Result<Vec<u8>, GuestError> {
    let text = SOURCES.iter().find(|(name, _)| *name == row.guest).map_or("", |(_, text)| *text);
    match row.plugin {
        Plugin::Tool => tool(name, text, HOSTILE, &[row.tool.as_deref().unwrap_or(HOSTILE)]),
        Plugin::Environment => environment(name, text),
        Plugin::Verifier => verifier(name, text),
    }
}

/// The well-behaved plugins, with their names: a tool plugin, an environment and a verifier.
///
/// # Errors
/// When a text does not become a component.
pub fn neighbours() -> Result<[(&'static str, Vec<u8>); 3], GuestError> {
    let source = [
        include_str!("../../../guests/hostile/neighbours/neighbour.wat"),
        include_str!("../../../guests/hostile/neighbours/world.wat"),
        include_str!("../../../guests/hostile/neighbours/judge.wat"),
    ];
    let [tools, world, judge] = source;
    Ok([
        (NEIGHBOUR, tool(NEIGHBOUR, tools, NEIGHBOUR, &NEIGHBOUR_TOOLS)?),
        (WORLD, environment(WORLD, world)?),
        (JUDGE, verifier(JUDGE, judge)?),
    ])
}

/// A tool plugin whose text defines the export `call` of its one tool. Tool and collection are named [`HOSTILE`].
///
/// # Errors
/// `Text` or `Component`, with the place.
pub fn tool_plugin(name: &str, text: &str) -> Result<Vec<u8>, GuestError> {
    tool(name, text, HOSTILE, &[HOSTILE])
}

/// A tool plugin with these tools and one collection, which asks for the neighbour's collection too.
fn tool(name: &str, text: &str, collection: &str, tools: &[&str]) -> Result<Vec<u8>, GuestError> {
    let mut image = Image::default();
    let identity = image.identity(name, "0.1.0", &[]);
    let declared = catalogue(name, collection, tools.len())?;
    let catalogue = image.catalogue_named(&declared, tools);
    let done = image.success("done", "null");
    let failed = image.failure(409, "no", None);
    let constants = [("identity", identity), ("catalogue", catalogue), ("done", done), ("failed", failed)];
    let mut wat = begin(prelude!("tool_imports"), &image, &constants, text);
    wat.push_str(prelude!("tool"));
    if !text.contains("tool@0.1.0#call\"") {
        wat.push_str(prelude!("tool_call"));
    }
    let component = end(name, "tool-plugin", wat, text)?;
    // What it declares to touch it also asks for; that it was not granted is what stops it.
    let asked: Vec<Value> = declared
        .uses
        .iter()
        .map(|uses| json!({"capability": "collection", "name": uses.name, "access": "write"}))
        .collect();
    Ok(if asked.is_empty() { component } else { with_request(component, &asked.into()) })
}

fn environment(name: &str, text: &str) -> Result<Vec<u8>, GuestError> {
    let mut image = Image::default();
    let identity = image.identity(name, "0.1.0", &[]);
    let mut wat = begin(prelude!("environment_imports"), &image, &[("identity", identity)], text);
    wat.push_str(prelude!("environment"));
    if !text.contains("(func $after_call") {
        wat.push_str(prelude!("environment_after_call"));
    }
    if !text.contains("(func $on_reset") {
        wat.push_str(prelude!("environment_on_reset"));
    }
    end(name, "environment-plugin", wat, text)
}

/// A verifier whose text defines `$judge`, which gets how many steps the prefix has and sets `$outcome` and `$score`.
///
/// # Errors
/// `Text` or `Component`, with the place.
pub fn verifier(name: &str, text: &str) -> Result<Vec<u8>, GuestError> {
    let mut image = Image::default();
    let identity = image.identity(name, "0.1.0", &[]);
    let mut wat = begin(prelude!("verifier_imports"), &image, &[("identity", identity)], text);
    wat.push_str(prelude!("verifier"));
    end(name, "verifier-plugin", wat, text)
}

/// The module up to what its kind adds.
fn begin(imports: &str, image: &Image, constants: &[(&str, usize)], text: &str) -> String {
    let mut wat = format!("(module\n{imports}\n{}\n", image.segment());
    let end = image.end();
    let _ = writeln!(wat, "(global $image_end i32 (i32.const {end}))\n(global $heap (mut i32) (i32.const {end}))");
    for (name, address) in constants {
        let _ = writeln!(wat, "(global ${name} i32 (i32.const {address}))");
    }
    wat.push_str(prelude!("runtime"));
    if !text.contains("\"cabi_realloc\"") {
        wat.push_str(prelude!("realloc"));
    }
    wat
}

fn end(name: &str, world: &str, mut wat: String, text: &str) -> Result<Vec<u8>, GuestError> {
    wat.push_str(text);
    wat.push(')');
    component(name, world, &wat)
}

fn catalogue(plugin: &str, collection: &str, tools: usize) -> Result<Catalogue, GuestError> {
    let table = |reason: String| GuestError::Table { reason: format!("guest `{plugin}`: {reason}") };
    let name = CollectionName::new(collection).map_err(|error| table(error.to_string()))?;
    let neighbour = CollectionName::new(NEIGHBOUR).map_err(|error| table(error.to_string()))?;
    let tool = ToolName::new(HOSTILE).map_err(|error| table(error.to_string()))?;
    let uses = if collection == NEIGHBOUR { Vec::new() } else { vec![CollectionUse { name: neighbour, write: true }] };
    let spec = ToolSpec {
        name: tool,
        domain: "tests".to_owned(),
        description: vec![Localized { lang: Lang::english(), text: "A tool of the tests.".to_owned() }],
        keywords: Vec::new(),
        arguments_schema: json!({"type": "object", "properties": {"value": {}}, "additionalProperties": false}),
        result_schema: json!({}),
        access: vec![AccessRule { when: None, effect: Effect::Write, requires: Vec::new() }],
        ext: Vec::new(),
    };
    let collections =
        vec![CollectionSpec { name, schema: None, bookkeeping: Vec::new(), indexes: Vec::new(), initial: Vec::new() }];
    Ok(Catalogue { tools: vec![spec; tools], collections, uses })
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;
    use std::path::Path;

    use super::*;

    #[test]
    fn every_file_has_a_row_and_every_row_a_file() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../guests/hostile");
        let files: BTreeSet<String> = std::fs::read_dir(folder)
            .unwrap()
            .map(|entry| entry.unwrap().path())
            .filter(|path| path.extension().is_some_and(|extension| extension == "wat"))
            .map(|path| path.file_stem().unwrap().to_str().unwrap().to_owned())
            .collect();
        let rows: BTreeSet<String> = rows().unwrap().into_iter().map(|row| row.guest).collect();
        assert_eq!(files, rows, "a guest that no row names would go unrun; add it to `table.json` and to `SOURCES`");
    }

    #[test]
    fn every_guest_says_what_its_row_says() {
        for row in rows().unwrap() {
            let text = SOURCES.iter().find(|(name, _)| *name == row.guest).unwrap().1;
            let expected = serde_json::to_value(row.expected).unwrap();
            let header = |key: &str| {
                let mark = format!(";; {key}");
                text.lines().find_map(|line| line.strip_prefix(&mark)).map(|rest| rest.trim().to_owned())
            };
            assert!(header("attack:").is_some() && header("budget:").is_some(), "{}", row.guest);
            assert_eq!(header("expected:").as_deref(), expected.as_str(), "{}", row.guest);
        }
    }

    #[test]
    fn every_guest_and_neighbour_becomes_a_component() {
        for row in rows().unwrap() {
            build(&row).unwrap_or_else(|error| panic!("{error}: {:?}", std::error::Error::source(&error)));
        }
        neighbours().unwrap();
    }
}
