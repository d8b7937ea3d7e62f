//! What is trained, and on what: a policy with its tasks, its planners and its demonstrations.

use std::collections::BTreeMap;
use std::sync::Arc;

use loopwright_contract::task::{Split, Task};
use loopwright_harness::Settings;
use loopwright_learn::rl::Policy;
use serde_json::Value;

use super::field::{Actors, Ground};

/// How the teacher teaches.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Teaching {
    /// Seeds what it does.
    pub seed: u64,
    /// Times that it plays each task, at least 2.
    pub members: u32,
    /// Whether erroneous turns are masked; without it they are learnt like any other.
    pub mask: bool,
}

/// One subject of training.
pub trait Course: Actors<Self::Policy> {
    /// What is trained.
    type Policy: Policy;

    /// Its name, as runs record it.
    fn name(&self) -> &'static str;

    /// The tasks of a split, in a fixed order.
    ///
    /// # Errors
    /// A pack without that split.
    fn tasks(&self, split: Split) -> anyhow::Result<Arc<[Task]>>;

    /// The worlds that tasks name.
    fn worlds(&self) -> BTreeMap<String, Value>;

    /// How episodes go.
    fn harness(&self) -> Settings;

    /// Choices that a trajectory may have, for the constant denominator of the loss.
    fn token_budget(&self) -> usize;

    /// A policy with fresh weights.
    ///
    /// # Errors
    /// None but a defect of ours.
    fn fresh(&self, seed: u64) -> anyhow::Result<Self::Policy>;

    /// What the teacher shows on these tasks, and what to say of it. The ground's harness judges every turn.
    ///
    /// # Errors
    /// An episode that is void, or a record that is no demonstration.
    fn demonstrations(
        &self,
        ground: &Ground<'_>,
        tasks: &[Task],
        teaching: Teaching,
    ) -> anyhow::Result<(Vec<<Self::Policy as Policy>::Sample>, Value)>;
}
