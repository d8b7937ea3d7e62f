//! Runs many tasks: every thread keeps a batch of live episodes in step and asks the planner once a round for all of them.
//!
//! An episode depends on nothing but its task, its seed and the planner's answers to it, so results are the same for every number of
//! threads and every size of batch; only `wall` differs.

use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use loopwright_contract::digest::StateDigest;
use loopwright_contract::episode::PreparedTask;
use loopwright_contract::fault::{CallFault, chain};
use loopwright_contract::memory::Forget;
use loopwright_contract::name::EpisodeId;
use loopwright_contract::planner::{Decision, DecisionRequest, Planner, PlannerFault, PolicyVersion};
use loopwright_contract::stopwatch::Stopwatch;
use loopwright_contract::task::Task;
use loopwright_contract::trajectory::Record;

use crate::episode::{LiveEpisode, Plan};
use crate::harness::Harness;
use crate::memory::EpisodeMemory;
use crate::result::EpisodeResult;
use crate::trajectory::{Journal, TrajectoryFile, WorldStore, file_name};
use crate::watch::{Doing, Place, Watch, called};

mod items;

#[cfg(test)]
mod tests;

pub use items::Noise;
use items::singles;
pub(crate) use items::{Item, grouped};

/// Threads of one run.
pub const JOBS_MAX: usize = 256;

/// Where trajectories go.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Output {
    /// They are not kept.
    #[default]
    Nowhere,
    /// Into [`EpisodeResult::lines`]. Worlds are not kept.
    Memory,
    /// Into files of this folder, which is made when it is absent, with `worlds/` in it.
    Folder(PathBuf),
}

/// How to run.
#[derive(Clone)]
pub struct RunOptions {
    /// Threads, 1 to [`JOBS_MAX`]. Changes no result.
    pub jobs: usize,
    /// Live episodes a thread, at least 1. Changes no result.
    pub batch: usize,
    /// The run's seed: of what planners sample, and of the worlds' noise where [`noise`](Self::noise) says so.
    pub seed: u64,
    /// What seeds the worlds' noise.
    pub noise: Noise,
    /// How much trajectories keep.
    pub record: Record,
    /// Where they go.
    pub output: Output,
    /// Measures the wall budget.
    pub stopwatch: Arc<dyn Stopwatch>,
    /// Makes a user's "forget" of something that the snapshot brought act at once, for a live user's session. An episode of a task that stands
    /// in the run more than once, as the members of a group do, does not get it.
    pub forget: Option<Arc<dyn Forget>>,
    /// Set it to end the run early: what is not done then is void.
    pub cancel: Arc<AtomicBool>,
    /// Where each thread says what it is at, so that somebody else can name what hangs.
    pub watch: Option<Arc<Watch>>,
}

impl RunOptions {
    /// One thread, 16 episodes in step, seed 0, full records, kept nowhere.
    #[must_use]
    pub fn new(stopwatch: Arc<dyn Stopwatch>) -> Self {
        Self {
            jobs: 1,
            batch: 16,
            seed: 0,
            noise: Noise::Task,
            record: Record::Full,
            output: Output::Nowhere,
            stopwatch,
            forget: None,
            cancel: Arc::new(AtomicBool::new(false)),
            watch: None,
        }
    }
}

/// What a run tells while it runs; from any of its threads.
#[derive(Debug, Clone, Copy)]
pub enum Progress<'a> {
    /// A planner decided for one episode and the turn was run.
    Turn {
        /// The episode.
        episode: &'a EpisodeId,
        /// Decisions of it so far.
        turns: u32,
    },
    /// An episode is over.
    Done {
        /// Episodes that are over, this one included.
        done: usize,
        /// All of them.
        total: usize,
        /// Its result.
        result: &'a EpisodeResult,
    },
}

/// Runs each task once, and returns the results in the order of the tasks: one for each, void ones included. A task that stands in
/// `tasks` several times is run with another seed each time.
pub fn run_tasks(
    harness: &Harness,
    planner: &dyn Planner,
    tasks: &[Task],
    options: &RunOptions,
    progress: &(dyn Fn(Progress<'_>) + Sync),
) -> Vec<EpisodeResult> {
    run_items(harness, planner, singles(tasks, options.seed, options.noise), options, progress)
}

/// Runs each item, and returns the results in the order of the items.
pub(crate) fn run_items(
    harness: &Harness,
    planner: &dyn Planner,
    items: Vec<Item<'_>>,
    options: &RunOptions,
    progress: &(dyn Fn(Progress<'_>) + Sync),
) -> Vec<EpisodeResult> {
    let run = Run::new(harness, planner, items, options, progress);
    std::thread::scope(|scope| {
        for _ in 1..options.jobs.clamp(1, JOBS_MAX) {
            scope.spawn(|| run.work());
        }
        run.work();
    });
    run.into_results()
}

struct Run<'a> {
    harness: &'a Harness,
    planner: &'a dyn Planner,
    policy: PolicyVersion,
    options: &'a RunOptions,
    progress: &'a (dyn Fn(Progress<'_>) + Sync),
    items: Vec<Item<'a>>,
    next: AtomicUsize,
    done: AtomicUsize,
    /// A thread ended by a panic, so that the others need not go on.
    broken: AtomicBool,
    results: Mutex<Vec<Option<EpisodeResult>>>,
}

impl<'a> Run<'a> {
    fn new(
        harness: &'a Harness,
        planner: &'a dyn Planner,
        items: Vec<Item<'a>>,
        options: &'a RunOptions,
        progress: &'a (dyn Fn(Progress<'_>) + Sync),
    ) -> Self {
        let results = Mutex::new(items.iter().map(|_| None).collect());
        let (next, done, broken) = (AtomicUsize::new(0), AtomicUsize::new(0), AtomicBool::new(false));
        let policy = planner.version();
        Self { harness, planner, policy, options, progress, items, next, done, broken, results }
    }

    fn cancelled(&self) -> bool {
        self.options.cancel.load(Ordering::Relaxed) || self.broken.load(Ordering::Relaxed)
    }

    /// One thread's part: takes tasks while there are any.
    fn work(&self) {
        let _alarm = Alarm(&self.broken);
        let place = self.options.watch.as_deref().map(Watch::place);
        let place = place.as_ref();
        let mut live: Vec<(usize, LiveEpisode<'a>)> = Vec::new();
        loop {
            self.fill(&mut live, place);
            if live.is_empty() {
                return;
            }
            self.retire(&mut live, place);
            self.round(&mut live, place);
        }
    }

    fn fill(&self, live: &mut Vec<(usize, LiveEpisode<'a>)>, place: Option<&Place<'_>>) {
        while live.len() < self.options.batch.max(1) && !self.cancelled() {
            let index = self.next.fetch_add(1, Ordering::Relaxed);
            let Some(item) = self.items.get(index) else { return };
            at(place, || Doing::Opening { episode: item.id.clone() });
            match self.open(item) {
                Ok(episode) => live.push((index, episode)),
                Err(result) => self.finish(index, *result),
            }
        }
    }

    /// Concludes the episodes that are over.
    fn retire(&self, live: &mut Vec<(usize, LiveEpisode<'a>)>, place: Option<&Place<'_>>) {
        let now = self.options.stopwatch.elapsed();
        let cancelled = self.cancelled();
        for (index, mut episode) in std::mem::take(live) {
            if cancelled {
                episode.cancel("the run was cancelled");
            }
            if episode.due(now).is_some() {
                live.push((index, episode));
            } else {
                at(place, || Doing::Judging { episode: episode.context().episode.clone() });
                self.finish(index, episode.conclude(now));
            }
        }
    }

    /// One decision for each live episode, in one batch.
    fn round(&self, live: &mut [(usize, LiveEpisode<'a>)], place: Option<&Place<'_>>) {
        if live.is_empty() {
            return;
        }
        let requests: Vec<DecisionRequest<'_>> = live
            .iter()
            .map(|(_, episode)| DecisionRequest { context: episode.context(), seed: episode.decision_seed() })
            .collect();
        at(place, || Doing::Deciding { episodes: ids(&requests) });
        let mut decisions = self.planner.decide_batch(&requests);
        let (asked, answered) = (requests.len(), decisions.len());
        drop(requests);
        let now = self.options.stopwatch.elapsed();
        let short = || Err(PlannerFault::Failed(format!("it answered {answered} of {asked} requests")));
        // An answer that cannot be told apart from another's is no answer.
        decisions.resize_with(asked, short);
        if answered != asked {
            decisions.fill_with(short);
        }
        for ((_, episode), decision) in live.iter_mut().zip(decisions) {
            at(place, || acting(episode, &decision));
            episode.advance(decision, now);
            (self.progress)(Progress::Turn { episode: &episode.context().episode, turns: episode.context().turn });
        }
    }

    fn open(&self, item: &Item<'a>) -> Result<LiveEpisode<'a>, Box<EpisodeResult>> {
        let started = self.options.stopwatch.elapsed();
        let void = |reason: String| Box::new(EpisodeResult::void(item.task.id.clone(), item.id.clone(), reason));
        let prepared = self.prepared(item).map_err(|fault| void(chain(&fault)))?;
        let (journal, worlds) = self.journal(item, prepared.as_ref()).map_err(void)?;
        let plan = Plan {
            id: item.id.clone(),
            task: item.task,
            task_digest: item.digest,
            policy: self.policy.clone(),
            seed: item.seed,
            world_seed: item.world_seed,
            record: self.options.record,
            memory: EpisodeMemory::new(self.harness.ranker()),
            memory_use: self.harness.memory_use(),
            forget: self.options.forget.clone().filter(|_| item.alone),
            journal,
            started,
            worlds,
            recorded: None,
        };
        LiveEpisode::open(self.harness, prepared.as_ref(), plan)
            .map_err(|unopened| Box::new(unopened.conclude(self.harness)))
    }

    /// The item's task, made ready by whoever of its group comes first.
    fn prepared(&self, item: &Item<'a>) -> Result<Arc<dyn PreparedTask>, CallFault> {
        if let Some(prepared) = item.ready.get() {
            return Ok(Arc::clone(prepared));
        }
        let prepared = self.harness.prepare(item.task)?;
        Ok(Arc::clone(item.ready.get_or_init(|| prepared)))
    }

    fn journal(&self, item: &Item<'a>, prepared: &dyn PreparedTask) -> Result<(Journal, Option<Worlds>), String> {
        if self.options.output == Output::Nowhere {
            return Ok((Journal::nowhere(), None));
        }
        let worlds = (prepared.initial_digest(), prepared.target_digest());
        let Output::Folder(folder) = &self.options.output else {
            return Ok((Journal::in_memory(), Some(worlds)));
        };
        let store = WorldStore::beside(folder);
        store.put(worlds.0, || Some(prepared.initial())).map_err(|error| chain(&error))?;
        if let Some(target) = worlds.1 {
            store.put(target, || prepared.target()).map_err(|error| chain(&error))?;
        }
        let path = folder.join(file_name(&item.id));
        let file = fs::create_dir_all(folder).and_then(|()| TrajectoryFile::create(&path));
        let file = file.map_err(|error| format!("cannot write `{}`: {error}", path.display()))?;
        Ok((Journal::to_file(file), Some(worlds)))
    }

    fn finish(&self, index: usize, result: EpisodeResult) {
        let done = self.done.fetch_add(1, Ordering::Relaxed) + 1;
        (self.progress)(Progress::Done { done, total: self.items.len(), result: &result });
        let mut results = self.results.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(place) = results.get_mut(index) {
            *place = Some(result);
        }
    }

    fn into_results(self) -> Vec<EpisodeResult> {
        let results = self.results.into_inner().unwrap_or_else(PoisonError::into_inner);
        let unbegun = |item: &Item<'_>| {
            EpisodeResult::void(
                item.task.id.clone(),
                item.id.clone(),
                "the run was cancelled before it began".to_owned(),
            )
        };
        results.into_iter().zip(&self.items).map(|(result, item)| result.unwrap_or_else(|| unbegun(item))).collect()
    }
}

/// Tells the other threads of a run when this one ends by a panic, such as a planner's.
struct Alarm<'a>(&'a AtomicBool);

impl Drop for Alarm<'_> {
    fn drop(&mut self) {
        if std::thread::panicking() {
            self.0.store(true, Ordering::Relaxed);
        }
    }
}

/// Says what the thread is at, where somebody watches.
fn at(place: Option<&Place<'_>>, doing: impl FnOnce() -> Doing) {
    if let Some(place) = place {
        place.enter(doing());
    }
}

fn ids(requests: &[DecisionRequest<'_>]) -> Vec<EpisodeId> {
    requests.iter().map(|request| request.context.episode.clone()).collect()
}

fn acting(episode: &LiveEpisode<'_>, decision: &Result<Decision, PlannerFault>) -> Doing {
    let context = episode.context();
    let names = decision.iter().flat_map(|decision| &decision.proposed).filter_map(called).collect();
    Doing::Acting { episode: context.episode.clone(), turn: context.turn, calls: names }
}

type Worlds = (StateDigest, Option<StateDigest>);

/// The lines of an episode that was run to the middle, forked there, and finished twice: both must be equal, line by line. For tests of
/// hosts.
///
/// # Errors
/// What went wrong, as text.
pub fn run_forked(
    harness: &Harness,
    planner: &dyn Planner,
    task: &Task,
    seed: u64,
    fork_at: u32,
) -> Result<(Vec<String>, Vec<String>), String> {
    let prepared = harness.prepare(task).map_err(|fault| chain(&fault))?;
    let worlds = Some((prepared.initial_digest(), prepared.target_digest()));
    let plan = Plan {
        id: EpisodeId::new(format!("{}:s{seed}", task.id)).map_err(|error| error.to_string())?,
        task,
        task_digest: task.digest(),
        policy: planner.version(),
        seed,
        world_seed: None,
        record: Record::Full,
        memory: EpisodeMemory::new(harness.ranker()),
        memory_use: harness.memory_use(),
        forget: None,
        journal: Journal::in_memory(),
        started: Duration::ZERO,
        worlds,
        recorded: None,
    };
    let mut first = LiveEpisode::open(harness, prepared.as_ref(), plan)
        .map_err(|unopened| format!("{:?}", unopened.conclude(harness).outcome))?;
    advance(&mut first, planner, fork_at);
    let mut second = first.fork().map_err(|fault| chain(&fault))?;
    advance(&mut first, planner, u32::MAX);
    advance(&mut second, planner, u32::MAX);
    let lines = |episode: LiveEpisode<'_>| episode.conclude(Duration::ZERO).lines.unwrap_or_default();
    Ok((lines(first), lines(second)))
}

/// Goes on until the episode is over or `turns` decisions were made.
fn advance(episode: &mut LiveEpisode<'_>, planner: &dyn Planner, turns: u32) {
    while episode.context().turn < turns && episode.due(Duration::ZERO).is_some() {
        let request = DecisionRequest { context: episode.context(), seed: episode.decision_seed() };
        let decision = planner.decide_batch(&[request]).pop();
        episode.advance(
            decision.unwrap_or_else(|| Err(PlannerFault::Failed("it answered nothing".to_owned()))),
            Duration::ZERO,
        );
    }
}
