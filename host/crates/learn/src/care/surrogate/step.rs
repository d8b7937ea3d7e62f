//! Equation (10) over all tokens of a step. It knows no network.

use serde::Serialize;

use super::settings::Surrogate;
use super::token::{LogProbs, TokenFault, TokenTerm};
use crate::care::assignment::{Assignment, GroupCredit};
use crate::care::group::GroupId;

/// Where a token stands, for messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct TokenPlace {
    /// Its group.
    pub group: GroupId,
    /// The slot of its trajectory.
    pub slot: usize,
    /// Its place in the trajectory, from 0.
    pub token: usize,
}

/// Why a step has no objective: it must be refused, not taken in part.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum StepFault {
    /// Tokens and groups do not stand side by side.
    #[error(
        "tokens of {found} {what} for {expected}\nhint: groups and slots keep their order, void ones have no tokens"
    )]
    Shape {
        /// What was counted: groups or slots.
        what: &'static str,
        /// How many there are.
        expected: usize,
        /// Of how many there were tokens.
        found: usize,
    },
    /// A token has no term.
    #[error("group {}, slot {}, token {} has no term", place.group, place.slot, place.token)]
    Token {
        /// Where.
        place: TokenPlace,
        /// Why.
        source: TokenFault,
    },
}

/// How the step's tokens fared.
#[derive(Debug, Clone, Copy, PartialEq, Default, Serialize)]
pub struct Figures {
    /// Trained tokens of members that were assigned an advantage.
    pub tokens: u64,
    /// Of these, tokens of groups that teach something.
    pub informative: u64,
    /// Informative tokens that the clip holds.
    pub clipped: u64,
    /// Informative tokens whose weight is truncated.
    pub truncated: u64,
    /// The mean of kl to the reference over informative tokens, in nats.
    pub kl_mean: f64,
    /// The mean of k3 between the sampling policy and the trained one over informative tokens, in nats. Before the first update it shows how far
    /// sampler and trainer disagree about the same weights.
    pub mismatch_kl_mean: f64,
}

/// The objective of a step with the gradient factor of every token.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct StepSurrogate {
    /// J, equation (10e).
    pub objective: f64,
    /// dJ/dl by group, slot and token; 0 for a token that is not trained.
    pub gradients: Vec<Vec<Vec<f64>>>,
    /// D.
    pub denominator: f64,
    /// How the tokens fared.
    pub figures: Figures,
}

impl Surrogate {
    /// J and its gradient factors. `tokens` stand by group, slot and token as in `assignment`; `None` is a token that is not trained (an
    /// observation, or one whose policy is too old: its trajectory keeps its part in the group's baseline).
    ///
    /// # Errors
    /// [`StepFault`] when tokens and groups do not stand side by side, and for a token without a term.
    pub fn step(
        &self,
        assignment: &Assignment,
        tokens: &[Vec<Vec<Option<LogProbs>>>],
    ) -> Result<StepSurrogate, StepFault> {
        same("groups", assignment.groups().len(), tokens.len())?;
        let mut sum = Sum::default();
        let mut gradients = Vec::with_capacity(tokens.len());
        for (group, tokens) in assignment.groups().iter().zip(tokens) {
            same("slots", group.slots.len(), tokens.len())?;
            gradients.push(self.group(group, tokens, &mut sum)?);
        }
        let denominator = self.values().denominator.value(sum.figures.tokens);
        for gradient in gradients.iter_mut().flatten().flatten() {
            *gradient /= denominator;
        }
        Ok(StepSurrogate { objective: sum.objective / denominator, gradients, denominator, figures: sum.figures() })
    }

    /// The gradients of one group, not yet divided.
    fn group(
        &self,
        group: &GroupCredit,
        tokens: &[Vec<Option<LogProbs>>],
        sum: &mut Sum,
    ) -> Result<Vec<Vec<f64>>, StepFault> {
        let mut gradients = Vec::with_capacity(tokens.len());
        for (slot, (credit, tokens)) in group.slots.iter().zip(tokens).enumerate() {
            let mut row = vec![0.0; tokens.len()];
            if let Some(credit) = credit {
                sum.figures.tokens += tokens.iter().flatten().count() as u64;
                let informative = row.iter_mut().zip(tokens).enumerate().filter(|_| !group.is_silent());
                for (token, (gradient, log_probs)) in informative {
                    let Some(log_probs) = log_probs else { continue };
                    let place = TokenPlace { group: group.id, slot, token };
                    let term = self
                        .token(credit.advantage, *log_probs)
                        .map_err(|source| StepFault::Token { place, source })?;
                    *gradient = term.gradient;
                    sum.add(&term);
                }
            }
            gradients.push(row);
        }
        Ok(gradients)
    }
}

#[derive(Default)]
struct Sum {
    objective: f64,
    kl: f64,
    mismatch: f64,
    figures: Figures,
}

impl Sum {
    fn add(&mut self, term: &TokenTerm) {
        self.objective += term.objective;
        self.kl += term.kl;
        self.mismatch += term.mismatch_kl;
        self.figures.informative += 1;
        self.figures.clipped += u64::from(term.clipped);
        self.figures.truncated += u64::from(term.truncated);
    }

    fn figures(&self) -> Figures {
        let count = self.figures.informative.max(1) as f64;
        Figures { kl_mean: self.kl / count, mismatch_kl_mean: self.mismatch / count, ..self.figures }
    }
}

fn same(what: &'static str, expected: usize, found: usize) -> Result<(), StepFault> {
    if expected == found { Ok(()) } else { Err(StepFault::Shape { what, expected, found }) }
}
