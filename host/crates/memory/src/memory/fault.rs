//! What can go wrong with a memory as a whole.

use loopwright_contract::memory::MemoryError;

use crate::id::{IdError, UnitId};
use crate::index::IndexError;
use crate::privacy::PrivacyError;
use crate::retrieve::RetrieveError;
use crate::store::StoreError;
use crate::vectors::VectorError;
use crate::verify::Rejection;

/// Why a memory did not do what it was asked.
#[derive(Debug, thiserror::Error)]
pub enum MemoryFault {
    /// The log or its state.
    #[error(transparent)]
    Store(#[from] StoreError),
    /// The index.
    #[error(transparent)]
    Index(#[from] IndexError),
    /// The vectors.
    #[error(transparent)]
    Vectors(#[from] VectorError),
    /// A search.
    #[error(transparent)]
    Retrieve(#[from] RetrieveError),
    /// A text cannot be de-identified.
    #[error(transparent)]
    Privacy(#[from] PrivacyError),
    /// An id is none.
    #[error(transparent)]
    Id(#[from] IdError),
    /// An embedder or a proposer.
    #[error("a model of the memory failed")]
    Model(#[from] MemoryError),
    /// There is no such unit.
    #[error("there is no unit `{id}` in this memory\nhint: `memory search` prints ids")]
    Unknown {
        /// Which.
        id: UnitId,
    },
    /// The text still holds what identifies somebody.
    #[error("the text still holds {tokens} names or numbers of this memory after de-identification: it is not shared")]
    Identifying {
        /// Different tokens. Which ones is not said, since this may be logged.
        tokens: usize,
    },
    /// The vectors are of units that the log does not have: records that were committed are gone.
    #[error("the log in `{}` has given {units} units a number, but there is a vector of unit {ordinal}: what was committed is gone\nhint: put the log back from a copy, or `{}` goes on with what can still be read", folder.display(), crate::store::REPAIR_COMMAND)]
    Lost {
        /// The folder of the log.
        folder: std::path::PathBuf,
        /// Numbers that were given, from 0.
        units: u64,
        /// The number of the unit that is not there.
        ordinal: u64,
    },
    /// A file of the memory cannot be read while it is checked.
    #[error("checking `{}`", path.display())]
    Check {
        /// Which.
        path: std::path::PathBuf,
        /// Why.
        source: std::io::Error,
    },
    /// A unit does not follow from what was said.
    #[error(
        "unit `{id}` does not follow from what it quotes\nhint: `memory forget {id}` takes it out; what was said stays"
    )]
    Unfounded {
        /// Which.
        id: UnitId,
        /// Why.
        source: Rejection,
    },
    /// What was derived kept changing under a writer.
    #[error("the claim kept changing while it was written, {tries} times\nhint: try again")]
    Busy {
        /// Tries.
        tries: u32,
    },
}
