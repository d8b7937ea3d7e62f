//! How much a user's memory may hold. Every limit has its unit in its name.

use crate::message::{NAME_BYTES_MAX, TEXT_BYTES_MAX};

/// The longest payload of one record, in bytes. A message of [`TEXT_BYTES_MAX`] fits, however much of it JSON must escape.
pub const RECORD_BYTES_MAX: usize = 1024 * 1024;
/// The most that one commit may write, in bytes.
pub const BATCH_BYTES_MAX: usize = 1024 * 1024 * 1024;
/// A segment of the log that has reached this length, in bytes, is followed by a new one.
pub const SEGMENT_BYTES: u64 = 8 * 1024 * 1024;
/// The most units that one user's memory ever numbers, purged ones included.
pub const UNITS_MAX: u64 = 4_000_000;
/// The most pieces of evidence of one unit.
pub const EVIDENCE_MAX: usize = 64;
/// The most links of one kind that a unit has to other units.
pub const LINKS_MAX: usize = 1_024;
/// The most free labels of one unit.
pub const TAGS_MAX: usize = 32;
/// The longest label, category, part of a claim key, idempotency key or name of a task, in bytes.
pub const LABEL_BYTES_MAX: usize = NAME_BYTES_MAX;
/// The longest text of a unit, value of a claim or condition, in bytes.
pub const UNIT_TEXT_BYTES_MAX: usize = TEXT_BYTES_MAX;
/// The longest reason, in bytes.
pub const REASON_BYTES_MAX: usize = 1_024;
/// The most tombstones, or outcomes, in one record of a purge.
pub const PURGED_PER_RECORD_MAX: usize = 2_000;
/// The longest file that is imported, in bytes.
pub const IMPORT_BYTES_MAX: u64 = 1024 * 1024 * 1024;
/// How often a search for records after damage may read each byte, on average.
pub const SALVAGE_READS_MAX: usize = 64;
/// A snapshot is written when the log has grown by this many records, and by half of the units.
pub const SNAPSHOT_RECORDS_MIN: u64 = 10_000;

/// The sizes that a store can be opened with other values of; tests do, so as to cross them with little data.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Sizes {
    /// See [`SEGMENT_BYTES`].
    pub segment_bytes: u64,
    /// See [`BATCH_BYTES_MAX`].
    pub batch_bytes_max: usize,
    /// See [`UNITS_MAX`].
    pub units_max: u64,
    /// See [`SNAPSHOT_RECORDS_MIN`].
    pub snapshot_records_min: u64,
    /// See [`IMPORT_BYTES_MAX`].
    pub import_bytes_max: u64,
}

impl Default for Sizes {
    fn default() -> Self {
        Self {
            segment_bytes: SEGMENT_BYTES,
            batch_bytes_max: BATCH_BYTES_MAX,
            units_max: UNITS_MAX,
            snapshot_records_min: SNAPSHOT_RECORDS_MIN,
            import_bytes_max: IMPORT_BYTES_MAX,
        }
    }
}
