//! One decision, choice by choice: from a context to tables, and from answers to actions. It knows no score and no gold.
//!
//! What may not be chosen is not listed: a tool without a value for what it demands is not offered, what is demanded cannot be left out, and
//! values that no schema takes do not appear. A choice with a single answer is no choice: it is taken and not asked.
//!
//! Members of a group decide on the same context again and again. Where a walk led is kept with its beginning ([`Walks`]), so that the next one that
//! takes the same answers finds the tables that they lead to.

pub(super) mod act;
mod begun;
pub(super) mod say;
mod state;
mod table;

use std::sync::Arc;

use loopwright_contract::action::{Action, Proposed};
use loopwright_contract::context::Context;
use loopwright_contract::name::CallId;
use serde_json::Value;

use self::act::Act;
use self::state::State;
use super::candidates::Candidate;
use super::choice::{Choice, Taken, Unit};
use super::scene::Scene;
use super::specs::Specs;

pub(super) use self::begun::Walks;
pub(super) use self::state::{Goal, get, lengths};

/// Calls of one decision.
pub(super) const CALLS_MAX: usize = 4;
/// Lengths by which a moment can be moved.
pub(super) const SHIFTS_MAX: usize = 4;
/// Choices of one decision; a policy that asks for more is stopped where it is.
pub const CHOICES_MAX: usize = 192;

/// One decision while it is made.
#[derive(Debug, Clone)]
pub struct Walk {
    state: Arc<State>,
    taken: Vec<Taken>,
}

/// What a decision came to.
#[derive(Debug, Clone, PartialEq)]
pub struct Walked {
    /// What is proposed, in order.
    pub proposed: Vec<Proposed>,
    /// The units of the request that the choices point into.
    pub units: Arc<[Unit]>,
    /// What was chosen.
    pub taken: Vec<Taken>,
}

impl Walk {
    /// Begins a decision on a context.
    #[must_use]
    pub fn new(context: &Context) -> Self {
        Self::with(&Specs::new(), context)
    }

    /// The same with what was read before.
    #[must_use]
    pub fn with(specs: &Specs, context: &Context) -> Self {
        Self { state: specs.begin(context), taken: Vec::new() }
    }

    /// The request's units.
    #[must_use]
    pub fn units(&self) -> &Arc<[Unit]> {
        &self.scene().units
    }

    /// What is to be chosen now; none when the decision is made.
    #[must_use]
    pub fn choice(&self) -> Option<&Choice> {
        self.shared_choice().map(Arc::as_ref)
    }

    /// The same: where it is the very same, all that it is scored by is.
    #[must_use]
    pub fn shared_choice(&self) -> Option<&Arc<Choice>> {
        self.state.current().map(|current| &current.choice)
    }

    /// Takes an answer by its place. False, and nothing happens, when there is no such answer.
    pub fn take(&mut self, answer: usize) -> bool {
        let Some(current) = self.state.current().filter(|current| answer < current.candidates.len()) else {
            return false;
        };
        let taken = Taken { choice: current.choice.as_ref().clone(), answer };
        self.state = State::after(&self.state, answer);
        self.taken.push(taken);
        true
    }

    /// What was decided. A walk that was left before its end proposes the acts that were complete.
    #[must_use]
    pub fn finish(self) -> Walked {
        let proposed = self.actions().into_iter().map(|value| Proposed::Action { value }).collect();
        Walked { proposed, units: Arc::clone(self.units()), taken: self.taken }
    }

    /// The actions that are complete.
    pub(super) fn actions(&self) -> Vec<Action> {
        let action = |(position, (act, arguments)): (usize, &(Act, Value))| {
            let id = CallId::new(format!("call-{}-{position}", self.scene().turn)).ok()?;
            act.action(self.scene(), arguments, id)
        };
        self.complete().iter().enumerate().filter_map(action).collect()
    }

    /// The context that it decides on.
    pub(super) fn scene(&self) -> &Scene {
        self.state.scene()
    }

    /// What is asked now, with its candidates in the order of the answers.
    pub(super) fn asked(&self) -> Option<(&Goal, &[Candidate])> {
        self.state.current().map(|current| (&current.goal, current.candidates.as_slice()))
    }

    /// The acts that are open.
    pub(super) fn acts(&self) -> &[Act] {
        self.state.acts()
    }

    /// The acts that are complete, with their arguments.
    pub(super) fn complete(&self) -> &[(Act, Value)] {
        self.state.complete()
    }

    /// What was chosen so far.
    pub(super) fn into_taken(self) -> Vec<Taken> {
        self.taken
    }
}

#[cfg(test)]
mod tests;
