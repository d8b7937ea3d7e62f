//! Wall time as a port. It is a backstop only: what it ends is void.

use std::time::Duration;

/// Measures wall time. The composition root passes the machine's; tests pass one that they drive.
pub trait Stopwatch: Send + Sync {
    /// Time since some fixed moment; never falls.
    fn elapsed(&self) -> Duration;
}
