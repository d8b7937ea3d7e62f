//! A log without what a purge takes: record by record, so that what is left still follows. It knows no file.

use std::path::Path;

use super::error::{FoldError, StoreError};
use super::event::{self, Event, Exported, Purged, Replaced, Revised, Verified, Void};
use super::frame::{self, HEADER_BYTES, LAST, LOG_MAGIC, Record, SCRUBBED};
use super::log::{self, Line, Listed};
use super::mark::Mark;
use super::plan::Plan;
use super::segment;
use super::state::State;
use crate::unit::Sequence;

const CAPTURED: u8 = 1;
const VOID: u8 = 15;

/// What becomes of a record.
enum Edit {
    Keep,
    Replace(Box<Event>),
    Void,
}

/// A captured record, as far as it must be read to know which unit it made.
#[derive(serde::Deserialize)]
struct Numbered {
    ordinal: u64,
}

impl Plan {
    /// The bytes of a segment without what goes; none when it has nothing of it. `before` is the state with what goes.
    pub(super) fn segment(
        &self,
        before: &State,
        folder: &Path,
        listed: &Listed,
        bytes: &[u8],
    ) -> Result<Option<Vec<u8>>, StoreError> {
        let segment = segment::cut(&folder.join(listed.name()), bytes, listed.first)?;
        let mut writer = Writer { bytes: frame::header(LOG_MAGIC, listed.first), void: None, changed: false };
        for record in &segment.records {
            let refuse =
                |source| StoreError::Record { folder: folder.to_path_buf(), sequence: record.sequence, source };
            writer.put(record, self.edit(before, record).map_err(refuse)?).map_err(refuse)?;
        }
        writer.flush().map_err(|source| StoreError::Record {
            folder: folder.to_path_buf(),
            sequence: segment.last,
            source,
        })?;
        Ok(writer.changed.then_some(writer.bytes))
    }

    fn edit(&self, before: &State, record: &Record<'_>) -> Result<Edit, FoldError> {
        if record.kind == CAPTURED {
            let Numbered { ordinal } = event::parse("captured", record.payload)?;
            if !self.gone.contains(&ordinal) && !self.redacted.contains(&ordinal) {
                return Ok(Edit::Keep);
            }
        }
        let event = Event::read(record.kind, record.payload)?;
        let goes = |id: &crate::id::UnitId| self.gone_ids.contains(id);
        let keep_unless = |gone: bool| if gone { Edit::Void } else { Edit::Keep };
        Ok(match event {
            Event::Captured(captured) if self.gone.contains(&captured.ordinal) => Edit::Void,
            Event::Captured(mut captured) => {
                captured.message.text.clear();
                captured.category = None;
                captured.tags.clear();
                Edit::Replace(Box::new(Event::Captured(captured)))
            }
            Event::Verified(verified) if self.gone.contains(&verified.ordinal) => Edit::Void,
            Event::Verified(verified) if self.touches(&verified.content) => {
                let content = self.scrub(before, &verified.content);
                let identity = Mark::of_content(&before.key, &content);
                Edit::Replace(Box::new(Event::Verified(Verified { content, identity, ..verified })))
            }
            Event::Revised(revised) if goes(&revised.id) => Edit::Void,
            Event::Revised(revised) if self.touches(&revised.content) => {
                let content = self.scrub(before, &revised.content);
                let identity = Mark::of_content(&before.key, &content);
                Edit::Replace(Box::new(Event::Revised(Revised { content, identity, ..revised })))
            }
            // A proposal that rests on nothing may quote anything.
            Event::Rejected(rejected) => {
                let quotes = |evidence: &crate::unit::Evidence| self.silenced.contains(&evidence.sequence);
                keep_unless(rejected.evidence.is_empty() || rejected.evidence.iter().any(quotes))
            }
            Event::Merged(replaced) => self.replaced(replaced, Event::Merged),
            Event::Superseded(replaced) => self.replaced(replaced, Event::Superseded),
            Event::Contested(contested) => keep_unless(goes(&contested.left) || goes(&contested.right)),
            Event::Fired(happened)
            | Event::Completed(happened)
            | Event::Expired(happened)
            | Event::Redacted(happened) => keep_unless(goes(&happened.id)),
            // It is to be taken out of the pool, which this says until that is done.
            Event::Exported(exported) if exported.of.iter().any(|id| self.changes(before, id)) => {
                Edit::Replace(Box::new(Event::Exported(Exported { of: Vec::new(), ..exported })))
            }
            Event::Purged(purged) => self.purged(purged),
            Event::Verified(_)
            | Event::Revised(_)
            | Event::Exported(_)
            | Event::Indexed(_)
            | Event::Withdrawn(_)
            | Event::Derived(_)
            | Event::Void(_) => Edit::Keep,
        })
    }

    fn replaced(&self, replaced: Replaced, make: fn(Replaced) -> Event) -> Edit {
        if self.gone_ids.contains(&replaced.old) {
            Edit::Void
        } else if replaced.new.is_some_and(|new| self.gone_ids.contains(&new)) {
            // That the old one is no longer current stays so.
            Edit::Replace(Box::new(make(Replaced { new: None, ..replaced })))
        } else {
            Edit::Keep
        }
    }

    fn purged(&self, purged: Purged) -> Edit {
        let mut left = purged.clone();
        left.outcomes.retain(|outcome| !self.gone.contains(&outcome.ordinal));
        for outcome in &mut left.outcomes {
            outcome.supersedes.retain(|id| !self.gone_ids.contains(id));
            outcome.conflicts.retain(|id| !self.gone_ids.contains(id));
            outcome.superseded_by = outcome.superseded_by.filter(|id| !self.gone_ids.contains(id));
        }
        if left == purged { Edit::Keep } else { Edit::Replace(Box::new(Event::Purged(left))) }
    }
}

/// A run of records that say nothing any more.
struct Run {
    sequence: Sequence,
    batch: Sequence,
    at: i64,
    through: Sequence,
    last: bool,
}

/// Writes the records of a segment again.
pub(super) struct Writer {
    pub(super) bytes: Vec<u8>,
    void: Option<Run>,
    pub(super) changed: bool,
}

impl Writer {
    fn put(&mut self, record: &Record<'_>, edit: Edit) -> Result<(), FoldError> {
        match edit {
            Edit::Keep if record.kind == VOID => self.put_void(record),
            Edit::Keep => {
                self.flush()?;
                frame::write(&mut self.bytes, record);
                Ok(())
            }
            Edit::Replace(event) => {
                self.flush()?;
                self.changed = true;
                let Line { kind, payload } = Line::of(&event)?;
                let flags = record.flags | SCRUBBED;
                frame::write(&mut self.bytes, &Record { kind, flags, payload: &payload, ..*record });
                Ok(())
            }
            Edit::Void => {
                self.changed = true;
                self.put_void(record)
            }
        }
    }

    /// Joins a record to a run before it, if both are of one batch or both are whole batches.
    fn put_void(&mut self, record: &Record<'_>) -> Result<(), FoldError> {
        let through = segment::through(record).unwrap_or(record.sequence);
        let whole = |run: &Run| run.last && run.sequence == run.batch;
        let next = record.sequence == record.batch && record.is_last();
        match &mut self.void {
            Some(run) if run.batch == record.batch || (whole(run) && next) => {
                (run.through, run.last) = (through, record.is_last());
            }
            _ => {
                self.flush()?;
                let (sequence, batch, at) = (record.sequence, record.batch, record.at);
                self.void = Some(Run { sequence, batch, at, through, last: record.is_last() });
            }
        }
        Ok(())
    }

    fn flush(&mut self) -> Result<(), FoldError> {
        if let Some(Run { sequence, batch, at, through, last }) = self.void.take() {
            let Line { kind, payload } = Line::of(&Event::Void(Void { through }))?;
            let flags = if last { LAST | SCRUBBED } else { SCRUBBED };
            frame::write(&mut self.bytes, &Record { sequence, batch, at, kind, flags, payload: &payload });
        }
        Ok(())
    }
}

/// The bytes of a segment, or of its new version, with a batch after it.
pub(super) fn with_batch(
    old: &[u8],
    new: Option<Vec<u8>>,
    lines: &[Line],
    first: Sequence,
    at: i64,
    limit: usize,
) -> Result<Vec<u8>, FoldError> {
    let mut bytes = new.unwrap_or_else(|| old.to_vec());
    if bytes.is_empty() {
        bytes.resize(HEADER_BYTES, 0);
    }
    bytes.extend(log::encode(lines, first, at, limit)?);
    Ok(bytes)
}
