//! What can be wrong with checkpoints.

use std::fmt;
use std::io;
use std::path::{Path, PathBuf};

use super::manifest::{NAME_BYTES_MAX, PART_BYTES_MAX, PARTS_MAX};
use crate::nn::NnError;

/// A failure of reading or writing checkpoints.
#[derive(Debug, thiserror::Error)]
pub enum CheckpointError {
    /// The file system failed.
    #[error("cannot {what} `{}`", path.display())]
    Io {
        /// What was tried.
        what: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: io::Error,
    },
    /// Somebody else writes checkpoints here.
    #[error("another process writes checkpoints to `{}`\nhint: wait for it, or give this run a folder of its own", folder.display())]
    Busy {
        /// The folder.
        folder: PathBuf,
    },
    /// A whole checkpoint of the same step and of other bytes.
    #[error("step {step} has a whole checkpoint of other bytes in `{}`\nhint: give this run a folder of its own, or go on from the newest checkpoint", folder.display())]
    Taken {
        /// The step.
        step: u64,
        /// The folder.
        folder: PathBuf,
    },
    /// There are checkpoints, and none is whole.
    #[error("no checkpoint in `{}` is whole: {}", folder.display(), Listed(skipped))]
    NothingWhole {
        /// The folder.
        folder: PathBuf,
        /// What is wrong with each, newest first.
        skipped: Vec<Skipped>,
    },
    /// A state that must not be kept.
    #[error("the state is not finite and makes no checkpoint")]
    NotFinite(#[source] NnError),
    /// A name that parts cannot have, or that is given twice.
    #[error(
        "`{name}` cannot name a part: expected a new name of lower-case letters, digits, `-`, `_` and `.`, beginning with a letter, up to {NAME_BYTES_MAX} bytes"
    )]
    PartName {
        /// The name.
        name: String,
    },
    /// More parts than a checkpoint can have.
    #[error("more than {PARTS_MAX} parts")]
    TooManyParts,
    /// A part that is too large.
    #[error("part `{name}` is {bytes} bytes, at most {PART_BYTES_MAX} are kept")]
    PartTooLarge {
        /// Its name.
        name: String,
        /// Its bytes.
        bytes: u64,
    },
    /// A part that a checkpoint does not have.
    #[error("the checkpoint of step {step} has no part `{name}`")]
    NoPart {
        /// The checkpoint's step.
        step: u64,
        /// The name.
        name: String,
    },
}

impl CheckpointError {
    pub(super) fn io<'a>(what: &'static str, path: &'a Path) -> impl Fn(io::Error) -> Self + 'a {
        move |source| Self::Io { what, path: path.to_owned(), source }
    }
}

/// Something that reading passed over.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Skipped {
    /// The name of its folder.
    pub name: String,
    /// Why.
    pub why: Flaw,
}

impl fmt::Display for Skipped {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "`{}`: {}", self.name, self.why)
    }
}

struct Listed<'a>(&'a [Skipped]);

impl fmt::Display for Listed<'_> {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (place, skipped) in self.0.iter().enumerate() {
            write!(formatter, "{}{skipped}", if place > 0 { "; " } else { "" })?;
        }
        Ok(())
    }
}

/// Why something is no checkpoint.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum Flaw {
    /// Writing it did not come to its end.
    #[error("was not finished")]
    Unfinished,
    /// `latest` names it, and it is not there.
    #[error("is named by `latest` and is not there")]
    Gone,
    /// Its manifest is missing or cannot be read.
    #[error("its manifest cannot be read: {reason}")]
    Manifest {
        /// Why not.
        reason: String,
    },
    /// A part is missing or cannot be read.
    #[error("part `{part}` cannot be read: {reason}")]
    Unreadable {
        /// The part.
        part: String,
        /// Why not.
        reason: String,
    },
    /// A part has another size: it is torn.
    #[error("part `{part}` is torn: expected {expected} bytes, found {found}")]
    Torn {
        /// The part.
        part: String,
        /// Bytes by the manifest.
        expected: u64,
        /// Bytes of the file.
        found: u64,
    },
    /// A part has other bytes.
    #[error("part `{part}` is damaged: expected {expected}, found {found}")]
    Damaged {
        /// The part.
        part: String,
        /// The digest by the manifest.
        expected: String,
        /// The digest of the file.
        found: String,
    },
}
