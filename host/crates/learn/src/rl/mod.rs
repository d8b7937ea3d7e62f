//! Online reinforcement learning: from rollouts to better weights, one step at a time. It knows no plugin, no episode loop, no clock and no file.
//!
//! A [`Trainer`] asks a [`Rollouts`] port for groups of episodes under the policy as it is now, lets a [`Scheme`](crate::care::Scheme) of credit
//! assignment compare the members of each group, and moves the weights of a [`Policy`] along the clipped surrogate of equation (10). What was
//! sampled comes back as it was recorded at sampling. Every step gives a [`StepRecord`]; between steps the whole state makes a checkpoint, and a
//! run that goes on from one equals a run that was never stopped, to the bit.
//!
//! A step whose numbers are not finite is refused: weights, moments and checkpoints stay as they were. A step without anything to learn from, be it
//! that all its members are void, is counted and changes no weight.

mod batch;
mod error;
mod loss;
mod policy;
mod port;
mod record;
mod sampler;
mod settings;
mod state;
#[cfg(test)]
mod tests;
mod trainer;

pub use error::{PluginChanged, RolloutFault, TrainError};
pub use loss::{LossError, LossFigures, TokenData, surrogate_loss};
pub use policy::{LossOf, Policy, PolicyFault};
pub use port::{Order, Ordered, PluginStamp, Recording, Rolled, RolledMember, Rollouts, Source};
pub use record::{Outcome, RegimeRecord, StepRecord, Timing};
pub use sampler::Sampler;
pub(crate) use sampler::shuffled;
pub use settings::{GROUPS_MAX, REFILLS_MAX, RefillOn, STALE_UPDATES_MAX, Settings, SettingsError};
pub use state::TRAINER_PART;
pub(crate) use state::check_plugins;
pub use trainer::{REFUSED_IN_A_ROW_MAX, Trainer};
