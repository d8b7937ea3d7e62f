//! Verdicts. A verdict that the contract does not allow is a fault of its verifier, never a score.

use loopwright_contract::verdict::{Criterion, RawVerdict, Verdict};

use super::{NAME_BYTES_MAX, bounded, list, message};
use crate::{Violation, verifier::exports::loopwright::afv::verifier as wit};

/// Criteria of one verdict.
const CRITERIA_MAX: usize = 256;

/// Reads the verdicts on `expected` prefixes.
///
/// # Errors
/// [`Violation`] unless there is one for each prefix, each with finite numbers in range and an outcome that agrees with its score.
pub fn verdicts_in(verdicts: Vec<wit::Verdict>, expected: usize) -> Result<Vec<Verdict>, Violation> {
    if verdicts.len() != expected {
        return Err(Violation::new("verdicts", format_args!("expected {expected}, found {}", verdicts.len())));
    }
    list("verdicts", verdicts, expected, verdict_in)
}

fn verdict_in(verdict: wit::Verdict) -> Result<Verdict, Violation> {
    let criteria = list("criteria", verdict.criteria, CRITERIA_MAX, |criterion| {
        Ok(Criterion {
            id: bounded("id", criterion.id, NAME_BYTES_MAX)?,
            passed: criterion.passed,
            held_at_reset: criterion.held_at_reset,
            weight: criterion.weight,
            reason: message("reason", criterion.reason)?,
        })
    })?;
    let raw = RawVerdict {
        passed: verdict.outcome == wit::Outcome::Pass,
        score: verdict.score,
        progress: verdict.progress,
        criteria,
    };
    Verdict::new(raw).map_err(|error| Violation::new("verdict", error))
}

/// Why a verifier gave no verdict, as text.
#[must_use]
pub fn judge_error_in(error: wit::JudgeError) -> String {
    let (kind, what) = match error {
        wit::JudgeError::InvalidCheck(what) => ("invalid check", what),
        wit::JudgeError::MissingEvidence(what) => ("missing evidence", what),
        wit::JudgeError::Other(what) => ("no verdict", what),
    };
    super::clipped(format!("{kind}: {what}"), loopwright_contract::limits::MESSAGE_BYTES_MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn verdict(outcome: wit::Outcome, score: f64) -> wit::Verdict {
        wit::Verdict { outcome, score, progress: 0.0, criteria: Vec::new() }
    }

    #[test]
    fn a_forged_verdict_is_a_violation() {
        for score in [f64::NAN, 1.5, -1.0, f64::INFINITY, 0.5] {
            assert!(verdicts_in(vec![verdict(wit::Outcome::Pass, score)], 1).is_err(), "{score}");
        }
        assert!(verdicts_in(vec![verdict(wit::Outcome::Pass, 1.0)], 1).is_ok());
        assert!(verdicts_in(vec![verdict(wit::Outcome::Pass, 1.0)], 2).is_err());
        assert!(verdicts_in(Vec::new(), 1).is_err());
    }
}
