//! Names, versions and digests of installed plugin components. It does not know what is in a component, who signed it or how it runs.
//!
//! A folder of components has an `index.json`. [`Index::open`] reads it strictly, and [`Index::load`] hands out a component's bytes only when
//! they are the ones that the index names: the digest is computed over the bytes that are returned, at every load.
//!
//! ```no_run
//! use loopwright_registry::Index;
//!
//! let index = Index::open("target/plugins")?;
//! for entry in index.entries() {
//!     let package = index.load(entry)?;
//!     println!("{} {}: {} bytes", entry.name, entry.version, package.bytes.len());
//! }
//! # Ok::<(), loopwright_registry::RegistryError>(())
//! ```

mod entry;
mod error;
mod index;

pub use entry::Entry;
pub use error::RegistryError;
pub use index::{Index, Package};

/// The index's file name, beside the components.
pub const INDEX_FILE: &str = "index.json";
/// Most bytes of an index.
pub const INDEX_BYTES_LIMIT: u64 = 4 * 1024 * 1024;
/// Most bytes of a component.
pub const COMPONENT_BYTES_LIMIT: u64 = 64 * 1024 * 1024;
/// Most components of an index.
pub const ENTRIES_LIMIT: usize = 4_096;
