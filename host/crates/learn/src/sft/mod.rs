//! The cold start: supervised learning from verified trajectories, with erroneous turns masked. It knows no plugin and no task.
//!
//! The loss is L = -(1/Z) sum 1{j not in E_i} log pi(y_ij | h_ij): E_i are the tokens of the erroneous turns of trajectory i, h_ij all that came
//! before token j, erroneous turns and their answers included, and Z the tokens that are left. A sample holds as *choices* the tokens that are left,
//! and as mere symbols all others: what is not a choice is context. [`find`] says which turns are erroneous, from evidence alone.

mod faults;
mod fit;
#[cfg(test)]
pub(crate) mod tests;

pub use faults::{Cause, FindError, Finding, Findings, Rules, StepTurns, find};
pub use fit::{BATCH_MAX, Change, EPOCHS_MAX, Examples, FIT_PART, Fit, FitError, FitRecord, FitSettings};
