//! Quantiles of t, beta and the normal distribution. It knows no data.
//!
//! The incomplete beta function comes from a library. It is inverted here by bisection: a fixed number of steps, no start value that can be bad, and
//! no assertion on the way.

use statrs::function::beta::checked_beta_reg;
use statrs::function::erf::erfc_inv;

/// The most steps of a bisection; it ends when no number lies between. Each halves the bracket; an f64 has 53 bits, and the bracket may start at 2^40.
const BISECTION_STEPS: u32 = 110;
/// Doublings until a t quantile is bracketed: one degree of freedom and the smallest tail that is asked for need 20.
const DOUBLINGS_MAX: u32 = 64;

/// The value that a standard normal variable exceeds with chance `tail`, 0 to 1 exclusive.
pub(crate) fn normal_upper(tail: f64) -> f64 {
    std::f64::consts::SQRT_2 * erfc_inv(2.0 * tail)
}

/// The chance that a t variable of `freedom` degrees (above 0) exceeds `value`.
pub(crate) fn t_tail(value: f64, freedom: f64) -> f64 {
    // P(T > t) = I_x(freedom / 2, 1 / 2) / 2 at x = freedom / (freedom + t^2), for t >= 0.
    let upper = beta_cumulative(freedom / (freedom + value * value), freedom / 2.0, 0.5) / 2.0;
    if value >= 0.0 { upper } else { 1.0 - upper }
}

/// The value that a t variable of `freedom` degrees (above 0) exceeds with chance `tail`, above 0 and at most one half.
pub(crate) fn t_upper(tail: f64, freedom: f64) -> f64 {
    let mut high = 1.0;
    for _ in 0..DOUBLINGS_MAX {
        if t_tail(high, freedom) <= tail {
            break;
        }
        high *= 2.0;
    }
    bisect(0.0, high, |value| t_tail(value, freedom) > tail)
}

/// The value below which a beta variable lies with chance `lower`. `a` and `b` are above 0.
pub(crate) fn beta_lower(lower: f64, a: f64, b: f64) -> f64 {
    bisect(0.0, 1.0, |value| beta_cumulative(value, a, b) < lower)
}

/// I_x(a, b). NaN outside its domain, where no caller goes.
fn beta_cumulative(x: f64, a: f64, b: f64) -> f64 {
    checked_beta_reg(a, b, x).unwrap_or(f64::NAN)
}

/// The place between `low` and `high` where `is_below` turns from true to false.
fn bisect(mut low: f64, mut high: f64, is_below: impl Fn(f64) -> bool) -> f64 {
    for _ in 0..BISECTION_STEPS {
        let middle = f64::midpoint(low, high);
        if middle <= low || middle >= high {
            break;
        }
        if is_below(middle) {
            low = middle;
        } else {
            high = middle;
        }
    }
    f64::midpoint(low, high)
}
