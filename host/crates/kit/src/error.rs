//! Why the kit does not do what was asked.

use std::path::PathBuf;

/// What is wrong, where, and what to do.
#[derive(Debug, thiserror::Error)]
pub enum KitError {
    /// A file or folder cannot be read or written.
    #[error("cannot {attempt} `{}`", path.display())]
    Io {
        /// What was attempted.
        attempt: &'static str,
        /// On what.
        path: PathBuf,
        /// Why not.
        source: std::io::Error,
    },
    /// A name that a plugin may not have.
    #[error("`{name}` is no plugin's name: expected {expected}")]
    Name {
        /// What was given.
        name: String,
        /// What a name is.
        expected: &'static str,
    },
    /// A folder that would be written over.
    #[error("`{}` exists already\nhint: choose another name, or remove it", .0.display())]
    Exists(PathBuf),
    /// A plugin's folder lacks something, or holds something malformed.
    #[error("{}: {what}", path.display())]
    Plugin {
        /// The file.
        path: PathBuf,
        /// What was expected and what was found.
        what: String,
    },
    /// A program that is needed is not here.
    #[error("{what} is missing: looked for {looked}\nhint: {hint}")]
    Missing {
        /// What it is.
        what: &'static str,
        /// Where it was looked for.
        looked: String,
        /// How to get it.
        hint: String,
    },
    /// A program ended badly.
    #[error("{program} failed ({status})\n{output}")]
    Program {
        /// Its command line.
        program: String,
        /// How it ended.
        status: String,
        /// The end of what it said.
        output: String,
    },
    /// What was compiled is no component.
    #[error("not a component: {0}")]
    Component(String),
}

impl KitError {
    pub(crate) fn io(attempt: &'static str, path: impl Into<PathBuf>) -> impl FnOnce(std::io::Error) -> Self {
        let path = path.into();
        move |source| Self::Io { attempt, path, source }
    }

    pub(crate) fn plugin(path: impl Into<PathBuf>, what: impl Into<String>) -> Self {
        Self::Plugin { path: path.into(), what: what.into() }
    }
}
