//! Ctrl-C: once, to end after the step in flight; twice, to end at once. What was written stays whole either way.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use crate::output;

/// What was asked for so far.
#[derive(Debug, Clone, Default)]
pub struct Interrupt {
    asked: Arc<AtomicU32>,
    /// Ends rollouts that are under way: their episodes are void.
    pub cancel: Arc<AtomicBool>,
}

impl Interrupt {
    /// Listens for Ctrl-C from now on.
    ///
    /// # Errors
    /// A system that gives no signals.
    pub fn listen() -> anyhow::Result<Self> {
        let interrupt = Self::default();
        let heard = interrupt.clone();
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build()?;
        std::thread::Builder::new().name("interrupt".to_owned()).spawn(move || {
            runtime.block_on(async {
                while tokio::signal::ctrl_c().await.is_ok() {
                    heard.ask();
                }
            });
        })?;
        Ok(interrupt)
    }

    /// As Ctrl-C does.
    pub fn ask(&self) {
        match self.asked.fetch_add(1, Ordering::SeqCst) {
            0 => output::note("ending after this step; Ctrl-C once more drops it"),
            _ => {
                self.cancel.store(true, Ordering::SeqCst);
                output::note("dropping this step; `train resume` goes on from the last checkpoint");
            }
        }
    }

    /// Whether to end after this step.
    #[must_use]
    pub fn wanted(&self) -> bool {
        self.asked.load(Ordering::SeqCst) > 0
    }

    /// Whether this step is dropped.
    #[must_use]
    pub fn cancelled(&self) -> bool {
        self.cancel.load(Ordering::SeqCst)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn once_ends_after_the_step_and_twice_drops_it() {
        let interrupt = Interrupt::default();
        assert!(!interrupt.wanted() && !interrupt.cancelled());
        interrupt.ask();
        assert!(interrupt.wanted() && !interrupt.cancelled());
        interrupt.ask();
        assert!(interrupt.wanted() && interrupt.cancelled());
    }
}
