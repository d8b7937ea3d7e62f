//! What a token's log-probability is worth, in f64: the reference that a loss over tensors is tested against. It knows no network.
//!
//! Equation (10), with l = ln pi the log-probability under the policy that is trained, mu the policy that sampled, A the advantage of the token's
//! trajectory, and m = 1 for a token that is trained:
//!
//! - (10a) rho = exp(l - ln mu): the ratio is taken against what was recorded at sampling.
//! - (10b) t(rho) = min(rho A, clip(rho, 1 - clip_low, 1 + clip_high) A) while rho <= cap.
//! - (10c) Beyond the cap the weight is truncated: t = cap A (1 + ln(rho / cap)) for A < 0, whose derivative is the capped weight, dt/dl = cap A.
//!   For A > 0 the clip has flattened the term before the cap is reached.
//! - (10d) kl = exp(r) - 1 - r with r = ln pi_ref - l (the estimator k3): never negative, and zero where the policies agree.
//! - (10e) J = (1 / D) sum m (t - beta kl). J is maximised; the loss is -J.
//! - (10f) dt/dl = 0 where the clip holds (A > 0 and rho > 1 + clip_high, or A < 0 and rho < 1 - clip_low), else min(rho, cap) A; d kl/dl = 1 - exp(r).
//!   The *gradient factor* of a token is (dt/dl - beta dkl/dl) / D.
//!
//! Tokens of void members, of dropped groups and of degenerate groups are worth nothing, their KL included: a group that teaches nothing must not
//! pull the policy towards the reference either.

mod settings;
mod step;
#[cfg(test)]
mod tests;
mod token;

pub use settings::{
    BETA_MAX, CLIP_HIGH_MAX, CLIP_LOW_MAX, Denominator, Surrogate, SurrogateError, SurrogateValues, WEIGHT_CAP_MAX,
    WEIGHT_CAP_MIN,
};
pub use step::{Figures, StepFault, StepSurrogate, TokenPlace};
pub use token::{LOG_PROB_MAX, LogProbs, TokenFault, TokenTerm};
