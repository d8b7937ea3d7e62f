//! What can go wrong with a store, told so that the reader knows what to do.

use std::io;
use std::path::{Path, PathBuf};

use crate::id::UnitId;
use crate::message::MessageError;
use crate::unit::{ClaimKey, Sequence, Status};

/// The command that keeps what can still be read of a damaged log.
pub const REPAIR_COMMAND: &str = "loopwright memory rebuild --repair";

/// What to do about a disk that refuses, as the end of a message; empty when nothing is known.
pub(crate) fn disk_hint(error: &io::Error) -> &'static str {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => {
            "\nhint: the disk is full; nothing that was kept is lost, make room and try again"
        }
        io::ErrorKind::ReadOnlyFilesystem | io::ErrorKind::PermissionDenied => {
            "\nhint: this has to write, as what follows the log is not up to it or something is to be kept: use a folder that can be written"
        }
        _ => "",
    }
}

/// Why a store did not do what was asked.
#[derive(Debug, thiserror::Error)]
pub enum StoreError {
    /// The file system refused.
    #[error("cannot {action} `{}`{}", path.display(), disk_hint(source))]
    Io {
        /// What was attempted.
        action: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Another process writes this memory.
    #[error("`{}` is locked: another process uses this memory\nhint: wait for it, or end it", path.display())]
    Locked {
        /// The lock file.
        path: PathBuf,
    },
    /// A file holds what was never written to it.
    #[error("`{}` is damaged at byte {offset}: expected {expected}, found {found}\nhint: `{REPAIR_COMMAND}` keeps what can still be read", file.display())]
    Damaged {
        /// The file.
        file: PathBuf,
        /// From its beginning.
        offset: u64,
        /// What should stand there.
        expected: String,
        /// What stands there.
        found: String,
    },
    /// A record of the log, whole as it is, says what cannot be.
    #[error("record {sequence} of the log in `{}` is refused\nhint: `{REPAIR_COMMAND}` keeps what can still be read", folder.display())]
    Record {
        /// The folder of the log.
        folder: PathBuf,
        /// Which record.
        sequence: Sequence,
        /// Why.
        source: FoldError,
    },
    /// What follows the log is ahead of it: records that were committed are gone.
    #[error("the log in `{}` ends at record {last}, but {by} shows record {shown}: what was committed is gone\nhint: put the log back from a copy, or `{REPAIR_COMMAND}` goes on with what can still be read", folder.display())]
    Lost {
        /// The folder of the log.
        folder: PathBuf,
        /// Its last record; 0 for none.
        last: Sequence,
        /// The record that is known to have been there.
        shown: Sequence,
        /// From what.
        by: &'static str,
    },
    /// A file is of another version of the format.
    #[error("`{}` has version {found} of its format: expected {expected}\nhint: open it with the version of Loopwright that wrote it", file.display())]
    Version {
        /// The file.
        file: PathBuf,
        /// Its version.
        found: u32,
        /// The version that is read.
        expected: u32,
    },
    /// The memory was made with another key.
    #[error("the key is not the one that the memory in `{}` was made with\nhint: use the key file of this installation", folder.display())]
    Key {
        /// The root.
        folder: PathBuf,
    },
    /// What was asked for cannot be.
    #[error("refused, and nothing was changed")]
    Refused(#[from] FoldError),
    /// A message is not to be captured.
    #[error("message {index} is refused, and nothing was captured")]
    Message {
        /// Which, from 0.
        index: usize,
        /// Why.
        source: MessageError,
    },
    /// The transaction rests on what is no longer so.
    #[error("prepared at record {prepared}, but {what} changed at record {changed}\nhint: read again and decide again")]
    Stale {
        /// What the transaction saw.
        prepared: Sequence,
        /// What changed.
        what: String,
        /// When.
        changed: Sequence,
    },
    /// An idempotency key stands for another message.
    #[error("the idempotency key of message {index} was used for another message\nhint: one key, one message")]
    KeyReused {
        /// Which message, from 0.
        index: usize,
    },
    /// What was purged does not come back.
    #[error("what {of} says was purged at record {purged}, and this is no new utterance of it")]
    Tombstoned {
        /// Of what.
        of: String,
        /// When.
        purged: Sequence,
    },
    /// The memory of this user was purged while the handle was open.
    #[error("the memory of this user was purged\nhint: open it again to begin a new one")]
    Gone,
    /// An earlier write ended in doubt.
    #[error("an earlier write to `{}` ended in doubt\nhint: close the memory and open it again", folder.display())]
    Doubt {
        /// The log's folder.
        folder: PathBuf,
    },
    /// The purge is done and will not be undone, but old files are still there.
    #[error("purged, but the old file `{}` could not be removed\nhint: open the memory again, which removes it", path.display())]
    Leftover {
        /// Which file.
        path: PathBuf,
        /// Why it is still there.
        source: io::Error,
    },
    /// The marks of what a user had forgotten do not read.
    #[error(
        "`{}` has the marks of what this user had forgotten, and does not read\nhint: without that file a new memory begins, and an import may bring back what was forgotten",
        file.display()
    )]
    Forgotten {
        /// The file.
        file: PathBuf,
    },
    /// A line of an import is refused, and nothing of the file was kept.
    #[error("line {line} of the import is refused, and nothing was imported: {reason}")]
    Import {
        /// From 1.
        line: u64,
        /// What is wrong with it.
        reason: String,
    },
}

impl StoreError {
    pub(super) fn io(action: &'static str, path: &Path, source: io::Error) -> Self {
        Self::Io { action, path: path.to_path_buf(), source }
    }
}

/// Why an event cannot follow from what came before.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum FoldError {
    /// It names a unit that is not there.
    #[error("unit {id} is unknown")]
    Unknown {
        /// Which.
        id: UnitId,
    },
    /// It gives a number that is not free.
    #[error("unit number {found}: expected {expected} or more, and less than {limit}")]
    Ordinal {
        /// The first free number.
        expected: u64,
        /// The number given.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// Its kind is unknown.
    #[error("kind {found} is unknown")]
    Kind {
        /// The byte.
        found: u8,
    },
    /// Its payload does not read.
    #[error("the payload of `{kind}` does not read: {reason}")]
    Payload {
        /// Of what kind.
        kind: &'static str,
        /// What the parser says.
        reason: String,
    },
    /// Its place is not the next one.
    #[error("record {found}: expected {expected}")]
    Order {
        /// The next place.
        expected: Sequence,
        /// The place given.
        found: Sequence,
    },
    /// A limit is passed.
    #[error("{what}: {found}, expected at most {limit}")]
    Limit {
        /// What is too much.
        what: &'static str,
        /// How much.
        found: u64,
        /// The limit.
        limit: u64,
    },
    /// A message breaks its limits.
    #[error("the message: {0}")]
    Message(#[from] MessageError),
    /// A text is empty where one is needed.
    #[error("the {what} is empty")]
    Empty {
        /// What.
        what: &'static str,
    },
    /// It quotes what is not there.
    #[error("evidence at record {sequence}, bytes {start} to {end}: {reason}")]
    Evidence {
        /// The capture's place in the log.
        sequence: Sequence,
        /// The first byte of the quote.
        start: u32,
        /// The byte after its last.
        end: u32,
        /// What is wrong.
        reason: &'static str,
    },
    /// A unit is in a state that does not allow it.
    #[error("unit {id} is {status:?}: it cannot be {verb}")]
    Status {
        /// Which.
        id: UnitId,
        /// Its state.
        status: Status,
        /// What was to be done.
        verb: &'static str,
    },
    /// Two units have nothing to do with each other.
    #[error("units {left} and {right} do not have the same claim key")]
    Claim {
        /// One.
        left: UnitId,
        /// The other.
        right: UnitId,
    },
    /// A unit would stand for itself.
    #[error("unit {id} would take its own place")]
    Circle {
        /// Which.
        id: UnitId,
    },
    /// The number of a unit and its id do not belong together.
    #[error("unit {id} is not number {ordinal}")]
    Id {
        /// The id.
        id: UnitId,
        /// The number.
        ordinal: u64,
    },
    /// A transaction refers to an addition that it does not have.
    #[error("addition {index} is not in the transaction")]
    Addition {
        /// Which, from 0.
        index: usize,
    },
}

impl FoldError {
    /// Refuses what is above a limit.
    pub(super) fn limit(what: &'static str, found: usize, limit: usize) -> Result<(), Self> {
        if found <= limit { Ok(()) } else { Err(Self::Limit { what, found: found as u64, limit: limit as u64 }) }
    }
}

pub(super) fn name_of_claim(key: &ClaimKey) -> String {
    match &key.qualifier {
        Some(qualifier) => format!("the claim `{} {} {qualifier}`", key.subject, key.predicate),
        None => format!("the claim `{} {}`", key.subject, key.predicate),
    }
}
