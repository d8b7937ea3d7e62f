//! What a controller may say. It decides nothing.

use loopwright_contract::json::{self, JsonError, JsonLimits};
use serde::{Deserialize, Serialize};

use super::bounds::Bounds;
use super::statistics::Statistics;
use crate::care::{Phi, PhiValues};

/// The longest reason of a proposal, in bytes.
pub const REASON_BYTES_MAX: usize = 500;
/// What the text of a proposal may be: 4 KiB, one object.
pub const PROPOSAL_JSON: JsonLimits = JsonLimits { bytes_max: 4_096, depth_max: 1 };

/// Parameters that a controller would like, as it says them: nothing in them is believed.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Proposal {
    /// As in [`PhiValues`].
    pub lambda_prog: f64,
    /// As in [`PhiValues`].
    pub lambda_eff: f64,
    /// As in [`PhiValues`].
    pub p_low: f64,
    /// As in [`PhiValues`].
    pub p_high: f64,
    /// Why, for the log: at most [`REASON_BYTES_MAX`].
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub reason: Option<String>,
}

/// Why a text or a value is no proposal.
#[derive(Debug, Clone, PartialEq, thiserror::Error)]
pub enum ProposalError {
    /// Not JSON.
    #[error("the proposal is not acceptable JSON")]
    Json(#[source] JsonError),
    /// Not an object of the four numbers.
    #[error(
        "the proposal must have the numbers `lambda_prog`, `lambda_eff`, `p_low`, `p_high` and may have a `reason`: {found}"
    )]
    Shape {
        /// What is wrong.
        found: String,
    },
    /// A number is NaN or infinite.
    #[error("the proposal's `{name}` must be a finite number")]
    NotFinite {
        /// Which one.
        name: &'static str,
    },
    /// The reason is too long.
    #[error("the proposal's `reason` may have {REASON_BYTES_MAX} bytes, found {found}")]
    Reason {
        /// Bytes found.
        found: usize,
    },
}

impl Proposal {
    /// A proposal without a reason.
    #[must_use]
    pub const fn of(values: PhiValues) -> Self {
        let PhiValues { lambda_prog, lambda_eff, p_low, p_high } = values;
        Self { lambda_prog, lambda_eff, p_low, p_high, reason: None }
    }

    /// Reads what a language model wrote: one JSON object and nothing around it.
    ///
    /// # Errors
    /// [`ProposalError`] for anything else.
    pub fn parse(text: &str) -> Result<Self, ProposalError> {
        let value = json::parse(text, &PROPOSAL_JSON).map_err(ProposalError::Json)?;
        let proposal: Self =
            serde_json::from_value(value).map_err(|error| ProposalError::Shape { found: error.to_string() })?;
        proposal.check()?;
        Ok(proposal)
    }

    /// Whether it can be weighed at all; ranges are the governor's.
    ///
    /// # Errors
    /// [`ProposalError`] for a number that is not finite and for a reason that is too long.
    pub fn check(&self) -> Result<(), ProposalError> {
        for (name, value) in [
            ("lambda_prog", self.lambda_prog),
            ("lambda_eff", self.lambda_eff),
            ("p_low", self.p_low),
            ("p_high", self.p_high),
        ] {
            if !value.is_finite() {
                return Err(ProposalError::NotFinite { name });
            }
        }
        match self.reason.as_ref().map(String::len) {
            Some(found) if found > REASON_BYTES_MAX => Err(ProposalError::Reason { found }),
            _ => Ok(()),
        }
    }

    /// The four numbers.
    #[must_use]
    pub const fn values(&self) -> PhiValues {
        PhiValues { lambda_prog: self.lambda_prog, lambda_eff: self.lambda_eff, p_low: self.p_low, p_high: self.p_high }
    }
}

/// What came back when a controller was asked.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Answer {
    /// A proposal.
    Proposal(Proposal),
    /// Something else; why it is no proposal.
    Invalid {
        /// For the log, at most [`REASON_BYTES_MAX`].
        reason: String,
    },
    /// Nothing before the caller's deadline.
    Late,
    /// Nothing at all: the controller failed or is not there.
    Absent,
}

impl Answer {
    /// What a text means.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match Proposal::parse(text) {
            Ok(proposal) => Self::Proposal(proposal),
            Err(error) => Self::invalid(&error),
        }
    }

    /// The same answer, with a proposal that cannot be weighed turned into an invalid answer and its reason cut.
    pub(crate) fn checked(self) -> Self {
        match self {
            Self::Proposal(proposal) => match proposal.check() {
                Ok(()) => Self::Proposal(proposal),
                Err(error) => Self::invalid(&error),
            },
            Self::Invalid { reason } => Self::Invalid { reason: cut(reason) },
            other => other,
        }
    }

    fn invalid(error: &ProposalError) -> Self {
        let cause = std::error::Error::source(error).map(|cause| format!(": {cause}")).unwrap_or_default();
        Self::Invalid { reason: cut(format!("{error}{cause}")) }
    }
}

/// The longest start that is short enough and ends between letters.
fn cut(mut text: String) -> String {
    text.truncate(text.floor_char_boundary(REASON_BYTES_MAX));
    text
}

/// Proposes parameters from statistics: a rule, or a language model behind a deadline of the caller's.
pub trait Controller {
    /// What the log calls it.
    fn name(&self) -> &str;

    /// What it would like, with `phi` in force. It is told bounds so that it can aim well; they hold whether it heeds them or not.
    fn propose(&mut self, statistics: &Statistics, phi: &Phi, bounds: &Bounds) -> Answer;
}
