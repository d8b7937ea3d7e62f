//! One token's term of equation (10). It knows no group.

use serde::{Deserialize, Serialize};

use super::settings::{Surrogate, SurrogateValues};

/// The greatest log-probability: 0, and what rounding in f32 may add.
pub const LOG_PROB_MAX: f64 = 1e-4;

/// The log-probabilities of the token that was sampled, in nats.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LogProbs {
    /// l: under the policy that is trained.
    pub policy: f64,
    /// ln mu: under the policy that sampled, as recorded then.
    pub sampled: f64,
    /// ln pi_ref: under the reference; `None` where there is no KL.
    pub reference: Option<f64>,
}

/// Why a token has no term.
#[derive(Debug, Clone, Copy, PartialEq, thiserror::Error)]
pub enum TokenFault {
    /// A log-probability is not one.
    #[error("`{name}` must be a finite log-probability of at most {LOG_PROB_MAX}, found {found}")]
    LogProb {
        /// Under which policy.
        name: &'static str,
        /// What it was.
        found: f64,
    },
    /// KL is asked for and there is nothing to compare with.
    #[error(
        "`beta` is {beta} and the token has no log-probability under the reference\nhint: record it, or set `beta` to 0"
    )]
    NoReference {
        /// The weight of the KL.
        beta: f64,
    },
    /// The term overflowed, or its advantage was not a number.
    #[error(
        "the token's term is not finite: advantage {advantage}, policy {policy}, sampled {sampled}\nhint: refuse the step"
    )]
    NotFinite {
        /// A.
        advantage: f64,
        /// l.
        policy: f64,
        /// ln mu.
        sampled: f64,
    },
}

/// A token's term before it is divided by D.
#[derive(Debug, Clone, Copy, PartialEq, Serialize)]
pub struct TokenTerm {
    /// t - beta kl, equation (10e).
    pub objective: f64,
    /// Its derivative by l, equation (10f).
    pub gradient: f64,
    /// ln rho, equation (10a).
    pub log_ratio: f64,
    /// kl, equation (10d); 0 without a reference.
    pub kl: f64,
    /// The same estimator between the sampling policy and the trained one, r = ln rho.
    pub mismatch_kl: f64,
    /// Whether the clip holds, so that the first part has no gradient.
    pub clipped: bool,
    /// Whether the weight is truncated.
    pub truncated: bool,
}

impl Surrogate {
    /// The term of one token, equations (10a) to (10f) without D.
    ///
    /// # Errors
    /// [`TokenFault`] for what is no log-probability, for KL without a reference and for a term that is not finite.
    pub fn token(&self, advantage: f64, log_probs: LogProbs) -> Result<TokenTerm, TokenFault> {
        let beta = self.values().beta;
        check("policy", log_probs.policy)?;
        check("sampled", log_probs.sampled)?;
        let log_ratio = log_probs.policy - log_probs.sampled;
        let first = self.first_part(advantage, log_ratio);
        let (kl, kl_gradient) = match log_probs.reference {
            Some(reference) => {
                check("reference", reference)?;
                k3(reference - log_probs.policy)
            }
            None if beta > 0.0 => return Err(TokenFault::NoReference { beta }),
            None => (0.0, 0.0),
        };
        let (kl_weighed, kl_gradient_weighed) = if beta > 0.0 { (beta * kl, beta * kl_gradient) } else { (0.0, 0.0) };
        let term = TokenTerm {
            objective: first.objective - kl_weighed,
            gradient: first.gradient - kl_gradient_weighed,
            kl,
            ..first
        };
        if [term.objective, term.gradient, term.kl, term.mismatch_kl].iter().all(|value| value.is_finite()) {
            Ok(term)
        } else {
            Err(TokenFault::NotFinite { advantage, policy: log_probs.policy, sampled: log_probs.sampled })
        }
    }

    /// Equations (10b) and (10c). Ratios are compared as logarithms, so that no large one is ever formed.
    fn first_part(&self, advantage: f64, log_ratio: f64) -> TokenTerm {
        let SurrogateValues { clip_low, clip_high, weight_cap, .. } = *self.values();
        let (low, high) = (1.0 - clip_low, 1.0 + clip_high);
        let (objective, gradient, clipped, truncated) = if advantage > 0.0 && log_ratio > high.ln() {
            (high * advantage, 0.0, true, false)
        } else if advantage < 0.0 && log_ratio < low.ln() {
            (low * advantage, 0.0, true, false)
        } else if log_ratio > weight_cap.ln() {
            (weight_cap * advantage * (1.0 + log_ratio - weight_cap.ln()), weight_cap * advantage, false, true)
        } else {
            let weighed = log_ratio.exp() * advantage;
            (weighed, weighed, false, false)
        };
        TokenTerm { objective, gradient, log_ratio, kl: 0.0, mismatch_kl: k3(log_ratio).0, clipped, truncated }
    }
}

/// Equation (10d) and its derivative by l, from r = ln pi_ref - l.
fn k3(difference: f64) -> (f64, f64) {
    let less_one = difference.exp_m1();
    ((less_one - difference).max(0.0), -less_one)
}

fn check(name: &'static str, found: f64) -> Result<(), TokenFault> {
    if found.is_finite() && found <= LOG_PROB_MAX { Ok(()) } else { Err(TokenFault::LogProb { name, found }) }
}
