//! Names, digests, signatures and distribution of plugin components, and what an operator grants them. It does not know what is in a
//! component beyond its face, or how it runs: a decision about capabilities is made here and enforced by whoever links.
//!
//! **Installed components.** A folder of components has an `index.json`. [`Index::open`] reads it strictly, and [`Index::load`] hands out a
//! component's bytes only when they are the ones that the index names: the digest is computed over the bytes that are returned, at every load.
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
//!
//! **Releases.** An author [`publish::push`]es `namespace:name@version` to a [`place::Place`] and signs a [`statement::Statement`] about it. An
//! operator [`fetch::fetch`]es it by a [`trust::Trust`] policy into a [`store::Store`], notes it in a [`lock::Lock`], and [`install::install`]s
//! it. Everything that a place says is hostile until it was compared with a digest, and every digest until somebody trusted signed it.
//!
//! ```no_run
//! use std::path::Path;
//! use loopwright_registry::{fetch, install, lock::Lock, moment::Moment, place, store::Store, trust::Trust};
//!
//! let place = place::open(&"127.0.0.1:5000".parse()?, place::HttpLimits::default(), place::Plain::Loopback)?;
//! let trust = Trust::read(Path::new("trust.toml"))?;
//! let mut lock = Lock::read(Path::new("loopwright.lock"))?;
//! let now = Moment::from_seconds(1_796_000_000).ok_or("no such time")?;
//! let judge = fetch::Judge { trust: &trust, now };
//! let fetched = fetch::fetch(place.as_ref(), &Store::open("store")?, &"acme:notes@1.0.0".parse()?, judge, &mut lock)?;
//! install::install(Path::new("target/plugins"), &fetched, false)?;
//! lock.set(fetched.locked);
//! lock.write(Path::new("loopwright.lock"))?;
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

pub mod attack;
pub mod compat;
pub mod component;
mod crash;
pub mod credentials;
mod entry;
pub mod envelope;
mod error;
pub mod fetch;
mod file;
pub mod grants;
mod index;
pub mod install;
pub mod key;
pub mod lock;
pub mod moment;
pub mod name;
pub mod oci;
pub mod place;
pub mod publish;
pub mod reference;
pub mod refusal;
pub mod statement;
pub mod store;
pub mod trust;

pub use entry::Entry;
pub use error::RegistryError;
pub use file::Hold;
pub use index::{Index, Package};

/// The index's file name, beside the components.
pub const INDEX_FILE: &str = "index.json";
/// Most bytes of an index.
pub const INDEX_BYTES_LIMIT: u64 = 4 * 1024 * 1024;
/// Most bytes of a component.
pub const COMPONENT_BYTES_LIMIT: u64 = 64 * 1024 * 1024;
/// Most components of an index.
pub const ENTRIES_LIMIT: usize = 4_096;
