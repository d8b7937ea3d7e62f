//! One segment of a log: its bytes cut into batches, and what is said when they cannot be. It knows no event.

use std::path::Path;

use super::error::StoreError;
use super::event::Void;
use super::frame::{self, Bad, HEADER_BYTES, LOG_MAGIC, Record, Resumed};
use super::limits::SALVAGE_READS_MAX;
use crate::unit::Sequence;

/// The kind of a record that stands for several.
const VOID: u8 = 15;

/// Where reading stopped, and why.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) struct Stop {
    /// In bytes from the beginning of the file.
    pub(super) offset: usize,
    pub(super) bad: Bad,
}

/// What a segment holds.
#[derive(Debug)]
pub(super) struct Segment<'a> {
    /// The records of whole batches.
    pub(super) records: Vec<Record<'a>>,
    /// Where the last whole batch ends, in bytes.
    pub(super) end: usize,
    /// Its last sequence.
    pub(super) last: Sequence,
    /// What stands after it; none: the end of the file.
    pub(super) stop: Option<Stop>,
}

/// The last sequence that a record covers; none when it says so wrongly.
pub(super) fn through(record: &Record<'_>) -> Option<Sequence> {
    if record.kind != VOID {
        return Some(record.sequence);
    }
    let void: Void = serde_json::from_slice(record.payload).ok()?;
    (void.through >= record.sequence && void.through < Sequence::MAX).then_some(void.through)
}

/// Cuts the bytes of a segment whose first record is to have the sequence `first`.
pub(super) fn cut<'a>(path: &Path, bytes: &'a [u8], first: Sequence) -> Result<Segment<'a>, StoreError> {
    let found = frame::read_header(bytes, LOG_MAGIC).map_err(|error| super::note::header_error(path, error))?;
    if found != first {
        return Err(StoreError::Damaged {
            file: path.to_path_buf(),
            offset: 16,
            expected: format!("first record {first}"),
            found: found.to_string(),
        });
    }
    Ok(batches(bytes, first))
}

fn batches(bytes: &[u8], first: Sequence) -> Segment<'_> {
    let last = first.saturating_sub(1);
    let mut segment = Segment { records: Vec::new(), end: HEADER_BYTES, last, stop: None };
    let (mut at, mut expected, mut batch, mut whole) = (HEADER_BYTES, first, first, 0);
    let bad = loop {
        let (record, next) = match frame::read(bytes, at) {
            Ok(Some(read)) => read,
            Ok(None) if segment.records.len() == whole => return segment,
            Ok(None) => break Bad::new("the rest of a batch", "the end of the file"),
            Err(bad) => break bad,
        };
        if record.sequence != expected || record.batch != batch {
            let expected = format!("record {expected} of batch {batch}");
            break Bad::new(expected, format!("record {} of batch {}", record.sequence, record.batch));
        }
        let Some(covered) = through(&record) else { break Bad::new("a range of records", "another payload") };
        let Some(following) = covered.checked_add(1) else { break Bad::new("a number that has a next one", "none") };
        segment.records.push(record);
        (at, expected) = (next, following);
        if record.is_last() {
            (segment.end, segment.last, batch) = (at, covered, expected);
            whole = segment.records.len();
        }
    };
    segment.records.truncate(whole);
    segment.stop = Some(Stop { offset: at, bad });
    segment
}

impl Segment<'_> {
    /// Whether what stands after the last whole batch is the batch that was being written when the process ended, and nothing else. If a
    /// record of a later batch is there, then that batch had been committed.
    pub(super) fn is_torn_tail(&self, bytes: &[u8]) -> bool {
        let mut budget = bytes.len().saturating_mul(SALVAGE_READS_MAX);
        let mut at = self.end;
        loop {
            match frame::resume(bytes, at, self.last, &mut budget) {
                Resumed::Nowhere => return true,
                Resumed::GivenUp => return false,
                Resumed::At(found) => match frame::read(bytes, found) {
                    Ok(Some((record, next))) if record.batch == self.last.saturating_add(1) => at = next,
                    _ => return false,
                },
            }
        }
    }
}
