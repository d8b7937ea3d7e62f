//! Why a component cannot be had, and what to do about it.

use std::path::PathBuf;

use loopwright_contract::digest::ContentDigest;

/// Why an index or a component cannot be read.
#[derive(Debug, thiserror::Error)]
pub enum RegistryError {
    /// There is no index.
    #[error("no index of plugins at `{}`\nhint: build them with `cargo xtask guests`", path.display())]
    Missing {
        /// Where it was looked for.
        path: PathBuf,
    },
    /// A file cannot be read.
    #[error("cannot read `{}`", path.display())]
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
}
