//! Credit assignment in groups, CARE and its rivals, in f64. It knows no tensor and no policy.
//!
//! A *group* is G trajectories of one task. Of each, verdict and record say whether it succeeded (s), how far it came (p) and what it spent of its
//! budget (e); infrastructure that failed makes a member *void*, which is left out and never counted as zero. A [`Scheme`] turns the groups of one
//! step into advantages; [`Statistics`] adds up what happened; [`surrogate`] says what a token's log-probability is then worth.
//!
//! Equation numbers are those of the paper on CARE as far as its public summaries give them: (5) the schedule, (6) the advantage without
//! calibration, (7) its limit in a group that always succeeds, (8) the floor, (9) the calibrated advantage, (10) the clipped objective.
//!
//! ```
//! use loopwright_learn::care::{Estimator, Group, GroupId, GroupSize, Measured, Member, Options, Phi, PhiValues, Scheme};
//!
//! let phi = Phi::new(PhiValues { lambda_prog: 0.1, lambda_eff: 0.2, p_low: 0.3, p_high: 0.8 })?;
//! let scheme = Scheme { estimator: Estimator::Care, phi, options: Options::default() };
//! let spent = [0.2, 0.4].map(|cost| Member::new(Measured { success: true, progress: 1.0, cost }));
//! let group = Group::new(GroupId(7), GroupSize::new(2)?, spent.to_vec())?;
//! let assignment = scheme.assign(&[group])?;
//! let first = assignment.groups().first().and_then(|group| group.slots.first().copied().flatten());
//! // Both succeed; the cheaper one is better, by 0.2 * 0.1 over the floor of 0.4.
//! assert!((first.map_or(0.0, |credit| credit.advantage) - 0.05).abs() < 1e-6);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```

mod assignment;
mod gdpo;
mod group;
mod member;
mod moments;
mod options;
mod phi;
mod regime;
mod scheme;
mod statistics;
pub mod surrogate;
#[cfg(test)]
pub(crate) mod tests;

pub use assignment::{Assignment, Counters, Credit, GroupCredit, Scored};
pub use group::{GROUP_SIZE_MAX, GROUP_SIZE_MIN, Group, GroupError, GroupId, GroupSize, GroupSizeError};
pub use member::{Measure, Measured, Member, Void, cost_of};
pub use moments::SPREAD_MAX;
pub use options::{EPSILON_MAX, EffOn, Epsilon, EpsilonError, FloorScope, Options};
pub use phi::{CostRange, P_HIGH_MAX, P_HIGH_MIN, Phi, PhiError, PhiValues};
pub use regime::{COUNT_TOLERANCE, Regime, Tally};
pub use scheme::{AssignError, Estimator, Scheme};
pub use statistics::{RegimeLine, Statistics};
