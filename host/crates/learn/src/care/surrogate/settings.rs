//! The constants of equation (10), checked. They know no token.

use serde::{Deserialize, Serialize};

use crate::care::group::GroupSize;

/// The greatest lower clip: at 1 the ratio could fall to zero.
pub const CLIP_LOW_MAX: f64 = 0.9;
/// The greatest upper clip.
pub const CLIP_HIGH_MAX: f64 = 0.9;
/// The least cap of the importance weight; the clip always lies below it.
pub const WEIGHT_CAP_MIN: f64 = 2.0;
/// The greatest.
pub const WEIGHT_CAP_MAX: f64 = 3.0;
/// The greatest weight of the KL.
pub const BETA_MAX: f64 = 1.0;

/// D of equation (10).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case", deny_unknown_fields)]
pub enum Denominator {
    /// Groups times G times the token budget of a trajectory, whatever was sampled. A mean per trajectory would favour long failures by itself.
    Constant {
        /// Groups of a step.
        groups: usize,
        /// G.
        group_size: GroupSize,
        /// Tokens that a trajectory may have.
        token_budget: usize,
    },
    /// The trained tokens of all members that were assigned an advantage, be it zero; 1 when there is none.
    TokenMean,
}

impl Denominator {
    /// The value, where `tokens` were trained.
    pub(crate) fn value(self, tokens: u64) -> f64 {
        match self {
            Self::Constant { groups, group_size, token_budget } => {
                groups as f64 * group_size.get() as f64 * token_budget as f64
            }
            Self::TokenMean => tokens.max(1) as f64,
        }
    }
}

/// Constants that have no meaning.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum SurrogateError {
    /// A number is outside its range.
    #[error("`{name}` must be within {least} to {greatest}, found {found}")]
    Range {
        /// The constant.
        name: &'static str,
        /// The least that is allowed.
        least: f64,
        /// The greatest.
        greatest: f64,
        /// What it was.
        found: f64,
    },
    /// The denominator is zero.
    #[error("the constant denominator must be positive, found {groups} groups times {token_budget} tokens")]
    Denominator {
        /// Groups of a step.
        groups: usize,
        /// Tokens of a trajectory.
        token_budget: usize,
    },
}

/// The constants before they are checked.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SurrogateValues {
    /// How far below 1 the ratio counts: 0 to [`CLIP_LOW_MAX`]; 0.2 is usual.
    pub clip_low: f64,
    /// How far above 1: 0 to [`CLIP_HIGH_MAX`]; 0.28 is usual.
    pub clip_high: f64,
    /// The greatest weight of a token: [`WEIGHT_CAP_MIN`] to [`WEIGHT_CAP_MAX`].
    pub weight_cap: f64,
    /// What the KL to the reference weighs: 0 to [`BETA_MAX`].
    pub beta: f64,
    /// What the sum is divided by.
    pub denominator: Denominator,
}

/// The constants of equation (10).
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(try_from = "SurrogateValues", into = "SurrogateValues")]
pub struct Surrogate(SurrogateValues);

impl Surrogate {
    /// Checks constants.
    ///
    /// # Errors
    /// [`SurrogateError`] for a number outside its range, and for a constant denominator of zero.
    pub fn new(values: SurrogateValues) -> Result<Self, SurrogateError> {
        for (name, found, least, greatest) in [
            ("clip_low", values.clip_low, 0.0, CLIP_LOW_MAX),
            ("clip_high", values.clip_high, 0.0, CLIP_HIGH_MAX),
            ("weight_cap", values.weight_cap, WEIGHT_CAP_MIN, WEIGHT_CAP_MAX),
            ("beta", values.beta, 0.0, BETA_MAX),
        ] {
            if !(least..=greatest).contains(&found) {
                return Err(SurrogateError::Range { name, least, greatest, found });
            }
        }
        if let Denominator::Constant { groups, token_budget, .. } = values.denominator
            && (groups == 0 || token_budget == 0)
        {
            return Err(SurrogateError::Denominator { groups, token_budget });
        }
        Ok(Self(values))
    }

    /// Clip 0.2 and 0.28, weights up to 2, no KL: what is used unless said otherwise.
    ///
    /// # Errors
    /// [`SurrogateError::Denominator`] for a constant denominator of zero.
    pub fn usual(denominator: Denominator) -> Result<Self, SurrogateError> {
        Self::new(SurrogateValues { clip_low: 0.2, clip_high: 0.28, weight_cap: 2.0, beta: 0.0, denominator })
    }

    /// All of them.
    #[must_use]
    pub const fn values(&self) -> &SurrogateValues {
        &self.0
    }
}

impl TryFrom<SurrogateValues> for Surrogate {
    type Error = SurrogateError;

    fn try_from(values: SurrogateValues) -> Result<Self, SurrogateError> {
        Self::new(values)
    }
}

impl From<Surrogate> for SurrogateValues {
    fn from(surrogate: Surrogate) -> Self {
        surrogate.0
    }
}
