//! An episode's state: persistent collections, fork, diff, digest; virtual clock, seeded random, ids. It knows no plugin, no grant, no task
//! and no machine: what a caller may touch is decided before it gets here, and nothing here reads a clock or a file.

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
pub use diff::{Bookkeeping, Change, diff};
pub use document::Document;
pub use episode::{EpisodeSavepoint, EpisodeState};
pub use find::Found;
pub use ids::{Counter, Ids};
pub use key::Key;
pub use pointer::Pointer;
pub use random::{RandomState, SeededRandom};
pub use sameness::{Difference, Sameness, SamenessRule, Side, same_up_to};
pub use spec::CollectionRules;
pub use transaction::Savepoint;
pub use world::World;
