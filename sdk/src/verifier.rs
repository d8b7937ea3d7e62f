//! Verifier plugins: they judge what happened and see nothing else.

use core::fmt;

use serde::de::DeserializeOwned;

use crate::evidence::Evidence;
use crate::json::{Json, ShapeError};
use crate::plugin::Identity;
use crate::state::StateError;

/// A verifier plugin. Each trajectory is judged in a fresh instance.
///
/// Export it with [`export_verifier!`](crate::export_verifier).
#[diagnostic::on_unimplemented(
    message = "`{Self}` is not a verifier plugin",
    label = "not a verifier plugin",
    note = "write `impl VerifierPlugin for {Self}` with `IDENTITY`, `Check` and `judge`"
)]
pub trait VerifierPlugin {
    /// Who the plugin is.
    const IDENTITY: Identity;

    /// What a task asks the verifier to check. Text that does not fit is answered with [`JudgeError::InvalidCheck`] before `judge` runs.
    type Check: DeserializeOwned;

    /// Judges the prefixes named in `upto`: step counts, ascending, at most 64; the last is the whole episode. One verdict for each.
    ///
    /// # Errors
    /// When there can be no verdict. The episode is void.
    fn judge(evidence: &Evidence, check: &Self::Check, upto: &[u32]) -> Result<Vec<Verdict>, JudgeError>;
}

/// Reads a task's check.
pub(crate) fn read_check<V: VerifierPlugin>(check: &Json) -> Result<V::Check, JudgeError> {
    check.parse().map_err(|error| JudgeError::InvalidCheck(error.to_string()))
}

/// Why a verifier gave no verdict.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum JudgeError {
    /// The check is not one that this verifier understands: where, and what was expected.
    InvalidCheck(String),
    /// The evidence lacks what the check needs, such as a target.
    MissingEvidence(String),
    /// Anything else.
    Other(String),
}

impl fmt::Display for JudgeError {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::InvalidCheck(what) => write!(formatter, "invalid check: {what}"),
            Self::MissingEvidence(what) => write!(formatter, "missing evidence: {what}"),
            Self::Other(what) => formatter.write_str(what),
        }
    }
}

impl core::error::Error for JudgeError {}

/// Names in a query come from the check, so a malformed or denied one is the check's; the rest is unexpected.
impl From<StateError> for JudgeError {
    fn from(error: StateError) -> Self {
        let message = error.to_string();
        match error {
            StateError::Invalid(_) | StateError::Denied { .. } | StateError::Limit(_) => Self::InvalidCheck(message),
            _ => Self::Other(message),
        }
    }
}

/// Text of the evidence that does not fit a type is unexpected; a check that does not fit never reaches `judge`.
impl From<ShapeError> for JudgeError {
    fn from(error: ShapeError) -> Self {
        Self::Other(error.to_string())
    }
}

/// One thing that was checked.
#[derive(Clone, Debug, PartialEq)]
pub struct Criterion {
    /// Stable within the check, such as `row-0`.
    pub id: String,
    /// Whether it holds.
    pub passed: bool,
    /// Whether it already held before the first step; such a criterion does not count as progress.
    pub held_at_reset: bool,
    /// Finite and not negative.
    pub weight: f64,
    /// What was expected and what was found.
    pub reason: String,
}

/// A judgement. [`Verdict::of`] derives it from its criteria, so that outcome, score and progress agree.
#[derive(Clone, Debug, PartialEq)]
pub struct Verdict {
    passed: bool,
    score: f64,
    progress: f64,
    criteria: Vec<Criterion>,
}

impl Verdict {
    /// Passes exactly when every criterion holds.
    ///
    /// The score is the weighted share of criteria that hold; where not all hold, it stays below 1 even if those that fail weigh nothing.
    /// The progress is the weighted share, among criteria that were false at reset, of those that hold; when none was false it is 1 if all
    /// hold and 0 otherwise. Without criteria nothing was asked, and the verdict fails.
    ///
    /// ```
    /// use loopwright_sdk::{Criterion, Verdict};
    ///
    /// let criterion = |id: &str, passed, held_at_reset| Criterion {
    ///     id: id.into(),
    ///     passed,
    ///     held_at_reset,
    ///     weight: 1.0,
    ///     reason: String::new(),
    /// };
    /// let verdict = Verdict::of(vec![criterion("a", true, true), criterion("b", true, false), criterion("c", false, false)]);
    /// assert!(!verdict.passed());
    /// assert_eq!(verdict.progress(), 0.5);
    /// ```
    pub fn of(criteria: Vec<Criterion>) -> Self {
        let passed = !criteria.is_empty() && criteria.iter().all(|criterion| criterion.passed);
        let share = share(criteria.iter());
        let progress = match share_of_open(&criteria) {
            Some(progress) => progress,
            None => f64::from(u8::from(passed)),
        };
        let score = if passed { 1.0 } else { share.unwrap_or(0.0).min(BELOW_PASS) };
        Self { passed, score, progress, criteria }
    }

    /// Whether all that was asked holds.
    pub fn passed(&self) -> bool {
        self.passed
    }

    /// 0 to 1; 1 exactly when the verdict passes.
    pub fn score(&self) -> f64 {
        self.score
    }

    /// 0 to 1: how much of what was false at reset holds now.
    pub fn progress(&self) -> f64 {
        self.progress
    }

    /// What was checked. At most 256.
    pub fn criteria(&self) -> &[Criterion] {
        &self.criteria
    }

    /// The criteria, given away.
    #[cfg_attr(not(target_family = "wasm"), expect(dead_code, reason = "only the export glue takes a verdict apart"))]
    pub(crate) fn into_criteria(self) -> Vec<Criterion> {
        self.criteria
    }
}

/// The most that a verdict can score without passing.
const BELOW_PASS: f64 = 0.999;

/// The weighted share of criteria that hold; none when they weigh nothing in all.
fn share<'a>(criteria: impl Iterator<Item = &'a Criterion>) -> Option<f64> {
    let (mut total, mut held) = (0.0, 0.0);
    for criterion in criteria {
        total += criterion.weight;
        if criterion.passed {
            held += criterion.weight;
        }
    }
    (total > 0.0).then(|| (held / total).clamp(0.0, 1.0))
}

/// The weighted share among criteria that were false at reset; none when none was.
fn share_of_open(criteria: &[Criterion]) -> Option<f64> {
    let mut open = criteria.iter().filter(|criterion| !criterion.held_at_reset).peekable();
    open.peek()?;
    Some(share(open).unwrap_or(0.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn criterion(passed: bool, held_at_reset: bool, weight: f64) -> Criterion {
        Criterion { id: "c".into(), passed, held_at_reset, weight, reason: String::new() }
    }

    #[test]
    fn outcome_score_and_progress_agree() {
        let verdict = Verdict::of(vec![criterion(true, true, 1.0), criterion(true, false, 3.0)]);
        assert_eq!((verdict.passed(), verdict.score(), verdict.progress()), (true, 1.0, 1.0));

        let verdict =
            Verdict::of(vec![criterion(true, true, 1.0), criterion(true, false, 2.0), criterion(false, false, 1.0)]);
        assert_eq!((verdict.passed(), verdict.score()), (false, 0.75));
        assert!((verdict.progress() - 2.0 / 3.0).abs() < 1e-12);
    }

    #[test]
    fn without_open_criteria_progress_is_all_or_nothing() {
        assert_eq!(Verdict::of(vec![criterion(true, true, 1.0)]).progress(), 1.0);
        assert_eq!(Verdict::of(vec![criterion(true, true, 1.0), criterion(false, true, 1.0)]).progress(), 0.0);
    }

    #[test]
    fn a_failing_verdict_never_scores_1() {
        let weightless = Verdict::of(vec![criterion(true, false, 1.0), criterion(false, false, 0.0)]);
        assert!(!weightless.passed());
        assert!(weightless.score() < 1.0);
    }

    #[test]
    fn nothing_asked_is_nothing_passed() {
        let verdict = Verdict::of(Vec::new());
        assert_eq!((verdict.passed(), verdict.score(), verdict.progress()), (false, 0.0, 0.0));
    }
}
