//! What the crate's own tests share.

use std::path::Path;
use std::sync::{Arc, Mutex};

use loopwright_contract::context::Context;
use loopwright_contract::planner::{Decision, DecisionRequest, Planner, PlannerFault, PolicyVersion};
use loopwright_contract::task::Task;
use loopwright_contract::verdict::Outcome;
use loopwright_testkit::host::FakeHost;
use loopwright_testkit::stopwatch::CountingStopwatch;

use crate::harness::Harness;
use crate::result::EpisodeResult;
use crate::run::{Output, RunOptions, run_tasks};
use crate::settings::Settings;

/// A harness on a host that works.
pub(crate) fn harness(settings: Settings) -> Harness {
    harness_on(FakeHost::new(), settings)
}

/// A harness on a host.
pub(crate) fn harness_on(host: FakeHost, settings: Settings) -> Harness {
    Harness::new(Arc::new(host), settings, Vec::new()).expect("a harness")
}

/// Options with a stopwatch that stands still and lines in memory.
pub(crate) fn options() -> RunOptions {
    RunOptions { output: Output::Memory, ..RunOptions::new(Arc::new(CountingStopwatch::default())) }
}

/// Options with files in a folder.
pub(crate) fn options_in(folder: &Path) -> RunOptions {
    RunOptions { output: Output::Folder(folder.to_owned()), ..options() }
}

/// One task's result.
pub(crate) fn run_one(harness: &Harness, planner: &dyn Planner, task: &Task) -> EpisodeResult {
    run_tasks(harness, planner, std::slice::from_ref(task), &options(), &|_| {}).pop().expect("one result")
}

/// The word of an outcome.
pub(crate) fn word(outcome: &Outcome) -> &'static str {
    match outcome {
        Outcome::Pass => "pass",
        Outcome::Fail => "fail",
        Outcome::Invalid(_) => "invalid",
        Outcome::Void(_) => "void",
    }
}

/// Keeps every context that a planner saw.
pub(crate) struct Watching<P> {
    inner: P,
    seen: Mutex<Vec<Context>>,
}

impl<P: Planner> Watching<P> {
    pub(crate) fn new(inner: P) -> Self {
        Self { inner, seen: Mutex::new(Vec::new()) }
    }

    pub(crate) fn into_seen(self) -> Vec<Context> {
        self.seen.into_inner().expect("no panic before")
    }
}

impl<P: Planner> Planner for Watching<P> {
    fn version(&self) -> PolicyVersion {
        self.inner.version()
    }

    fn decide_batch(&self, requests: &[DecisionRequest<'_>]) -> Vec<Result<Decision, PlannerFault>> {
        self.seen.lock().expect("no panic before").extend(requests.iter().map(|request| request.context.clone()));
        self.inner.decide_batch(requests)
    }
}
