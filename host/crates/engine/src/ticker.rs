//! The clock of deadlines: one thread for the process moves every engine's epoch.

use std::{
    sync::{
        Arc, Mutex, OnceLock, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, Thread},
    time::{Duration, Instant},
};

use wasmtime::Engine;

use crate::{EngineClass, EngineError, config::TICK};

/// Three engines whose epochs move together, and a count of how often they did.
pub(crate) struct Clockwork {
    engines: [Engine; 3],
    pub(crate) ticks: AtomicU64,
    /// Up to when the process's thread has moved it, in nanoseconds since that thread began; 0: it never does.
    moved_ns: AtomicU64,
}

impl Clockwork {
    pub(crate) fn new(engines: [Engine; 3]) -> Self {
        Self { engines, ticks: AtomicU64::new(0), moved_ns: AtomicU64::new(0) }
    }

    pub(crate) fn engine(&self, class: EngineClass) -> &Engine {
        let [tool, environment, verifier] = &self.engines;
        match class {
            EngineClass::Tool => tool,
            EngineClass::Environment => environment,
            EngineClass::Verifier => verifier,
        }
    }

    /// Ticks that the process's thread will make good in one go, because it is late: none where the caller moves the clock.
    pub(crate) fn owed(&self) -> u64 {
        self.late_at(now_ns()).min(CATCH_UP_TICKS_MAX)
    }

    /// Whole ticks that the thread is late.
    fn late_at(&self, now_ns: u64) -> u64 {
        match self.moved_ns.load(Ordering::Relaxed) {
            0 => 0,
            moved_ns => now_ns.saturating_sub(moved_ns) / nanos(TICK),
        }
    }

    /// Makes good what is owed, and forgets the rest.
    fn catch_up(&self, now_ns: u64) {
        let late = self.late_at(now_ns);
        for _ in 0..late.min(CATCH_UP_TICKS_MAX) {
            self.tick();
        }
        self.moved_ns.fetch_add(late.saturating_mul(nanos(TICK)), Ordering::Relaxed);
    }

    pub(crate) fn tick(&self) {
        // First the count: a deadline that is computed in between is then early by a tick, never late.
        self.ticks.fetch_add(1, Ordering::Relaxed);
        for engine in &self.engines {
            engine.increment_epoch();
        }
    }
}

/// Ticks that are made good at once. More than that is a machine that slept.
const CATCH_UP_TICKS_MAX: u64 = 2_000;

/// When the process's thread began.
static BEGAN: OnceLock<Instant> = OnceLock::new();

/// Nanoseconds since then, at least 1.
fn now_ns() -> u64 {
    nanos(BEGAN.get_or_init(Instant::now).elapsed()).max(1)
}

fn nanos(time: Duration) -> u64 {
    u64::try_from(time.as_nanos()).unwrap_or(u64::MAX)
}

struct Shared {
    /// Weak, so that an engine ends with its last user and not with the process.
    ticking: Arc<Mutex<Vec<Weak<Clockwork>>>>,
    thread: Thread,
}

static SHARED: OnceLock<Result<Shared, String>> = OnceLock::new();

/// Has the process's thread move this clockwork from now on.
pub(crate) fn register(clockwork: &Arc<Clockwork>) -> Result<(), EngineError> {
    let shared = SHARED.get_or_init(start).as_ref().map_err(|reason| EngineError::Start { reason: reason.clone() })?;
    // What passed before is none of its ticks; all clockworks tick together.
    let now_ns = now_ns();
    clockwork.moved_ns.store((now_ns - now_ns % nanos(TICK)).max(1), Ordering::Relaxed);
    shared.ticking.lock().unwrap_or_else(PoisonError::into_inner).push(Arc::downgrade(clockwork));
    shared.thread.unpark();
    Ok(())
}

fn start() -> Result<Shared, String> {
    let ticking: Arc<Mutex<Vec<Weak<Clockwork>>>> = Arc::default();
    let list = Arc::clone(&ticking);
    let handle = thread::Builder::new()
        .name("epoch".into())
        .spawn(move || run(&list))
        .map_err(|error| format!("cannot start the epoch thread: {error}"))?;
    Ok(Shared { ticking, thread: handle.thread().clone() })
}

fn run(ticking: &Mutex<Vec<Weak<Clockwork>>>) {
    loop {
        // On a busy machine the thread wakes late, and ticks by its waking alone would make every deadline later and later.
        let idle = {
            let mut list = ticking.lock().unwrap_or_else(PoisonError::into_inner);
            list.retain(|weak| weak.upgrade().inspect(|clockwork| clockwork.catch_up(now_ns())).is_some());
            list.is_empty()
        };
        if idle {
            thread::park();
        } else {
            let since_ns = now_ns() % nanos(TICK);
            thread::sleep(TICK.saturating_sub(Duration::from_nanos(since_ns)));
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn clockwork() -> Clockwork {
        Clockwork::new([Engine::default(), Engine::default(), Engine::default()])
    }

    #[test]
    fn what_the_thread_owes_is_made_good_at_once_and_only_once() {
        let clockwork = clockwork();
        let tick = nanos(TICK);
        clockwork.catch_up(100 * tick);
        assert_eq!(clockwork.ticks.load(Ordering::Relaxed), 0, "whoever moves the clock by hand owes nothing");
        clockwork.moved_ns.store(tick, Ordering::Relaxed);
        // Three whole ticks and a bit, which stays owed.
        let now_ns = 4 * tick + tick / 2;
        assert_eq!(clockwork.late_at(now_ns), 3);
        for _ in 0..2 {
            clockwork.catch_up(now_ns);
            assert_eq!(clockwork.ticks.load(Ordering::Relaxed), 3);
        }
        assert_eq!(clockwork.late_at(5 * tick), 1);
    }

    #[test]
    fn a_machine_that_slept_makes_good_a_bounded_part() {
        let clockwork = clockwork();
        let tick = nanos(TICK);
        clockwork.moved_ns.store(tick, Ordering::Relaxed);
        let now_ns = (CATCH_UP_TICKS_MAX + 1_000_000) * tick;
        clockwork.catch_up(now_ns);
        assert_eq!(clockwork.ticks.load(Ordering::Relaxed), CATCH_UP_TICKS_MAX);
        assert_eq!(clockwork.late_at(now_ns), 0, "the rest is forgotten, and no deadline waits for it");
    }
}
