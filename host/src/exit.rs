//! Exit codes, as `--help` documents them.

use std::process::ExitCode;

/// How the command ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Exit {
    /// Done, and nothing to report against it.
    Good,
    /// Done, and something differs.
    Differs,
    /// Bad arguments or bad input.
    BadInput,
    /// Something is not installed.
    NotInstalled,
}

/// Something is missing on this machine; the text says what and which command brings it.
#[derive(Debug, thiserror::Error)]
#[error("{0}")]
pub struct NotInstalled(pub String);

impl Exit {
    /// The code.
    #[must_use]
    pub fn code(self) -> ExitCode {
        ExitCode::from(match self {
            Self::Good => 0,
            Self::Differs => 1,
            Self::BadInput => 2,
            Self::NotInstalled => 3,
        })
    }

    /// The code of an error.
    #[must_use]
    pub fn of(error: &anyhow::Error) -> Self {
        if error.chain().any(|cause| cause.is::<NotInstalled>()) { Self::NotInstalled } else { Self::BadInput }
    }
}
