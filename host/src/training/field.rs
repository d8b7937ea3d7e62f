//! The rollout port on the harness: groups of episodes with the real plugins, under one policy as it is.

use std::collections::BTreeMap;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use loopwright_contract::digest::TaskDigest;
use loopwright_contract::name::EpisodeId;
use loopwright_contract::planner::Planner;
use loopwright_contract::stopwatch::Stopwatch;
use loopwright_contract::task::Task;
use loopwright_contract::trajectory::Record;
use loopwright_harness::groups::{self, Members, run_groups};
use loopwright_harness::{Busy, Doing, EpisodeResult, Harness, Noise, Output, RunOptions, Watch};
use loopwright_learn::care::Measured;
use loopwright_learn::pointer::Renumbering;
use loopwright_learn::rl::{
    Order, PluginStamp, Policy, Recording, Rolled, RolledMember, RolloutFault, Rollouts, Source,
};

use crate::wire::MachineStopwatch;

/// Live episodes of a thread, at most: each holds an instance of its environment, and the engine's pool has 512 of them for four threads.
pub const LIVE_MAX: usize = 128;

/// A planner that keeps what it sampled.
pub trait Recorder<S>: Planner {
    /// What was sampled in each episode since this was last asked.
    fn take(&self) -> BTreeMap<EpisodeId, Recording<S>>;
}

/// How a planner takes its answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Acting {
    /// What is likeliest.
    Greedy,
    /// Samples, and keeps what it sampled.
    Sampled,
    /// The same for training, where words may be given other numbers: those of this numbering. A policy without numbered words samples.
    Renumbered(Renumbering),
}

impl Acting {
    /// Greedy, or sampled.
    #[must_use]
    pub fn greedy(greedy: bool) -> Self {
        if greedy { Self::Greedy } else { Self::Sampled }
    }
}

/// Makes planners out of a policy, and knows what they spend.
pub trait Actors<P: Policy>: Send + Sync {
    /// A planner for up to `rows` episodes at once; later steps do not change it.
    ///
    /// # Errors
    /// Weights that cannot act.
    fn planner(&self, policy: &P, rows: usize, acting: Acting) -> anyhow::Result<Box<dyn Recorder<P::Sample>>>;

    /// The cost *e* of an episode, 0 to 1, against the fixed budget of its family.
    fn cost(&self, task: &Task, result: &EpisodeResult) -> f64;
}

/// What episodes are run with.
#[derive(Clone)]
pub struct Ground<'a> {
    /// The harness, with everything installed; its host is pinned.
    pub harness: &'a Harness,
    /// What seeds the worlds' noise.
    pub noise: Noise,
    /// Set it to end what is being rolled out: those episodes are void.
    pub cancel: Arc<AtomicBool>,
    /// The machine's clock.
    pub stopwatch: Arc<dyn Stopwatch>,
    /// Where the thread says what it is at.
    pub watch: Arc<Watch>,
}

impl<'a> Ground<'a> {
    /// A ground with a clock of its own.
    #[must_use]
    pub fn new(harness: &'a Harness, noise: Noise, cancel: Arc<AtomicBool>) -> Self {
        let stopwatch: Arc<dyn Stopwatch> = MachineStopwatch::start();
        let watch = Arc::new(Watch::new(Arc::clone(&stopwatch)));
        Self { harness, noise, cancel, stopwatch, watch }
    }

    /// How groups are run: on this thread, in step as far as [`LIVE_MAX`] allows, by digest, kept nowhere.
    #[must_use]
    pub fn options(&self, seed: u64, episodes: usize) -> RunOptions {
        RunOptions {
            batch: episodes.clamp(1, LIVE_MAX),
            seed,
            noise: self.noise,
            record: Record::Digest,
            output: Output::Nowhere,
            cancel: Arc::clone(&self.cancel),
            watch: Some(Arc::clone(&self.watch)),
            ..RunOptions::new(Arc::clone(&self.stopwatch))
        }
    }
}

/// Rolls out groups over tasks.
pub struct Field<'a, P: Policy> {
    ground: Ground<'a>,
    tasks: Arc<[Task]>,
    digests: Vec<TaskDigest>,
    actors: &'a dyn Actors<P>,
    renumber: f64,
    /// While what was rolled out is learnt.
    updating: Option<Busy>,
}

impl<'a, P: Policy> Field<'a, P> {
    /// Over these tasks; in a share of the orders, 0 to 1, words have other numbers. An order is a step, or a refill of one.
    #[must_use]
    pub fn new(ground: Ground<'a>, tasks: Arc<[Task]>, actors: &'a dyn Actors<P>, renumber: f64) -> Self {
        let digests = tasks.iter().map(Task::digest).collect();
        Self { ground, tasks, digests, actors, renumber, updating: None }
    }

    /// Says that the step is over: after rollouts the thread is at the update, until then or until the next rollouts.
    pub fn rest(&mut self) {
        self.updating = None;
    }

    fn try_roll(&self, policy: &P, order: &Order) -> anyhow::Result<Vec<Rolled<P::Sample>>> {
        let members = Members::new(u32::try_from(order.members.get())?)?;
        let task = |place: usize| {
            self.tasks.get(place).cloned().ok_or_else(|| anyhow::anyhow!("task {place} of {}", self.tasks.len()))
        };
        let tasks: Vec<Task> = order.groups.iter().map(|ordered| task(ordered.task)).collect::<Result<_, _>>()?;
        let episodes = tasks.len() * order.members.get();
        let acting = Renumbering::sometimes(self.renumber, order.seed).map_or(Acting::Sampled, Acting::Renumbered);
        let planner = self.actors.planner(policy, episodes.min(LIVE_MAX), acting)?;
        let options = self.ground.options(order.seed, episodes);
        let planner_of: &dyn Planner = &*planner;
        let groups = run_groups(self.ground.harness, planner_of, &tasks, members, &options, &|_| {})?;
        let mut recordings = planner.take();
        let rolled = |((ordered, task), group): ((&loopwright_learn::rl::Ordered, &Task), groups::Group)| {
            let member = |member: groups::Member| RolledMember {
                measured: member.score.map(|score| Measured {
                    success: score.success,
                    progress: score.progress,
                    cost: self.actors.cost(task, &member.result),
                }),
                tokens: member.result.usage.tokens_out,
                recording: recordings.remove(&member.result.episode),
            };
            Rolled { id: ordered.id, members: group.members.into_iter().map(member).collect() }
        };
        Ok(order.groups.iter().zip(&tasks).zip(groups).map(rolled).collect())
    }
}

/// The plugins that take part, by the digests of those that serve: a run is pinned to them.
#[must_use]
pub fn stamps(harness: &Harness) -> Vec<PluginStamp> {
    let serving = harness.host().serving().into_iter();
    serving.map(|plugin| PluginStamp { name: plugin.name, digest: plugin.digest }).collect()
}

impl<P: Policy> Rollouts<P> for Field<'_, P> {
    fn source(&self) -> Source {
        Source { plugins: stamps(self.ground.harness), tasks: self.digests.clone() }
    }

    fn roll(&mut self, policy: &P, order: &Order) -> Result<Vec<Rolled<P::Sample>>, RolloutFault> {
        self.rest();
        let rolled = self.try_roll(policy, order).map_err(|error| RolloutFault { what: format!("{error:#}") });
        self.updating = Some(self.ground.watch.busy(Doing::Updating { step: order.step }));
        rolled
    }

    fn wanted(&self) -> bool {
        !self.ground.cancel.load(Ordering::SeqCst)
    }
}
