//! What can go wrong with the index.

use std::io::ErrorKind;
use std::path::PathBuf;
use std::sync::Arc;

use tantivy::TantivyError;
use tantivy::directory::error::{LockError, OpenDirectoryError, OpenReadError, OpenWriteError};

use crate::store::disk_hint;

/// Why the index did not do what it was asked to.
#[derive(Debug, thiserror::Error)]
pub enum IndexError {
    /// Another writer has it.
    #[error("the index `{}` is being written by another process\nhint: close it and try again", .path.display())]
    Locked {
        /// Where.
        path: PathBuf,
    },
    /// The file system refused.
    #[error("the index `{}` cannot be {doing}{}", .path.display(), disk_hint(.source))]
    Io {
        /// Where.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// What the system said.
        #[source]
        source: std::io::Error,
    },
    /// The engine refused.
    #[error("the index `{}` cannot be {doing}\nhint: `memory rebuild` makes it anew from the log", .path.display())]
    Engine {
        /// Where.
        path: PathBuf,
        /// What was tried.
        doing: &'static str,
        /// What it said.
        #[source]
        source: TantivyError,
    },
}

/// Whether the index is there and cannot be used, so that making it anew helps. A lock or a failing disk is no such reason.
pub(crate) fn is_unreadable(error: &TantivyError) -> bool {
    match error {
        TantivyError::DataCorruption(_) | TantivyError::IncompatibleIndex(_) | TantivyError::SchemaError(_) => true,
        TantivyError::OpenReadError(OpenReadError::FileDoesNotExist(_) | OpenReadError::IncompatibleIndex(_)) => true,
        // What cannot be decoded, in place of what the disk refused.
        error => io_of(error).is_some_and(|io| matches!(io.kind(), ErrorKind::InvalidData | ErrorKind::UnexpectedEof)),
    }
}

/// What the file system said.
fn io_of(error: &TantivyError) -> Option<Arc<std::io::Error>> {
    match error {
        TantivyError::IoError(io_error)
        | TantivyError::LockFailure(LockError::IoError(io_error), _)
        | TantivyError::OpenDirectoryError(OpenDirectoryError::IoError { io_error, .. })
        | TantivyError::OpenReadError(OpenReadError::IoError { io_error, .. })
        | TantivyError::OpenWriteError(OpenWriteError::IoError { io_error, .. }) => Some(Arc::clone(io_error)),
        _ => None,
    }
}

/// The error of an operation.
pub(crate) fn engine(path: &std::path::Path, doing: &'static str, error: TantivyError) -> IndexError {
    let path = path.to_owned();
    if let Some(source) = io_of(&error).filter(|_| !is_unreadable(&error)) {
        return IndexError::Io { path, doing, source: std::io::Error::new(source.kind(), source) };
    }
    match error {
        TantivyError::LockFailure(..) => IndexError::Locked { path },
        source => IndexError::Engine { path, doing, source },
    }
}
