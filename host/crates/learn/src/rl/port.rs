//! The rollout port: what the trainer orders, and what comes back. The host implements it; it knows no advantage.

use loopwright_contract::digest::{ContentDigest, PolicyDigest, TaskDigest};
use loopwright_contract::name::PluginName;
use serde::{Deserialize, Serialize};

use super::error::RolloutFault;
use super::policy::Policy;
use crate::care::{GroupId, GroupSize, Measured};

/// A plugin that takes part, by the digest of its component.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PluginStamp {
    /// Its name.
    pub name: PluginName,
    /// Of its component.
    pub digest: ContentDigest,
}

/// What rollouts are made of. A run is pinned to it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// Every plugin that can take part, in a fixed order.
    pub plugins: Vec<PluginStamp>,
    /// The tasks that are sampled from, in a fixed order.
    pub tasks: Vec<TaskDigest>,
}

/// A group to roll out.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ordered {
    /// Which group of the run.
    pub id: GroupId,
    /// Its task: a place in [`Source::tasks`].
    pub task: usize,
}

/// Groups to roll out together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Order {
    /// The step that they are for, from 1.
    pub step: u64,
    /// Seeds their sampling and their worlds' noise. No two orders of a run have the same.
    pub seed: u64,
    /// Members of each.
    pub members: GroupSize,
    /// The groups.
    pub groups: Vec<Ordered>,
}

/// What was sampled in one episode, as it was recorded when it was sampled.
#[derive(Debug, Clone, PartialEq)]
pub struct Recording<S> {
    /// The policy that sampled it.
    pub policy: PolicyDigest,
    /// The choices, with all that scoring them again needs.
    pub sample: S,
    /// The natural log-probability of each choice under that policy.
    pub log_probs: Vec<f32>,
}

/// One episode.
#[derive(Debug, Clone, PartialEq)]
pub struct RolledMember<S> {
    /// What was measured of it; none: the infrastructure failed, and it is void.
    pub measured: Option<Measured>,
    /// Tokens that it wrote.
    pub tokens: u64,
    /// What was sampled; none where nothing was.
    pub recording: Option<Recording<S>>,
}

/// One group; void members keep their place.
#[derive(Debug, Clone, PartialEq)]
pub struct Rolled<S> {
    /// Which.
    pub id: GroupId,
    /// Its members, in order.
    pub members: Vec<RolledMember<S>>,
}

/// Rolls out groups of episodes with the real plugins.
pub trait Rollouts<P: Policy> {
    /// What rollouts are made of, as it is now.
    fn source(&self) -> Source;

    /// Rolls out the groups of an order with the policy as it is: in their order, each with its members in order. The same order under the same
    /// policy gives the same, however busy the machine is, except for members that are void.
    ///
    /// # Errors
    /// [`RolloutFault`] when nothing could be rolled out. A member that failed alone is void, and no error.
    fn roll(&mut self, policy: &P, order: &Order) -> Result<Vec<Rolled<P::Sample>>, RolloutFault>;

    /// Whether the step is still wanted. It is asked before each part of an update; a step that is not wanted any more is dropped.
    fn wanted(&self) -> bool {
        true
    }
}
