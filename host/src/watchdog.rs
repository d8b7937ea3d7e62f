//! A thread beside a run that says what hangs. It ends nothing: see [`Watch`].

use std::sync::mpsc::{RecvTimeoutError, channel};
use std::time::Duration;

use loopwright_harness::Watch;

/// What a thread may be at without a word. A local model that decides for a long context takes minutes.
pub const STUCK_AFTER: Duration = Duration::from_secs(300);

/// Does the work, and meanwhile tells of each thread that has been at one thing for `limit`; again after each further `limit`.
///
/// # Panics
/// When the work does.
pub fn beside<T>(watch: &Watch, limit: Duration, tell: impl Fn(&str) + Send + Sync, work: impl FnOnce() -> T) -> T {
    // Dropped when the work is over, also by a panic.
    let (over, ended) = channel::<()>();
    std::thread::scope(|scope| {
        scope.spawn(|| {
            let ended = ended;
            while ended.recv_timeout(limit) == Err(RecvTimeoutError::Timeout) {
                watch.stuck(limit).iter().for_each(|stuck| tell(&stuck.to_string()));
            }
        });
        let _over = over;
        work()
    })
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::*;
    use crate::wire::MachineStopwatch;

    #[test]
    fn it_ends_with_the_work_and_hands_its_answer_on() {
        let watch = Watch::new(MachineStopwatch::start());
        assert_eq!(beside(&watch, STUCK_AFTER, |_| {}, || 7), 7);
        let ended = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
            beside(&watch, STUCK_AFTER, |_| {}, || assert!(watch.stuck(Duration::ZERO).len() > 7, "the work breaks"));
        }));
        assert!(ended.is_err());
    }

    #[test]
    fn a_planner_that_hangs_is_told_of() {
        use loopwright_contract::planner::PlannerFault;
        use loopwright_harness::{Harness, RunOptions, Settings, run_tasks};
        use loopwright_testkit::{host::FakeHost, planner::FakePlanner, task::torch_task};
        use std::sync::{Arc, Mutex};

        let stopwatch = MachineStopwatch::start();
        let watch = Arc::new(Watch::new(stopwatch.clone()));
        let options = RunOptions { watch: Some(Arc::clone(&watch)), ..RunOptions::new(stopwatch) };
        let (tells, told) = mpsc::channel::<String>();
        let (told, tells) = (Mutex::new(told), Mutex::new(tells));
        // It hangs until somebody was told of it. On a busy machine what comes before it can be slow enough to be told of as well.
        let planner = FakePlanner::new("hangs", move |_, _| {
            let told = told.lock().expect("no panic before");
            let of_planner = told.iter().find(|text| text.contains("the planner"));
            Err(PlannerFault::Failed(of_planner.unwrap_or_default()))
        });
        let harness = Harness::new(Arc::new(FakeHost::new()), Settings::default(), Vec::new()).expect("a harness");
        let tell = |text: &str| drop(tells.lock().expect("no panic before").send(text.to_owned()));
        let results = beside(&watch, Duration::from_millis(1), tell, || {
            run_tasks(&harness, &planner, &[torch_task("t")], &options, &|_| {})
        });
        let outcome = format!("{:?}", results.first().expect("one").outcome);
        assert!(outcome.contains("the planner, asked about `t:s0`"), "{outcome}");
    }
}
