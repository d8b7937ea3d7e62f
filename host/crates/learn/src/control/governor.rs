//! Decides on proposals. It knows not who makes them.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::answer::{Answer, Controller, Proposal};
use super::bounds::{Bounds, Parameter, correct};
use super::decision::{Clamp, ClampCause, Decision, Gate, KeptBecause, Outcome};
use super::statistics::Statistics;
use crate::care::Phi;
use crate::estimate::{Binomial, Level};

/// Decisions that are kept in the state; all of them go to the log.
pub const HISTORY_MAX: usize = 256;
/// Decisions in a row that dev success may be below the interval before it becomes the new measure: what fell for good must not hold for ever.
pub const HELD_MAX: u32 = 3;

/// What dev success is held against.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Guard {
    /// The dev success whose lower confidence bound must reach this for the weight of the cost to rise, above 0 and below 1.
    pub target: f64,
    /// The confidence of that bound (one-sided) and of the interval that dev success must not fall below (two-sided).
    pub level: Level,
}

impl Guard {
    /// The bound of dev success against the target.
    #[must_use]
    pub fn gate(&self, success: Option<Binomial>) -> Gate {
        let lower = success.map(|success| success.clopper_pearson_lower(self.level));
        Gate { lower, target: self.target, open: lower.is_some_and(|lower| lower >= self.target) }
    }
}

/// Why there is no governor, or no decision.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum ControlError {
    /// The parameters to start from are not within bounds.
    #[error(
        "the schedule {found:?} is outside the controller's bounds\nhint: start inside them, or run without a controller"
    )]
    OutOfBounds {
        /// What they were.
        found: Phi,
    },
    /// The target is not a success rate.
    #[error("the target must be above 0 and below 1, found {found}")]
    Target {
        /// What it was.
        found: f64,
    },
    /// The statistics are not newer than the last decision.
    #[error("step {found} was decided already, the last decision was at step {last}")]
    Step {
        /// The step of the last decision.
        last: u64,
        /// The step asked about.
        found: u64,
    },
}

/// Parameters with the dev success that was measured while they were in force.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Good {
    phi: Phi,
    success: Binomial,
}

/// What a checkpoint holds of a governor.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct GovernorState {
    phi: Phi,
    good: Option<Good>,
    held: u32,
    step_last: Option<u64>,
    history: VecDeque<Decision>,
}

/// Holds the parameters in force, and changes them one decision at a time.
#[derive(Debug, Clone, PartialEq)]
pub struct Governor {
    bounds: Bounds,
    guard: Guard,
    state: GovernorState,
}

impl Governor {
    /// Starts from `phi`.
    ///
    /// # Errors
    /// [`ControlError`] for parameters outside the bounds and for a target that is no success rate.
    pub fn new(phi: Phi, guard: Guard) -> Result<Self, ControlError> {
        let state = GovernorState { phi, good: None, held: 0, step_last: None, history: VecDeque::new() };
        Self::restore(state, guard)
    }

    /// Goes on from a checkpoint.
    ///
    /// # Errors
    /// As for [`Governor::new`]: a state is believed no more than a file.
    pub fn restore(mut state: GovernorState, guard: Guard) -> Result<Self, ControlError> {
        let bounds = Bounds;
        for phi in [Some(state.phi), state.good.map(|good| good.phi)].into_iter().flatten() {
            if !bounds.contain(&phi) || !bounds.within_step(&state.phi, &phi) {
                return Err(ControlError::OutOfBounds { found: phi });
            }
        }
        if !(guard.target > 0.0 && guard.target < 1.0) {
            return Err(ControlError::Target { found: guard.target });
        }
        while state.history.len() > HISTORY_MAX {
            state.history.pop_front();
        }
        Ok(Self { bounds, guard, state })
    }

    /// The parameters in force.
    #[must_use]
    pub const fn phi(&self) -> &Phi {
        &self.state.phi
    }

    /// For a checkpoint.
    #[must_use]
    pub const fn state(&self) -> &GovernorState {
        &self.state
    }

    /// The last decisions, oldest first, at most [`HISTORY_MAX`].
    pub fn history(&self) -> impl Iterator<Item = &Decision> {
        self.state.history.iter()
    }

    /// Asks a controller and decides.
    ///
    /// # Errors
    /// [`ControlError::Step`] for a step that was decided already.
    pub fn consult(
        &mut self,
        controller: &mut dyn Controller,
        statistics: &Statistics,
    ) -> Result<Decision, ControlError> {
        let answer = controller.propose(statistics, &self.state.phi, &self.bounds);
        self.decide(controller.name(), statistics, answer)
    }

    /// Decides on what came back from the controller called `controller`.
    ///
    /// # Errors
    /// [`ControlError::Step`] for a step that was decided already.
    pub fn decide(
        &mut self,
        controller: &str,
        statistics: &Statistics,
        answer: Answer,
    ) -> Result<Decision, ControlError> {
        if let Some(last) = self.state.step_last.filter(|last| statistics.step <= *last) {
            return Err(ControlError::Step { last, found: statistics.step });
        }
        let answer = answer.checked();
        let before = self.state.phi;
        let gate = self.guard.gate(statistics.dev.map(|dev| dev.success()));
        let mut clamps = Vec::new();
        let (outcome, rebased) = self.act(statistics, &answer, gate, &mut clamps);
        self.state.step_last = Some(statistics.step);
        let decision = Decision {
            controller: controller.to_owned(),
            statistics: *statistics,
            answer,
            clamps,
            gate,
            outcome,
            rebased,
            before,
            after: self.state.phi,
        };
        if self.state.history.len() >= HISTORY_MAX {
            self.state.history.pop_front();
        }
        self.state.history.push_back(decision.clone());
        Ok(decision)
    }

    /// What is done, and whether the measure of dev success was set anew after a long fall.
    fn act(
        &mut self,
        statistics: &Statistics,
        answer: &Answer,
        gate: Gate,
        clamps: &mut Vec<Clamp>,
    ) -> (Outcome, bool) {
        let Some(dev) = statistics.dev else { return (Outcome::Kept(KeptBecause::NoDev), false) };
        let fallen = self.state.good.filter(|good| {
            // The interval is that of what was measured before the change that is now judged.
            dev.success().rate() < good.success.clopper_pearson(self.guard.level).low
        });
        if let Some(good) = fallen {
            self.state.held += 1;
            if good.phi != self.state.phi {
                self.state.phi = good.phi;
                return (Outcome::Reverted, false);
            }
            if self.state.held <= HELD_MAX {
                return (Outcome::Held, false);
            }
        }
        self.state.held = 0;
        self.state.good = Some(Good { phi: self.state.phi, success: dev.success() });
        (self.weigh(answer, gate, clamps), fallen.is_some())
    }

    fn weigh(&mut self, answer: &Answer, gate: Gate, clamps: &mut Vec<Clamp>) -> Outcome {
        match answer {
            Answer::Proposal(proposal) => self.apply(proposal, gate, clamps),
            Answer::Invalid { .. } => Outcome::Kept(KeptBecause::Invalid),
            Answer::Late => Outcome::Kept(KeptBecause::Late),
            Answer::Absent => Outcome::Kept(KeptBecause::Absent),
        }
    }

    fn apply(&mut self, proposal: &Proposal, gate: Gate, clamps: &mut Vec<Clamp>) -> Outcome {
        let current = self.state.phi;
        let mut values = self.bounds.clamp(&current, proposal.values(), clamps);
        if !gate.open {
            let held = values.lambda_eff.min(current.lambda_eff());
            correct(Parameter::LambdaEff, ClampCause::Gate, &mut values.lambda_eff, held, clamps);
        }
        match Phi::new(values) {
            Ok(phi) if phi != current => {
                self.state.phi = phi;
                Outcome::Applied
            }
            // The bounds lie inside what a schedule may be; should they ever not, what was in force stays.
            Ok(_) | Err(_) => Outcome::Kept(KeptBecause::NoChange),
        }
    }
}
