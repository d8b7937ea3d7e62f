//! Trajectories on disk and in memory.
//!
//! A file is JSON Lines: a header, one line a turn, the verdicts, a footer. Each line is the canonical JSON text (RFC 8785) of one
//! [`Line`](loopwright_contract::trajectory::Line) with two more keys: `prev`, the `digest` of the line before (for the first line: of
//! nothing), and `digest`, the SHA-256 of the line's canonical text without that key. So every changed, missing or reordered byte is found,
//! in the last line too. Lines are written whole; a run that is cut off leaves a readable prefix, and only a footer makes a file complete.
//!
//! Files larger than [`COMPRESS_ABOVE_BYTES`] end up as `NAME.jsonl.zst`. Worlds lie beside the files, once each, as
//! `worlds/HEX.json.zst`.

mod file;
mod journal;
mod line;
mod reader;
mod worlds;

#[cfg(test)]
mod tests;

pub use file::{COMPRESS_ABOVE_BYTES, TrajectoryFile, file_name};
pub(crate) use journal::Journal;
pub(crate) use line::kept;
pub use line::{Chain, canonical_line};
pub use reader::{FILE_BYTES_MAX, LINE_BYTES_MAX, ReadError, StoredTrajectory, read_bytes, read_file, read_folder};
pub use worlds::{WORLD_BYTES_MAX, WorldError, WorldStore};
