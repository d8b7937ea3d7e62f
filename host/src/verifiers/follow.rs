//! Brings a running host up to the journal, and the journal up to what the host decided.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use loopwright_contract::digest::ContentDigest;
use loopwright_contract::name::PluginName;
use loopwright_engine::{Candidate, PluginHost, ShadowRule, SwapError, SwapEvent, SwapMode};

use super::journal::{Entry, Journal, Places};
use crate::output;

/// How often a host that works looks at the journal.
const LOOK: Duration = Duration::from_millis(200);

/// Follows one journal for one host.
pub struct Follower {
    journal: Journal,
    host: PluginHost,
    /// What was done of it so far.
    reached: Places,
    /// Events of each verifier that the journal knows.
    told: BTreeMap<PluginName, u64>,
}

impl Follower {
    /// Follows the journal from its beginning.
    #[must_use]
    pub fn new(journal: Journal, host: PluginHost) -> Self {
        Self { journal, host, reached: Places::new(), told: BTreeMap::new() }
    }

    /// Does what the journal says and was not done yet. A component that cannot be had or is refused is told, and what served before goes on.
    ///
    /// # Errors
    /// A journal that cannot be read.
    pub fn catch_up(&mut self) -> anyhow::Result<()> {
        let places = self.journal.places()?;
        for (name, place) in &places {
            let reached = self.reached.get(name).cloned().unwrap_or_default();
            let common = reached.stack.iter().zip(&place.stack).take_while(|(a, b)| a == b).count();
            for _ in common..reached.stack.len() {
                // It may be gone already, where this host put it aside itself.
                if let Err(error) = self.host.rollback_verifier(name) {
                    tracing::debug!(%name, %error, "nothing to go back to");
                }
            }
            for digest in place.stack.iter().skip(common) {
                self.swap(name, *digest, SwapMode::Immediate);
            }
            match place.shadow {
                Some(shadow) if reached.shadow != Some(shadow) => {
                    let (digest, verdicts, disagreements_max) = shadow;
                    self.swap(name, digest, SwapMode::Shadow(ShadowRule { verdicts, disagreements_max }));
                }
                None if reached.shadow.is_some() => drop(self.host.drop_shadow(name)),
                _ => {}
            }
        }
        self.reached = places;
        Ok(())
    }

    /// Follows the journal while `work` runs, and once more when it is done.
    ///
    /// # Errors
    /// A journal that cannot be read or written at the end; on the way it is told, and what serves goes on.
    pub fn beside<R>(mut self, work: impl FnOnce() -> R) -> anyhow::Result<R> {
        let over = AtomicBool::new(false);
        let done = thread::scope(|scope| {
            let following = scope.spawn(|| {
                while !over.load(Ordering::Acquire) {
                    if let Err(error) = self.report() {
                        tracing::warn!("verifiers are not swapped: {error:#}");
                    }
                    thread::park_timeout(LOOK);
                }
            });
            let done = work();
            over.store(true, Ordering::Release);
            following.thread().unpark();
            done
        });
        self.report()?;
        Ok(done)
    }

    fn swap(&self, name: &PluginName, digest: ContentDigest, mode: SwapMode) {
        let done = self.journal.load(digest).map_err(|error| format!("{error:#}")).and_then(|bytes| {
            match self.host.swap_verifier(&Candidate::new(name.clone(), bytes), mode) {
                Ok(_) | Err(SwapError::Same { .. }) => Ok(()),
                Err(error) => Err(loopwright_contract::fault::chain(&error)),
            }
        });
        if let Err(error) = done {
            output::note(format_args!("verifier `{name}`: {digest} does not serve: {error}"));
        }
    }

    /// Writes down what this host decided by itself since the last time: shadows that were promoted or dropped, and generations that failed
    /// too often.
    ///
    /// # Errors
    /// A journal that cannot be written.
    pub fn report(&mut self) -> anyhow::Result<()> {
        for status in self.host.verifiers() {
            let told = self.told.insert(status.name.clone(), status.event_count).unwrap_or(0);
            let new = usize::try_from(status.event_count - told).unwrap_or(usize::MAX);
            let verifier = status.name.clone();
            let shadow = self.reached.get(&status.name).and_then(|place| place.shadow).map(|(digest, ..)| digest);
            for event in status.events.iter().skip(status.events.len().saturating_sub(new)) {
                let entry = match (event, shadow, status.quarantined.last()) {
                    (SwapEvent::Promoted(_), Some(digest), _) => Entry::Promote { verifier: verifier.clone(), digest },
                    (SwapEvent::Rejected(_), Some(digest), _) => Entry::Reject { verifier: verifier.clone(), digest },
                    (SwapEvent::Quarantined(_), _, Some((digest, _))) => {
                        Entry::Quarantine { verifier: verifier.clone(), digest: *digest }
                    }
                    _ => continue,
                };
                self.journal.append(&entry)?;
            }
        }
        self.catch_up()
    }
}
