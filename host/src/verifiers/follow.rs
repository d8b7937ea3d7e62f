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
            for gone in reached.stack.iter().skip(common).rev() {
                // It may be gone already, where this host put it aside itself: what serves then is right as it is.
                if self.serving(name) == Some(*gone)
                    && let Err(error) = self.host.rollback_verifier(name)
                {
                    tracing::warn!(%name, %error, "a verifier cannot go back");
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

    fn serving(&self, name: &PluginName) -> Option<ContentDigest> {
        self.host.verifiers().into_iter().find(|status| status.name == *name).map(|status| status.digest)
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
            let reached = self.reached.get(&status.name).cloned().unwrap_or_default();
            for (digest, _) in status.quarantined.iter().filter(|(digest, _)| !reached.quarantined.contains(digest)) {
                self.journal.append(&Entry::Quarantine { verifier: verifier.clone(), digest: *digest })?;
            }
            let shadow = reached.shadow.map(|(digest, ..)| digest);
            for event in status.events.iter().skip(status.events.len().saturating_sub(new)) {
                let entry = match (event, shadow) {
                    (SwapEvent::Promoted(_), Some(digest)) => Entry::Promote { verifier: verifier.clone(), digest },
                    (SwapEvent::Rejected(_), Some(digest)) => Entry::Reject { verifier: verifier.clone(), digest },
                    _ => continue,
                };
                self.journal.append(&entry)?;
            }
        }
        self.catch_up()
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use loopwright_engine::{EngineConfig, Engines, GrantPolicy, NoWorlds, Trust};
    use loopwright_testkit::guests::hostile::{JUDGE, verifier};

    use super::*;

    /// A verifier whose score sets it apart, under its own digest.
    fn judge(score: &str) -> Candidate {
        let text = format!(
            "(func $judge (param $upto i32) (global.set $outcome (i32.const 1)) (global.set $score (f64.const {score})))"
        );
        let bytes = verifier(JUDGE, &text).expect("a verifier");
        Candidate { trust: Trust::FirstParty, ..Candidate::new(JUDGE.parse().expect("a name"), bytes) }
    }

    #[test]
    fn what_a_host_put_aside_itself_is_not_gone_back_from_twice() {
        let [first, second, third] = ["0.1", "0.2", "0.3"].map(judge);
        let config = EngineConfig::default();
        let engines = Arc::new(Engines::new(&config).expect("engines"));
        let installed = std::slice::from_ref(&first);
        let host = PluginHost::install(engines, config, &GrantPolicy::default(), Arc::new(NoWorlds), installed);
        let host = host.expect("a host");
        let folder = tempfile::tempdir().expect("a folder");
        let journal = Journal::beside(folder.path());
        let name: PluginName = JUDGE.parse().expect("a name");
        for next in [&second, &third] {
            host.swap_verifier(next, SwapMode::Immediate).expect("swapped");
            journal.append(&Entry::Serve { verifier: name.clone(), digest: next.digest }).expect("written");
        }
        let mut follower = Follower::new(journal.clone(), host.clone());
        follower.reached = journal.places().expect("a journal");
        // As the engine does after one fault too many.
        host.rollback_verifier(&name).expect("the second serves");
        journal.append(&Entry::Quarantine { verifier: name.clone(), digest: third.digest }).expect("written");
        follower.catch_up().expect("caught up");
        assert_eq!(follower.serving(&name), Some(second.digest));
        journal.append(&Entry::Rollback { verifier: name.clone() }).expect("written");
        follower.catch_up().expect("caught up");
        assert_eq!(follower.serving(&name), Some(first.digest));
    }
}
