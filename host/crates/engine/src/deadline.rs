//! Until when a call may run, in ticks of the epoch.

use std::{
    sync::{Arc, atomic::Ordering},
    time::Duration,
};

use loopwright_contract::fault::HostFault;

use crate::{config::TICK, limits::Stop, ticker::Clockwork};

/// A point on the clock of an engine set.
#[derive(Clone)]
pub(crate) struct Deadline {
    clockwork: Arc<Clockwork>,
    tick: u64,
    limit: Duration,
}

impl Deadline {
    /// That long from now, rounded up to whole ticks and one more, since the next tick may come at once.
    pub(crate) fn from_now(clockwork: &Arc<Clockwork>, limit: Duration) -> Self {
        let ticks = u64::try_from(limit.as_nanos().div_ceil(TICK.as_nanos())).unwrap_or(u64::MAX);
        // The clock's thread may be late. What it owes comes in one go, and is no part of this call's time.
        let now = clockwork.ticks.load(Ordering::Relaxed).saturating_add(clockwork.owed());
        Self { clockwork: Arc::clone(clockwork), tick: now.saturating_add(ticks).saturating_add(1), limit }
    }

    /// The deadline of a nested call: its own, or what is left of this one where that is less.
    pub(crate) fn nested(&self, limit: Duration) -> Self {
        let own = Self::from_now(&self.clockwork, limit);
        if own.tick < self.tick { own } else { self.clone() }
    }

    /// Ticks from now; none left is the fault.
    pub(crate) fn ticks_left(&self) -> Result<u64, Stop> {
        let now = self.clockwork.ticks.load(Ordering::Relaxed);
        self.tick.checked_sub(now).filter(|left| *left > 0).ok_or_else(|| Stop::Host(self.passed()))
    }

    /// Whether there is time left: what host functions that may take long ask while they work.
    pub(crate) fn is_open(&self) -> bool {
        self.ticks_left().is_ok()
    }

    /// The fault of a call that ran longer.
    pub(crate) fn passed(&self) -> HostFault {
        HostFault::Deadline { limit_ms: u64::try_from(self.limit.as_millis()).unwrap_or(u64::MAX) }
    }
}
