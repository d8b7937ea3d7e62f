//! An episode's state: collections of JSON documents, a virtual clock, seeded randomness and ids. It knows no plugin, no grant, no task
//! and no machine: what a caller may touch is decided before it gets here, and nothing here reads a clock, a file or the environment.
//!
//! # A tour
//!
//! A [`World`] holds named collections; each is declared once, with the fields that are *bookkeeping* and the fields that are *indexed*.
//! Documents are kept as canonical JSON text (RFC 8785) in persistent maps, so that a fork is one pointer, a `get` hands out text that
//! exists already, and equal documents have equal text.
//!
//! ```
//! use loopwright_contract::{limits::WorldLimits, name::CollectionName, state::{Clause, Query, Test}, tool::CollectionSpec};
//! use loopwright_world::{Bookkeeping, Clock, EpisodeState, SamenessRule, World, diff, same_up_to};
//!
//! let mut world = World::new(WorldLimits::default());
//! world.declare(&CollectionSpec {
//!     name: CollectionName::new("notes")?,
//!     schema: None,
//!     bookkeeping: vec!["/modified".into()],
//!     indexes: vec!["/folder".into()],
//!     initial: Vec::new(),
//! })?;
//! world.put("notes", "welcome", r#"{"title": "hello", "folder": "inbox", "size": 25.0}"#)?;
//! assert_eq!(world.get("notes", "welcome")?.unwrap().text(), r#"{"folder":"inbox","size":25,"title":"hello"}"#);
//!
//! // What is there when an episode begins is its base: digests cover what differs from it.
//! world.seal()?;
//! let start = EpisodeState::new(world, Clock::new(1_772_413_200_000_000_000, "Asia/Shanghai")?, 7)?;
//!
//! // A call is a transaction: a failed one leaves no trace.
//! let mut episode = start.fork();
//! let savepoint = episode.begin()?;
//! episode.world.delete("notes", "welcome")?;
//! episode.rollback(savepoint)?;
//! assert_eq!(episode.digest(), start.digest());
//!
//! // New documents get ids from counters, so that another order of the same two calls swaps them.
//! let mut other = start.fork();
//! for (state, titles) in [(&mut episode, ["milk", "bread"]), (&mut other, ["bread", "milk"])] {
//!     for title in titles {
//!         let id = state.ids.next_id("note")?;
//!         state.world.put("notes", &id, &format!(r#"{{"folder":"inbox","title":"{title}"}}"#))?;
//!     }
//! }
//! assert_ne!(episode.digest(), other.digest());
//! assert!(same_up_to(episode.side(), other.side(), &SamenessRule::default()).is_same());
//!
//! // Queries, and what changed.
//! let inbox = Query { clauses: vec![Clause { at: "/folder".into(), test: Test::Eq("inbox".into()) }], ..Query::default() };
//! assert_eq!(episode.world.find("notes", &inbox)?.total, 3);
//! let changes = diff(&start.world, &episode.world, Bookkeeping::Ignore);
//! assert_eq!(changes.iter().map(|change| change.key.as_str()).collect::<Vec<_>>(), ["note-0001", "note-0002"]);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! # Questions and answers
//!
//! **Why text and not values?** A guest gets text and gives text. Canonical text is compared, hashed, sliced and queried in place
//! (a pointer is followed by skipping, without building a tree), so that a value is built only for a patch, a projection or a comparison.
//!
//! **Why a change log beside persistent maps?** A savepoint that clones the maps makes the first write of each call copy the path to its
//! document. The log costs one entry for each touched document and lets a call write in place where no snapshot looks on.
//!
//! **Why does a digest need a base?** Hashing every document at every step would cost more than the step. The digest of an episode's state
//! covers the digest of its base and the documents that differ, sorted: equal content over one base gives equal digests, whatever the path.
//!
//! **What may an id be renamed to?** An id that [`Ids`] issued since the base may stand for another of the same prefix, wherever it occurs as a
//! key, a whole string or a member's name. Ids of the base, and ids inside longer texts, are text.

mod canonical;
mod clock;
mod collection;
mod cursor;
mod diff;
mod digest;
mod document;
mod episode;
mod error;
mod find;
mod ids;
mod key;
pub mod limits;
mod merge;
mod pointer;
mod query;
mod random;
mod sameness;
mod slice;
mod spec;
mod store;
mod transaction;
mod world;

pub use clock::{Clock, ClockError, ClockState, INSTANT_NS_MAX, TURN_NS_DEFAULT};
pub use diff::{Bookkeeping, Change, diff, diff_while};
pub use document::Document;
pub use episode::{EpisodeSavepoint, EpisodeState};
pub use find::Found;
pub use ids::{Counter, Ids};
pub use key::Key;
pub use pointer::Pointer;
pub use random::{RandomState, SeededRandom};
pub use sameness::{Difference, Sameness, SamenessRule, Side, same_up_to, same_up_to_while};
pub use spec::CollectionRules;
pub use transaction::Savepoint;
pub use world::World;

/// Whether somebody still waits for the answer. Asked often, so that it must cost little; once it said no, it says no again.
pub type GoOn<'a> = &'a dyn Fn() -> bool;
