//! Why a component cannot be had, and what to do about it.

use std::path::PathBuf;

use loopwright_contract::digest::ContentDigest;

use crate::{place::PlaceError, refusal::Refusal};

/// Why an index, a component, a key, a policy or a lock file cannot be read, or a release cannot be moved.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// There is no index.
    #[error("no index of plugins at `{}`\nhint: build them with `cargo xtask guests`", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A file cannot be read or written.
    #[error("cannot read or write `{}`", path.display())]
    Io {
        /// Which file.
        path: PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A file is larger than allowed.
    #[error("`{}` has {found} bytes, at most {limit} are allowed", path.display())]
    TooLarge {
        /// Which file.
        path: PathBuf,
        /// Bytes allowed.
        limit: u64,
        /// Bytes found.
        found: u64,
    },
    /// The index is not what it should be.
    #[error("index `{}`: {reason}\nhint: build it anew with `cargo xtask guests`", path.display())]
    Malformed {
        /// Which index.
        path: PathBuf,
        /// Which entry, what was expected and what was found.
        reason: String,
    },
    /// A key, a trust policy or a lock file is not what it should be.
    #[error("{what} `{}`: {reason}", path.display())]
    BadFile {
        /// What kind of file.
        what: &'static str,
        /// Which file.
        path: PathBuf,
        /// What was expected and what was found.
        reason: String,
    },
    /// A component's bytes are not the ones that the index names.
    #[error(
        "component `{name}`: expected {expected} with {expected_bytes} bytes, found {found} with {found_bytes} bytes\nhint: build it anew with `cargo xtask guests`"
    )]
    Changed {
        /// The plugin.
        name: String,
        /// The digest in the index.
        expected: ContentDigest,
        /// The size in the index.
        expected_bytes: u64,
        /// The digest of the bytes.
        found: ContentDigest,
        /// How many bytes there are.
        found_bytes: u64,
    },
    /// There is no such plugin.
    #[error(
        "plugin `{name}` is not installed; installed are: {installed}\nhint: build all plugins with `cargo xtask guests`"
    )]
    Unknown {
        /// What was asked for.
        name: String,
        /// What there is.
        installed: String,
    },
    /// Where releases are kept did not answer as it should.
    #[error(transparent)]
    Place(#[from] PlaceError),
    /// Everything answered, and what it said is not accepted.
    #[error(transparent)]
    Refused(#[from] Refusal),
}

impl RegistryError {
    /// For a file that cannot be read or written.
    pub(crate) fn io(path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        |source| Self::Io { path, source }
    }
}
