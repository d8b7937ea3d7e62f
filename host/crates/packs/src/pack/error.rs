//! What can be wrong with a pack.

/// Why a pack was not read or written. A line counts from 1.
#[derive(Debug, thiserror::Error)]
pub enum PackError {
    /// A file could not be read or written.
    #[error("{attempt}")]
    Io {
        /// What was attempted, on what.
        attempt: String,
        /// Why it failed.
        source: std::io::Error,
    },
    /// Something other than a plain file stands where one is expected.
    #[error("`{file}` is a {found}, expected a plain file")]
    NotAFile {
        /// Which file.
        file: String,
        /// What it is.
        found: &'static str,
    },
    /// A file is over its limit.
    #[error("`{file}` is larger than {limit} bytes, the most that is read")]
    TooLarge {
        /// Which file.
        file: String,
        /// Bytes allowed.
        limit: u64,
    },
    /// More tasks than are read.
    #[error("`{file}` line {line}: more than {limit} tasks, the most that are read")]
    TooMany {
        /// Which file.
        file: String,
        /// The first line too many.
        line: usize,
        /// Tasks allowed.
        limit: usize,
    },
    /// A line or a file is not what it should be.
    #[error("`{file}` line {line}: {reason}")]
    Line {
        /// Which file.
        file: String,
        /// Which line.
        line: usize,
        /// What was expected and what was found.
        reason: String,
    },
    /// A file is not the one that the card lists.
    #[error("`{file}` has the sha256 {found}, the card says {expected}; the pack was changed after it was written")]
    Hash {
        /// Which file.
        file: String,
        /// The card's.
        expected: String,
        /// The file's.
        found: String,
    },
    /// The card contradicts the tasks.
    #[error("`card.json` {field} says {expected}, the tasks give {found}")]
    Card {
        /// Which field.
        field: &'static str,
        /// The card's value.
        expected: String,
        /// What the tasks give.
        found: String,
    },
    /// The card lists a file that a pack does not have.
    #[error("`card.json` lists the file `{found}`, expected `tasks.jsonl` and `worlds/<name>.json`")]
    FileName {
        /// What stood there, cut to 80 characters.
        found: String,
    },
    /// A world's name is not a name.
    #[error("`{found}` is not a name of a world, expected 1 to 64 characters out of a-z, 0-9 and `-`")]
    WorldName {
        /// What stood there, cut to 80 characters.
        found: String,
    },
    /// A world has the wrong form.
    #[error("world `{world}`: {reason}")]
    World {
        /// Which world.
        world: String,
        /// What was expected.
        reason: String,
    },
    /// A task contradicts the rest of the pack.
    #[error("task `{task}` (line {line}): {reason}")]
    Inconsistent {
        /// Which task.
        task: String,
        /// Its line.
        line: usize,
        /// What was expected and what was found.
        reason: String,
    },
    /// A generator made a name that is not one: a defect of ours.
    #[error("generator of `{family}`: {reason}")]
    Generator {
        /// Which family.
        family: String,
        /// What was wrong.
        reason: String,
    },
}
