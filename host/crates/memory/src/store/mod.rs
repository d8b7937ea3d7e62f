//! The store: an append-only log for each user is the truth, and everything else follows from it.
//!
//! It knows no index, no vector, no model and no clock: it is told what time it is. No function takes a user as a filter: a [`Root`] opens the
//! memory of one user, in a folder of its own, and the [`Store`] that it returns reaches nothing else.
//!
//! - [`Store::capture`] keeps messages, once each; [`Store::commit`] keeps what was derived from them, if what that rested on is still so.
//! - [`Store::snapshot`] shows one immutable state; readers and the one writer do not wait for each other.
//! - [`Store::purge`] takes content out of log, snapshot and memory, with all that rests on it, and leaves keyed tombstones.
//! - [`Store::export`] and [`Store::import`] move a memory; [`Store::verify`] reads it again; [`Root::repair`] keeps what can still be read.
//!
//! Everything that is read from disk is hostile until it was followed.

mod batch;
mod check;
mod error;
mod event;
mod export;
mod files;
mod fold;
mod forgotten;
mod frame;
mod handle;
mod image;
mod import;
mod inspect;
mod limits;
mod log;
mod mark;
mod note;
mod plan;
mod purge;
mod repair;
mod retention;
mod root;
mod scrub;
mod segment;
mod snapshot;
mod state;
#[cfg(test)]
mod tests;
mod transaction;

pub(crate) use error::disk_hint;
pub use error::{FoldError, REPAIR_COMMAND, StoreError};
pub use event::{
    Captured, Content, Contested, Derived, Event, Exported, Happened, Indexed, Outcome, Purged, Rejected, Replaced,
    Revised, Tombstone, Verified, Void, Withdrawn,
};
pub use export::{EXPORT_FORMAT, EXPORT_VERSION, Written};
pub use files::{Appender, Disk, Entry, Files, Lock, remove_tree};
pub(crate) use handle::{INDEX, LOG, Lead, VECTORS};
pub use handle::{Opening, Store};
pub use import::Imported;
pub use inspect::{Past, Stats, Verification};
pub use limits::{
    BATCH_BYTES_MAX, EVIDENCE_MAX, IMPORT_BYTES_MAX, LABEL_BYTES_MAX, LINKS_MAX, PURGED_PER_RECORD_MAX,
    REASON_BYTES_MAX, RECORD_BYTES_MAX, SALVAGE_READS_MAX, SEGMENT_BYTES, SEQUENCE_MAX, SNAPSHOT_RECORDS_MIN, Sizes,
    TAGS_MAX, UNIT_TEXT_BYTES_MAX, UNITS_MAX,
};
pub use log::TornTail;
pub use mark::{Mark, MarkError};
pub use purge::{Affected, Purge, Selection, Sources};
pub use repair::{Dropped, Repair};
pub use retention::{Retention, Rule};
pub use root::{Root, UserPurge};
pub use snapshot::Snapshot;
pub(crate) use state::content_of;
pub use transaction::{Added, At, Capture, Committed, Kept, Of, Transaction};
