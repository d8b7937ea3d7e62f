//! Checkpoints that are whole or not there. It knows no training loop and no meaning of a part.
//!
//! A checkpoint is a folder `step-…` of named parts and a manifest with their sizes and digests. It is written under another name, and
//! every file and the
//! folder is on the disk before it gets its own; the file `latest` then names it, for people and scripts. Reading goes by the folders: it
//! takes the newest
//! whole one and says what it passed over and why. Whatever moment a process is killed or a machine loses its power, the next one finds
//! the checkpoint
//! that was there before or the new one, and never some of both.

mod error;
mod files;
mod manifest;
mod read;
mod state;
#[cfg(test)]
mod tests;
mod write;

pub use error::{CheckpointError, Flaw, Skipped};
pub use files::{Disk, Entry, Files, Lock};
pub use manifest::{MANIFEST_BYTES_MAX, NAME_BYTES_MAX, PART_BYTES_MAX, PARTS_MAX};
pub use read::{Checkpoint, Found, read_newest};
pub use state::{Finite, OPTIMIZER_PART, WEIGHTS_PART};
pub use write::{Checkpoints, Written};
