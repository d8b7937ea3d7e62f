//! What can go wrong with the index.

use std::path::PathBuf;

use tantivy::TantivyError;
use tantivy::directory::error::{OpenDirectoryError, OpenReadError};

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
    #[error("the index `{}` cannot be {doing}", .path.display())]
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
        TantivyError::OpenReadError(error) => {
            matches!(error, OpenReadError::FileDoesNotExist(_) | OpenReadError::IncompatibleIndex(_))
        }
        _ => false,
    }
}

/// The error of an operation.
pub(crate) fn engine(path: &std::path::Path, doing: &'static str, error: TantivyError) -> IndexError {
    let path = path.to_owned();
    match error {
        TantivyError::LockFailure(..) => IndexError::Locked { path },
        TantivyError::IoError(source) => {
            IndexError::Io { path, doing, source: std::io::Error::new(source.kind(), source) }
        }
        TantivyError::OpenDirectoryError(OpenDirectoryError::IoError { io_error, .. }) => {
            IndexError::Io { path, doing, source: std::io::Error::new(io_error.kind(), io_error) }
        }
        source => IndexError::Engine { path, doing, source },
    }
}
