//! How groups are spread over the regimes, and how loud each regime is. It knows no reward's meaning.

use serde::{Deserialize, Serialize};

use super::assignment::{Assignment, Counters, GroupCredit};
use super::regime::Regime;

/// One regime's line.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RegimeLine {
    /// Kept groups in it.
    pub groups: u64,
    /// Of these, degenerate ones.
    pub degenerate: u64,
    /// Of these, groups in which the floor decides.
    pub floored: u64,
    /// Their valid members.
    pub members: u64,
    /// Of these, members that succeeded.
    pub successes: u64,
    /// The sum of their squared advantages.
    pub advantage_squares: f64,
}

impl RegimeLine {
    /// The root of the mean squared advantage over its members, zeros of degenerate groups included; `None` without a member.
    #[must_use]
    pub fn advantage_rms(&self) -> Option<f64> {
        (self.members > 0).then(|| (self.advantage_squares / self.members as f64).sqrt())
    }

    fn count(&mut self, group: &GroupCredit, degenerate: bool, floored: bool) {
        self.groups += 1;
        self.degenerate += u64::from(degenerate);
        self.floored += u64::from(floored);
        self.members += group.tally.valid as u64;
        self.successes += group.tally.successes as u64;
        self.advantage_squares += group.credits().map(|credit| credit.advantage.powi(2)).sum::<f64>();
    }

    fn add(&mut self, other: &Self) {
        self.groups += other.groups;
        self.degenerate += other.degenerate;
        self.floored += other.floored;
        self.members += other.members;
        self.successes += other.successes;
        self.advantage_squares += other.advantage_squares;
    }
}

/// The statistics of a step, or of many steps added up.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Statistics {
    /// What became of groups and members.
    pub counters: Counters,
    /// Groups that succeed too rarely.
    pub progress: RegimeLine,
    /// Groups in between.
    pub consolidation: RegimeLine,
    /// Groups that succeed nearly always.
    pub efficiency: RegimeLine,
}

impl Statistics {
    /// Of one step.
    #[must_use]
    pub fn of(assignment: &Assignment) -> Self {
        let mut statistics = Self { counters: *assignment.counters(), ..Self::default() };
        for group in assignment.groups() {
            if let Some(scored) = group.scored {
                statistics.line_mut(scored.regime).count(group, scored.degenerate, scored.floor_active);
            }
        }
        statistics
    }

    /// Adds another step.
    pub fn add(&mut self, other: &Self) {
        self.counters.add(&other.counters);
        for regime in Regime::ALL {
            self.line_mut(regime).add(other.line(regime));
        }
    }

    /// The line of a regime.
    #[must_use]
    pub const fn line(&self, regime: Regime) -> &RegimeLine {
        match regime {
            Regime::Progress => &self.progress,
            Regime::Consolidation => &self.consolidation,
            Regime::Efficiency => &self.efficiency,
        }
    }

    const fn line_mut(&mut self, regime: Regime) -> &mut RegimeLine {
        match regime {
            Regime::Progress => &mut self.progress,
            Regime::Consolidation => &mut self.consolidation,
            Regime::Efficiency => &mut self.efficiency,
        }
    }

    /// The share of the kept groups that are in a regime, 0 to 1; `None` without a kept group.
    #[must_use]
    pub fn share(&self, regime: Regime) -> Option<f64> {
        (self.counters.kept > 0).then(|| self.line(regime).groups as f64 / self.counters.kept as f64)
    }

    /// The share of all squared advantages that a regime has, 0 to 1: how much of the batch's gradient it may claim. `None` when all are zero.
    #[must_use]
    pub fn loudness(&self, regime: Regime) -> Option<f64> {
        let all: f64 = Regime::ALL.iter().map(|regime| self.line(*regime).advantage_squares).sum();
        (all > 0.0).then(|| self.line(regime).advantage_squares / all)
    }

    /// The share of members of kept groups that succeeded, 0 to 1; `None` without one.
    #[must_use]
    pub fn success(&self) -> Option<f64> {
        let (successes, members) = Regime::ALL.iter().fold((0, 0), |(successes, members), regime| {
            let line = self.line(*regime);
            (successes + line.successes, members + line.members)
        });
        (members > 0).then(|| successes as f64 / members as f64)
    }
}
