//! Verdicts and the four outcomes of an episode.

use serde::{Deserialize, Serialize};

use crate::digest::{ContentDigest, InputDigest};
use crate::name::PluginName;

/// One thing that was checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Criterion {
    /// Stable within the check.
    pub id: String,
    /// Whether it holds.
    pub passed: bool,
    /// Whether it already held before the first step; it then does not count as progress.
    pub held_at_reset: bool,
    /// Finite and not negative.
    pub weight: f64,
    /// What was expected and what was found.
    pub reason: String,
}

/// A judgement, as [`Verdict::new`] accepts it: pass exactly when the score is 1, score and progress finite in [0, 1].
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "RawVerdict", into = "RawVerdict")]
pub struct Verdict {
    passed: bool,
    score: f64,
    progress: f64,
    criteria: Vec<Criterion>,
}

/// A verdict before it was checked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct RawVerdict {
    /// The decision.
    pub passed: bool,
    /// 0 to 1.
    pub score: f64,
    /// 0 to 1.
    pub progress: f64,
    /// The criteria.
    pub criteria: Vec<Criterion>,
}

/// Why something is not a verdict.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum VerdictError {
    /// Not a number, infinite, or outside [0, 1].
    #[error("{field} is `{found}`, expected a finite number from 0 to 1")]
    OutOfRange {
        /// `score` or `progress`.
        field: &'static str,
        /// What was found.
        found: f64,
    },
    /// Outcome and score contradict each other.
    #[error("outcome is {} but score is {score}: a pass has score 1 and nothing else has", if *.passed { "pass" } else { "fail" })]
    Contradiction {
        /// The outcome.
        passed: bool,
        /// The score.
        score: f64,
    },
    /// A weight is not finite or is negative.
    #[error("criterion `{id}` has weight `{found}`, expected a finite number from 0")]
    Weight {
        /// The criterion.
        id: String,
        /// What was found.
        found: f64,
    },
    /// Too many criteria.
    #[error("{found} criteria, at most 256 are allowed")]
    TooMany {
        /// How many.
        found: usize,
    },
}

impl Verdict {
    /// Checks a verdict.
    ///
    /// # Errors
    /// [`VerdictError`] for anything that the type rules out.
    pub fn new(raw: RawVerdict) -> Result<Self, VerdictError> {
        for (field, found) in [("score", raw.score), ("progress", raw.progress)] {
            if !found.is_finite() || !(0.0..=1.0).contains(&found) {
                return Err(VerdictError::OutOfRange { field, found });
            }
        }
        if raw.passed != (raw.score >= 1.0) {
            return Err(VerdictError::Contradiction { passed: raw.passed, score: raw.score });
        }
        if raw.criteria.len() > 256 {
            return Err(VerdictError::TooMany { found: raw.criteria.len() });
        }
        if let Some(bad) = raw.criteria.iter().find(|criterion| !criterion.weight.is_finite() || criterion.weight < 0.0)
        {
            return Err(VerdictError::Weight { id: bad.id.clone(), found: bad.weight });
        }
        Ok(Self { passed: raw.passed, score: raw.score, progress: raw.progress, criteria: raw.criteria })
    }

    /// Whether all that was asked holds.
    #[must_use]
    pub fn passed(&self) -> bool {
        self.passed
    }

    /// From 0 to 1; 1 exactly when passed.
    #[must_use]
    pub fn score(&self) -> f64 {
        self.score
    }

    /// From 0 to 1: the share, among criteria that were false at reset, of those that hold now.
    #[must_use]
    pub fn progress(&self) -> f64 {
        self.progress
    }

    /// What was checked.
    #[must_use]
    pub fn criteria(&self) -> &[Criterion] {
        &self.criteria
    }
}

impl TryFrom<RawVerdict> for Verdict {
    type Error = VerdictError;

    fn try_from(raw: RawVerdict) -> Result<Self, VerdictError> {
        Self::new(raw)
    }
}

impl From<Verdict> for RawVerdict {
    fn from(verdict: Verdict) -> Self {
        Self { passed: verdict.passed, score: verdict.score, progress: verdict.progress, criteria: verdict.criteria }
    }
}

/// A verdict with what produced it, so that a reward can be audited.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct JudgedCheck {
    /// Which of the task's checks, from 0.
    pub check: u32,
    /// The verifier.
    pub verifier: PluginName,
    /// Its component.
    pub verifier_digest: ContentDigest,
    /// The engine that ran it: version, settings, and the version of the plugin contract.
    pub engine: String,
    /// The check and the evidence that it was given on. Two verdicts on the same input can be compared.
    pub input: InputDigest,
    /// How many steps it saw.
    pub upto: u32,
    /// The fuel that the whole judging took.
    pub fuel: u64,
    /// The verdict.
    pub verdict: Verdict,
}

/// How an episode came out. Void is never counted as a score.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", tag = "outcome", content = "reason")]
pub enum Outcome {
    /// Every check passed.
    Pass,
    /// Some check failed.
    Fail,
    /// The agent broke the rules or its budget.
    Invalid(String),
    /// Our infrastructure failed.
    Void(String),
}

/// How an episode ended; two different facts for whoever computes returns.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Ending {
    /// The agent finished or refused.
    Terminated,
    /// A budget ended it; the state still has a future value.
    Truncated,
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn raw(passed: bool, score: f64, progress: f64) -> RawVerdict {
        RawVerdict { passed, score, progress, criteria: Vec::new() }
    }

    #[test]
    fn a_forged_score_is_no_verdict() {
        for (passed, score, progress) in [
            (true, f64::NAN, 1.0),
            (true, 1.5, 1.0),
            (false, -0.1, 0.0),
            (true, f64::INFINITY, 1.0),
            (false, 0.0, f64::NAN),
            (true, 0.5, 1.0),
            (false, 1.0, 1.0),
        ] {
            assert!(Verdict::new(raw(passed, score, progress)).is_err(), "accepted {passed} {score} {progress}");
        }
        assert!(Verdict::new(raw(true, 1.0, 1.0)).is_ok());
        assert!(Verdict::new(raw(false, 0.0, 0.25)).is_ok());
    }

    proptest! {
        #[test]
        fn an_accepted_verdict_is_in_range(passed: bool, score: f64, progress: f64) {
            if let Ok(verdict) = Verdict::new(raw(passed, score, progress)) {
                prop_assert!((0.0..=1.0).contains(&verdict.score()) && (0.0..=1.0).contains(&verdict.progress()));
                prop_assert_eq!(verdict.passed(), verdict.score() == 1.0);
            }
        }
    }
}
