//! What each thread of a run is at, for somebody who watches from outside. A run looks at wall budgets between two decisions, so what hangs
//! *within* one, a planner above all, can only be named from another thread.
//!
//! It ends nothing: tools, environments and verifiers have deadlines of their own, and a planner cannot be ended from outside. It says which
//! episode hangs, in which turn and in what, so that a person or a program knows what to end.

use std::fmt;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use loopwright_contract::action::{Action, Proposed};
use loopwright_contract::name::EpisodeId;
use loopwright_contract::stopwatch::Stopwatch;

/// Names of episodes that a line of text lists.
const NAMED_MAX: usize = 8;
/// Characters of a name of a call that a line of text shows: planners choose it.
const CALL_CHARS_MAX: usize = 64;

/// What a thread of a run is at.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Doing {
    /// It prepares, opens and resets an episode.
    Opening {
        /// The episode.
        episode: EpisodeId,
    },
    /// It waits for the planner.
    Deciding {
        /// The episodes that the planner was asked about, in that order.
        episodes: Vec<EpisodeId>,
    },
    /// It runs what the planner decided.
    Acting {
        /// The episode.
        episode: EpisodeId,
        /// The turn, from 0.
        turn: u32,
        /// The tools or other actions, by name.
        calls: Vec<String>,
    },
    /// It judges an episode and closes its record.
    Judging {
        /// The episode.
        episode: EpisodeId,
    },
    /// It learns from episodes that are over.
    Updating {
        /// The step of training.
        step: u64,
    },
}

impl fmt::Display for Doing {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Opening { episode } => write!(formatter, "opening episode `{episode}`"),
            Self::Updating { step } => write!(formatter, "the update of step {step}"),
            Self::Judging { episode } => write!(formatter, "judging episode `{episode}`"),
            Self::Acting { episode, turn, calls } => {
                write!(formatter, "turn {turn} of episode `{episode}`: {}", calls.join(", "))
            }
            Self::Deciding { episodes } => {
                let named: Vec<&str> = episodes.iter().take(NAMED_MAX).map(EpisodeId::as_str).collect();
                write!(formatter, "the planner, asked about `{}`", named.join("`, `"))?;
                match episodes.len().saturating_sub(NAMED_MAX) {
                    0 => Ok(()),
                    more => write!(formatter, " and {more} more"),
                }
            }
        }
    }
}

/// A thread that has been at one thing for long.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Stuck {
    /// At what.
    pub doing: Doing,
    /// For how long.
    pub elapsed: Duration,
}

impl fmt::Display for Stuck {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(formatter, "nothing for {} s from {}", self.elapsed.as_secs(), self.doing)
    }
}

/// What one thread is at, and since when.
type Slot = Arc<Mutex<Option<(Doing, Duration)>>>;

/// What each thread of one or more runs is at.
pub struct Watch {
    stopwatch: Arc<dyn Stopwatch>,
    slots: Mutex<Vec<Slot>>,
}

fn lock<T>(mutex: &Mutex<T>) -> MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Watch {
    /// A watch by this stopwatch. It goes into [`RunOptions::watch`](crate::RunOptions::watch).
    #[must_use]
    pub fn new(stopwatch: Arc<dyn Stopwatch>) -> Self {
        Self { stopwatch, slots: Mutex::default() }
    }

    /// The threads that have been at one thing for `limit` or longer; the longest first.
    #[must_use]
    pub fn stuck(&self, limit: Duration) -> Vec<Stuck> {
        let now = self.stopwatch.elapsed();
        let stuck = |slot: &Slot| {
            let slot = lock(slot);
            let (doing, since) = slot.as_ref()?;
            let elapsed = now.saturating_sub(*since);
            (elapsed >= limit).then(|| Stuck { doing: doing.clone(), elapsed })
        };
        let mut found: Vec<Stuck> = lock(&self.slots).iter().filter_map(stuck).collect();
        found.sort_by_key(|stuck| std::cmp::Reverse(stuck.elapsed));
        found
    }

    /// Says what this thread is at besides episodes, until what is returned is dropped.
    #[must_use]
    pub fn busy(self: &Arc<Self>, doing: Doing) -> Busy {
        let slot = Slot::default();
        *lock(&slot) = Some((doing, self.stopwatch.elapsed()));
        lock(&self.slots).push(Arc::clone(&slot));
        Busy { watch: Arc::clone(self), slot }
    }

    /// A place for one thread.
    pub(crate) fn place(&self) -> Place<'_> {
        let slot = Slot::default();
        lock(&self.slots).push(Arc::clone(&slot));
        Place { watch: self, slot }
    }
}

/// What a thread is at besides episodes; over when dropped.
pub struct Busy {
    watch: Arc<Watch>,
    slot: Slot,
}

impl Drop for Busy {
    fn drop(&mut self) {
        lock(&self.watch.slots).retain(|slot| !Arc::ptr_eq(slot, &self.slot));
    }
}

/// One thread's place; given up when dropped.
pub(crate) struct Place<'a> {
    watch: &'a Watch,
    slot: Slot,
}

impl Place<'_> {
    /// Says what the thread is at from now on.
    pub(crate) fn enter(&self, doing: Doing) {
        let now = self.watch.stopwatch.elapsed();
        *lock(&self.slot) = Some((doing, now));
    }
}

impl Drop for Place<'_> {
    fn drop(&mut self) {
        lock(&self.watch.slots).retain(|slot| !Arc::ptr_eq(slot, &self.slot));
    }
}

/// The name of what a planner proposed.
pub(crate) fn called(proposed: &Proposed) -> Option<String> {
    let name = match proposed {
        Proposed::Action { value: Action::Call(call) } => call.tool.as_str(),
        Proposed::Call { name, .. } => name,
        Proposed::Action { value } => other(value),
        Proposed::Unreadable { .. } => return None,
    };
    // Whoever prints it shows characters by number that do something to a terminal.
    Some(name.chars().take(CALL_CHARS_MAX).collect())
}

fn other(action: &Action) -> &'static str {
    match action {
        Action::Call(_) => "call",
        Action::Recall { .. } => "recall",
        Action::Remember { .. } => "remember",
        Action::Replace { .. } => "replace",
        Action::Forget { .. } => "forget",
        Action::LoadSkill { .. } => "load a skill",
        Action::Ask { .. } => "ask",
        Action::Refuse { .. } => "refuse",
        Action::Delegate { .. } => "delegate",
        Action::Finish { .. } => "finish",
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU64, Ordering};

    use loopwright_contract::planner::{Decision, Planner as _, PlannerFault};
    use loopwright_testkit::planner::FakePlanner;
    use loopwright_testkit::task::mixed_tasks;

    use super::*;
    use crate::planners::Scripted;
    use crate::run::{RunOptions, run_tasks};
    use crate::settings::Settings;
    use crate::testing::{harness, options};

    /// Shows what it was set to, in seconds.
    #[derive(Default)]
    struct Hand(AtomicU64);

    impl Stopwatch for Hand {
        fn elapsed(&self) -> Duration {
            Duration::from_secs(self.0.load(Ordering::Relaxed))
        }
    }

    fn watched() -> (Arc<Hand>, Arc<Watch>, RunOptions) {
        let hand = Arc::new(Hand::default());
        let watch = Arc::new(Watch::new(Arc::clone(&hand) as Arc<dyn Stopwatch>));
        (hand, Arc::clone(&watch), RunOptions { watch: Some(watch), batch: 2, ..options() })
    }

    #[test]
    fn a_planner_that_hangs_is_named_with_the_episodes_that_wait_for_it() {
        let (hand, watch, options) = watched();
        let seen = Arc::new(Mutex::new(Vec::new()));
        let (inner, told) = (Arc::clone(&watch), Arc::clone(&seen));
        // It looks at the watch from within, as another thread would while it hangs.
        let planner = FakePlanner::new("hangs", move |_, _| -> Result<Decision, PlannerFault> {
            hand.0.fetch_add(30, Ordering::Relaxed);
            lock(&told).extend(inner.stuck(Duration::from_secs(30)));
            Err(PlannerFault::Failed("gone".to_owned()))
        });
        run_tasks(&harness(Settings::default()), &planner, &mixed_tasks(2), &options, &|_| {});
        let seen = lock(&seen);
        let first = seen.first().expect("the planner hung");
        assert_eq!(first.to_string(), "nothing for 30 s from the planner, asked about `fake-0:s0`, `fake-1:s0`");
        assert!(watch.stuck(Duration::ZERO).is_empty(), "a thread that is done is at nothing");
    }

    #[test]
    fn what_comes_before_and_after_a_decision_is_named_too() {
        let (hand, watch, options) = watched();
        let tasks = mixed_tasks(1);
        let seen = Mutex::new(Vec::new());
        run_tasks(&harness(Settings::default()), &Scripted::new(&tasks), &tasks, &options, &|_| {
            hand.0.fetch_add(9, Ordering::Relaxed);
            lock(&seen).extend(watch.stuck(Duration::from_secs(5)).iter().map(ToString::to_string));
        });
        let seen = lock(&seen);
        assert_eq!(
            seen.as_slice(),
            [
                "nothing for 9 s from turn 0 of episode `fake-0:s0`: set_torch",
                "nothing for 9 s from turn 1 of episode `fake-0:s0`: finish",
                "nothing for 9 s from judging episode `fake-0:s0`",
            ]
        );
        assert_eq!(Scripted::new(&tasks).version().name, "scripted");
    }

    #[test]
    fn an_update_that_hangs_is_named_until_it_is_over() {
        let (hand, watch, _) = watched();
        let busy = watch.busy(Doing::Updating { step: 7 });
        hand.0.store(300, Ordering::Relaxed);
        let [stuck] = watch.stuck(Duration::from_secs(300)).try_into().expect("one thread");
        assert_eq!(stuck.to_string(), "nothing for 300 s from the update of step 7");
        drop(busy);
        assert!(watch.stuck(Duration::ZERO).is_empty());
    }

    #[test]
    fn what_is_within_the_limit_is_not_stuck_and_long_lists_are_cut() {
        let (hand, watch, _) = watched();
        let place = watch.place();
        let id = |number: u32| EpisodeId::new(format!("e{number}")).expect("an id");
        place.enter(Doing::Deciding { episodes: (0..20).map(id).collect() });
        hand.0.store(9, Ordering::Relaxed);
        assert!(watch.stuck(Duration::from_secs(10)).is_empty());
        let [stuck] = watch.stuck(Duration::from_secs(9)).try_into().expect("one thread");
        assert!(stuck.to_string().ends_with("`e7` and 12 more"), "{stuck}");
        drop(place);
        assert!(watch.stuck(Duration::ZERO).is_empty());
    }
}
