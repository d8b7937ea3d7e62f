//! The clock of deadlines: one thread for the process moves every engine's epoch.

use std::{
    sync::{
        Arc, Mutex, OnceLock, PoisonError, Weak,
        atomic::{AtomicU64, Ordering},
    },
    thread::{self, Thread},
};

use wasmtime::Engine;

use crate::{EngineClass, EngineError, config::TICK};

/// Three engines whose epochs move together, and a count of how often they did.
pub(crate) struct Clockwork {
    engines: [Engine; 3],
    pub(crate) ticks: AtomicU64,
}

impl Clockwork {
    pub(crate) fn new(engines: [Engine; 3]) -> Self {
        Self { engines, ticks: AtomicU64::new(0) }
    }

    pub(crate) fn engine(&self, class: EngineClass) -> &Engine {
        let [tool, environment, verifier] = &self.engines;
        match class {
            EngineClass::Tool => tool,
            EngineClass::Environment => environment,
            EngineClass::Verifier => verifier,
        }
    }

    pub(crate) fn tick(&self) {
        // First the count: a deadline that is computed in between is then early by a tick, never late.
        self.ticks.fetch_add(1, Ordering::Relaxed);
        for engine in &self.engines {
            engine.increment_epoch();
        }
    }
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
        let idle = {
            let mut list = ticking.lock().unwrap_or_else(PoisonError::into_inner);
            list.retain(|weak| weak.upgrade().inspect(|clockwork| clockwork.tick()).is_some());
            list.is_empty()
        };
        if idle { thread::park() } else { thread::sleep(TICK) }
    }
}
