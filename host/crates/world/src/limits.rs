//! Every bound of this crate, in one place. What one world may hold in all is the contract's `WorldLimits`, given at its making.
//!
//! The numbers that a guest can meet are those of the contract's WIT text; a test in `tests/` exceeds each of them.

/// Most bytes of one document's canonical JSON text.
pub const DOCUMENT_BYTES_LIMIT: usize = 262_144;
/// Deepest nesting of arrays and objects in one document.
pub const DOCUMENT_DEPTH_LIMIT: usize = 32;
/// Most bytes of a document's key; a key has at least one.
pub const KEY_BYTES_LIMIT: usize = 256;
/// What one document is charged on top of its key and text: the size of its entry in the maps.
pub const DOCUMENT_OVERHEAD_BYTES: u64 = 128;
/// Most bytes of a JSON pointer.
pub const POINTER_BYTES_LIMIT: usize = 256;
/// Most bookkeeping fields of one collection.
pub const BOOKKEEPING_LIMIT: usize = 64;
/// Most indexes of one collection: each is one more map to keep on every write.
pub const INDEXES_LIMIT: usize = 8;
/// Most bytes of a value that an index keeps; longer values are indexed by their beginning and then compared in full.
pub(crate) const INDEX_VALUE_BYTES: usize = 64;
/// Characters of an unknown collection's name that an error repeats.
pub(crate) const UNKNOWN_NAME_CHARACTERS: usize = 80;
/// Most documents that one `get_many` asks for.
pub const GET_MANY_LIMIT: usize = 1_024;
/// Most clauses of a query.
pub const CLAUSES_LIMIT: usize = 16;
/// Most values of one `one_of` test.
pub const ONE_OF_LIMIT: usize = 256;
/// Most sort keys of a query.
pub const ORDERS_LIMIT: usize = 4;
/// Most fields that a query projects to.
pub const FIELDS_LIMIT: usize = 32;
/// Most documents of one page; a query with limit 0 means this many.
pub const PAGE_DOCUMENTS_LIMIT: u32 = 256;
/// Bytes of documents after which a page ends early, so that no single answer is unbounded.
pub const PAGE_BYTES_LIMIT: usize = 1_024 * 1_024;
/// Most bytes of a cursor, as given out and as taken back.
pub const CURSOR_BYTES_LIMIT: usize = 4_096;
/// Most savepoints open at the same time: nested calls are at most 4 deep, and an environment's step adds one.
pub const SAVEPOINTS_LIMIT: usize = 8;
/// Most bytes of an id's prefix.
pub const ID_PREFIX_BYTES_LIMIT: usize = 32;
/// Most prefixes in one episode.
pub const ID_PREFIXES_LIMIT: usize = 1_024;
/// Most bytes of the label of a random stream.
pub const STREAM_LABEL_BYTES_LIMIT: usize = 256;
/// Most differences that a comparison describes; further ones are only counted.
pub const DIFFERENCES_LIMIT: usize = 16;
/// Most bytes of one described value in a difference.
pub(crate) const DIFFERENCE_VALUE_BYTES: usize = 160;
/// Most branches that the search for a renaming of ids tries before it gives up undecided.
pub const RENAMING_BRANCHES_LIMIT: usize = 2_048;
/// Most documents that one comparison visits while it refines and searches, counted each time and on both sides; beyond, it is undecided.
pub const COMPARISON_VISITS_LIMIT: usize = 100_000;
/// Most bytes of a stored world or episode state.
pub const STORED_BYTES_LIMIT: usize = 256 * 1_024 * 1_024;
