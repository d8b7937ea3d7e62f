//! A memory as JSON Lines. It knows no file: it writes to what it is given.
//!
//! The first line names the format, its version and the number of units. Every other line is one unit, with the record that made it, to which
//! evidence in the file points. Redacted and withheld units, sensitive working data, and what rests on these, stay behind.

use std::collections::HashSet;
use std::io::{self, Write};
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::batch::Batch;
use super::error::StoreError;
use super::event::{self, Event, Exported};
use super::handle::Store;
use super::state::State;
use crate::id::UnitId;
use crate::moment::Moment;
use crate::unit::{Sequence, Status, Unit};

/// The name of the format, in its first line.
pub const EXPORT_FORMAT: &str = "loopwright-memory";
/// The version of the format that is written and read.
pub const EXPORT_VERSION: u32 = 1;

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct First {
    pub(super) format: String,
    pub(super) version: u32,
    pub(super) units: u64,
    pub(super) left_out: u64,
}

#[derive(Debug, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Row {
    /// The record that made it, in the memory that it comes from.
    pub(super) sequence: Sequence,
    /// Whether it is a message as it was said.
    pub(super) captured: bool,
    pub(super) unit: Unit,
}

/// What an export wrote.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Written {
    /// Units.
    pub units: u64,
    /// Units that stayed behind.
    pub left_out: u64,
}

/// The units that stay behind.
fn left_out(state: &State) -> HashSet<u64> {
    let hidden = |unit: &Unit| matches!(unit.status, Status::Candidate | Status::Redacted);
    let hidden = state.slots().filter(|(_, slot)| slot.working.is_some() || hidden(&slot.unit));
    let mut left: HashSet<u64> = hidden.map(|(ordinal, _)| ordinal).collect();
    loop {
        let before = left.len();
        for (ordinal, slot) in state.slots().filter(|(_, slot)| !slot.captured) {
            let unit = &slot.unit;
            let captures = unit.evidence.iter().filter_map(|evidence| state.captures.get(&evidence.sequence));
            let mut rests_on = captures.chain(unit.derived_from.iter().filter_map(|id| state.ids.get(id)));
            if rests_on.any(|ordinal| left.contains(ordinal)) {
                left.insert(ordinal);
            }
        }
        if left.len() == before {
            return left;
        }
    }
}

fn rows(state: &State, left: &HashSet<u64>, to: &mut dyn Write) -> Result<u64, StoreError> {
    let stays = |id: &UnitId| state.ids.get(id).is_some_and(|ordinal| !left.contains(ordinal));
    let mut units = 0;
    for (_, slot) in state.slots().filter(|(ordinal, _)| !left.contains(ordinal)) {
        let mut unit = slot.unit.clone();
        unit.supersedes.retain(stays);
        unit.conflicts.retain(stays);
        unit.superseded_by = unit.superseded_by.filter(stays);
        line(to, &Row { sequence: slot.sequence, captured: slot.captured, unit })?;
        units += 1;
    }
    Ok(units)
}

fn line(to: &mut dyn Write, line: &impl Serialize) -> Result<(), StoreError> {
    let mut bytes = event::write("export", line)?;
    bytes.push(b'\n');
    to.write_all(&bytes).map_err(failed)
}

fn failed(error: io::Error) -> StoreError {
    StoreError::io("write the export to", Path::new("the given place"), error)
}

impl Store {
    /// Writes the memory as JSON Lines, and notes in the log that it did.
    ///
    /// # Errors
    /// [`StoreError::Io`] when `to` or the disk refuses.
    pub fn export(&self, to: &mut dyn Write, now: &Moment) -> Result<Written, StoreError> {
        let snapshot = self.snapshot();
        let state = &snapshot.state;
        let left = left_out(state);
        let left_out = left.len() as u64;
        let units = state.live.saturating_sub(left_out);
        line(to, &First { format: EXPORT_FORMAT.to_owned(), version: EXPORT_VERSION, units, left_out })?;
        let units = rows(state, &left, to)?;
        to.flush().map_err(failed)?;
        self.shared.write(|writer| {
            let mut batch = Batch::new(&writer.state, now);
            batch.push(Event::Exported(Exported { units, contribution: None, of: Vec::new() }))?;
            self.shared.commit(writer, batch, now)
        })?;
        Ok(Written { units, left_out })
    }
}
