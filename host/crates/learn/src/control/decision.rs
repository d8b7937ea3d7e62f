//! The record of one decision. It decides nothing.

use serde::{Deserialize, Serialize};

use super::answer::Answer;
use super::bounds::Parameter;
use super::statistics::Statistics;
use crate::care::Phi;

/// Why a proposed number was not taken as it is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum ClampCause {
    /// It is outside its range.
    Range,
    /// It is too far from what was in force.
    Step,
    /// The thresholds would come too close.
    Gap,
    /// The weight of the cost may not rise now.
    Gate,
}

/// One correction of a proposal. Corrections of one number follow each other.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Clamp {
    /// Which number.
    pub parameter: Parameter,
    /// Why.
    pub cause: ClampCause,
    /// What it was.
    pub from: f64,
    /// What it became.
    pub to: f64,
}

/// Whether the weight of the cost may rise.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Gate {
    /// The lower confidence bound of dev success; `None` when dev was not measured.
    pub lower: Option<f64>,
    /// What it must reach.
    pub target: f64,
    /// Whether it does.
    pub open: bool,
}

/// Why nothing was changed.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum KeptBecause {
    /// The answer was no proposal.
    Invalid,
    /// The answer came after the deadline.
    Late,
    /// There was no answer.
    Absent,
    /// Nothing is known of dev success, not measured or all void, so that a change could not be judged.
    NoDev,
    /// After all corrections nothing is left of the proposal.
    NoChange,
}

/// What was decided.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Outcome {
    /// The corrected proposal is in force.
    Applied,
    /// What was in force stays.
    Kept(KeptBecause),
    /// Dev success fell beyond its interval: the last change is taken back, and the proposal is not looked at.
    Reverted,
    /// Dev success is still below the interval with the change taken back: nothing moves.
    Held,
}

/// One decision, whole: what was known, what was said, what was made of it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Decision {
    /// Who was asked.
    pub controller: String,
    /// What was known.
    pub statistics: Statistics,
    /// What came back.
    pub answer: Answer,
    /// What was corrected; empty unless a proposal was weighed.
    pub clamps: Vec<Clamp>,
    /// Whether the weight of the cost could rise.
    pub gate: Gate,
    /// What was decided.
    pub outcome: Outcome,
    /// Dev success had been below the interval for so long that it became the new measure.
    pub rebased: bool,
    /// What was in force before.
    pub before: Phi,
    /// What is in force now.
    pub after: Phi,
}
